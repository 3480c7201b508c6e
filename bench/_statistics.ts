/**
 * Sums up numbers: the least, the one in the middle, the greatest, percentiles.
 *
 * ```ts
 * import { percentile, summary } from "./_statistics.ts";
 *
 * console.assert(summary([3, 1, 2]).median === 2);
 * console.assert(percentile([1, 2, 3, 4], 50) === 2);
 * ```
 *
 * @module
 */

/** Some numbers in three. */
export interface Summary {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

function sorted(values: readonly number[]): number[] {
  if (values.length === 0) throw new RangeError("Cannot sum up numbers: there must be some: current value is []");
  return values.toSorted((a, b) => a - b);
}

/** The least, the middle (of two the mean) and the greatest of some numbers. @throws {RangeError} If there are none */
export function summary(values: readonly number[]): Summary {
  const all = sorted(values);
  const half = all.length >> 1;
  const median = all.length % 2 === 1 ? all[half]! : (all[half - 1]! + all[half]!) / 2;
  return { min: all[0]!, median, max: all.at(-1)! };
}

/** The least of the numbers that so many per cent are not above. @throws {RangeError} If there are none */
export function percentile(values: readonly number[], percent: number): number {
  const all = sorted(values);
  return all[Math.max(0, Math.ceil(all.length * percent / 100) - 1)]!;
}
