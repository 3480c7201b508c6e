/**
 * Keeps the objects of one watch and tells what changed, also when a write's answer comes before the watch's event.
 *
 * ```ts
 * import { Store } from "./_store.ts";
 *
 * const store = new Store((change) => console.log(change.object ? "is there" : "is gone"));
 * store.restart([], "100");
 * ```
 *
 * @module
 */
import type { CachedObject } from "./_cached_object.ts";
import { compareVersions, type KubernetesObject } from "./resource.ts";

/** What became of one object. */
export interface Change<T extends KubernetesObject> {
  /** The object's key. */
  readonly key: string;
  /** What was stored. */
  readonly previous: CachedObject<T> | undefined;
  /** What is stored now. */
  readonly object: CachedObject<T> | undefined;
  /** The last state of an object that is gone, if the watch told it. */
  readonly last?: CachedObject<T>;
}

/** The objects of one watch. */
export class Store<T extends KubernetesObject> {
  /** By key. */
  objects: Map<string, CachedObject<T>> = new Map();
  readonly #changed: (change: Change<T>) => void;
  /** How far the watch has got: what is older, it has seen. */
  #version: string | undefined;
  /** The objects that writes returned and that the watch has not reached yet, with their versions, oldest first. */
  readonly #ahead: Map<string, string> = new Map();

  /** Takes what is called with each change, after it was made. */
  constructor(changed: (change: Change<T>) => void) {
    this.#changed = changed;
  }

  /** How many writes the watch has not reached yet. */
  get ahead(): number {
    return this.#ahead.size;
  }

  /**
   * Swaps in all objects at once, then tells the differences.
   *
   * What a write returned and the list does not reach yet stays; unless the list is older than what the watch had seen,
   * for then the server has lost those writes.
   */
  restart(objects: readonly CachedObject<T>[], version: string): void {
    const old = this.objects;
    const next = new Map<string, CachedObject<T>>();
    const wentBack = this.#version !== undefined && compareVersions(version, this.#version) < 0;
    for (const object of objects) {
      const { key } = object;
      const stored = old.get(key);
      next.set(key, stored && !wentBack && isSame(stored, object) ? stored : object);
    }
    for (const [key, written] of this.#ahead) {
      const stored = old.get(key);
      if (stored && !wentBack && compareVersions(written, version) > 0) next.set(key, stored);
      else this.#ahead.delete(key);
    }
    this.objects = next;
    this.#version = version;
    for (const [key, previous] of old) {
      if (!next.has(key)) this.#changed({ key, previous, object: undefined });
    }
    for (const [key, object] of next) {
      const previous = old.get(key);
      // In another history the same version may be another object.
      if (previous !== object) this.#tell(key, previous, object);
    }
  }

  /** Takes in an object from the watch. */
  apply(object: CachedObject<T>): void {
    const { key, resourceVersion } = object;
    this.reach(resourceVersion);
    const stored = this.objects.get(key);
    if (stored && (isSame(stored, object) || this.#isOlder(key, object, stored))) return;
    this.#ahead.delete(key);
    this.objects.set(key, object);
    this.#tell(key, stored, object);
  }

  /** Takes in a deletion from the watch. */
  remove(object: CachedObject<T>): void {
    const { key } = object;
    this.reach(object.resourceVersion);
    const previous = this.objects.get(key);
    if (!previous || previous.uid !== object.uid || this.#isOlder(key, object, previous)) return;
    this.#ahead.delete(key);
    this.objects.delete(key);
    this.#changed({ key, previous, object: undefined, last: object });
  }

  /** Takes in how far the watch has got. */
  reach(version: string): void {
    this.#version = version;
    for (const [key, written] of this.#ahead) {
      if (compareVersions(written, version) > 0) break;
      this.#ahead.delete(key);
    }
  }

  /**
   * Takes in what a write returned, if it is news.
   *
   * An object that is not there is only put in when the watch has not got as far as the write: otherwise the watch has
   * seen it come, and go.
   */
  accept(object: CachedObject<T>): void {
    const { key, resourceVersion: version, uid } = object;
    const stored = this.objects.get(key);
    if (stored && compareVersions(version, stored.resourceVersion) <= 0) return;
    const known = stored?.uid === uid;
    if (!known && this.#version !== undefined && compareVersions(version, this.#version) <= 0) return;
    if (this.#version === undefined || compareVersions(version, this.#version) > 0) {
      this.#ahead.delete(key);
      this.#ahead.set(key, version);
    }
    this.objects.set(key, object);
    this.#tell(key, stored, object);
  }

  /** True if what is stored came after the object: as a later version of it, or as the answer to a later write. */
  #isOlder(key: string, object: CachedObject<T>, stored: CachedObject<T>): boolean {
    if (stored.uid !== object.uid && !this.#ahead.has(key)) return false;
    return compareVersions(object.resourceVersion, stored.resourceVersion) < 0;
  }

  #tell(key: string, previous: CachedObject<T> | undefined, object: CachedObject<T>): void {
    if (previous && previous.uid !== object.uid) {
      this.#changed({ key, previous, object: undefined });
      previous = undefined;
    }
    this.#changed({ key, previous, object });
  }
}

function isSame<T extends KubernetesObject>(a: CachedObject<T>, b: CachedObject<T>): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
