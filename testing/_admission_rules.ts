/**
 * Checks what requests admission is asked about: rules of webhooks and policies, selectors and conditions.
 *
 * ```ts
 * import { operationRule } from "./_admission_rules.ts";
 * import { causesOf } from "./_checks.ts";
 *
 * console.assert(causesOf(operationRule, { operations: ["SING"] }, "rules[0]").length > 0);
 * ```
 *
 * @module
 */
import { compile, type Declarations } from "./_cel_check.ts";
import { all, type Check, each, members, named, needed, neededAnd, oneOf, qualifiedName } from "./_checks.ts";
import { labelSelector } from "./_label_selectors.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const MAX_CONDITIONS = 64;

/** What failure policies there are. */
export const FAILURE_POLICIES: readonly string[] = ["Fail", "Ignore"];
/** What match policies there are. */
export const MATCH_POLICIES: readonly string[] = ["Equivalent", "Exact"];
/** What reinvocation policies there are. */
export const REINVOCATION_POLICIES: readonly string[] = ["IfNeeded", "Never"];

/** Asks for values, and refuses others beside a star. */
function starAlone(what: string): Check {
  return (value, at, causes) => {
    needed()(value, at, causes);
    if (value?.length > 1 && value.includes("*")) {
      causes.push(cause.invalid(at, value, `if '*' is present, must not specify other ${what}`));
    }
  };
}

const eachNeeded: Check = each(needed());

const resources: Check = (value = [], at, causes) => {
  needed()(value, at, causes);
  const starred = new Set<string>(), everywhere = new Set<string>();
  let bare = false;
  for (const [index, each] of value.entries()) {
    const path = `${at}[${index}]`;
    if (each === "") {
      causes.push(cause.required(path));
      continue;
    }
    const cut = each.indexOf("/");
    if (cut < 0) {
      bare = each !== "*";
      continue;
    }
    const resource = each.slice(0, cut), sub = each.slice(cut + 1);
    const tell = (pattern: string): void =>
      void causes.push(cause.invalid(path, each, `if '${pattern}' is present, must not specify ${each}`));
    if (starred.has(resource)) tell(`${resource}/*`);
    if (everywhere.has(sub)) tell(`*/${sub}`);
    if (sub === "*") starred.add(resource);
    if (resource === "*") everywhere.add(sub);
  }
  if (value.length > 1 && value.includes("*/*")) {
    causes.push(cause.invalid(at, value, "if '*/*' is present, must not specify other resources"));
  }
  if (bare && value.includes("*")) {
    const why = "if '*' is present, must not specify other resources without subresources";
    causes.push(cause.invalid(at, value, why));
  }
};

/** Takes operations on resources. */
export const operationRule: Check = members({
  operations: all(starAlone("operations"), each(oneOf(OPERATIONS))),
  apiGroups: starAlone("API groups"),
  apiVersions: all(starAlone("API versions"), eachNeeded),
  resources,
  scope: oneOf(SCOPES),
});

const resourceNames: Check = (value = [], at, causes) => {
  for (const [index, name] of value.entries()) {
    named("path")(name, `${at}[${index}]`, causes);
    if (value.indexOf(name) < index) causes.push(cause.duplicate(`${at}[${index}]`, name));
  }
};

const namedRule: Check = all(members({ resourceNames }), operationRule);

/** Takes what a policy, or its binding, is about. */
export const matchResources: Check = members({
  matchPolicy: neededAnd(oneOf(MATCH_POLICIES)),
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  resourceRules: each(namedRule),
  excludeResourceRules: each(namedRule),
});

/** What is wrong with an expression that must come to one of some types. */
export function checkExpression(
  at: string,
  expression: string,
  variables: Declarations,
  wanted: readonly string[],
): Cause[] {
  // What a policy may ask the authorizer is not known here.
  if (/\bauthorizer\b/.test(expression) && variables.has("authorizer")) return [];
  const { issues, type } = compile(expression, variables);
  if (issues !== undefined) return [cause.invalid(at, expression, `compilation failed: ${issues}`)];
  if (wanted.includes(type.name) || type.name === "dyn") return [];
  const must = wanted.length === 1 ? `evaluate to ${wanted[0]}` : `evaluate to one of [${wanted.join(" ")}]`;
  return [cause.invalid(at, expression, `must ${must} but got ${type.name}`)];
}

/** Takes conditions under which admission is asked at all. */
export function matchConditions(variables: Declarations): Check {
  return (value = [], at, causes) => {
    if (value.length > MAX_CONDITIONS) causes.push(cause.tooMany(at, value.length, MAX_CONDITIONS));
    const seen = new Set<string>();
    for (const [index, { name = "", expression = "" }] of (value as Fields[]).entries()) {
      const path = `${at}[${index}]`, text = expression.trim();
      if (text === "") causes.push(cause.required(`${path}.expression`));
      else causes.push(...checkExpression(`${path}.expression`, text, variables, ["bool"]));
      neededAnd(qualifiedName)(name, `${path}.name`, causes);
      if (seen.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
      if (name !== "") seen.add(name);
    }
  };
}
