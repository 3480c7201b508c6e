/**
 * Reads and writes the times and durations of the Common Expression Language, and takes them apart.
 *
 * ```ts
 * import { readDuration } from "./_cel_times.ts";
 *
 * console.assert(readDuration("1m30s").nanos === 90_000_000_000n);
 * ```
 *
 * @module
 */
import { CelError, Duration, Timestamp } from "./_cel_values.ts";

const SECOND = 1_000_000_000n;
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

/**
 * Reads a duration.
 *
 * @throws {CelError} If it is none
 */
export function readDuration(text: string): Duration {
  const refuse = (): never => {
    throw new CelError("type conversion error from 'string' to 'google.protobuf.Duration'");
  };
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "0") return new Duration(0n);
  if (rest === "") return refuse();
  let nanos = 0n, at = 0;
  const part = /(\d+)?(?:\.(\d+)?)?(ns|us|µs|ms|s|m|h)/y;
  while (at < rest.length) {
    part.lastIndex = at;
    const match = part.exec(rest);
    if (!match || (match[1] === undefined && match[2] === undefined)) return refuse();
    const unit = UNITS[match[3]!]!;
    nanos += BigInt(match[1] ?? 0) * unit;
    if (match[2]) nanos += BigInt(match[2]) * unit / 10n ** BigInt(match[2].length);
    at += match[0].length;
  }
  return new Duration(sign === "-" ? -nanos : nanos);
}

/** Writes a duration as its seconds. */
export function writeDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % SECOND).toString().padStart(9, "0").replace(/0+$/, "");
  return `${nanos < 0n ? "-" : ""}${size / SECOND}${fraction === "" ? "" : `.${fraction}`}s`;
}

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a time.
 *
 * @throws {CelError} If it is none
 */
export function readTimestamp(text: string): Timestamp {
  const match = TIME.exec(text);
  const millis = match ? Date.parse(`${match[1]}T${match[2]}${match[4]}`) : NaN;
  if (!match || Number.isNaN(millis)) {
    throw new CelError("type conversion error from 'string' to 'google.protobuf.Timestamp'");
  }
  return new Timestamp(BigInt(millis) * 1_000_000n + BigInt((match[3] ?? "").padEnd(9, "0")));
}

/** Writes a time in UTC. */
export function writeTimestamp({ nanos }: Timestamp): string {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  const seconds = (nanos - rest) / SECOND;
  const fraction = rest.toString().padStart(9, "0").replace(/0+$/, "");
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 19) + (fraction === "" ? "" : `.${fraction}`) + "Z";
}

/** A time as a date whose UTC parts are those in the zone. */
function local({ nanos }: Timestamp, zone = "UTC"): Date {
  const millis = Number(nanos / 1_000_000n);
  const offset = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(millis + (offset[1] === "-" ? -minutes : minutes) * 60_000);
  }
  try {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    return new Date(Date.parse(`${format.format(millis).replace(" ", "T")}Z`) + millis % 1000);
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

const DAY = 86_400_000;

/** The parts of a time, by the methods that read them. */
export const TIME_PARTS: Readonly<Record<string, (time: Timestamp, zone?: string) => number>> = {
  getFullYear: (time, zone) => local(time, zone).getUTCFullYear(),
  getMonth: (time, zone) => local(time, zone).getUTCMonth(),
  getDate: (time, zone) => local(time, zone).getUTCDate(),
  getDayOfMonth: (time, zone) => local(time, zone).getUTCDate() - 1,
  getDayOfWeek: (time, zone) => local(time, zone).getUTCDay(),
  getDayOfYear: (time, zone) => {
    const date = local(time, zone);
    return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY);
  },
  getHours: (time, zone) => local(time, zone).getUTCHours(),
  getMinutes: (time, zone) => local(time, zone).getUTCMinutes(),
  getSeconds: (time, zone) => local(time, zone).getUTCSeconds(),
  getMilliseconds: (time, zone) => local(time, zone).getUTCMilliseconds(),
};

/** The parts of a duration, by the methods that read them. */
export const DURATION_PARTS: Readonly<Record<string, (duration: Duration) => bigint>> = {
  getHours: ({ nanos }) => nanos / UNITS.h!,
  getMinutes: ({ nanos }) => nanos / UNITS.m!,
  getSeconds: ({ nanos }) => nanos / SECOND,
  getMilliseconds: ({ nanos }) => (nanos / UNITS.ms!) % 1000n,
};
