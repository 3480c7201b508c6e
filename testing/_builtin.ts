/**
 * Knows the built-in kinds' schemas, as a real Kubernetes API server publishes them.
 *
 * ```ts
 * import { builtinSchema } from "./_builtin.ts";
 *
 * builtinSchema("apps", "v1", "Deployment")?.properties?.spec?.required; // ["selector", "template"]
 * ```
 *
 * The data is written by `tools/builtin_schemas.ts`; the schema of a kind is built when it is first asked for.
 *
 * @module
 */
import data from "./_builtin_schemas.json" with { type: "json" };
import type { Schema } from "./_schema.ts";

/** When a field of a built-in kind is written: always, if it is there (`set`), or if it is not its type's zero value. */
export type Presence = "always" | "set" | "nonzero";

interface Definition extends Omit<Schema, "properties" | "items" | "additionalProperties"> {
  $ref?: string;
  presence?: Presence;
  properties?: Record<string, Definition>;
  items?: Definition;
  additionalProperties?: Definition;
}

const source = data as unknown as { kinds: Record<string, string>; definitions: Record<string, Definition> };
const definitions = new Map<string, Schema>();
const builtin = new WeakSet<Schema>();
const presences = new WeakMap<Schema, Map<string, Presence>>();
const names = new WeakMap<Schema, string>();

/** Returns the schema of a built-in kind; undefined if there is no such kind. The same kind gives the same object. */
export function builtinSchema(group: string, version: string, kind: string): Schema | undefined {
  const key = `${group === "" ? version : `${group}/${version}`} ${kind}`;
  const name = Object.hasOwn(source.kinds, key) ? source.kinds[key]! : undefined;
  if (name === undefined) return undefined;
  const schema = define(name);
  builtin.add(schema);
  return schema;
}

/** Tells whether a schema is a built-in kind's. */
export function isBuiltin(schema: Schema): boolean {
  return builtin.has(schema);
}

/** Returns when the fields of a built-in kind's object are written, where it is not what the schema says. */
export function presenceOf(schema: Schema): ReadonlyMap<string, Presence> | undefined {
  return presences.get(schema);
}

/** Returns the name of a built-in schema's definition, such as `core.v1.Container`. */
export function definitionName(schema: Schema): string | undefined {
  return names.get(schema);
}

function define(name: string): Schema {
  const known = definitions.get(name);
  if (known !== undefined) return known;
  const schema: Schema = {};
  // Remembered before it is filled, as definitions may refer to themselves.
  definitions.set(name, schema);
  names.set(schema, name);
  fill(schema, source.definitions[name]!);
  return schema;
}

function fill(schema: Schema, definition: Definition): void {
  const { $ref: _, presence: _presence, properties, items, additionalProperties, ...rest } = definition;
  Object.assign(schema, rest);
  if (items !== undefined) schema.items = resolve(items);
  if (additionalProperties !== undefined) schema.additionalProperties = resolve(additionalProperties);
  if (properties === undefined) return;
  const marks = new Map<string, Presence>();
  schema.properties = {};
  for (const [name, property] of Object.entries(properties)) {
    schema.properties[name] = resolve(property);
    if (property.presence !== undefined) marks.set(name, property.presence);
  }
  presences.set(schema, marks);
}

/** Resolves a reference; what stands beside it wins. */
function resolve(definition: Definition): Schema {
  const { $ref, presence: _, ...beside } = definition;
  if ($ref === undefined) {
    const schema: Schema = {};
    fill(schema, definition);
    return schema;
  }
  const target = define($ref);
  if (Object.keys(beside).length === 0) return target;
  return overlay(target, beside as Schema);
}

function overlay(target: Schema, beside: Schema): Schema {
  // The target may not be filled yet, so its members are looked up when they are read.
  const schema = Object.create(target, Object.getOwnPropertyDescriptors(beside)) as Schema;
  const marks = presences.get(target), name = names.get(target);
  if (marks !== undefined) presences.set(schema, marks);
  if (name !== undefined) names.set(schema, name);
  return schema;
}

const emptyObjects = new WeakMap<Schema, object>();

/** Returns what a built-in kind's object looks like before anything is set; an empty object for other schemas. */
export function emptyObject(schema: Schema): object {
  if (!builtin.has(schema)) return {};
  let object = emptyObjects.get(schema);
  if (object === undefined) emptyObjects.set(schema, object = zeroStruct(schema));
  return object;
}

/** Returns the zero value of a struct: fields that are always written have theirs. */
export function zeroStruct(schema: Schema): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (alwaysWritten(schema, name)) out[name] = zeroValue(property);
  }
  return out;
}

/** Tells whether a field is written even if it has the zero value. */
export function alwaysWritten(schema: Schema, name: string): boolean {
  const presence = presences.get(schema)?.get(name);
  if (presence !== undefined) return presence === "always";
  const fallback = schema.properties?.[name]?.default;
  return schema.required?.includes(name) === true || typeof fallback === "object" && fallback !== null;
}

/** Returns the zero value of a field that is always written. */
export function zeroValue(schema: Schema): unknown {
  switch (schema.type) {
    case "object":
      return schema.default !== undefined && schema.properties !== undefined ? zeroStruct(schema) : null;
    case "string":
      return schema.format === "date-time" || schema.format === "micro-time" || schema.format === "byte" ? null : "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return schema.format === "quantity" ? "0" : schema.format === "int-or-string" ? 0 : null;
  }
}
