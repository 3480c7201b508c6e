/**
 * Says how Jobs and CronJobs behave.
 *
 * ```ts
 * import { JOBS } from "./_kinds_jobs.ts";
 *
 * console.assert(JOBS["jobs.batch"]?.orphans);
 * ```
 *
 * @module
 */
import { oneOf } from "./_checks.ts";
import { validateJobChange, validateJobSpec } from "./_jobs_spec.ts";
import { validateJobStatus } from "./_jobs_status.ts";
import type { Behaviour } from "./_kind.ts";
import { negatives } from "./_kinds_apps_numbers.ts";
import { labelSelector, selects } from "./_label_selectors.ts";
import { validateLabelValue, validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { nameWarnings, templateWarnings, workloadWarnings } from "./_pods_warnings.ts";
import { hasZone, isTimeZone, scheduleProblem } from "./_schedules.ts";
import { type Cause, cause } from "./_status.ts";

const UID = "batch.kubernetes.io/controller-uid";

/** The labels that the pods of a Job have: two of each, for those who know the older ones. */
function ownLabels({ metadata }: Fields): [string, string][] {
  return [
    [UID, metadata.uid],
    ["batch.kubernetes.io/job-name", metadata.name],
    ["controller-uid", metadata.uid],
    ["job-name", metadata.name],
  ];
}

/** Merges maps, and puts the keys in order. */
function merged(...maps: readonly Fields[]): Fields {
  return Object.fromEntries(Object.entries(Object.assign({}, ...maps)).sort(([a], [b]) => a < b ? -1 : 1));
}

function prepareJob(job: Fields): void {
  const { spec, metadata } = job;
  if (!spec || spec.manualSelector) return;
  const template = spec.template ??= {};
  const meta = template.metadata ??= {};
  meta.labels = merged(Object.fromEntries(ownLabels(job)), meta.labels ?? {});
  spec.selector = { ...spec.selector, matchLabels: merged({ [UID]: metadata.uid }, spec.selector?.matchLabels ?? {}) };
  // They are the Job's own as well, once they are valid.
  const valid = validateLabelValue(metadata.name).length === 0;
  if (valid && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...meta.labels };
}

function generatedSelector(job: Fields): Cause[] {
  const { spec, metadata } = job;
  if (spec.manualSelector || !spec.selector) return [];
  const labels: Fields = spec.template?.metadata?.labels ?? {};
  const causes: Cause[] = [];
  for (const [label, value] of ownLabels(job)) {
    const at = `spec.template.metadata.labels[${label}]`;
    if (labels[label] === undefined) causes.push(cause.required(at, `must be '${value}'`));
    else if (labels[label] !== value) causes.push(cause.invalid(at, labels, `must be '${value}'`));
  }
  if (!equal(spec.selector, { matchLabels: { [UID]: metadata.uid } })) {
    causes.push(cause.invalid("spec.selector", spec.selector, "`selector` not auto-generated"));
  }
  return causes;
}

function selection({ selector, template }: Fields): Cause[] {
  const causes: Cause[] = [];
  const labels = template?.metadata?.labels;
  if (!selector) causes.push(cause.required("spec.selector"));
  else labelSelector(selector, "spec.selector", causes);
  if (!selector || !selects(selector, labels)) {
    const why = "`selector` does not match template `labels`";
    causes.push(cause.invalid("spec.template.metadata.labels", labels, why));
  }
  return causes;
}

/** The last pod of an indexed Job has a name, too. */
function lastName({ metadata, spec }: Fields): Cause[] {
  if (spec.completionMode !== "Indexed" || !(spec.completions > 0) || !metadata.name) return [];
  const name = `${metadata.name}-${spec.completions - 1}`;
  const host = metadata.name.includes(".") ? [] : validateName(name, "label");
  if (host.length === 0) return [];
  const why = `will not able to create pod with invalid DNS label: ${name}`;
  return [cause.invalid("metadata.name", metadata.name, why)];
}

function validateJob(job: Fields, subresource: string, old?: Fields): Cause[] {
  if (subresource === "status" && old) return validateJobStatus(job, old);
  const { spec = {} } = job;
  const causes = [...validateJobSpec(spec, "spec"), ...selection(spec)];
  return old ? causes : [...generatedSelector(job), ...causes, ...lastName(job)];
}

const MANY = 100_000;
const WIDE = 10_000;

function jobWarnings({ spec = {} }: Fields): string[] {
  if (spec.completionMode !== "Indexed" || !(spec.completions > MANY) || !(spec.parallelism > WIDE)) return [];
  return [
    "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
  ];
}

const NO_ZONE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";

function schedule(text: string | undefined, before: string | undefined): Cause[] {
  const at = "spec.schedule";
  if (!text) return [cause.required(at)];
  const problem = scheduleProblem(text);
  return [
    ...(problem === undefined ? [] : [cause.invalid(at, text, problem)]),
    ...(hasZone(text) && !(before && hasZone(before)) ? [cause.invalid(at, text, NO_ZONE)] : []),
  ];
}

function timeZone(name: string | undefined): Cause[] {
  const at = "spec.timeZone";
  if (name === undefined || name === null) return [];
  if (name === "") return [cause.invalid(at, name, "timeZone must be nil or non-empty string")];
  if (name === "Local") {
    const why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    return [cause.invalid(at, name, why)];
  }
  return isTimeZone(name) ? [] : [cause.invalid(at, name, `unknown time zone ${name}`)];
}

const LONGEST = 52;

function validateCronJob({ metadata, spec = {} }: Fields, subresource: string, old?: Fields): Cause[] {
  if (subresource === "status") return [];
  const causes: Cause[] = [];
  causes.push(...schedule(spec.schedule, old?.spec?.schedule));
  causes.push(...negatives(spec, ["startingDeadlineSeconds"], "spec"), ...timeZone(spec.timeZone));
  oneOf(["Allow", "Forbid", "Replace"])(spec.concurrencyPolicy, "spec.concurrencyPolicy", causes);
  const job: Fields = spec.jobTemplate?.spec ?? {}, at = "spec.jobTemplate.spec";
  causes.push(...validateJobSpec(job, at));
  if (job.selector) causes.push(cause.invalid(`${at}.selector`, job.selector, "`selector` will be auto-generated"));
  if (job.manualSelector) causes.push(cause.unsupported(`${at}.manualSelector`, true, ["nil", "false"]));
  causes.push(...negatives(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], "spec"));
  if (!old && metadata.name?.length > LONGEST) {
    causes.push(cause.invalid("metadata.name", metadata.name, `must be no more than ${LONGEST} characters`));
  }
  return causes;
}

function cronJobWarnings(object: Fields, old?: Fields): string[] {
  const template = object.spec?.jobTemplate?.spec?.template;
  if (!template || old && equal(template, old.spec?.jobTemplate?.spec?.template)) return [];
  const at = "spec.jobTemplate.spec.template";
  return templateWarnings(template.spec, template.metadata?.annotations, `${at}.spec`, `${at}.metadata`);
}

/** The behaviours by storage. */
export const JOBS: Readonly<Record<string, Behaviour>> = {
  "jobs.batch": {
    status: true,
    desired: ({ spec }) => spec,
    orphans: true,
    prepareCreate: prepareJob,
    validate: (job, _apiVersion, subresource, old) => validateJob(job, subresource, old),
    validateUpdate: validateJobChange,
    warnings: (job, old) => [...nameWarnings(job, old), ...jobWarnings(job), ...workloadWarnings(job, old)],
    selectable: ["status.successful"],
    unselectable: (path) => `field label ${JSON.stringify(path)} not supported for Job`,
  },
  "cronjobs.batch": {
    status: true,
    desired: ({ spec }) => spec,
    validate: (object, _apiVersion, subresource, old) => validateCronJob(object, subresource, old),
    warnings: (object, old) => [...nameWarnings(object, old), ...cronJobWarnings(object, old)],
  },
};
