/**
 * Checks the status of Jobs: one that is done has the conditions and times of one that is, and stays done.
 *
 * ```ts
 * import { validateJobStatus } from "./_jobs_status.ts";
 *
 * const job = { spec: {}, status: { conditions: [{ type: "Complete", status: "True" }] } };
 * console.assert(validateJobStatus(job, { spec: {} }).length > 0);
 * ```
 *
 * @module
 */
import { commonIndex, indexCount } from "./_jobs_indexes.ts";
import { negatives } from "./_kinds_apps_numbers.ts";
import { equal, type Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const NUMBERS = ["active", "succeeded", "failed", "ready", "terminating"];
const CONDITIONS = "status.conditions";

function has({ status = {} }: Fields, type: string): boolean {
  return ((status.conditions ?? []) as Fields[]).some((each) => each.type === type && each.status === "True");
}

/** A combination of conditions that cannot be: the message leaves the value out. */
function unshown(why: string): Cause {
  return { ...cause.invalid(CONDITIONS, "", ""), message: `Invalid value: ${why}` };
}

function uncounted({ status = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const [index, uid] of ((status.uncountedTerminatedPods?.[list] ?? []) as string[]).entries()) {
      const at = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") causes.push(cause.invalid(at, uid, "must not be empty"));
      else if (seen.has(uid)) causes.push(cause.duplicate(at, uid));
      seen.add(uid);
    }
  }
  return causes;
}

/** What is said where both of two conditions are true, or the first is without the second. */
const BOTH = (first: string, second: string) => `cannot set ${first}=True and ${second}=true conditions`;
const WITHOUT = (first: string, second: string) =>
  `cannot set ${first}=True condition without the ${second}=true condition`;

function times(job: Fields): Cause[] {
  const { status = {} } = job;
  const { completionTime, startTime } = status;
  const at = "status.completionTime";
  const complete = has(job, "Complete");
  const causes: Cause[] = [];
  if (completionTime && !complete) {
    const why = "cannot set completionTime when there is no Complete=True condition";
    causes.push(cause.invalid(at, completionTime, why));
  }
  if (complete && !completionTime) causes.push(cause.required(at, "completionTime is required for Complete jobs"));
  if (completionTime && startTime && completionTime < startTime) {
    causes.push(cause.invalid(at, completionTime, "must be equal to or after `startTime`"));
  }
  return causes;
}

function finished({ status = {} }: Fields): Cause[] {
  const { startTime, active = 0, terminating = 0 } = status;
  const causes: Cause[] = [];
  if (!startTime) causes.push(cause.required("status.startTime", "startTime is required for finished job"));
  if (active > 0) causes.push(cause.invalid("status.active", active, "active>0 is invalid for finished job"));
  if (terminating > 0) {
    causes.push(cause.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job"));
  }
  return causes;
}

function left({ status = {} }: Fields): Cause[] {
  const { succeeded = null, failed = null } = status.uncountedTerminatedPods ?? {};
  if (!succeeded?.length && !failed?.length) return [];
  const shown = { Succeeded: succeeded, Failed: failed };
  return [cause.invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job")];
}

function indexes({ spec = {}, status = {} }: Fields): Cause[] {
  const { completedIndexes = "", failedIndexes } = status;
  const causes: Cause[] = [];
  if (spec.completionMode === "Indexed") {
    for (const [member, text] of [["completedIndexes", completedIndexes], ["failedIndexes", failedIndexes]]) {
      const counted = text ? indexCount(text, spec.completions ?? 0) : 0;
      if (typeof counted === "number") continue;
      causes.push(cause.invalid(`status.${member}`, text, `error parsing ${member}: ${counted}`));
    }
  } else if (completedIndexes !== "") {
    const why = "cannot set non-empty completedIndexes when non-indexed completion mode";
    causes.push(cause.invalid("status.completedIndexes", completedIndexes, why));
  }
  if (causes.length === 0 && failedIndexes) {
    const index = commonIndex(completedIndexes, failedIndexes);
    if (index !== undefined) {
      const why = `failedIndexes and completedIndexes overlap at index: ${index}`;
      causes.push(cause.invalid("status.failedIndexes", failedIndexes, why));
    }
  }
  if (failedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    const why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    causes.push(cause.invalid("status.failedIndexes", failedIndexes, why));
  }
  return causes;
}

function problems(job: Fields): Cause[] {
  const { status = {} } = job;
  const complete = has(job, "Complete"), failed = has(job, "Failed");
  const met = has(job, "SuccessCriteriaMet"), target = has(job, "FailureTarget");
  const causes = [...negatives(status, NUMBERS, "status"), ...uncounted(job)];
  if (complete && failed) causes.push(unshown(BOTH("Complete", "Failed")));
  if (complete && target) causes.push(unshown(BOTH("Complete", "FailureTarget")));
  causes.push(...times(job));
  if (failed && !target) causes.push(unshown(WITHOUT("Failed", "FailureTarget")));
  if (complete && !met) causes.push(unshown(WITHOUT("Complete", "SuccessCriteriaMet")));
  const done = complete || failed;
  if (done) causes.push(...finished(job));
  if ((status.ready ?? 0) > (status.active ?? 0)) {
    causes.push(cause.invalid("status.ready", status.ready, "cannot set more ready pods than active"));
  }
  if (done) causes.push(...left(job));
  causes.push(...indexes(job));
  if (met && failed) causes.push(unshown(BOTH("SuccessCriteriaMet", "Failed")));
  if (met && target) causes.push(unshown(BOTH("SuccessCriteriaMet", "FailureTarget")));
  return causes;
}

function changes(job: Fields, old: Fields): Cause[] {
  const { status = {} } = job, { status: before = {} } = old;
  const causes: Cause[] = [];
  const kept = [["Failed", " terminal"], ["Complete", " terminal"], ["FailureTarget", " terminal"], [
    "SuccessCriteriaMet",
    "",
  ]];
  for (const [type, word] of kept) {
    if (has(old, type!) && !has(job, type!)) causes.push(unshown(`cannot disable the${word} ${type}=True condition`));
  }
  for (const member of ["failed", "succeeded"]) {
    const count = status[member] ?? 0;
    if (count >= (before[member] ?? 0)) continue;
    causes.push(cause.invalid(`status.${member}`, count, `cannot decrease the ${member} counter`));
  }
  if (before.completionTime && status.completionTime && before.completionTime !== status.completionTime) {
    causes.push(cause.invalid("status.completionTime", status.completionTime, "field is immutable"));
  }
  if (before.startTime && before.startTime !== status.startTime && job.spec?.suspend !== true) {
    const why = "field is immutable for unsuspended job once set";
    causes.push(cause.invalid("status.startTime", status.startTime ?? null, why));
  }
  return causes;
}

/** What is wrong with the status of a Job that had another one; what was wrong with that may stay. */
export function validateJobStatus(job: Fields, old: Fields): Cause[] {
  const known = problems(old);
  return [...problems(job).filter((each) => !known.some((other) => equal(each, other))), ...changes(job, old)];
}
