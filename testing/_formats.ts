/**
 * Checks the string formats that a custom resource's schema can ask for.
 *
 * ```ts
 * import { fitsFormat } from "./_formats.ts";
 *
 * fitsFormat("date", "2020-13-01"); // false
 * fitsFormat("no-such-format", "x"); // true
 * ```
 *
 * @module
 */

import { readLoose } from "./_addresses.ts";

const HEX = /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid = (version: number) =>
  new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${
      version > 3 ? "[89ab]" : "[0-9a-f]"
    }[0-9a-f]{3}-?[0-9a-f]{12}$`,
    "i",
  );
const SIGN = "[a-zA-Z0-9\\p{S}\\p{L}]";
const HOST = new RegExp(
  `^(${SIGN}(-?${SIGN}{0,62})?|(${SIGN}((${SIGN}|-){0,61}${SIGN})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  "u",
);
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/i;
const DURATION = /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
/** Anywhere in the text, a number and a unit, as Scala writes them. */
const WORDY_DURATION =
  /\d+\s*((ns|us|µs|ms|s|m|h|hr|d|w|wk)(?![A-Za-zµ])|(nano|micro|milli|sec|min|hour|day|week)[A-Za-zµ]*)/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CARD = /^\d{13,19}$/;
const PHONE_SSN = /^\d{3}[- ]?\d{2}[- ]?\d{4}$/;

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  return match !== null && isDate(match[1]!) && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 60;
}

/** Zeros in front of a number are let through. */
function isIpv4(text: string): boolean {
  return text.includes(".") && readLoose(text) !== undefined;
}

function isIpv6(text: string): boolean {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(":")) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => half === "" ? [] : half.split(":"));
  const last = groups.at(-1);
  const embedded = last !== undefined && last.includes(".");
  if (embedded && !isIpv4(last)) return false;
  const hex = embedded ? groups.slice(0, -1) : groups;
  const size = hex.length + (embedded ? 2 : 0);
  if (!hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? size < 8 : size === 8;
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(bits)) return false;
  return isIpv4(address) && Number(bits) <= 32 || isIpv6(address) && Number(bits) <= 128;
}

const sum = (digits: string, weigh: (index: number) => number): number =>
  [...digits].reduce((total, digit, index) => total + (digit === "X" ? 10 : Number(digit)) * weigh(index), 0);

function isIsbn10(text: string): boolean {
  const bare = text.replaceAll(/[\s-]/g, "");
  return /^\d{9}[\dX]$/.test(bare) && sum(bare, (index) => index + 1) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const bare = text.replaceAll(/[\s-]/g, "");
  return /^\d{13}$/.test(bare) && sum(bare, (index) => index % 2 === 0 ? 1 : 3) % 10 === 0;
}

function isUri(text: string): boolean {
  // deno-lint-ignore no-control-regex -- what Go's parser refuses
  if (/[\x00-\x20\x7f]/.test(text) || text === "") return false;
  if (/%(?![0-9a-fA-F]{2})/.test(text.split("?")[0]!)) return false;
  return text.startsWith("/") || /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text);
}

function isEmail(text: string): boolean {
  const address = /<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return /^("[^"]+"|[^\s@<>,;:\\"()[\].]+(\.[^\s@<>,;:\\"()[\].]+)*)@[^\s@<>.]+(\.[^\s@<>.]+)*$/.test(address);
}

const hasLuhn = (text: string) =>
  [...text].reverse().reduce((sum, digit, index) => {
        const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
        return sum + (value > 9 ? value - 9 : value);
      }, 0) % 10 === 0;

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", matches(/^[0-9a-fA-F]{24}$/)],
  ["uri", isUri],
  ["email", isEmail],
  ["hostname", (text: string) => text.length <= 255 && HOST.test(text)],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  [
    "mac",
    matches(/^([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2}[:-]){0,14}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\.){2,}[0-9a-fA-F]{4}$/),
  ],
  ["uuid", matches(UUID)],
  ["uuid3", matches(uuid(3))],
  ["uuid4", matches(uuid(4))],
  ["uuid5", matches(uuid(5))],
  ["isbn", (text: string) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", (text: string) => {
    const digits = text.replaceAll(/[^0-9]/g, "");
    return CARD.test(digits) && hasLuhn(digits);
  }],
  ["ssn", (text: string) => text.length === 11 && PHONE_SSN.test(text)],
  ["hexcolor", matches(HEX)],
  ["rgbcolor", matches(/^rgb\(\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*(,\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*){2}\)$/)],
  ["byte", matches(BASE64)],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text: string) => DURATION.test(text) || WORDY_DURATION.test(text)],
  ["date-time", isDateTime],
  ["datetime", isDateTime],
  ["k8s-short-name", matches(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)],
  ["k8s-long-name", matches(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)],
]);

/** Tells whether a text fits a format; formats that the server does not know fit everything. */
export function fitsFormat(format: string, text: string): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}

const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** Tells whether the server knows a format of values of a type. */
export function knowsFormat(type: string, format: string): boolean {
  if (type !== "" && type !== "string") return NUMBER_FORMATS[type]?.includes(format) ?? false;
  const plain = format.replaceAll("-", "");
  return [...FORMATS.keys()].some((each) => each.replaceAll("-", "") === plain);
}
