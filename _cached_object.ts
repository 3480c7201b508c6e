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
 * As text an object takes a third of the room. What was read last stays parsed, so that what is read often is parsed once: a
 * queue with a second chance for those that were read while they were in it (the "clock" of page replacement).
 *
 * @module
 */
import { freeze } from "./_emitter.ts";
import type { KubernetesObject } from "./resource.ts";

/** How much text may be parsed at the same time, in characters; it takes two or three times that in memory. */
const PARSED = 8 * 1024 * 1024;

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
  #readAgain = false;

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
    if (this.#object === undefined) {
      this.#object = this.#shelf.open(this.#text!);
      this.#shelf.add(this);
    } else this.#readAgain = true;
    return freeze(this.#object);
  }

  /** A copy that nobody else has; of an object that stays parsed, that object. */
  take(): T {
    return this.#text === undefined ? this.#object! : this.#shelf.open(this.#text);
  }

  /** Forgets what was parsed, unless it was read again since the last time. */
  forget(): boolean {
    const forgotten = !this.#readAgain;
    this.#readAgain = false;
    if (forgotten) this.#object = undefined;
    return forgotten;
  }
}

/** Those objects of a cache that are parsed now. */
export class Shelf<T extends KubernetesObject> {
  /** Parses a text. */
  readonly open: (text: string) => T;
  readonly #limit: number;
  /** In the order in which they were parsed; those before the head have been forgotten. */
  #objects: (CachedObject<T> | undefined)[] = [];
  #head = 0;
  #length = 0;

  /** Takes what parses a text, and how many characters of text may be parsed at the same time. */
  constructor(open: (text: string) => T, limit: number = PARSED) {
    this.open = open;
    this.#limit = limit;
  }

  /** Takes in an object that has just been parsed, and makes room for it. */
  add(object: CachedObject<T>): void {
    this.#objects.push(object);
    this.#length += object.length;
    // One that is read again and again gets a second chance each time, but then each of the others has had one, too.
    for (let chances = this.#objects.length; this.#length > this.#limit && chances > 0; chances--) this.#forgetOne();
    if (this.#head < 1024 || this.#head < this.#objects.length / 2) return;
    this.#objects = this.#objects.slice(this.#head);
    this.#head = 0;
  }

  #forgetOne(): void {
    const oldest = this.#objects[this.#head];
    if (oldest === undefined) return;
    this.#objects[this.#head++] = undefined;
    if (oldest.forget()) this.#length -= oldest.length;
    else this.#objects.push(oldest);
  }
}
