/**
 * Runs the pods of a Job until enough have succeeded, or too many failed.
 *
 * ```ts
 * import { spans } from "./_workloads_jobs.ts";
 *
 * console.assert(spans([0, 1, 2, 5]) === "0-2,5");
 * ```
 *
 * @module
 */
import type { Fields, Kube } from "./_objects.ts";
import { conditionOf, deleting, isActive, isReady, type Kit, nonZero } from "./_workloads_kit.ts";

const INDEX = "batch.kubernetes.io/job-completion-index";

/** Numbers in order as a Job's status spells them: a run is `first-last`. */
export function spans(numbers: readonly number[]): string {
  const parts: [first: number, last: number][] = [];
  for (const each of numbers) {
    const open = parts.at(-1);
    if (open && open[1] + 1 === each) open[1] = each;
    else parts.push([each, each]);
  }
  return parts.map(([first, last]) => first === last ? `${first}` : `${first}-${last}`).join();
}

function indexOf({ metadata }: Kube): number {
  return Number(metadata.annotations?.[INDEX] ?? -1);
}

function holds(job: Kube, type: string): boolean {
  return conditionOf(job, type)?.status === "True";
}

/** Moves a Job on by one step. */
export function syncJob(kit: Kit, job: Kube, again: (ms: number) => void): void {
  if (deleting(job)) return;
  if (holds(job, "Complete") || holds(job, "Failed")) return expire(kit, job, again);
  const { spec, status: before = {} } = job;
  if (spec.managedBy !== undefined && spec.managedBy !== "kubernetes.io/job-controller") return;
  const indexed = spec.completionMode === "Indexed";
  const pods = kit.owned("pods", job);
  const done = pods.filter(({ status }) => status?.phase === "Succeeded");
  const indexes = new Set(done.map(indexOf));
  const succeeded = indexed ? indexes.size : done.length;
  const failed = pods.filter(({ status }) => status?.phase === "Failed").length;
  const active = pods.filter(isActive);
  const { completions } = spec;
  const parallelism = spec.parallelism ?? 1;
  const over = failed > (spec.backoffLimit ?? 6)
    ? "failed"
    : completions === undefined
    ? succeeded > 0 && active.length === 0 && "complete"
    : succeeded >= completions && "complete";
  const stops = over !== false || spec.suspend === true;
  const ending = completions === undefined && succeeded > 0;
  const wanted = stops
    ? 0
    : ending
    ? Math.min(active.length, parallelism)
    : Math.min(parallelism, completions === undefined ? parallelism : completions - succeeded);
  if (wanted < active.length) { for (const pod of active.slice(wanted)) kit.remove(pod); }
  const taken = new Set([...indexes, ...active.map(indexOf)]);
  for (let count = active.length; count < wanted; count++) {
    if (!addPod(kit, job, indexed ? nextFree(taken) : undefined)) break;
  }
  const running = kit.owned("pods", job).filter(isActive);
  const startTime = spec.suspend && !over ? undefined : before.startTime ?? kit.time();
  const suspended = suspension(kit, job);
  const conditions = [...suspended, ...ends(kit, over)];
  kit.setStatus(job, {
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(startTime === undefined ? {} : { startTime }),
    ...(over === "complete" ? { completionTime: kit.time() } : {}),
    ...nonZero({ active: running.length, succeeded, failed }),
    terminating: kit.owned("pods", job).filter(deleting).length,
    ...(indexed && indexes.size > 0 ? { completedIndexes: spans([...indexes].sort((a, b) => a - b)) } : {}),
    uncountedTerminatedPods: {},
    ready: running.filter(isReady).length,
  });
}

function nextFree(taken: Set<number>): number {
  let index = 0;
  while (taken.has(index)) index++;
  taken.add(index);
  return index;
}

function addPod(kit: Kit, job: Kube, index: number | undefined): boolean {
  const { metadata, spec } = job;
  if (index === undefined) return kit.createPod(job, spec.template, { generateName: `${metadata.name}-` });
  const env = { name: "JOB_COMPLETION_INDEX", value: String(index) };
  const containers = spec.template.spec.containers.map((each: Fields) => ({ ...each, env: [...each.env ?? [], env] }));
  return kit.createPod(job, spec.template, {
    generateName: `${metadata.name}-${index}-`,
    labels: { [INDEX]: String(index) },
    annotations: { [INDEX]: String(index) },
    spec: { containers, hostname: `${metadata.name}-${index}` },
  });
}

function condition(kit: Kit, type: string, status: boolean, reason: string, message: string): Fields {
  const time = kit.time();
  return { type, status: status ? "True" : "False", lastProbeTime: time, lastTransitionTime: time, reason, message };
}

function suspension(kit: Kit, job: Kube): Fields[] {
  const before = conditionOf(job, "Suspended");
  const suspended = job.spec.suspend === true;
  if (before ? (before.status === "True") === suspended : !suspended) return before ? [before] : [];
  return [
    suspended
      ? condition(kit, "Suspended", true, "JobSuspended", "Job suspended")
      : condition(kit, "Suspended", false, "JobResumed", "Job resumed"),
  ];
}

function ends(kit: Kit, over: "failed" | "complete" | false): Fields[] {
  if (over === false) return [];
  const [reason, message] = over === "complete"
    ? ["CompletionsReached", "Reached expected number of succeeded pods"]
    : ["BackoffLimitExceeded", "Job has reached the specified backoff limit"];
  const types = over === "complete" ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
  return types.map((type) => condition(kit, type, true, reason!, message!));
}

/** Deletes a Job that ended when its time is up. */
function expire(kit: Kit, job: Kube, again: (ms: number) => void): void {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  const end = conditionOf(job, holds(job, "Complete") ? "Complete" : "Failed")!;
  settle(kit, job);
  if (seconds === undefined) return;
  const left = Date.parse(end.lastTransitionTime) + seconds * 1000 - kit.now().getTime();
  if (left > 0) again(left);
  else kit.remove(job, { propagationPolicy: "Foreground" });
}

/** Counts the pods that were still going when it ended. */
function settle(kit: Kit, job: Kube): void {
  const pods = kit.owned("pods", job);
  const { active: _, ...status } = job.status;
  const active = pods.filter(isActive).length;
  kit.setStatus(job, { ...status, ...nonZero({ active }), terminating: pods.filter(deleting).length });
}
