/**
 * Keeps objects of a cache as the JSON that they came as, and parses those that are read.
 *
 * ```ts
 * import { CachedObject, Shelf } from "./_cached_object.ts";
 * import type { KubernetesObject } from "./resource.ts";
 *
 * const shelf = new Shelf<KubernetesObject>((text) => JSON.parse(text));
 * const text = '{"metadata":{"name":"web","namespace":"shop","uid":"1","resourceVersion":"7"}}';
 * const web = new CachedObject(shelf, { key: "shop/web", uid: "1", resourceVersion: "7", text });
 * console.assert(web.read() === web.read() && web.read().metadata.name === "web");
 * ```
 *
 * As text an object takes a third of the room. What is read again and again stays parsed. What is read once, as when each of
 * many objects is reconciled after a start, is soon forgotten, and pushes nothing out: it waits in a short queue, and comes
 * into a long one only when it is read again (the "2Q" of Johnson and Shasha, VLDB 1994; the long queue gives those that were
 * read while they were in it a second chance).
 *
 * @module
 */
import { freeze } from "./_emitter.ts";
import type { KubernetesObject } from "./resource.ts";

/** How much text may be parsed at the same time, in characters; it takes two or three times that in memory. */
const PARSED = 8 * 1024 * 1024;
/** The part of that for what was read once. */
const ONCE = 1 / 16;
/** An object that is parsed anew after fewer other objects than this is one that is read again. */
const SOON = 32_768;

/** What is known of an object without parsing it, and the object: as text, or parsed. */
export interface CachedParts<T> {
  /** Namespace and name. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly text?: string | undefined;
  readonly object?: T | undefined;
}

/** One object of a cache. */
export class CachedObject<T extends KubernetesObject = KubernetesObject> {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly #shelf: Shelf<T>;
  readonly #text: string | undefined;
  #object: T | undefined;
  /** True when it was read while it was parsed. */
  #readAgain = false;
  /** The shelf's count when it was last parsed. */
  #parsedAt = -SOON;

  /** Takes the text, or the object where that is to stay parsed. */
  constructor(shelf: Shelf<T>, { key, uid, resourceVersion, generation, text, object }: CachedParts<T>) {
    this.key = key;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.generation = generation;
    this.#shelf = shelf;
    this.#text = text;
    this.#object = object;
  }

  /** How long its text is; 0 if it stays parsed. */
  get length(): number {
    return this.#text?.length ?? 0;
  }

  /** The object, deeply frozen. The same one as before, unless that was forgotten. */
  read(): T {
    let object = this.#object;
    if (object === undefined) {
      // The shelf forgets at once what is larger than its room.
      this.#object = object = this.#shelf.open(this.#text!);
      this.#parsedAt = this.#shelf.add(this, this.#parsedAt);
    } else this.#readAgain = true;
    return freeze(object);
  }

  /** A copy that nobody else has; of an object that stays parsed, that object. */
  take(): T {
    return this.#text === undefined ? this.#object! : this.#shelf.open(this.#text);
  }

  /** True if it was read since this was last asked. */
  wasReadAgain(): boolean {
    const again = this.#readAgain;
    this.#readAgain = false;
    return again;
  }

  /** Forgets what was parsed. */
  forget(): void {
    this.#object = undefined;
  }
}

/** Those objects of a cache that are parsed now. */
export class Shelf<T extends KubernetesObject> {
  /** Parses a text. */
  readonly open: (text: string) => T;
  readonly #limit: number;
  readonly #once: Queue<T> = new Queue();
  readonly #often: Queue<T> = new Queue();
  #count = 0;

  /** Takes what parses a text, and how many characters of text may be parsed at the same time. */
  constructor(open: (text: string) => T, limit: number = PARSED) {
    this.open = open;
    this.#limit = limit;
  }

  /**
   * Takes in an object that has just been parsed, and makes room for it; answers with how many there have been. `before` is
   * what it answered with the time before.
   */
  add(object: CachedObject<T>, before: number): number {
    (++this.#count - before < SOON ? this.#often : this.#once).push(object);
    while (this.#once.length > this.#limit * ONCE) {
      const oldest = this.#once.shift()!;
      if (oldest.wasReadAgain()) this.#often.push(oldest);
      else oldest.forget();
    }
    // Each gets a second chance, but then each of the others has had one, too.
    for (let chances = this.#often.size; this.#often.length > this.#limit; chances--) {
      const oldest = this.#often.shift()!;
      if (chances > 0 && oldest.wasReadAgain()) this.#often.push(oldest);
      else oldest.forget();
    }
    return this.#count;
  }
}

/** Objects in the order in which they came. */
class Queue<T extends KubernetesObject> {
  #objects: (CachedObject<T> | undefined)[] = [];
  /** The first; those before it have left. */
  #head = 0;
  /** Characters of text. */
  length = 0;

  get size(): number {
    return this.#objects.length - this.#head;
  }

  push(object: CachedObject<T>): void {
    this.#objects.push(object);
    this.length += object.length;
  }

  shift(): CachedObject<T> | undefined {
    const first = this.#objects[this.#head];
    if (first === undefined) return undefined;
    this.#objects[this.#head++] = undefined;
    this.length -= first.length;
    if (this.#head > 1024 && this.#head > this.#objects.length / 2) {
      this.#objects = this.#objects.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }
}
