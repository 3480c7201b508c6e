/**
 * Computes how long to wait after repeated failures: doubling from a first delay to a cap.
 *
 * ```ts
 * import { backoff } from "@tend/operator";
 *
 * console.assert(backoff(5_000, 3) === 20_000);
 * console.assert(backoff(5_000, 100) === 300_000);
 * ```
 *
 * @module
 */

/** The longest delay between two tries of a reconcile: 5 minutes, in ms. */
export const MAX_BACKOFF = 300_000;

/**
 * Answers with the delay after the n-th failure in a row: `first`, doubled with each further one, at most `max`.
 *
 * All in milliseconds. A `first` beyond `max` stands: it is what the caller asked for.
 */
export function backoff(first: number, failures: number, max: number = MAX_BACKOFF): number {
  if (failures < 1) return 0;
  return Math.max(first, Math.min(max, first * 2 ** (failures - 1)));
}

/** Options of {@linkcode Backoff}. */
export interface BackoffOptions {
  /** First delay, in ms. @default {800} */
  readonly first?: number | undefined;
  /** Longest delay before jitter, in ms. @default {30_000} */
  readonly max?: number | undefined;
  /** Adds up to this share of the delay at random, so that many clients do not retry in step. @default {1} */
  readonly jitter?: number | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
}

/** Keeps count of failures in a row and says how long to wait: client-go's reflector back-off by default. */
export class Backoff {
  #failures = 0;
  readonly #first: number;
  readonly #max: number;
  readonly #jitter: number;
  readonly #random: () => number;

  /** Starts with no failure. */
  constructor(options: BackoffOptions = {}) {
    this.#first = options.first ?? 800;
    this.#max = options.max ?? 30_000;
    this.#jitter = options.jitter ?? 1;
    this.#random = options.random ?? Math.random;
  }

  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts one more failure and answers with the delay, in ms. */
  next(): number {
    this.#failures++;
    return backoff(this.#first, this.#failures, this.#max) * (1 + this.#jitter * this.#random());
  }

  /** Forgets the failures. */
  reset(): void {
    this.#failures = 0;
  }
}
