/**
 * Finds, among the caches of a controller, the one to ask: a kind may be watched for several reasons at once.
 *
 * ```ts
 * import { WatchedKinds } from "./_watched_kinds.ts";
 * import { Client } from "./client.ts";
 * import { Informer } from "./informer.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const informer = new Informer(new Client(), ConfigMap) as never;
 * const kinds = new WatchedKinds([{ resource: ConfigMap as never, informer, metadataOnly: false, owned: true }]);
 * console.assert(kinds.owned(ConfigMap) !== undefined);
 * ```
 *
 * @module
 */
import { type Informer, inside } from "./informer.ts";
import { keyOf, type KubernetesObject, type ObjectRef, type Resource, toKey } from "./resource.ts";

/** One kind that a controller watches. */
export interface WatchedKind {
  /** The kind. */
  readonly resource: Resource;
  /** Its cache. */
  readonly informer: Informer<KubernetesObject>;
  /** True if the cache holds metadata only. */
  readonly metadataOnly: boolean;
  /** True if `.owns()` declared it. */
  readonly owned: boolean;
  /** The namespaces that it is watched in. @default {all} */
  readonly namespaces?: readonly string[] | undefined;
  /** True if selectors leave some of its objects out. @default {false} */
  readonly selective?: boolean | undefined;
}

/** What tells a kind: a resource, an object, or a draft. */
type Kind = { readonly apiVersion: string; readonly kind: string };

/** The kinds that a controller watches, its own first. */
export class WatchedKinds {
  readonly #kinds: readonly WatchedKind[];
  /** The same, those first that hold most. */
  readonly #richest: readonly WatchedKind[];

  /** Takes them in the order in which they were declared. */
  constructor(kinds: readonly WatchedKind[]) {
    this.#kinds = kinds;
    const poverty = ({ metadataOnly, selective }: WatchedKind): number => (metadataOnly ? 2 : 0) + (selective ? 1 : 0);
    this.#richest = [...kinds].sort((one, other) => poverty(one) - poverty(other));
  }

  /** The kind as it was declared first, in whatever version. */
  find(kind: Kind): WatchedKind | undefined {
    return this.#kinds.find(({ resource }) => resource.is(kind));
  }

  /** The kind as `.owns()` declared it. */
  owned(kind: Kind): WatchedKind | undefined {
    return this.#kinds.find(({ resource, owned }) => owned && resource.is(kind));
  }

  /** The caches of that kind and version, those first that hold most. */
  caches(kind: Kind): readonly WatchedKind[] {
    return this.#richest.filter(({ resource }) =>
      resource.kind === kind.kind && resource.apiVersion === kind.apiVersion
    );
  }

  /**
   * Looks for an object in the caches that hold whole ones.
   *
   * @returns What was found, and whether the caches could not but know it: else the server may have it all the same
   */
  look(kind: Kind, ref: ObjectRef): { readonly object: KubernetesObject | undefined; readonly sure: boolean } {
    let sure = false;
    for (const cache of this.caches(kind)) {
      if (cache.metadataOnly) continue;
      const object = cache.informer.get(toKey(ref));
      if (object) return { object, sure: true };
      sure ||= !cache.selective && covers(cache, ref.namespace);
    }
    return { object: undefined, sure };
  }

  /** The cache that a list is answered from; undefined if none holds whole objects of that namespace. */
  listed(kind: Kind, namespace: string | undefined): WatchedKind | undefined {
    return this.caches(kind).find((cache) =>
      !cache.metadataOnly && (namespace === undefined || covers(cache, namespace))
    );
  }

  /** The newest cached version of an object that is at hand, if it is that very one. */
  newest(object: KubernetesObject): KubernetesObject | undefined {
    const cached = this.look(object, object.metadata).object;
    return cached?.metadata.uid === object.metadata.uid ? cached : undefined;
  }

  /** The cached version of an object, in whatever cache, even if only its metadata. */
  version(kind: Kind, object: { readonly metadata: ObjectRef }): string | undefined {
    for (const { informer } of this.caches(kind)) {
      const cached = inside(informer).get(keyOf(object));
      if (cached) return cached.resourceVersion;
    }
    return undefined;
  }
}

function covers({ resource, namespaces }: WatchedKind, namespace: string | undefined): boolean {
  if (!resource.namespaced) return true;
  return namespace !== undefined && (namespaces === undefined || namespaces.includes(namespace));
}
