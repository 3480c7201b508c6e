/**
 * Reads the indexes of an indexed Job, such as `0-2,5`.
 *
 * ```ts
 * import { indexCount } from "./_jobs_indexes.ts";
 *
 * console.assert(indexCount("0-2,5", 10) === 4);
 * ```
 *
 * @module
 */

/** The intervals that a text with valid indexes names. */
function intervalsOf(text: string): [number, number][] {
  return text === "" ? [] : text.split(",").map((interval) => {
    const [low, high = low] = interval.split("-").map(Number) as [number, number?];
    return [low, high];
  });
}

/** The first index that two texts with valid indexes both name. */
export function commonIndex(one: string, other: string): number | undefined {
  const shared = intervalsOf(one).flatMap(([low, high]) =>
    intervalsOf(other).filter(([from, to]) => from <= high && low <= to).map(([from]) => Math.max(low, from))
  );
  return shared.length === 0 ? undefined : Math.min(...shared);
}

/** How many indexes a text names; what is wrong with it if it is none. */
export function indexCount(text: string, completions: number): number | string {
  if (text === "") return 0;
  let count = 0, previous: number | undefined;
  for (const interval of text.split(",")) {
    const limits = interval.split("-");
    if (limits.length > 2) {
      return `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at ` +
        "most two parts separated by '-'";
    }
    for (const limit of limits) {
      const wrong = problem(limit, previous, completions);
      if (wrong !== undefined) return wrong;
      previous = Number(limit);
    }
    const [low, high = low] = limits.map(Number) as [number, number?];
    count += high - low + 1;
  }
  return count;
}

function problem(limit: string, previous: number | undefined, completions: number): string | undefined {
  if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
  if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
  if (previous !== undefined && previous >= Number(limit)) {
    return `non-increasing order, previous: ${previous}, current: ${Number(limit)}`;
  }
  return undefined;
}
