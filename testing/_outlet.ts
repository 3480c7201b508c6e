/**
 * Carries the lines of a watch to its client, with what a test wants to go wrong on the way.
 *
 * ```ts
 * import { Outlet } from "./_outlet.ts";
 *
 * const stream = new ReadableStream<Uint8Array>({
 *   start(controller) {
 *     const outlet = new Outlet(controller);
 *     outlet.send(new TextEncoder().encode("a line\n"));
 *     outlet.close();
 *   },
 * });
 * console.assert(await new Response(stream).text() === "a line\n");
 * ```
 *
 * @module
 */
import { connectionReset } from "./_faults.ts";
import type { RequestSubject } from "./_match.ts";

/** What goes wrong with a stream. */
export interface StreamTrouble {
  /** True to send nothing. */
  readonly stall?: boolean | undefined;
  /** Breaks the connection after so many ms. */
  readonly breakAfter?: number | undefined;
  /** After so many whole lines, sends half of the next and ends. */
  readonly truncate?: number | undefined;
  /** What becomes of bookmarks. */
  readonly bookmarks?: "drop" | "duplicate" | undefined;
}

/** What an outlet is part of. */
export interface OutletOptions {
  /** The request that it answers. @default {nobody's} */
  readonly subject?: RequestSubject | undefined;
  /** What goes wrong. @default {nothing} */
  readonly trouble?: StreamTrouble | undefined;
  /** Breaks the connection. @default {there is none: the stream fails} */
  readonly reset?: (() => void) | undefined;
  /** The outlets that are open; it is in there until it ends. */
  readonly all?: Set<Outlet> | undefined;
}

/** Where the lines of one watch go. */
export class Outlet implements Disposable {
  /** The request that it answers, if that is known. */
  readonly subject: RequestSubject | undefined;
  /** Called when it ended from here and not by its watch. */
  onEnded: () => void = () => {};
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #trouble: StreamTrouble;
  readonly #reset: (() => void) | undefined;
  readonly #all: Set<Outlet> | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** True if lines go straight through. */
  #plain: boolean;
  #held: (() => void)[] | undefined;
  #lines = 0;
  #over = false;

  /** Takes what the lines are put into. */
  constructor(controller: ReadableStreamDefaultController<Uint8Array>, options: OutletOptions = {}) {
    const { subject, trouble, reset, all } = options;
    this.subject = subject;
    this.#controller = controller;
    this.#trouble = trouble ?? {};
    this.#reset = reset;
    this.#all = all;
    this.#plain = trouble === undefined;
    if (trouble?.breakAfter !== undefined) this.#timer = setTimeout(() => this.break(), trouble.breakAfter);
    all?.add(this);
  }

  /** Sends a line. */
  send(line: Uint8Array, bookmark = false): void {
    if (this.#plain) this.#controller.enqueue(line);
    else this.#do(() => this.#put(line, bookmark));
  }

  /** Ends the stream in order. */
  close(): void {
    this.#do(() => {
      this[Symbol.dispose]();
      this.#controller.close();
    });
  }

  /** Ends the stream with an error, whatever holds it. */
  fail(reason: unknown): void {
    if (this.#over) return;
    this[Symbol.dispose]();
    this.#controller.error(reason);
  }

  /** Breaks the connection. */
  break(): void {
    if (this.#over) return;
    this[Symbol.dispose]();
    this.onEnded();
    if (!this.#reset) return this.#controller.error(connectionReset());
    this.#reset();
    this.#controller.close();
  }

  /** Keeps back what is sent from now on. */
  hold(): void {
    this.#held ??= [];
    this.#plain = false;
  }

  /** Sends what was kept back, and no longer keeps anything. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const each of held) this.#do(each);
  }

  /** Forgets it. */
  [Symbol.dispose](): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#all?.delete(this);
  }

  #do(work: () => void): void {
    if (this.#over) return;
    if (this.#held) this.#held.push(work);
    else work();
  }

  #put(line: Uint8Array, bookmark: boolean): void {
    const { stall, truncate, bookmarks } = this.#trouble;
    if (stall || (bookmark && bookmarks === "drop")) return;
    if (truncate !== undefined && this.#lines++ >= truncate) {
      this.#controller.enqueue(line.subarray(0, line.length >> 1));
      this.close();
      this.onEnded();
      return;
    }
    this.#controller.enqueue(line);
    if (bookmark && bookmarks === "duplicate") this.#controller.enqueue(line);
  }
}
