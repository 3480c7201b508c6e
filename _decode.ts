/**
 * Turns what a list or watch sends into the objects that a cache keeps: typed, transformed, without what nobody reads.
 *
 * ```ts
 * import { Decoder } from "./_decode.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const decoder = new Decoder(ConfigMap);
 * const object = decoder.keep({ metadata: { name: "a", managedFields: [] } }).read();
 * console.assert(object.kind === "ConfigMap" && !("managedFields" in object.metadata));
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { CachedObject, Shelf } from "./_cached_object.ts";
import type { ObjectScanner } from "./_scan.ts";
import { clone } from "./json.ts";
import type { Logger } from "./logger.ts";
import { keyOf, type KubernetesObject, type Resource, toKey } from "./resource.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Never throws on invalid UTF-8: it gives U+FFFD. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Leaves out `metadata.managedFields` and the last-applied annotation, which can be half of an object and which
 * reconciles do not read.
 *
 * The object itself stays as it is; if it has neither, it is the answer.
 */
export function slim<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  const lastApplied = metadata.annotations?.[LAST_APPLIED];
  if (managedFields === undefined && lastApplied === undefined) return object;
  if (lastApplied !== undefined) {
    const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations!;
    metadata.annotations = annotations;
  }
  return { ...object, metadata };
}

/** How a cache keeps objects: as JSON, of which that is parsed which is read, or parsed. */
export type Kept = "text" | "parsed";

/** How a cache keeps its objects. */
export interface Keeping {
  /**
   * As `text` objects take a third of the memory: those that are read are parsed then, and those that are read again and again
   * stay parsed, some 5,000 of 1.5 kB (8 MiB of JSON). As `parsed` all do, which is worth its memory where reconciles go
   * through more objects than that, such as all of a namespace. With a `transform` objects are kept parsed.
   *
   * @default {"text"}
   */
  readonly keep?: Kept | undefined;
}

/** @throws {TypeError} If it is no way to keep objects; `what` names in the error what is defined by it */
export function assertKept(keep: Kept | undefined, what: string): void {
  if (keep === undefined || keep === "text" || keep === "parsed") return;
  throw new TypeError(
    `Cannot define ${what}: 'keep' must be "text" or "parsed": current value is ${Deno.inspect(keep)}`,
  );
}

/** Options of {@linkcode Decoder}. */
export interface DecoderOptions<T> extends Keeping {
  /** Makes of each object what is kept, which then stays parsed. @default {slim} */
  readonly transform?: ((object: T) => T) | undefined;
  /** Keeps nothing but `metadata`. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /** Where to log. @default {the logger of the category "tend", "watcher"} */
  readonly log?: Logger | undefined;
}

/** Decodes the objects of one kind. */
export class Decoder<T extends KubernetesObject> {
  readonly #resource: Resource<T>;
  readonly #transform: ((object: T) => T) | undefined;
  readonly #metadataOnly: boolean;
  readonly #parsed: boolean;
  readonly #log: Logger;
  readonly #shelf: Shelf<T>;

  /**
   * Takes the kind that the objects are of.
   *
   * @throws {TypeError} If `keep` is no way to keep objects
   */
  constructor(resource: Resource<T>, options: DecoderOptions<T> = {}) {
    const { keep } = options;
    assertKept(keep, `the cache of ${resource.kind}`);
    this.#resource = resource;
    this.#transform = options.transform === slim ? undefined : options.transform;
    this.#metadataOnly = options.metadataOnly ?? false;
    this.#parsed = keep === "parsed" || this.#transform !== undefined;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
    this.#shelf = new Shelf((text) => this.#typed(JSON.parse(text)));
  }

  /**
   * Takes an object in that a scanner has just found in these bytes, which it may move about in.
   *
   * @throws {TypeError} If it is not an object with a name
   */
  read(bytes: Uint8Array, start: number, end: number, scanner: ObjectScanner): CachedObject<T> {
    const { from, to, cuts, odd } = scanner;
    const whole = from.name >= 0 && from.uid >= 0 && from.resourceVersion >= 0;
    if (this.#parsed || odd || !whole) return this.keep(JSON.parse(decoder.decode(bytes.subarray(start, end))));
    if (this.#metadataOnly) [start, end] = [from.metadata, to.metadata];
    let length = end - start;
    for (let cut = cuts.length - 2; cut >= 0; cut -= 2) {
      bytes.copyWithin(cuts[cut]!, cuts[cut + 1]!, start + length);
      length -= cuts[cut + 1]! - cuts[cut]!;
    }
    const decoded = decoder.decode(bytes.subarray(start, start + length));
    const text = this.#metadataOnly ? `{"metadata":${decoded}}` : decoded;
    const ascii = decoded.length === length;
    const part = (field: keyof typeof from): string => {
      let first = from[field], last = to[field];
      if (first < 0) return "";
      for (let cut = cuts.length - 2; cut >= 0; cut -= 2) {
        const size = cuts[cut + 1]! - cuts[cut]!;
        if (first > cuts[cut]!) first -= size, last -= size;
      }
      return ascii ? decoded.slice(first - start, last - start) : decoder.decode(bytes.subarray(first, last));
    };
    const generation = from.generation < 0 ? undefined : Number(part("generation"));
    const key = toKey({ name: part("name"), namespace: part("namespace") });
    const shelf = this.#shelf;
    return new CachedObject(shelf, {
      key,
      uid: part("uid"),
      resourceVersion: part("resourceVersion"),
      generation,
      text,
    });
  }

  /**
   * Takes an object in that is parsed, and nobody else's.
   *
   * @throws {TypeError} If it is not an object with a name
   */
  keep(raw: unknown): CachedObject<T> {
    return this.#entry(this.#transformed(this.#typed(raw)), (object) => object);
  }

  /**
   * Takes a copy of an object in.
   *
   * @throws {TypeError} If it is not an object with a name
   */
  copy(raw: unknown): CachedObject<T> {
    return this.#parsed ? this.keep(clone(raw)) : this.#entry(slim(this.#typed(raw)), clone);
  }

  #entry(object: T, own: (object: T) => T): CachedObject<T> {
    const { uid, resourceVersion, generation } = object.metadata;
    const parts = { key: keyOf(object), uid, resourceVersion, generation };
    const text = this.#parsed ? undefined : toText(object);
    return new CachedObject(this.#shelf, text === undefined ? { ...parts, object: own(object) } : { ...parts, text });
  }

  /** The object as its kind has it: the items of a list may lack `apiVersion` and `kind`, metadata have others. */
  #typed(raw: unknown): T {
    const given = raw as Partial<KubernetesObject> | null | undefined;
    if (typeof given?.metadata?.name !== "string") {
      throw new TypeError(`Cannot decode a ${this.#resource.kind}: 'metadata.name' must be a string`);
    }
    const { apiVersion, kind } = this.#resource;
    return (this.#metadataOnly
      ? { apiVersion, kind, metadata: given.metadata }
      : given.kind === undefined || given.apiVersion === undefined
      ? { apiVersion, kind, ...given }
      : given) as unknown as T;
  }

  /** One that the transform throws on is kept slim, and logged by its name. */
  #transformed(object: T): T {
    try {
      return this.#transform?.(object) ?? slim(object);
    } catch (error) {
      const { namespace, name } = object.metadata;
      const { kind } = this.#resource;
      this.#log.error("Cannot transform an object: it is kept whole", { kind, namespace, name, error });
      return slim(object);
    }
  }
}

/** Its JSON; undefined if it is deeper than the stack. */
function toText(object: unknown): string | undefined {
  try {
    return JSON.stringify(object);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
