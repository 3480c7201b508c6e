/**
 * Checks the schema of a CustomResourceDefinition: that it is structural, and says nothing that a server refuses.
 *
 * ```ts
 * import { checkSchema } from "./_structural.ts";
 *
 * checkSchema({ type: "string" }, "spec.validation.openAPIV3Schema");
 * // [{ field: "spec.validation.openAPIV3Schema.type", message: 'Invalid value: "string": must be object at the root', ... }]
 * ```
 *
 * @module
 */
import { checkRules, hasRules } from "./_cel_rules.ts";
import { type FieldError, invalid, shown } from "./_field_error.ts";
import { goPattern, goPatternError } from "./_go_pattern.ts";
import { equalJson } from "./_json.ts";
import { prune } from "./_prune.ts";
import type { Schema } from "./_schema.ts";
import { checkSchemaLists } from "./_structural_lists.ts";
import { validate } from "./_validate.ts";

type Level = "root" | "item" | "field";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const EMPTY_AT: Record<Level, string> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
const UNSUPPORTED = ["$ref", "definitions", "dependencies", "deprecated", "discriminator", "id", "patternProperties"];

/** What a schema below `allOf`, `anyOf`, `oneOf` or `not` may not say, and how that is refused. */
const NOT_NESTED: readonly (readonly [keyof Schema, string])[] = [
  ["type", "must be empty to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

/** Returns what is wrong with a schema; nothing if a server takes it. Does not look at rules in CEL. */
export function checkSchema(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, "root", path, errors);
  const text = ({ field, message }: FieldError): string => `${field}: ${message}`;
  return errors.sort((a, b) => text(a) < text(b) ? -1 : 1);
}

function required(field: string, text: string): FieldError {
  return { field, reason: "FieldValueRequired", message: `Required value: ${text}` };
}

function forbidden(field: string, text: string): FieldError {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${text}` };
}

function visit(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  if (checkUnsupported(schema, path, errors)) return;
  checkType(schema, level, path, errors);
  checkSchemaLists(schema, path, errors);
  if (schema.uniqueItems === true) {
    const text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, text));
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  if (embedded) checkEmbeddedSchema(schema, path, errors);
  checkPattern(schema, path, errors);
  checkDefault(schema, path, errors);
  checkLogic(schema, path, errors);
  const { properties, items, additionalProperties: rest } = schema;
  for (const [name, property] of Object.entries(properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    if (level === "root" || embedded) {
      if (name === "metadata") checkMetadata(property, at, errors);
      const { type = "string" } = property;
      const text = name === "apiVersion" || name === "kind";
      if (text && type !== "string") errors.push(invalid(`${at}.type`, type, "must be string"));
    }
    visit(property, "field", at, errors);
  }
  if (Array.isArray(items)) {
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  } else if (items !== undefined) visit(items, "item", `${path}.items`, errors);
  if (rest === undefined) return;
  const at = `${path}.additionalProperties`;
  if (properties !== undefined && Object.keys(properties).length > 0 && rest !== true) {
    errors.push(forbidden(at, "additionalProperties and properties are mutual exclusive"));
  }
  if (level === "root") errors.push(forbidden(at, "must not be used at the root"));
  if (typeof rest === "object") visit(rest, "field", at, errors);
}

/** Reports keywords that no server supports; a reference makes the rest meaningless. */
function checkUnsupported(schema: Schema, path: string, errors: FieldError[]): boolean {
  for (const key of UNSUPPORTED) {
    if (Object.hasOwn(schema, key)) errors.push(forbidden(`${path}.${key}`, `${key} is not supported`));
  }
  return Object.hasOwn(schema, "$ref");
}

function checkType(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type = "" } = schema;
  const at = `${path}.type`;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  if (type === "array" && schema.items === undefined) errors.push(required(`${path}.items`, "must be specified"));
  if (embedded && type !== "object") {
    const text = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(at, text) : invalid(at, type, text));
  } else if (type === "") {
    const free = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
    if (free !== true) errors.push(required(at, EMPTY_AT[level]));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalid(at, type, "must be object at the root"));
  }
  if (type !== "" && !TYPES.includes(type)) {
    const message = `Unsupported value: ${shown(type)}: supported values: ${TYPES.map(shown).join(", ")}`;
    errors.push({ field: at, reason: "FieldValueNotSupported", message });
  }
}

function checkEmbeddedSchema(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema.additionalProperties !== undefined) {
    const text = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbidden(`${path}.additionalProperties`, text));
  }
  const known = Object.keys(schema.properties ?? {}).length > 0;
  if (!known && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
    const text =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, text));
  }
}

function checkMetadata(schema: Schema, path: string, errors: FieldError[]): void {
  const { type, properties = {}, default: preset, ...rest } = schema;
  if (preset !== undefined) errors.push(forbidden(`${path}.default`, "must not be set in top-level metadata"));
  if (type !== undefined && type !== "object") errors.push(invalid(`${path}.type`, type, "must be object"));
  const others = Object.keys(properties).filter((name) => name !== "name" && name !== "generateName");
  if (others.length > 0 || Object.keys(rest).some((key) => key !== "description")) {
    const text = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbidden(path, text));
  }
}

function checkPattern({ pattern }: Schema, path: string, errors: FieldError[]): void {
  if (pattern === undefined) return;
  const why = goPatternError(pattern) ?? (goPattern(pattern) ? undefined : "error parsing regexp: invalid syntax");
  if (why === undefined) return;
  errors.push(invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`));
}

function checkDefault(schema: Schema, path: string, errors: FieldError[]): void {
  const { default: value } = schema;
  if (value === undefined) return;
  const at = `${path}.default`;
  const holder: Schema = { type: "object", properties: { value: { ...schema, nullable: true } } };
  if (!equalJson((prune({ value }, holder).object as { value?: unknown }).value, value)) {
    errors.push(invalid(at, value, "must not have unknown fields"));
    return;
  }
  const wrong = validate(value, schema).filter(({ reason }) => reason !== "FieldValueDuplicate");
  if (wrong.length === 0 && hasRules(schema)) wrong.push(...checkRules(value, schema, { previous: undefined }).errors);
  for (const { field, reason, message } of wrong) {
    errors.push({ field: field === "<nil>" ? at : `${at}.${field}`, reason, message });
  }
}

/** Tells whether a schema is one of the two ways in which int-or-string may be written out. */
function isIntOrString(schemas: Schema[] | undefined): boolean {
  return equalJson(schemas, [{ type: "integer" }, { type: "string" }]);
}

function checkLogic(schema: Schema, path: string, errors: FieldError[]): void {
  const free = schema["x-kubernetes-int-or-string"] === true;
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [index, part] of (schema[key] ?? []).entries()) {
      if (free && key === "anyOf" && isIntOrString(schema.anyOf)) continue;
      if (free && key === "allOf" && index === 0 && isIntOrString(part.anyOf)) continue;
      checkNested(part, `${path}.${key}[${index}]`, errors);
    }
  }
  if (schema.not !== undefined) checkNested(schema.not, `${path}.not`, errors);
}

function checkNested(schema: Schema, path: string, errors: FieldError[]): void {
  for (const [key, text] of NOT_NESTED) {
    const value = schema[key];
    const empty = value === undefined || value === "" || value === false || Array.isArray(value) && value.length === 0;
    if (!empty) errors.push(forbidden(`${path}.${key}`, text));
  }
  checkPattern(schema, path, errors);
  checkLogic(schema, path, errors);
  if (schema.items !== undefined) checkNested(schema.items, `${path}.items`, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    if (name === "metadata") errors.push(forbidden(at, "must not be specified in a nested context"));
    checkNested(property, at, errors);
  }
}
