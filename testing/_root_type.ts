/**
 * Gives whole objects their type: a custom resource's schema says nothing of `apiVersion`, `kind` and `metadata`.
 *
 * ```ts
 * import { rootType } from "./_root_type.ts";
 *
 * rootType({ type: "object", properties: { spec: { type: "object" } } }).map!.fields.has("metadata"); // true
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import type { Schema } from "./_schema.ts";
import { type FieldType, fieldType } from "./_typed.ts";

const completed = new WeakMap<Schema, Schema>();
const ANY: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

let metadata: Schema | undefined;

/** Returns the schema of `metadata`. */
export function metadataSchema(): Schema {
  return metadata ??= builtinSchema("", "v1", "ConfigMap")!.properties!.metadata!;
}

/** Returns the type of an object's root. */
export function rootType(schema: Schema = ANY): FieldType {
  return fieldType(withTypeAndMetadata(schema));
}

/** Returns the schema with `apiVersion`, `kind` and `metadata` at its root and in its embedded resources. */
export function withTypeAndMetadata(schema: Schema): Schema {
  // Built-in kinds have them.
  if (schema.properties?.metadata?.properties?.managedFields !== undefined) return schema;
  let full = completed.get(schema);
  if (full === undefined) completed.set(schema, full = complete(schema, true));
  return full;
}

function complete(schema: Schema, isObject: boolean): Schema {
  const out: Schema = { ...schema };
  if (schema.properties !== undefined) {
    out.properties = {};
    for (const [name, property] of Object.entries(schema.properties)) {
      out.properties[name] = complete(property, property["x-kubernetes-embedded-resource"] === true);
    }
  }
  if (typeof schema.additionalProperties === "object") {
    const rest = schema.additionalProperties;
    out.additionalProperties = complete(rest, rest["x-kubernetes-embedded-resource"] === true);
  }
  if (schema.items !== undefined) {
    out.items = complete(schema.items, schema.items["x-kubernetes-embedded-resource"] === true);
  }
  if (isObject) {
    out.properties = {
      ...out.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: metadataSchema(),
    };
  }
  return out;
}
