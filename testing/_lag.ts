/**
 * Shows the store as a replica of the API server sees it that is behind: reads from its cache are of an older state.
 *
 * ```ts
 * import { Lag } from "./_lag.ts";
 * import { Store } from "./_store.ts";
 *
 * const store = new Store();
 * using lag = new Lag(store);
 * store.collection("pods").put("default", "a", { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } });
 * console.assert(store.version === 1 && lag.version === 0);
 * ```
 *
 * @module
 */
import type { Collection, Store, StoredEvent } from "./_store.ts";

/** How far a replica is behind; for neither, it stays where it is. */
export interface LagBy {
  /** It learns of each change so many ms later. */
  readonly ms?: number | undefined;
  /** It misses so many of the newest versions. */
  readonly versions?: number | undefined;
}

type Listener = (event: StoredEvent) => void;

/** A view of a store that is behind, until it is disposed. */
export class Lag implements Disposable {
  readonly #store: Store;
  readonly #by: LagBy;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #listeners = new Map<Collection, Set<Listener>>();
  /** The same listeners, once there is no lag any more. */
  readonly #handed = new Map<Listener, Disposable>();
  readonly #waiting = new Set<() => void>();
  readonly #subscription: Disposable;
  #pending: { readonly collection: Collection; readonly event: StoredEvent }[] = [];
  #version: number;
  #over = false;

  /** Looks at the store from now on. */
  constructor(store: Store, by: LagBy = {}) {
    this.#store = store;
    this.#by = by;
    this.#version = Math.max(0, store.version - (by.versions ?? 0));
    for (const collection of store.collections()) {
      for (const event of collection.since(this.#version)) this.#pending.push({ collection, event });
    }
    this.#pending.sort((a, b) => a.event.version - b.event.version);
    this.#subscription = store.listen((collection, event) => this.#see(collection, event));
  }

  /** The version that it is at. */
  get version(): number {
    return this.#over ? this.#store.version : this.#version;
  }

  /** The version that it shows a resource at: nobody can look back to what has been compacted. */
  versionOf(collection: Collection): number {
    return Math.max(this.version, collection.compacted);
  }

  /** Calls a listener with each event of a resource as it gets here, until disposed. */
  listen(collection: Collection, listener: Listener): Disposable {
    if (this.#over) return collection.listen(listener);
    let listeners = this.#listeners.get(collection);
    if (!listeners) this.#listeners.set(collection, listeners = new Set());
    listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        this.#handed.get(listener)?.[Symbol.dispose]();
      },
    };
  }

  /** Resolves once it has got to a version. */
  async reached(version: number): Promise<void> {
    while (this.version < version && !this.#over) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Catches up, and is never behind again. */
  [Symbol.dispose](): void {
    if (this.#over) return;
    this.#over = true;
    this.#subscription[Symbol.dispose]();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#advance(Infinity);
    for (const [collection, listeners] of this.#listeners) {
      for (const listener of listeners) this.#handed.set(listener, collection.listen(listener));
    }
    this.#wake();
  }

  #see(collection: Collection, event: StoredEvent): void {
    this.#pending.push({ collection, event });
    const { ms, versions } = this.#by;
    if (versions !== undefined) return this.#advance(this.#store.version - versions);
    if (ms === undefined) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#advance(event.version);
    }, ms);
    this.#timers.add(timer);
  }

  #advance(version: number): void {
    while (this.#pending.length > 0 && this.#pending[0]!.event.version <= version) {
      const { collection, event } = this.#pending.shift()!;
      this.#version = event.version;
      for (const listener of [...this.#listeners.get(collection) ?? []]) listener(event);
    }
    if (Number.isFinite(version)) this.#version = Math.max(this.#version, version);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
