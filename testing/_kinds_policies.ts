/**
 * Says how ValidatingAdmissionPolicies and their bindings behave.
 *
 * ```ts
 * import { POLICIES } from "./_kinds_policies.ts";
 *
 * console.assert(Object.keys(POLICIES).length === 2);
 * ```
 *
 * @module
 */
import { compile } from "./_cel_check.ts";
import type { Behaviour } from "./_kind.ts";
import type { Fields } from "./_objects.ts";
import { POLICY_VARIABLES } from "./_policy_variables.ts";
import { type Cause, cause } from "./_status.ts";

const spec = ({ spec }: Fields): unknown => spec;
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

function defaultMatch(match: Fields | undefined): void {
  if (!match) return;
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...match.resourceRules ?? [], ...match.excludeResourceRules ?? []]) rule.scope ??= "*";
}

/** What is wrong with an expression that must come to a type. */
function checkExpression(field: string, expression: string | undefined, wanted: string): Cause[] {
  if (!expression?.trim()) return [cause.required(field, "expression is not specified")];
  const { issues, type } = compile(expression, POLICY_VARIABLES);
  if (issues !== undefined) return [cause.invalid(field, expression, `compilation failed: ${issues}`)];
  if (type.name === wanted || type.name === "dyn") return [];
  return [cause.invalid(field, expression, `must evaluate to ${wanted} but got ${type.name}`)];
}

function validate({ spec = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  const { validations = [], matchConditions = [], matchConstraints } = spec;
  if (!matchConstraints) causes.push(cause.required("spec.matchConstraints"));
  else if (!matchConstraints.resourceRules?.length) causes.push(cause.required("spec.matchConstraints.resourceRules"));
  for (const [index, { expression }] of matchConditions.entries()) {
    causes.push(...checkExpression(`spec.matchConditions[${index}].expression`, expression, "bool"));
  }
  for (const [index, { expression, reason }] of validations.entries()) {
    const at = `spec.validations[${index}]`;
    causes.push(...checkExpression(`${at}.expression`, expression, "bool"));
    if (reason !== undefined && !REASONS.includes(reason)) {
      causes.push(cause.unsupported(`${at}.reason`, reason, REASONS));
    }
  }
  return causes;
}

/** The behaviours. */
export const POLICIES: Readonly<Record<string, Behaviour>> = {
  "validatingadmissionpolicies.admissionregistration.k8s.io": {
    status: true,
    desired: spec,
    defaults: ({ spec }) => {
      if (!spec) return;
      spec.failurePolicy ??= "Fail";
      defaultMatch(spec.matchConstraints);
    },
    validate,
  },
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": {
    desired: spec,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
  },
};
