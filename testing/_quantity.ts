/**
 * Reads resource quantities and writes them in their canonical form.
 *
 * ```ts
 * import { canonicalQuantity } from "./_quantity.ts";
 *
 * canonicalQuantity("0.5"); // "500m"
 * canonicalQuantity("1024Mi"); // "1Gi"
 * ```
 *
 * @module
 */

const QUANTITY = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = -9;
/** The most that a quantity with a binary suffix stands for. */
const MOST = 2n ** 63n - 1n;

/** A quantity: a whole number of billionths, and how it was written. */
interface Parsed {
  nanos: bigint;
  form: "decimal" | "binary" | "exponent";
}

function parse(text: string): Parsed | undefined {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, number = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = number.split(".");
  const form = suffix.endsWith("i") ? "binary" : /^[eE]./.test(suffix) ? "exponent" : "decimal";
  const exponent = form === "exponent" ? Number(suffix.slice(1)) : form === "decimal" ? DECIMAL[suffix]! : 0;
  let value = BigInt(whole + fraction || "0");
  if (form === "binary") value *= 1024n ** BigInt(BINARY.indexOf(suffix));
  if (form === "binary" && fraction === "" && value > MOST) {
    return { nanos: (sign === "-" ? -MOST : MOST) * 1_000_000_000n, form };
  }
  const scale = exponent - fraction.length - NANO;
  let nanos: bigint;
  if (scale >= 0) nanos = value * 10n ** BigInt(Math.min(scale, 60));
  else {
    // What is below a billionth is rounded away from zero.
    const divisor = 10n ** BigInt(Math.min(-scale, 60));
    nanos = (value + divisor - 1n) / divisor;
  }
  return { nanos: sign === "-" ? -nanos : nanos, form };
}

/** Returns a quantity's value as a number; undefined if it is none. */
export function quantityValue(quantity: string | number): number | undefined {
  const parsed = parse(String(quantity));
  return parsed === undefined ? undefined : Number(parsed.nanos) / 1e9;
}

/** Returns a quantity's value in billionths; undefined if it is none. */
export function quantityNanos(quantity: string): bigint | undefined {
  return parse(quantity)?.nanos;
}

/** Returns the canonical form of a quantity; undefined if it is none. */
export function canonicalQuantity(quantity: string | number): string | undefined {
  const text = String(quantity).trim();
  const parsed = parse(text);
  if (parsed === undefined) return undefined;
  const found = canonical(parsed);
  // Only a sign, zeros at its front, or an exponent written in another way: then it stays as it is.
  return found !== "0" && plainer(text) === found ? text : found;
}

/** A whole number without what says nothing: a plus, zeros at its front, a point at its end, an exponent of 0. */
function plainer(text: string): string {
  const [, sign, digits, rest = ""] = /^([+-]?)0*(\d+)\.?(\D.*)?$/.exec(text) ?? [];
  if (digits === undefined) return "";
  const exponent = /^[eE]([+-]?\d+)$/.exec(rest);
  const suffix = exponent === null ? rest : Number(exponent[1]) === 0 ? "" : `e${Number(exponent[1])}`;
  return `${sign === "-" ? sign : ""}${digits}${suffix}`;
}

/** Returns the sum of two quantities, in the form of the first one that is not zero. */
export function addQuantities(one: string, other: string): string {
  const a = parse(one), b = parse(other);
  if (a === undefined || b === undefined) return canonicalQuantity(a === undefined ? other : one) ?? "0";
  return canonical({ nanos: a.nanos + b.nanos, form: a.nanos === 0n ? b.form : a.form });
}

function canonical({ nanos, form }: Parsed): string {
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (form === "binary" && size % 1_000_000_000n === 0n && size >= 1024n * 1_000_000_000n) {
    let whole = size / 1_000_000_000n, power = 0;
    while (power < BINARY.length - 1 && whole % 1024n === 0n) whole /= 1024n, power++;
    return `${sign}${whole}${BINARY[power]}`;
  }
  let digits = size, exponent = NANO;
  while (digits % 1000n === 0n && exponent < 18) digits /= 1000n, exponent += 3;
  if (form === "exponent") return `${sign}${digits}${exponent === 0 ? "" : `e${exponent}`}`;
  const suffix = Object.keys(DECIMAL).find((key) => DECIMAL[key] === exponent)!;
  return `${sign}${digits}${suffix}`;
}

const THOUSANDTH = 1_000_000n;

/** Returns a quantity that is rounded up to thousandths, in its canonical form. */
export function thousandths(quantity: string): string {
  const nanos = quantityNanos(quantity) ?? 0n;
  return canonicalQuantity(`${(nanos + THOUSANDTH - 1n) / THOUSANDTH}m`)!;
}
