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
import { isObject, type JsonObject, putMember, sortedKeys } from "./_json.ts";
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
  const out = pruner.visit(object, schema, "", true) as object;
  return {
    object: nulls ? out : withoutNulls(out, schema) as object,
    unknown: pruner.inOrder(),
  };
}

class Pruner {
  readonly unknown: string[] = [];
  readonly metadata: string[] = [];

  /** The unknown fields: of the object's metadata, of the object, of metadata within it. */
  inOrder(): string[] {
    const own = this.metadata.filter((path) => path.startsWith("metadata."));
    const within = this.metadata.filter((path) => !path.startsWith("metadata."));
    return [...own.sort(), ...this.unknown.sort(), ...within.sort()];
  }

  visit(value: unknown, schema: Schema | undefined, path: string, resource: boolean): unknown {
    if (Array.isArray(value)) return this.#list(value, schema, path);
    if (!isObject(value)) return value;
    const preserve = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
    const embedded = resource || schema?.["x-kubernetes-embedded-resource"] === true;
    let out: JsonObject | undefined;
    for (const key in value) {
      const at = path === "" ? key : `${path}.${key}`;
      const before = value[key];
      let after = before;
      if (embedded && META_FIELDS.has(key)) {
        if (!resource) checkMetaField(key, before, at);
        if (key === "metadata") after = this.#metadata(before, metadataSchema(), at, resource);
      } else {
        const known = schema && childOf(schema, key);
        if (known !== undefined) after = this.visit(before, known.schema, at, false);
        else if (!preserve) {
          if (!META_FIELDS.has(key) || path !== "") this.unknown.push(at);
          delete (out ??= { ...value })[key];
          continue;
        }
      }
      if (after !== before) putMember(out ??= { ...value }, key, after);
    }
    return out ?? value;
  }

  #list(value: unknown[], schema: Schema | undefined, path: string): unknown {
    if (schema?.["x-kubernetes-preserve-unknown-fields"] === true && schema.items === undefined) return value;
    let out: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const after = this.visit(item, schema?.items, `${path}[${index}]`, false);
      if (after !== item) (out ??= [...value])[index] = after;
    }
    return out ?? value;
  }

  #metadata(value: unknown, schema: Schema, path: string, own: boolean): unknown {
    if (!isObject(value)) return value;
    if (!own) checkMetadata(value, schema, path);
    let out: JsonObject | undefined;
    for (const key in value) {
      if (Object.hasOwn(schema.properties!, key)) continue;
      this.metadata.push(`${path}.${key}`);
      delete (out ??= { ...value })[key];
    }
    return out ?? value;
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

/** Finds what a schema says of a member; undefined if it does not know it. */
function childOf(schema: Schema, key: string): { schema: Schema | undefined } | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) {
    return { schema: schema.properties[key] };
  }
  const rest = schema.additionalProperties;
  if (rest === undefined || rest === false) return undefined;
  return { schema: rest === true ? ANY : rest };
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
    const child = schema && childOf(schema, key)?.schema;
    if (isUnwantedNull(value[key], child)) {
      delete (out ??= { ...value })[key];
      continue;
    }
    const after = withoutNulls(value[key], child);
    if (after !== value[key]) putMember(out ??= { ...value }, key, after);
  }
  return out ?? value;
}
