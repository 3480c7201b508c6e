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
import { alwaysWritten, definitionName, type Presence, presenceOf, zeroStruct, zeroValue } from "./_builtin.ts";
import { equalJson, isObject, type JsonObject, putMember } from "./_json.ts";
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
  return { object: decoder.struct(object as JsonObject, schema, ""), unknown: decoder.unknown };
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

class Decoder {
  readonly unknown: string[] = [];
  readonly #converts: boolean;
  #struct = "";
  #field = "";

  constructor(converts: boolean) {
    this.#converts = converts;
  }

  #misfit(value: unknown, schema: Schema): never {
    if (this.#converts) throw new DecodeError(unconverted(value, schema));
    const kind = jsonKind(value);
    const whole = schema.type === "integer" && kind === "number" ? `number ${value}` : kind;
    const type = NAMED[`${this.#struct}.${this.#field.split(".").at(-1)}`] ?? goType(schema);
    throw new DecodeError(
      `json: cannot unmarshal ${whole} into Go struct field ${this.#struct}.${this.#field} of type ${type}`,
    );
  }

  struct(value: JsonObject, schema: Schema, path: string): JsonObject {
    const { properties = {} } = schema;
    const marks = presenceOf(schema);
    const outerStruct = this.#struct, outerField = this.#field;
    const name = definitionName(schema)?.split(".").at(-1) ?? outerStruct;
    let out: JsonObject | undefined;
    for (const key in value) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (property === undefined) {
        this.unknown.push(`${path}${key}`);
        delete (out ??= { ...value })[key];
        continue;
      }
      this.#struct = name;
      this.#field = outerField === "" ? key : `${outerField}.${key}`;
      const before = value[key];
      const after = before === null ? null : this.value(before, property, `${path}${key}`);
      if (after === null ? !isNullWritten(schema, key, property) : isDropped(after, schema, key, marks)) {
        delete (out ??= { ...value })[key];
      } else if (after !== before) putMember(out ??= { ...value }, key, after);
    }
    this.#struct = outerStruct;
    this.#field = outerField;
    for (const key of writtenFields(schema)) {
      if (Object.hasOwn(out ?? value, key) && (out ?? value)[key] !== null) continue;
      const zero = zeroValue(properties[key]!);
      if (!Object.hasOwn(value, key) || zero !== value[key]) putMember(out ??= { ...value }, key, zero);
    }
    return out ?? value;
  }

  value(value: unknown, schema: Schema, path: string): unknown {
    switch (schema.type) {
      case "object":
        if (!isObject(value)) this.#misfit(value, schema);
        if (schema.properties !== undefined) return this.struct(value, schema, `${path}.`);
        return typeof schema.additionalProperties === "object"
          ? this.#map(value, schema.additionalProperties, path)
          : value;
      case "array":
        return Array.isArray(value) ? this.#list(value, schema, path) : this.#misfit(value, schema);
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

  #map(value: JsonObject, item: Schema, path: string): JsonObject {
    let out: JsonObject | undefined;
    for (const key in value) {
      const before = value[key];
      const after = before === null ? zeroOf(item) : this.value(before, item, `${path}.${key}`);
      if (after !== before) putMember(out ??= { ...value }, key, after);
    }
    return out ?? value;
  }

  #list(value: unknown[], { items }: Schema, path: string): unknown[] {
    if (items === undefined) return value;
    let out: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const before = value[index];
      const after = before === null ? zeroOf(items) : this.value(before, items, `${path}[${index}]`);
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

const written = new WeakMap<Schema, readonly string[]>();

/** The fields of a struct that are written even if they are zero. */
function writtenFields(schema: Schema): readonly string[] {
  let fields = written.get(schema);
  if (fields === undefined) {
    fields = Object.keys(schema.properties ?? {}).filter((name) => alwaysWritten(schema, name));
    written.set(schema, fields);
  }
  return fields;
}

/** Tells whether a null stays one: it does where a field is always written and null is its zero value. */
function isNullWritten(schema: Schema, key: string, property: Schema): boolean {
  return alwaysWritten(schema, key) && zeroValue(property) === null;
}

/** Tells whether a value is left out because it is zero. */
function isDropped(
  value: unknown,
  schema: Schema,
  key: string,
  marks: ReadonlyMap<string, Presence> | undefined,
): boolean {
  const mark = marks?.get(key);
  if (mark === "set" || mark !== "nonzero" && alwaysWritten(schema, key)) return false;
  if (value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  const property = schema.properties![key]!;
  if (property.properties === undefined) return Object.keys(value).length === 0;
  // A struct that Go leaves out when it is zero.
  return mark === "nonzero" && equalJson(value, zeroStruct(property));
}
