/**
 * Caches the objects of one kind, kept up to date by watches, and tells listeners what changes.
 *
 * ```ts
 * import { Client, Informer } from "@tend/operator";
 * import { ConfigMap } from "@tend/operator/kinds";
 *
 * async function countFor(client: Client, signal: AbortSignal): Promise<number> {
 *   const informer = new Informer(client, ConfigMap, { namespaces: ["default"] });
 *   using _ = informer.subscribe((event) => console.log(event.type, event.object.metadata.name));
 *   const running = informer.run(signal);
 *   await informer.whenSynced(signal);
 *   const count = informer.size;
 *   await running; // until the signal aborts
 *   return count;
 * }
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { CachedObject } from "./_cached_object.ts";
import { Decoder, type Keeping } from "./_decode.ts";
import { Emitter } from "./_emitter.ts";
import { Index } from "./_key_index.ts";
import { runOnce, type Runs } from "./_run_once.ts";
import { assertSelection, type Selection, selector } from "./_selection.ts";
import { type Change, Store } from "./_store.ts";
import type { Client } from "./client.ts";
import { race } from "./delay.ts";
import type { Logger } from "./logger.ts";
import { fromKey, type KubernetesObject, type Resource } from "./resource.ts";
import { type Initial, watchCached, type WatcherEvent } from "./watcher.ts";

/** A change in an {@linkcode Informer}. Its objects are deeply frozen. */
export interface InformerEvent<T> {
  /** What happened. */
  readonly type: "added" | "updated" | "deleted";
  /** The object as it is now; of a deleted one its last known state. */
  readonly object: T;
  /** What an updated object was before. */
  readonly previous?: T;
  /** True when the object was there before anybody looked: it is part of a run's first list, or of a replay. */
  readonly initial: boolean;
}

/** Options of {@linkcode Informer}. */
export interface InformerOptions<T> extends Selection, Keeping {
  /** Makes of each object what is kept, which then stays parsed. @default {slim} */
  readonly transform?: ((object: T) => T) | undefined;
  /** Keeps nothing but `metadata`, and asks the server for nothing else. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /** The way to the initial state. @default {"list"} */
  readonly initial?: Initial | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the logger of the category "tend", "informer"} */
  readonly log?: Logger | undefined;
}

/** A change in an informer, whose objects are parsed only when they are read. */
export interface CacheEvent<T extends KubernetesObject> {
  /** The object's key. */
  readonly key: string;
  /** The object as it is now; undefined if it was deleted. */
  readonly object: CachedObject<T> | undefined;
  /** What it was before; of a deleted one its last known state. */
  readonly previous: CachedObject<T> | undefined;
  /** As in {@linkcode InformerEvent}. */
  readonly initial: boolean;
}

/** An informer's objects and changes, parsed only when they are read. */
export interface Inside<T extends KubernetesObject> {
  /** The object of that key. */
  get(key: string): CachedObject<T> | undefined;
  /** All objects. */
  all(): Iterable<CachedObject<T>>;
  /** As {@linkcode Informer.subscribe}. */
  observe(listener: (event: CacheEvent<T>) => void): Disposable;
}

let lookInside: <T extends KubernetesObject>(informer: Informer<T>) => Inside<T>;

/** The cache of one watch, and how the watch is doing. */
interface Part<T extends KubernetesObject> {
  readonly namespace: string | undefined;
  readonly store: Store<T>;
  synced: boolean;
  problem: Error | undefined;
}

/**
 * A cache of one kind.
 *
 * Guarantees:
 * - What it hands out is one consistent past state per watch, never older than what it handed out before.
 * - The events, replayed from a subscription on, give what is stored. A missed deletion is told with the last known
 *   object; an object that was replaced by another of the same name is told as deleted, then added.
 * - The same uid and resource version is never told twice.
 * - What a write returned is there at once ({@linkcode Informer.accept}).
 * - Objects are deeply frozen when they are handed out, so that nobody changes the cache by mistake; clone what is to be
 *   changed (`structuredClone`).
 *
 * RBAC: `list` and `watch` on the resource, in each of the namespaces.
 */
export class Informer<T extends KubernetesObject = KubernetesObject> {
  /** What is cached. */
  readonly resource: Resource<T>;
  readonly #client: Client;
  readonly #options: InformerOptions<T>;
  readonly #log: Logger;
  readonly #decoder: Decoder<T>;
  readonly #selects: (object: KubernetesObject) => boolean;
  readonly #emitter: Emitter<CacheEvent<T>>;
  /** By namespace; one with an empty name for all. */
  readonly #parts: Map<string, Part<T>> = new Map();
  readonly #indexes: Map<string, Index<T>> = new Map();
  /** Keys by namespace, once a list of one is asked for. */
  #byNamespace: Index<T> | undefined;
  /** True while the changes being told come from a run's first list. */
  #initial = false;
  readonly #runs: Runs = {};
  readonly #waiting: Set<() => void> = new Set();

  static {
    lookInside = (informer) => ({
      get: (key) => informer.#peek(key),
      all: () => informer.#all(),
      observe: (listener) => informer.#observe(listener),
    });
  }

  /**
   * Opens nothing; see {@linkcode Informer.run}. Namespaces have no meaning for a cluster-scoped kind.
   *
   * @throws {TypeError} If a namespace is not a name, or there is none in the list, or an option is not valid
   * @throws {SyntaxError} If the label selector is not one
   */
  constructor(client: Client, resource: Resource<T>, options: InformerOptions<T> = {}) {
    assertSelection(options, `informer of ${resource.kind}`);
    this.#client = client;
    this.resource = resource;
    this.#options = options;
    this.#log = options.log ?? getLogger(["tend", "informer"]);
    this.#decoder = new Decoder(resource, { ...options, log: this.#log });
    this.#selects = selector(options);
    this.#emitter = new Emitter(this.#log);
    const namespaces = resource.namespaced ? options.namespaces : undefined;
    for (const namespace of namespaces ?? [undefined]) {
      const store = new Store<T>((change) => this.#changed(change));
      this.#parts.set(namespace ?? "", { namespace, store, synced: false, problem: undefined });
    }
  }

  /** True while it runs and all its watches have listed what there is. */
  get synced(): boolean {
    return [...this.#parts.values()].every((part) => part.synced);
  }

  /** Why a watch gets nowhere, in words that name the kind, the verb and the namespace; nothing when all are well. */
  get problem(): Error | undefined {
    for (const { problem } of this.#parts.values()) if (problem) return problem;
    return undefined;
  }

  /** How many objects there are. */
  get size(): number {
    let size = 0;
    for (const { store } of this.#parts.values()) size += store.objects.size;
    return size;
  }

  /** Answers with the object of that key (`namespace/name`, or `name` for cluster-scoped kinds). */
  get(key: string): T | undefined {
    return this.#peek(key)?.read();
  }

  /** Answers with all objects, or those of one namespace. */
  list(namespace?: string): T[] {
    if (namespace !== undefined && this.#parts.has("")) return this.#find(this.#namespaceIndex(), namespace);
    const objects: T[] = [];
    for (const part of this.#parts.values()) {
      if (namespace !== undefined && part.namespace !== namespace) continue;
      for (const object of part.store.objects.values()) objects.push(object.read());
    }
    return objects;
  }

  /** Yields the keys of all objects. */
  *keys(): Generator<string> {
    for (const { store } of this.#parts.values()) yield* store.objects.keys();
  }

  /**
   * Keeps an index by the values that the function reads from each object, which must always be the same for the same
   * object. What is there already is indexed at once. An index of that name is replaced.
   */
  addIndex(name: string, values: (object: T) => readonly string[]): void {
    this.#indexes.set(name, this.#index(values, name));
  }

  /**
   * Answers with the objects for which the index has that value.
   *
   * @throws {RangeError} If there is no index of that name
   */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) {
      throw new RangeError(
        `Cannot look up ${this.resource.kind} objects: the index must have been added: current value is "${name}"`,
      );
    }
    return this.#find(index, value);
  }

  /**
   * Calls the listener with each change from now on, and at once with what is there, as `added` and `initial`.
   *
   * A listener that throws is logged and hinders nobody. Events come in the order of the changes, one after the other:
   * what a listener causes is told when all have been told the event it is in.
   */
  subscribe(listener: (event: InformerEvent<T>) => void): Disposable {
    return this.#observe(({ object, previous, initial }) => {
      if (!object) return listener({ type: "deleted", object: previous!.read(), initial });
      if (!previous) return listener({ type: "added", object: object.read(), initial });
      return listener({ type: "updated", object: object.read(), previous: previous.read(), initial });
    });
  }

  #observe(listener: (event: CacheEvent<T>) => void): Disposable {
    const subscription = this.#emitter.subscribe(listener);
    for (const object of [...this.#all()]) {
      subscription.send({ key: object.key, object, previous: undefined, initial: true });
    }
    return subscription;
  }

  *#all(): Generator<CachedObject<T>> {
    for (const { store } of this.#parts.values()) yield* store.objects.values();
  }

  /**
   * Takes in what a write returned, so that it is there before the watch brings it.
   *
   * It must be newer than what is there. An object that is not there is ignored if the watch has got further than the
   * write, as it has then seen the object deleted. So are objects of other kinds or versions, outside the namespaces and
   * the selection, and those that are gone as soon as they are written, their last finalizer being removed. An informer
   * with a field selector on anything but `metadata.name` and `metadata.namespace` leaves all to its watch.
   */
  accept(object: KubernetesObject): void {
    const { apiVersion, kind } = this.resource;
    const { metadata } = object;
    if (object.apiVersion !== apiVersion || object.kind !== kind || !metadata?.uid || !metadata.resourceVersion) return;
    const part = this.#partOf(object);
    if (!part || isGone(object) || !this.#selects(object)) return;
    part.store.accept(this.#decoder.copy(object));
    this.#emitter.drain();
  }

  /** True for an object that is within its namespaces and selectors, as far as they can be told from the object. */
  covers(object: KubernetesObject): boolean {
    return this.#partOf(object) !== undefined && this.#selects(object);
  }

  #partOf({ metadata }: KubernetesObject): Part<T> | undefined {
    return this.#parts.get("") ?? this.#parts.get(metadata.namespace ?? "");
  }

  /**
   * Resolves when everything is listed; see {@linkcode Informer.synced}.
   *
   * @throws The signal's reason, if it aborts first
   */
  whenSynced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.synced) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const synced = signal ? race(promise, signal) : promise;
    return synced.finally(() => this.#waiting.delete(resolve));
  }

  /**
   * Lists and watches until the signal aborts, then resolves with nothing left running.
   *
   * A call while it runs joins that run, until its own signal aborts. It can be run again: the objects stay, and what
   * the next run's first list finds different is told.
   */
  run(signal: AbortSignal): Promise<void> {
    return runOnce(this.#runs, signal, async (signal) => {
      const failure = new AbortController();
      const all = AbortSignal.any([signal, failure.signal]);
      const parts = [...this.#parts.values()];
      await Promise.all(parts.map((part) => this.#follow(part, all).catch((error) => failure.abort(error))));
      if (failure.signal.aborted) throw failure.signal.reason;
    });
  }

  async #follow(part: Part<T>, signal: AbortSignal): Promise<void> {
    const { labelSelector, fieldSelector, metadataOnly, initial, now, random, log } = this.#options;
    const events = watchCached(this.#client.api(this.resource), {
      namespace: part.namespace,
      decoder: this.#decoder,
      ...{ labelSelector, fieldSelector, metadataOnly, initial, now, random, log, signal },
      onProblem: (problem) => part.problem = problem,
    });
    try {
      for await (const event of events) this.#take(part, event);
    } finally {
      part.synced = false;
      part.problem = undefined;
    }
  }

  #take(part: Part<T>, event: WatcherEvent<CachedObject<T>>): void {
    const { store } = part;
    if (event.type === "applied") store.apply(event.object);
    else if (event.type === "deleted") store.remove(event.object);
    else if (event.type === "bookmark") store.reach(event.resourceVersion);
    else {
      this.#initial = !part.synced;
      store.restart(event.objects, event.resourceVersion);
      this.#initial = false;
      part.synced = true;
    }
    this.#emitter.drain();
    if (event.type === "restarted" && this.synced) { for (const resolve of this.#waiting) resolve(); }
  }

  #changed({ key, previous, object, last }: Change<T>): void {
    for (const index of this.#allIndexes()) {
      if (previous) index.remove(key, previous.read());
      if (object) index.add(key, object.read());
    }
    if (!this.#emitter.heard) return;
    this.#emitter.send({ key, object, previous: last ?? previous, initial: this.#initial });
  }

  *#allIndexes(): Generator<Index<T>> {
    yield* this.#indexes.values();
    if (this.#byNamespace) yield this.#byNamespace;
  }

  #index(values: (object: T) => readonly string[], name: string): Index<T> {
    const index = new Index<T>((object) => {
      try {
        return values(object);
      } catch (error) {
        const { namespace, name: of } = object.metadata;
        this.#log.error("Cannot index an object", {
          index: name,
          kind: this.resource.kind,
          namespace,
          name: of,
          error,
        });
        return [];
      }
    });
    for (const { store } of this.#parts.values()) {
      for (const [key, object] of store.objects) index.add(key, object.read());
    }
    return index;
  }

  #namespaceIndex(): Index<T> {
    return this.#byNamespace ??= this.#index((object) => [object.metadata.namespace ?? ""], "namespace");
  }

  #find(index: Index<T>, value: string): T[] {
    const objects: T[] = [];
    for (const key of index.keys(value)) {
      const object = this.#peek(key);
      if (object) objects.push(object.read());
    }
    return objects;
  }

  #peek(key: string): CachedObject<T> | undefined {
    const part = this.#parts.get("") ?? this.#parts.get(fromKey(key).namespace ?? "");
    return part?.store.objects.get(key);
  }
}

/** An informer's objects and changes, for those who read few of them. */
export function inside<T extends KubernetesObject>(informer: Informer<T>): Inside<T> {
  return lookInside(informer);
}

/** True for an object whose deletion had been asked for and that nothing holds any more. */
function isGone({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.length &&
    !metadata.deletionGracePeriodSeconds;
}
