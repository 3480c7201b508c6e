/**
 * Rolls a Deployment out: a ReplicaSet for each pod template, scaled against each other as its strategy says.
 *
 * ```ts
 * import { syncDeployment } from "./_workloads_deployments.ts";
 *
 * console.assert(typeof syncDeployment === "function");
 * ```
 *
 * @module
 */
import { equal, type Fields, type Kube } from "./_objects.ts";
import { conditionOf, deleting, hasEnded, hashOf, type Kit, nonZero, resolve } from "./_workloads_kit.ts";

const PREFIX = "deployment.kubernetes.io/";
const REVISION = `${PREFIX}revision`, DESIRED = `${PREFIX}desired-replicas`, MOST = `${PREFIX}max-replicas`;
const HASH = "pod-template-hash";
/** Annotations of a Deployment that its ReplicaSets do not get. */
const OWN = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  `${PREFIX}revision-history`,
  DESIRED,
  MOST,
  "deprecated.deployment.rollback.to",
]);

/** A Deployment and its ReplicaSets at one time. */
interface Rollout {
  readonly kit: Kit;
  readonly deployment: Kube;
  readonly wanted: number;
  readonly surge: number;
  readonly unavailable: number;
  readonly sets: readonly Kube[];
  /** The set of the template; undefined before it is made. */
  readonly current: Kube | undefined;
  readonly old: readonly Kube[];
}

function replicasOf(set: Kube): number {
  return set.spec.replicas ?? 1;
}

function sum(sets: readonly Kube[], count: (set: Kube) => number | undefined): number {
  return sets.reduce((total, set) => total + (count(set) ?? 0), 0);
}

function revisionOf({ metadata }: Kube): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function withoutHash(template: Fields): Fields {
  const { [HASH]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

function observe(kit: Kit, deployment: Kube): Rollout {
  const { spec } = deployment;
  const sets = kit.owned("replicasets.apps", deployment).filter((set) => !deleting(set));
  const wanted = spec.replicas ?? 1;
  const rolling = spec.strategy?.type !== "Recreate";
  const { maxSurge = "25%", maxUnavailable = "25%" } = spec.strategy?.rollingUpdate ?? {};
  const surge = rolling ? resolve(maxSurge, wanted, "up") : 0;
  const unavailable = rolling ? Math.min(resolve(maxUnavailable, wanted, "down"), wanted) : 0;
  const current = sets.find((set) => equal(withoutHash(set.spec.template), withoutHash(spec.template)));
  return {
    kit,
    deployment,
    wanted,
    surge,
    unavailable: rolling && surge === 0 && unavailable === 0 ? 1 : unavailable,
    sets,
    current,
    old: sets.filter((set) => set !== current),
  };
}

/** Moves a Deployment on by one step; `again` looks at it later. */
export function syncDeployment(kit: Kit, deployment: Kube, again: (ms: number) => void): void {
  const rollout = observe(kit, deployment);
  if (!deleting(deployment)) step(rollout);
  const { namespace = "", name = "" } = deployment.metadata;
  const fresh = kit.read("deployments.apps", namespace, name);
  if (fresh) report(observe(kit, fresh), again);
}

function step(rollout: Rollout): void {
  const { deployment, old, current } = rollout;
  if (deployment.spec.paused) return resize(rollout);
  if (deployment.spec.strategy?.type === "Recreate") {
    if (old.some((set) => replicasOf(set) > 0)) {
      for (const set of old) scale(rollout, set, 0);
      return;
    }
    if (old.some((set) => rollout.kit.owned("pods", set).some((pod) => !hasEnded(pod)))) return;
  }
  if (!current) return create(rollout);
  adoptRevision(rollout, current);
  if (!grow(rollout, current) && !shrink(rollout, current) && isComplete(rollout)) tidy(rollout);
}

/** While it is paused only its size changes. */
function resize(rollout: Rollout): void {
  const active = rollout.sets.filter((set) => replicasOf(set) > 0);
  const newest = [...rollout.sets].sort((a, b) => revisionOf(b) - revisionOf(a))[0];
  const set = active.length === 0 ? newest : active.length === 1 ? active[0] : undefined;
  if (set) scale(rollout, set, rollout.wanted);
}

function annotationsOf({ deployment, wanted, surge, old }: Rollout, revision?: number): Record<string, string> {
  const kept = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN.has(key));
  return {
    ...Object.fromEntries(kept),
    [DESIRED]: String(wanted),
    [MOST]: String(wanted + surge),
    [REVISION]: String(revision ?? Math.max(0, ...old.map(revisionOf)) + 1),
  };
}

/** How many replicas a new set may have beside the old ones. */
function room({ deployment, wanted, surge, sets }: Rollout, present: number): number {
  if (deployment.spec.strategy?.type === "Recreate") return wanted;
  const free = wanted + surge - sum(sets, replicasOf);
  return free <= 0 ? present : present + Math.min(free, wanted - present);
}

function create(rollout: Rollout): void {
  const { kit, deployment } = rollout;
  const { template, selector, minReadySeconds } = deployment.spec;
  const { namespace = "", name } = deployment.metadata;
  let collisions = deployment.status?.collisionCount ?? 0;
  let hash = hashOf(template, collisions);
  while (kit.read("replicasets.apps", namespace, `${name}-${hash}`)) hash = hashOf(template, ++collisions);
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  kit.create(deployment, {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: `${name}-${hash}`, labels, annotations: annotationsOf(rollout) },
    spec: {
      replicas: room(rollout, 0),
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

/** A set that is used again becomes the newest revision. */
function adoptRevision(rollout: Rollout, set: Kube): void {
  const revision = Math.max(revisionOf(set), Math.max(0, ...rollout.old.map(revisionOf)) + 1);
  const annotations = { ...set.metadata.annotations, ...annotationsOf(rollout, revision) };
  const { minReadySeconds } = rollout.deployment.spec;
  if (equal(annotations, set.metadata.annotations) && set.spec.minReadySeconds === minReadySeconds) return;
  const spec = { ...set.spec, minReadySeconds };
  rollout.kit.replace(withoutVersion({ ...set, metadata: { ...set.metadata, annotations }, spec }));
}

function withoutVersion(set: Kube): Kube {
  const { resourceVersion: _, ...metadata } = set.metadata;
  return { ...set, metadata };
}

/** Scales a set; answers whether that changed anything. */
function scale({ kit, wanted, surge }: Rollout, set: Kube, replicas: number): boolean {
  if (replicasOf(set) === replicas) return false;
  const live = kit.read("replicasets.apps", set.metadata.namespace ?? "", set.metadata.name!);
  if (!live) return false;
  const annotations = { ...live.metadata.annotations, [DESIRED]: String(wanted), [MOST]: String(wanted + surge) };
  return kit.replace({ ...live, metadata: { ...live.metadata, annotations }, spec: { ...live.spec, replicas } });
}

function grow(rollout: Rollout, current: Kube): boolean {
  const { wanted } = rollout;
  const present = replicasOf(current);
  return scale(rollout, current, present >= wanted ? wanted : room(rollout, present));
}

/** Takes pods from the old sets: those that are not available first, then as many as may be missing. */
function shrink(rollout: Rollout, current: Kube): boolean {
  const { wanted, unavailable, sets } = rollout;
  const old = rollout.old.filter((set) => replicasOf(set) > 0).sort((a, b) => revisionOf(a) - revisionOf(b));
  const least = wanted - unavailable;
  const missing = replicasOf(current) - (current.status?.availableReplicas ?? 0);
  let most = sum(sets, replicasOf) - least - missing;
  const left = new Map(old.map((set) => [set, replicasOf(set)]));
  for (const set of old) {
    const broken = Math.min(Math.max(0, replicasOf(set) - (set.status?.availableReplicas ?? 0)), Math.max(0, most));
    left.set(set, replicasOf(set) - broken);
    most -= broken;
  }
  let spare = Math.min(most, sum(sets, ({ status }) => status?.availableReplicas) - least);
  for (const set of old) {
    const taken = Math.min(left.get(set)!, Math.max(0, spare));
    left.set(set, left.get(set)! - taken);
    spare -= taken;
  }
  return [...left].filter(([set, replicas]) => scale(rollout, set, replicas)).length > 0;
}

/** Deletes the oldest sets that are no longer used. */
function tidy({ kit, deployment, old }: Rollout): void {
  const unused = old.filter((set) => replicasOf(set) === 0 && !set.status?.replicas);
  const excess = unused.length - (deployment.spec.revisionHistoryLimit ?? 10);
  unused.sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const set of unused.slice(0, Math.max(0, excess))) kit.remove(set);
}

function countsOf({ sets, current }: Rollout) {
  const total = sum(sets, ({ status }) => status?.replicas);
  const available = sum(sets, ({ status }) => status?.availableReplicas);
  return {
    total,
    available,
    updated: current?.status?.replicas ?? 0,
    ready: sum(sets, ({ status }) => status?.readyReplicas),
    terminating: sum(sets, ({ status }) => status?.terminatingReplicas),
    missing: Math.max(0, sum(sets, replicasOf) - available),
  };
}

function isComplete(rollout: Rollout): boolean {
  const { total, available, updated } = countsOf(rollout);
  return [total, available, updated].every((count) => count === rollout.wanted);
}

/** Brings the status up to date. */
function report(rollout: Rollout, again: (ms: number) => void): void {
  const { kit, deployment, current } = rollout;
  const { total, available, updated, ready, terminating, missing } = countsOf(rollout);
  const { metadata, status = {} } = deployment;
  const conditions = [availability(rollout, available), progress(rollout, again)].filter((each) => each !== undefined);
  const revision = current && current.metadata.annotations?.[REVISION];
  kit.setStatus(
    deployment,
    {
      observedGeneration: metadata.generation,
      ...nonZero({
        replicas: total,
        updatedReplicas: updated,
        readyReplicas: ready,
        availableReplicas: available,
        unavailableReplicas: missing,
      }),
      terminatingReplicas: terminating,
      conditions,
      ...(status.collisionCount ? { collisionCount: status.collisionCount } : {}),
    },
    revision === undefined ? undefined : { ...metadata.annotations, [REVISION]: revision },
  );
}

/** A condition with its times: what says the same as before stays as it was. */
function condition(
  { kit, deployment }: Rollout,
  type: string,
  holds: boolean,
  reason: string,
  message: string,
): Fields {
  const before = conditionOf(deployment, type);
  const status = holds ? "True" : "False";
  if (before?.status === status && before.reason === reason) return before;
  const now = kit.time();
  const since = before?.status === status ? before.lastTransitionTime : now;
  return { type, status, lastUpdateTime: now, lastTransitionTime: since, reason, message };
}

function availability(rollout: Rollout, available: number): Fields {
  const enough = available >= rollout.wanted - rollout.unavailable;
  const reason = enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable";
  const message = enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.";
  return condition(rollout, "Available", enough, reason, message);
}

/** Whether the rollout goes on: it has failed when nothing happened for too long. */
function progress(rollout: Rollout, again: (ms: number) => void): Fields | undefined {
  const { kit, deployment, current } = rollout;
  const { status = {}, spec } = deployment;
  const before = conditionOf(deployment, "Progressing");
  if (spec.paused) {
    return condition(rollout, "Progressing", false, "DeploymentPaused", "Deployment is paused");
  }
  if (!current) return before;
  const set = `ReplicaSet "${current.metadata.name}"`;
  if (isComplete(rollout)) {
    return condition(rollout, "Progressing", true, "NewReplicaSetAvailable", `${set} has successfully progressed.`);
  }
  const limit = spec.progressDeadlineSeconds ?? 600;
  if (!before || status.observedGeneration === undefined) {
    const message = `Created new replica set "${current.metadata.name}"`;
    again(limit * 1000);
    return condition(rollout, "Progressing", true, "NewReplicaSetCreated", message);
  }
  const { updated, total, ready, available } = countsOf(rollout);
  const moved = updated > (status.updatedReplicas ?? 0) || ready > (status.readyReplicas ?? 0) ||
    available > (status.availableReplicas ?? 0) ||
    total - updated < (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  const restarted = before.reason === "NewReplicaSetAvailable" && updated < rollout.wanted;
  if (moved || restarted || before.reason === "DeploymentPaused") {
    again(limit * 1000);
    const next = condition(rollout, "Progressing", true, "ReplicaSetUpdated", `${set} is progressing.`);
    return { ...next, lastUpdateTime: kit.time() };
  }
  // A Deployment that was complete once does not fail for pods that went.
  if (before.status === "False" || before.reason === "NewReplicaSetAvailable") return before;
  const left = Date.parse(before.lastUpdateTime) + limit * 1000 - kit.now().getTime();
  if (left > 0) return again(left), before;
  return condition(rollout, "Progressing", false, "ProgressDeadlineExceeded", `${set} has timed out progressing.`);
}
