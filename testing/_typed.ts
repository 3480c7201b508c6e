/**
 * Turns schemas into what decides about ownership: which values are leaves, which lists have keys, which objects have fields.
 *
 * ```ts
 * import { fieldType, itemElement } from "./_typed.ts";
 *
 * const type = fieldType({ type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } });
 * itemElement(type.list!, "a"); // { element: 'v:"a"' }
 * ```
 *
 * @module
 */
import { isObject, type JsonObject, member } from "./_json.ts";
import type { Schema } from "./_schema.ts";

/** What a value at some place may be: one or more of a scalar, a list and a map. */
export interface FieldType {
  /** The scalar that it may be. */
  scalar?: "numeric" | "string" | "boolean" | "untyped";
  /** The list that it may be. */
  list?: ListFieldType;
  /** The map or struct that it may be. */
  map?: MapFieldType;
}

/** A list. */
export interface ListFieldType {
  /** Whether it is owned as a whole. */
  atomic: boolean;
  /** The fields that tell items apart; none for a set of scalars. */
  keys: readonly string[];
  /** Its items. */
  item: FieldType;
}

/** A map or struct. */
export interface MapFieldType {
  /** Whether it is owned as a whole. */
  atomic: boolean;
  /** The declared fields. */
  fields: ReadonlyMap<string, FieldType>;
  /** Defaults of declared fields, for keys of list maps. */
  defaults: ReadonlyMap<string, unknown>;
  /** All other fields; undefined if there may be none. */
  element: FieldType | undefined;
}

const UNTYPED: FieldType = { scalar: "untyped" };
UNTYPED.list = { atomic: true, keys: [], item: UNTYPED };
UNTYPED.map = { atomic: true, fields: new Map(), defaults: new Map(), element: UNTYPED };

/** What is known of a value without a schema: maps are granular, lists atomic. */
export const DEDUCED: FieldType = { scalar: "untyped", list: { atomic: true, keys: [], item: UNTYPED } };
DEDUCED.map = { atomic: false, fields: new Map(), defaults: new Map(), element: DEDUCED };

const compiled = [new WeakMap<Schema, FieldType>(), new WeakMap<Schema, FieldType>()] as const;

/** Compiles a schema; the same schema object gives the same type. */
export function fieldType(schema: Schema): FieldType {
  return compile(schema, false);
}

function compile(schema: Schema, inherited: boolean): FieldType {
  const preserve = inherited || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const cache = compiled[inherited ? 1 : 0];
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const type: FieldType = {};
  // Remembered before it is filled, as schemas may refer to themselves.
  cache.set(schema, type);
  switch (schema.type) {
    case "object":
      type.map = compileMap(schema, preserve);
      break;
    case "array":
      type.list = compileList(schema, preserve);
      break;
    case "integer":
    case "number":
      type.scalar = "numeric";
      break;
    case "boolean":
      type.scalar = "boolean";
      break;
    case "string":
      type.scalar = schema.format === undefined || schema.format === "" || schema.format === "byte"
        ? "string"
        : "untyped";
      break;
    default:
      type.scalar = "untyped";
      type.list = compileList(schema, preserve);
      type.map = compileMap(schema, preserve);
  }
  return type;
}

function compileMap(schema: Schema, preserve: boolean): MapFieldType {
  const fields = new Map<string, FieldType>();
  const defaults = new Map<string, unknown>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    fields.set(name, compile(property, preserve));
    if (property.default !== undefined) defaults.set(name, property.default);
  }
  const { additionalProperties: rest } = schema;
  let element: FieldType | undefined;
  if (typeof rest === "object") element = compile(rest, preserve);
  else if (rest === true) element = DEDUCED;
  else if (rest === undefined && (preserve || fields.size === 0)) element = DEDUCED;
  return { atomic: schema["x-kubernetes-map-type"] === "atomic", fields, defaults, element };
}

function compileList(schema: Schema, preserve: boolean): ListFieldType {
  const item = schema.items === undefined ? UNTYPED : compile(schema.items, preserve);
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "map") return { atomic: false, keys: schema["x-kubernetes-list-map-keys"] ?? [], item };
  if (listType === "set") return { atomic: false, keys: [], item };
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (listType === undefined && (strategy === "merge" || strategy === "merge,retainKeys")) {
    const key = schema["x-kubernetes-patch-merge-key"];
    return { atomic: false, keys: key === undefined ? [] : [key], item };
  }
  return { atomic: true, keys: [], item };
}

/** Returns the type of a field of a map. */
export function typeOfField(map: MapFieldType, name: string): FieldType {
  return map.fields.get(name) ?? map.element ?? DEDUCED;
}

/** What a value is taken for. */
export type Kind = "map" | "list" | "scalar";

/** Tells what a value of a type is to be taken for; null and misfits are what the type is first of all. */
export function kindOf(type: FieldType, value: unknown): Kind {
  if (Array.isArray(value)) {
    if (type.list) return "list";
  } else if (isObject(value)) {
    if (type.map) return "map";
  } else if (value !== null && value !== undefined && type.scalar) return "scalar";
  return type.map ? "map" : type.scalar ? "scalar" : "list";
}

/** The path element of a list's item, or why it has none. */
export type ItemElement = { element: string; problem?: undefined } | { element?: undefined; problem: string };

/** Returns the path element of an item of a list that is a set or a map. */
export function itemElement(list: ListFieldType, item: unknown): ItemElement {
  return list.keys.length > 0 ? keyedElement(list, item) : valueElement(item);
}

/** True if an item of a list that is a set or a map has a path element. */
export function isElement({ keys, item: type }: ListFieldType, item: unknown): boolean {
  if (keys.length === 0) return typeof item !== "object";
  if (!isObject(item)) return false;
  return keys.some((key) => (member(item, key) ?? type.map?.defaults.get(key)) !== undefined);
}

function keyedElement(list: ListFieldType, item: unknown): ItemElement {
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const { keys } = list;
  if (keys.length === 1) {
    const key = keys[0]!;
    const value = member(item, key) ?? list.item.map?.defaults.get(key);
    if (value !== undefined) return { element: `k:{${JSON.stringify(key)}:${JSON.stringify(value)}}` };
  } else {
    const found: JsonObject = {};
    for (const key of [...keys].sort()) {
      const value = member(item, key) ?? list.item.map?.defaults.get(key);
      if (value !== undefined) found[key] = value;
    }
    const element = JSON.stringify(found);
    if (element !== "{}") return { element: `k:${element}` };
  }
  const quoted = keys.map((key) => JSON.stringify(key)).join(" ");
  return {
    problem:
      `associative list with keys has an element that omits all key fields [${quoted}] (and doesn't have default values for any key fields)`,
  };
}

function valueElement(item: unknown): ItemElement {
  if (Array.isArray(item)) return { problem: "not supported: associative list with lists as elements" };
  if (isObject(item)) return { problem: "associative list without keys has an element that's a map type" };
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  return { element: `v:${JSON.stringify(item)}` };
}
