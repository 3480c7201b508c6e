/**
 * Keeps as many pods as a ReplicaSet says.
 *
 * ```ts
 * import { syncReplicaSet } from "./_workloads_replicasets.ts";
 *
 * console.assert(typeof syncReplicaSet === "function");
 * ```
 *
 * @module
 */
import type { Kube } from "./_objects.ts";
import { deleting, hasEnded, isActive, isReady, type Kit, nonZero, untilAvailable } from "./_workloads_kit.ts";

/** Orders pods by which goes first when there are too many: not bound, not running, not ready, young. */
export function byWorth(a: Kube, b: Kube): number {
  const rank = (pod: Kube): number =>
    (pod.spec.nodeName ? 1 : 0) + (pod.status?.phase === "Running" ? 1 : 0) + (isReady(pod) ? 1 : 0);
  const age = (pod: Kube): number => Date.parse(pod.metadata.creationTimestamp ?? "");
  return rank(a) - rank(b) || age(b) - age(a) || (a.metadata.name! < b.metadata.name! ? -1 : 1);
}

/** How many pods are ready, and are for long enough; looks again when the next one is. */
export function countReady(
  kit: Kit,
  pods: readonly Kube[],
  minReadySeconds: number,
  again: (ms: number) => void,
): { ready: number; available: number } {
  const waits = pods.map((pod) => untilAvailable(pod, minReadySeconds, kit.now()));
  const next = Math.min(...waits.filter((ms) => ms > 0));
  if (Number.isFinite(next)) again(next);
  return { ready: waits.filter(Number.isFinite).length, available: waits.filter((ms) => ms === 0).length };
}

/** Brings a ReplicaSet's pods to their number, and its status up to date. */
export function syncReplicaSet(kit: Kit, set: Kube, again: (ms: number) => void): void {
  const { spec, metadata } = set;
  const active = kit.owned("pods", set).filter(isActive);
  const wanted = spec.replicas ?? 1;
  let failed = false;
  if (!deleting(set)) {
    for (let count = active.length; count < wanted && !failed; count++) {
      failed = !kit.createPod(set, spec.template, { generateName: `${metadata.name}-` });
    }
    for (const pod of active.sort(byWorth).slice(0, Math.max(0, active.length - wanted))) kit.remove(pod);
  }
  const all = kit.owned("pods", set);
  const pods = all.filter(isActive);
  const labels = Object.entries(spec.template.metadata?.labels ?? {});
  const labelled = pods.filter((pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value)).length;
  const { ready, available } = countReady(kit, pods, spec.minReadySeconds ?? 0, again);
  kit.setStatus(set, {
    replicas: pods.length,
    ...nonZero({ fullyLabeledReplicas: labelled, readyReplicas: ready, availableReplicas: available }),
    terminatingReplicas: all.filter((pod) => deleting(pod) && !hasEnded(pod)).length,
    observedGeneration: metadata.generation,
    ...(failed ? { conditions: failureOf(kit, set) } : {}),
  });
}

function failureOf(kit: Kit, set: Kube): unknown {
  if (set.status?.conditions) return set.status.conditions;
  const message = "the API server refused a pod";
  return [{
    type: "ReplicaFailure",
    status: "True",
    lastTransitionTime: kit.time(),
    reason: "FailedCreate",
    message,
  }];
}
