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
import { type JsonObject, putMember } from "./_json.ts";
import type { Schema } from "./_schema.ts";
import { anywhere } from "./_schema_facts.ts";

/** Tells whether there is any default at or below a schema. */
export const hasDefaults: (schema: Schema) => boolean = anywhere((schema) => schema.default !== undefined);

/** A member, and what its schema says. */
interface Member {
  readonly key: string;
  readonly property: Schema;
}

/** The parts of a schema of an object that have to do with defaults. */
interface Defaulted {
  /** The members that have a default. */
  readonly own: readonly Member[];
  /** The members with defaults below them. */
  readonly below: readonly Member[];
  /** What all other members are, if there are defaults in it. */
  readonly rest: Schema | undefined;
}

const known = new WeakMap<Schema, Defaulted>();

function defaultedIn(schema: Schema): Defaulted {
  let found = known.get(schema);
  if (found === undefined) {
    const { properties = {}, additionalProperties: rest } = schema;
    const members = Object.entries(properties).map(([key, property]) => ({ key, property }));
    found = {
      own: members.filter(({ property }) => property.default !== undefined),
      below: members.filter(({ property }) => hasDefaults(property)),
      rest: typeof rest === "object" && hasDefaults(rest) ? rest : undefined,
    };
    known.set(schema, found);
  }
  return found;
}

/** Returns the value with defaults filled in: for missing fields, and for nulls that may not be. */
export function withDefaults<T>(value: T, schema: Schema | undefined): T {
  if (schema === undefined || !hasDefaults(schema)) return value;
  return fill(value, schema) as T;
}

function isUnwantedNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true;
}

function fill(value: unknown, schema: Schema): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return fillList(value, schema.items);
  const object = value as JsonObject;
  const { own, below, rest } = defaultedIn(schema);
  let out: JsonObject | undefined;
  for (const { key, property } of own) {
    // Defaults are shared: stored objects are never changed.
    if (!Object.hasOwn(object, key) || isUnwantedNull(object[key], property)) {
      putMember(out ??= { ...object }, key, property.default);
    }
  }
  for (const { key, property } of below) {
    const current = out ?? object;
    if (!Object.hasOwn(current, key)) continue;
    const filled = fill(current[key], property);
    if (filled !== current[key]) putMember(out ??= { ...object }, key, filled);
  }
  if (rest) {
    for (const key in object) {
      if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) continue;
      const item = rest.default !== undefined && isUnwantedNull(object[key], rest) ? rest.default : object[key];
      const filled = fill(item, rest);
      if (filled !== object[key]) putMember(out ??= { ...object }, key, filled);
    }
  }
  return out ?? object;
}

function fillList(value: unknown[], items: Schema | undefined): unknown[] {
  if (items === undefined || !hasDefaults(items)) return value;
  let out: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    const base = items.default !== undefined && isUnwantedNull(item, items) ? items.default : item;
    const filled = fill(base, items);
    if (filled !== item) (out ??= [...value])[index] = filled;
  }
  return out ?? value;
}
