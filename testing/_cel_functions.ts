/**
 * Declares the functions and operators of the Common Expression Language, each with what it does.
 *
 * ```ts
 * import { overloads } from "./_cel_functions.ts";
 *
 * console.assert(overloads("startsWith").length === 1);
 * ```
 *
 * @module
 */
import { KUBERNETES } from "./_cel_kubernetes.ts";
import { NETWORK } from "./_cel_network.ts";
import { STRINGS } from "./_cel_strings.ts";
import {
  DURATION_PARTS,
  readDuration,
  readTimestamp,
  TIME_PARTS,
  writeDuration,
  writeTimestamp,
} from "./_cel_times.ts";
import { type Implementation, type Library, parseSignature, type Signature } from "./_cel_types.ts";
import {
  CelError,
  compareValues,
  Duration,
  equalValues,
  Optional,
  Timestamp,
  typeName,
  TypeValue,
  Uint,
  UNORDERED,
} from "./_cel_values.ts";

/** One way to call a function. */
export interface Overload extends Signature {
  /** Computes; a method's target comes first. */
  readonly run: Implementation;
}

const MIN = -(2n ** 63n), MAX = 2n ** 63n - 1n;

/** An integer, if it fits. */
function int(value: bigint): bigint {
  if (value < MIN || value > MAX) throw new CelError("integer overflow");
  return value;
}

function uint(value: bigint): Uint {
  if (value < 0n || value > 2n ** 64n - 1n) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}

function divisible(by: bigint, word: string): bigint {
  if (by === 0n) throw new CelError(`${word} by zero`);
  return by;
}

function conversion(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function parseInteger(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw conversion("string", "int");
  return int(BigInt(text.replace(/^\+/, "")));
}

function doubleToInt(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

/** A double as texts have it. */
export function writeDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

function parseBool(text: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  throw conversion("string", "bool");
}

function item(list: readonly unknown[], index: bigint | number): unknown {
  const at = Number(index);
  if (!Number.isInteger(at) || at < 0 || at >= list.length) throw new CelError(`index out of bounds: ${index}`);
  return list[at];
}

function keyOf(key: unknown): unknown {
  if (typeof key === "number" && Number.isInteger(key)) return BigInt(key);
  return key instanceof Uint ? key.value : key;
}

function member(map: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  const found = map.get(keyOf(key));
  if (found === undefined) throw new CelError(`no such key: ${String(key instanceof Uint ? key.value : key)}`);
  return found;
}

/** The sum of two lists; of sets, their union. */
function concat(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  if (!(UNORDERED in a)) return [...a, ...b];
  const sum = [...a, ...b.filter((each) => !a.some((other) => equalValues(each, other)))];
  return Object.assign(sum, { [UNORDERED]: true });
}

const length = (text: string): bigint => BigInt([...text].length);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const ORDERED = [
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
];
const NUMBERS = ["int", "uint", "double"];

function comparisons(): Record<string, Implementation> {
  const tests: Record<string, (order: number) => boolean> = {
    "<": (order) => order < 0,
    "<=": (order) => order <= 0,
    ">": (order) => order > 0,
    ">=": (order) => order >= 0,
  };
  const found: Record<string, Implementation> = {};
  for (const [operator, test] of Object.entries(tests)) {
    const add = (a: string, b: string): void => {
      found[`_${operator}_(${a}, ${b}): bool`] = (left, right) => test(compareValues(left, right));
    };
    for (const type of ORDERED) add(type, type);
    for (const a of NUMBERS) for (const b of NUMBERS) if (a !== b) add(a, b);
  }
  return found;
}

function times(): Record<string, Implementation> {
  const found: Record<string, Implementation> = {};
  for (const [name, read] of Object.entries(TIME_PARTS)) {
    found[`google.protobuf.Timestamp.${name}(): int`] = (time: Timestamp) => BigInt(read(time));
    found[`google.protobuf.Timestamp.${name}(string): int`] = (time: Timestamp, zone: string) =>
      BigInt(read(time, zone));
  }
  for (const [name, read] of Object.entries(DURATION_PARTS)) found[`google.protobuf.Duration.${name}(): int`] = read;
  return found;
}

const OPERATORS: Library = {
  "_==_(A, A): bool": equalValues,
  "_!=_(A, A): bool": (a, b) => !equalValues(a, b),
  "!_(bool): bool": (a: boolean) => !a,
  "-_(int): int": (a: bigint) => int(-a),
  "-_(double): double": (a: number) => -a,
  "_+_(int, int): int": (a: bigint, b: bigint) => int(a + b),
  "_+_(uint, uint): uint": (a: Uint, b: Uint) => uint(a.value + b.value),
  "_+_(double, double): double": (a: number, b: number) => a + b,
  "_+_(string, string): string": (a: string, b: string) => a + b,
  "_+_(bytes, bytes): bytes": (a: Uint8Array, b: Uint8Array) => new Uint8Array([...a, ...b]),
  "_+_(list(A), list(A)): list(A)": concat,
  "_+_(google.protobuf.Duration, google.protobuf.Duration): google.protobuf.Duration": (a: Duration, b: Duration) =>
    new Duration(a.nanos + b.nanos),
  "_+_(google.protobuf.Timestamp, google.protobuf.Duration): google.protobuf.Timestamp": (
    a: Timestamp,
    b: Duration,
  ) => new Timestamp(a.nanos + b.nanos),
  "_+_(google.protobuf.Duration, google.protobuf.Timestamp): google.protobuf.Timestamp": (
    a: Duration,
    b: Timestamp,
  ) => new Timestamp(a.nanos + b.nanos),
  "_-_(int, int): int": (a: bigint, b: bigint) => int(a - b),
  "_-_(uint, uint): uint": (a: Uint, b: Uint) => uint(a.value - b.value),
  "_-_(double, double): double": (a: number, b: number) => a - b,
  "_-_(google.protobuf.Duration, google.protobuf.Duration): google.protobuf.Duration": (a: Duration, b: Duration) =>
    new Duration(a.nanos - b.nanos),
  "_-_(google.protobuf.Timestamp, google.protobuf.Duration): google.protobuf.Timestamp": (
    a: Timestamp,
    b: Duration,
  ) => new Timestamp(a.nanos - b.nanos),
  "_-_(google.protobuf.Timestamp, google.protobuf.Timestamp): google.protobuf.Duration": (
    a: Timestamp,
    b: Timestamp,
  ) => new Duration(a.nanos - b.nanos),
  "_*_(int, int): int": (a: bigint, b: bigint) => int(a * b),
  "_*_(uint, uint): uint": (a: Uint, b: Uint) => uint(a.value * b.value),
  "_*_(double, double): double": (a: number, b: number) => a * b,
  "_/_(int, int): int": (a: bigint, b: bigint) => int(a / divisible(b, "division")),
  "_/_(uint, uint): uint": (a: Uint, b: Uint) => uint(a.value / divisible(b.value, "division")),
  "_/_(double, double): double": (a: number, b: number) => a / b,
  "_%_(int, int): int": (a: bigint, b: bigint) => int(a % divisible(b, "modulus")),
  "_%_(uint, uint): uint": (a: Uint, b: Uint) => uint(a.value % divisible(b.value, "modulus")),
  "_[_](list(A), int): A": item,
  "_[_](map(A, B), A): B": member,
  "_[?_](list(A), int): optional_type(A)": (list: unknown[], index: bigint) => new Optional(list[Number(index)]),
  "_[?_](map(A, B), A): optional_type(B)": (map: Map<unknown, unknown>, key) => new Optional(map.get(keyOf(key))),
  "_[_](optional_type(list(A)), int): optional_type(A)": ({ value }: Optional, index: bigint) =>
    new Optional((value as unknown[] | undefined)?.[Number(index)]),
  "_[_](optional_type(map(A, B)), A): optional_type(B)": ({ value }: Optional, key) =>
    new Optional((value as Map<unknown, unknown> | undefined)?.get(keyOf(key))),
  "@in(A, list(A)): bool": (value, list: unknown[]) => list.some((each) => equalValues(each, value)),
  "@in(A, map(A, B)): bool": (key, map: Map<unknown, unknown>) => map.has(keyOf(key)),
};

const STANDARD: Library = {
  "size(string): int": length,
  "size(bytes): int": (bytes: Uint8Array) => BigInt(bytes.length),
  "size(list(A)): int": (list: unknown[]) => BigInt(list.length),
  "size(map(A, B)): int": (map: Map<unknown, unknown>) => BigInt(map.size),
  "string.size(): int": length,
  "bytes.size(): int": (bytes: Uint8Array) => BigInt(bytes.length),
  "list(A).size(): int": (list: unknown[]) => BigInt(list.length),
  "map(A, B).size(): int": (map: Map<unknown, unknown>) => BigInt(map.size),
  "int(int): int": (a) => a,
  "int(uint): int": ({ value }: Uint) => int(value),
  "int(double): int": doubleToInt,
  "int(string): int": parseInteger,
  "int(google.protobuf.Timestamp): int": ({ nanos }: Timestamp) => nanos / 1_000_000_000n,
  "int(google.protobuf.Duration): int": ({ nanos }: Duration) => nanos,
  "uint(uint): uint": (a) => a,
  "uint(int): uint": (a: bigint) => uint(a),
  "uint(double): uint": (a: number) => uint(doubleToInt(a)),
  "uint(string): uint": (a: string) => {
    if (!/^\d+$/.test(a)) throw conversion("string", "uint");
    return uint(BigInt(a));
  },
  "double(double): double": (a) => a,
  "double(int): double": Number,
  "double(uint): double": ({ value }: Uint) => Number(value),
  "double(string): double": (a: string) => {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|nan)$/i.test(a)) throw conversion("string", "double");
    return Number(a.replace(/inf/i, "Infinity"));
  },
  "string(string): string": (a) => a,
  "string(bool): string": String,
  "string(int): string": String,
  "string(uint): string": ({ value }: Uint) => String(value),
  "string(double): string": writeDouble,
  "string(bytes): string": (bytes: Uint8Array) => decoder.decode(bytes),
  "string(google.protobuf.Timestamp): string": writeTimestamp,
  "string(google.protobuf.Duration): string": writeDuration,
  "bytes(bytes): bytes": (a) => a,
  "bytes(string): bytes": (text: string) => encoder.encode(text),
  "bool(bool): bool": (a) => a,
  "bool(string): bool": parseBool,
  "duration(google.protobuf.Duration): google.protobuf.Duration": (a) => a,
  "duration(string): google.protobuf.Duration": readDuration,
  "timestamp(google.protobuf.Timestamp): google.protobuf.Timestamp": (a) => a,
  "timestamp(string): google.protobuf.Timestamp": readTimestamp,
  "timestamp(int): google.protobuf.Timestamp": (seconds: bigint) => new Timestamp(seconds * 1_000_000_000n),
  "dyn(A): dyn": (a) => a,
  "type(A): type": (a) => new TypeValue(typeName(a)),
  "optional/of(A): optional_type(A)": (value) => new Optional(value),
  "optional/none(): optional_type(A)": () => new Optional(),
  "optional/ofNonZeroValue(A): optional_type(A)": (value) => new Optional(isZero(value) ? undefined : value),
  "optional_type(A).hasValue(): bool": ({ value }: Optional) => value !== undefined,
  "optional_type(A).value(): A": ({ value }: Optional) => {
    if (value === undefined) throw new CelError("optional.none() dereference");
    return value;
  },
  "optional_type(A).or(optional_type(A)): optional_type(A)": (a: Optional, b: Optional) =>
    a.value === undefined ? b : a,
  "optional_type(A).orValue(A): A": ({ value }: Optional, other) => value === undefined ? other : value,
};

function isZero(value: unknown): boolean {
  if (value instanceof Uint) return value.value === 0n;
  if (Array.isArray(value) || typeof value === "string") return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  return !value;
}

const table = new Map<string, Overload[]>();
for (const library of [OPERATORS, comparisons(), STANDARD, times(), STRINGS, KUBERNETES, NETWORK]) {
  for (const [text, run] of Object.entries(library)) {
    const signature = parseSignature(text);
    if (!table.has(signature.name)) table.set(signature.name, []);
    table.get(signature.name)!.push({ ...signature, run });
  }
}

/** The ways to call a function; none if there is no such function. */
export function overloads(name: string): readonly Overload[] {
  return table.get(name) ?? [];
}
