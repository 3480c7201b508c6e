/**
 * Keeps objects by resource, with one counter of resource versions and a log of events to watch and to look back in.
 *
 * A write costs the same however many objects there are: keys are sorted when somebody lists.
 *
 * ```ts
 * import { Store } from "./_store.ts";
 *
 * const pods = new Store().collection("pods");
 * pods.put("default", "a", { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } });
 * console.assert(pods.list().length === 1);
 * ```
 *
 * @module
 */
import { Bucket, firstIndex } from "./_bucket.ts";
import type { Kube } from "./_objects.ts";
import { Recent, Revision, type Stamp } from "./_revision.ts";

export { Revision, type State } from "./_revision.ts";

/** Which part of a list is wanted. */
export interface PageOptions {
  /** The namespace; all if there is none. */
  readonly namespace?: string | undefined;
  /** The version to look back to. */
  readonly at?: number | undefined;
  /** The path that everything comes after. */
  readonly after?: string | undefined;
  /** The most that is wanted. */
  readonly limit?: number | undefined;
  /** True for what is wanted. */
  readonly selects?: ((revision: Revision) => boolean) | undefined;
}

/** A part of a list. */
export interface Page {
  readonly items: Revision[];
  /** How many objects come after the last that was looked at, selected or not. */
  readonly rest: number;
}

/** What happened to one object. */
export interface StoredEvent {
  /** What happened. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** When: the counter after it. */
  readonly version: number;
  /** The object's namespace; empty at cluster scope. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** The state after it; for a deletion the last state with the version of the deletion. */
  readonly current: Revision;
  /** The state before it. */
  readonly previous: Revision | undefined;
  /** Lines that were made of it for watches, by representation. */
  lines?: Map<string, Uint8Array>;
}

/** The objects of one resource. */
export class Collection {
  /** The id, such as `deployments.apps`. */
  readonly id: string;
  readonly #store: Store;
  readonly #buckets = new Map<string, Bucket>();
  readonly #listeners = new Set<(event: StoredEvent) => void>();
  #log: StoredEvent[] = [];
  #first = 0;
  #compacted = 0;
  #size = 0;

  /** Use {@linkcode Store.collection}. */
  constructor(id: string, store: Store) {
    this.id = id;
    this.#store = store;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#size;
  }

  /** States at or before this version can no longer be looked back to. */
  get compacted(): number {
    return this.#compacted;
  }

  /** The state of an object, if it is there. */
  get(namespace: string, name: string): Revision | undefined {
    return this.#buckets.get(namespace)?.objects.get(name);
  }

  /** Stores a new state of an object under the next version; `writtenAs` says what it is shown as without a change. */
  put(namespace: string, name: string, object: Kube, writtenAs?: string): Revision {
    const version = this.#store.next();
    const current = this.#revision(object, { version, namespace, name, writtenAs });
    let bucket = this.#buckets.get(namespace);
    if (!bucket) this.#buckets.set(namespace, bucket = new Bucket());
    const previous = bucket.objects.get(name);
    bucket.put(name, current);
    if (!previous) this.#size++;
    this.#emit({ type: previous ? "MODIFIED" : "ADDED", version, namespace, name, current, previous });
    return current;
  }

  /** Removes an object; answers with its last state under the version of the deletion. */
  remove(namespace: string, name: string): Revision | undefined {
    const bucket = this.#buckets.get(namespace);
    const previous = bucket?.objects.get(name);
    if (!bucket || !previous) return undefined;
    const version = this.#store.next();
    const current = this.#revision(previous.object, { version, namespace, name, writtenAs: previous.writtenAs });
    bucket.delete(name);
    if (bucket.objects.size === 0) this.#buckets.delete(namespace);
    this.#size--;
    this.#emit({ type: "DELETED", version, namespace, name, current, previous });
    return current;
  }

  #revision(object: Kube, stamp: Stamp): Revision {
    const metadata = { ...object.metadata, resourceVersion: String(stamp.version) };
    return new Revision({ ...object, metadata }, stamp, this.#store.recent);
  }

  /** The states of a namespace, or of all, in order of namespace and name; `at` looks back to an older version. */
  list(options: { namespace?: string | undefined; at?: number | undefined } = {}): Revision[] {
    return this.page(options).items;
  }

  /** A part of a list; no more is looked at than it takes to fill it. */
  page({ namespace, at, after = "", limit = Infinity, selects = () => true }: PageOptions): Page {
    if (at !== undefined && at < this.#store.version) {
      const then = this.#listAt(namespace, at).filter((each) => after === "" || pathOf(each) > after);
      return pageOf(then, limit, selects);
    }
    const items: Revision[] = [];
    let rest = 0;
    for (const each of namespace === undefined ? [...this.#buckets.keys()].sort(byPath) : [namespace]) {
      const bucket = this.#buckets.get(each);
      if (!bucket) continue;
      const names = bucket.names(), path = each === "" ? "" : `${each}/`;
      let index = after === "" ? 0 : firstIndex(names, (name) => path + name > after);
      for (; index < names.length && items.length < limit; index++) {
        const revision = bucket.objects.get(names[index]!)!;
        if (selects(revision)) items.push(revision);
      }
      rest += names.length - index;
    }
    return { items, rest };
  }

  /** Undoes the events since a version. */
  #listAt(namespace: string | undefined, at: number): Revision[] {
    const then = new Map<string, Revision | undefined>();
    for (let index = this.#log.length - 1; index >= this.#first; index--) {
      const event = this.#log[index]!;
      if (event.version <= at) break;
      if (namespace === undefined || event.namespace === namespace) {
        then.set(pathOf(event), event.previous);
      }
    }
    const found = new Map<string, Revision>();
    for (const revision of this.list({ namespace })) found.set(pathOf(revision), revision);
    for (const [path, revision] of then) revision ? found.set(path, revision) : found.delete(path);
    return [...found.values()].sort(byPlace);
  }

  /** The events after a version, oldest first. */
  since(version: number): StoredEvent[] {
    let low = this.#first, high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#log[middle]!.version <= version) low = middle + 1;
      else high = middle;
    }
    return this.#log.slice(low);
  }

  /** Calls a listener with each event from now on, until disposed. */
  listen(listener: (event: StoredEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Forgets the events up to a version. */
  compact(version: number): void {
    while (this.#first < this.#log.length && this.#log[this.#first]!.version <= version) this.#first++;
    this.#compacted = Math.max(this.#compacted, version);
    this.#trim();
  }

  #emit(event: StoredEvent): void {
    this.#log.push(event);
    if (this.#log.length - this.#first > this.#store.history) {
      this.#compacted = this.#log[this.#first]!.version;
      this.#first++;
      this.#trim();
    }
    this.#store.dispatch(() => {
      for (const listener of [...this.#listeners]) listener(event);
      this.#store.tell(this, event);
    });
  }

  #trim(): void {
    if (this.#first < 1024 || this.#first * 2 < this.#log.length) {
      if (this.#first < this.#log.length) return;
    }
    this.#log = this.#log.slice(this.#first);
    this.#first = 0;
  }
}

/** How many objects are kept as values too, not as JSON alone. */
const AT_HAND = 256;

/** All objects of a server. */
export class Store {
  /** How many events each resource keeps. */
  readonly history: number;
  /** The states whose values are at hand. */
  readonly recent: Recent = new Recent(AT_HAND);
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(collection: Collection, event: StoredEvent) => void>();
  readonly #pending: (() => void)[] = [];
  #dispatching = false;
  readonly #waiting = new Set<{ readonly version: number; readonly resolve: () => void }>();
  #version = 0;
  #restarted = 0;

  /** Takes how many events each resource keeps. */
  constructor(history = 10_000) {
    this.history = history;
  }

  /** The newest resource version. */
  get version(): number {
    return this.#version;
  }

  /** Counts one on. */
  next(): number {
    const version = ++this.#version;
    for (const waiting of this.#waiting) if (version >= waiting.version) waiting.resolve();
    return version;
  }

  /** Calls a listener with each event of every resource from now on, until disposed. */
  listen(listener: (collection: Collection, event: StoredEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Tells those who listen to every resource. */
  tell(collection: Collection, event: StoredEvent): void {
    for (const listener of [...this.#listeners]) listener(collection, event);
  }

  /** Tells listeners, one event after the other: what a listener writes is told of after all have heard the first. */
  dispatch(tell: () => void): void {
    this.#pending.push(tell);
    if (this.#dispatching) return;
    this.#dispatching = true;
    try {
      for (let next = this.#pending.shift(); next; next = this.#pending.shift()) next();
    } finally {
      this.#dispatching = false;
    }
  }

  /** The objects of a resource. */
  collection(id: string): Collection {
    let collection = this.#collections.get(id);
    if (!collection) this.#collections.set(id, collection = new Collection(id, this));
    return collection;
  }

  /** The resources that ever had objects. */
  collections(): IterableIterator<Collection> {
    return this.#collections.values();
  }

  /** Resolves once a version is reached; rejects when the signal aborts. */
  async reached(version: number, signal: AbortSignal): Promise<void> {
    if (version <= this.#version) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { version, resolve };
    const abort = (): void => reject(signal.reason);
    this.#waiting.add(waiting);
    signal.addEventListener("abort", abort, { once: true });
    try {
      if (signal.aborted) abort();
      await promise;
    } finally {
      this.#waiting.delete(waiting);
      signal.removeEventListener("abort", abort);
    }
  }

  /** The version at the last restart: watches from before it are expired, as a new watch cache begins there. */
  get restarted(): number {
    return this.#restarted;
  }

  /** Forgets what only the memory of a process holds. */
  restart(): void {
    this.#restarted = this.#version;
  }

  /** Forgets all events up to a version, as etcd's compaction does. */
  compact(version: number = this.#version): void {
    for (const collection of this.#collections.values()) collection.compact(version);
  }
}

/** Orders namespaces as their paths in etcd are ordered: by what follows with the slash. */
function byPath(a: string, b: string): number {
  const left = `${a}/`, right = `${b}/`;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The path of an object in its resource, which continue tokens hold. */
export function pathOf({ namespace, name }: Pick<Revision, "namespace" | "name">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function byPlace(a: Revision, b: Revision): number {
  const left = pathOf(a), right = pathOf(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

function pageOf(all: readonly Revision[], limit: number, selects: (revision: Revision) => boolean): Page {
  const items: Revision[] = [];
  let index = 0;
  for (; index < all.length && items.length < limit; index++) if (selects(all[index]!)) items.push(all[index]!);
  return { items, rest: all.length - index };
}
