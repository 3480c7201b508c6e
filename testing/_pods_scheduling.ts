/**
 * Checks where pods may be placed: affinity, tolerations, how they spread.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { tolerations } from "./_pods_scheduling.ts";
 *
 * console.assert(causesOf(tolerations, [{ key: "a", effect: "Maybe" }], "tolerations").length === 1);
 * ```
 *
 * @module
 */
import { all, type Check, each, given, isEmpty, members, named, oneOf, such } from "./_checks.ts";
import { labelKey, labelSelector, operands } from "./_label_selectors.ts";
import { validateLabelValue, validateName } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { cause } from "./_status.ts";

const numeric: Check = (value, at, causes) => {
  if (value.values?.length === 1) return;
  causes.push(cause.required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
};

const nodeExpression: Check = all(
  (value, at, causes) => (value.operator === "Gt" || value.operator === "Lt" ? numeric : operands)(value, at, causes),
  members({ key: labelKey }),
);

const nodeValues: Check = members({ values: each(such(validateLabelValue)) });

const nodeField: Check = (value, at, causes) => {
  const { key = "", operator = "", values = [] } = value;
  if (operator !== "In" && operator !== "NotIn") {
    causes.push(cause.invalid(`${at}.operator`, operator, "not a valid selector operator"));
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    causes.push(cause.required(`${at}.values`, why));
  }
  if (key !== "metadata.name") {
    causes.push(cause.invalid(`${at}.key`, key, "not a valid field selector key"));
    return;
  }
  each(such((name) => validateName(name, "subdomain")))(values, `${at}.values`, causes);
};

const preference: Check = members({ matchExpressions: each(nodeExpression), matchFields: each(nodeField) });
const nodeTerm: Check = members({
  matchExpressions: each(all(nodeExpression, nodeValues)),
  matchFields: each(nodeField),
});

const weight: Check = such((value = 0) => value < 1 || value > 100 ? "must be in the range 1-100" : undefined);

/** Takes a selector of nodes. */
export const nodeSelector: Check = members({
  nodeSelectorTerms: (value, at, causes) => {
    if (isEmpty(value)) causes.push(cause.required(at, "must have at least one node selector term"));
    else each(nodeTerm)(value, at, causes);
  },
});

const topologyKey: Check = (value, at, causes) => {
  if (isEmpty(value)) causes.push(cause.required(at, "can not be empty"));
  labelKey(value, at, causes);
};

const KEYS = ["matchLabelKeys", "mismatchLabelKeys"];

/** Takes keys of labels that a selector takes from the pod itself. */
const labelKeys: Check = (term, at, causes) => {
  for (const member of KEYS) {
    if (isEmpty(term[member])) continue;
    if (!term.labelSelector) {
      causes.push(cause.forbidden(`${at}.${member}`, "must not be specified when labelSelector is not set"));
    }
    each(labelKey)(term[member], `${at}.${member}`, causes);
  }
  for (const [index, key] of (term.matchLabelKeys ?? []).entries()) {
    if (!term.mismatchLabelKeys?.includes(key)) continue;
    const why = "exists in both matchLabelKeys and mismatchLabelKeys";
    causes.push(cause.invalid(`${at}.matchLabelKeys[${index}]`, key, why));
  }
  const { matchLabels = {}, matchExpressions = [] } = term.labelSelector ?? {};
  const asked: string[] = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }: Fields) => key)];
  // What the server itself added for the key counts once.
  for (const [index, key] of (term.matchLabelKeys ?? []).entries()) {
    if (asked.filter((each) => each === key).length < 2) continue;
    causes.push(cause.invalid(`${at}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
  }
};

const podTerm: Check = all(
  members({
    labelSelector: given(labelSelector),
    namespaceSelector: given(labelSelector),
    namespaces: (value, at, causes) => {
      for (const name of value ?? []) named("label")(name, at.replace(/s$/, ""), causes);
    },
    topologyKey,
  }),
  labelKeys,
);

const podAffinity: Check = given(members({
  requiredDuringSchedulingIgnoredDuringExecution: each(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: each(members({
    weight,
    podAffinityTerm: (value, at, causes) => podTerm(value ?? {}, at, causes),
  })),
}));

/** Takes rules of where a pod may be, and where it had better be. */
export const affinity: Check = given(members({
  nodeAffinity: given(members({
    requiredDuringSchedulingIgnoredDuringExecution: given(nodeSelector),
    preferredDuringSchedulingIgnoredDuringExecution: each(members({ weight, preference })),
  })),
  podAffinity,
  podAntiAffinity: podAffinity,
}));

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const toleration: Check = (value, at, causes) => {
  const { key = "", operator = "", value: wanted = "", effect = "", tolerationSeconds } = value;
  const path = `${at}.operator`;
  if (key !== "") labelKey(key, `${at}.key`, causes);
  if (key === "" && operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    causes.push(cause.invalid(path, operator, why));
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    causes.push(cause.invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (operator === "" || operator === "Equal") {
    for (const why of validateLabelValue(wanted)) causes.push(cause.invalid(path, wanted, why));
  } else if (operator === "Exists") {
    if (wanted !== "") causes.push(cause.invalid(path, wanted, "value must be empty when `operator` is 'Exists'"));
  } else {
    const known = operator === "Lt" || operator === "Gt" ? ["Equal", "Exists", "Lt", "Gt"] : ["Equal", "Exists"];
    causes.push(cause.unsupported(path, operator, known));
  }
  if (effect !== "" && !EFFECTS.includes(effect)) causes.push(cause.unsupported(`${at}.effect`, effect, EFFECTS));
};

/** Takes the taints that a pod puts up with. */
export const tolerations: Check = each(toleration);

const positive: Check = such((value = 0) => value <= 0 ? "must be greater than zero" : undefined);
const POLICIES = ["Honor", "Ignore"];

/** Takes rules of how pods spread over nodes. */
export const spread: Check = (value, at, causes) => {
  const all: Fields[] = value ?? [];
  for (const [index, constraint] of all.entries()) {
    const path = `${at}[${index}]`;
    const { maxSkew, topologyKey = "", whenUnsatisfiable = "", minDomains } = constraint;
    positive(maxSkew, `${path}.maxSkew`, causes);
    if (topologyKey === "") causes.push(cause.required(`${path}.topologyKey`, "can not be empty"));
    oneOf(["DoNotSchedule", "ScheduleAnyway"])(whenUnsatisfiable, `${path}.whenUnsatisfiable`, causes);
    const again = all.slice(index + 1).some((each) =>
      each.topologyKey === topologyKey && each.whenUnsatisfiable === whenUnsatisfiable
    );
    if (again) {
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
      causes.push(cause.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, pair));
    }
    if (minDomains !== undefined) {
      positive(minDomains, `${path}.minDomains`, causes);
      if (whenUnsatisfiable !== "DoNotSchedule") {
        const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        causes.push(cause.invalid(`${path}.minDomains`, minDomains, why));
      }
    }
    SPREAD(constraint, path, causes);
  }
};

const SPREAD: Check = all(
  members({ nodeAffinityPolicy: oneOf(POLICIES), nodeTaintsPolicy: oneOf(POLICIES) }),
  (value, at, causes) => {
    if (isEmpty(value.matchLabelKeys)) return;
    const path = `${at}.matchLabelKeys`;
    if (value.labelSelector) each(labelKey)(value.matchLabelKeys, path, causes);
    else causes.push(cause.forbidden(path, "must not be specified when labelSelector is not set"));
  },
  members({ labelSelector: given(labelSelector) }),
);
