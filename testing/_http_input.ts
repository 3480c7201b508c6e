/**
 * Reads what comes over a connection: heads up to their empty line, and bodies by their length or in chunks.
 *
 * ```ts
 * import { Input } from "./_http_input.ts";
 *
 * const bytes = new TextEncoder().encode("GET / HTTP/1.1\r\n\r\nbody");
 * let read = false;
 * const input = new Input((into) => {
 *   if (read) return Promise.resolve(null);
 *   read = true;
 *   into.set(bytes);
 *   return Promise.resolve(bytes.length);
 * });
 * console.assert(await input.head() === "GET / HTTP/1.1");
 * console.assert((await input.bytes(4)).length === 4);
 * ```
 *
 * @module
 */
import { HttpError } from "./_http_head.ts";

/** Reads bytes into a place; null when there are no more. */
export type ReadInto = (place: Uint8Array) => Promise<number | null>;

const ROOM = 8192, MOST_HEAD = 1 << 20, MOST_BODY = 1 << 26;
const CR = 13, LF = 10;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What comes over one connection. */
export class Input {
  readonly #readInto: ReadInto;
  #buffer = new Uint8Array(ROOM);
  /** Where what was not taken yet begins and ends. */
  #start = 0;
  #end = 0;
  #reading: Promise<boolean> | undefined;

  /** Takes what reads. */
  constructor(readInto: ReadInto) {
    this.#readInto = readInto;
  }

  /** True if there is something that was not taken yet. */
  get waiting(): boolean {
    return this.#end > this.#start;
  }

  /** Reads more; false if there is no more. Who asks meanwhile waits for the same. */
  more(): Promise<boolean> {
    return this.#reading ??= this.#read();
  }

  /** Reads on while something else goes on; true if there is no more, false if that is over before. */
  async ended(isOver: () => boolean): Promise<boolean> {
    while (!isOver()) {
      if (!await this.more()) return !isOver();
      // Who sends on and on is not read on and on.
      if (this.#end - this.#start > MOST_HEAD) return false;
    }
    return false;
  }

  async #read(): Promise<boolean> {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    if (this.#end === this.#buffer.length) this.#makeRoom();
    try {
      const count = await this.#readInto(this.#buffer.subarray(this.#end));
      if (count === null) return false;
      this.#end += count;
      return true;
    } catch {
      return false; // The connection broke.
    } finally {
      this.#reading = undefined;
    }
  }

  #makeRoom(): void {
    const size = this.#end - this.#start;
    const buffer = size > this.#buffer.length / 2 ? new Uint8Array(2 * this.#buffer.length) : this.#buffer;
    buffer.set(this.#buffer.subarray(this.#start, this.#end));
    this.#buffer = buffer;
    this.#start = 0;
    this.#end = size;
  }

  /** The next head without the empty line at its end; undefined if there is none. */
  async head(): Promise<string | undefined> {
    let seen = 0;
    while (true) {
      // Empty lines before a request are passed over.
      while (seen === 0 && this.waiting && this.#isBreak(this.#start)) this.#start++;
      const end = this.#endOfHead(this.#start + Math.max(3, seen));
      if (end !== undefined) {
        const text = textOf(this.#buffer.subarray(this.#start, end - 4));
        this.#start = end;
        return text;
      }
      seen = this.#end - this.#start;
      if (seen > MOST_HEAD) throw new HttpError(431, "the head is too large");
      if (!await this.more()) return undefined;
    }
  }

  #isBreak(at: number): boolean {
    return this.#buffer[at] === CR || this.#buffer[at] === LF;
  }

  /** Where a head ends whose last byte is there or after it. */
  #endOfHead(from: number): number | undefined {
    const buffer = this.#buffer;
    for (let at = buffer.indexOf(LF, from); at >= 0 && at < this.#end; at = buffer.indexOf(LF, at + 1)) {
      if (buffer[at - 1] === CR && buffer[at - 2] === LF && buffer[at - 3] === CR) return at + 1;
    }
    return undefined;
  }

  /** So many bytes. */
  async bytes(length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length > MOST_BODY) throw new HttpError(413, "the body is too large");
    while (this.#end - this.#start < length) if (!await this.more()) throw new HttpError(400, "unexpected EOF");
    const bytes = this.#buffer.slice(this.#start, this.#start + length);
    this.#start += length;
    return bytes;
  }

  /** A body in chunks. */
  async chunks(): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array[] = [];
    let total = 0;
    while (true) {
      const [size = ""] = (await this.#line()).split(";");
      if (!/^[\da-f]{1,7}$/i.test(size.trim())) throw new HttpError(400, "malformed chunked encoding");
      const length = parseInt(size, 16);
      if (length === 0) break;
      total += length;
      if (total > MOST_BODY) throw new HttpError(413, "the body is too large");
      parts.push(await this.bytes(length));
      if (await this.#line() !== "") throw new HttpError(400, "malformed chunked encoding");
    }
    while (await this.#line() !== "");
    const all = new Uint8Array(total);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  async #line(): Promise<string> {
    let seen = 0;
    while (true) {
      const at = this.#buffer.indexOf(LF, this.#start + seen);
      if (at >= 0 && at < this.#end) {
        const text = textOf(this.#buffer.subarray(this.#start, at));
        this.#start = at + 1;
        return text.endsWith("\r") ? text.slice(0, -1) : text;
      }
      seen = this.#end - this.#start;
      if (seen > ROOM) throw new HttpError(400, "a line is too long");
      if (!await this.more()) throw new HttpError(400, "unexpected EOF");
    }
  }
}

/** A text of one byte a character. */
function textOf(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  return /^[\0-\x7f]*$/.test(text) ? text : Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
