/**
 * Reads spans of time: milliseconds, or `{ hours, minutes, seconds, milliseconds }`.
 *
 * ```ts
 * import { toMilliseconds } from "@tend/operator";
 *
 * const wait = toMilliseconds({ minutes: 5, seconds: 30 });
 * console.assert(wait === 330_000);
 * ```
 *
 * @module
 */

/** A span of time: milliseconds, or the sum of the given parts. */
export type Duration = number | {
  /** Hours of 60 minutes. */
  readonly hours?: number;
  /** Minutes of 60 seconds. */
  readonly minutes?: number;
  /** Seconds. */
  readonly seconds?: number;
  /** Milliseconds. */
  readonly milliseconds?: number;
};

const UNITS: Readonly<Record<string, number>> = { hours: 3_600_000, minutes: 60_000, seconds: 1000, milliseconds: 1 };

/**
 * Answers with the milliseconds of a duration.
 *
 * @param what Names the setting in errors
 * @throws {TypeError} If it is neither a number nor made of the four known parts
 * @throws {RangeError} If it is negative or not finite
 */
export function toMilliseconds(duration: Duration, what = "duration"): number {
  const total = typeof duration === "number" ? duration : sumOfParts(duration, what);
  if (!Number.isFinite(total) || total < 0) {
    throw new RangeError(
      `Cannot read '${what}': it must be a finite time of at least 0 ms: current value is ${Deno.inspect(duration)}`,
    );
  }
  return total;
}

function sumOfParts(parts: unknown, what: string): number {
  if (typeof parts !== "object" || parts === null || Array.isArray(parts) || Object.keys(parts).length === 0) {
    throw new TypeError(
      `Cannot read '${what}': it must be milliseconds or parts such as { minutes: 5 }: current value is ${
        Deno.inspect(parts)
      }`,
    );
  }
  let total = 0;
  for (const [unit, value] of Object.entries(parts)) {
    const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (factor === undefined || (value !== undefined && typeof value !== "number")) {
      throw new TypeError(
        `Cannot read '${what}': its parts must be numbers of hours, minutes, seconds or milliseconds: current value is ${
          Deno.inspect(parts)
        }`,
      );
    }
    total += (value ?? 0) * factor;
  }
  return total;
}
