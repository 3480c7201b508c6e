/**
 * Keeps what happens in a simulation: for those who judge it, and as a story.
 *
 * ```ts
 * import { Chronicle } from "./_chronicle.ts";
 *
 * const chronicle = new Chronicle(() => 1500, true);
 * chronicle.tell("user", "creates a");
 * console.assert(chronicle.trace[0]?.at === 1500);
 * ```
 *
 * @module
 */
import type { Observer } from "./_events.ts";
import type { Outcome, TraceLine } from "./_plan.ts";

/** What happened. */
export class Chronicle {
  /** Who is told. */
  readonly observers: Observer[] = [];
  /** What did not hold. */
  readonly violations: Outcome["violations"][number][] = [];
  /** The story; empty unless asked for. */
  readonly trace: TraceLine[] = [];
  /** True if the story is kept. */
  readonly tracing: boolean;
  readonly #now: () => number;

  constructor(now: () => number, tracing: boolean) {
    this.#now = now;
    this.tracing = tracing;
  }

  /** Adds a line to the story. */
  tell(actor: string, text: string): void {
    if (this.tracing) this.trace.push({ at: this.#now(), actor, text });
  }

  /** Notes that something did not hold. */
  report(invariant: string, text: string): void {
    this.tell("violated", `${invariant}: ${text}`);
    this.violations.push({ invariant, text, at: this.#now() });
  }

  /** Tells all who are interested. */
  notify(call: (observer: Observer) => void): void {
    for (const observer of this.observers) call(observer);
  }
}
