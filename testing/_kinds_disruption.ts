/**
 * Says how PodDisruptionBudgets and PriorityClasses behave.
 *
 * ```ts
 * import { DISRUPTION } from "./_kinds_disruption.ts";
 *
 * console.assert(DISRUPTION["poddisruptionbudgets.policy"]?.status);
 * ```
 *
 * @module
 */
import { each, fixed, given, members, neededAnd, oneOf, qualifiedName, such } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { negatives } from "./_kinds_apps_numbers.ts";
import { amount, atMostAll } from "./_kinds_apps_strategies.ts";
import { labelSelector } from "./_label_selectors.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

/** The selector as messages show it. */
function inGo({ minAvailable = null, selector = null, maxUnavailable = null, ...rest }: Fields): Fields {
  const { unhealthyPodEvictionPolicy = null } = rest;
  return {
    MinAvailable: minAvailable,
    Selector: selector,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  };
}

function validateBudget({ spec = {} }: Fields): Cause[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  const causes: Cause[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    causes.push(cause.invalid("spec", inGo(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const [member, value] of Object.entries({ minAvailable, maxUnavailable })) {
    causes.push(...amount(value, `spec.${member}`), ...atMostAll(value, `spec.${member}`));
  }
  given(labelSelector)(selector, "spec.selector", causes);
  const policies = ["AlwaysAllow", "IfHealthyBudget"];
  oneOf(policies)(unhealthyPodEvictionPolicy, "spec.unhealthyPodEvictionPolicy", causes);
  return causes;
}

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_RULE = "a condition reason must start with alphabetic character, optionally followed by a string of " +
  "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or " +
  "'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Takes the conditions that many kinds have. */
const conditions = each(members({
  type: neededAnd(qualifiedName),
  status: oneOf(["False", "True", "Unknown"]),
  observedGeneration: given(such((value) => value < 0 ? "must be greater than or equal to zero" : undefined)),
  lastTransitionTime: (value, at, causes) => {
    if (!value) causes.push(cause.required(at));
  },
  reason: neededAnd(such((value) => REASON.test(value) ? undefined : REASON_RULE)),
}));

const NUMBERS = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];

function validateStatus({ status = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  conditions(status.conditions, "status.conditions", causes);
  return [...causes, ...negatives(status, NUMBERS, "status")];
}

const SYSTEM = ["system-node-critical", "system-cluster-critical"];
const HIGHEST = 1_000_000_000;

function validateClass({ metadata, value = 0, preemptionPolicy }: Fields): Cause[] {
  const causes: Cause[] = [];
  if (metadata.name?.startsWith("system-")) {
    if (!SYSTEM.includes(metadata.name)) {
      const why = "priority class names with 'system-' prefix are reserved for system use only. " +
        `error: ${metadata.name} is not a known system priority class`;
      causes.push(cause.forbidden("metadata.name", why));
    }
  } else if (value > HIGHEST) {
    causes.push(cause.forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST}`));
  }
  oneOf(["PreemptLowerPriority", "Never"])(preemptionPolicy, "preemptionPolicy", causes);
  return causes;
}

/** The behaviours by storage. */
export const DISRUPTION: Readonly<Record<string, Behaviour>> = {
  "poddisruptionbudgets.policy": {
    conditionalUpdate: true,
    status: true,
    desired: ({ spec }) => spec,
    prepareCreate: (object) => {
      object.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
    },
    validate: (object, _apiVersion, subresource) =>
      subresource === "status" ? validateStatus(object) : validateBudget(object),
  },
  "priorityclasses.scheduling.k8s.io": {
    desired: ({ value, preemptionPolicy }) => [value, preemptionPolicy],
    validate: (object, _apiVersion, _subresource, old) => old ? [] : validateClass(object),
    validateUpdate: (object, old) => [
      ...(object.value === old.value ? [] : [cause.forbidden("value", "may not be changed in an update.")]),
      ...fixed(object, old, ["preemptionPolicy"]),
    ],
  },
};
