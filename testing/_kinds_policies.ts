/**
 * Says how admission policies and their bindings behave.
 *
 * ```ts
 * import { POLICIES } from "./_kinds_policies.ts";
 *
 * console.assert(Object.keys(POLICIES).length === 4);
 * ```
 *
 * @module
 */
import {
  checkExpression,
  FAILURE_POLICIES,
  matchConditions,
  matchResources,
  REINVOCATION_POLICIES,
} from "./_admission_rules.ts";
import type { Declarations } from "./_cel_check.ts";
import {
  all,
  causesOf,
  type Check,
  declared,
  each,
  filled,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  qualifiedName,
} from "./_checks.ts";
import { checkConditions } from "./_condition_rules.ts";
import type { Behaviour } from "./_kind.ts";
import { labelSelector } from "./_label_selectors.ts";
import { validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { POLICY_VARIABLES } from "./_policy_variables.ts";
import { type Cause, cause } from "./_status.ts";

const spec = ({ spec }: Fields): unknown => spec;
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = ["Audit", "Deny", "Warn"];
const MUTATING = ["*", "CONNECT", "CREATE", "UPDATE"];
const MAX_ANNOTATIONS = 20;

function defaultMatch(match: Fields | undefined): void {
  if (!match) return;
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...match.resourceRules ?? [], ...match.excludeResourceRules ?? []]) rule.scope ??= "*";
}

function defaultPolicy({ spec }: Fields): void {
  if (!spec) return;
  spec.failurePolicy ??= "Fail";
  defaultMatch(spec.matchConstraints);
}

const paramKind: Check = given(({ apiVersion = "", kind = "" }, at, causes) => {
  const tell = (member: string, value: string, why: string): void =>
    void causes.push(cause.invalid(`${at}.${member}`, value, why));
  const parts = apiVersion.split("/");
  const version = parts.pop()!, [group = ""] = parts;
  if (apiVersion === "") causes.push(cause.required(`${at}.apiVersion`));
  else if (parts.length > 1) tell("apiVersion", apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const wrong = group === "" ? [] : validateName(group, "subdomain");
    if (wrong.length > 0) tell("apiVersion", group, wrong.join(","));
    const wrongVersion = validateName(version, "label1035");
    if (version === "") tell("apiVersion", apiVersion, "version must be specified");
    else if (wrongVersion.length > 0) tell("apiVersion", version, wrongVersion.join(","));
  }
  const wrong = validateName(kind.toLowerCase(), "label1035");
  if (kind === "") causes.push(cause.required(`${at}.kind`));
  else if (wrong.length > 0) tell("kind", kind, `may have mixed case, but should otherwise match: ${wrong.join(",")}`);
});

const constraints: Check = (value, at, causes) => {
  if (value === undefined) causes.push(cause.required(at));
  else {
    matchResources(value, at, causes);
    if (isEmpty(value.resourceRules)) causes.push(cause.required(`${at}.resourceRules`));
  }
};

/** What an expression sees: parameters only if the policy has some. */
function variablesOf({ paramKind, variables = [] }: Fields, ...without: readonly string[]): Declarations {
  const hidden = [...without, ...(paramKind ? [] : ["params"]), ...(variables.length > 0 ? [] : ["variables"])];
  return new Map([...POLICY_VARIABLES].filter(([name]) => !hidden.includes(name)));
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while").split(" "),
);

function checkVariables(spec: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, { name = "", expression = "" }] of (spec.variables ?? []).entries()) {
    const at = `spec.variables[${index}]`;
    if (name.trim() === "") causes.push(cause.required(`${at}.name`, "name is not specified"));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
      causes.push(cause.invalid(`${at}.name`, name, "must be a valid CEL identifier"));
    }
    if (expression.trim() === "") causes.push(cause.required(`${at}.expression`, "expression is not specified"));
    else causes.push(...checkExpression(`${at}.expression`, expression, variablesOf(spec), []).filter(isCompilation));
  }
  return causes;
}

function isCompilation({ message }: Cause): boolean {
  return message.includes("compilation failed");
}

function checkText(at: string, text: string): Cause[] {
  if (text !== "" && text.trim() === "") return [cause.invalid(at, text, "must be non-empty if specified")];
  return /[\n\r]/.test(text.trim()) ? [cause.invalid(at, text, "must not contain line breaks")] : [];
}

function checkValidation(validation: Fields, spec: Fields, at: string): Cause[] {
  const { expression = "", messageExpression = "", message = "", reason } = validation;
  const causes: Cause[] = [];
  if (expression.trim() === "") causes.push(cause.required(`${at}.expression`, "expression is not specified"));
  else causes.push(...checkExpression(`${at}.expression`, expression, variablesOf(spec), ["bool"]));
  const path = `${at}.messageExpression`;
  if (messageExpression !== "" && messageExpression.trim() === "") {
    causes.push(cause.invalid(path, messageExpression, "must be non-empty if specified"));
  } else if (messageExpression !== "") {
    causes.push(...checkExpression(path, messageExpression, variablesOf(spec, "authorizer"), ["string"]));
  }
  causes.push(...checkText(`${at}.message`, message));
  oneOf(REASONS)(reason, `${at}.reason`, causes);
  return causes;
}

function checkAnnotations(spec: Fields, name: string): Cause[] {
  const list: Fields[] = spec.auditAnnotations ?? [];
  const causes: Cause[] = [];
  if (list.length > MAX_ANNOTATIONS) {
    const why = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
    causes.push(cause.invalid("spec.auditAnnotations", list, why));
  }
  for (const [index, { key = "", valueExpression = "" }] of list.entries()) {
    const at = `spec.auditAnnotations[${index}]`;
    qualifiedName(`${name}/${key}`, `${at}.key`, causes);
    const text = valueExpression.trim(), path = `${at}.valueExpression`;
    if (text === "") causes.push(cause.required(path, "valueExpression is not specified"));
    else causes.push(...checkExpression(path, text, variablesOf(spec), ["string", "null_type"]));
    if (list.findIndex((each) => each.key === key) < index) causes.push(cause.duplicate(`${at}.key`, key));
  }
  return causes;
}

/** What both kinds of policies have alike. */
function checkCommon(spec: Fields, old?: Fields, also: Check = () => {}): Cause[] {
  const kept = old && equal(spec.paramKind, old.paramKind) &&
    equal(spec.matchConditions ?? [], old.matchConditions ?? []);
  const variables = variablesOf({ ...spec, variables: [] });
  return [
    ...causesOf(
      members({
        failurePolicy: neededAnd(oneOf(FAILURE_POLICIES)),
        paramKind,
        matchConstraints: (value, at, causes) => {
          constraints(value, at, causes);
          also(value, at, causes);
        },
        ...(kept ? {} : { matchConditions: matchConditions(variables) }),
      }),
      spec,
      "spec",
    ),
    ...checkVariables(spec),
  ];
}

function validatePolicy({ metadata, spec = {} }: Fields, old?: Fields): Cause[] {
  const causes = checkCommon(spec, old?.spec);
  if (isEmpty(spec.validations) && isEmpty(spec.auditAnnotations)) {
    const why = "validations or auditAnnotations must contain at least one item";
    return [...causes, cause.required("spec.validations", why), cause.required("spec.auditAnnotations", why)];
  }
  for (const [index, each] of (spec.validations ?? []).entries()) {
    causes.push(...checkValidation(each, spec, `spec.validations[${index}]`));
  }
  return [...causes, ...checkAnnotations(spec, metadata.name ?? "")];
}

const mutableOnly: Check = (value, at, causes) => {
  for (const { operations = [] } of value?.resourceRules ?? []) {
    for (const each of operations) oneOf(MUTATING)(each, `${at}.resourceRules.operations`, causes);
  }
};

const PATCHES = { ApplyConfiguration: "applyConfiguration", JSONPatch: "jsonPatch" } as const;

function checkMutation(mutation: Fields, spec: Fields, at: string): Cause[] {
  const { patchType = "" } = mutation;
  const types = Object.keys(PATCHES) as (keyof typeof PATCHES)[];
  if (!types.includes(patchType)) {
    return causesOf(neededAnd(oneOf(types)), patchType, `${at}.patchType`);
  }
  const causes: Cause[] = [];
  const member = PATCHES[patchType as keyof typeof PATCHES], expression = mutation[member]?.expression?.trim() ?? "";
  if (mutation[member] === undefined) {
    causes.push(cause.required(`${at}.${member}`, `must be specified when patchType is ${patchType}`));
  } else if (expression === "") causes.push(cause.required(`${at}.${member}.expression`));
  else if (!/\b(Object|JSONPatch)\b/.test(expression)) {
    // Expressions that make objects of these types are not read here.
    const wanted = member === "applyConfiguration" ? "Object" : "list";
    causes.push(...checkExpression(`${at}.${member}.expression`, expression, variablesOf(spec), [wanted]));
  }
  const other = types.find((each) => each !== patchType)!;
  if (mutation[PATCHES[other]] !== undefined) {
    const why = `must not be specified when patchType is ${patchType}`;
    causes.push(cause.invalid(`${at}.${PATCHES[other]}`, `{${PATCHES[other]}}`, why));
  }
  return causes;
}

function validateMutating({ spec = {} }: Fields, old?: Fields): Cause[] {
  const causes = checkCommon(spec, old?.spec, mutableOnly);
  if (isEmpty(spec.mutations)) {
    causes.push(cause.required("spec.mutations", "mutations must contain at least one item"));
  }
  for (const [index, each] of (spec.mutations ?? []).entries()) {
    causes.push(...checkMutation(each, spec, `spec.mutations[${index}]`));
  }
  neededAnd(oneOf(REINVOCATION_POLICIES))(spec.reinvocationPolicy, "spec.reinvocationPolicy", causes);
  return causes;
}

const paramRef: Check = given((value, at, causes) => {
  const { name = "", selector, parameterNotFoundAction } = value;
  if (name !== "") named("path")(name, `${at}.name`, causes);
  const both = name !== "" && selector !== undefined;
  if (both) causes.push(cause.forbidden(`${at}.name`, "name and selector are mutually exclusive"));
  labelSelector(selector, `${at}.selector`, causes);
  if (both) causes.push(cause.forbidden(`${at}.selector`, "name and selector are mutually exclusive"));
  if (name === "" && selector === undefined) {
    causes.push(cause.required(at, "one of name or selector must be specified"));
  }
  neededAnd(oneOf(["Deny", "Allow"]))(parameterNotFoundAction, `${at}.parameterNotFoundAction`, causes);
});

const actions: Check = (value = [], at, causes) => {
  for (const [index, each] of value.entries()) {
    oneOf(ACTIONS)(each, `${at}[${index}]`, causes);
    if (value.indexOf(each) < index) causes.push(cause.duplicate(`${at}[${index}]`, each));
  }
  if (value.includes("Deny") && value.includes("Warn")) {
    const why = "must not contain both Deny and Warn (repeating the same validation failure information in the API " +
      "response and headers serves no purpose)";
    causes.push(cause.invalid(at, value, why));
  }
  declared(needed())(value, at, causes);
};

const BINDING: Readonly<Record<string, Check>> = {
  policyName: neededAnd(named("subdomain")),
  paramRef,
  matchResources: given(matchResources),
};

const binding = members({
  spec: members({
    ...BINDING,
    policyName: all(declared(needed()), filled(named("subdomain"))),
    validationActions: actions,
  }),
});
const mutatingBinding = members({
  spec: members({
    ...BINDING,
    matchResources: given((value, at, causes) => {
      matchResources(value, at, causes);
      mutableOnly(value, at, causes);
    }),
  }),
});

const warning: Check = members({ warning: neededAnd(() => {}), fieldRef: neededAnd(() => {}) });

function validateStatus({ status = {} }: Fields): Cause[] {
  return [
    ...causesOf(each(warning), status.typeChecking?.expressionWarnings, "status.typeChecking.expressionWarnings"),
    ...checkConditions(status.conditions, "status.conditions"),
  ];
}

const GROUP = "admissionregistration.k8s.io";

/** The behaviours. */
export const POLICIES: Readonly<Record<string, Behaviour>> = {
  [`validatingadmissionpolicies.${GROUP}`]: {
    conditionalUpdate: true,
    status: true,
    statusKeepsMetadata: true,
    bareFinalizers: true,
    desired: spec,
    defaults: defaultPolicy,
    validate: (object, _apiVersion, subresource, old) =>
      subresource === "status" ? validateStatus(object) : validatePolicy(object, old),
  },
  [`validatingadmissionpolicybindings.${GROUP}`]: {
    conditionalUpdate: true,
    bareFinalizers: true,
    desired: spec,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: (object) => causesOf(binding, object),
  },
  [`mutatingadmissionpolicies.${GROUP}`]: {
    conditionalUpdate: true,
    bareFinalizers: true,
    desired: spec,
    defaults: defaultPolicy,
    validate: (object, _apiVersion, _subresource, old) => validateMutating(object, old),
  },
  [`mutatingadmissionpolicybindings.${GROUP}`]: {
    conditionalUpdate: true,
    bareFinalizers: true,
    desired: spec,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: (object) => causesOf(mutatingBinding, object),
  },
};
