/**
 * Collects garbage: deletes what has lost all its owners, and lets owners go in the foreground or without their dependents.
 *
 * ```ts
 * import { Collector } from "./_collector.ts";
 *
 * console.assert(typeof Collector === "function");
 * ```
 *
 * @module
 */
import { groupOf, type OwnerReference } from "../resource.ts";
import type { ServerState } from "./_call.ts";
import { pathOf, type Perform } from "./_perform.ts";
import type { Kube } from "./_objects.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { Collection, StoredEvent } from "./_store.ts";

const FOREGROUND = "foregroundDeletion", ORPHAN = "orphan";
const MERGE = "application/merge-patch+json";

/** Where an object is. */
interface Place {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

function has(object: Kube, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

function deleting(object: Kube): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** The garbage collector. */
export class Collector {
  readonly #server: ServerState;
  readonly #perform: Perform;
  readonly #later: (work: () => void) => void;
  /** Dependents by the uid of an owner. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** What is being deleted, by uid. */
  readonly #going = new Map<string, Place>();
  /** Those with an owner of a kind that is not served: looked at again when a kind is defined. */
  readonly #puzzling = new Map<string, Place>();

  /** Takes the objects that are there into its graph. */
  constructor(server: ServerState, perform: Perform, later: (work: () => void) => void) {
    this.#server = server;
    this.#perform = perform;
    this.#later = later;
    for (const collection of server.store.collections()) {
      for (const { object } of collection.list()) this.#link(collection.id, object, undefined);
    }
  }

  /** Looks at a change. */
  see(collection: Collection, event: StoredEvent): void {
    const { current, previous, type } = event;
    const place = { storage: collection.id, namespace: event.namespace, name: event.name };
    if (type === "DELETED") {
      this.#link(collection.id, undefined, previous?.object);
      const { uid } = current.object.metadata;
      this.#going.delete(uid ?? "");
      const dependents = [...this.#dependents.get(uid ?? "")?.values() ?? []];
      for (const each of dependents) this.#later(() => this.#attempt(each));
      for (const { uid } of current.object.metadata.ownerReferences ?? []) this.#later(() => this.#release(uid));
      return;
    }
    this.#link(collection.id, current.object, previous?.object);
    if ((current.object.metadata.ownerReferences ?? []).length > 0) this.#later(() => this.#attempt(place));
    if (deleting(current.object)) {
      this.#going.set(current.object.metadata.uid ?? "", place);
      this.#later(() => this.#finish(place));
    }
    if (current.object.kind === "CustomResourceDefinition") this.#later(() => this.#reconsider());
  }

  #reconsider(): void {
    const places = [...this.#puzzling.values()];
    this.#puzzling.clear();
    for (const place of places) this.#attempt(place);
  }

  #link(storage: string, object: Kube | undefined, previous: Kube | undefined): void {
    const { namespace = "", name = "" } = (object ?? previous)!.metadata;
    const key = `${storage} ${namespace}/${name}`;
    for (const { uid } of previous?.metadata.ownerReferences ?? []) {
      const known = this.#dependents.get(uid);
      known?.delete(key);
      if (known?.size === 0) this.#dependents.delete(uid);
    }
    for (const { uid } of object?.metadata.ownerReferences ?? []) {
      let known = this.#dependents.get(uid);
      if (!known) this.#dependents.set(uid, known = new Map());
      known.set(key, { storage, namespace, name });
    }
  }

  #read({ storage, namespace, name }: Place): Kube | undefined {
    return this.#server.store.collection(storage).get(namespace, name)?.object;
  }

  #infoOf({ apiVersion, kind }: Kube): ResourceInfo | undefined {
    return this.#server.registry.byKind(groupOf(apiVersion), kind);
  }

  #owner(reference: OwnerReference, namespace: string): Kube | undefined {
    const info = this.#server.registry.byKind(groupOf(reference.apiVersion), reference.kind);
    if (!info) return undefined;
    const found = this.#read({
      storage: info.storage,
      namespace: info.namespaced ? namespace : "",
      name: reference.name,
    });
    return found?.metadata.uid === reference.uid ? found : undefined;
  }

  /** Deletes a dependent that has lost all its owners; takes lost owners off one that has others. */
  #attempt(place: Place): void {
    const object = this.#read(place);
    if (!object || (deleting(object) && !has(object, FOREGROUND))) return;
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const solid: OwnerReference[] = [], waiting: OwnerReference[] = [];
    for (const reference of references) {
      if (!this.#known(reference)) {
        this.#puzzling.set(`${place.storage} ${place.namespace}/${place.name}`, place);
        return;
      }
      const owner = this.#owner(reference, place.namespace);
      if (!owner) continue;
      const waits = deleting(owner) && has(owner, FOREGROUND) && reference.blockOwnerDeletion === true;
      (waits ? waiting : solid).push(reference);
    }
    if (solid.length === references.length) return;
    const info = this.#infoOf(object);
    if (!info) return;
    if (solid.length > 0) {
      this.#perform("PATCH", pathOf(info, object), {
        metadata: { uid: object.metadata.uid, ownerReferences: solid },
      }, MERGE);
      return;
    }
    if (deleting(object)) return;
    const foreground = waiting.length > 0 && (this.#dependents.get(object.metadata.uid ?? "")?.size ?? 0) > 0;
    const policy = foreground || has(object, FOREGROUND) ? "Foreground" : has(object, ORPHAN) ? "Orphan" : "Background";
    this.#perform("DELETE", pathOf(info, object), {
      propagationPolicy: policy,
      preconditions: { uid: object.metadata.uid },
    });
  }

  /** An owner of a kind that is not served may come back with its kind. */
  #known({ apiVersion, kind }: OwnerReference): boolean {
    return this.#server.registry.byKind(groupOf(apiVersion), kind) !== undefined;
  }

  /** Goes on with an owner whose dependent is gone. */
  #release(uid: string): void {
    const place = this.#going.get(uid);
    if (place) this.#finish(place);
  }

  /** Takes the collector's own finalizers off an owner that is being deleted, when their work is done. */
  #finish(place: Place): void {
    const object = this.#read(place);
    if (!object || !deleting(object)) return;
    const info = this.#infoOf(object);
    if (!info) return;
    const dependents = [...this.#dependents.get(object.metadata.uid ?? "")?.values() ?? []];
    if (has(object, ORPHAN)) {
      for (const each of dependents) this.#orphan(each, object.metadata.uid!);
      this.#drop(info, object, ORPHAN);
    } else if (has(object, FOREGROUND)) {
      let blocking = 0;
      for (const each of dependents) {
        const dependent = this.#read(each);
        const reference = dependent?.metadata.ownerReferences?.find(({ uid }) => uid === object.metadata.uid);
        if (!dependent || !reference) continue;
        if (reference.blockOwnerDeletion) blocking++;
        this.#later(() => this.#attempt(each));
      }
      if (blocking === 0) this.#drop(info, object, FOREGROUND);
    }
  }

  #orphan(place: Place, uid: string): void {
    const object = this.#read(place);
    const info = object && this.#infoOf(object);
    if (!object || !info) return;
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter((each) => each.uid !== uid);
    this.#perform("PATCH", pathOf(info, object), { metadata: { uid: object.metadata.uid, ownerReferences } }, MERGE);
  }

  #drop(info: ResourceInfo, object: Kube, finalizer: string): void {
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    const kept = finalizers.filter((each) => each !== finalizer);
    this.#perform("PATCH", pathOf(info, object), { metadata: { uid, resourceVersion, finalizers: kept } }, MERGE);
  }
}
