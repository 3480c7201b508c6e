/**
 * Defines the schemas that CustomResourceDefinitions carry, and holds them to the rules of structural schemas.
 *
 * ```ts
 * import { assertStructural, Place } from "./_structural.ts";
 *
 * assertStructural({ type: "object", properties: { size: { type: "integer" } } }, new Place('resource "Disk"', "spec"));
 * ```
 *
 * @module
 */

/** A rule in the Common Expression Language, run by the API server at every write. */
export interface ValidationRule {
  /** The expression; `self` is the value, `oldSelf` the one before. */
  rule: string;
  /** What to answer when it does not hold. */
  message?: string;
  /** An expression that gives the message. */
  messageExpression?: string;
  /** `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired` or `FieldValueDuplicate`. */
  reason?: string;
  /** The field that the error names, such as `.size`. */
  fieldPath?: string;
  /** True to run a rule with `oldSelf` at creation too. */
  optionalOldSelf?: boolean;
}

/** An OpenAPI v3 schema as a CustomResourceDefinition may carry it. */
export interface JsonSchema {
  /** `object`, `array`, `string`, `integer`, `number` or `boolean`. */
  type?: string;
  /** A format that Kubernetes knows, such as `date-time`, `int32` or `duration`. */
  format?: string;
  /** A short title. */
  title?: string;
  /** Shown by `kubectl explain`. */
  description?: string;
  /** Filled in by the server when the field is absent. */
  default?: unknown;
  /** An example; for readers only. */
  example?: unknown;
  /** Further documentation. */
  externalDocs?: { description?: string; url?: string };
  /** True if null is a value. */
  nullable?: boolean;
  /** The values that are allowed. */
  enum?: unknown[];
  /** The least number. */
  minimum?: number;
  /** The greatest number. */
  maximum?: number;
  /** True if `minimum` itself is not allowed. */
  exclusiveMinimum?: boolean;
  /** True if `maximum` itself is not allowed. */
  exclusiveMaximum?: boolean;
  /** What a number must be a multiple of. */
  multipleOf?: number;
  /** The least number of characters. */
  minLength?: number;
  /** The greatest number of characters. */
  maxLength?: number;
  /** A regular expression (RE2) that a part of the text must match. */
  pattern?: string;
  /** The schema of every item. */
  items?: JsonSchema;
  /** The least number of items. */
  minItems?: number;
  /** The greatest number of items. */
  maxItems?: number;
  /** The fields of an object. */
  properties?: Record<string, JsonSchema>;
  /** The schema of every value of a map; never beside `properties`. */
  additionalProperties?: JsonSchema | boolean;
  /** The fields that must be there. */
  required?: string[];
  /** The least number of fields. */
  minProperties?: number;
  /** The greatest number of fields. */
  maxProperties?: number;
  /** All of these must hold; value validations only. */
  allOf?: JsonSchema[];
  /** At least one of these must hold; value validations only. */
  anyOf?: JsonSchema[];
  /** Exactly one of these must hold; value validations only. */
  oneOf?: JsonSchema[];
  /** This must not hold; value validations only. */
  not?: JsonSchema;
  /** True for an integer or a string; then there is no `type`. */
  "x-kubernetes-int-or-string"?: boolean;
  /** True to keep fields that the schema does not name. */
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** True for an object with `apiVersion`, `kind` and `metadata` of its own. */
  "x-kubernetes-embedded-resource"?: boolean;
  /** How lists merge in server-side apply: `atomic`, `set` or `map`. */
  "x-kubernetes-list-type"?: string;
  /** The fields that tell the items of a `map` list apart. */
  "x-kubernetes-list-map-keys"?: string[];
  /** How objects merge in server-side apply: `granular` or `atomic`. */
  "x-kubernetes-map-type"?: string;
  /** Rules in the Common Expression Language. */
  "x-kubernetes-validations"?: ValidationRule[];
}

/** The keywords that say what a value is, not which values are valid; not allowed under `allOf`, `anyOf`, `oneOf`, `not`. */
export const STRUCTURE: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "default",
  "example",
  "externalDocs",
  "nullable",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
]);

/** The keywords that say which values are valid. */
export const VALIDATION: ReadonlySet<string> = new Set([
  "format",
  "enum",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "required",
  "minProperties",
  "maxProperties",
]);

const NESTING: ReadonlySet<string> = new Set(["properties", "additionalProperties", "items"]);
const JUNCTORS = ["allOf", "anyOf", "oneOf"] as const;
const TYPES: ReadonlySet<unknown> = new Set(["object", "array", "string", "integer", "number", "boolean"]);
const REASONS: ReadonlySet<unknown> = new Set([
  undefined,
  "FieldValueInvalid",
  "FieldValueForbidden",
  "FieldValueRequired",
  "FieldValueDuplicate",
]);

/** A place in the schema of a resource, for errors. */
export class Place {
  /** What is being defined, such as `resource "Backup"`. */
  readonly what: string;
  /** Where in it, such as `spec.volumes[].size`. */
  readonly path: string;

  /** Takes what is being defined, and where in it. */
  constructor(what: string, path: string) {
    this.what = what;
    this.path = path;
  }

  /** A field of this. */
  field(name: string): Place {
    const plain = /^[A-Za-z_$][\w$-]*$/.test(name);
    return new Place(
      this.what,
      plain ? (this.path ? `${this.path}.${name}` : name) : `${this.path}[${JSON.stringify(name)}]`,
    );
  }

  /** Every item of this list, every value of this map, or one of its alternatives. */
  inner(suffix: "[]" | "{}" | `|${number}`): Place {
    return new Place(this.what, `${this.path}${suffix}`);
  }

  /** @throws {TypeError} Always, with the rule that does not hold here */
  refuse(rule: string): never {
    throw new TypeError(`Cannot define ${this.what}: '${this.path || "."}' ${rule}`);
  }
}

/**
 * Makes sure that a schema is structural: what each value is stands outside of `allOf`, `anyOf`, `oneOf` and `not`, and
 * no keyword is one that Kubernetes would drop or refuse.
 *
 * @throws {TypeError} If it is not; the message names the path
 */
export function assertStructural(schema: JsonSchema, place: Place): void {
  assertKeywords(schema, place);
  const { type, items, properties, additionalProperties } = schema;
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (type === undefined ? !intOrString && !preserve : !TYPES.has(type)) {
    place.refuse(`must have a 'type' of ${[...TYPES].join(", ")}: current value is ${Deno.inspect(type)}`);
  }
  if (intOrString && type !== undefined) place.refuse("must have no 'type' beside 'x-kubernetes-int-or-string'");
  if (properties && additionalProperties !== undefined) {
    place.refuse("must not have both 'properties' and 'additionalProperties'");
  }
  if (additionalProperties === false) {
    place.refuse("must not have 'additionalProperties: false': unknown fields are pruned");
  }
  if (type !== "object" && (properties || additionalProperties !== undefined)) {
    place.refuse("must have the type object to have 'properties' or 'additionalProperties'");
  }
  if ((type === "array") !== (items !== undefined)) {
    place.refuse("must have 'items' if, and only if, its type is array");
  }
  if (schema["x-kubernetes-embedded-resource"] && (type !== "object" || !(properties || preserve))) {
    place.refuse(
      "must be an object with 'properties' or 'x-kubernetes-preserve-unknown-fields' to be an 'x-kubernetes-embedded-resource'",
    );
  }
  for (const name of schema.required ?? []) {
    if (type === "object" && properties && !Object.hasOwn(properties, name) && !preserve) {
      place.refuse(`must have a schema for the field ${JSON.stringify(name)} that it requires`);
    }
  }
  assertMerging(schema, place);
  assertRules(schema["x-kubernetes-validations"], place);
  for (const [name, property] of Object.entries(properties ?? {})) assertStructural(property, place.field(name));
  if (typeof additionalProperties === "object") assertStructural(additionalProperties, place.inner("{}"));
  if (items) assertStructural(items, place.inner("[]"));
  for (const junctor of JUNCTORS) {
    for (const branch of schema[junctor] ?? []) assertValidation(branch, schema, intOrString, place.field(junctor));
  }
  if (schema.not) assertValidation(schema.not, schema, false, place.field("not"));
}

function assertKeywords(schema: JsonSchema, place: Place): void {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    place.refuse(`must be a schema: current value is ${Deno.inspect(schema)}`);
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const known = STRUCTURE.has(keyword) || VALIDATION.has(keyword) || NESTING.has(keyword) || keyword === "not" ||
      (JUNCTORS as readonly string[]).includes(keyword);
    if (!known) place.refuse(`must not have the keyword ${JSON.stringify(keyword)}: Kubernetes does not take it`);
    if (value === undefined) place.refuse(`must not have an undefined ${JSON.stringify(keyword)}`);
  }
  if (schema.pattern !== undefined && /\(\?(<?[=!])|\\[1-9]/.test(schema.pattern)) {
    place.refuse(
      `must have an RE2 'pattern', without lookaround or backreferences: current value is ${schema.pattern}`,
    );
  }
}

function assertMerging(schema: JsonSchema, place: Place): void {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  const mapType = schema["x-kubernetes-map-type"];
  if (listType !== undefined && (schema.type !== "array" || !["atomic", "set", "map"].includes(listType))) {
    place.refuse(`must be an array to have an 'x-kubernetes-list-type', which is atomic, set or map`);
  }
  if (mapType !== undefined && (schema.type !== "object" || !["atomic", "granular"].includes(mapType))) {
    place.refuse(`must be an object to have an 'x-kubernetes-map-type', which is granular or atomic`);
  }
  if ((listType === "map") !== (keys !== undefined && keys.length > 0)) {
    place.refuse("must have 'x-kubernetes-list-map-keys' if, and only if, its 'x-kubernetes-list-type' is map");
  }
  for (const key of keys ?? []) {
    const property = schema.items?.properties?.[key];
    if (!property || ["object", "array", undefined].includes(property.type)) {
      place.refuse(`must have items with a scalar field for the list map key ${JSON.stringify(key)}`);
    }
    if (!schema.items?.required?.includes(key) && property.default === undefined) {
      place.refuse(`must have items that require, or default, the list map key ${JSON.stringify(key)}`);
    }
  }
  if (listType === "set") {
    const { type, "x-kubernetes-map-type": map, "x-kubernetes-list-type": list } = schema.items ?? {};
    if ((type === "object" && map !== "atomic") || (type === "array" && list !== "atomic")) {
      place.refuse("must have items that are scalars, or atomic, for the 'x-kubernetes-list-type' set");
    }
  }
}

function assertRules(rules: readonly ValidationRule[] | undefined, place: Place): void {
  if (rules === undefined) return;
  if (!Array.isArray(rules)) place.refuse("must have a list of rules in 'x-kubernetes-validations'");
  for (const rule of rules) {
    if (typeof rule?.rule !== "string" || rule.rule.trim() === "") {
      place.refuse(`must have validations with a 'rule': current value is ${Deno.inspect(rule)}`);
    }
    const known = ["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
    for (const key of Object.keys(rule)) {
      if (!known.includes(key)) place.refuse(`must have validations of ${known.join(", ")}: current value is "${key}"`);
    }
    if (rule.message?.includes("\n") || (rule.rule.includes("\n") && !rule.message)) {
      place.refuse("must have validations with a message of one line if their rule has several");
    }
    if (!REASONS.has(rule.reason)) {
      place.refuse(`must have validations with a known reason: current value is "${rule.reason}"`);
    }
    if (rule.fieldPath !== undefined && !/^[.[]/.test(rule.fieldPath)) {
      place.refuse(
        `must have validations with a 'fieldPath' that starts with a dot: current value is "${rule.fieldPath}"`,
      );
    }
  }
}

/** Inside a junctor: validations only, and only of what the structure outside names. */
function assertValidation(schema: JsonSchema, outside: JsonSchema | undefined, typed: boolean, place: Place): void {
  assertKeywords(schema, place);
  for (const keyword of Object.keys(schema)) {
    if (STRUCTURE.has(keyword) && !(typed && keyword === "type")) {
      place.refuse(`must not have '${keyword}': only validations of values may stand there`);
    }
  }
  const open = outside?.["x-kubernetes-preserve-unknown-fields"] === true;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const structure = outside?.properties?.[name];
    if (!structure && !open) place.refuse(`must not name the field ${JSON.stringify(name)} that has no schema outside`);
    assertValidation(property, structure, false, place.field(name));
  }
  if (schema.items) assertValidation(schema.items, outside?.items, false, place.inner("[]"));
  if (schema.additionalProperties !== undefined) place.refuse("must not have 'additionalProperties' there");
  for (const junctor of JUNCTORS) {
    for (const branch of schema[junctor] ?? []) assertValidation(branch, outside, typed, place.field(junctor));
  }
  if (schema.not) assertValidation(schema.not, outside, false, place.field("not"));
}
