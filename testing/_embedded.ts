/**
 * Checks the objects within custom resources that have an `apiVersion`, a `kind` and a `metadata` of their own.
 *
 * ```ts
 * import { checkEmbedded } from "./_embedded.ts";
 *
 * checkEmbedded({}, { type: "object", "x-kubernetes-embedded-resource": true }, "spec.template").length; // 2
 * ```
 *
 * @module
 */
import { type FieldError, invalid } from "./_field_error.ts";
import { isObject, type JsonObject } from "./_json.ts";
import { validateMetadata } from "./_metadata.ts";
import type { Schema } from "./_schema.ts";
import { anywhere } from "./_schema_facts.ts";

const embeds = anywhere((schema) => schema["x-kubernetes-embedded-resource"] === true);

const KIND = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Returns what is wrong with the embedded resources of a value. */
export function checkEmbedded(value: unknown, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (embeds(schema)) visit(value, schema, path, errors);
  return errors;
}

function visit(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries()) visit(item, schema.items, `${path}[${index}]`, errors);
  } else if (isObject(value)) {
    if (schema["x-kubernetes-embedded-resource"] === true) {
      checkType(value, path, errors);
      errors.push(...checkMetadata(value.metadata, path));
    }
    const { properties, additionalProperties: rest } = schema;
    for (const key in value) {
      if (properties !== undefined && Object.hasOwn(properties, key)) {
        visit(value[key], properties[key]!, path === "" ? key : `${path}.${key}`, errors);
      } else if (typeof rest === "object") visit(value[key], rest, `${path}[${key}]`, errors);
    }
  }
}

/** What is wrong with labels and the like; a name within an object may be any. */
function checkMetadata(metadata: unknown, path: string): FieldError[] {
  if (!isObject(metadata)) return [];
  const { generateName: _, ...rest } = metadata;
  return validateMetadata({ ...rest, name: "any" }, false, "subdomain", true)
    .map(({ field, reason, message }) => ({ field: `${path}.${field}`, reason, message }));
}

function checkType(value: JsonObject, path: string, errors: FieldError[]): void {
  for (const name of ["apiVersion", "kind"]) {
    const field = `${path}.${name}`;
    const text = value[name];
    if (!Object.hasOwn(value, name)) errors.push({ field, reason: "FieldValueRequired", message: "Required value" });
    else if (typeof text !== "string") errors.push(invalid(field, text, "must be a string"));
    else if (text === "") errors.push(invalid(field, text, "must not be empty"));
    else if (name === "apiVersion" && text.split("/").length > 2) {
      errors.push(invalid(field, text, `unexpected GroupVersion string: ${text}`));
    } else if (name === "kind" && !KIND.test(text.toLowerCase())) {
      const rule =
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
      errors.push(invalid(field, text, `may have mixed case, but should otherwise match: ${rule}`));
    }
  }
}
