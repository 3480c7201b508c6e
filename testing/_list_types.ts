/**
 * Checks that lists that are sets or maps have no item twice.
 *
 * ```ts
 * import { checkLists } from "./_list_types.ts";
 *
 * checkLists(["a", "a"], { type: "array", "x-kubernetes-list-type": "set" }, "spec.names");
 * // [{ field: "spec.names[1]", reason: "FieldValueDuplicate", message: 'Duplicate value: "a"' }]
 * ```
 *
 * @module
 */
import { duplicateOf, type FieldError, invalid, shown } from "./_field_error.ts";
import { isObject, type JsonObject } from "./_json.ts";
import type { Schema } from "./_schema.ts";
import { anywhere } from "./_schema_facts.ts";

/** Returns what comes twice in the sets and list maps of a value. */
export function checkLists(value: unknown, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (tellsApart(schema)) visit(value, schema, path, errors);
  return errors;
}

const tellsApart = anywhere(({ "x-kubernetes-list-type": type }) => type === "set" || type === "map");

/** Looks at a value whose schema has sets or list maps somewhere. */
function visit(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    checkList(value, schema, path, errors);
    if (schema.items === undefined || !tellsApart(schema.items)) return;
    for (let index = 0; index < value.length; index++) visit(value[index], schema.items, `${path}[${index}]`, errors);
  } else if (isObject(value)) {
    const { properties, additionalProperties: rest } = schema;
    if (properties === undefined && typeof rest !== "object") return;
    for (const key in value) {
      const own = properties !== undefined && Object.hasOwn(properties, key);
      const child = own ? properties[key] : rest;
      if (typeof child !== "object" || !tellsApart(child)) continue;
      visit(value[key], child, own ? path === "" ? key : `${path}.${key}` : `${path}[${key}]`, errors);
    }
  }
}

function checkList(value: unknown[], schema: Schema, path: string, errors: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return;
  let items = value;
  if (type === "map") {
    const misfit = value.findIndex((item) => item !== null && !isObject(item));
    if (misfit >= 0) {
      const text = "must be an object for an array of list-type map";
      errors.push(invalid(`${path}[${misfit}]`, value[misfit], text));
      return;
    }
    if (value.length < 2) return;
    items = value.map((item) => keysOf(item as JsonObject | null, schema["x-kubernetes-list-map-keys"] ?? []));
  }
  for (const index of duplicateOf(items) ?? []) {
    const message = `Duplicate value: ${shown(items[index])}`;
    errors.push({ field: `${path}[${index}]`, reason: "FieldValueDuplicate", message });
  }
}

function keysOf(item: JsonObject | null, keys: readonly string[]): JsonObject {
  const out: JsonObject = {};
  for (const key of keys) if (item !== null && Object.hasOwn(item, key)) out[key] = item[key];
  return out;
}
