/**
 * Checks label selectors that are objects, and tells what they select.
 *
 * ```ts
 * import { labelSelector, selects } from "./_label_selectors.ts";
 * import { causesOf } from "./_checks.ts";
 *
 * console.assert(selects({ matchLabels: { app: "web" } }, { app: "web" }));
 * console.assert(causesOf(labelSelector, { matchLabels: { "a b": "c" } }, "spec.selector").length === 1);
 * ```
 *
 * @module
 */
import { all, type Check, each, isEmpty, members, such } from "./_checks.ts";
import { validateLabels, validateLabelValue, validateQualified } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { cause } from "./_status.ts";

/** True if a label selector, as an object, selects these labels. */
export function selects(selector: Fields | undefined, labels: Fields = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    (matchExpressions as Fields[]).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        default:
          return value === undefined;
      }
    });
}

/** True for a selector without a requirement: it selects all, or nothing. */
export function isEmptySelector(selector: Fields | undefined): boolean {
  return isEmpty(selector?.matchLabels) && isEmpty(selector?.matchExpressions);
}

/** Takes labels: keys that are qualified names, and values of theirs. */
export const labels: Check = (value, at, causes) => void causes.push(...validateLabels(value, at));

/** Takes values that fit the operator of a requirement. */
export const operands: Check = (value, at, causes) => {
  const { operator, values } = value ?? {};
  if (operator === "In" || operator === "NotIn") {
    if (isEmpty(values)) {
      causes.push(cause.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (!isEmpty(values)) {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      causes.push(cause.forbidden(`${at}.values`, why));
    }
  } else causes.push(cause.invalid(`${at}.operator`, operator ?? "", "not a valid selector operator"));
};

/** Takes the key of a label. */
export const labelKey: Check = (value, at, causes) => {
  for (const why of validateQualified(value ?? "")) causes.push(cause.invalid(at, value ?? "", why));
};

/** Takes one requirement of a selector. */
export const requirement: Check = all(operands, members({ key: labelKey, values: each(such(validateLabelValue)) }));

/** Takes a label selector, or none. */
export const labelSelector: Check = members({ matchLabels: labels, matchExpressions: each(requirement) });
