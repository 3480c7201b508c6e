/**
 * Keeps the pods of StatefulSets, one for each ordinal, and of DaemonSets, one for each node.
 *
 * ```ts
 * import { syncStatefulSet } from "./_workloads_sets.ts";
 *
 * console.assert(typeof syncStatefulSet === "function");
 * ```
 *
 * @module
 */
import type { Fields, Kube } from "./_objects.ts";
import { deleting, hasEnded, hashOf, isActive, isReady, type Kit, nonZero, resolve } from "./_workloads_kit.ts";
import { fitsSelector } from "./_workloads_pods.ts";
import { countReady } from "./_workloads_replicasets.ts";

const REVISION = "controller-revision-hash";

function hashIn({ metadata }: Kube): string | undefined {
  return metadata.labels?.[REVISION];
}

/** Moves a StatefulSet on by one step. */
export function syncStatefulSet(kit: Kit, set: Kube, again: (ms: number) => void): void {
  const { spec, metadata, status = {} } = set;
  const update = `${metadata.name}-${hashOf(spec.template)}`;
  const current = status.currentRevision ?? update;
  if (!deleting(set)) arrange(kit, set, update, current);
  const pods = kit.owned("pods", set).filter((pod) => !hasEnded(pod));
  const { ready, available } = countReady(kit, pods.filter(isActive), spec.minReadySeconds ?? 0, again);
  const updated = pods.filter((pod) => isActive(pod) && hashIn(pod) === update).length;
  const wanted = spec.replicas ?? 1;
  const done = updated === wanted && pods.length === wanted && ready === wanted;
  const before = pods.filter((pod) => isActive(pod) && hashIn(pod) === current).length;
  kit.setStatus(set, {
    observedGeneration: metadata.generation,
    replicas: pods.length,
    ...nonZero({ readyReplicas: ready, currentReplicas: done ? updated : before, updatedReplicas: updated }),
    availableReplicas: available,
    currentRevision: done ? update : current,
    updateRevision: update,
    collisionCount: 0,
  });
}

/** Creates, replaces and removes pods: one after the other, unless the set lets them go in parallel. */
function arrange(kit: Kit, set: Kube, update: string, current: string): void {
  const { spec } = set;
  const name = set.metadata.name!;
  const parallel = spec.podManagementPolicy === "Parallel";
  const first = spec.ordinals?.start ?? 0, end = first + (spec.replicas ?? 1);
  const ordinal = ({ metadata }: Kube): number => Number(metadata.name!.slice(name.length + 1));
  const pods = new Map(kit.owned("pods", set).map((pod) => [ordinal(pod), pod]));
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let each = first; each < end; each++) {
    const pod = pods.get(each);
    if (pod && hasEnded(pod) && !deleting(pod)) kit.remove(pod);
    else if (!pod) addPod(kit, set, each, each < partition ? current : update);
    if (!parallel && !(pod && isActive(pod) && isReady(pod))) return;
  }
  const surplus = [...pods.keys()].filter((each) => each < first || each >= end).sort((a, b) => b - a);
  for (const each of surplus) {
    if (!deleting(pods.get(each)!)) kit.remove(pods.get(each)!);
    if (!parallel) return;
  }
  if (surplus.length > 0 || spec.updateStrategy?.type === "OnDelete") return;
  for (let each = end - 1; each >= Math.max(first, partition); each--) {
    const pod = pods.get(each);
    if (pod && hashIn(pod) !== update) return deleting(pod) ? undefined : kit.remove(pod);
    if (!pod || !isActive(pod) || !isReady(pod)) return;
  }
}

function addPod(kit: Kit, set: Kube, ordinal: number, revision: string): void {
  const { metadata, spec } = set;
  const name = `${metadata.name}-${ordinal}`;
  const claims: Fields[] = spec.volumeClaimTemplates ?? [];
  for (const claim of claims) {
    const claimName = `${claim.metadata.name}-${name}`;
    if (kit.read("persistentvolumeclaims", metadata.namespace!, claimName)) continue;
    const labels = { ...claim.metadata.labels, ...spec.selector?.matchLabels };
    const meta = { ...claim.metadata, name: claimName, namespace: metadata.namespace!, labels };
    kit.createFree({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: meta, spec: claim.spec });
  }
  const names = new Set(claims.map((claim) => claim.metadata.name));
  const others = (spec.template.spec.volumes ?? []).filter((volume: Fields) => !names.has(volume.name));
  const volumes = claims.map(({ metadata: { name: volume } }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: `${volume}-${name}` },
  }));
  kit.createPod(set, spec.template, {
    name,
    labels: {
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
      [REVISION]: revision,
    },
    spec: {
      hostname: name,
      ...(spec.serviceName ? { subdomain: spec.serviceName } : {}),
      ...(claims.length > 0 ? { volumes: [...others, ...volumes] } : {}),
    },
  });
}

/** Moves a DaemonSet on by one step. */
export function syncDaemonSet(kit: Kit, set: Kube, again: (ms: number) => void): void {
  const { spec, metadata } = set;
  const hash = hashOf(spec.template);
  const nodes = kit.list("nodes").filter((node) => fitsSelector(spec.template.spec, node)).map((node) =>
    node.metadata.name!
  );
  if (!deleting(set)) cover(kit, set, nodes, hash);
  const pods = kit.owned("pods", set).filter((pod) => isActive(pod) && nodes.includes(nodeOf(pod)));
  const { ready, available } = countReady(kit, pods, spec.minReadySeconds ?? 0, again);
  const updated = pods.filter((pod) => hashIn(pod) === hash).length;
  kit.setStatus(set, {
    currentNumberScheduled: pods.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: nodes.length,
    numberReady: ready,
    observedGeneration: metadata.generation,
    ...nonZero({
      updatedNumberScheduled: updated,
      numberAvailable: available,
      numberUnavailable: nodes.length - available,
    }),
  });
}

function nodeOf({ spec }: Kube): string {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec.nodeName ?? required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0] ?? "";
}

function cover(kit: Kit, set: Kube, nodes: readonly string[], hash: string): void {
  const { spec, metadata } = set;
  const pods = kit.owned("pods", set);
  for (const pod of pods) {
    if (!deleting(pod) && (hasEnded(pod) || !nodes.includes(nodeOf(pod)))) kit.remove(pod);
  }
  const covered = new Set(pods.filter((pod) => !hasEnded(pod)).map(nodeOf));
  for (const node of nodes.filter((each) => !covered.has(each))) {
    const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    kit.createPod(set, spec.template, {
      generateName: `${metadata.name}-`,
      labels: { [REVISION]: hash, "pod-template-generation": String(metadata.generation ?? 1) },
      spec: {
        affinity: {
          ...spec.template.spec.affinity,
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
        },
      },
    });
  }
  if (spec.updateStrategy?.type === "OnDelete") return;
  const most = Math.max(1, resolve(spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, nodes.length, "up"));
  const live = pods.filter((pod) => isActive(pod) && nodes.includes(nodeOf(pod)));
  const old = live.filter((pod) => hashIn(pod) !== hash);
  for (const pod of old.filter((each) => !isReady(each))) kit.remove(pod);
  const free = most - (nodes.length - live.filter(isReady).length);
  for (const pod of old.filter(isReady).slice(0, Math.max(0, free))) kit.remove(pod);
}
