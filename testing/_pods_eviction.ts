/**
 * Evicts pods, as far as the disruption budget of each lets it go.
 *
 * ```ts
 * import { evict } from "./_pods_eviction.ts";
 *
 * console.assert(typeof evict === "function");
 * ```
 *
 * @module
 */
import type { Answer, Call } from "./_call.ts";
import { readBody } from "./_codec.ts";
import { decodeAs } from "./_decode.ts";
import { deleteObject } from "./_delete.ts";
import { deleteOptionsOf } from "./_delete_options.ts";
import { isEmptySelector, selects } from "./_label_selectors.ts";
import { type Fields, type Kube, timestamp } from "./_objects.ts";
import { checkWriteOptions, isDryRun } from "./_options.ts";
import { writeOwnStatus } from "./_own_status.ts";
import { EVICTION } from "./_registered.ts";
import { badRequest, forbidden, internal, StatusError } from "./_status.ts";
import type { Revision } from "./_store.ts";
import { liveOf, matchNamespace, mustExist, namespaceOf } from "./_write.ts";

const BUDGETS = "poddisruptionbudgets.policy";
const BUSY_SECONDS = 10;
const MOST_DISRUPTED = 2000;

/** Answers an eviction of a pod: it is deleted, unless too few would be left. */
export function evict(call: Call): Answer {
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), "Eviction");
  checkWriteOptions(call.query, "CreateOptions");
  // The older version of the group is still taken here.
  if (value.apiVersion === "policy/v1beta1") value.apiVersion = "policy/v1";
  const eviction = decodeAs(call, EVICTION, value, { duplicates });
  matchNamespace(call, eviction);
  if (eviction.metadata.name !== call.asked.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const live = mustExist(call, liveOf(call));
  const asked = deleteOptionsOf(eviction.deleteOptions ?? {});
  const options = { ...asked, dryRun: asked.dryRun || isDryRun(call) };
  const budget = isOutOfReach(live.object) ? undefined : budgetOf(call, live.object);
  if (budget) disrupt(call, budget, live.object, options.dryRun === true);
  deleteObject(call, options.dryRun ? live : disrupted(call, live), options);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

/** The pod with the condition that says why it goes; one that has ended stays as it is. */
function disrupted(call: Call, live: Revision): Revision {
  const { metadata, status = {} } = live.object;
  if (status.phase === "Succeeded" || status.phase === "Failed") return live;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(call.server.now()),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const others = ((status.conditions ?? []) as Fields[]).filter(({ type }) => type !== condition.type);
  // Nobody becomes the manager of it.
  const pod = { ...live.object, status: { ...status, conditions: [...others, condition] } };
  return call.server.store.collection("pods").put(metadata.namespace ?? "", metadata.name!, pod, live.writtenAs);
}

/** True for a pod that no budget counts: one that does not run yet, or no more. */
function isOutOfReach({ metadata, status }: Kube): boolean {
  return ["Succeeded", "Failed", "Pending"].includes(status?.phase) || metadata.deletionTimestamp !== undefined;
}

function budgetOf(call: Call, pod: Kube): Kube | undefined {
  const labels = pod.metadata.labels ?? {};
  const found = call.server.store.collection(BUDGETS).list({ namespace: namespaceOf(call) })
    .map(({ object }) => object)
    .filter(({ spec }) => spec?.selector && (isEmptySelector(spec.selector) || selects(spec.selector, labels)));
  if (found.length > 1) {
    throw internal("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  return found[0];
}

function tooMany(why: string, retryAfterSeconds?: number): StatusError {
  return new StatusError(
    {
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [{ reason: "DisruptionBudget", message: why }],
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      },
    },
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  );
}

function isReady({ status }: Kube): boolean {
  return ((status?.conditions ?? []) as Fields[]).some(({ type, status }) => type === "Ready" && status === "True");
}

/** True for a pod that may go as it is not counted as healthy. */
function isUnhealthy(pod: Kube, { spec, status = {} }: Kube): boolean {
  if (isReady(pod)) return false;
  if (spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  return (status.currentHealthy ?? 0) >= (status.desiredHealthy ?? 0) && (status.desiredHealthy ?? 0) > 0;
}

/** Takes a disruption from a budget, or refuses it. */
function disrupt(call: Call, budget: Kube, pod: Kube, dryRun: boolean): void {
  if (isUnhealthy(pod, budget)) return;
  const { metadata, status = {} } = budget;
  const name = metadata.name!;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, BUSY_SECONDS);
  }
  const about = { group: "policy", plural: "poddisruptionbudget" };
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  if (disruptionsAllowed < 0) throw forbidden(about, name, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > MOST_DISRUPTED) {
    throw forbidden(about, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (disruptionsAllowed === 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    throw tooMany(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  if (dryRun) return;
  const now = timestamp(call.server.now());
  const left = disruptionsAllowed - 1;
  const written = {
    ...status,
    disruptionsAllowed: left,
    disruptedPods: { ...disruptedPods, [pod.metadata.name!]: now },
    conditions: allowed(status.conditions ?? [], left, metadata.generation ?? 0, now),
  };
  writeOwnStatus(call.server, BUDGETS, budget, written);
}

/** Sets the condition that says whether more may go. */
function allowed(conditions: Fields[], left: number, observedGeneration: number, now: string): Fields[] {
  const type = "DisruptionAllowed", status = left > 0 ? "True" : "False";
  const before = conditions.find((each) => each.type === type);
  const set = {
    type,
    status,
    observedGeneration,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
    reason: left > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
  };
  return before ? conditions.map((each) => each === before ? set : each) : [...conditions, set];
}
