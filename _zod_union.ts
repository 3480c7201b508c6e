/**
 * Joins schemas: what the values are goes outside, as structural schemas ask, and what tells the alternatives apart
 * goes into `anyOf` or `oneOf`.
 *
 * ```ts
 * import { Place } from "./_structural.ts";
 * import { unite } from "./_zod_union.ts";
 *
 * const text = { type: "string" };
 * const place = new Place('resource "Site"', "spec.port");
 * console.assert(unite([{ type: "integer" }, text], "anyOf", place)["x-kubernetes-int-or-string"] === true);
 * ```
 *
 * @module
 */
import { type JsonSchema, type Place, STRUCTURE, VALIDATION } from "./_structural.ts";
import { equal } from "./json.ts";

const TEXTS: ReadonlySet<string> = new Set(["title", "description", "example"]);

function typeOf(value: unknown): string | undefined {
  if (typeof value === "number") {
    return Number.isInteger(value) ? "integer" : Number.isFinite(value) ? "number" : undefined;
  }
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

/** Answers with the schema of a choice of values. */
export function enumSchema(all: readonly unknown[], place: Place): JsonSchema {
  const values = all.filter((value) => value !== null);
  const more = values.length < all.length ? { nullable: true } : {};
  const base = { enum: values, ...more };
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (types.size === 1 && type !== undefined) return { type, ...base };
  if (types.size === 2 && types.has("integer")) {
    if (types.has("number")) return { type: "number", ...base };
    if (types.has("string")) return { "x-kubernetes-int-or-string": true, ...base };
  }
  place.refuse(
    `must be one of some strings, numbers or booleans, all of one type: current value is ${Deno.inspect(all)}`,
  );
}

/**
 * Answers with a schema for values that match one of the given.
 *
 * @param strict Which of them refuse the fields of the others; pruning does not remove these

 * @throws {TypeError} If a structural schema cannot say that
 */
export function unite(
  options: readonly JsonSchema[],
  junctor: "anyOf" | "oneOf",
  place: Place,
  strict: readonly boolean[] = [],
): JsonSchema {
  const [first, ...others] = options;
  if (!first) place.refuse("must have an alternative that is a value");
  if (others.length === 0) return first;
  if (others.every((other) => equal(other, first))) {
    if (junctor === "oneOf") {
      place.refuse("must have alternatives that differ: a value can never be exactly one of them");
    }
    return first;
  }
  const nullables = options.filter((option) => option.nullable).length;
  if (nullables > 0) {
    const united = unite(options.map(notNull), junctor, place, strict);
    return junctor === "oneOf" && nullables > 1 ? united : { ...united, nullable: true };
  }
  if (options.every(isEnum)) return uniteEnums(options, junctor, place);
  const integers = options.filter((option) => option.type === "integer");
  const strings = options.filter((option) => option.type === "string");
  if (integers.length > 0 && strings.length > 0 && integers.length + strings.length === options.length) {
    return intOrString(unite(integers, junctor, place), unite(strings, junctor, place), place);
  }
  const outside = structure(options, place);
  const branches = options.map((option, index) => {
    const branch = validation(option, outside);
    return strict[index] ? close(branch, option, outside) : branch;
  });
  if (junctor === "anyOf" && branches.some((branch) => Object.keys(branch).length === 0)) return outside;
  return { ...outside, [junctor]: branches };
}

/** Refuses the fields that only other alternatives have. */
function close(branch: JsonSchema, option: JsonSchema, outside: JsonSchema): JsonSchema {
  const others = Object.keys(outside.properties ?? {}).filter((name) => !Object.hasOwn(option.properties ?? {}, name));
  const [first, ...more] = others.map((name): JsonSchema => ({ required: [name] }));
  return first ? { ...branch, not: more.length > 0 ? { anyOf: [first, ...more] } : first } : branch;
}

function notNull(schema: JsonSchema): JsonSchema {
  const { nullable: _, ...rest } = schema;
  return rest;
}

/** Moves the enum of what may be null into `allOf`: beside `nullable`, the server would hold null against it. */
export function freeNull(schema: JsonSchema): JsonSchema {
  if (!schema.nullable || !schema.enum) return schema;
  const { enum: values, allOf = [], ...rest } = schema;
  return { ...rest, allOf: [...allOf, { enum: values }] };
}

/** True if the enum says all. */
function isEnum(schema: JsonSchema): boolean {
  return schema.enum !== undefined &&
    Object.keys(schema).every((key) =>
      ["type", "enum", "nullable", "x-kubernetes-int-or-string"].includes(key) || TEXTS.has(key)
    );
}

function uniteEnums(options: readonly JsonSchema[], junctor: "anyOf" | "oneOf", place: Place): JsonSchema {
  const values = options.flatMap((option) => option.enum!);
  const once = (value: unknown): boolean => values.indexOf(value) === values.lastIndexOf(value);
  return enumSchema(junctor === "oneOf" ? values.filter(once) : [...new Set(values)], place);
}

/** Numbers' validations do not touch strings, nor the other way round; an enum would, so it becomes a pattern. */
function intOrString(integer: JsonSchema, string: JsonSchema, place: Place): JsonSchema {
  const { type: _, format: _format, ...numbers } = integer;
  const { type: _string, enum: texts, ...rest } = string;
  const schema: JsonSchema = { "x-kubernetes-int-or-string": true };
  for (const part of [numbers, rest]) {
    for (const [key, value] of Object.entries(part)) {
      if (TEXTS.has(key)) continue;
      if (key === "format" || key === "enum" || !(VALIDATION.has(key) || key === "nullable")) {
        place.refuse(`must not have '${key}' in an alternative of an integer or string`);
      }
      Object.assign(schema, { [key]: value });
    }
  }
  if (texts) {
    const words = texts.map((text) => String(text).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    const pattern = `^(?:${words.join("|")})$`;
    if (schema.pattern === undefined) schema.pattern = pattern;
    else schema.allOf = [{ pattern }];
  }
  return schema;
}

/** What the alternatives have in common, down to the fields of each. */
function structure(options: readonly JsonSchema[], place: Place): JsonSchema {
  const [first] = options as [JsonSchema, ...JsonSchema[]];
  const outside: Record<string, unknown> = {};
  for (const keyword of STRUCTURE) {
    const key = keyword as keyof JsonSchema;
    const values = options.map((option) => option[key]);
    if (values.every((value) => equal(value, values[0]))) {
      if (values[0] !== undefined) outside[key] = values[0];
    } else if (!TEXTS.has(keyword)) {
      if (new Set(options.map(typeName)).size > 1) refuseTypes(options, place);
      place.refuse(`must have the same '${keyword}' in all alternatives: it cannot depend on which one a value is`);
    }
  }
  if (options.some((option) => option.properties)) outside.properties = fields(options, place);
  const values = options.map((option) => option.additionalProperties);
  if (values.some((value) => value !== undefined)) {
    if (outside.properties) place.refuse("must not be a map in one alternative and have named fields in another");
    if (values.some((value) => !equal(value, values[0]))) {
      place.refuse("must not be maps of different values: alternatives may not differ in that");
    }
    outside.additionalProperties = values[0];
  }
  if (first.items) outside.items = join(options.map((option) => option.items!), place.inner("[]"));
  return outside as JsonSchema;
}

/** What is common to the same field of several alternatives, each of which goes on to check its own. */
function join(schemas: readonly JsonSchema[], place: Place): JsonSchema {
  if (schemas.every((schema) => equal(schema, schemas[0]))) return schemas[0]!;
  if (new Set(schemas.map(typeName)).size > 1) refuseTypes(schemas, place);
  if (schemas.some((schema) => schema.nullable !== schemas[0]!.nullable)) {
    place.refuse("must be nullable in all alternatives or in none: it cannot depend on which one a value is");
  }
  return unite(schemas, "anyOf", place);
}

function refuseTypes(schemas: readonly JsonSchema[], place: Place): never {
  place.refuse(
    `must not be of several types (${
      schemas.map(typeName).join(" | ")
    }): only a union of z.int() and z.string() may be`,
  );
}

/** The fields of all alternatives; one in several of them has what is common to these. */
function fields(options: readonly JsonSchema[], place: Place): Record<string, JsonSchema> {
  const names = new Set(options.flatMap((option) => Object.keys(option.properties ?? {})));
  return Object.fromEntries([...names].map((name) => {
    const here = options.flatMap((option) =>
      Object.hasOwn(option.properties ?? {}, name) ? [option.properties![name]!] : []
    );
    const field = join(here, place.field(name));
    if (here.length < options.length) refuseDefaults(field, place.field(name));
    return [name, field];
  }));
}

/** A default would be filled in for the alternatives that have no such field, too. */
function refuseDefaults(schema: JsonSchema, place: Place): void {
  if (schema.default !== undefined) {
    place.refuse("must not have a default in one alternative alone: the server would set it in the others too");
  }
}

function typeName(schema: JsonSchema): string {
  return schema.type ?? (schema["x-kubernetes-int-or-string"] ? "integer or string" : "any");
}

/** What is left of a schema to be checked inside of a junctor, when the structure stands outside. */
function validation(schema: JsonSchema, outside: JsonSchema): JsonSchema {
  const inside: JsonSchema = {};
  for (const [key, value] of Object.entries(freeNull(schema))) {
    const keyword = key as keyof JsonSchema;
    if (VALIDATION.has(key)) Object.assign(inside, { [key]: value });
    else if (keyword === "allOf" || keyword === "anyOf" || keyword === "oneOf") {
      inside[keyword] = (value as JsonSchema[]).map((branch) => validation(branch, outside));
    } else if (keyword === "not") inside.not = schema.not!;
  }
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const structure = outside.properties![name]!;
    const left = equal(field, structure) ? {} : validation(field, structure);
    return Object.keys(left).length > 0 ? [[name, left] as const] : [];
  });
  if (properties.length > 0) inside.properties = Object.fromEntries(properties);
  if (schema.items && !equal(schema.items, outside.items)) inside.items = validation(schema.items, outside.items!);
  return inside;
}

/**
 * Answers with a schema for objects that match both.
 *
 * @throws {TypeError} If they are not objects, or differ in a field that both have
 */
export function intersect(left: JsonSchema, right: JsonSchema, place: Place): JsonSchema {
  const { properties: a = {}, required: one = [], ...restA } = left;
  const { properties: b = {}, required: two = [], ...restB } = right;
  const plain = (rest: JsonSchema): boolean =>
    rest.type === "object" && Object.keys(rest).every((key) => key === "type" || TEXTS.has(key));
  if (!plain(restA) || !plain(restB)) place.refuse("must be an intersection of plain objects: take .extend()");
  for (const [name, field] of Object.entries(b)) {
    if (Object.hasOwn(a, name) && !equal(a[name], field)) {
      place.field(name).refuse("must not differ between the two sides of an intersection: take .extend()");
    }
  }
  const required = [...new Set([...one, ...two])];
  return { ...restA, ...restB, properties: { ...a, ...b }, ...(required.length > 0 ? { required } : {}) };
}
