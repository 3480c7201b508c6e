/**
 * Gives the workload controllers what they share: owned objects, pods from templates, statuses, conditions, rounding.
 *
 * ```ts
 * import { hashOf, resolve } from "./_workloads_kit.ts";
 *
 * console.assert(resolve("25%", 10, "up") === 3);
 * console.assert(hashOf({ a: 1, b: 2 }) === hashOf({ b: 2, a: 1 }));
 * ```
 *
 * @module
 */
import { groupOf } from "../resource.ts";
import type { ServerState } from "./_call.ts";
import { selects } from "./_label_selectors.ts";
import { equal, type Fields, type Kube, timestamp } from "./_objects.ts";
import { pathOf, type Perform } from "./_perform.ts";

/** True for an object that is being deleted. */
export function deleting({ metadata }: Kube): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** True for a pod that has not ended and is not being deleted. */
export function isActive(pod: Kube): boolean {
  return !deleting(pod) && !hasEnded(pod);
}

/** True for a pod that ran to its end. */
export function hasEnded({ status }: Kube): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** A condition of a status. */
export function conditionOf({ status }: Kube, type: string): Fields | undefined {
  return (status?.conditions as Fields[] | undefined)?.find((each) => each.type === type);
}

/** True for a pod that is ready. */
export function isReady(pod: Kube): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}

/** In how many ms a ready pod has been so for long enough; 0 if it has, `Infinity` if it is not ready. */
export function untilAvailable(pod: Kube, seconds: number, now: Date): number {
  if (!isReady(pod)) return Infinity;
  const since = Date.parse(conditionOf(pod, "Ready")!.lastTransitionTime ?? "");
  return seconds === 0 || Number.isNaN(since) ? 0 : Math.max(0, since + seconds * 1000 - now.getTime());
}

/** A number or a percentage of a total. */
export function resolve(value: unknown, total: number, round: "up" | "down"): number {
  if (typeof value !== "string") return typeof value === "number" ? value : 0;
  const part = Number.parseInt(value) * total / 100;
  return round === "up" ? Math.ceil(part) : Math.floor(part);
}

/** The members whose values are not 0, for fields that Go leaves out when they are. */
export function nonZero(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, each]) => each !== undefined).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}

/** Letters that make no words. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

/** A hash of a pod template for names and labels: 32-bit FNV-1a, spelled without vowels. */
export function hashOf(template: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(canonical(template) + (collisions > 0 ? collisions : ""))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join("");
}

/** The server, as the workload controllers use it. */
export class Kit {
  readonly #server: ServerState;
  readonly #perform: Perform;

  /** Takes the server, and how to ask it for changes. */
  constructor(server: ServerState, perform: Perform) {
    this.#server = server;
    this.#perform = perform;
  }

  /** Wall time. */
  now(): Date {
    return this.#server.now();
  }

  /** Wall time as metadata carries it. */
  time(): string {
    return timestamp(this.now());
  }

  /** An object, if it is there. */
  read(storage: string, namespace: string, name: string): Kube | undefined {
    return this.#server.store.collection(storage).get(namespace, name)?.object;
  }

  /** The objects of a namespace, or of all. */
  list(storage: string, namespace?: string): Kube[] {
    return this.#server.store.collection(storage).list({ namespace }).map(({ object }) => object);
  }

  /** What an owner controls; what it selects and nobody controls becomes its own. */
  owned(storage: string, owner: Kube): Kube[] {
    const { uid, namespace } = owner.metadata;
    return this.list(storage, namespace).flatMap((object) => {
      const controller = object.metadata.ownerReferences?.find((each) => each.controller);
      if (controller) return controller.uid === uid ? [object] : [];
      if (deleting(owner) || !isActive(object) || !selects(owner.spec?.selector, object.metadata.labels)) return [];
      const ownerReferences = [...object.metadata.ownerReferences ?? [], this.#reference(owner)];
      const metadata = { uid: object.metadata.uid, ownerReferences };
      if (this.#send("PATCH", this.#path(object), { metadata }, "application/merge-patch+json") >= 300) return [];
      return [this.read(storage, namespace ?? "", object.metadata.name!)!];
    });
  }

  /** Creates an object for an owner; answers whether the server took it. */
  create(owner: Kube, object: Fields): boolean {
    const { namespace } = owner.metadata;
    const metadata = { ...object.metadata, namespace, ownerReferences: [this.#reference(owner)] };
    return this.#add({ ...object, metadata } as Kube);
  }

  /** Creates an object that nobody owns. */
  createFree(object: Kube): boolean {
    return this.#add(object);
  }

  /** Creates a pod of a template; `more` has its name and what is added to the template. */
  createPod(owner: Kube, template: Fields, more: Fields): boolean {
    const { labels, annotations, finalizers } = template.metadata ?? {};
    const { labels: ownLabels, annotations: ownAnnotations, spec, ...names } = more;
    return this.create(owner, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...names,
        labels: { ...labels, ...ownLabels },
        annotations: { ...annotations, ...ownAnnotations },
        finalizers,
      },
      spec: { ...template.spec, ...spec },
    });
  }

  /** Replaces an object. */
  replace(object: Kube): boolean {
    return this.#send("PUT", this.#path(object), object) < 300;
  }

  /** Writes a status, and annotations where they are given, if that changes anything. */
  setStatus(object: Kube, status: Fields, annotations?: Record<string, string>, agent?: string): void {
    const plain = JSON.parse(JSON.stringify(status));
    const same = annotations === undefined || equal(annotations, object.metadata.annotations);
    if (equal(plain, object.status) && same) return;
    const metadata = annotations ? { ...object.metadata, annotations } : object.metadata;
    this.#send("PUT", `${this.#path(object)}/status`, { ...object, metadata, status: plain }, undefined, agent);
  }

  /** Deletes an object. */
  remove(object: Kube, options: Fields = {}): void {
    const preconditions = { uid: object.metadata.uid };
    this.#send("DELETE", this.#path(object), { kind: "DeleteOptions", apiVersion: "v1", preconditions, ...options });
  }

  /** Binds a pod to a node, as the scheduler does; answers with the pod as it is then. */
  bind(pod: Kube, nodeName: string): Kube {
    const { namespace = "", name = "" } = pod.metadata;
    const target = { apiVersion: "v1", kind: "Node", name: nodeName };
    this.#send("POST", `${this.#path(pod)}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target });
    return this.read("pods", namespace, name) ?? pod;
  }

  #add(object: Kube): boolean {
    const path = this.#path(object);
    return this.#send("POST", path.slice(0, path.lastIndexOf("/")), object) < 300;
  }

  #reference({ apiVersion, kind, metadata: { name, uid } }: Kube) {
    return { apiVersion, kind, name: name!, uid: uid!, controller: true, blockOwnerDeletion: true };
  }

  #path(object: Kube): string {
    return pathOf(this.#server.registry.byKind(groupOf(object.apiVersion), object.kind)!, object);
  }

  #send(method: string, path: string, body: Fields, contentType?: string, agent?: string): number {
    return this.#perform(method, path, body, contentType, agent).code;
  }
}
