/**
 * Tells integers from other numbers, and whether a number is in the range of its format, as Go does.
 *
 * ```ts
 * import { isInteger } from "./_validate_numbers.ts";
 *
 * console.assert(isInteger(3) && !isInteger(1e20));
 * ```
 *
 * @module
 */
import type { Schema } from "./_schema.ts";

/** True for a number that Go reads as an integer: others are too large for one. */
export function isInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** The format that a number has by itself. */
export function goFormat(value: number): string {
  return isInteger(value) ? "int64" : "float64";
}

/** True for a multiple of a factor, as far as floating point can tell. */
export function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

const MAX_FLOAT = 3.4028234663852886e38;

const INT_RANGES: Record<string, [number, number]> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
};

/** Says whether a number has the type and format that are asked for. */
export function checkRange(value: number, schema: Schema, path: string): string | undefined {
  const { type, format = "" } = schema;
  if (type === "number" && format === "float" && Math.abs(value) > MAX_FLOAT) {
    return `Checked value must be of type number with format float in ${path}`;
  }
  if (type !== "integer") return undefined;
  const [low, high] = INT_RANGES[format] ?? [-(2 ** 63), 2 ** 63];
  if (isInteger(value) && value >= low && value <= high) return undefined;
  const text = format === "" ? "(default format)" : `with format ${format}`;
  return `Checked value must be of type integer ${text} in ${path}`;
}
