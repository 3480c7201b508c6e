/**
 * Keeps the objects of one namespace, and their names in order for who lists them.
 *
 * A write costs the same however many there are, and a list after few writes costs little more than what it lists.
 *
 * ```ts
 * import { firstIndex } from "./_bucket.ts";
 *
 * console.assert(firstIndex(["a", "b", "c"], (name) => name > "a") === 1);
 * ```
 *
 * @module
 */
import type { Revision } from "./_revision.ts";

/** How many names are put in their places one by one; more are merged in. */
const FEW = 32;

/** The first index in a sorted list that something holds from, found by halves; the length if it never does. */
export function firstIndex(names: readonly string[], holds: (name: string) => boolean): number {
  let low = 0, high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(names[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The objects of one namespace. */
export class Bucket {
  /** The objects by name. */
  readonly objects: Map<string, Revision> = new Map();
  #sorted: string[] = [];
  /** Names that came or went since the others were sorted. */
  readonly #changed = new Set<string>();

  /** Sets the state of an object. */
  put(name: string, revision: Revision): void {
    const added = !this.objects.has(name);
    this.objects.set(name, revision);
    if (added) this.#note(name);
  }

  /** Removes an object. */
  delete(name: string): void {
    if (this.objects.delete(name)) this.#note(name);
  }

  /** The names in order, until the next write. */
  names(): readonly string[] {
    if (this.#changed.size > FEW) this.#sorted = this.#merged();
    else for (const name of this.#changed) this.#place(name);
    this.#changed.clear();
    return this.#sorted;
  }

  #note(name: string): void {
    this.#changed.add(name);
    // Where nobody lists, names that came and went must not pile up.
    if (this.#changed.size > 2 * this.objects.size + 1024) this.names();
  }

  #place(name: string): void {
    const index = firstIndex(this.#sorted, (each) => each >= name);
    const there = this.#sorted[index] === name;
    if (there !== this.objects.has(name)) there ? this.#sorted.splice(index, 1) : this.#sorted.splice(index, 0, name);
  }

  #merged(): string[] {
    const changed = [...this.#changed].sort();
    const merged: string[] = [];
    let next = 0;
    const take = (name: string): void => {
      if (name !== merged.at(-1) && this.objects.has(name)) merged.push(name);
    };
    for (const name of this.#sorted) {
      while (next < changed.length && changed[next]! <= name) take(changed[next++]!);
      take(name);
    }
    while (next < changed.length) take(changed[next++]!);
    return merged;
  }
}
