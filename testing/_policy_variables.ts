/**
 * Names the variables that the expressions of admission policies see.
 *
 * ```ts
 * import { POLICY_VARIABLES } from "./_policy_variables.ts";
 *
 * console.assert(POLICY_VARIABLES.has("object"));
 * ```
 *
 * @module
 */
import { DYN, type Type } from "./_cel_types.ts";

const NAMES = ["object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"];

/** The variables. */
export const POLICY_VARIABLES: ReadonlyMap<string, Type> = new Map(NAMES.map((name) => [name, DYN]));
