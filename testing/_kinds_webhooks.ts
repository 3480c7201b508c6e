/**
 * Says how the configurations of webhooks behave.
 *
 * ```ts
 * import { WEBHOOKS } from "./_kinds_webhooks.ts";
 *
 * console.assert(Object.keys(WEBHOOKS).length === 2);
 * ```
 *
 * @module
 */
import {
  FAILURE_POLICIES,
  MATCH_POLICIES,
  matchConditions,
  operationRule,
  REINVOCATION_POLICIES,
} from "./_admission_rules.ts";
import { type Check, each, given, members, named, neededAnd, oneOf, such } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { labelSelector } from "./_label_selectors.ts";
import { validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { POLICY_VARIABLES } from "./_policy_variables.ts";
import { type Cause, cause } from "./_status.ts";
import { clientConfig } from "./_webhook_client.ts";

const EFFECTS = ["None", "NoneOnDryRun"];
const VERSIONS = ["v1", "v1beta1"];

/** What a condition of a webhook sees: neither parameters nor the objects of policies. */
const VARIABLES = new Map(
  [...POLICY_VARIABLES].filter(([name]) => ["object", "oldObject", "request", "authorizer"].includes(name)),
);

function domainRules(name: string): string | undefined {
  const wrong = validateName(name, "subdomain");
  if (wrong.length > 0) return wrong.join(",");
  return name.split(".").length < 3 ? "should be a domain with at least three segments separated by dots" : undefined;
}

const sideEffects: Check = (value, at, causes) => {
  if (!value) causes.push(cause.required(at, `must specify one of ${EFFECTS.join(", ")}`));
  else oneOf(EFFECTS)(value, at, causes);
};

const reviewVersions: Check = (value = [], at, causes) => {
  if (value.length === 0) {
    causes.push(cause.required(at, `must specify one of ${VERSIONS.join(", ")}`));
    return;
  }
  for (const [index, version] of value.entries()) {
    const path = `${at}[${index}]`;
    if (value.indexOf(version) < index) causes.push(cause.invalid(path, version, "duplicate version"));
    else named("label1035")(version, path, causes);
  }
  if (!VERSIONS.some((each) => value.includes(each))) {
    causes.push(cause.invalid(at, value, `must include at least one of ${VERSIONS.join(", ")}`));
  }
};

const webhook: Check = (value, at, causes) => {
  members({
    name: neededAnd(such(domainRules)),
    rules: each(operationRule),
    failurePolicy: oneOf(FAILURE_POLICIES),
    matchPolicy: oneOf(MATCH_POLICIES),
    sideEffects,
    timeoutSeconds: given(
      such((value) => value < 1 || value > 30 ? "the timeout value must be between 1 and 30 seconds" : undefined),
    ),
    namespaceSelector: labelSelector,
    objectSelector: labelSelector,
    reinvocationPolicy: oneOf(REINVOCATION_POLICIES),
    clientConfig,
  })(value, at, causes);
};

const conditions = matchConditions(VARIABLES);

function validate({ webhooks }: Fields, old?: Fields): Cause[] {
  const causes: Cause[] = [];
  const list: Fields[] = webhooks ?? [], before: Fields[] = old?.webhooks ?? [];
  const kept = old && list.length === before.length &&
    list.every((each, index) => equal(each.matchConditions ?? [], before[index]!.matchConditions ?? []));
  const seen = new Set<string>();
  for (const [index, each] of list.entries()) {
    const at = `webhooks[${index}]`;
    webhook(each, at, causes);
    if (!kept) conditions(each.matchConditions, `${at}.matchConditions`, causes);
    reviewVersions(each.admissionReviewVersions ?? undefined, `${at}.admissionReviewVersions`, causes);
    if (seen.has(each.name)) causes.push(cause.duplicate(`${at}.name`, each.name));
    if (each.name) seen.add(each.name);
  }
  return causes;
}

const configuration: Behaviour = {
  bareFinalizers: true,
  conditionalUpdate: true,
  desired: ({ webhooks }) => webhooks,
  validate: (object, _apiVersion, _subresource, old) => validate(object, old),
};

/** The behaviours by storage. */
export const WEBHOOKS: Readonly<Record<string, Behaviour>> = {
  "validatingwebhookconfigurations.admissionregistration.k8s.io": configuration,
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": configuration,
};
