/**
 * Holds the values that expressions of the Common Expression Language compute with.
 *
 * Integers are bigints, doubles numbers, lists arrays, maps and objects Maps; the rest is here.
 *
 * ```ts
 * import { equalValues, typeName } from "./_cel_values.ts";
 *
 * console.assert(typeName(1n) === "int" && equalValues(1n, 1));
 * ```
 *
 * @module
 */
import type { Type } from "./_cel_types.ts";

/** Thrown when an expression cannot be computed; the message is the server's. */
export class CelError extends Error {
  override name = "CelError";
}

/** The error for a value that an operator is not made for. */
export function noOverload(): CelError {
  return new CelError("no such overload");
}

/** An unsigned integer. */
export class Uint {
  /** The integer. */
  readonly value: bigint;

  /** Takes the integer. */
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A time in billionths of a second since 1970. */
export class Timestamp {
  /** The billionths. */
  readonly nanos: bigint;

  /** Takes the billionths. */
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A duration in billionths of a second. */
export class Duration {
  /** The billionths. */
  readonly nanos: bigint;

  /** Takes the billionths. */
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value that may be absent. */
export class Optional {
  /** The value; undefined if there is none. */
  readonly value: unknown;

  /** Takes the value, if there is one. */
  constructor(value?: unknown) {
    this.value = value;
  }
}

/** A value of a library's type, such as a quantity. */
export class Opaque {
  /** The type's name. */
  readonly type: string;
  /** What the library computes with. */
  readonly value: unknown;

  /** Takes the type's name and the value. */
  constructor(type: string, value: unknown) {
    this.type = type;
    this.value = value;
  }
}

/** A type as a value. */
export class TypeValue {
  /** The type's name. */
  readonly of: string;

  /** Takes the type's name. */
  constructor(of: string) {
    this.of = of;
  }
}

/** Marks lists whose order does not matter: sets, and lists of items with keys. */
export const UNORDERED: unique symbol = Symbol("unordered");

/** The name of a value's type. */
export function typeName(value: unknown): string {
  switch (typeof value) {
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    case "boolean":
      return "bool";
  }
  if (value === null) return "null_type";
  if (Array.isArray(value)) return "list";
  if (value instanceof Map) return "map";
  if (value instanceof Opaque) return value.type;
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Uint) return "uint";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Optional) return "optional_type";
  return "type";
}

/** True if a value is of a type; what is inside lists and maps is not looked at. */
export function isOf(value: unknown, type: Type): boolean {
  const { name } = type;
  if (name === "dyn" || /^[A-Z]$/.test(name)) return true;
  const found = typeName(value);
  return found === name || (found === "map" && name === "object");
}

/** A number to compare with others, whatever its type; undefined for what is no number. */
export function numeric(value: unknown): number | bigint | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

/** True if two values are equal. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const left = numeric(a), right = numeric(b);
  if (left !== undefined && right !== undefined) return left == right;
  if (Array.isArray(a) && Array.isArray(b)) return equalLists(a, b);
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && equalValues(value, b.get(key)));
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, index) => byte === b[index]);
  }
  if (a instanceof Optional && b instanceof Optional) {
    return a.value === undefined || b.value === undefined ? a.value === b.value : equalValues(a.value, b.value);
  }
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos === b.nanos;
  if (a instanceof Duration && b instanceof Duration) return a.nanos === b.nanos;
  if (a instanceof TypeValue && b instanceof TypeValue) return a.of === b.of;
  if (a instanceof Opaque && b instanceof Opaque) return a.type === b.type && sameOpaque(a.value, b.value);
  return false;
}

function sameOpaque(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  if (!(UNORDERED in a) && !(UNORDERED in b)) return a.every((item, index) => equalValues(item, b[index]));
  return a.every((item) => b.some((other) => equalValues(item, other)));
}

/** Orders two values: below, at or above zero. */
export function compareValues(a: unknown, b: unknown): number {
  const left = numeric(a), right = numeric(b);
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (typeName(a) !== typeName(b)) throw noOverload();
  if (typeof a === "string" || typeof a === "boolean") return a < (b as typeof a) ? -1 : a > (b as typeof a) ? 1 : 0;
  if (a instanceof Timestamp || a instanceof Duration) {
    const difference = a.nanos - (b as Timestamp | Duration).nanos;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  if (a instanceof Uint8Array) {
    const other = b as Uint8Array;
    for (let index = 0; index < Math.min(a.length, other.length); index++) {
      if (a[index] !== other[index]) return a[index]! - other[index]!;
    }
    return a.length - other.length;
  }
  throw noOverload();
}
