/**
 * Splits response bodies while they arrive: a watch into its lines, a list into its items.
 *
 * ```ts
 * import { lines } from "./_stream.ts";
 *
 * const body = new Blob(['{"type":"ADDED"}\n{"type":"DELETED"}\n']).stream();
 * for await (const line of lines(body)) console.assert(JSON.parse(line).type);
 * ```
 *
 * @module
 */
import { MAX_OBJECT, tooLarge } from "./_limits.ts";
import type { WatchEvent } from "./_verbs.ts";
import { type Status, TransportError } from "./errors.ts";

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Headers that ask for a watch as it is. kube-apiserver 1.37 compresses a watch with initial events, each flush by itself, of
 * which Deno's fetch reads the first and takes it for all.
 */
export const UNCOMPRESSED: Readonly<Record<string, string>> = { "accept-encoding": "identity" };

/** Never throws on invalid UTF-8 (it gives U+FFFD) and keeps a byte order mark, so that cuts cannot lose one. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Reads a body chunk by chunk; a consumer that leaves early cancels it. */
async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let ended = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    ended = true;
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

/**
 * Yields the lines of a body without their newline, leaving out empty ones; the last may lack its newline.
 *
 * Bytes are split before they are decoded, so a character cut between two chunks stays whole; an invalid byte becomes
 * U+FFFD. Leaving the loop cancels the body.
 *
 * @throws {RangeError} If a line is longer than `limit` bytes and one chunk
 * @throws What the body's source fails with
 */
export async function* lines(body: ReadableStream<Uint8Array>, limit: number = MAX_OBJECT): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks(body)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end < 0) {
      rest.push(chunk);
      size += chunk.length;
      if (size > limit) throw tooLarge("one object", limit);
      continue;
    }
    rest.push(chunk.subarray(0, end));
    const text = decoder.decode(concat(rest));
    rest = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    size = chunk.length - end - 1;
    for (const line of text.split("\n")) if (line.trim() !== "") yield line;
  }
  const last = decoder.decode(concat(rest));
  if (last.trim() !== "") yield last;
}

/**
 * Reads a line of a watch.
 *
 * @throws {TransportError} If it is not JSON, as when the stream was cut
 */
export function parseEvent<T>(line: string, path: string): WatchEvent<T> | { type: "ERROR"; object: Status } {
  let event: WatchEvent<T> | undefined;
  try {
    event = JSON.parse(line);
  } catch {
    // The parser's error is no cause: it quotes what it could not read, which may hold a secret.
  }
  if (typeof event?.type === "string") return event;
  throw new TransportError(`Cannot GET ${path}: an event is cut short or not valid JSON`, "GET", path);
}

/** What a list says of itself, beside its items. */
export interface ListHead {
  /** Such as `v1`. */
  readonly apiVersion: string;
  /** Such as `PodList`. */
  readonly kind: string;
  /** The list's resource version and, if it is one page of several, the token of the next. */
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/** One part of a list: an item, or, as the last part, what the list says of itself. */
export type ListPart<T> = { readonly type: "item"; readonly item: T } | {
  readonly type: "end";
  readonly list: ListHead;
};

/**
 * Yields the items of a Kubernetes list one by one while its JSON arrives, then what the list says of itself.
 *
 * At no time is the whole text in memory. The order of the list's keys does not matter. Leaving the loop cancels the body.
 *
 * @throws {SyntaxError} If it is not the JSON of one object, or ends too early
 * @throws {RangeError} If an item, or what surrounds them, is longer than `limit` bytes and one chunk
 */
export async function* listItems<T>(
  body: ReadableStream<Uint8Array>,
  limit: number = MAX_OBJECT,
): AsyncGenerator<ListPart<T>> {
  const splitter = new ListSplitter(limit);
  for await (const chunk of chunks(body)) {
    for (const text of splitter.push(chunk)) yield { type: "item", item: JSON.parse(text) as T };
  }
  yield { type: "end", list: splitter.end() };
}

/** Follows the structure of a list's JSON byte by byte and takes the elements of its `items` out of it. */
class ListSplitter {
  /** How many braces and brackets are open. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** In the list's own `items` array, whose elements are at depth 2. */
  #inItems = false;
  /** Bytes of the part in progress that came with earlier chunks: an element, or what surrounds the items. */
  #part: Uint8Array[] = [];
  /** How many bytes these are. */
  #size = 0;
  /** All but the items. */
  readonly #around: string[] = [];
  #aroundSize = 0;
  #complete = false;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a chunk in and answers with the JSON of each item that it completes. */
  push(chunk: Uint8Array): string[] {
    const items: string[] = [];
    let start = 0;
    /** Ends the part in progress before the given byte; the next starts there. */
    const take = (end: number): string => {
      if (end > start) this.#part.push(chunk.subarray(start, end));
      start = end;
      const text = decoder.decode(concat(this.#part));
      this.#part = [];
      this.#size = 0;
      return text;
    };
    const keep = (end: number): string => {
      const text = take(end);
      this.#around.push(text);
      this.#aroundSize += text.length;
      return text;
    };
    const takeItem = (end: number): void => {
      const text = take(end).trim();
      if (text !== "") items.push(text);
    };

    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      if (byte <= SPACE || byte === COLON) continue;
      if (this.#complete) throw new SyntaxError("Cannot read list: more follows its end");
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE) this.#depth++;
      else if (byte === OPEN_BRACKET) {
        this.#depth++;
        if (this.#depth === 2 && !this.#inItems) {
          this.#inItems = endsWithItemsKey(keep(at + 1));
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#inItems && this.#depth === 2) {
          takeItem(at);
          this.#inItems = false;
        }
        this.#depth--;
        if (this.#depth === 0) {
          keep(at + 1);
          this.#complete = true;
        }
      } else if (byte === COMMA && this.#inItems && this.#depth === 2) {
        takeItem(at);
        start = at + 1;
      }
    }
    if (start < chunk.length) {
      this.#part.push(chunk.subarray(start));
      this.#size += chunk.length - start;
    }
    if (this.#size + this.#aroundSize > this.#limit) throw tooLarge("one object", this.#limit);
    return items;
  }

  /** Answers with what the list says of itself. */
  end(): ListHead {
    if (!this.#complete) throw new SyntaxError("Cannot read list: it ends too early");
    const { apiVersion = "", kind = "", metadata } = JSON.parse(this.#around.join("")) ?? {};
    return { apiVersion, kind, metadata: metadata ?? {} };
  }
}

/** True if the text, which begins before the key, ends with the key `items` and an opening bracket. */
function endsWithItemsKey(text: string): boolean {
  return /[{,]\s*"items"\s*:\s*\[$/.test(text);
}
