/**
 * Says how pods and the kinds that make pods behave.
 *
 * ```ts
 * import { WORKLOADS } from "./_kinds_workloads.ts";
 *
 * console.assert(WORKLOADS["deployments.apps"]?.status);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { APPS } from "./_kinds_apps.ts";
import { JOBS } from "./_kinds_jobs.ts";
import { PODS } from "./_kinds_pods.ts";

/** The behaviours by storage. */
export const WORKLOADS: Readonly<Record<string, Behaviour>> = { ...PODS, ...APPS, ...JOBS };
