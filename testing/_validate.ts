/**
 * Validates custom resources against their schema, in the words of a Kubernetes API server.
 *
 * ```ts
 * import { validate } from "./_validate.ts";
 *
 * validate({ spec: "x" }, { type: "object", properties: { spec: { type: "object" } } });
 * // [{ field: "spec", reason: "FieldValueTypeInvalid", message: 'Invalid value: "string": spec in body must be of type object: "string"' }]
 * ```
 *
 * @module
 */
import { fitsFormat } from "./_formats.ts";
import { goPattern } from "./_go_pattern.ts";
import { equalJson, isObject, type JsonObject } from "./_json.ts";
import { checkLists } from "./_list_types.ts";
import { fieldSchema, type Schema } from "./_schema.ts";
import { checkEmbedded } from "./_embedded.ts";
import { duplicateOf, type FieldError, invalid, noField, shown } from "./_field_error.ts";
import { checkRange, goFormat, isInteger, isMultiple } from "./_validate_numbers.ts";

/** What {@linkcode validate} is told. */
export interface ValidateOptions {
  /**
   * The object as it was: what did not change is not looked at again.
   *
   * @default undefined
   */
  previous?: unknown;
  /**
   * The field that the value is, for error messages: `status` for the status alone, whose messages name fields below it.
   *
   * @default ""
   */
  field?: string | undefined;
}

/** Returns what is wrong with a value; nothing if it is valid. Does not run rules in CEL. */
export function validate(value: unknown, schema: Schema, options: ValidateOptions = {}): FieldError[] {
  const { previous, field = "" } = options;
  const result: Result = { field, errors: [], passed: 0 };
  visit(value, schema, "", previous, result);
  const embedded = field === "" ? checkEmbedded(value, schema, "") : [];
  const lists = checkLists(value, schema, field);
  const known = previous === undefined || lists.length === 0 ? [] : checkLists(previous, schema, field);
  return [...result.errors, ...embedded, ...(known.length > 0 ? [] : lists)];
}

/** The field that messages name. */
interface Context {
  readonly field: string;
}

/** Errors, and how many checks were passed on the way to them. */
interface Result extends Context {
  readonly errors: FieldError[];
  passed: number;
}

function fieldOf(path: string, { field }: Context): string {
  const below = path.replace(/^\./, "");
  if (below === "") return field === "" ? noField : field;
  return field === "" ? below : `${field}.${below}`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return isInteger(value) ? "integer" : "number";
  return typeof value === "object" ? "object" : typeof value;
}

function typeError(path: string, wanted: string, got: string, context: Context): FieldError {
  const message = `Invalid value: ${JSON.stringify(got)}: ${bodyText(path)} must be of type ${wanted}: ${
    JSON.stringify(got)
  }`;
  return { field: fieldOf(path, context), reason: "FieldValueTypeInvalid", message };
}

function bodyText(path: string): string {
  return `${path === "" ? "" : path} in body`;
}

/** True for a value that is what the schema's type says, where it says nothing else; most are. */
function isPlainly(value: unknown, schema: Schema): boolean {
  if (value === null || schema.format || schema["x-kubernetes-int-or-string"]) return false;
  switch (schema.type) {
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return typeof value === "number" && isInteger(value);
    default:
      return false;
  }
}

function checkType(value: unknown, schema: Schema, path: string, context: Context): FieldError | undefined {
  if (isPlainly(value, schema)) return undefined;
  const types = schema["x-kubernetes-int-or-string"] ? ["integer", "string"] : schema.type ? [schema.type] : [];
  const { format = "" } = schema;
  if (types.length === 0 && format === "") return undefined;
  const got = typeName(value);
  if (value === null) {
    if (types.length > 0 && schema.nullable !== true) return typeError(path, types.join(","), "null", context);
    return undefined;
  }
  const numeric = types.includes("integer") || types.includes("number");
  const fits = types.includes(got) || got === "integer" && types.includes("number");
  if (format !== "") {
    const textual = typeof value === "string" || Array.isArray(value);
    if (textual && !numeric) return undefined;
    if (!textual && !fits) return typeError(path, format, typeof value === "number" ? goFormat(value) : "", context);
  }
  return fits ? undefined : typeError(path, types.join(","), got, context);
}

function checkNumber(value: number, schema: Schema, path: string, result: Result): void {
  const range = checkRange(value, schema, path);
  if (range !== undefined) result.errors.push(composite(range, result));
  const { multipleOf, maximum, minimum } = schema;
  if (multipleOf === undefined && maximum === undefined && minimum === undefined) return;
  const add = (text: string) =>
    result.errors.push(invalid(fieldOf(path, result), value, `${bodyText(path)} should be ${text}`));
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) add(`a multiple of ${multipleOf}`);
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum ? value >= maximum : value > maximum) {
      add(`less than ${schema.exclusiveMaximum ? "" : "or equal to "}${maximum}`);
    }
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum ? value <= minimum : value < minimum) {
      add(`greater than ${schema.exclusiveMinimum ? "" : "or equal to "}${minimum}`);
    }
  }
}

/** Only the first of these is reported. */
function checkText(value: string, schema: Schema, path: string, context: Context): FieldError | undefined {
  const { maxLength, minLength, pattern } = schema;
  // A character takes one or two units of a text.
  if (maxLength !== undefined && value.length > maxLength && [...value].length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    return { field: fieldOf(path, context), reason: "FieldValueTooLong", message };
  }
  if (minLength !== undefined && value.length < 2 * minLength && [...value].length < minLength) {
    return invalid(fieldOf(path, context), value, `${bodyText(path)} should be at least ${minLength} chars long`);
  }
  if (pattern !== undefined && goPattern(pattern)?.test(value) === false) {
    return invalid(fieldOf(path, context), value, `${bodyText(path)} should match '${pattern}'`);
  }
  return undefined;
}

function checkFormat(value: string, { format }: Schema, path: string, context: Context): FieldError | undefined {
  if (format === undefined || fitsFormat(format, value)) return undefined;
  return typeError(path, format, value, context);
}

function composite(message: string, { field }: Context): FieldError {
  return {
    field: field === "" ? noField : field,
    reason: "FieldValueInvalid",
    message: `Invalid value: "": ${message}`,
  };
}

/** Numbers are cut to integers before they are held against one. */
function isAllowed(allowed: unknown, value: unknown): boolean {
  if (typeof allowed === "number" && typeof value === "number" && Number.isInteger(allowed)) {
    return Math.trunc(value) === allowed;
  }
  return equalJson(allowed, value);
}

function checkEnum(value: unknown, schema: Schema, path: string, context: Context): FieldError | undefined {
  if (schema.enum === undefined || schema.enum.some((allowed) => isAllowed(allowed, value))) return undefined;
  const values = schema.enum.map((allowed) => typeof allowed === "string" ? allowed : JSON.stringify(allowed));
  const message = `Unsupported value: ${shown(value)}: supported values: ${
    values.map((v) => JSON.stringify(v)).join(", ")
  }`;
  return { field: fieldOf(path, context), reason: "FieldValueNotSupported", message };
}

const NONE: readonly string[] = [];

function tooMany(path: string, size: number, most: number, context: Context): FieldError {
  const message = `Too many: ${size}: must have at most ${most} item${most === 1 ? "" : "s"}`;
  return { field: fieldOf(path, context), reason: "FieldValueTooMany", message };
}

function checkItems(value: unknown[], schema: Schema, path: string, previous: unknown, result: Result): void {
  const { items, minItems, maxItems, uniqueItems } = schema;
  const before = Array.isArray(previous) ? correlated(previous, schema) : undefined;
  if (items !== undefined) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index];
      visit(item, items, `${path}[${index}]`, before?.(item), result);
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    const text = `${bodyText(path)} should have at least ${minItems} items`;
    result.errors.push(invalid(fieldOf(path, result), value.length, text));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    result.errors.push(tooMany(path, value.length, maxItems, result));
  }
  if (uniqueItems === true && duplicateOf(value) !== undefined) {
    result.errors.push(invalid(fieldOf(path, result), "", `${bodyText(path)} shouldn't contain duplicates`));
  }
}

/** Returns how to find the item that an item of a list map was before. */
function correlated(previous: unknown[], schema: Schema): ((item: unknown) => unknown) | undefined {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] !== "map" || keys === undefined) return undefined;
  const keyOf = (item: unknown) => isObject(item) ? JSON.stringify(keys.map((key) => item[key])) : undefined;
  const byKey = new Map(previous.map((item) => [keyOf(item), item]));
  return (item) => byKey.get(keyOf(item));
}

function checkMembers(value: JsonObject, schema: Schema, path: string, previous: unknown, result: Result): void {
  const { minProperties, maxProperties, required = NONE, additionalProperties, properties } = schema;
  const size = minProperties === undefined && maxProperties === undefined ? 0 : Object.keys(value).length;
  if (minProperties !== undefined && size < minProperties) {
    const text = `${bodyText(path)} should have at least ${minProperties} properties`;
    result.errors.push(invalid(fieldOf(path, result), size, text));
  }
  if (maxProperties !== undefined && size > maxProperties) {
    result.errors.push(tooMany(path, size, maxProperties, result));
  }
  const before = isObject(previous) ? previous : undefined;
  for (const key in value) {
    const child = fieldSchema(schema, key);
    if (child === undefined) {
      if (additionalProperties === false) {
        const text = `${path}.${key} in body is a forbidden property`;
        result.errors.push(invalid(fieldOf(path, result), "", text));
      }
      continue;
    }
    const named = path === "" && properties !== undefined && Object.hasOwn(properties, key) ? key : `${path}.${key}`;
    visit(value[key], child, named, before?.[key], result);
  }
  for (const key of required) {
    if (Object.hasOwn(value, key)) continue;
    const message = "Required value";
    result.errors.push({ field: fieldOf(`${path}.${key}`, result), reason: "FieldValueRequired", message });
  }
}

function add(into: Result, { errors, passed }: Result): void {
  if (errors.length > 0) into.errors.push(...errors);
  into.passed += passed;
}

function checkLogic(value: unknown, schema: Schema, path: string, previous: unknown, result: Result): void {
  const quoted = JSON.stringify(path);
  const check = (part: Schema): Result => {
    const own: Result = { field: result.field, errors: [], passed: 0 };
    visit(value, part, path, previous, own);
    return own;
  };
  const run = (schemas: Schema[]) => schemas.map(check);
  const best = (results: Result[]) => results.reduce((a, b) => b.passed > a.passed ? b : a);
  if (schema.anyOf?.length) {
    const results = run(schema.anyOf);
    if (results.every(({ errors }) => errors.length > 0)) {
      result.errors.push(composite(`${quoted} must validate at least one schema (anyOf)`, result));
      add(result, best(results));
    }
  }
  if (schema.oneOf?.length) {
    const results = run(schema.oneOf);
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
      result.errors.push(composite(`${quoted} must validate one and only one schema (oneOf). ${found}`, result));
      if (valid === 0) add(result, best(results));
    }
  }
  if (schema.allOf?.length) {
    const results = run(schema.allOf);
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    for (const part of results) add(result, part);
    if (valid < results.length) {
      const none = valid === 0 ? ". None validated" : "";
      result.errors.push(composite(`${quoted} must validate all the schemas (allOf)${none}`, result));
    }
  }
  if (schema.not !== undefined && check(schema.not).errors.length === 0) {
    result.errors.push(composite(`${quoted} must not validate the schema (not)`, result));
  }
}

function one(error: FieldError | undefined, result: Result): void {
  if (error === undefined) result.passed++;
  else result.errors.push(error);
}

function visit(value: unknown, schema: Schema, path: string, previous: unknown, result: Result): void {
  // What was stored may stay as it is, valid or not.
  if (previous !== undefined && equalJson(value, previous)) {
    result.passed++;
    return;
  }
  one(checkType(value, schema, path, result), result);
  if (value === null) return one(checkEnum(value, schema, path, result), result);
  if (schema.anyOf || schema.oneOf || schema.allOf || schema.not) checkLogic(value, schema, path, previous, result);
  if (typeof value === "string") {
    one(checkText(value, schema, path, result), result);
    one(checkFormat(value, schema, path, result), result);
  } else if (typeof value === "number") checkNumber(value, schema, path, result);
  else if (Array.isArray(value)) checkItems(value, schema, path, previous, result);
  one(checkEnum(value, schema, path, result), result);
  if (isObject(value)) checkMembers(value, schema, path, previous, result);
  // Logic, and what is particular to a number, a list or an object, count as passed whatever they found.
  result.passed += typeof value === "number" || typeof value === "object" ? 2 : 1;
}
