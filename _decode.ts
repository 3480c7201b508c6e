/**
 * Turns what a list or watch sends into the objects that a cache keeps: typed, transformed, without what nobody reads.
 *
 * ```ts
 * import { Decoder } from "./_decode.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const decoder = new Decoder(ConfigMap);
 * const object = decoder.decode({ metadata: { name: "a", managedFields: [] } });
 * console.assert(object.kind === "ConfigMap" && !("managedFields" in object.metadata));
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Logger } from "./logger.ts";
import type { KubernetesObject, Resource } from "./resource.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

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

/** Options of {@linkcode Decoder}. */
export interface DecoderOptions<T> {
  /** Makes of each object what is kept. @default {slim} */
  readonly transform?: ((object: T) => T) | undefined;
  /** Keeps nothing but `metadata`. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /** Where to log. @default {the logger of the category "tend", "watcher"} */
  readonly log?: Logger | undefined;
}

/** Decodes the objects of one kind. */
export class Decoder<T extends KubernetesObject> {
  readonly #resource: Resource<T>;
  readonly #transform: (object: T) => T;
  readonly #metadataOnly: boolean;
  readonly #log: Logger;

  /** Takes the kind that the objects are of. */
  constructor(resource: Resource<T>, options: DecoderOptions<T> = {}) {
    this.#resource = resource;
    this.#transform = options.transform ?? slim;
    this.#metadataOnly = options.metadataOnly ?? false;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
  }

  /**
   * Answers with the object to keep.
   *
   * `apiVersion` and `kind` are filled in, as the items of a list may lack them; with `metadataOnly` they are put back to
   * the kind's own. An object that the transform throws on is kept slim, and logged by its name.
   *
   * @throws {TypeError} If it is not an object with a name
   */
  decode(raw: unknown): T {
    const given = raw as Partial<KubernetesObject> | null | undefined;
    if (typeof given?.metadata?.name !== "string") {
      throw new TypeError(`Cannot decode a ${this.#resource.kind}: 'metadata.name' must be a string`);
    }
    const { apiVersion, kind } = this.#resource;
    const object =
      (this.#metadataOnly
        ? { apiVersion, kind, metadata: given.metadata }
        : given.kind === undefined || given.apiVersion === undefined
        ? { apiVersion, kind, ...given }
        : given) as unknown as T;
    try {
      return this.#transform(object);
    } catch (error) {
      const { namespace, name } = object.metadata;
      this.#log.error("Cannot transform an object: it is kept whole", { kind, namespace, name, error });
      return slim(object);
    }
  }
}
