/**
 * Checks the rules in the schema of a CustomResourceDefinition: that they compile, fit the schema and say what they must.
 *
 * ```ts
 * import { checkSchemaRules } from "./_cel_definition.ts";
 *
 * const schema = { type: "object", "x-kubernetes-validations": [{ rule: "self.x" }] };
 * console.assert(checkSchemaRules(schema, "schema")[0]?.field === "schema.x-kubernetes-validations[0].rule");
 * ```
 *
 * @module
 */
import { compile, type Compiled, uses } from "./_cel_check.ts";
import { Budget, estimate, overBudget, scale } from "./_cel_cost.ts";
import { declarations, hasRules, pathSegments } from "./_cel_rules.ts";
import { typeOf } from "./_cel_schema.ts";
import { type FieldError, shown } from "./_field_error.ts";
import type { Schema, ValidationRule } from "./_schema.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Where a schema is: what matters to its rules. */
interface Place {
  readonly path: string;
  readonly resource: boolean;
  /** The nearest list around it whose items cannot be told apart. */
  readonly uncorrelated: string | undefined;
  /** How often a value of it may be in an object; undefined without bounds. */
  readonly times: number;
}

/** A rule as Go writes it in errors. */
function written(rule: ValidationRule): string {
  const json = JSON.stringify({
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  });
  const escapes: Record<string, string> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
  return json.replaceAll(/[<>&]/g, (character) => escapes[character]!);
}

function problem(field: string, value: string, detail: string): FieldError {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${value}: ${detail}` };
}

function required(field: string, detail: string): FieldError {
  return { field, reason: "FieldValueRequired", message: `Required value: ${detail}` };
}

/** What is wrong with how a rule is written down, before it is compiled. */
function checkForm(rule: ValidationRule, schema: Schema, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const { message, messageExpression, reason, fieldPath } = rule;
  if (!rule.rule?.trim()) errors.push(required(`${at}.rule`, "rule is not specified"));
  if (reason !== undefined && !REASONS.includes(reason)) {
    const text = `Unsupported value: ${shown(reason)}: supported values: ${REASONS.map(shown).join(", ")}`;
    errors.push({ field: `${at}.reason`, reason: "FieldValueNotSupported", message: text });
  }
  const lines = (text: string): boolean => text.trim().includes("\n");
  if (message !== undefined && message !== "" && message.trim() === "") {
    errors.push(problem(`${at}.message`, shown(message), "must be non-empty if specified"));
  } else if (lines(message ?? "")) {
    errors.push(problem(`${at}.message`, shown(message), "must not contain line breaks"));
  } else if (lines(rule.rule ?? "") && !message && !messageExpression) {
    errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== undefined && messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (fieldPath !== undefined && fieldPath !== "" && pathSegments(fieldPath, schema) === undefined) {
    errors.push(problem(`${at}.fieldPath`, shown(fieldPath), "must be a valid path"));
  }
  return errors;
}

class Check {
  readonly errors: FieldError[] = [];
  readonly #budget = new Budget();

  visit(schema: Schema, place: Place): void {
    if (!hasRules(schema)) return;
    const { path, uncorrelated, times } = place;
    const before = this.errors.length;
    const { properties = {}, items, additionalProperties: rest } = schema;
    for (const [name, each] of Object.entries(properties)) {
      this.visit(each, { path: `${path}.properties[${name}]`, resource: false, uncorrelated, times });
    }
    if (typeof rest === "object") {
      const inside = scale(times, schema);
      this.visit(rest, { path: `${path}.additionalProperties`, resource: false, uncorrelated, times: inside });
    }
    if (items) {
      const keyed = schema["x-kubernetes-list-type"] === "map";
      const inside = scale(times, schema);
      const list = uncorrelated ?? (keyed ? undefined : path);
      this.visit(items, { path: `${path}.items`, resource: false, uncorrelated: list, times: inside });
    }
    const rules = schema["x-kubernetes-validations"] ?? [];
    const at = (index: number): string => `${path}.x-kubernetes-validations[${index}]`;
    for (const [index, rule] of rules.entries()) this.errors.push(...checkForm(rule, schema, at(index)));
    if (this.errors.length > before) return;
    for (const [index, rule] of rules.entries()) this.#compile(rule, schema, at(index), place);
  }

  #compile(rule: ValidationRule, schema: Schema, at: string, place: Place): void {
    const type = typeOf(schema, place.resource);
    if (!type) return;
    const variables = declarations(type, rule.optionalOldSelf === true);
    const compiled = compile(rule.rule, variables);
    const { issues, node } = compiled;
    if (issues === undefined) this.#cost(compiled, schema, `${at}.rule`, place, "rule");
    if (issues !== undefined) this.errors.push(problem(`${at}.rule`, written(rule), `compilation failed: ${issues}`));
    else if (compiled.type.name !== "bool" && compiled.type.name !== "dyn") {
      this.errors.push(problem(`${at}.rule`, written(rule), "cel expression must evaluate to a bool"));
    } else if (rule.messageExpression) this.#message(rule, schema, `${at}.messageExpression`, place);
    if (node === undefined) return;
    if (uses(node, "oldSelf")) {
      if (place.uncorrelated === undefined) return;
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
      this.errors.push(problem(`${at}.rule`, shown(rule.rule), why));
    } else if (rule.optionalOldSelf !== undefined) {
      const why = "may not be set if oldSelf is not used in rule";
      this.errors.push(problem(`${at}.optionalOldSelf`, shown(rule.optionalOldSelf), why));
    }
  }

  #message(rule: ValidationRule, schema: Schema, at: string, place: Place): void {
    const variables = declarations(typeOf(schema, place.resource)!, rule.optionalOldSelf === true);
    const compiled = compile(rule.messageExpression!, variables);
    if (compiled.issues !== undefined) {
      this.errors.push(problem(at, written(rule), `messageExpression compilation failed: ${compiled.issues}`));
    } else if (compiled.type.name !== "string") {
      this.errors.push(problem(at, written(rule), "messageExpression must evaluate to a string"));
    } else this.#cost(compiled, schema, at, place, "messageExpression");
  }

  #cost({ node }: Compiled, schema: Schema, at: string, { times, resource }: Place, what: string): void {
    const cost = estimate(node!, schema, resource) * times;
    this.#budget.add(at, cost);
    const excess = overBudget(cost);
    if (excess === undefined) return;
    this.errors.push({
      field: at,
      reason: "FieldValueForbidden",
      message: `Forbidden: estimated ${what} cost ${excess}`,
    });
  }

  total(path: string): void {
    this.errors.push(...this.#budget.errors(path));
  }
}

/** What is wrong with the rules in a schema that is structural. */
export function checkSchemaRules(schema: Schema, path: string): FieldError[] {
  const check = new Check();
  check.visit(schema, { path, resource: true, uncorrelated: undefined, times: 1 });
  check.total(path);
  return check.errors;
}
