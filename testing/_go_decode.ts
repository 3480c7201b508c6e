/**
 * Reads built-in kinds as a Kubernetes API server's Go types do: what they do not have is dropped, wrong types are refused, and
 * zero values come and go as they do in Go.
 *
 * ```ts
 * import { builtinSchema } from "./_builtin.ts";
 * import { decodeGo } from "./_go_decode.ts";
 *
 * decodeGo({ data: { k: null }, nope: 1 }, builtinSchema("", "v1", "ConfigMap")!);
 * // { object: { data: { k: "" }, metadata: {} }, unknown: ["nope"] }
 * ```
 *
 * @module
 */
import { alwaysWritten, definitionName, presenceOf, zeroStruct, zeroValue } from "./_builtin.ts";
import { equalJson, isObject, type JsonObject, pathText, putMember } from "./_json.ts";
import { canonicalQuantity } from "./_quantity.ts";
import type { Schema } from "./_schema.ts";

/** What decoding leads to. */
export interface Decoded {
  /** The object as it would be stored and written. */
  object: object;
  /** Paths of unknown fields, in the order in which they were given. */
  unknown: string[];
}

/** Thrown when a value does not fit its Go type; the message is the JSON decoder's. */
export class DecodeError extends Error {
  override name = "DecodeError";
}

/**
 * Decodes an object of a built-in kind. What was read from a text is held to it; what is converted, as the results of a
 * strategic merge and of an apply are, says in other words what does not fit, and loses the digits of an integer that is
 * too large.
 *
 * @throws {DecodeError} If a value has the wrong type.
 */
export function decodeGo(object: object, schema: Schema, how: "read" | "converted" = "read"): Decoded {
  const decoder = new Decoder(how === "converted");
  return { object: decoder.struct(object as JsonObject, schema), unknown: decoder.unknown };
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Fields of text whose Go type has a name, by their struct's. */
const NAMED: Readonly<Record<string, string>> = {
  "DeleteOptions.propagationPolicy": "v1.DeletionPropagation",
  "ObjectMeta.uid": "types.UID",
  "OwnerReference.uid": "types.UID",
  "Preconditions.uid": "types.UID",
};

/** Names a schema's Go type. */
function goType(schema: Schema): string {
  const name = definitionName(schema);
  if (name !== undefined && !name.startsWith("meta.v1.Time")) return name.split(".").slice(-2).join(".");
  switch (schema.type) {
    case "array":
      return `[]${schema.items === undefined ? "interface {}" : goType(schema.items)}`;
    case "object":
      return typeof schema.additionalProperties === "object"
        ? `map[string]${goType(schema.additionalProperties)}`
        : "map[string]interface {}";
    case "integer":
      return schema.format ?? "int";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    default:
      return "string";
  }
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const MICRO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})$/;
const BASE64 =
  /^(?:(?:[A-Za-z0-9+/][\r\n]*){4})*(?:(?:[A-Za-z0-9+/][\r\n]*){2}==|(?:[A-Za-z0-9+/][\r\n]*){3}=)?[\r\n]*$/;
const PLAIN_SECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function time(text: string): string {
  if (PLAIN_SECONDS.test(text) && !Number.isNaN(Date.parse(text))) return text;
  const at = RFC3339.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) {
    throw new DecodeError(`parsing time "${text}" as "2006-01-02T15:04:05Z07:00": cannot parse "${text}" as "2006"`);
  }
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

function microTime(text: string): string {
  if (!MICRO.test(text) || Number.isNaN(Date.parse(text))) {
    const layout = "2006-01-02T15:04:05.000000Z07:00";
    const rest = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(.*)$/.exec(text)?.[1];
    const part = rest === undefined ? `"${text}" as "2006"` : `"${rest}" as ".000000"`;
    throw new DecodeError(`parsing time "${text}" as "${layout}": cannot parse ${part}`);
  }
  if (text.endsWith("Z")) return text;
  return `${new Date(Date.parse(text)).toISOString().slice(0, 20)}${text.slice(20, 26)}Z`;
}

/** What is known of a field of a struct. */
interface Field {
  readonly schema: Schema;
  /** True if a null stays one: the field is always written, and null is its zero value. */
  readonly nullable: boolean;
  /** True if it is written even if it is zero. */
  readonly kept: boolean;
  /** True if it is left out when it is zero, though it is a struct. */
  readonly hollow: boolean;
}

/** What is known of a struct. */
interface Struct {
  readonly fields: ReadonlyMap<string, Field>;
  /** The fields that are written even if they are zero, with their zero values. */
  readonly written: readonly { readonly key: string; readonly zeroOf: () => unknown }[];
}

const structs = new WeakMap<Schema, Struct>();

function structOf(schema: Schema): Struct {
  let struct = structs.get(schema);
  if (struct === undefined) structs.set(schema, struct = describe(schema));
  return struct;
}

function describe(schema: Schema): Struct {
  const fields = new Map<string, Field>(), marks = presenceOf(schema);
  const written: { key: string; zeroOf: () => unknown }[] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const always = alwaysWritten(schema, name), mark = marks?.get(name);
    fields.set(name, {
      schema: property,
      nullable: always && zeroValue(property) === null,
      kept: mark === "set" || mark !== "nonzero" && always,
      hollow: mark === "nonzero",
    });
    if (always) written.push({ key: name, zeroOf: () => zeroValue(property) });
  }
  return { fields, written };
}

class Decoder {
  readonly unknown: string[] = [];
  readonly #converts: boolean;
  /** The members and items on the way to where it is. */
  readonly #path: (string | number)[] = [];
  /** The same without the members of maps, and items. */
  readonly #fields: string[] = [];
  /** The structs on the way. */
  readonly #structs: Schema[] = [];

  constructor(converts: boolean) {
    this.#converts = converts;
  }

  #misfit(value: unknown, schema: Schema): never {
    if (this.#converts) throw new DecodeError(unconverted(value, schema));
    const kind = jsonKind(value);
    const whole = schema.type === "integer" && kind === "number" ? `number ${value}` : kind;
    const names = this.#structs.map((each) => definitionName(each)).filter((each) => each !== undefined);
    const struct = names.at(-1)?.split(".").at(-1) ?? "";
    const type = NAMED[`${struct}.${this.#fields.at(-1)}`] ?? goType(schema);
    throw new DecodeError(
      `json: cannot unmarshal ${whole} into Go struct field ${struct}.${this.#fields.join(".")} of type ${type}`,
    );
  }

  struct(value: JsonObject, schema: Schema): JsonObject {
    const { fields, written } = structOf(schema);
    let out: JsonObject | undefined;
    this.#structs.push(schema);
    for (const key in value) {
      const field = fields.get(key);
      this.#path.push(key);
      if (field === undefined) {
        this.unknown.push(pathText(this.#path));
        delete (out ??= { ...value })[key];
      } else {
        this.#fields.push(key);
        const before = value[key];
        const after = before === null ? null : this.value(before, field.schema);
        if (after === null ? !field.nullable : isDropped(after, field)) delete (out ??= { ...value })[key];
        else if (after !== before) putMember(out ??= { ...value }, key, after);
        this.#fields.pop();
      }
      this.#path.pop();
    }
    this.#structs.pop();
    for (const { key, zeroOf } of written) {
      if (Object.hasOwn(out ?? value, key) && (out ?? value)[key] !== null) continue;
      const zero = zeroOf();
      if (!Object.hasOwn(value, key) || zero !== value[key]) putMember(out ??= { ...value }, key, zero);
    }
    return out ?? value;
  }

  value(value: unknown, schema: Schema): unknown {
    switch (schema.type) {
      case "object":
        if (!isObject(value)) this.#misfit(value, schema);
        if (schema.properties !== undefined) return this.struct(value, schema);
        return typeof schema.additionalProperties === "object" ? this.#map(value, schema.additionalProperties) : value;
      case "array":
        return Array.isArray(value) ? this.#list(value, schema) : this.#misfit(value, schema);
      case "integer":
        if (!Number.isInteger(value)) this.#misfit(value, schema);
        if (fitsInteger(value as number, schema)) return value;
        return this.#converts ? lowBits(value as number) : this.#misfit(value, schema);
      case "number":
        return typeof value === "number" ? value : this.#misfit(value, schema);
      case "boolean":
        return typeof value === "boolean" ? value : this.#misfit(value, schema);
      case "string":
        return typeof value === "string" ? text(value, schema) : this.#misfit(value, schema);
      default:
        return this.#special(value, schema);
    }
  }

  #special(value: unknown, schema: Schema): unknown {
    if (schema.format === "quantity") {
      const canonical = typeof value === "string" || typeof value === "number" ? canonicalQuantity(value) : undefined;
      if (canonical !== undefined) return canonical;
      throw new DecodeError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    }
    if (schema.format === "int-or-string" && typeof value !== "string" && !Number.isInteger(value)) {
      this.#misfit(value, schema);
    }
    return value;
  }

  #map(value: JsonObject, item: Schema): JsonObject {
    let out: JsonObject | undefined;
    for (const key in value) {
      const before = value[key];
      this.#path.push(key);
      const after = before === null ? zeroOf(item) : this.value(before, item);
      this.#path.pop();
      if (after !== before) putMember(out ??= { ...value }, key, after);
    }
    return out ?? value;
  }

  #list(value: unknown[], { items }: Schema): unknown[] {
    if (items === undefined) return value;
    let out: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const before = value[index];
      this.#path.push(index);
      const after = before === null ? zeroOf(items) : this.value(before, items);
      this.#path.pop();
      if (after !== before) (out ??= [...value])[index] = after;
    }
    return out ?? value;
  }
}

/** What a converter calls a JSON value. */
export function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "map";
}

/** What a converter says of a value that does not fit. */
function unconverted(value: unknown, schema: Schema): string {
  const kind = goKindOf(value);
  if (schema.format === "int-or-string") {
    const what = kind === "float64" ? `number ${value}` : jsonKind(value);
    return `json: cannot unmarshal ${what} into Go value of type int32`;
  }
  switch (schema.type) {
    case "array":
      return `cannot restore slice from ${kind}`;
    case "object":
      return schema.properties === undefined
        ? `cannot restore map from ${kind}`
        : `cannot restore struct from: ${kind}`;
    case "string":
      if (kind === "int64") return `cannot convert int64 to ${goType(schema)}`;
      break;
    case "integer":
      if (kind === "float64") return `cannot convert float64 to ${goType(schema)}`;
  }
  return `unrecognized type: ${goType(schema)}`;
}

/** What is left of an integer in 32 bits. */
function lowBits(value: number): number {
  return Number(BigInt.asIntN(32, BigInt(value)));
}

/** Where Go stops to read a text as base64. */
function corruptByte(value: string): number {
  const letters = value.replace(/=.*$/s, "");
  const wrong = /[^A-Za-z0-9+/]/.exec(letters);
  if (wrong) return wrong.index;
  const { length } = letters;
  const rest = length % 4, padding = value.length - length;
  if (padding === 0) return length - rest;
  if (rest < 2) return length;
  if (rest === 3) return length + 1;
  if (padding === 1) return value.length;
  return value[length + 1] === "=" ? length + 2 : length;
}

function text(value: string, { format }: Schema): string {
  switch (format) {
    case "date-time":
      return time(value);
    case "micro-time":
      return microTime(value);
    case "byte":
      if (!BASE64.test(value)) throw new DecodeError(`illegal base64 data at input byte ${corruptByte(value)}`);
      return value;
    default:
      return value;
  }
}

function fitsInteger(value: number, { format }: Schema): boolean {
  return format !== "int32" || value >= -(2 ** 31) && value < 2 ** 31;
}

function zeroOf(schema: Schema): unknown {
  if (schema.type === "object" && schema.properties !== undefined) return zeroStruct(schema);
  return schema.format === "byte" ? "" : zeroValue(schema);
}

/** Tells whether a value is left out because it is zero. */
function isDropped(value: unknown, { kept, hollow, schema }: Field): boolean {
  if (kept) return false;
  if (typeof value !== "object") return value === "" || value === 0 || value === false;
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  if (schema.properties === undefined) return Object.keys(value).length === 0;
  // A struct that Go leaves out when it is zero.
  return hollow && equalJson(value, zeroStruct(schema));
}
