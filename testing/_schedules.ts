/**
 * Reads the schedules of CronJobs and the names of time zones, and refuses what a server refuses, in its words.
 *
 * ```ts
 * import { scheduleProblem } from "./_schedules.ts";
 *
 * console.assert(scheduleProblem("60 * * * *") === "end of range (60) above maximum (59): 60");
 * ```
 *
 * @module
 */

/** A field of a schedule: the least and the most that it takes, and what its numbers are called. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const DURATION = /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
const ZONED = /^(?:TZ|CRON_TZ)=(\S*)\s*(.*)$/;

/** A problem, thrown up to the caller of the parser. */
class Problem extends Error {}

function numberOf(text: string, { min, names }: Bounds): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + min;
  return wholeOf(text);
}

function wholeOf(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    const why = `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw new Problem(`failed to parse int from ${text}: ${why}`);
  }
  const value = Number(text);
  if (value < 0) throw new Problem(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function checkRange(text: string, bounds: Bounds): void {
  const [range = "", step, ...slashes] = text.split("/");
  const [low = "", high, ...hyphens] = range.split("-");
  let start = bounds.min, end = bounds.max;
  if (low !== "*" && low !== "?") {
    start = numberOf(low, bounds);
    if (hyphens.length > 0) throw new Problem(`too many hyphens: ${text}`);
    end = high === undefined ? start : numberOf(high, bounds);
  }
  if (slashes.length > 0) throw new Problem(`too many slashes: ${text}`);
  let size = 1;
  if (step !== undefined) {
    size = wholeOf(step);
    if (high === undefined) end = bounds.max;
  }
  if (start < bounds.min) throw new Problem(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (end > bounds.max) throw new Problem(`end of range (${end}) above maximum (${bounds.max}): ${text}`);
  if (start > end) throw new Problem(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (size === 0) throw new Problem(`step of range should be a positive number: ${text}`);
}

function checkDescriptor(text: string): void {
  if (DESCRIPTORS.includes(text)) return;
  if (!text.startsWith("@every ")) throw new Problem(`unrecognized descriptor: ${text}`);
  const duration = text.slice("@every ".length);
  if (DURATION.test(duration)) return;
  throw new Problem(`failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`);
}

function check(schedule: string): void {
  const [, zone, after] = ZONED.exec(schedule) ?? [];
  if (zone !== undefined && !isTimeZone(zone) && zone !== "Local" && zone !== "") {
    throw new Problem(`provided bad location ${zone}: unknown time zone ${zone}`);
  }
  const text = (after ?? schedule).trim();
  if (text.startsWith("@")) return checkDescriptor(text);
  const fields = text === "" ? [] : text.split(/\s+/);
  if (fields.length !== FIELDS.length) {
    throw new Problem(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  for (const [index, field] of fields.entries()) {
    for (const part of field.split(",").filter((each) => each !== "")) checkRange(part, FIELDS[index]!);
  }
}

/** Returns what is wrong with a schedule; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    check(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** Tells whether a schedule names its time zone itself. */
export function hasZone(schedule: string): boolean {
  return schedule.includes("TZ");
}

/** Tells whether there is a time zone of that name; case counts, as in the files of the database. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
