/**
 * Runs pods as a scheduler and kubelets do, without containers: they become ready, end if they are to end, and go.
 *
 * ```ts
 * import { Pods } from "./_workloads_pods.ts";
 *
 * console.assert(typeof Pods === "function");
 * ```
 *
 * @module
 */
import { equal, type Fields, type Kube } from "./_objects.ts";
import { conditionOf, deleting, isActive, type Kit } from "./_workloads_kit.ts";

const KUBELET = "kubelet/v1.37.2";
const SCHEDULER = "kube-scheduler/v1.37.2";
/** The node of pods of a cluster without nodes. */
const NO_NODE = "node";

/** The node that a DaemonSet's pod is for. */
function fixedNode({ spec }: Kube): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields: Fields[] = required?.nodeSelectorTerms?.[0]?.matchFields ?? [];
  return fields.find(({ key, operator }) => key === "metadata.name" && operator === "In")?.values?.[0];
}

/** True if a pod's node selector selects a node. */
export function fitsSelector(spec: Fields, node: Kube): boolean {
  return Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => node.metadata.labels?.[key] === value);
}

/** The scheduler and the kubelets. */
export class Pods {
  readonly #kit: Kit;
  #addresses = 0;

  /** Takes the server. */
  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** Moves a pod on by one step. */
  sync(pod: Kube): void {
    if (deleting(pod)) return this.#kit.remove(pod, { gracePeriodSeconds: 0 });
    const phase = pod.status?.phase ?? "Pending";
    if (phase === "Pending") this.#start(pod);
    else if (phase === "Running" && pod.spec.restartPolicy !== "Always") this.#end(pod);
    else if (phase === "Running" && pod.spec.readinessGates?.length > 0) this.#passGates(pod);
  }

  #start(pod: Kube): void {
    if (pod.spec.schedulingGates?.length > 0) return;
    const nodeName = pod.spec.nodeName ?? this.#nodeFor(pod);
    if (nodeName === undefined) return this.#hold(pod);
    const bound = pod.spec.nodeName ? pod : this.#kit.bind(pod, nodeName);
    this.#kit.setStatus(bound, this.#running(bound), undefined, KUBELET);
  }

  /** The node with the fewest pods among those that take it. */
  #nodeFor(pod: Kube): string | undefined {
    const nodes = this.#kit.list("nodes");
    const fixed = fixedNode(pod);
    if (nodes.length === 0) return fixed ?? NO_NODE;
    if (fixed !== undefined) return nodes.some(({ metadata }) => metadata.name === fixed) ? fixed : undefined;
    const load = new Map<string, number>();
    for (const node of nodes) {
      if (!node.spec?.unschedulable && fitsSelector(pod.spec, node)) load.set(node.metadata.name!, 0);
    }
    for (const each of this.#kit.list("pods")) {
      const name = each.spec.nodeName;
      if (isActive(each) && load.has(name)) load.set(name, load.get(name)! + 1);
    }
    return [...load].sort(([, a], [, b]) => a - b)[0]?.[0];
  }

  #hold(pod: Kube): void {
    if (conditionOf(pod, "PodScheduled")) return;
    const message = `0/${this.#kit.list("nodes").length} nodes are available.`;
    const condition = this.#condition("PodScheduled", false, { reason: "Unschedulable", message });
    const conditions = [...pod.status?.conditions ?? [], condition];
    this.#kit.setStatus(pod, { ...pod.status, conditions }, undefined, SCHEDULER);
  }

  #condition(type: string, holds: boolean, more: Fields = {}): Fields {
    return {
      type,
      status: holds ? "True" : "False",
      lastProbeTime: null,
      lastTransitionTime: this.#kit.time(),
      ...more,
    };
  }

  #running(pod: Kube): Fields {
    const { spec, metadata, status } = pod;
    const startTime = this.#kit.time();
    const address = ++this.#addresses;
    const podIP = `10.244.${address >> 8 & 255}.${address & 255}`;
    const own: Fields[] = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
      (type) => this.#condition(type, type !== "Ready" || gatesPass(pod)),
    );
    const others = (status?.conditions ?? []).filter(({ type }: Fields) => own.every((each) => each.type !== type));
    const id = (name: string): string => `containerd://${metadata.uid}-${name}`;
    const base = ({ name, image }: Fields): Fields => ({
      name,
      image,
      imageID: image,
      containerID: id(name),
      restartCount: 0,
      lastState: {},
    });
    return {
      ...status,
      phase: "Running",
      ...(metadata.generation ? { observedGeneration: metadata.generation } : {}),
      conditions: [...own, ...others],
      hostIP: "10.0.0.1",
      hostIPs: [{ ip: "10.0.0.1" }],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime,
      ...(spec.initContainers?.length > 0
        ? {
          initContainerStatuses: spec.initContainers.map((each: Fields) => {
            const sidecar = each.restartPolicy === "Always";
            const state = sidecar ? { running: { startedAt: startTime } } : ended(startTime, startTime, id(each.name));
            return { ...base(each), ready: true, started: sidecar, state };
          }),
        }
        : {}),
      containerStatuses: spec.containers.map((each: Fields) => ({
        ...base(each),
        ready: true,
        started: true,
        state: { running: { startedAt: startTime } },
      })),
    };
  }

  /** Ends a pod that is not to run for ever, with success. */
  #end(pod: Kube): void {
    const { status } = pod;
    const finishedAt = this.#kit.time();
    const over = ["Ready", "ContainersReady", "PodReadyToStartContainers"];
    const conditions = (status.conditions as Fields[] ?? []).map((each) => {
      if (each.type === "Initialized") return { ...each, reason: "PodCompleted" };
      if (!over.includes(each.type)) return each;
      const why = each.type === "PodReadyToStartContainers" ? {} : { reason: "PodCompleted" };
      return this.#condition(each.type, false, why);
    });
    const containerStatuses = (status.containerStatuses as Fields[] ?? []).map((each) => ({
      ...each,
      ready: false,
      started: false,
      state: ended(each.state?.running?.startedAt ?? finishedAt, finishedAt, each.containerID),
    }));
    this.#kit.setStatus(pod, { ...status, phase: "Succeeded", conditions, containerStatuses }, undefined, KUBELET);
  }

  #passGates(pod: Kube): void {
    const ready = conditionOf(pod, "Ready");
    const passes = gatesPass(pod) && conditionOf(pod, "ContainersReady")?.status === "True";
    if (!ready || (ready.status === "True") === passes) return;
    const conditions = (pod.status.conditions as Fields[]).map((each) =>
      equal(each, ready) ? this.#condition("Ready", passes) : each
    );
    this.#kit.setStatus(pod, { ...pod.status, conditions }, undefined, KUBELET);
  }
}

function gatesPass(pod: Kube): boolean {
  const gates: Fields[] = pod.spec.readinessGates ?? [];
  return gates.every(({ conditionType }) => conditionOf(pod, conditionType)?.status === "True");
}

function ended(startedAt: string, finishedAt: string, containerID: string): Fields {
  return { terminated: { exitCode: 0, reason: "Completed", startedAt, finishedAt, containerID } };
}
