/**
 * Calls what somebody else wrote: with a deadline, one run at a time, and nothing that it throws gets out.
 *
 * ```ts
 * import { getLogger } from "@logtape/logtape";
 * import { Guarded } from "./_guarded.ts";
 *
 * const guarded = new Guarded(() => 42, 1000, "answer", getLogger(["tend"]));
 * console.assert((await guarded.run(new AbortController().signal)).value === 42);
 * ```
 *
 * @module
 */
import { after } from "./delay.ts";
import type { Logger } from "./logger.ts";

/** How a guarded call ended. */
export interface Outcome<T> {
  /** What it answered. */
  readonly value?: T;
  /** `timeout`, or the class of what was thrown; undefined if there is a value. */
  readonly problem?: string;
}

/** A function of somebody else's that may throw or hang: never run twice at once, and not waited for too long. */
export class Guarded<T> {
  readonly #call: () => T | Promise<T>;
  readonly #timeout: number;
  readonly #name: string;
  readonly #log: Logger;
  #pending: Promise<Outcome<T>> | undefined;
  #failing = false;

  /** `timeout` in ms; `name` is what the log calls it. */
  constructor(call: () => T | Promise<T>, timeout: number, name: string, log: Logger) {
    this.#call = call;
    this.#timeout = timeout;
    this.#name = name;
    this.#log = log;
  }

  /** Ms that it may take. */
  get timeout(): number {
    return this.#timeout;
  }

  /** Runs it, or joins the run that is going on, until its time is over or the signal aborts. */
  run(signal: AbortSignal): Promise<Outcome<T>> {
    // Cleared by a later microtask: a call that throws at once ends before this assignment.
    const pending = this.#pending ??= this.#attempt().finally(() => this.#pending = undefined);
    return new Promise((resolve) => {
      const giveUp = (): void => settle({ problem: "timeout" });
      const cancel = after(this.#timeout, giveUp);
      const settle = (outcome: Outcome<T>): void => {
        cancel();
        signal.removeEventListener("abort", giveUp);
        resolve(outcome);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      void pending.then(settle);
    });
  }

  async #attempt(): Promise<Outcome<T>> {
    try {
      const value = await this.#call();
      this.#failing = false;
      return { value };
    } catch (error) {
      // Said once, not at each probe.
      if (!this.#failing) this.#log.error("Check {check} threw", { check: this.#name, error });
      this.#failing = true;
      return { problem: error instanceof Error ? error.constructor.name : typeof error };
    }
  }
}
