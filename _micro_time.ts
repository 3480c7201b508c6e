/**
 * Writes and reads `MicroTime`: RFC 3339 with exactly six fraction digits, as the server demands of leases and events.
 *
 * ```ts
 * import { formatMicroTime, parseMicroTime } from "./_micro_time.ts";
 *
 * console.assert(formatMicroTime(0, 7) === "1970-01-01T00:00:00.000007Z");
 * console.assert(parseMicroTime("1970-01-01T01:00:00.5+01:00") === 500_000);
 * ```
 *
 * @module
 */

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

/** Answers with the time of `ms` since 1970 and the given microseconds (0 to 999) in six fraction digits. */
export function formatMicroTime(ms: number, micros = 0): string {
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}

/** Answers with the microseconds since 1970 of an RFC 3339 time of any precision; `undefined` if it is not one. */
export function parseMicroTime(text: unknown): number | undefined {
  const parts = typeof text === "string" ? RFC3339.exec(text) : null;
  if (!parts) return undefined;
  const [, date, time, fraction = "", zone] = parts;
  const ms = Date.parse(`${date}T${time}${zone!.toUpperCase()}`);
  return Number.isNaN(ms) ? undefined : ms * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
