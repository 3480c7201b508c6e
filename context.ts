/**
 * Gives a reconcile what it needs besides the object: writes that send nothing twice, cached reads, events, the client.
 *
 * ```ts
 * import { type Context, type KubernetesObject } from "@tend/operator";
 * import { ConfigMap } from "@tend/operator/kinds";
 *
 * interface Site extends KubernetesObject {
 *   spec: { title: string };
 *   status?: { page?: string };
 * }
 *
 * export async function reconcile(site: Site, ctx: Context): Promise<void> {
 *   const page = ConfigMap.draft({ metadata: { name: site.metadata.name }, data: { title: site.spec.title } });
 *   await ctx.applyOwned(site, page);
 *   await ctx.patchStatus(site, { page: site.metadata.name });
 *   ctx.event(site, { type: "Normal", reason: "Published", note: `Published ${site.spec.title}` });
 * }
 * ```
 *
 * @module
 */
import type { Client, Target } from "./client.ts";
import { type Condition, type ConditionUpdate, updateConditions } from "./conditions.ts";
import { isNotFound, ObjectGoneError } from "./errors.ts";
import type { EventDescription, EventRecorder } from "./events.ts";
import type { Informer } from "./informer.ts";
import { diff, equal, type JsonPatchOperation, merge } from "./json.ts";
import type { Logger } from "./logger.ts";
import type { WriteMemo } from "./memo.ts";
import { patchCurrent } from "./patch.ts";
import {
  assertCanOwn,
  compareVersions,
  type DraftMeta,
  keyOf,
  type KindedDraft,
  type KubernetesObject,
  type ObjectRef,
  ownerReference,
  type Resource,
  toKey,
} from "./resource.ts";
import { labelSelector } from "./selectors.ts";

/** A change to a status: what is named is set, null removes, the rest stays. */
export type StatusPatch<T> = T extends readonly unknown[] ? T
  : T extends object ? { [K in keyof T]?: StatusPatch<T[K]> | null | undefined }
  : T;

/** The type of an object's status. */
export type StatusOf<T> = T extends { status?: infer S } ? NonNullable<S> : Record<string, unknown>;

/** A child of any kind, as a plain literal. */
export interface UntypedDraft {
  /** Group and version, such as `apps/v1`. */
  readonly apiVersion: string;
  /** The kind. */
  readonly kind: string;
  /** At least a name. */
  readonly metadata: DraftMeta;
  /** Whatever else objects of the kind have. */
  readonly [field: string]: unknown;
}

/** Options of {@linkcode Context.get}. */
export interface CacheGetOptions {
  /** Namespace of a name given as text. @default {the reconciled object's} */
  readonly namespace?: string | undefined;
  /** Asks the server even for a kind that the controller watches. @default {false} */
  readonly live?: boolean | undefined;
}

/** Options of {@linkcode Context.list}. */
export interface CacheListOptions {
  /** Only this namespace. @default {all that the controller watches, or all} */
  readonly namespace?: string | undefined;
  /** Only what this label selector selects. */
  readonly labelSelector?: string | undefined;
  /** Asks the server even for a kind that the controller watches. @default {false} */
  readonly live?: boolean | undefined;
}

/** What a reconcile or cleanup gets besides the object. */
export interface Context {
  /** Requests of this reconcile: refused once it was aborted or the leadership lost; what they write is in the cache at once. */
  readonly client: Client;
  /** The operator's name; also the field manager of what it applies. */
  readonly operator: string;
  /** Aborts when the reconcile must end: its timeout, the end of the shutdown's grace, a lost lease. */
  readonly signal: AbortSignal;
  /** Logs with the controller and the object as properties. */
  readonly log: Logger;

  /**
   * Merges into the object's status; sends nothing when that changes nothing.
   *
   * It lands on this very object, never on a successor of the same name, and is computed again when the status changed meanwhile.
   * RBAC: `patch` on `<plural>/status`, `get` on the kind.
   *
   * @throws {ObjectGoneError} If the object is gone
   */
  patchStatus<T extends KubernetesObject>(object: T, status: StatusPatch<StatusOf<T>>): Promise<T>;

  /**
   * Sets one entry of `status.conditions`; sends nothing when that changes nothing.
   *
   * `lastTransitionTime` stays unless the status flips, `observedGeneration` is the object's generation, and conditions that
   * others set meanwhile are kept. RBAC as for `patchStatus`.
   *
   * @throws {TypeError} If type, status or reason are not what the API conventions ask
   * @throws {ObjectGoneError} If the object is gone
   */
  setCondition<T extends KubernetesObject>(object: T, condition: ConditionUpdate): Promise<T>;

  /**
   * Applies a child (server-side apply, forced, the operator as field manager) with its owner as controller.
   *
   * Namespace: the owner's by default. Sends nothing while the watched child is still at the version that this process' last
   * apply of the same content brought about; then answers with the cached child.
   * RBAC: `create` and `patch` on the child's kind, `update` on the owner's `<plural>/finalizers`: both come from `.owns()`.
   *
   * @throws {TypeError} If the kind is not declared with `.owns()`, or the garbage collector would not find the owner
   */
  applyOwned<T extends KubernetesObject>(owner: KubernetesObject, child: KindedDraft<T>): Promise<T>;
  /** The same for a child that is written as a plain literal. */
  applyOwned(owner: KubernetesObject, child: UntypedDraft): Promise<KubernetesObject>;

  /** Records a Kubernetes Event about an object, best effort, without waiting. RBAC: `create` and `patch` on events. */
  event(object: KubernetesObject, event: EventDescription): void;

  /** The cached children of the reconciled object. @throws {TypeError} If the kind is not declared with `.owns()` */
  owned<T extends KubernetesObject>(resource: Resource<T>): readonly T[];

  /** Reads one object: from the cache for a kind that the controller watches whole, else from the server. */
  get<T extends KubernetesObject>(
    resource: Resource<T>,
    target: Target,
    options?: CacheGetOptions,
  ): Promise<T | undefined>;

  /** Lists objects: from the cache for a kind that the controller watches whole, else from the server. */
  list<T extends KubernetesObject>(resource: Resource<T>, options?: CacheListOptions): Promise<readonly T[]>;
}

/** The index of owned informers by the uid of the controlling owner. */
export const OWNER_INDEX = "owner";

/** One kind that the controller watches. */
export interface WatchedKind {
  /** The kind. */
  readonly resource: Resource;
  /** Its cache. */
  readonly informer: Informer<KubernetesObject>;
  /** True if the cache holds metadata only. */
  readonly metadataOnly: boolean;
  /** True if `.owns()` declared it. */
  readonly owned: boolean;
}

/** What contexts of one controller share. */
export interface ContextEnvironment {
  /** The operator's name. */
  readonly operator: string;
  /** Every kind that the controller watches, its own first. */
  readonly watched: readonly WatchedKind[];
  /** The recorder of events. */
  readonly recorder: Pick<EventRecorder, "record">;
  /** What this process last wrote. */
  readonly memo: WriteMemo;
}

/** The {@linkcode Context} of one run. */
export class ReconcileContext implements Context {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly #environment: ContextEnvironment;
  readonly #primary: KubernetesObject;

  /** Binds the controller's environment to one object and one run's client, signal and logger. */
  constructor(
    environment: ContextEnvironment,
    run: { client: Client; signal: AbortSignal; log: Logger; object: KubernetesObject },
  ) {
    this.#environment = environment;
    this.client = run.client;
    this.signal = run.signal;
    this.log = run.log;
    this.#primary = run.object;
  }

  get operator(): string {
    return this.#environment.operator;
  }

  patchStatus<T extends KubernetesObject>(object: T, status: StatusPatch<StatusOf<T>>): Promise<T> {
    // As JSON, so that what is undefined is absent and dates are text, on both sides of the comparison.
    const patch = JSON.parse(JSON.stringify(status ?? {}));
    return this.#writeStatus(object, (before) => {
      const after = merge(before ?? {}, patch);
      if (equal(before ?? {}, after)) return undefined;
      return before === undefined ? firstStatus(after) : diff(before, after, "/status");
    });
  }

  setCondition<T extends KubernetesObject>(object: T, condition: ConditionUpdate): Promise<T> {
    const observedGeneration = object.metadata.generation;
    return this.#writeStatus(object, (before) => {
      const conditions = (before as { conditions?: Condition[] } | undefined)?.conditions;
      const after = updateConditions(conditions, condition, { observedGeneration });
      if (after === conditions) return undefined;
      if (before === undefined) return firstStatus({ conditions: after });
      const path = "/status/conditions";
      return [{ op: "test", path, value: conditions ?? null }, { op: "add", path, value: after }];
    });
  }

  async #writeStatus<T extends KubernetesObject>(
    object: T,
    operations: (status: unknown) => JsonPatchOperation[] | undefined,
  ): Promise<T> {
    const { resource } = this.#watched(object);
    const id = `${resource.id}/status ${keyOf(object)}`;
    const { memo } = this.#environment;
    let sent: JsonPatchOperation[] | undefined;
    const write = (current: T): JsonPatchOperation[] | undefined => {
      sent = operations((current as { status?: unknown }).status);
      // A server that drops part of a status would otherwise be sent that part each time.
      if (sent && memo.stands(id, sent, current.metadata.resourceVersion)) sent = undefined;
      return sent;
    };
    try {
      const result = await patchCurrent(
        this.client.api(resource as Resource<T>),
        this.#newest(object),
        write,
        "status",
      );
      if (!result) {
        throw new ObjectGoneError(
          `Cannot write the status of ${object.kind} "${keyOf(object)}": it was deleted meanwhile`,
        );
      }
      if (sent) memo.remember(id, sent, result.metadata.resourceVersion);
      return result;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new Error(
        `Cannot write the status of ${object.kind} "${keyOf(object)}": its kind has no status subresource; ` +
          `enable 'subresources.status' in the CustomResourceDefinition "${resource.id}"`,
        { cause: error },
      );
    }
  }

  /** What is known best of an object: the cached one if it is newer than the one at hand. */
  #newest<T extends KubernetesObject>(object: T): T {
    const { informer, metadataOnly } = this.#watched(object);
    const cached = metadataOnly ? undefined : informer.get(keyOf(object));
    if (cached?.metadata.uid !== object.metadata.uid) return object;
    return compareVersions(cached.metadata.resourceVersion, object.metadata.resourceVersion) > 0 ? cached as T : object;
  }

  async applyOwned(owner: KubernetesObject, child: UntypedDraft): Promise<never> {
    const { resource, informer, owned } = this.#watched(child);
    if (!owned) this.#undeclared(child);
    const namespace = resource.namespaced ? child.metadata.namespace ?? owner.metadata.namespace : undefined;
    const { namespace: _, ...given } = child.metadata;
    const metadata = namespace === undefined ? given : { ...given, namespace };
    if (!metadata.name) {
      throw new TypeError(
        `Cannot apply a ${child.kind} of ${owner.kind} "${
          keyOf(owner)
        }": 'metadata.name' must be set, so that the same child ` +
          `is met again: current value is ${Deno.inspect(metadata.name)}`,
      );
    }
    if (resource.namespaced && namespace === undefined) {
      throw new TypeError(
        `Cannot apply ${child.kind} "${metadata.name}" of ${owner.kind} "${
          keyOf(owner)
        }": 'metadata.namespace' must be set ` +
          `for a child of a cluster-scoped owner`,
      );
    }
    assertCanOwn(owner, { kind: child.kind, metadata });
    const reference = ownerReference(owner);
    const others = (metadata.ownerReferences ?? []).filter((other) => other.uid !== reference.uid && !other.controller);
    const draft = { ...child, metadata: { ...metadata, ownerReferences: [...others, reference] } };

    const key = toKey({ namespace, name: metadata.name });
    const id = `${resource.id} ${key}`;
    const { memo } = this.#environment;
    const cached = informer.get(key);
    if (cached && memo.stands(id, draft, cached.metadata.resourceVersion)) return cached as never;
    const options = { force: true, fieldManager: this.operator };
    const applied = await this.client.api(resource).apply(draft as KindedDraft<KubernetesObject>, options);
    memo.remember(id, draft, applied.metadata.resourceVersion);
    return applied as never;
  }

  event(object: KubernetesObject, event: EventDescription): void {
    this.#environment.recorder.record(object, event);
  }

  owned<T extends KubernetesObject>(resource: Resource<T>): readonly T[] {
    const kind = this.#find(resource.kind, resource.group);
    if (!kind?.owned) this.#undeclared(resource);
    return kind.informer.byIndex(OWNER_INDEX, this.#primary.metadata.uid) as T[];
  }

  async get<T extends KubernetesObject>(
    resource: Resource<T>,
    target: Target,
    options: CacheGetOptions = {},
  ): Promise<T | undefined> {
    const { namespace = this.#primary.metadata.namespace, live = false } = options;
    const ref: ObjectRef = typeof target === "string"
      ? { name: target, namespace: resource.namespaced ? namespace : undefined }
      : refOf(target);
    const cache = live ? undefined : this.#cache(resource);
    return cache ? cache.get(toKey(ref)) as T | undefined : await this.client.api(resource).find(ref);
  }

  async list<T extends KubernetesObject>(resource: Resource<T>, options: CacheListOptions = {}): Promise<readonly T[]> {
    const { namespace, labelSelector: selector, live = false } = options;
    const cache = live ? undefined : this.#cache(resource);
    if (!cache) {
      return (await this.client.api(resource).list({ namespace, labelSelector: selector })).items;
    }
    const objects = cache.list(namespace) as T[];
    if (!selector) return objects;
    const selects = labelSelector(selector);
    return objects.filter((object) => selects(object.metadata.labels));
  }

  #cache(resource: Resource): Informer<KubernetesObject> | undefined {
    const kind = this.#find(resource.kind, resource.group);
    return kind && !kind.metadataOnly ? kind.informer : undefined;
  }

  #find(kind: string, group: string): WatchedKind | undefined {
    return this.#environment.watched.find(({ resource }) => resource.kind === kind && resource.group === group);
  }

  #watched(object: { readonly apiVersion: string; readonly kind: string }): WatchedKind {
    return this.#environment.watched.find(({ resource }) => resource.is(object)) ?? this.#undeclared(object);
  }

  #undeclared(object: { readonly apiVersion: string; readonly kind: string }): never {
    throw new TypeError(
      `Cannot use ${object.kind} (${object.apiVersion}) as a watched or owned kind: the controller must declare it, ` +
        `for children with .owns()`,
    );
  }
}

function refOf(target: Exclude<Target, string>): ObjectRef {
  const { name, namespace } = "metadata" in target ? target.metadata : target;
  if (!name) {
    throw new TypeError(`Cannot read an object: its 'name' must be set: current value is ${Deno.inspect(name)}`);
  }
  return { name, namespace };
}

/** A test for null passes only where there is no status yet. */
function firstStatus(status: unknown): JsonPatchOperation[] {
  return [{ op: "test", path: "/status", value: null }, { op: "add", path: "/status", value: status }];
}
