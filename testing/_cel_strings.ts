/**
 * Declares what the Common Expression Language does with texts, and Kubernetes' regular expressions.
 *
 * ```ts
 * import { formatText } from "./_cel_strings.ts";
 *
 * console.assert(formatText("%s is %d", ["a", 1n]) === "a is 1");
 * ```
 *
 * @module
 */
import type { Library } from "./_cel_types.ts";
import { writeDuration, writeTimestamp } from "./_cel_times.ts";
import { CelError, Duration, Timestamp, TypeValue, Uint } from "./_cel_values.ts";
import { goPattern } from "./_go_pattern.ts";

function pattern(text: string): RegExp {
  const found = goPattern(text);
  if (!found) throw new CelError(`error parsing regexp: \`${text}\``);
  return found;
}

function global(text: string): RegExp {
  const { source, flags } = pattern(text);
  return new RegExp(source, `${flags}g`);
}

function within(index: bigint, length: number): number {
  if (index < 0n || index > BigInt(length)) throw new CelError(`index out of range: ${index}`);
  return Number(index);
}

function substring(text: string, start: bigint, end?: bigint): string {
  const characters = [...text];
  const from = within(start, characters.length);
  if (end === undefined) return characters.slice(from).join("");
  const to = within(end, characters.length);
  if (from > to) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  return characters.slice(from, to).join("");
}

/** Where a text is in another, counted in characters; -1 if it is not. */
function find(text: string, part: string, from = 0, last = false): bigint {
  const characters = [...text], wanted = [...part];
  const fits = (at: number): boolean => wanted.every((each, index) => characters[at + index] === each);
  const end = characters.length - wanted.length;
  if (last) {
    for (let at = Math.min(from, end); at >= 0; at--) if (fits(at)) return BigInt(at);
  } else for (let at = from; at <= end; at++) if (fits(at)) return BigInt(at);
  return -1n;
}

function replaceSome(text: string, from: string, to: string, most: bigint): string {
  if (most < 0n) return text.replaceAll(from, () => to);
  let left = most;
  return text.replaceAll(from, (found) => left-- > 0n ? to : found);
}

function split(text: string, by: string, most: bigint): string[] {
  if (most === 0n) return [];
  const parts = by === "" ? [...text] : text.split(by);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const head = parts.slice(0, Number(most) - 1);
  return [...head, parts.slice(Number(most) - 1).join(by)];
}

function shown(value: unknown): string {
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Duration) return writeDuration(value);
  if (value instanceof Timestamp) return writeTimestamp(value);
  if (value instanceof TypeValue) return value.of;
  if (Array.isArray(value)) return `[${value.map(inside).join(", ")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, each]) => `${inside(key)}: ${inside(each)}`).sort().join(", ")}}`;
  }
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
}

/** What is inside a list or map is written with quotes. */
function inside(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : shown(value);
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A number with a power of ten, as `1.5 × 10⁰³`. */
function scientific(value: number, precision: number): string {
  const [mantissa = "", exponent = ""] = value.toExponential(precision).split("e");
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  return `${mantissa} × 10${sign}${[...digits].map((digit) => SUPERSCRIPTS[Number(digit)]).join("")}`;
}

function whole(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (value instanceof Uint) return value.value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  throw new CelError("error during formatting: decimal clause can only be used on integers");
}

function hexadecimal(value: unknown): string {
  if (typeof value !== "string" && !(value instanceof Uint8Array)) return whole(value).toString(16);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Fills in the clauses of a format. */
export function formatText(format: string, values: readonly unknown[]): string {
  let index = 0;
  const text = format.replaceAll(/%(?:%|(?:\.(\d+))?([a-zA-Z]))/g, (clause, precision: string | undefined, letter) => {
    if (clause === "%%") return "%";
    if (index >= values.length) throw new CelError(`error during formatting: index ${index} out of range`);
    const value = values[index++];
    const number = (): number => typeof value === "number" ? value : Number(whole(value));
    switch (letter) {
      case "s":
        return shown(value);
      case "d":
        return String(whole(value));
      case "b":
        return whole(value).toString(2);
      case "o":
        return whole(value).toString(8);
      case "x":
        return hexadecimal(value);
      case "X":
        return hexadecimal(value).toUpperCase();
      case "f":
        return number().toFixed(Number(precision ?? 6));
      case "e":
        return scientific(number(), Number(precision ?? 6));
    }
    throw new CelError(
      `error during formatting: could not parse formatting clause: unrecognized formatting clause "${letter}"`,
    );
  });
  return text;
}

const WHITE = /^[\s\u0085]+|[\s\u0085]+$/g;

/** The functions. */
export const STRINGS: Library = {
  "string.startsWith(string): bool": (text: string, part: string) => text.startsWith(part),
  "string.endsWith(string): bool": (text: string, part: string) => text.endsWith(part),
  "string.contains(string): bool": (text: string, part: string) => text.includes(part),
  "string.matches(string): bool": (text: string, source: string) => pattern(source).test(text),
  "matches(string, string): bool": (text: string, source: string) => pattern(source).test(text),
  "string.charAt(int): string": (text: string, index: bigint) => [...text][within(index, [...text].length)] ?? "",
  "string.indexOf(string): int": (text: string, part: string) => find(text, part),
  "string.indexOf(string, int): int": (text: string, part: string, from: bigint) =>
    find(text, part, within(from, [...text].length)),
  "string.lastIndexOf(string): int": (text: string, part: string) => find(text, part, Infinity, true),
  "string.lastIndexOf(string, int): int": (text: string, part: string, from: bigint) =>
    find(text, part, within(from, [...text].length), true),
  "string.lowerAscii(): string": (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  "string.upperAscii(): string": (text: string) => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
  "string.replace(string, string): string": (text: string, from: string, to: string) =>
    replaceSome(text, from, to, -1n),
  "string.replace(string, string, int): string": replaceSome,
  "string.split(string): list(string)": (text: string, by: string) => split(text, by, -1n),
  "string.split(string, int): list(string)": split,
  "string.substring(int): string": substring,
  "string.substring(int, int): string": substring,
  "string.trim(): string": (text: string) => text.replaceAll(WHITE, ""),
  "string.format(list(dyn)): string": formatText,
  "list(string).join(): string": (parts: string[]) => parts.join(""),
  "list(string).join(string): string": (parts: string[], by: string) => parts.join(by),
  "strings/quote(string): string": (text: string) => JSON.stringify(text),
  "string.find(string): string": (text: string, source: string) => pattern(source).exec(text)?.[0] ?? "",
  "string.findAll(string): list(string)": (text: string, source: string) => text.match(global(source)) ?? [],
  "string.findAll(string, int): list(string)": (text: string, source: string, most: bigint) => {
    const found = text.match(global(source)) ?? [];
    return most < 0n ? [...found] : found.slice(0, Number(most));
  },
};
