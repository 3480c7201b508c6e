/**
 * Holds what has arrived of a body and is not used up yet, in one piece of memory that is used again and again.
 *
 * ```ts
 * import { Window } from "./_window.ts";
 *
 * const window = new Window(new Blob(["one two"]).stream());
 * await window.more();
 * console.assert(window.to - window.from === 7);
 * window.from += 4; // "one " is used up
 * console.assert(!await window.more() && window.to - window.from === 3);
 * ```
 *
 * @module
 */
import { type BodyReader, readerOf } from "./_body.ts";
import { MAX_OBJECT, tooLarge } from "./_limits.ts";

const NEWLINE = 0x0a;
/** The memory of a window whose parts are small, in bytes. */
const SIZE = 65_536;
/** Less room than this, in bytes, is not worth a read. */
const MIN_ROOM = 4096;

/** The part of a body between what is used up and what is still to come. */
export class Window {
  /** The memory. A newline follows the last byte that has arrived, so that a search for the end of a text always ends. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(SIZE);
  /** Where the part that is not used up begins; its reader moves it on. */
  from = 0;
  /** Where what has arrived ends. */
  to = 0;
  /** True once the body has ended. */
  ended = false;
  /** How many bytes may be held unused. */
  readonly limit: number;
  readonly #reader: BodyReader;
  readonly #heard: (() => void) | undefined;

  /** Takes the body, how many bytes of it may be held unused, and what is called with each piece that arrives. */
  constructor(body: ReadableStream<Uint8Array>, limit: number = MAX_OBJECT, heard?: () => void) {
    this.#reader = readerOf(body);
    this.limit = limit;
    this.#heard = heard;
    this.bytes[0] = NEWLINE;
  }

  /**
   * Waits for the next piece; false when the body has ended.
   *
   * @throws {RangeError} If more than the limit, and one piece, is not used up
   * @throws What the body's source fails with
   */
  async more(): Promise<boolean> {
    if (this.ended) return false;
    if (this.to - this.from > this.limit) {
      await this.cancel();
      throw tooLarge("one object", this.limit);
    }
    this.#makeRoom(MIN_ROOM);
    const { bytes, to } = this;
    const room = Math.min(bytes.length - 1 - to, SIZE);
    const length = bytes.length;
    const { done, value } = await this.#reader.read(bytes.subarray(to, to + room)).catch((error) => {
      this.#clear();
      throw error;
    });
    const given = bytes.length === length;
    // Else what was given is gone; the piece is in what it has become.
    if (!given && value) this.bytes = new Uint8Array(value.buffer);
    // Cancelled meanwhile: what was in the memory counts no more, if it has come back at all.
    if (this.ended || (!given && !value)) this.#clear();
    if (this.ended || done || !value) {
      this.ended = true;
      return false;
    }
    if (given) {
      this.#makeRoom(value.length);
      this.bytes.set(value, this.to);
    }
    this.to += value.length;
    this.bytes[this.to] = NEWLINE;
    this.#heard?.();
    return true;
  }

  /** Lets go of the body. */
  async cancel(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    await this.#reader.cancel().catch(() => {});
  }

  /** Begins with new memory: what was given to a read has not come back, and what was in it is lost. */
  #clear(): void {
    this.bytes = Uint8Array.of(NEWLINE);
    this.from = this.to = 0;
  }

  /** Makes room for so many bytes, and the newline. */
  #makeRoom(length: number): void {
    const used = this.to - this.from;
    if (used === 0) {
      this.from = this.to = 0;
      if (this.bytes.length > SIZE && length < SIZE) this.bytes = new Uint8Array(SIZE);
      this.bytes[0] = NEWLINE;
    }
    if (this.bytes.length - this.to > length) return;
    let size = this.bytes.length;
    while (size - used <= length || used > size / 2) size *= 2;
    if (size === this.bytes.length) this.bytes.copyWithin(0, this.from, this.to);
    else {
      const larger = new Uint8Array(size);
      larger.set(this.bytes.subarray(this.from, this.to));
      this.bytes = larger;
    }
    this.from = 0;
    this.to = used;
    this.bytes[used] = NEWLINE;
  }
}
