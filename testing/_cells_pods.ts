/**
 * Prints the cells of pods: what is ready, in which state the pod is, how often it was restarted.
 *
 * ```ts
 * import { podCells } from "./_cells_pods.ts";
 *
 * const pod = { metadata: { name: "a" }, spec: { containers: [{}] }, status: { phase: "Pending" } };
 * console.assert(podCells(pod, { age: "1s", now: new Date() })[1] === "0/1");
 * ```
 *
 * @module
 */
import { type CellContext, isTrue, NONE, since } from "./_cells_kit.ts";
import type { Fields } from "./_objects.ts";

/** What the statuses of a pod's containers come to. */
interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  last: string;
  running: boolean;
}

function ended({ reason, signal, exitCode }: Fields): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`);
}

function countRestarts(tally: Tally, status: Fields): void {
  tally.restarts += status.restartCount ?? 0;
  const finished = status.lastState?.terminated?.finishedAt ?? "";
  if (finished > tally.last) tally.last = finished;
}

/** How far the init containers are; undefined if they are through. */
function initializing(spec: Fields, status: Fields, all: Tally, sidecars: Tally): string | undefined {
  const kept = new Set(
    (spec.initContainers ?? []).filter((each: Fields) => each.restartPolicy === "Always")
      .map(({ name }: Fields) => name),
  );
  for (const [index, each] of (status.initContainerStatuses ?? []).entries()) {
    const { name, state = {}, started, ready } = each as Fields;
    countRestarts(all, each);
    if (kept.has(name)) countRestarts(sidecars, each);
    if (state.terminated && !state.terminated.exitCode) continue;
    if (kept.has(name) && started) {
      if (ready) sidecars.ready++;
      continue;
    }
    if (state.terminated) return `Init:${ended(state.terminated)}`;
    const { reason } = state.waiting ?? {};
    if (reason && reason !== "PodInitializing") return `Init:${reason}`;
    return `Init:${index}/${spec.initContainers?.length ?? 0}`;
  }
  return undefined;
}

function tallied(object: Fields): Tally {
  const { metadata = {}, spec = {}, status = {} } = object;
  const { phase = "", conditions = [] } = status;
  const gated = conditions.some((each: Fields) => each.type === "PodScheduled" && each.reason === "SchedulingGated");
  const reason = gated ? "SchedulingGated" : status.reason || phase;
  let tally: Tally = { reason, ready: 0, restarts: 0, last: "", running: false };
  const sidecars: Tally = { ...tally };
  const init = initializing(spec, status, tally, sidecars);
  if (init !== undefined) Object.assign(tally, { reason: init, ready: sidecars.ready });
  if (init === undefined || isTrue(conditions, "Initialized")) {
    tally = { ...sidecars, reason: tally.reason };
    for (const each of [...(status.containerStatuses ?? [])].reverse() as Fields[]) {
      const { state = {}, ready } = each;
      countRestarts(tally, each);
      if (state.waiting?.reason) tally.reason = state.waiting.reason;
      else if (state.terminated) tally.reason = ended(state.terminated);
      else if (ready && state.running) {
        tally.running = true;
        tally.ready++;
      }
    }
    if (tally.reason === "Completed" && tally.running) {
      tally.reason = isTrue(conditions, "Ready") ? "Running" : "NotReady";
    }
  }
  if (metadata.deletionTimestamp) {
    if (status.reason === "NodeLost") tally.reason = "Unknown";
    else if (phase !== "Succeeded" && phase !== "Failed") tally.reason = "Terminating";
  }
  return tally;
}

function gates({ readinessGates = [] }: Fields, { conditions }: Fields): string {
  if (readinessGates.length === 0) return NONE;
  const open = readinessGates.filter((each: Fields) => isTrue(conditions, each.conditionType)).length;
  return `${open}/${readinessGates.length}`;
}

/** The cells of a pod. */
export function podCells(object: Fields, { age, now }: CellContext): unknown[] {
  const { metadata, spec = {}, status = {} } = object;
  const { reason, ready, restarts, last } = tallied(object);
  const sidecars = (spec.initContainers ?? []).filter((each: Fields) => each.restartPolicy === "Always").length;
  return [
    metadata.name,
    `${ready}/${(spec.containers?.length ?? 0) + sidecars}`,
    reason,
    restarts > 0 && last !== "" ? `${restarts} (${since(last, now)} ago)` : String(restarts),
    age,
    status.podIPs?.[0]?.ip || status.podIP || NONE,
    spec.nodeName || NONE,
    status.nominatedNodeName || NONE,
    gates(spec, status),
  ];
}

/** What the row of a pod says of the pod's end. */
export function podConditions({ status }: Fields): Fields[] | undefined {
  const completed = { type: "Completed", status: "True" };
  switch (status?.phase) {
    case "Succeeded":
      return [{ ...completed, reason: "Succeeded", message: "The pod has completed successfully." }];
    case "Failed":
      return [{ ...completed, reason: "Failed", message: "The pod failed." }];
  }
  return undefined;
}
