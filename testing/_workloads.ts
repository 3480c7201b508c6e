/**
 * Brings workloads to life without containers: looks at each Deployment, set, Job and pod when something about it changed.
 *
 * Each look is in a timer of its own, and moves its object on by one step. StatefulSets and DaemonSets keep no
 * ControllerRevisions, and a rollout that is scaled while it goes on is not scaled in proportion.
 *
 * ```ts
 * import { Workloads } from "./_workloads.ts";
 *
 * console.assert(typeof Workloads === "function");
 * ```
 *
 * @module
 */
import type { ServerState } from "./_call.ts";
import type { Kube } from "./_objects.ts";
import type { Perform } from "./_perform.ts";
import type { Collection, StoredEvent } from "./_store.ts";
import { syncDeployment } from "./_workloads_deployments.ts";
import { syncJob } from "./_workloads_jobs.ts";
import { Kit } from "./_workloads_kit.ts";
import { Pods } from "./_workloads_pods.ts";
import { syncReplicaSet } from "./_workloads_replicasets.ts";
import { syncDaemonSet, syncStatefulSet } from "./_workloads_sets.ts";

type Sync = (kit: Kit, object: Kube, again: (ms: number) => void) => void;

/** Where each kind of owner is kept. */
const STORAGE: Readonly<Record<string, string>> = {
  Deployment: "deployments.apps",
  ReplicaSet: "replicasets.apps",
  StatefulSet: "statefulsets.apps",
  DaemonSet: "daemonsets.apps",
  Job: "jobs.batch",
};

const SYNCS: Readonly<Record<string, Sync>> = {
  "deployments.apps": syncDeployment,
  "replicasets.apps": syncReplicaSet,
  "statefulsets.apps": syncStatefulSet,
  "daemonsets.apps": syncDaemonSet,
  "jobs.batch": syncJob,
};

const LONGEST = 2 ** 31 - 1;

/** The controllers of workloads, the scheduler and the kubelets. */
export class Workloads {
  readonly #kit: Kit;
  readonly #pods: Pods;
  readonly #later: (work: () => void, ms?: number) => void;
  /** What will be looked at, by storage and key. */
  readonly #waiting = new Set<string>();
  /** When it will be looked at again at the latest though nothing changes, by storage and key. */
  readonly #due = new Map<string, number>();

  /** Takes the server, and how to do something later: after the delay of controllers, or after some ms. */
  constructor(server: ServerState, perform: Perform, later: (work: () => void, ms?: number) => void) {
    this.#kit = new Kit(server, perform);
    this.#pods = new Pods(this.#kit);
    this.#later = later;
  }

  /** Looks at a change. */
  see({ id }: Collection, { type, namespace, name, current, previous }: StoredEvent): void {
    if (id === "nodes") return this.#seeNodes();
    if (id !== "pods" && !(id in SYNCS)) return;
    if (type !== "DELETED") this.#look(id, namespace, name);
    for (const object of [current.object, previous?.object]) {
      for (const owner of object?.metadata.ownerReferences ?? []) {
        const storage = owner.controller ? STORAGE[owner.kind] : undefined;
        if (storage !== undefined) this.#look(storage, namespace, owner.name);
      }
    }
    // A Recreate waits for the pods of its old sets.
    if (id === "pods" && type === "DELETED") this.#seeEnd(namespace, current.object);
  }

  #seeEnd(namespace: string, pod: Kube): void {
    const owner = pod.metadata.ownerReferences?.find((each) => each.controller && each.kind === "ReplicaSet");
    const set = owner && this.#kit.read(STORAGE.ReplicaSet!, namespace, owner.name);
    for (const { kind, name, controller } of set?.metadata.ownerReferences ?? []) {
      if (controller && kind === "Deployment") this.#look(STORAGE.Deployment!, namespace, name);
    }
  }

  /** A node may take pods that wait, and gets those of DaemonSets. */
  #seeNodes(): void {
    for (const storage of ["daemonsets.apps", "pods"]) {
      for (const { metadata: { namespace = "", name = "" }, spec } of this.#kit.list(storage)) {
        if (storage !== "pods" || !spec.nodeName) this.#look(storage, namespace, name);
      }
    }
  }

  #look(storage: string, namespace: string, name: string): void {
    const key = `${storage} ${namespace}/${name}`;
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#later(() => {
      this.#waiting.delete(key);
      const object = this.#kit.read(storage, namespace, name);
      if (!object) return;
      if (storage === "pods") return this.#pods.sync(object);
      SYNCS[storage]!(this.#kit, object, (ms) => this.#again(storage, namespace, name, ms));
    });
  }

  /** Looks at an object after some ms, unless it is looked at before for such a reason. */
  #again(storage: string, namespace: string, name: string, ms: number): void {
    const key = `${storage} ${namespace}/${name}`;
    const wait = Math.min(ms, LONGEST);
    const due = this.#kit.now().getTime() + wait;
    if ((this.#due.get(key) ?? Infinity) <= due) return;
    this.#due.set(key, due);
    this.#later(() => {
      if (this.#due.get(key) === due) this.#due.delete(key);
      this.#look(storage, namespace, name);
    }, wait);
  }
}
