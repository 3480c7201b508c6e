/**
 * Decides when a failed reconcile is tried again, and how loudly it failed.
 *
 * ```ts
 * import { planRetry } from "./retry.ts";
 *
 * console.assert(planRetry(new Error("no route"), 5_000, 3).delay === 20_000);
 * ```
 *
 * | what was thrown | next try | counts as |
 * |---|---|---|
 * | anything else | the back-off: `first` doubling to 5 min | error |
 * | an {@linkcode ApiError} with Retry-After | the back-off, or what the server asked if that is longer | error |
 * | {@linkcode RetryError} | its own delay, instead of the back-off | error |
 * | {@linkcode TerminalError} | the next change | terminal error |
 * | 422 Invalid | 5 min: the same object will hardly be taken sooner | error |
 * | 409 Conflict, AlreadyExists | 1 s doubling to 5 min: a newer version is on its way | retry, from the 7th in a row on error |
 * | 403 of a terminating namespace | the back-off | retry |
 * | {@linkcode ObjectGoneError} | the next change | nothing |
 *
 * @module
 */
import { backoff, MAX_BACKOFF } from "./backoff.ts";
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNamespaceTerminating,
  ObjectGoneError,
  RetryError,
  TerminalError,
} from "./errors.ts";

/** First delay after a conflict, in ms. */
const CONFLICT_DELAY = 1000;

/** So many conflicts in a row, in a minute or more, may pass by themselves; one after that is of another kind. */
const PASSING_CONFLICTS = 6;

/** When to try again, and what kind of failure it was. */
export interface RetryPlan {
  /** Milliseconds to wait; undefined waits for the next change. */
  readonly delay: number | undefined;
  /** `error` and `terminal` are logged and counted as errors, `retry` only as another run, `nothing` not at all. */
  readonly kind: "error" | "terminal" | "retry" | "nothing";
}

/** Answers for the n-th failure in a row; `first` is the back-off's first delay in ms. */
export function planRetry(error: unknown, first: number, failures: number): RetryPlan {
  const delay = backoff(first, failures);
  if (error instanceof TerminalError) return { delay: undefined, kind: "terminal" };
  if (error instanceof ObjectGoneError) return { delay: undefined, kind: "nothing" };
  if (error instanceof RetryError) return { delay: error.retryAfter, kind: "error" };
  if (isConflict(error) || isAlreadyExists(error)) {
    const kind = failures > PASSING_CONFLICTS ? "error" : "retry";
    return { delay: backoff(Math.min(first, CONFLICT_DELAY), failures), kind };
  }
  if (isNamespaceTerminating(error)) return { delay, kind: "retry" };
  if (isInvalid(error)) return { delay: Math.max(delay, MAX_BACKOFF), kind: "error" };
  if (error instanceof ApiError && error.retryAfter) return { delay: Math.max(delay, error.retryAfter), kind: "error" };
  return { delay, kind: "error" };
}
