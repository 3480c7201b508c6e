/**
 * Keeps the least of its items at hand.
 *
 * ```ts
 * import { Heap } from "./_heap.ts";
 *
 * const heap = new Heap<number>((one, other) => one - other);
 * for (const each of [3, 1, 2]) heap.push(each);
 * console.assert(heap.pop() === 1 && heap.peek() === 2);
 * ```
 *
 * @module
 */

/** A binary heap. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (one: T, other: T) => number;

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  /** How many there are. */
  get size(): number {
    return this.#items.length;
  }

  /** The least. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** Adds one. */
  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(item, items[parent]!) >= 0) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** Takes the least. */
  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const item = items.pop();
    if (item === undefined || items.length === 0) return least;
    let at = 0;
    while (true) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child++;
      if (this.#compare(items[child]!, item) >= 0) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
    return least;
  }
}
