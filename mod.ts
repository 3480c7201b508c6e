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
export type { Logger } from "./logger.ts";
export { Action } from "./action.ts";
export { backoff } from "./backoff.ts";
export {
  Api,
  type ApplyOptions,
  type CallOptions,
  Client,
  type ClientOptions,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type Derivation,
  type Fetch,
  type GetOptions,
  type ItemsOptions,
  type JsonPatchOperation,
  type List,
  type ListOptions,
  type Patch,
  type PatchOptions,
  type PatchType,
  type Query,
  type RequestAttempt,
  type RequestOptions,
  type ResourceVersionMatch,
  type Scale,
  type SelectOptions,
  type Subresource,
  type Target,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "./client.ts";
export { type Condition, type ConditionUpdate, updateConditions, type UpdateConditionsOptions } from "./conditions.ts";
export type { CacheGetOptions, CacheListOptions, Context, StatusOf, StatusPatch, UntypedDraft } from "./context.ts";
export {
  type CacheReader,
  Controller,
  type ControllerOptions,
  type Keeping,
  type Kept,
  type MapFunction,
  type OwnsOptions,
  type Predicate,
  type Reconcile,
  type Selection,
  type WatchesOptions,
} from "./controller.ts";
export {
  type CustomObject,
  CustomResource,
  customResource,
  type CustomResourceNames,
  type CustomResourceOptions,
  type JsonSchema,
  type PrinterColumn,
  type ScalePaths,
  type ValidationRule,
  type ZodSchema,
} from "./crd.ts";
export { type Connection, type CredentialOptions, Credentials } from "./credentials.ts";
export { type Duration, toMilliseconds } from "./duration.ts";
export {
  ApiError,
  isAlreadyExists,
  isApiError,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  LeadershipLostError,
  ObjectGoneError,
  RetryError,
  type Status,
  type StatusCause,
  type StatusDetails,
  TerminalError,
  TransportError,
} from "./errors.ts";
export { cutText, type EventDescription, EventRecorder, type EventRecorderOptions } from "./events.ts";
export {
  type Check,
  type Exposition,
  HealthServer,
  type HealthServerOptions,
  type ListenAddress,
  type ListenOptions,
} from "./health.ts";
export { Informer, type InformerEvent, type InformerOptions } from "./informer.ts";
export { Informers, type InformersOptions, type SharedInformerOptions } from "./informers.ts";
export { LeaderElector, type LeaderOptions, type LeaderState, type Term } from "./leader.ts";
export { type ContainerResources, DENO_FLAGS, type ManifestOptions, toYaml } from "./manifests.ts";
export {
  type ControllerMetrics,
  type EventMetrics,
  type LeaderMetrics,
  Metrics,
  type ReconcileResult,
} from "./metrics.ts";
export { childName, labelValue } from "./names.ts";
export type { QueueMetrics, QueuePriority, QueueState } from "./queue.ts";
export { type ElectionOptions, Operator, type OperatorOptions, type RunOptions } from "./operator.ts";
export { mergeRules, type RoleObject, roles, type RolesOptions, type Rule, type ScopedRule } from "./rbac.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Metric,
  type MetricLabels,
  type MetricOptions,
  type MetricSample,
  type MetricStep,
  Registry,
  type RegistryOptions,
} from "./registry.ts";
export {
  assertCanOwn,
  compareVersions,
  controllerOf,
  type DeepPartial,
  type Draft,
  type DraftMeta,
  fromKey,
  keyOf,
  type KindedDraft,
  type KubernetesObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type ObjectOf,
  type ObjectRef,
  type OwnerReference,
  ownerReference,
  Resource,
  resource,
  type ResourceDefinition,
  type Scope,
  toKey,
} from "./resource.ts";
export { type Initial, slim, watch, type WatcherEvent, type WatcherOptions } from "./watcher.ts";
