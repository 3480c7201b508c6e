/**
 * Says how long ago something was, as kubectl does.
 *
 * ```ts
 * import { duration } from "./_ages.ts";
 *
 * console.assert(duration(125) === "2m5s");
 * ```
 *
 * @module
 */

/** How long ago a time was. */
export function age(from: string | undefined, now: Date): string {
  if (from === undefined) return "<unknown>";
  const seconds = Math.floor((now.getTime() - Date.parse(from)) / 1000);
  if (seconds < -1) return "<invalid>";
  return seconds < 0 ? "0s" : duration(seconds);
}

/** A number of seconds in a few characters. */
export function duration(seconds: number): string {
  const two = (large: number, unit: string, small: number, rest: string): string =>
    small === 0 ? `${large}${unit}` : `${large}${unit}${small}${rest}`;
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}
