/**
 * Turns the checks of zod's strings, numbers and arrays into what OpenAPI has for them.
 *
 * ```ts
 * import { z } from "zod";
 * import { Place } from "./_structural.ts";
 * import { numberSchema, type ZodInternals } from "./_zod_scalar.ts";
 *
 * const internals = z.int32().min(1).max(65535)._zod as unknown as ZodInternals;
 * const port = numberSchema(internals, new Place('resource "Site"', "spec.port"));
 * console.assert(port.type === "integer" && port.maximum === 65535);
 * ```
 *
 * @module
 */
import type { JsonSchema, Place } from "./_structural.ts";
import { toRe2 } from "./_zod_pattern.ts";

/** What zod says of a schema or a check; the part that is read here. */
export interface ZodInternals {
  /** What it is. */
  readonly def: ZodDef;
  /** What classes it has. */
  readonly traits?: ReadonlySet<string>;
}

/** The definition of a schema or a check. */
export interface ZodDef {
  /** What kind of schema. */
  readonly type?: string;
  /** What kind of check. */
  readonly check?: string;
  /** What further kind of it. */
  readonly format?: string;
  /** True if the input is converted first. */
  readonly coerce?: boolean;
  /** The checks beside. */
  readonly checks?: readonly { readonly _zod: ZodInternals }[];
  /** Anything else. */
  readonly [key: string]: unknown;
}

/** String formats that their pattern says all of. */
const BY_PATTERN: ReadonlySet<string> = new Set([
  ...["regex", "lowercase", "uppercase", "includes", "starts_with", "ends_with"],
  ...["email", "guid", "uuid", "nanoid", "cuid", "cuid2", "ulid", "xid", "ksuid", "e164"],
  ...["ipv4", "cidrv4", "ipv6", "cidrv6", "mac", "date", "datetime", "time"],
]);

/** Formats that Kubernetes validates; each accepts all that the pattern beside it accepts. */
const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  guid: "uuid",
  uuid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  cidrv4: "cidr",
  cidrv6: "cidr",
  date: "date",
  datetime: "date-time",
};

const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DOMAIN = `(?:${LABEL}\\.)+[a-zA-Z]{2,63}`;

/** Formats that need more than zod's own pattern, or whose pattern RE2 cannot run. */
const SPECIAL: Readonly<Record<string, JsonSchema>> = {
  base64: { pattern: "^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$" },
  base64url: { pattern: "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$" },
  hostname: { pattern: `^${LABEL}(?:\\.${LABEL})*\\.?$`, maxLength: 253 },
  duration: {
    pattern: "^P(?:\\d+W|(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)(?:T(?:TIME))?|T(?:TIME))$".replaceAll(
      "TIME",
      "\\d+H(?:\\d+M)?(?:\\d+(?:[.,]\\d+)?S)?|\\d+M(?:\\d+(?:[.,]\\d+)?S)?|\\d+(?:[.,]\\d+)?S",
    ),
  },
};

/** The checks of a schema, itself first if it is one. */
function checksOf({ def, traits }: ZodInternals): ZodDef[] {
  const checks = (def.checks ?? []).map((check) => check._zod.def);
  return traits?.has("$ZodCheck") ? [def, ...checks] : checks;
}

/** Refuses a check that OpenAPI has nothing for. */
function refuseCheck(def: ZodDef, place: Place): never {
  if (def.check === "custom") {
    place.refuse(
      "must not have a refinement, which the API server cannot run: say it as a rule in " +
        ".meta({ 'x-kubernetes-validations': [{ rule }] }) on the same schema",
    );
  }
  if (def.check === "overwrite") {
    place.refuse("must not change its value (trim, toLowerCase, normalize, ...): nothing would");
  }
  place.refuse(`must not have the check '${def.check}', which OpenAPI has nothing for`);
}

/** The bounds of a length or a size in a check. */
function bounds(def: ZodDef): [min: number | undefined, max: number | undefined] | undefined {
  if (def.check === "min_length") return [def.minimum as number, undefined];
  if (def.check === "max_length") return [undefined, def.maximum as number];
  if (def.check === "length_equals") return [def.length as number, def.length as number];
  return undefined;
}

const larger = (a: number | undefined, b: number): number => a === undefined ? b : Math.max(a, b);
const smaller = (a: number | undefined, b: number): number => a === undefined ? b : Math.min(a, b);

/** Answers with the schema of a string. `ruled`: rules of the user stand in for refinements. */
export function stringSchema(zod: ZodInternals, place: Place, ruled = false): JsonSchema {
  const schema: JsonSchema = { type: "string" };
  const patterns: string[] = [];
  for (const def of checksOf(zod)) {
    const [min, max] = bounds(def) ?? [];
    if (min !== undefined) schema.minLength = larger(schema.minLength, min);
    if (max !== undefined) schema.maxLength = smaller(schema.maxLength, max);
    if (min !== undefined || max !== undefined) continue;
    if (def.check === "custom" && ruled) continue;
    if (def.check !== "string_format") refuseCheck(def, place);
    const { format, pattern, maxLength } = stringFormat(def, zod, place);
    if (format !== undefined) schema.format = format;
    if (maxLength !== undefined) schema.maxLength = smaller(schema.maxLength, maxLength);
    if (pattern !== undefined && !patterns.includes(pattern)) patterns.push(pattern);
  }
  const [first, ...others] = patterns;
  if (first !== undefined) schema.pattern = first;
  if (others.length > 0) schema.allOf = others.map((pattern) => ({ pattern }));
  return schema;
}

function stringFormat(def: ZodDef, zod: ZodInternals, place: Place): JsonSchema {
  const format = def.format!;
  if (format === "url") return urlFormat(def, place);
  if (Object.hasOwn(SPECIAL, format) && !(format === "hostname" && !(def.pattern as RegExp)?.source.includes("253"))) {
    return SPECIAL[format]!;
  }
  const custom = def === zod.def && zod.traits?.has("$ZodCustomStringFormat") === true;
  if (!(def.pattern instanceof RegExp) || !(custom || BY_PATTERN.has(format))) {
    place.refuse(`must not have the format '${format}', which no pattern says all of`);
  }
  // A time without zone or seconds is none to Kubernetes.
  const known = Object.hasOwn(FORMATS, format) && !def.local && def.precision !== -1 && !custom;
  const pattern = patternOf(def.pattern, place);
  return known ? { format: FORMATS[format]!, pattern } : { pattern };
}

/** Answers with the RE2 pattern of a regular expression. */
export function patternOf(regex: RegExp, place: Place): string {
  try {
    return toRe2(regex);
  } catch (error) {
    place.refuse(
      `must have a pattern that the API server can run: ${(error as Error).message}: current value is ${regex}`,
    );
  }
}

function urlFormat(def: ZodDef, place: Place): JsonSchema {
  if (def.normalize) place.refuse("must not normalize its URL: nothing would");
  const { protocol, hostname } = def as { protocol?: RegExp; hostname?: RegExp };
  if (!protocol && !hostname) return { format: "uri", pattern: "^[a-zA-Z][a-zA-Z0-9+.-]*:/*[^/]" };
  if (protocol?.source === "^https?$" && hostname?.source.endsWith("\\.)+[a-zA-Z]{2,63}$")) {
    return { format: "uri", pattern: `^https?://(?:[^/?#@]*@)?${DOMAIN}(?::[0-9]+)?(?:[/?#].*)?$` };
  }
  place.refuse("must not check the protocol or hostname of its URL but by z.httpUrl() or a .regex()");
}

const RANGES: Readonly<Record<string, { format?: string; min?: number; max?: number }>> = {
  safeint: { format: "int64", min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  int32: { format: "int32", min: -(2 ** 31), max: 2 ** 31 - 1 },
  uint32: { min: 0, max: 2 ** 32 - 1 },
  float32: { format: "float", min: -3.4028234663852886e38, max: 3.4028234663852886e38 },
  float64: { format: "double" },
};

/** Answers with the schema of a number. `ruled`: rules of the user stand in for refinements. */
export function numberSchema(zod: ZodInternals, place: Place, ruled = false): JsonSchema {
  const schema: JsonSchema = { type: "number" };
  const factors: number[] = [];
  for (const def of checksOf(zod)) {
    const value = def.value as number;
    const range = def.check === "number_format" ? RANGES[def.format!] : undefined;
    if (range) {
      if (def.format!.includes("int")) schema.type = "integer";
      if (range.format) schema.format = range.format;
      if (range.min !== undefined) atLeast(schema, range.min, false);
      if (range.max !== undefined) atMost(schema, range.max, false);
    } else if (def.check === "greater_than") atLeast(schema, value, !def.inclusive);
    else if (def.check === "less_than") atMost(schema, value, !def.inclusive);
    else if (def.check === "multiple_of") factors.push(factor(value, place));
    else if (def.check !== "custom" || !ruled) refuseCheck(def, place);
  }
  const [first, ...others] = factors;
  if (first !== undefined) schema.multipleOf = first;
  if (others.length > 0) schema.allOf = others.map((multipleOf) => ({ multipleOf }));
  return schema;
}

/** Answers with a copy without the bounds that its format says already: the server checks `int32` and `float`. */
export function withoutRange(schema: JsonSchema): JsonSchema {
  const copy = { ...schema };
  const range = Object.values(RANGES).find(({ format }) => format !== undefined && format === schema.format);
  if (range && schema.format !== "int64") {
    if (schema.minimum === range.min) delete copy.minimum;
    if (schema.maximum === range.max) delete copy.maximum;
  }
  return copy;
}

/** The server cuts off the fraction of a factor before it divides a whole number by it. */
function factor(value: number, place: Place): number {
  if (!Number.isInteger(value) || value === 0) {
    place.refuse(`must be a multiple of a whole number, if of any: current value is ${value}`);
  }
  return Math.abs(value);
}

function atLeast(schema: JsonSchema, value: number, exclusive: boolean): void {
  const { minimum = -Infinity, exclusiveMinimum = false } = schema;
  if (value < minimum || value === -Infinity || (value === minimum && (exclusiveMinimum || !exclusive))) return;
  schema.minimum = value;
  delete schema.exclusiveMinimum;
  if (exclusive) schema.exclusiveMinimum = true;
}

function atMost(schema: JsonSchema, value: number, exclusive: boolean): void {
  const { maximum = Infinity, exclusiveMaximum = false } = schema;
  if (value > maximum || value === Infinity || (value === maximum && (exclusiveMaximum || !exclusive))) return;
  schema.maximum = value;
  delete schema.exclusiveMaximum;
  if (exclusive) schema.exclusiveMaximum = true;
}

/** Answers with the bounds of an array's length. `ruled`: rules of the user stand in for refinements. */
export function lengthSchema(zod: ZodInternals, place: Place, ruled = false): JsonSchema {
  const schema: JsonSchema = {};
  for (const def of checksOf(zod)) {
    const [min, max] = bounds(def) ?? [];
    if (min !== undefined) schema.minItems = larger(schema.minItems, min);
    if (max !== undefined) schema.maxItems = smaller(schema.maxItems, max);
    if (min === undefined && max === undefined && !(def.check === "custom" && ruled)) refuseCheck(def, place);
  }
  return schema;
}

/** Refuses the checks of a schema that has none in OpenAPI. `ruled`: rules of the user stand in for refinements. */
export function noChecks(zod: ZodInternals, place: Place, ruled = false): void {
  for (const def of checksOf(zod)) if (def.check !== "custom" || !ruled) refuseCheck(def, place);
}
