/**
 * Makes random numbers from a seed: the same seed gives the same numbers.
 *
 * ```ts
 * import { Random } from "./_random.ts";
 *
 * console.assert(new Random(1).next() === new Random(1).next());
 * console.assert(new Random(1).below(6) < 6);
 * ```
 *
 * @module
 */

/** A source of random numbers: sfc32, by Chris Doty-Humphrey. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Begins where the seed and the purpose say. */
  constructor(seed: number, purpose = "") {
    let hash = 0x811c9dc5;
    for (const each of purpose) hash = Math.imul(hash ^ each.codePointAt(0)!, 0x01000193);
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = hash >>> 0;
    for (let round = 0; round < 12; round++) this.next();
  }

  /** A number from 0 up to 1. */
  readonly next = (): number => {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum | 0;
    return (sum >>> 0) / 2 ** 32;
  };

  /** A whole number from 0 up to a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** A whole number from one to another, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** One of some values. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** True with a probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
