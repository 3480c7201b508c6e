/**
 * Turns zod schemas into structural schemas, or refuses what these cannot say.
 *
 * ```ts
 * import { z } from "zod";
 * import { Place } from "./_structural.ts";
 * import { fromZod } from "./_zod.ts";
 *
 * const schema = fromZod(z.object({ size: z.int32().default(1) }), new Place('resource "Disk"', "spec"));
 * console.assert(schema.properties?.size?.default === 1 && schema.required === undefined);
 * ```
 *
 * @module
 */
import { type JsonSchema, type Place, VALIDATION } from "./_structural.ts";
import {
  lengthSchema,
  noChecks,
  numberSchema,
  patternOf,
  stringSchema,
  withoutRange,
  type ZodInternals,
} from "./_zod_scalar.ts";
import { enumSchema, freeNull, intersect, unite } from "./_zod_union.ts";
import { equal } from "./json.ts";

/** Any schema of zod, for the type checker: what it puts out. */
export interface ZodSchema<Output = unknown> {
  /** What zod keeps there. */
  readonly _zod: { readonly output: Output; readonly def: { readonly type: string } };
}

/** A schema of zod, as it is read here. */
interface Zod {
  readonly _zod: ZodInternals & {
    readonly optin?: string | undefined;
    readonly values?: ReadonlySet<unknown> | undefined;
    readonly pattern?: RegExp;
  };
  /** What `.meta()` and `.describe()` have said of it; schemas of `zod/mini` have no such method. */
  meta?(): Metadata | undefined;
}

type Metadata = Readonly<Record<string, unknown>>;

type Convert = (zod: Zod, place: Place, state: State) => JsonSchema;

interface State {
  /** The schemas that this one is in. */
  readonly around: readonly Zod[];
  /** True if rules of the user stand in for refinements. */
  readonly ruled: boolean;
}

/** Why there is no structural schema for a type, and what to write instead. */
const REFUSED: Readonly<Record<string, string>> = {
  bigint: "must not be a bigint, which JSON has none of: take z.int(), or a string",
  catch: "must not be a .catch(): the API server refuses what is invalid",
  custom: "must not be z.custom() or z.instanceof(), which the API server cannot run",
  date: "must not be a Date, which JSON has none of: take z.iso.datetime()",
  file: "must not be a File, which JSON has none of",
  function: "must not be a function, which JSON has none of",
  map: "must not be a Map, which JSON has none of: take z.record()",
  nan: "must not be NaN, which JSON has none of",
  never: "must not be z.never(): leave the field out",
  null: "must not be z.null() alone: take .nullable()",
  pipe: "must not be a transform, pipe, codec or preprocess: the object in the cluster is not transformed",
  promise: "must not be a Promise, which JSON has none of",
  set: "must not be a Set, which JSON has none of: take z.array() with .meta({ 'x-kubernetes-list-type': 'set' })",
  success: "must not be z.success(): the object in the cluster is not transformed",
  symbol: "must not be a symbol, which JSON has none of",
  transform: "must not be a transform: the object in the cluster is not transformed",
  undefined: "must not be z.undefined(): take .optional()",
  void: "must not be z.void(): leave the field out",
};

/** Words of JSON Schema that Kubernetes does not take; in .meta() they would be lost. */
const NO_KEYWORDS = new Set([
  "const",
  "contains",
  "if",
  "prefixItems",
  "propertyNames",
  "patternProperties",
  "uniqueItems",
]);
const ANNOTATIONS = new Set(["title", "description", "example"]);

/**
 * Turns a zod schema into a structural one that accepts the same JSON.
 *
 * @throws {TypeError} If there is none; the message names the path
 */
export function fromZod(schema: ZodSchema, place: Place): JsonSchema {
  return finish(convert(schema as unknown as Zod, place, []));
}

/**
 * What was said of a schema.
 *
 * zod itself is not imported: whoever has a schema has loaded it, and kinds that are made of none do without. All its copies
 * in a process share one registry, which is looked for where they do.
 */
function metaOf(zod: Zod): Metadata | undefined {
  if (zod.meta) return zod.meta();
  const shared = globalThis as { readonly __zod_globalRegistry?: { get(schema: Zod): Metadata | undefined } };
  return shared.__zod_globalRegistry?.get(zod);
}

/** Frees null from enums, and leaves bounds to the format that says them, all the way down. */
function finish(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties: values, items } = schema;
  const finished = withoutRange(freeNull(schema));
  if (properties) {
    finished.properties = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, finish(field)]));
  }
  if (typeof values === "object") finished.additionalProperties = finish(values);
  if (items) finished.items = finish(items);
  return finished;
}

function convert(zod: Zod, place: Place, around: readonly Zod[]): JsonSchema {
  if (around.includes(zod)) {
    place.refuse("must not contain itself: take z.unknown(), which keeps any value, from some depth on");
  }
  const { def } = zod._zod;
  const type = def.type!;
  const meta = metaOf(zod) ?? {};
  if (def.coerce) place.refuse("must not be coerced: the object in the cluster is not converted");
  const turn = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (!turn) {
    place.refuse(
      Object.hasOwn(REFUSED, type) ? REFUSED[type]! : `must not be of zod's type '${type}', which is not known`,
    );
  }
  const state = { around: [...around, zod], ruled: Array.isArray(meta["x-kubernetes-validations"]) };
  if (!CHECKED.has(type)) noChecks(zod._zod, place, state.ruled);
  return annotate(turn(zod, place, state), meta, place);
}

/** Adds what `.meta()` and `.describe()` say. */
function annotate(schema: JsonSchema, meta: Metadata, place: Place): JsonSchema {
  const added: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(meta)) {
    if (NO_KEYWORDS.has(keyword)) {
      place.refuse(`must not have '${keyword}' in its .meta(): Kubernetes does not take it`);
    }
    if (ANNOTATIONS.has(keyword) || VALIDATION.has(keyword) || keyword.startsWith("x-kubernetes-")) {
      added[keyword] = value;
    }
  }
  const { description, ...rest } = schema;
  const merged = { ...rest, ...added } as JsonSchema;
  if (merged["x-kubernetes-int-or-string"]) delete merged.type;
  return description !== undefined && merged.description === undefined ? { description, ...merged } : merged;
}

/** The types that read their checks themselves. */
const CHECKED: ReadonlySet<string> = new Set(["string", "number", "array"]);

const inner = (zod: Zod): Zod => zod._zod.def.innerType as Zod;
const within: Convert = (zod, place, { around }) => convert(inner(zod), place, around);

const TYPES: Readonly<Record<string, Convert>> = {
  string: (zod, place, { ruled }) => stringSchema(zod._zod, place, ruled),
  number: (zod, place, { ruled }) => numberSchema(zod._zod, place, ruled),
  boolean: () => ({ type: "boolean" }),
  any: () => ({ "x-kubernetes-preserve-unknown-fields": true, nullable: true }),
  unknown: () => ({ "x-kubernetes-preserve-unknown-fields": true, nullable: true }),
  literal: (zod, place) => enumSchema(zod._zod.def.values as unknown[], place),
  enum: (zod, place) => enumSchema([...zod._zod.values!], place),
  template_literal: (zod, place) => ({ type: "string", pattern: patternOf(zod._zod.pattern!, place) }),
  object: objectSchema,
  record: recordSchema,
  array: arraySchema,
  tuple: tupleSchema,
  union: unionSchema,
  intersection: (zod, place, { around }) => {
    const { left, right } = zod._zod.def as unknown as { left: Zod; right: Zod };
    return intersect(convert(left, place, around), convert(right, place, around), place);
  },
  optional: within,
  nonoptional: within,
  readonly: within,
  lazy: (zod, place, { around }) => convert((zod._zod.def.getter as () => Zod)(), place, around),
  nullable: (zod, place, { around }) => ({ ...convert(inner(zod), place, around), nullable: true }),
  default: (zod, place, state) => withDefault(zod, place, state, false),
  prefault: (zod, place, state) => withDefault(zod, place, state, true),
};

function withDefault(zod: Zod, place: Place, state: State, before: boolean): JsonSchema {
  const schema = within(zod, place, state);
  const { def } = zod._zod;
  const value = def.defaultValue;
  if (value === null) place.refuse("must not have null for a default, which the server takes for none");
  if (!equal(value, def.defaultValue)) place.refuse("must have a default that is always the same");
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(value));
  } catch {
    copy = undefined;
  }
  if (!equal(copy, value)) place.refuse(`must have a default that is JSON: current value is ${Deno.inspect(value)}`);
  const parsed = (inner(zod) as unknown as { safeParse?(value: unknown): { success: boolean; data?: unknown } })
    .safeParse?.(copy);
  if (parsed && (!parsed.success || (!before && !equal(parsed.data, copy)))) {
    place.refuse(`must have a default that it accepts as it is: current value is ${Deno.inspect(value)}`);
  }
  return { ...schema, default: copy };
}

function objectSchema(zod: Zod, place: Place, { around }: State): JsonSchema {
  const { shape, catchall } = zod._zod.def as unknown as { shape: Record<string, Zod>; catchall?: Zod };
  if (Object.getOwnPropertySymbols(shape).length > 0) place.refuse("must not have symbols for fields");
  const names = Object.keys(shape);
  const rest = catchall?._zod.def.type;
  const schema: JsonSchema = { type: "object" };
  if (rest === "unknown" || rest === "any") schema["x-kubernetes-preserve-unknown-fields"] = true;
  else if (catchall && rest !== "never") {
    if (names.length > 0) {
      place.refuse("must not have a .catchall() beside its fields: a schema has fields or a map's values");
    }
    return { ...schema, additionalProperties: convert(catchall, place.inner("{}"), around) };
  }
  const properties = names.map((name) => [name, convert(shape[name]!, place.field(name), around)] as const);
  const required = names.filter((name) => shape[name]!._zod.optin === undefined);
  if (names.length > 0) schema.properties = Object.fromEntries(properties);
  if (required.length > 0) schema.required = required;
  return schema;
}

function recordSchema(zod: Zod, place: Place, { around }: State): JsonSchema {
  const def = zod._zod.def as unknown as { keyType: Zod; valueType: Zod; mode?: string; partial?: boolean };
  const value = convert(def.valueType, place.inner("{}"), around);
  const keys = def.keyType._zod.values;
  if (keys) {
    if (def.mode === "loose") place.refuse("must not be a loose record of named fields: take z.looseObject()");
    const names = [...keys].map(String);
    const schema: JsonSchema = { type: "object", properties: Object.fromEntries(names.map((name) => [name, value])) };
    return def.partial || def.valueType._zod.optin !== undefined ? schema : { ...schema, required: names };
  }
  const key = convert(def.keyType, place.inner("{}"), around);
  if (!equal(key, { type: "string" })) {
    place.refuse("must have keys of z.string() or z.enum(): a schema cannot check other keys");
  }
  return { type: "object", additionalProperties: value };
}

function arraySchema(zod: Zod, place: Place, { around, ruled }: State): JsonSchema {
  const element = zod._zod.def.element as Zod;
  if (element._zod.optin !== undefined) place.inner("[]").refuse("must not be optional or have a default, as an item");
  return {
    type: "array",
    items: convert(element, place.inner("[]"), around),
    ...lengthSchema(zod._zod, place, ruled),
  };
}

function tupleSchema(zod: Zod, place: Place, { around }: State): JsonSchema {
  const { items, rest } = zod._zod.def as unknown as { items: Zod[]; rest: Zod | null };
  const all = [...items, ...(rest ? [rest] : [])];
  const schemas = all.map((item, index) => convert(item, place.inner(`|${index}`), around));
  const [first] = schemas;
  if (!first || schemas.some((schema) => !equal(schema, first)) || all.some((item) => item._zod.optin !== undefined)) {
    place.refuse("must not be a tuple of different items: all items of a list share one schema");
  }
  return { type: "array", items: first, minItems: items.length, ...(rest ? {} : { maxItems: items.length }) };
}

function unionSchema(zod: Zod, place: Place, { around }: State): JsonSchema {
  const { inclusive, discriminator } = zod._zod.def;
  const junctor = inclusive === false && discriminator === undefined ? "oneOf" : "anyOf";
  const options = junctor === "anyOf" ? alternatives(zod) : zod._zod.def.options as Zod[];
  const real = options.filter((option) => option._zod.def.type !== "null");
  const schemas = real.map((option, index) => convert(option, place.inner(`|${index}`), around));
  const united = unite(schemas, junctor, place, real.map(isStrict));
  return options.some((option) => option._zod.def.type === "null") ? { ...united, nullable: true } : united;
}

/** The alternatives of a union, and of the unions among them. */
function alternatives(zod: Zod): Zod[] {
  return (zod._zod.def.options as Zod[]).flatMap((option) => {
    const { type, inclusive, discriminator } = option._zod.def;
    const nested = type === "union" && (inclusive !== false || discriminator !== undefined);
    return nested && metaOf(option) === undefined ? alternatives(option) : [option];
  });
}

/** True for an object that refuses fields it does not name. */
function isStrict(zod: Zod): boolean {
  const { innerType, catchall } = zod._zod.def as { innerType?: Zod; catchall?: Zod };
  return innerType ? isStrict(innerType) : catchall?._zod.def.type === "never";
}

/** True if a value of the schema may be absent. */
export function isOptional(schema: object): boolean {
  return (schema as Partial<Zod>)._zod?.optin !== undefined;
}
