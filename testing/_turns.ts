/**
 * Lets timers and signals have their turn while requests in process follow each other without a pause.
 *
 * ```ts
 * import { Turns } from "./_turns.ts";
 *
 * await new Turns().next();
 * ```
 *
 * Without a socket nothing that a server and its clients wait for needs the event loop: an operator that answers each of its
 * own changes with another would keep every timer, also the one that is to end the test, from ever firing.
 *
 * @module
 */
import { setImmediate } from "node:timers"; // Not that of the globals: time may be fake.

/** How many requests follow each other without a turn of the event loop. */
const REQUESTS = 250;

/** Counts requests. */
export class Turns {
  #requests = 0;

  /** Waits for a turn of the event loop, once in so many requests. */
  async next(): Promise<void> {
    if (++this.#requests % REQUESTS === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
