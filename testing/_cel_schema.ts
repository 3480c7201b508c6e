/**
 * Turns schemas into types of the Common Expression Language, and objects into its values.
 *
 * ```ts
 * import { fieldName } from "./_cel_schema.ts";
 *
 * console.assert(fieldName("a-b") === "a__dash__b");
 * ```
 *
 * @module
 */
import { readDuration, readTimestamp } from "./_cel_times.ts";
import { BOOL, DYN, INT, listOf, mapOf, objectOf, simple, STRING, type Type } from "./_cel_types.ts";
import { CelError, UNORDERED } from "./_cel_values.ts";
import { isObject } from "./_json.ts";
import type { Schema } from "./_schema.ts";

const RESERVED = new Set([
  "true",
  "false",
  "null",
  "in",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);
const PIECES: Readonly<Record<string, string>> = {
  "__": "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** The name of a field in expressions; undefined if it has none. */
export function fieldName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  const escaped = name.replaceAll(/__|[.\-/]/g, (piece) => PIECES[piece]!);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}

const FORMATS: Readonly<Record<string, Type>> = {
  byte: simple("bytes"),
  date: simple("google.protobuf.Timestamp"),
  "date-time": simple("google.protobuf.Timestamp"),
  duration: simple("google.protobuf.Duration"),
};

const TYPES: Readonly<Record<string, Type>> = { integer: INT, number: simple("double"), boolean: BOOL };

const META: ReadonlyMap<string, Type> = new Map([["name", STRING], ["generateName", STRING]]);
const types = new WeakMap<Schema, Map<boolean, Type | undefined>>();

/** The type of the values of a schema; undefined if expressions cannot see them. A resource has metadata. */
export function typeOf(schema: Schema, resource = false): Type | undefined {
  const wider = resource || schema["x-kubernetes-embedded-resource"] === true;
  let known = types.get(schema);
  if (!known) types.set(schema, known = new Map());
  if (!known.has(wider)) known.set(wider, makeType(schema, wider));
  return known.get(wider);
}

function makeType(schema: Schema, resource: boolean): Type | undefined {
  if (schema["x-kubernetes-int-or-string"]) return DYN;
  switch (schema.type) {
    case "array": {
      const item = schema.items && typeOf(schema.items);
      return item && listOf(item);
    }
    case "object": {
      const { additionalProperties: rest, properties = {} } = schema;
      if (typeof rest === "object" && Object.keys(properties).length === 0) {
        const value = typeOf(rest);
        return value && mapOf(STRING, value);
      }
      return objectType(properties, resource);
    }
    case "string":
      return FORMATS[schema.format ?? ""] ?? STRING;
  }
  return TYPES[schema.type ?? ""];
}

function objectType(properties: Record<string, Schema>, resource: boolean): Type {
  const fields = new Map<string, Type>();
  for (const [name, property] of Object.entries(properties)) {
    const escaped = fieldName(name), type = typeOf(property);
    if (escaped !== undefined && type) fields.set(escaped, type);
  }
  if (resource) fields.set("kind", STRING).set("apiVersion", STRING).set("metadata", objectOf(META));
  return objectOf(fields);
}

function text(value: string, format: string | undefined): unknown {
  switch (format) {
    case "byte":
      return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
    case "date":
      return readTimestamp(`${value}T00:00:00Z`);
    case "date-time":
      return readTimestamp(value.replace(" ", "T").toUpperCase());
    case "duration":
      return readDuration(value);
  }
  return value;
}

/** A value as expressions see it. */
export function valueOf(value: unknown, schema: Schema, resource = false): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return schema.type === "string" ? text(value, schema.format) : value;
  if (typeof value === "number") return schema.type === "number" || !Number.isInteger(value) ? value : BigInt(value);
  if (Array.isArray(value)) {
    const items = value.map((each) => valueOf(each, schema.items ?? {}));
    const listType = schema["x-kubernetes-list-type"];
    return listType === "set" || listType === "map" ? Object.assign(items, { [UNORDERED]: true }) : items;
  }
  if (!isObject(value)) throw new CelError("no such overload");
  const { additionalProperties: rest, properties = {} } = schema;
  const found = new Map<string, unknown>();
  if (typeof rest === "object" && Object.keys(properties).length === 0) {
    for (const [key, each] of Object.entries(value)) found.set(key, valueOf(each, rest));
    return found;
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) continue;
    const escaped = fieldName(name);
    if (escaped !== undefined && typeOf(property)) found.set(escaped, valueOf(value[name], property));
  }
  if (resource || schema["x-kubernetes-embedded-resource"]) {
    for (const name of ["kind", "apiVersion"]) if (value[name] !== undefined) found.set(name, value[name]);
    const metadata = isObject(value.metadata) ? value.metadata : {};
    const names = ["name", "generateName"].filter((name) => metadata[name] !== undefined && metadata[name] !== "");
    found.set("metadata", new Map(names.map((name) => [name, metadata[name]])));
  }
  return found;
}

/** A value that no schema describes, as expressions see it. */
export function plainValue(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  return new Map(
    Object.entries(value).filter(([, each]) => each !== undefined).map(([key, each]) => [key, plainValue(each)]),
  );
}
