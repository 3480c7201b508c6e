/**
 * Composes the checks of a kind's fields from small ones, in the words of Kubernetes' field errors.
 *
 * ```ts
 * import { all, causesOf, each, members, needed, oneOf } from "./_checks.ts";
 *
 * const check = members({ ports: each(members({ protocol: all(needed(), oneOf(["TCP", "UDP"])) })) });
 * console.assert(causesOf(check, { ports: [{ protocol: "ICMP" }] })[0]?.field === "ports[0].protocol");
 * ```
 *
 * Checks run in the order in which they are written, which is the order of the causes in an answer.
 *
 * @module
 */
import { type NameRule, validateName, validateQualified } from "./_metadata.ts";
import { equal, type Fields, isObject } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

/** Looks at the value at a path, and adds what is wrong with it. */
// deno-lint-ignore no-explicit-any
export type Check = (value: any, at: string, causes: Cause[]) => void;

/** What a check finds in an object. */
export function causesOf(check: Check, value: unknown, at = ""): Cause[] {
  const causes: Cause[] = [];
  check(value ?? undefined, at, causes);
  return causes;
}

/** The path of a member. */
export function below(at: string, member: string): string {
  return at === "" ? member : `${at}.${member}`;
}

/** True for what Go calls empty: nothing, an empty text, list or map, 0 and false. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Runs checks one after the other. */
export function all(...checks: readonly Check[]): Check {
  return (value, at, causes) => {
    for (const check of checks) check(value, at, causes);
  };
}

/** Checks the members of an object, in the order of the table; those that are not there, too. */
export function members(table: Readonly<Record<string, Check>>): Check {
  return (value, at, causes) => {
    for (const name in table) {
      table[name]!(isObject(value) ? value[name] ?? undefined : undefined, below(at, name), causes);
    }
  };
}

/** Checks each item of a list. */
export function each(check: Check): Check {
  return (value, at, causes) => {
    if (!Array.isArray(value)) return;
    for (let index = 0; index < value.length; index++) check(value[index], `${at}[${index}]`, causes);
  };
}

/** Runs a check where there is a value: one that is null, or not there, is none. */
export function given(check: Check): Check {
  return (value, at, causes) => {
    if (value !== undefined && value !== null) check(value, at, causes);
  };
}

/** Runs a check where the value is not empty. */
export function filled(check: Check): Check {
  return (value, at, causes) => {
    if (!isEmpty(value)) check(value, at, causes);
  };
}

/** Puts what a check finds behind all that others find: the server declares it with the type of the field. */
export function declared(check: Check): Check {
  return (value, at, causes) => {
    const found: Cause[] = [];
    check(value, at, found);
    for (const each of found) causes.push({ ...each, late: true });
  };
}

/** Asks for a value. */
export function needed(detail = ""): Check {
  return (value, at, causes) => {
    if (isEmpty(value)) causes.push(cause.required(at, detail));
  };
}

/** Asks for a value, and runs a check where there is one. */
export function neededAnd(check: Check, detail = ""): Check {
  return (value, at, causes) => {
    if (isEmpty(value)) causes.push(cause.required(at, detail));
    else check(value, at, causes);
  };
}

/** Refuses a value. */
export function absent(detail: string): Check {
  return (value, at, causes) => {
    if (!isEmpty(value)) causes.push(cause.forbidden(at, detail));
  };
}

/** Takes nothing, or one of some values. */
export function oneOf(values: readonly string[]): Check {
  return (value, at, causes) => {
    if (value !== undefined && value !== null && !values.includes(value)) {
      causes.push(cause.unsupported(at, value, values));
    }
  };
}

/** Takes what a test says nothing against. */
// deno-lint-ignore no-explicit-any
export function such(test: (value: any) => string | readonly string[] | undefined): Check {
  return (value, at, causes) => {
    const wrong = test(value);
    for (const why of typeof wrong === "string" ? [wrong] : wrong ?? []) causes.push(cause.invalid(at, value, why));
  };
}

/** Takes a name by its rule. */
export function named(rule: NameRule): Check {
  return such((value) => validateName(String(value ?? ""), rule));
}

/** Takes a qualified name, such as that of a label. */
export const qualifiedName: Check = such((value) => validateQualified(String(value ?? "")));

/** Takes numbers that are at least so large. */
export function atLeast(least: number): Check {
  return such((value) => (value ?? 0) < least ? `must be greater than or equal to ${least}` : undefined);
}

/** Takes numbers between two, both included. */
export function between(low: number, high: number): Check {
  return such((value = 0) => value < low || value > high ? `must be between ${low} and ${high}, inclusive` : undefined);
}

/** Takes the number of a port. */
export const portNumber: Check = between(1, 65535);

/** What is wrong with the name of a port, in words. */
export function portNameRules(name: string): string[] {
  return [
    ...(name.length > 15 ? ["must be no more than 15 characters"] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
    ...(/[a-z]/.test(name) ? [] : ["must contain at least one letter (a-z)"]),
    ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
    ...(name !== "" && (name.startsWith("-") || name.endsWith("-")) ? ["must not begin or end with a hyphen"] : []),
  ];
}

/** Takes the number or the name of a port. */
export const portOrName: Check = (value, at, causes) => {
  if (typeof value === "string") such(portNameRules)(value, at, causes);
  else portNumber(value ?? 0, at, causes);
};

/** Refuses items that came before, as a key shows them. */
export function unique(
  keyOf: (item: Fields) => unknown = (item) => item,
  member = "",
): Check {
  return (value, at, causes) => {
    const seen: unknown[] = [];
    for (const [index, item] of (value ?? []).entries()) {
      const key = keyOf(item);
      if (seen.some((known) => equal(known, key))) {
        causes.push(cause.duplicate(`${at}[${index}]${member === "" ? "" : `.${member}`}`, key));
      } else seen.push(key);
    }
  };
}

/** Refuses a change of some members, each at its path. */
export function fixed(object: Fields, old: Fields, names: readonly string[], at = ""): Cause[] {
  return names.filter((name) => !equal(object[name], old[name]))
    .map((name) => cause.invalid(below(at, name), object[name], "field is immutable"));
}

/** Refuses a change of some members, as the server declares it: such causes come last, and show no value. */
export function fixedByType(object: Fields, old: Fields, names: readonly string[], at = ""): Cause[] {
  return names.filter((name) => !equal(object[name], old[name]))
    .map((name) => ({ ...cause.invalid(below(at, name), null, "field is immutable"), late: true }));
}

/** Makes empty lists of an object null, as they come back from where objects are stored. */
export function emptyToNull(object: Fields | undefined, ...names: readonly string[]): void {
  for (const name of names) if (object && isEmpty(object[name])) object[name] = null;
}
