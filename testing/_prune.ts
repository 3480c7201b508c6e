/**
 * Drops what a custom resource's schema does not name, and names what was dropped.
 *
 * ```ts
 * import { prune } from "./_prune.ts";
 *
 * prune({ spec: { a: 1, b: 2 } }, { type: "object", properties: { spec: { type: "object", properties: { a: {} } } } });
 * // { object: { spec: { a: 1 } }, unknown: ["spec.b"] }
 * ```
 *
 * @module
 */
import { DecodeError, decodeGo } from "./_go_decode.ts";
import { isObject, type JsonObject, pathText, putMember, sortedKeys } from "./_json.ts";
import { metadataSchema } from "./_root_type.ts";
import type { Schema } from "./_schema.ts";

/** What pruning leads to. */
export interface Pruned {
  /** The object without unknown fields and without nulls that may not be; the same one if it had none. */
  object: object;
  /** The paths of the unknown fields, sorted, in the order of the real server, such as `spec.list[0].x`. */
  unknown: string[];
}

/** How to prune. */
export interface PruneOptions {
  /** True if nulls stay. @default {false} */
  readonly nulls?: boolean | undefined;
}

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);
const ANY: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/**
 * Prunes a custom resource: unknown fields go, except where the schema preserves them, and so do nulls of fields that are not
 * nullable and have no default. Unknown fields of `metadata` go too.
 *
 * @throws {DecodeError} If metadata within the object is of wrong types
 */
export function prune(object: object, schema: Schema = ANY, { nulls = false }: PruneOptions = {}): Pruned {
  const pruner = new Pruner();
  const out = pruner.visit(object, schema, true) as object;
  return {
    object: nulls || !hasNull(out) ? out : withoutNulls(out, schema) as object,
    unknown: pruner.inOrder(),
  };
}

/** True if there is a null anywhere in a value. */
function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  if (value === null) return true;
  if (Array.isArray(value)) return value.some(hasNull);
  for (const key in value) if (hasNull((value as JsonObject)[key])) return true;
  return false;
}

class Pruner {
  readonly unknown: string[] = [];
  readonly metadata: string[] = [];
  /** The members and items on the way to where it is. */
  readonly #path: (string | number)[] = [];

  /** The unknown fields: of the object's metadata, of the object, of metadata within it. */
  inOrder(): string[] {
    if (this.unknown.length + this.metadata.length === 0) return this.unknown;
    const own = this.metadata.filter((path) => path.startsWith("metadata."));
    const within = this.metadata.filter((path) => !path.startsWith("metadata."));
    return [...own.sort(), ...this.unknown.sort(), ...within.sort()];
  }

  visit(value: unknown, schema: Schema | undefined, resource: boolean): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#list(value, schema);
    const object = value as JsonObject;
    const preserve = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
    const embedded = resource || schema?.["x-kubernetes-embedded-resource"] === true;
    let out: JsonObject | undefined;
    for (const key in object) {
      const before = object[key];
      let after = before;
      this.#path.push(key);
      if (embedded && META_FIELDS.has(key)) {
        if (!resource) checkMetaField(key, before, this.#at());
        if (key === "metadata") after = this.#metadata(before, metadataSchema(), resource);
      } else if (schema && knows(schema, key)) after = this.visit(before, childOf(schema, key), false);
      else if (!preserve) {
        if (!META_FIELDS.has(key) || this.#path.length > 1) this.unknown.push(this.#at());
        delete (out ??= { ...object })[key];
      }
      this.#path.pop();
      if (after !== before) putMember(out ??= { ...object }, key, after);
    }
    return out ?? object;
  }

  #list(value: unknown[], schema: Schema | undefined): unknown {
    if (schema?.["x-kubernetes-preserve-unknown-fields"] === true && schema.items === undefined) return value;
    let out: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      this.#path.push(index);
      const item = value[index], after = this.visit(item, schema?.items, false);
      this.#path.pop();
      if (after !== item) (out ??= [...value])[index] = after;
    }
    return out ?? value;
  }

  #metadata(value: unknown, schema: Schema, own: boolean): unknown {
    if (!isObject(value)) return value;
    if (!own) checkMetadata(value, schema, this.#at());
    let out: JsonObject | undefined;
    for (const key in value) {
      if (Object.hasOwn(schema.properties!, key)) continue;
      this.metadata.push(`${this.#at()}.${key}`);
      delete (out ??= { ...value })[key];
    }
    return out ?? value;
  }

  #at(): string {
    return pathText(this.#path);
  }
}

/** Refuses what makes up an object within an object, if it is of another type. */
function checkMetaField(key: string, value: unknown, path: string): void {
  if (key !== "metadata") {
    if (typeof value === "string" || value === null) return;
    throw new DecodeError(`${path}: Invalid value: ${JSON.stringify(value)}: must be a string`);
  }
  if (isObject(value) || value === null) return;
  const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const why = `json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`;
  throw new DecodeError(`${path}: Invalid value: ${JSON.stringify(value)}: ${why}`);
}

/** Refuses metadata within an object that no metadata can be read from. */
function checkMetadata(value: JsonObject, schema: Schema, path: string): void {
  try {
    decodeGo(value, schema);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`${path}: Invalid value: ${JSON.stringify(sortedKeys(value))}: ${error.message}`);
  }
}

/** True if a schema has a word on a member. */
function knows(schema: Schema, key: string): boolean {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return true;
  return schema.additionalProperties !== undefined && schema.additionalProperties !== false;
}

/** What a schema says of a member; undefined if it says nothing. */
function childOf(schema: Schema, key: string): Schema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const rest = schema.additionalProperties;
  return rest === true ? ANY : rest || undefined;
}

function isUnwantedNull(value: unknown, schema: Schema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true && schema.default === undefined;
}

/** Drops nulls of members that may not be null, if nothing takes their place. */
export function withoutNulls(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) {
    let out: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const after = withoutNulls(item, schema?.items);
      if (after !== item) (out ??= [...value])[index] = after;
    }
    return out ?? value;
  }
  if (!isObject(value)) return value;
  let out: JsonObject | undefined;
  for (const key in value) {
    const child = schema && childOf(schema, key);
    if (isUnwantedNull(value[key], child)) {
      delete (out ??= { ...value })[key];
      continue;
    }
    const after = withoutNulls(value[key], child);
    if (after !== value[key]) putMember(out ??= { ...value }, key, after);
  }
  return out ?? value;
}
