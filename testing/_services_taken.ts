/**
 * Knows which cluster IPs and node ports Services have, without looking at all of them for each that is made.
 *
 * ```ts
 * import { takenBy } from "./_services_taken.ts";
 *
 * console.assert(typeof takenBy === "function");
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import type { Fields } from "./_objects.ts";
import type { Collection } from "./_store.ts";

/** Addresses below are left to those who ask for them. */
const FIRST_ADDRESS = 17;

/** The ports that nodes give. */
export const FIRST_PORT = 30_000, LAST_PORT = 32_767;

/** Values that are in use, how often, and the least number below which none is free. */
class Pool<T> {
  readonly #count = new Map<T, number>();
  readonly #first: number;
  readonly #valueOf: (number: number) => T;
  readonly #numberOf: (value: T) => number;
  #least: number;

  constructor(first: number, valueOf: (number: number) => T, numberOf: (value: T) => number) {
    this.#first = this.#least = first;
    this.#valueOf = valueOf;
    this.#numberOf = numberOf;
  }

  has(value: T): boolean {
    return this.#count.has(value);
  }

  add(value: T): void {
    this.#count.set(value, (this.#count.get(value) ?? 0) + 1);
  }

  remove(value: T): void {
    const count = (this.#count.get(value) ?? 0) - 1;
    if (count > 0) this.#count.set(value, count);
    else {
      this.#count.delete(value);
      const number = this.#numberOf(value);
      if (number >= this.#first && number < this.#least) this.#least = number;
    }
  }

  /** The first free value from a number on; undefined beyond the last. */
  next(last = Infinity, not?: ReadonlySet<T>): T | undefined {
    while (this.#least <= last && this.has(this.#valueOf(this.#least))) this.#least++;
    for (let number = this.#least; number <= last; number++) {
      const value = this.#valueOf(number);
      if (!this.has(value) && !not?.has(value)) return value;
    }
    return undefined;
  }
}

/** Addresses that nobody asked for go on beyond the range, so that there is no end to Services. */
function address(number: number): string {
  const host = 1 + number % 254;
  return `10.0.${Math.floor(number / 254)}.${host}`;
}

function numberOf(text: string): number {
  const [, , net = "", host = ""] = text.split(".");
  return Number(net) * 254 + Number(host) - 1;
}

/** What the Services of a server have. */
export class Taken {
  readonly addresses: Pool<string> = new Pool(FIRST_ADDRESS - 1, address, numberOf);
  readonly ports: Pool<number> = new Pool<number>(FIRST_PORT, (number) => number, (value) => value);

  /** Counts what a Service has. */
  add({ spec = {} }: Fields): void {
    for (const each of spec.clusterIPs ?? []) if (each !== "None") this.addresses.add(each);
    for (const { nodePort } of spec.ports ?? []) if (nodePort) this.ports.add(nodePort);
    if (spec.healthCheckNodePort) this.ports.add(spec.healthCheckNodePort);
  }

  /** Counts it no more. */
  remove({ spec = {} }: Fields): void {
    for (const each of spec.clusterIPs ?? []) if (each !== "None") this.addresses.remove(each);
    for (const { nodePort } of spec.ports ?? []) if (nodePort) this.ports.remove(nodePort);
    if (spec.healthCheckNodePort) this.ports.remove(spec.healthCheckNodePort);
  }
}

const known = new WeakMap<Collection, { taken: Taken; version: number }>();

/** What the Services of a server have now. */
export function takenBy({ store }: Ground): Taken {
  const collection = store.collection("services");
  let entry = known.get(collection);
  if (!entry || entry.version < collection.compacted) {
    entry = { taken: new Taken(), version: store.version };
    for (const { object } of collection.list()) entry.taken.add(object);
    known.set(collection, entry);
    return entry.taken;
  }
  for (const { type, previous, current } of collection.since(entry.version)) {
    if (previous) entry.taken.remove(previous.object);
    if (type !== "DELETED") entry.taken.add(current.object);
  }
  entry.version = store.version;
  return entry.taken;
}
