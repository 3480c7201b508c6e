/**
 * Tells the time of day to a fraction of a millisecond, so that processes of one machine can compare it.
 *
 * ```ts
 * import { epoch } from "./_clock.ts";
 *
 * console.assert(Math.abs(epoch() - Date.now()) < 1000);
 * ```
 *
 * @module
 */

/** How long the monotonic clock is taken to go as the system's does, in ms: that one is corrected by the network. */
const TRUSTED = 10_000;

let origin = performance.timeOrigin;
let compared = 0;

/** Milliseconds since 1970, with decimals. */
export function epoch(): number {
  const now = performance.now();
  if (now - compared < TRUSTED) return origin + now;
  const before = Date.now();
  let tick = before;
  while (tick === before) tick = Date.now(); // For a millisecond at most: at its turn both clocks show the same.
  compared = performance.now();
  origin = tick - compared;
  return tick;
}
