/**
 * Holds what a controller is told: its functions, the kinds that it watches besides its own, its limits.
 *
 * ```ts
 * import { sourceNamespaces } from "./_controller_config.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const source = { resource: ConfigMap, map: () => [], namespaces: ["shared"] };
 * console.assert(sourceNamespaces(source as never, ["shop"])?.join() === "shared");
 * ```
 *
 * @module
 */
import type { Keeping } from "./_decode.ts";
import type { Selection } from "./_selection.ts";
import type { Action } from "./action.ts";
import type { Context } from "./context.ts";
import type { Rule } from "./rbac.ts";
import type { KubernetesObject, ObjectRef, Resource } from "./resource.ts";

/** Makes the world match an object; throwing retries. */
export type Reconcile<T extends KubernetesObject> = (
  object: T,
  ctx: Context,
) => Action | void | undefined | Promise<Action | void | undefined>;

/** Tells whether a change of an object of the controller's own kind is worth a reconcile; `previous` is absent for new ones. */
export type Predicate<T extends KubernetesObject> = (object: T, previous: T | undefined) => boolean;

/** Reads the caches of a controller, without waiting. */
export interface CacheReader {
  /** One object of a kind that the controller watches. */
  get<R extends KubernetesObject>(resource: Resource<R>, ref: ObjectRef): R | undefined;
  /** All objects of a kind that the controller watches, or those in one namespace. */
  list<R extends KubernetesObject>(resource: Resource<R>, namespace?: string): readonly R[];
}

/**
 * Answers with the objects of the controller's kind that a watched object concerns; those named without a namespace are in
 * the watched object's own.
 */
export type MapFunction<S extends KubernetesObject> = (
  object: S,
  cache: CacheReader,
) => Iterable<ObjectRef | { readonly metadata: ObjectRef }>;

/** Options of {@linkcode Controller.watches}. */
export interface WatchesOptions<S extends KubernetesObject = KubernetesObject> extends Selection, Keeping {
  /** Caches only metadata. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /** Makes of each object what is cached, such as one without its data. @default {slim} */
  readonly transform?: ((object: S) => S) | undefined;
}

/** One further kind that a controller watches. */
export interface Source extends WatchesOptions {
  /** The kind. */
  readonly resource: Resource;
  /** How its objects concern the controller's; absent for owned kinds. */
  readonly map?: MapFunction<KubernetesObject> | undefined;
}

/** What was declared of a controller. */
export interface ControllerConfig<T extends KubernetesObject> extends Selection, Keeping {
  /** Makes of each object what is cached. */
  readonly transform?: ((object: T) => T) | undefined;
  /** The further kinds that it watches. */
  readonly sources: readonly Source[];
  /** What makes the world match an object. */
  readonly reconcile: Reconcile<T> | undefined;
  /** The finalizer and what runs under it. */
  readonly finalizer: { readonly name: string; readonly cleanup: Reconcile<T> } | undefined;
  /** Ms until the retry after a first failure. */
  readonly firstDelay: number;
  /** Most reconciles at a time. */
  readonly concurrency: number;
  /** Ms that a reconcile may take; undefined for any. */
  readonly timeout: number | undefined;
  /** Ms between two resyncs; undefined for none. */
  readonly resync: number | undefined;
  /** What changes must pass. */
  readonly predicates: readonly Predicate<T>[];
  /** Whether changes of the status alone count. */
  readonly onStatus: boolean;
  /** RBAC rules beyond the derived ones. */
  readonly rules: readonly Rule[];
}

/** The namespaces in which a source is watched: its own, else the controller's; undefined for all. */
export function sourceNamespaces(
  { resource, map, namespaces }: Source,
  controller: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!resource.namespaced) return undefined;
  return map ? namespaces ?? controller : controller;
}
