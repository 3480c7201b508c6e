/**
 * Reads bodies under an abort signal, and lets go of them when it aborts, whatever their source does.
 *
 * ```ts
 * import { readText } from "./_body.ts";
 *
 * const { signal } = new AbortController();
 * console.assert(await readText(new Response("ok").body, signal) === "ok");
 * ```
 *
 * @module
 */
import { MAX_ANSWER, tooLarge } from "./_limits.ts";
import { race } from "./delay.ts";

/** How much of a body is read. */
export interface ReadLimits {
  /** In bytes. @default {64 MiB} */
  readonly limit?: number | undefined;
  /** Whether the rest is left out; else it is an error. @default {false} */
  readonly cut?: boolean | undefined;
}

/**
 * Reads a body to its end, or cancels it when the signal aborts, or it is too long.
 *
 * @throws {RangeError} If it is longer than the limit, and not to be cut there
 */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  { limit = MAX_ANSWER, cut = false }: ReadLimits = {},
): Promise<string> {
  if (!body) return "";
  const reader = open(body);
  const decoder = new TextDecoder();
  let text = "";
  let left = limit;
  let memory: Uint8Array<ArrayBuffer> = new Uint8Array(SMALL);
  try {
    while (true) {
      const { done, value } = await race(reader.read(memory), signal);
      if (done || !value) return text + decoder.decode();
      if (value.length > left && !cut) throw tooLarge("the answer", limit);
      text += decoder.decode(value.subarray(0, left), { stream: true });
      if (value.length > left) {
        reader.cancel().catch(() => {});
        return text;
      }
      left -= value.length;
      // The same memory again, unless it was filled and was small.
      const enough = value.length < SMALL || value.buffer.byteLength >= PIECE;
      if (memory.length === 0) memory = new Uint8Array(enough ? value.buffer : new ArrayBuffer(PIECE));
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** How much is read at once, in bytes, at first: most answers are one object. */
const SMALL = 4096;
/** The same of what is longer. */
const PIECE = 65_536;

/** What was read. */
export interface Piece {
  /** True if the body has ended. */
  readonly done: boolean;
  /** Bytes in what the memory that was given has become, which is to be used in its place; or in memory of their own. */
  readonly value?: Uint8Array<ArrayBuffer> | undefined;
}

/** Reads a body into memory of the caller's, where its source can do that: four times cheaper than chunk by chunk. */
export interface BodyReader {
  /** Reads what there is next. */
  read(into: Uint8Array<ArrayBuffer>): Promise<Piece>;
  /** Lets go of the body. */
  cancel(reason?: unknown): Promise<void>;
}

/** The readers of the bodies that {@linkcode watched} has passed on. */
const readers = new WeakMap<ReadableStream<Uint8Array>, BodyReader>();

/** Opens a body, which nobody else may read. */
export function readerOf(body: ReadableStream<Uint8Array>): BodyReader {
  return readers.get(body) ?? open(body);
}

function open(body: ReadableStream<Uint8Array>): BodyReader {
  let bytes: ReadableStreamBYOBReader;
  try {
    bytes = body.getReader({ mode: "byob" });
  } catch {
    // Made by a program, such as a server in memory, not read from a connection.
    const chunks = body.getReader();
    return {
      read: () => chunks.read() as Promise<Piece>,
      cancel: (reason) => chunks.cancel(reason).finally(() => chunks.releaseLock()),
    };
  }
  return {
    read: (into) => bytes.read(into) as Promise<Piece>,
    cancel: (reason) => bytes.cancel(reason).finally(() => bytes.releaseLock()),
  };
}

/** Passes a body on, ends it when the signal aborts, whatever its source does, and tells when it has ended. */
export function watched(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  finish: () => void,
  fail: (error: unknown) => Error,
): ReadableStream<Uint8Array> | null {
  if (!body) {
    finish();
    return null;
  }
  const reader = new WatchedReader(open(body), signal, finish, fail);
  const passed = new ReadableStream<Uint8Array>({
    start: (controller) => reader.onAbort((reason) => controller.error(reason)),
    async pull(controller) {
      const { done, value } = await reader.read(new Uint8Array(PIECE));
      if (done || !value) controller.close();
      else controller.enqueue(value.buffer.byteLength === value.length ? value : value.slice());
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  readers.set(passed, reader);
  return passed;
}

class WatchedReader implements BodyReader {
  readonly #reader: BodyReader;
  readonly #signal: AbortSignal;
  readonly #finish: () => void;
  readonly #fail: (error: unknown) => Error;
  #aborted: (reason: unknown) => void = () => {};
  /** Rejects the read under way. */
  #reject: ((reason: unknown) => void) | undefined;
  #ended = false;
  readonly #abort = (): void => {
    const { reason } = this.#signal;
    this.#reject?.(reason);
    this.#aborted(reason);
    this.#reader.cancel(reason).catch(() => {});
    this.#end();
  };

  constructor(reader: BodyReader, signal: AbortSignal, finish: () => void, fail: (error: unknown) => Error) {
    this.#reader = reader;
    this.#signal = signal;
    this.#finish = finish;
    this.#fail = fail;
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Takes what is called when the signal aborts, at once if it has. */
  onAbort(aborted: (reason: unknown) => void): void {
    this.#aborted = aborted;
    if (this.#signal.aborted) aborted(this.#signal.reason);
  }

  read(into: Uint8Array<ArrayBuffer>): Promise<Piece> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) return reject(this.#signal.reason);
      this.#reject = reject;
      this.#reader.read(into).then(
        (piece) => {
          if (piece.done) this.#end();
          resolve(piece);
        },
        (error) => {
          if (!this.#signal.aborted) this.#end();
          reject(this.#fail(error));
        },
      );
    });
  }

  cancel(reason?: unknown): Promise<void> {
    this.#end();
    return this.#reader.cancel(reason);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.removeEventListener("abort", this.#abort);
    this.#finish();
  }
}
