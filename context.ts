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
import { applyChild, type ChildClaims } from "./_owned_child.ts";
import { firstStatus, toJson, writeStatus } from "./_status_writer.ts";
import { refOf } from "./_verbs.ts";
import type { WatchedKinds } from "./_watched_kinds.ts";
import type { Api, Client, ListOptions, Target } from "./client.ts";
import { assertConditions, type Condition, type ConditionUpdate, updateConditions } from "./conditions.ts";
import { ObjectGoneError } from "./errors.ts";
import type { EventDescription, EventRecorder } from "./events.ts";
import { diff, equal, type JsonPatchOperation, merge } from "./json.ts";
import type { Logger } from "./logger.ts";
import type { WriteMemo } from "./memo.ts";
import { type DraftMeta, keyOf, type KindedDraft, type KubernetesObject, type Resource } from "./resource.ts";
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
  /** The namespace. @default {the target's, else the reconciled object's} */
  readonly namespace?: string | undefined;
  /** Asks the server even for a kind that the controller watches. @default {false} */
  readonly live?: boolean | undefined;
}

/** Options of {@linkcode Context.list}. */
export interface CacheListOptions {
  /** Only this namespace. @default {all that the controller watches, or all} */
  readonly namespace?: string | undefined;
  /** Only what this label selector selects. @default {all} */
  readonly labelSelector?: string | undefined;
  /** Asks the server even for a kind that the controller watches. @default {false} */
  readonly live?: boolean | undefined;
}

/** What a reconcile or cleanup gets besides the object. */
export interface Context {
  /** Sends for this reconcile, until it ends, is aborted or loses the lease; what it writes is in the cache at once. */
  readonly client: Client;
  /** The operator's name; also the field manager of what it applies. */
  readonly operator: string;
  /** Aborts when the reconcile must end: its timeout, the end of the shutdown's grace, a lost lease. */
  readonly signal: AbortSignal;
  /** Logs with the controller and the object as properties. */
  readonly log: Logger;

  /**
   * Throws if the run is over: call it right before each change of something outside the cluster.
   *
   * Requests to the API server are checked by themselves. A process that stood still for longer than its lease wakes up
   * wherever it was, before its signal can abort; only a look at the clock tells that another may lead by now.
   *
   * @throws {LeadershipLostError} If the lease is lost, or may be
   * @throws The signal's reason, if it has aborted
   */
  check(): void;

  /**
   * Merges into the object's status; sends nothing when that changes nothing.
   *
   * It lands on this very object, never on a successor of the same name, and is computed again when the status changed meanwhile.
   * RBAC: `patch` on `<plural>/status`, `get` on the kind.
   *
   * @throws {TypeError} If it is not an object, or has in it what JSON cannot hold, such as NaN
   * @throws {ObjectGoneError} If the object is gone
   */
  patchStatus<T extends KubernetesObject>(object: T, status: StatusPatch<StatusOf<T>>): Promise<T>;

  /**
   * Sets one entry of `status.conditions`; sends nothing when that changes nothing.
   *
   * `lastTransitionTime` stays unless the status flips, `observedGeneration` is the object's generation, and conditions that
   * others set meanwhile are kept. RBAC as for `patchStatus`.
   *
   * @throws {TypeError} If type, status or reason are not what the API conventions ask, or the kind's status has no conditions
   * @throws {ObjectGoneError} If the object is gone
   */
  setCondition<T extends KubernetesObject>(object: T, condition: ConditionUpdate): Promise<T>;

  /**
   * Applies a child (server-side apply, forced, the operator as field manager) with its owner as controller.
   *
   * Namespace: the owner's by default. Sends nothing while the watched child is still, but for its status, what this process'
   * last apply of the same content brought about; then answers with the cached child.
   * RBAC: `create` and `patch` on the child's kind, `update` on the owner's `<plural>/finalizers`: both come from `.owns()`.
   *
   * @throws {TypeError} If the kind is not declared with `.owns()`, or the garbage collector would not find the owner
   * @throws {ObjectGoneError} If the owner is the reconciled object, and that is gone
   * @throws {Error} If another object controls a child of that name: two owners would take it from each other for ever
   */
  applyOwned<T extends KubernetesObject>(owner: KubernetesObject, child: KindedDraft<T>): Promise<T>;
  /** The same for a child that is written as a plain literal. */
  applyOwned(owner: KubernetesObject, child: UntypedDraft): Promise<KubernetesObject>;

  /** Records a Kubernetes Event about an object, best effort, without waiting. RBAC: `create` and `patch` on events. */
  event(object: KubernetesObject, event: EventDescription): void;

  /** The cached children of the reconciled object. @throws {TypeError} If the kind is not declared with `.owns()` */
  owned<T extends KubernetesObject>(resource: Resource<T>): readonly T[];

  /**
   * Reads one object: from the cache if the controller watches it, whole; else from the server. What selectors or namespaces
   * leave out of the cache is asked of the server, too. RBAC: `get` on the kind, as `.owns()` and `.watches()` bring it.
   *
   * @returns The object; undefined if it does not exist
   * @throws {TypeError} If the name is empty, or could change the path that it is put into
   * @throws {ApiError} If the server refuses
   */
  get<T extends KubernetesObject>(
    resource: Resource<T>,
    target: Target,
    options?: CacheGetOptions,
  ): Promise<T | undefined>;

  /**
   * Lists objects: from the cache, and then those alone that it selects, if the controller watches whole objects of the kind
   * in that namespace; else from the server. RBAC: `list` on the kind, as `.owns()` and `.watches()` bring it.
   *
   * @throws {SyntaxError} If the label selector is none, and the cache is asked
   * @throws {ApiError} If the server refuses
   */
  list<T extends KubernetesObject>(resource: Resource<T>, options?: CacheListOptions): Promise<readonly T[]>;
}

/** The index of owned informers by the uid of the controlling owner. */
export const OWNER_INDEX = "owner";

/** What contexts of one controller share. */
export interface ContextEnvironment {
  /** The operator's name. */
  readonly operator: string;
  /** Every kind that the controller watches. */
  readonly kinds: WatchedKinds;
  /** The recorder of events. */
  readonly recorder: Pick<EventRecorder, "record">;
  /** What this process last wrote. */
  readonly memo: WriteMemo;
  /** Which owners are applying which children now. */
  readonly claims: ChildClaims;
}

/** One run; what it may not need, and costs something, is made when it is asked for. */
export interface ContextRun {
  /** The object that is reconciled. */
  readonly object: KubernetesObject;
  /** Its abort. */
  readonly abort: { readonly signal: AbortSignal };
  /** Makes its client. */
  readonly client: () => Client;
  /** Makes its logger. */
  readonly log: () => Logger;
}

/** The {@linkcode Context} of one run. */
export class ReconcileContext implements Context {
  readonly #environment: ContextEnvironment;
  readonly #run: ContextRun;
  readonly #primary: KubernetesObject;
  readonly #pending: Set<Promise<unknown>> = new Set();
  #client: Client | undefined;
  #log: Logger | undefined;

  /** Binds the controller's environment to one object and one run. */
  constructor(environment: ContextEnvironment, run: ContextRun) {
    this.#environment = environment;
    this.#run = run;
    this.#primary = run.object;
  }

  get client(): Client {
    return this.#client ??= this.#run.client();
  }

  get signal(): AbortSignal {
    return this.#run.abort.signal;
  }

  get log(): Logger {
    return this.#log ??= this.#run.log();
  }

  get operator(): string {
    return this.#environment.operator;
  }

  check(): void {
    this.client.check();
  }

  /**
   * Resolves when all that was called has succeeded, also what the run did not wait for.
   *
   * @throws What a call fails with
   */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /**
   * Ends the run: what it did not wait for fails unheard from now on.
   *
   * @returns How many calls the run did not wait for
   */
  end(): number {
    for (const promise of this.#pending) promise.catch(() => {});
    return this.#pending.size;
  }

  patchStatus<T extends KubernetesObject>(object: T, status: StatusPatch<StatusOf<T>>): Promise<T> {
    return this.#keep(async () => {
      const patch = toJson(status);
      return await this.#writeStatus(object, (before) => {
        const after = merge(before ?? {}, patch);
        if (equal(before ?? {}, after)) return undefined;
        return before === undefined ? firstStatus(after) : diff(before, after, "/status");
      });
    });
  }

  setCondition<T extends KubernetesObject>(object: T, condition: ConditionUpdate): Promise<T> {
    const observedGeneration = object.metadata.generation;
    return this.#keep(async () => {
      assertConditions(this.#declared(object), condition.type);
      return await this.#writeStatus(object, (before) => {
        const conditions = (before as { conditions?: Condition[] } | undefined)?.conditions;
        const after = updateConditions(conditions, condition, { observedGeneration });
        if (after === conditions) return undefined;
        if (before === undefined) return firstStatus({ conditions: after });
        const path = "/status/conditions";
        return [{ op: "test", path, value: conditions ?? null }, { op: "add", path, value: after }];
      });
    });
  }

  applyOwned(owner: KubernetesObject, child: UntypedDraft): Promise<never> {
    const { operator: fieldManager, kinds, memo, claims } = this.#environment;
    return this.#keep(async () => {
      const kind = kinds.owned(child) ?? this.#undeclared(child);
      this.#assertOwnerLives(owner, child);
      return await applyChild({ client: this.client, fieldManager, memo, claims }, kind, owner, child) as never;
    });
  }

  event(object: KubernetesObject, event: EventDescription): void {
    this.#environment.recorder.record(object, event);
  }

  owned<T extends KubernetesObject>(resource: Resource<T>): readonly T[] {
    const { informer } = this.#environment.kinds.owned(resource) ?? this.#undeclared(resource);
    return informer.byIndex(OWNER_INDEX, this.#primary.metadata.uid) as T[];
  }

  get<T extends KubernetesObject>(
    resource: Resource<T>,
    target: Target,
    options: CacheGetOptions = {},
  ): Promise<T | undefined> {
    const { live = false } = options;
    return this.#keep(async () => {
      const { name, namespace = this.#primary.metadata.namespace } = refOf(target);
      const ref = { name, namespace: resource.namespaced ? options.namespace ?? namespace : undefined };
      const { object, sure } = live ? { object: undefined, sure: false } : this.#environment.kinds.look(resource, ref);
      return sure ? object as T | undefined : await this.client.api(resource).find(ref);
    });
  }

  list<T extends KubernetesObject>(resource: Resource<T>, options: CacheListOptions = {}): Promise<readonly T[]> {
    const { namespace, labelSelector: selector, live = false } = options;
    return this.#keep(async () => {
      const cache = live ? undefined : this.#environment.kinds.listed(resource, namespace);
      if (!cache) return await listAll(this.client.api(resource), { namespace, labelSelector: selector });
      const objects = cache.informer.list(namespace) as T[];
      if (!selector) return objects;
      const selects = labelSelector(selector);
      return objects.filter((object) => selects(object.metadata.labels));
    });
  }

  async #writeStatus<T extends KubernetesObject>(
    object: T,
    operations: (status: unknown) => JsonPatchOperation[] | undefined,
  ): Promise<T> {
    const { kinds, memo } = this.#environment;
    return await writeStatus({ client: this.client, kinds, memo }, this.#declared(object), object, operations);
  }

  #declared<T extends KubernetesObject>(object: T): Resource<T> {
    return (this.#environment.kinds.find(object) ?? this.#undeclared(object)).resource as Resource<T>;
  }

  /** Calls, and remembers it until it has settled. */
  #keep<R>(call: () => Promise<R>): Promise<R> {
    const kept = call().finally(() => this.#pending.delete(kept));
    this.#pending.add(kept);
    return kept;
  }

  /** A child of an object that is gone, or of its successor's name, would be left to the garbage collector. */
  #assertOwnerLives(owner: KubernetesObject, child: UntypedDraft): void {
    const { kind, metadata } = this.#primary;
    if (owner.metadata.uid !== metadata.uid) return;
    const { object, sure } = this.#environment.kinds.look(this.#primary, metadata);
    if (object ? object.metadata.uid === metadata.uid : !sure) return;
    const what = `${child.kind} "${child.metadata.name}" of ${kind} "${keyOf(owner)}"`;
    throw new ObjectGoneError(`Cannot apply ${what}: its owner was deleted meanwhile`, metadata.uid);
  }

  #undeclared(object: { readonly apiVersion: string; readonly kind: string }): never {
    throw new TypeError(
      `Cannot use ${object.kind} (${object.apiVersion}) as a watched or owned kind: the controller must declare it, ` +
        `for children with .owns()`,
    );
  }
}

/** All there is, also of a server that pages on its own: half of it would pass for the whole. */
async function listAll<T extends KubernetesObject>(api: Api<T>, options: ListOptions): Promise<T[]> {
  const objects: T[] = [];
  let token: string | undefined;
  do {
    const { items, metadata } = await api.list({ ...options, continue: token });
    for (const item of items) objects.push(item);
    token = metadata.continue || undefined;
  } while (token !== undefined);
  return objects;
}
