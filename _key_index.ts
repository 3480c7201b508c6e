/**
 * Finds keys by values that a function reads from their objects.
 *
 * ```ts
 * import { Index } from "./_key_index.ts";
 *
 * const index = new Index<string>((word) => [word[0]!]);
 * index.add("1", "apple");
 * console.assert([...index.keys("a")].join() === "1");
 * ```
 *
 * @module
 */

/** Keys by value. */
export class Index<T> {
  readonly #values: (object: T) => readonly string[];
  /** One key stands by itself: most indexes are by something nearly unique, and a set of one costs ten times as much. */
  readonly #keys: Map<string, string | Set<string>> = new Map();

  /** Takes what reads the values; the same object must always give the same. */
  constructor(values: (object: T) => readonly string[]) {
    this.#values = values;
  }

  /** Adds an object. */
  add(key: string, object: T): void {
    for (const value of this.#values(object)) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, key);
      else if (typeof keys !== "string") keys.add(key);
      else if (keys !== key) this.#keys.set(value, new Set([keys, key]));
    }
  }

  /** Removes an object that was added. */
  remove(key: string, object: T): void {
    for (const value of this.#values(object)) {
      const keys = this.#keys.get(value);
      if (keys === key) this.#keys.delete(value);
      else if (typeof keys === "object" && keys.delete(key) && keys.size === 0) this.#keys.delete(value);
    }
  }

  /** The keys of the objects with that value. */
  keys(value: string): Iterable<string> {
    const keys = this.#keys.get(value);
    return keys === undefined ? [] : typeof keys === "string" ? [keys] : keys;
  }

  /** How many values there are. */
  get size(): number {
    return this.#keys.size;
  }
}
