/**
 * Reads how long a request may take, as Go writes durations.
 *
 * ```ts
 * import { durationProblem } from "./_timeout.ts";
 *
 * console.assert(durationProblem("1m30s") === undefined);
 * console.assert(durationProblem("5") === 'time: missing unit in duration "5"');
 * ```
 *
 * @module
 */
import { badRequest } from "./_status.ts";

const UNITS = new Set(["ns", "us", "µs", "μs", "ms", "s", "m", "h"]);

/** What Go says of a text that is no duration. */
export function durationProblem(text: string): string | undefined {
  const quoted = JSON.stringify(text);
  let rest = text.replace(/^[-+]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return `time: invalid duration ${quoted}`;
  while (rest !== "") {
    const [all = "", number = "", unit = ""] = /^(\d+\.?\d*|\.\d+)?([^\d.]*)/.exec(rest) ?? [];
    if (number === "") return `time: invalid duration ${quoted}`;
    if (unit === "") return `time: missing unit in duration ${quoted}`;
    if (!UNITS.has(unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    rest = rest.slice(all.length);
  }
  return undefined;
}

/** Refuses a time that is none. */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get("timeout");
  if (!text) return;
  const why = durationProblem(text);
  if (why !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${why}`);
}
