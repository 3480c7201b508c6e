/**
 * Says what is to happen after a successful reconcile: another run after a while, or nothing until something changes.
 *
 * ```ts
 * import { Action } from "@tend/operator";
 *
 * const later = Action.requeue({ minutes: 5 });
 * console.assert(later.after === 300_000);
 * ```
 *
 * @module
 */
import { type Duration, toMilliseconds } from "./duration.ts";

/** The shortest requeue, in ms: a shorter one, 0 included, waits this long, so that an object cannot spin. */
export const MIN_REQUEUE = 100;

/** What a reconcile, or a cleanup that is not done yet, answers with. */
export class Action {
  static readonly #await = new Action(undefined);

  /** Milliseconds until the next run; undefined waits for a change. */
  readonly after: number | undefined;

  private constructor(after: number | undefined) {
    this.after = after;
  }

  /**
   * Runs again after the given time, or earlier when something changes: `{ minutes: 5 }`; a plain number is milliseconds.
   * Less than 100 ms counts as 100 ms.
   *
   * @throws {RangeError} If the time is negative or not finite
   */
  static requeue(after: Duration): Action {
    return new Action(Math.max(MIN_REQUEUE, toMilliseconds(after, "requeue")));
  }

  /** Runs again when something changes, or at the next resync: what returning nothing means, too. */
  static awaitChange(): Action {
    return Action.#await;
  }
}
