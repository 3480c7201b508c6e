/**
 * Checks the conditions of a status.
 *
 * ```ts
 * import { checkConditions } from "./_condition_rules.ts";
 *
 * console.assert(checkConditions([{ type: "Ready" }], "status.conditions").length > 0);
 * ```
 *
 * @module
 */
import { type Check, members, needed, neededAnd, oneOf, qualifiedName } from "./_checks.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric " +
  "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or " +
  "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const MAX_REASON = 1024, MAX_MESSAGE = 32_768;

const condition: Check = members({
  type: neededAnd(qualifiedName, "is required"),
  status: neededAnd(oneOf(["False", "True", "Unknown"])),
  observedGeneration: (value = 0, at, causes) => {
    if (value < 0) causes.push(cause.invalid(at, value, "must be greater than or equal to zero"));
  },
  lastTransitionTime: needed(),
  reason: neededAnd((value, at, causes) => {
    if (!REASON.test(value)) causes.push(cause.invalid(at, value, REASON_RULE));
    if (value.length > MAX_REASON) causes.push(cause.tooLong(at, MAX_REASON));
  }),
  message: (value = "", at, causes) => {
    if (value.length > MAX_MESSAGE) causes.push(cause.tooLong(at, MAX_MESSAGE));
  },
});

/** What is wrong with conditions. */
export function checkConditions(conditions: readonly Fields[] | undefined, at: string): Cause[] {
  const causes: Cause[] = [];
  for (const [index, each] of (conditions ?? []).entries()) {
    const path = `${at}[${index}]`;
    if (conditions!.findIndex(({ type }) => type === each.type) < index) causes.push(cause.duplicate(path, each.type));
    condition(each, path, causes);
  }
  return causes;
}
