/**
 * Says how the kinds of the other groups behave.
 *
 * ```ts
 * import { OTHERS } from "./_kinds_others.ts";
 *
 * console.assert(OTHERS["leases.coordination.k8s.io"]?.createOnUpdate);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kinds.ts";
import { DEFINITION } from "./_kinds_definitions.ts";

/** The behaviours by storage. */
export const OTHERS: Readonly<Record<string, Behaviour>> = {
  "customresourcedefinitions.apiextensions.k8s.io": DEFINITION,
  "leases.coordination.k8s.io": { createOnUpdate: true },
  events: { createOnUpdate: true },
};
