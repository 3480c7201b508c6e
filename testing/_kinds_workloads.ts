/**
 * Says how pods, the kinds that make pods, and those that set bounds to them behave.
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
import { AUTOSCALER } from "./_kinds_autoscalers.ts";
import { DISRUPTION } from "./_kinds_disruption.ts";
import { JOBS } from "./_kinds_jobs.ts";
import { PODS } from "./_kinds_pods.ts";
import { QUOTAS } from "./_kinds_quotas.ts";
import { VOLUMES } from "./_kinds_volumes.ts";

/** The behaviours by storage. */
export const WORKLOADS: Readonly<Record<string, Behaviour>> = {
  ...PODS,
  ...APPS,
  ...JOBS,
  ...DISRUPTION,
  ...QUOTAS,
  ...VOLUMES,
  "horizontalpodautoscalers.autoscaling": AUTOSCALER,
};
