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
import { ObjectScanner, skip } from "./_scan.ts";
import type { WatchEvent } from "./_verbs.ts";
import { Window } from "./_window.ts";
import { type Status, TransportError } from "./errors.ts";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
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
  const window = new Window(body, limit);
  try {
    for (let end = await nextLine(window); end >= 0; end = await nextLine(window)) {
      const line = decoder.decode(window.bytes.subarray(window.from, end));
      window.from = Math.min(end + 1, window.to);
      yield line;
    }
  } finally {
    await window.cancel();
  }
}

/** Moves a window on to its next line that is not empty, and answers with where that ends; -1 at the end of the body. */
export async function nextLine(window: Window): Promise<number> {
  let searched = 0;
  while (true) {
    // A newline follows what has arrived.
    const end = window.bytes.indexOf(NEWLINE, window.from + searched);
    if (end < window.to || window.ended) {
      if (skip(window.bytes, window.from, end) < end) return end;
      if (end >= window.to) return -1;
      window.from = end + 1;
      searched = 0;
    } else {
      searched = window.to - window.from;
      await window.more();
    }
  }
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

/**
 * Reads a Kubernetes list while its JSON arrives: `take` is called with the bytes of each item, and what a scanner found in
 * them; the answer is what the list says of itself.
 *
 * At no time is the whole text in memory. The order of the list's keys does not matter.
 *
 * @throws {SyntaxError} If it is not the JSON of one object, or ends too early
 * @throws {RangeError} If an item, or what surrounds them, is longer than the window may be
 * @throws What `take` throws
 */
export async function readList(window: Window, take: TakeItem): Promise<ListHead> {
  try {
    return await new ListReader(window, take).read();
  } finally {
    await window.cancel();
  }
}

/** Takes the bytes from `start` to `end`; it may change them, and must not keep them. */
export type TakeItem = (bytes: Uint8Array, start: number, end: number, scanner: ObjectScanner) => void;

/** Reads the members of a list. */
class ListReader {
  readonly #window: Window;
  readonly #take: TakeItem;
  readonly #scanner = new ObjectScanner();
  /** The members that are not items, as JSON. */
  readonly #around: string[] = [];
  #size = 0;

  constructor(window: Window, take: TakeItem) {
    this.#window = window;
    this.#take = take;
  }

  async read(): Promise<ListHead> {
    await this.#expect(OPEN_BRACE);
    for (let first = true; !await this.#follows(CLOSE_BRACE); first = false) {
      if (!first) await this.#expect(COMMA);
      if (await this.#peek() !== QUOTE) throw unreadable();
      const key = await this.#value();
      await this.#expect(COLON);
      if (key === '"items"' && await this.#follows(OPEN_BRACKET)) await this.#items();
      else this.#keep(`${key}:${await this.#value()}`);
    }
    while (await this.#hasMore()) if (this.#window.from < this.#window.to) throw unreadable();
    const { apiVersion = "", kind = "", metadata } = JSON.parse(`{${this.#around.join()}}`);
    return { apiVersion, kind, metadata: metadata ?? {} };
  }

  async #items(): Promise<void> {
    const window = this.#window;
    if (await this.#follows(CLOSE_BRACKET)) return;
    while (true) {
      const found = this.#valueEnd();
      const end = typeof found === "number" ? found : await found;
      this.#take(window.bytes, window.from, end, this.#scanner);
      window.from = end;
      // Most often the comma has arrived: to ask for it without waiting is most of this loop's speed.
      if (window.bytes[end] === COMMA && end < window.to) window.from++;
      else if (await this.#follows(CLOSE_BRACKET)) return;
      else await this.#expect(COMMA);
    }
  }

  #keep(member: string): void {
    this.#around.push(member);
    this.#size += member.length;
    if (this.#size > MAX_OBJECT) throw tooLarge("one object", MAX_OBJECT);
  }

  /** Uses the next value up. */
  async #value(): Promise<string> {
    const end = await this.#valueEnd();
    const { bytes, from } = this.#window;
    this.#window.from = end;
    return decoder.decode(bytes.subarray(from, end)).trim();
  }

  /** Waits for the next value to be there as a whole. */
  #valueEnd(): number | Promise<number> {
    const { bytes, from, to } = this.#window;
    const end = this.#scanner.scan(bytes, from, to);
    return end >= 0 ? end : this.#awaitValueEnd();
  }

  async #awaitValueEnd(): Promise<number> {
    const window = this.#window;
    while (true) {
      // Not at each piece: a large one would be looked over again and again.
      const enough = Math.min(2 * (window.to - window.from), window.limit);
      do if (!await window.more()) break; while (window.to - window.from < enough);
      const end = this.#scanner.scan(window.bytes, window.from, window.to);
      if (end >= 0) return end;
      if (window.ended) throw unreadable();
    }
  }

  /** Moves on to the next byte that is no white space; false at the end. */
  async #hasMore(): Promise<boolean> {
    const window = this.#window;
    while (true) {
      window.from = skip(window.bytes, window.from, window.to);
      if (window.from < window.to) return true;
      if (!await window.more()) return false;
    }
  }

  async #peek(): Promise<number> {
    if (!await this.#hasMore()) throw unreadable();
    return this.#window.bytes[this.#window.from]!;
  }

  /** True if this comes next, which is then used up. */
  async #follows(byte: number): Promise<boolean> {
    const follows = await this.#peek() === byte;
    if (follows) this.#window.from++;
    return follows;
  }

  async #expect(byte: number): Promise<void> {
    if (!await this.#follows(byte)) throw unreadable();
  }
}

function unreadable(): SyntaxError {
  return new SyntaxError("Cannot read list: it must be one JSON object, and whole");
}
