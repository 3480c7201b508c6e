/**
 * Says how the kinds that make pods behave.
 *
 * ```ts
 * import { WORKLOADS } from "./_kinds_workloads.ts";
 *
 * console.assert(WORKLOADS["deployments.apps"]?.status);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kinds.ts";

/** The behaviours by storage. */
export const WORKLOADS: Readonly<Record<string, Behaviour>> = {
  "deployments.apps": { status: true, desired: (object) => [object.spec, object.metadata.annotations] },
};
