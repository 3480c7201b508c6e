/**
 * Does something many times, some of it at once.
 *
 * ```ts
 * import { each } from "./_each.ts";
 *
 * const seen: number[] = [];
 * await each(3, async (index) => void seen.push(index));
 * console.assert(seen.join() === "0,1,2");
 * ```
 *
 * @module
 */

/** How much of it is done at once, unless said otherwise. */
const CONCURRENCY = 32;

/** Calls for each number below a count; ends at the first failure. */
export async function each(
  count: number,
  work: (index: number) => Promise<unknown>,
  concurrency = CONCURRENCY,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
