/**
 * Fills in what a custom resource's schema has defaults for.
 *
 * ```ts
 * import { withDefaults } from "./_defaults.ts";
 *
 * withDefaults({}, { type: "object", properties: { size: { type: "integer", default: 1 } } }); // { size: 1 }
 * ```
 *
 * @module
 */
import { isObject, type JsonObject, putMember } from "./_json.ts";
import type { Schema } from "./_schema.ts";
import { anywhere } from "./_schema_facts.ts";

/** Tells whether there is any default at or below a schema. */
export const hasDefaults: (schema: Schema) => boolean = anywhere((schema) => schema.default !== undefined);

/** Returns the value with defaults filled in: for missing fields, and for nulls that may not be. */
export function withDefaults<T>(value: T, schema: Schema | undefined): T {
  if (schema === undefined || !hasDefaults(schema)) return value;
  return fill(value, schema) as T;
}

function isUnwantedNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true;
}

function fill(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return fillList(value, schema.items);
  if (!isObject(value)) return value;
  let out: JsonObject | undefined;
  const set = (key: string, item: unknown) => putMember(out ??= { ...value }, key, item);
  const { properties = {}, additionalProperties: rest } = schema;
  for (const [key, property] of Object.entries(properties)) {
    if (property.default === undefined) continue;
    // Defaults are shared: stored objects are never changed.
    if (!Object.hasOwn(value, key) || isUnwantedNull(value[key], property)) set(key, property.default);
  }
  const current = out ?? value;
  for (const key in current) {
    const child = Object.hasOwn(properties, key) ? properties[key] : typeof rest === "object" ? rest : undefined;
    if (child === undefined) continue;
    let item = current[key];
    if (child === rest && child.default !== undefined && isUnwantedNull(item, child)) item = child.default;
    const filled = withDefaults(item, child);
    if (filled !== current[key]) set(key, filled);
  }
  return out ?? value;
}

function fillList(value: unknown[], items: Schema | undefined): unknown[] {
  if (items === undefined) return value;
  let out: unknown[] | undefined;
  for (const [index, item] of value.entries()) {
    const base = items.default !== undefined && isUnwantedNull(item, items) ? items.default : item;
    const filled = withDefaults(base, items);
    if (filled !== item) (out ??= [...value])[index] = filled;
  }
  return out ?? value;
}
