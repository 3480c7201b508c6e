/**
 * Runs the rules in a schema (`x-kubernetes-validations`) on an object, and tells what they refuse.
 *
 * ```ts
 * import { checkRules } from "./_cel_rules.ts";
 *
 * const schema = { type: "string", "x-kubernetes-validations": [{ rule: "self != ''", message: "must be set" }] };
 * console.assert(checkRules("", schema, { previous: undefined }).errors.length === 1);
 * ```
 *
 * @module
 */
import { compile, uses } from "./_cel_check.ts";
import { evaluate, type Variables } from "./_cel_evaluate.ts";
import type { Node } from "./_cel_parse.ts";
import { optionalOf, type Type } from "./_cel_types.ts";
import { typeOf, valueOf } from "./_cel_schema.ts";
import { CelError, Optional } from "./_cel_values.ts";
import { type FieldError, noField, shown } from "./_field_error.ts";
import { equalJson, isObject, type JsonObject } from "./_json.ts";
import type { Schema, ValidationRule } from "./_schema.ts";

/** What {@linkcode checkRules} is told. */
export interface RuleOptions {
  /** The object as it was; undefined for a new one. */
  readonly previous: unknown;
  /** The field that the value is. @default {""} */
  readonly field?: string | undefined;
  /** True for a whole resource: rules see its kind and name. @default {false} */
  readonly resource?: boolean | undefined;
}

/** What rules refuse. */
export interface Refused {
  readonly errors: FieldError[];
  /** What is wrong but was so before, in words. */
  readonly warnings: string[];
}

/** A rule that was read. */
interface Ready {
  readonly rule: ValidationRule;
  readonly node: Node | undefined;
  readonly message: Node | undefined;
  readonly usesOld: boolean;
}

const rules = new WeakMap<Schema, Ready[]>();
const ruled = new WeakMap<Schema, boolean>();

/** True if there is a rule somewhere in a schema. */
export function hasRules(schema: Schema): boolean {
  let found = ruled.get(schema);
  if (found === undefined) {
    const { properties = {}, items, additionalProperties: rest } = schema;
    found = (schema["x-kubernetes-validations"]?.length ?? 0) > 0 || Object.values(properties).some(hasRules) ||
      (items !== undefined && hasRules(items)) || (typeof rest === "object" && hasRules(rest));
    ruled.set(schema, found);
  }
  return found;
}

/** The variables that rules on a schema see. */
export function declarations(self: Type, optional = false): Map<string, Type> {
  return new Map([["self", self], ["oldSelf", optional ? optionalOf(self) : self]]);
}

function rulesOf(schema: Schema, resource: boolean): Ready[] {
  const known = rules.get(schema);
  if (known) return known;
  const type = typeOf(schema, resource);
  const made = (schema["x-kubernetes-validations"] ?? []).map((rule): Ready => {
    if (!type) return { rule, node: undefined, message: undefined, usesOld: false };
    const variables = declarations(type, rule.optionalOldSelf === true);
    const { node, issues } = compile(rule.rule, variables);
    const text = rule.messageExpression;
    const message = text === undefined || text === "" ? undefined : compile(text, variables);
    return {
      rule,
      node: issues === undefined ? node : undefined,
      message: message?.issues === undefined ? message?.node : undefined,
      usesOld: node !== undefined && uses(node, "oldSelf"),
    };
  });
  rules.set(schema, made);
  return made;
}

/** The value that an error shows: not that of a list or object. */
function refusal({ rule }: Ready, field: string, value: unknown, text: string): FieldError {
  const reason = rule.reason ?? "FieldValueInvalid";
  const plain = typeof value !== "object" || value === null;
  const given = plain ? `${shown(value)}` : "";
  switch (reason) {
    case "FieldValueForbidden":
      return { field, reason, message: `Forbidden: ${text}` };
    case "FieldValueRequired":
      return { field, reason, message: `Required value: ${text}` };
    case "FieldValueDuplicate":
      return { field, reason, message: plain ? `Duplicate value: ${given}` : "Duplicate value" };
  }
  return { field, reason, message: `Invalid value: ${plain ? `${given}: ` : ""}${text}` };
}

function fallback({ rule: { message = "", rule } }: Ready): string {
  const text = message.trim();
  return text === "" ? `failed rule: ${rule.trim()}` : text;
}

/** What the message expression says, if it says something that fits on a line. */
function messageOf(ready: Ready, scope: Variables): string {
  if (!ready.message) return fallback(ready);
  try {
    const text = String(evaluate(ready.message, scope)).trim();
    return text === "" || text.includes("\n") || text.length > 5120 ? fallback(ready) : text;
  } catch (error) {
    if (error instanceof CelError) return fallback(ready);
    throw error;
  }
}

/** The path below a value that a rule names, as error fields have it. */
export function pathSegments(path: string, schema: Schema): string | undefined {
  let below = "", at: Schema | undefined = schema, rest = path;
  while (rest !== "") {
    const match = /^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\['([^']*)'\])/.exec(rest);
    if (!match || !at) return undefined;
    const name = match[1] ?? match[2]!;
    const { properties, additionalProperties } = at as Schema;
    if (properties && Object.hasOwn(properties, name)) {
      at = properties[name];
      below += `.${name}`;
    } else if (typeof additionalProperties === "object") {
      at = additionalProperties;
      below += `[${name}]`;
    } else return undefined;
    rest = rest.slice(match[0].length);
  }
  return below === "" ? undefined : below;
}

class Run {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  readonly #updates: boolean;

  constructor(updates: boolean) {
    this.#updates = updates;
  }

  visit(value: unknown, schema: Schema, field: string, previous: unknown, resource = false): void {
    if (value === null || value === undefined || !hasRules(schema)) return;
    this.#rules(value, schema, field, previous, resource);
    if (Array.isArray(value) && schema.items) {
      const before = correlated(previous, schema);
      for (const [index, item] of value.entries()) {
        this.visit(item, schema.items, `${field}[${index}]`, before?.(item));
      }
    } else if (isObject(value)) this.#members(value, schema, field, isObject(previous) ? previous : {});
  }

  #members(value: JsonObject, schema: Schema, field: string, previous: JsonObject): void {
    const { properties = {}, additionalProperties: rest } = schema;
    for (const [name, each] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) {
        this.visit(each, properties[name]!, field === "" ? name : `${field}.${name}`, previous[name]);
      } else if (typeof rest === "object") this.visit(each, rest, `${field}[${name}]`, previous[name]);
    }
  }

  #rules(value: unknown, schema: Schema, field: string, previous: unknown, resource: boolean): void {
    const ready = rulesOf(schema, resource);
    if (ready.length === 0) return;
    const self = valueOf(value, schema, resource);
    const old = previous === undefined || previous === null ? undefined : valueOf(previous, schema, resource);
    const where = field === "" ? noField : field;
    const unchanged = this.#updates && previous !== undefined && equalJson(value, previous);
    for (const each of ready) {
      const { rule, node, usesOld } = each;
      if (!node) continue;
      const optional = rule.optionalOldSelf === true;
      if (usesOld && old === undefined && !optional) continue;
      const scope: Variables = new Map([["self", self], ["oldSelf", optional ? new Optional(old) : old]]);
      try {
        if (evaluate(node, scope) === true) continue;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        this.errors.push(failure(each, where, schema, error.message));
        continue;
      }
      const below = rule.fieldPath ? pathSegments(rule.fieldPath, schema) : undefined;
      const at = below === undefined ? where : field === "" ? below.replace(/^\./, "") : field + below;
      const refused = refusal(each, at, value, messageOf(each, scope));
      if (unchanged && !usesOld) this.warnings.push(`${refused.field}: ${refused.message}`);
      else this.errors.push(refused);
    }
  }
}

/** The error for a rule that could not be computed. */
function failure(ready: Ready, field: string, schema: Schema, why: string): FieldError {
  const text = ready.rule.message?.trim() || ready.rule.rule.trim();
  const detail = why === "no such overload"
    ? `'${why}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`
    : `${why} evaluating rule: ${text}`;
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${shown(schema.type ?? "")}: ${detail}` };
}

/** How to find what an item was before; undefined if that cannot be told. */
function correlated(previous: unknown, schema: Schema): ((item: unknown) => unknown) | undefined {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (!Array.isArray(previous) || schema["x-kubernetes-list-type"] !== "map" || !keys) return undefined;
  const keyOf = (item: unknown) => isObject(item) ? JSON.stringify(keys.map((key) => item[key])) : undefined;
  const byKey = new Map(previous.map((item) => [keyOf(item), item]));
  return (item) => byKey.get(keyOf(item));
}

/** Runs all rules of a schema, those of the value itself first. */
export function checkRules(value: unknown, schema: Schema, options: RuleOptions): Refused {
  const { previous, field = "", resource = false } = options;
  const run = new Run(previous !== undefined);
  run.visit(value, schema, field, previous, resource);
  return run;
}
