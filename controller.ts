/**
 * Describes a controller: the kind it watches, what it owns, how it reconciles, cleans up and retries.
 *
 * ```ts
 * import { Action, Controller } from "@tend/operator";
 * import { ConfigMap, Secret } from "@tend/operator/kinds";
 *
 * const copies = new Controller(Secret, { labelSelector: "copy=wanted" })
 *   .owns(ConfigMap)
 *   .reconcile(async (secret, ctx) => {
 *     const data = { keys: Object.keys(secret.data ?? {}).join() };
 *     await ctx.applyOwned(secret, ConfigMap.draft({ metadata: { name: secret.metadata.name }, data }));
 *     return Action.requeue({ hours: 1 });
 *   });
 * console.assert(copies.name === "secret");
 * ```
 *
 * A description opens no connection; an {@linkcode Operator} runs it, as often as wanted.
 *
 * # Guarantees
 *
 * - Every change of an object's desired state leads to a reconcile that starts after it.
 * - An object is never reconciled twice at once, not even when a lease is lost and won again while a reconcile ignores its
 *   abort (but see {@linkcode Controller.timeout}); its failures never delay another's.
 * - An object that is being deleted is only ever cleaned up; its finalizer goes only after the cleanup succeeded.
 *
 * # Caveats
 *
 * A reconcile may run again at any time and from any state: after a crash, a lost lease, or for a change that its last run has
 * already seen. So may a cleanup: both must be idempotent. The objects handed out are the cached ones, frozen.
 *
 * @module
 */
import {
  type ControllerConfig,
  type MapFunction,
  type Predicate,
  type Reconcile,
  type Source,
  sourceNamespaces,
  type WatchesOptions,
} from "./_controller_config.ts";
import { assertKept, type Keeping } from "./_decode.ts";
import { assertSelection, type Selection } from "./_selection.ts";
import { CustomResource } from "./crd.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import { assertDnsLabel, assertFinalizer, assertNamespaces } from "./names.ts";
import {
  eventRules,
  finalizerRules,
  ownedRules,
  ownerRules,
  type Rule,
  type ScopedRule,
  scopeRules,
  statusRules,
  watchRules,
} from "./rbac.ts";
import type { KubernetesObject, Resource } from "./resource.ts";

export type { CacheReader, MapFunction, Predicate, Reconcile, WatchesOptions } from "./_controller_config.ts";
export type { Keeping, Kept } from "./_decode.ts";
export type { Selection } from "./_selection.ts";

/** Options of {@linkcode Controller}. */
export interface ControllerOptions<T extends KubernetesObject = KubernetesObject> extends Selection, Keeping {
  /** Names the controller in metrics and logs; unique in its operator. @default {the kind in lower case} */
  readonly name?: string | undefined;
  /** Makes of each object what is cached, and so what a reconcile is given. @default {slim} */
  readonly transform?: ((object: T) => T) | undefined;
}

/** Options of {@linkcode Controller.owns}. */
export interface OwnsOptions<C extends KubernetesObject = KubernetesObject> extends Keeping {
  /** Caches only metadata, for children whose content the reconcile does not read. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /** Only what this label selector selects: it must select every child that is applied. @default {all} */
  readonly labelSelector?: string | undefined;
  /** Makes of each child what is cached, such as one without its data. @default {slim} */
  readonly transform?: ((object: C) => C) | undefined;
}

/** Set by {@linkcode Controller} itself, as what was declared is for those alone who run it. */
let readConfig: <T extends KubernetesObject>(controller: Controller<T>) => ControllerConfig<T>;
let writeConfig: <T extends KubernetesObject>(controller: Controller<T>, config: ControllerConfig<T>) => void;

/**
 * The description of a controller; each method answers with the controller itself.
 *
 * Every change of an object's desired state leads to a reconcile that starts after it. An object that is being deleted is only
 * ever cleaned up, and its finalizer goes only after the cleanup succeeded.
 */
export class Controller<T extends KubernetesObject> {
  /** Its name in metrics and logs. */
  readonly name: string;
  /** The kind that it reconciles. */
  readonly resource: Resource<T>;
  #config: ControllerConfig<T>;

  static {
    readConfig = (controller) => controller.#config;
    writeConfig = (controller, config) => controller.#config = config;
  }

  /**
   * Describes a controller of a kind.
   *
   * @throws {TypeError} If the name or a namespace is none, or a cluster-scoped kind is given namespaces
   * @throws {SyntaxError} If the label selector is none
   */
  constructor(resource: Resource<T>, options: ControllerOptions<T> = {}) {
    const { name = resource.kind.toLowerCase(), ...selection } = options;
    assertDnsLabel(name, "controller", "name");
    this.name = name;
    this.resource = resource;
    this.#checkSelection(resource, selection);
    this.#config = {
      ...selection,
      sources: [],
      reconcile: undefined,
      finalizer: undefined,
      firstDelay: 5_000,
      concurrency: 16,
      timeout: undefined,
      resync: 36_000_000,
      predicates: [],
      onStatus: false,
      rules: [],
    };
  }

  /**
   * Sets what makes the world match an object. It runs for living objects only, never twice at once for one.
   *
   * It may run again at any time and from any state, so it must be idempotent. The object, and all that the context hands
   * out, is the cached one, frozen: change a `structuredClone()`, or write to the cluster by the context.
   *
   * @throws {TypeError} If it is not a function, or set already
   */
  reconcile(reconcile: Reconcile<T>): this {
    this.#checkFunction("reconcile", reconcile);
    if (this.#config.reconcile) this.#fail("'reconcile' may be set once");
    return this.#set({ reconcile });
  }

  /**
   * Puts a finalizer on every object and runs the cleanup before one may vanish.
   *
   * An object is first reconciled when the finalizer is on it. A cleanup that throws, or a call of whose context fails, is
   * retried like a reconcile; one that answers with `Action.requeue()` is not done yet. RBAC: `patch` on the kind.
   *
   * @throws {TypeError} If the name is not qualified by a domain, a finalizer is set already, or the controller watches by
   * label or field: an object that leaves such a selection looks deleted, and nobody would ever remove its finalizer
   */
  finalizer(name: string, cleanup: Reconcile<T>): this {
    assertFinalizer(name, this.#what);
    this.#checkFunction("finalizer", cleanup);
    if (this.#config.finalizer) this.#fail("'finalizer' may be set once");
    const { labelSelector, fieldSelector } = this.#config;
    if (labelSelector || fieldSelector) {
      this.#fail(
        `a finalizer needs a watch without selectors, which an object cannot leave: current value is ${
          Deno.inspect(labelSelector ?? fieldSelector)
        }`,
      );
    }
    return this.#set({ finalizer: { name, cleanup } });
  }

  /**
   * Watches a kind of children, so that the owner is reconciled when one changes, and allows `ctx.applyOwned` of them.
   *
   * RBAC: `get`, `list`, `watch`, `create`, `patch`, `delete` on the child's kind, `update` on the owner's finalizers.
   *
   * @throws {TypeError} If the kind is owned already, or is cluster-scoped while the owner's is not
   * @throws {SyntaxError} If the label selector is none
   */
  owns<C extends KubernetesObject>(resource: Resource<C>, options: OwnsOptions<C> = {}): this {
    return this.#addSource({ ...options, resource } as unknown as Source);
  }

  /**
   * Watches another kind and reconciles the objects that `map` answers with when one of its objects changes.
   *
   * On an update both the object before and after are mapped. The kind may be owned as well, be watched for several reasons,
   * or be the controller's own. RBAC: `get`, `list`, `watch` on the kind.
   *
   * @throws {TypeError} If a namespace is none, or `map` is not a function
   * @throws {SyntaxError} If the label selector is none
   */
  watches<S extends KubernetesObject>(
    resource: Resource<S>,
    map: MapFunction<S>,
    options: WatchesOptions<S> = {},
  ): this {
    this.#checkFunction("watches", map);
    return this.#addSource({ ...options, resource, map } as unknown as Source);
  }

  /** Sets the delay after a first failure; it doubles to 5 minutes. @default {5 s} @throws {RangeError} If not positive */
  onError(firstDelay: Duration): this {
    return this.#set({ firstDelay: this.#positive("onError", firstDelay) });
  }

  /** Sets how many objects are reconciled at once. @default {16} @throws {RangeError} If it is no positive integer */
  concurrency(count: number): this {
    if (!Number.isInteger(count) || count < 1) {
      throw new RangeError(
        `Cannot define ${this.#what}: 'concurrency' must be a positive integer: current value is ${
          Deno.inspect(count)
        }`,
      );
    }
    return this.#set({ concurrency: count });
  }

  /**
   * Sets how long one reconcile or cleanup may take; then its signal aborts, its context refuses further requests, and it
   * counts as failed. One that ignores its signal may still be running when the retry starts.
   *
   * @default {none} @throws {RangeError} If not positive
   */
  timeout(limit: Duration): this {
    return this.#set({ timeout: this.#positive("timeout", limit) });
  }

  /** Sets how often, give or take a tenth, all objects are reconciled without a change; `false` never. @default {10 h} */
  resync(interval: Duration | false): this {
    return this.#set({ resync: interval === false ? undefined : this.#positive("resync", interval) });
  }

  /**
   * Reconciles only for changes that this and every other predicate accept; objects being deleted always pass.
   *
   * @throws {TypeError} If it is not a function
   */
  filter(predicate: Predicate<T>): this {
    this.#checkFunction("filter", predicate);
    return this.#set({ predicates: [...this.#config.predicates, predicate] });
  }

  /** Reconciles also when only the status changed; by default such an update is taken for the operator's own. */
  onStatus(): this {
    return this.#set({ onStatus: true });
  }

  /**
   * Adds an RBAC rule for what the reconcile does beyond what was declared; it holds where the controller watches.
   *
   * @throws {TypeError} If the rule is malformed or has a wildcard
   */
  rule(rule: Rule): this {
    scopeRules([rule], undefined);
    return this.#set({ rules: [...this.#config.rules, rule] });
  }

  /**
   * The RBAC rules that the controller needs; where it has no namespaces of its own, in `namespaces`.
   *
   * @throws {TypeError} If a namespace is none
   */
  rules(options: { readonly namespaces?: readonly string[] | undefined } = {}): ScopedRule[] {
    const { sources, finalizer, rules } = this.#config;
    const own = this.resource as Resource;
    assertNamespaces(options.namespaces, this.#what);
    const namespaces = namespacesOf(this, options.namespaces);
    const owned = sources.filter((source) => !source.map);
    const scoped = [
      ...watchRules(own),
      ...(finalizer ? finalizerRules(own) : []),
      ...(own instanceof CustomResource ? statusRules(own) : []),
      ...(owned.length > 0 ? ownerRules(own) : []),
      ...rules,
    ];
    return [
      ...scopeRules(scoped, namespaces),
      ...scopeRules(eventRules(), own.namespaced ? namespaces : ["default"]),
      ...owned.flatMap(({ resource }) =>
        scopeRules(ownedRules(resource), resource.namespaced ? namespaces : undefined)
      ),
      ...sources.filter((source) => source.map).flatMap((source) =>
        scopeRules(watchRules(source.resource), sourceNamespaces(source, namespaces))
      ),
    ];
  }

  get #what(): string {
    return `controller "${this.name}"`;
  }

  #set(change: Partial<ControllerConfig<T>>): this {
    this.#config = { ...this.#config, ...change };
    return this;
  }

  #addSource(source: Source): this {
    const { resource } = source;
    this.#checkSelection(resource, source);
    const { sources } = this.#config;
    if (!source.map && sources.some((other) => !other.map && other.resource.id === resource.id)) {
      this.#fail(`a kind may be owned once: current value is "${resource.id}"`);
    }
    if (!source.map && !resource.namespaced && this.resource.namespaced) {
      this.#fail(`a namespaced owner cannot own a cluster-scoped kind: current value is "${resource.id}"`);
    }
    return this.#set({ sources: [...sources, source] });
  }

  #checkSelection(resource: Pick<Resource, "kind" | "namespaced">, selection: Selection & Keeping): void {
    assertKept(selection.keep, this.#what);
    const { namespaces } = selection;
    if (namespaces !== undefined && !resource.namespaced) {
      this.#fail(
        `the cluster-scoped kind ${resource.kind} has no namespaces: current value is ${Deno.inspect(namespaces)}`,
      );
    }
    assertSelection(selection, this.#what);
  }

  #checkFunction(field: string, value: unknown): void {
    if (typeof value !== "function") {
      this.#fail(`'${field}' must be a function: current value is ${Deno.inspect(value)}`);
    }
  }

  #positive(field: string, duration: Duration): number {
    const value = toMilliseconds(duration, field);
    if (value > 0) return value;
    throw new RangeError(`Cannot define ${this.#what}: '${field}' must be longer than 0 ms: current value is ${value}`);
  }

  #fail(rule: string): never {
    throw new TypeError(`Cannot define ${this.#what}: ${rule}`);
  }
}

/** Answers with what was declared of a controller so far. */
export function configOf<T extends KubernetesObject>(controller: Controller<T>): ControllerConfig<T> {
  return readConfig(controller);
}

/** Answers with a controller that is declared as another is, but for a change. */
export function copyOf<T extends KubernetesObject>(
  controller: Controller<T>,
  change: Partial<ControllerConfig<T>>,
): Controller<T> {
  const copy = new Controller(controller.resource, { name: controller.name });
  writeConfig(copy, { ...configOf(controller), ...change });
  return copy;
}

/** The namespaces that a controller watches: its own, else the given ones; undefined for all. */
export function namespacesOf<T extends KubernetesObject>(
  controller: Controller<T>,
  fallback: readonly string[] | undefined,
): readonly string[] | undefined {
  return controller.resource.namespaced ? configOf(controller).namespaces ?? fallback : undefined;
}
