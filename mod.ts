/**
 * Writes Kubernetes operators: watch a kind, reconcile each object toward what it asks for, clean up behind it.
 *
 * ```ts
 * import { z } from "zod";
 * import { Action, Controller, customResource, Operator } from "@tend/operator";
 *
 * const Backup = customResource({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Backup",
 *   spec: z.object({ schedule: z.string() }),
 *   status: z.object({ lastRun: z.string().optional() }),
 * });
 *
 * const backups = new Controller(Backup)
 *   .reconcile(async (backup, ctx) => {
 *     await ctx.patchStatus(backup, { lastRun: "now" });
 *     return Action.requeue({ minutes: 5 });
 *   })
 *   .finalizer("example.com/cleanup", async (backup, ctx) => {
 *     await ctx.client.api(Backup).get(backup);
 *   });
 *
 * const operator = new Operator("backup-operator")
 *   .leaderElection("default", "backup-operator")
 *   .controller(backups);
 *
 * if (import.meta.main) await operator.main();
 * ```
 *
 * The built-in kinds are in `@tend/operator/kinds`, an API server for tests in `@tend/operator/testing`.
 *
 * @module
 */
export { Action } from "./action.ts";
export { backoff } from "./backoff.ts";
export {
  Api,
  Client,
  type ClientOptions,
  type Derivation,
  type Fetch,
  type List,
  type ListOptions,
  type RequestInfo,
  type RequestOptions,
  type Target,
  type WatchEvent,
  type WatchOptions,
} from "./client.ts";
export {
  type Condition,
  type ConditionUpdate,
  updateConditions,
  type UpdateConditionsOptions,
} from "./conditions.ts";
export type { CacheGetOptions, CacheListOptions, Context, StatusOf, StatusPatch, UntypedDraft } from "./context.ts";
export {
  type CacheReader,
  Controller,
  type ControllerConfig,
  type ControllerOptions,
  type MapFunction,
  type OwnsOptions,
  type Predicate,
  type Reconcile,
  type Selection,
  type Source,
  type WatchesOptions,
} from "./controller.ts";
