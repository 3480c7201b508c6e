/**
 * Lets timers and signals have their turn while requests in process follow each other without a pause.
 *
 * ```ts
 * import { Turns } from "./_turns.ts";
 *
 * await new Turns(() => Date.now()).next();
 * ```
 *
 * Without a socket nothing that a server and its clients wait for needs the event loop: an operator that answers each of its
 * own changes with another would keep every timer, also the one that is to end the test, from ever firing.
 *
 * While time is fake the event loop decides nothing, and a turn of it would make a run depend on how fast the machine is.
 * Then one is taken only after so many requests at one and the same instant that nothing but an endless loop makes them.
 *
 * @module
 */
import { setImmediate } from "node:timers"; // Not that of the globals: time may be fake.

/** How many requests follow each other without a turn of the event loop. */
const REQUESTS = 250;

/** How many at one instant of fake time. */
const AT_ONCE = 20_000;

const realTimeout = globalThis.setTimeout;

/** Counts requests. */
export class Turns {
  readonly #now: () => number;
  #requests = 0;
  #instant = NaN;

  /** Takes the clock, in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A promise to wait for: once in so many requests, a turn of the event loop. */
  next(): Promise<void> | undefined {
    let most = REQUESTS;
    if (globalThis.setTimeout !== realTimeout) {
      most = AT_ONCE;
      const now = this.#now();
      if (now !== this.#instant) this.#requests = 0;
      this.#instant = now;
    }
    if (++this.#requests < most) return undefined;
    this.#requests = 0;
    return new Promise<void>((resolve) => setImmediate(resolve));
  }
}
