/**
 * Checks what a CustomResourceDefinition's schema says of lists and maps: their types and keys.
 *
 * ```ts
 * import { checkSchemaLists } from "./_structural_lists.ts";
 *
 * const errors: { field: string; reason: string; message: string }[] = [];
 * checkSchemaLists({ type: "object", "x-kubernetes-list-type": "set" }, "spec", errors);
 * // spec.type: Invalid value: "object": must be array if x-kubernetes-list-type is specified
 * ```
 *
 * @module
 */
import { type FieldError, invalid, shown } from "./_field_error.ts";
import type { Schema } from "./_schema.ts";

const LIST_TYPES = ["atomic", "set", "map"];
const MAP_TYPES = ["atomic", "granular"];

function required(field: string, text: string): FieldError {
  return { field, reason: "FieldValueRequired", message: `Required value: ${text}` };
}

function unsupported(field: string, value: unknown, allowed: readonly string[]): FieldError {
  const message = `Unsupported value: ${shown(value)}: supported values: ${allowed.map(shown).join(", ")}`;
  return { field, reason: "FieldValueNotSupported", message };
}

function mustBe(schema: Schema, type: string, keyword: string, path: string, errors: FieldError[]): void {
  if (schema.type === type) return;
  const text = `must be ${type} if ${keyword} is specified`;
  errors.push(schema.type ? invalid(`${path}.type`, schema.type, text) : required(`${path}.type`, text));
}

/** Adds what is wrong with a schema's list and map types, not with those below it. */
export function checkSchemaLists(schema: Schema, path: string, errors: FieldError[]): void {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined) {
    mustBe(schema, "object", "x-kubernetes-map-type", path, errors);
    if (!MAP_TYPES.includes(mapType)) errors.push(unsupported(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES));
  }
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== undefined) {
    mustBe(schema, "array", "x-kubernetes-list-type", path, errors);
    if (!LIST_TYPES.includes(listType)) {
      errors.push(unsupported(`${path}.x-kubernetes-list-type`, listType, LIST_TYPES));
    }
  }
  if (keys.length > 0 && listType !== "map") {
    const text = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(at, text) : invalid(at, listType, text));
  }
  if ((listType === "set" || listType === "map") && schema.items?.nullable === true) {
    const message = `Forbidden: cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push({ field: `${path}.items.nullable`, reason: "FieldValueForbidden", message });
  }
  if (listType === "set") checkSetItems(schema.items, `${path}.items`, errors);
  if (listType === "map") checkListMap(schema, keys, path, errors);
}

function checkSetItems(items: Schema | undefined, path: string, errors: FieldError[]): void {
  const text = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const itemType = items?.["x-kubernetes-list-type"], mapType = items?.["x-kubernetes-map-type"];
  if (items?.type === "array" && itemType !== undefined && itemType !== "atomic") {
    errors.push(invalid(`${path}.x-kubernetes-list-type`, itemType, text));
  }
  if (items?.type === "object" && mapType !== "atomic") {
    errors.push(invalid(`${path}.x-kubernetes-map-type`, itemType ?? null, text));
  }
}

function checkListMap(schema: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  const { items } = schema;
  if (items === undefined) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return;
  }
  if (items.type !== "object") {
    const text = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.items.type`, items.type ?? "", text));
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) errors.push(invalid(at, keys, "entries must all be names of item properties"));
    else checkKey(items, property, key, `${path}.items.properties[${key}]`, errors);
    if (seen.has(key)) errors.push(invalid(at, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
}

function checkKey(items: Schema, property: Schema, key: string, path: string, errors: FieldError[]): void {
  if (property.type === "array" || property.type === "object") {
    const text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.type`, items.type, text));
  }
  const isRequired = items.required?.includes(key) === true;
  if (!isRequired && property.default === undefined) {
    const text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
    errors.push(required(`${path}.default`, text));
  }
  if (property.nullable === true) {
    const message = "Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
    errors.push({ field: `${path}.nullable`, reason: "FieldValueForbidden", message });
  }
}
