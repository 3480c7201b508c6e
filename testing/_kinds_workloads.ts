/**
 * Says how pods and the kinds that make pods behave.
 *
 * ```ts
 * import { WORKLOADS } from "./_kinds_workloads.ts";
 *
 * console.assert(WORKLOADS["deployments.apps"]?.status);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { PODS } from "./_kinds_pods.ts";
import { isEmptySelector, selects } from "./_label_selectors.ts";
import { equal, type Fields } from "./_objects.ts";
import { validateTemplate } from "./_pods.ts";
import { type Cause, cause } from "./_status.ts";

function nonNegative(path: string, value: unknown): Cause[] {
  if (typeof value !== "number" || value >= 0) return [];
  return [cause.invalid(path, value, "must be greater than or equal to 0")];
}

/** What is wrong with the selector and template that Deployments and their like have. */
function validateWorkload({ kind, spec = {} }: Fields): Cause[] {
  const { selector, template, replicas, strategy } = spec;
  const causes = nonNegative("spec.replicas", replicas);
  const missing = selector === undefined || selector === null;
  if (missing) causes.push(cause.required("spec.selector"));
  else if (isEmptySelector(selector)) {
    const why = `empty selector is invalid for ${String(kind).toLowerCase()}`;
    causes.push(cause.invalid("spec.selector", selector, why));
  }
  if (strategy?.type === "Recreate" && strategy.rollingUpdate) {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    causes.push(cause.forbidden("spec.strategy.rollingUpdate", why));
  }
  const labels = template?.metadata?.labels;
  if (missing || (!isEmptySelector(selector) && !selects(selector, labels))) {
    const why = "`selector` does not match template `labels`";
    causes.push(cause.invalid("spec.template.metadata.labels", labels, why));
  }
  causes.push(...validateTemplate(template, "spec.template"));
  const policy = template?.spec?.restartPolicy;
  if (policy && policy !== "Always") {
    causes.push(cause.unsupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  }
  return causes;
}

function fixedSelector({ spec }: Fields, old: Fields): Cause[] {
  if (equal(spec?.selector, old.spec?.selector)) return [];
  return [cause.invalid("spec.selector", spec?.selector, "field is immutable")];
}

const APPS: Behaviour = {
  status: true,
  desired: ({ spec }) => spec,
  validate: validateWorkload,
  validateUpdate: fixedSelector,
};

/** What may be changed of a StatefulSet's spec. */
const STATEFUL_MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

function fixedStatefulSet({ spec }: Fields, old: Fields): Cause[] {
  const changed = Object.keys({ ...spec, ...old.spec })
    .filter((member) => !STATEFUL_MUTABLE.includes(member) && !equal(spec[member], old.spec[member]));
  return changed.map((member) => cause.invalid(`spec.${member}`, spec[member], "field is immutable"));
}

const JOB_LABELS = ["batch.kubernetes.io/controller-uid", "controller-uid"];

function prepareJob(job: Fields): void {
  const { spec, metadata } = job;
  if (spec.manualSelector) return;
  const template = spec.template ??= {};
  const meta = template.metadata ??= {};
  const names = { "batch.kubernetes.io/job-name": metadata.name, "job-name": metadata.name };
  const uids = Object.fromEntries(JOB_LABELS.map((label) => [label, metadata.uid]));
  meta.labels = { ...meta.labels, ...names, ...uids };
  spec.selector ??= { matchLabels: { "batch.kubernetes.io/controller-uid": metadata.uid } };
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...meta.labels };
}

function validateJobTemplate(template: Fields | undefined, path: string): Cause[] {
  const causes = validateTemplate(template, path);
  const policy = template?.spec?.restartPolicy;
  if (policy === "Always") {
    causes.push(cause.required(`${path}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== "OnFailure" && policy !== "Never") {
    causes.push({
      ...cause.unsupported(`${path}.spec.restartPolicy`, policy ?? "", ["OnFailure", "Never"]),
    });
  }
  return causes;
}

function validateSchedule(schedule: string | undefined): Cause[] {
  if (!schedule) return [cause.required("spec.schedule")];
  const fields = schedule.trim().split(/\s+/);
  if (schedule.startsWith("@") || fields.length === 5) return [];
  const why = `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  return [cause.invalid("spec.schedule", schedule, why)];
}

/** What is wrong with the counts in the status of a Deployment. */
function validateCounts({ status = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  const { replicas = 0 } = status;
  for (const each of ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"]) {
    causes.push(...nonNegative(`status.${each}`, status[each]));
  }
  for (const each of ["updatedReplicas", "readyReplicas", "availableReplicas"]) {
    const count = status[each] ?? 0;
    if (count > replicas) causes.push(cause.invalid(`status.${each}`, count, "cannot be greater than status.replicas"));
  }
  if ((status.availableReplicas ?? 0) > (status.readyReplicas ?? 0)) {
    const why = "cannot be greater than readyReplicas";
    causes.push(cause.invalid("status.availableReplicas", status.availableReplicas, why));
  }
  return causes;
}

const GENERATION = "deprecated.daemonset.template.generation";

/** The behaviours by storage. */
export const WORKLOADS: Readonly<Record<string, Behaviour>> = {
  ...PODS,
  "deployments.apps": {
    ...APPS,
    statusKeeps: ["labels"],
    desired: ({ spec, metadata }) => [spec, metadata.annotations],
    validate: (object, _apiVersion, subresource) =>
      subresource === "status" ? validateCounts(object) : validateWorkload(object),
  },
  "replicasets.apps": {
    ...APPS,
    selectable: ["status.replicas"],
  },
  replicationcontrollers: {
    status: true,
    desired: ({ spec }) => spec,
    orphans: true,
    selectable: ["status.replicas"],
  },
  "daemonsets.apps": {
    ...APPS,
    defaults: ({ metadata }) => {
      metadata.annotations = { [GENERATION]: "1", ...metadata.annotations };
    },
    prepareUpdate: ({ metadata, spec }, old) => {
      const generation = Number(old.metadata.annotations?.[GENERATION] ?? 1);
      const next = equal(spec.template, old.spec.template) ? generation : generation + 1;
      metadata.annotations = { ...metadata.annotations, [GENERATION]: String(next) };
    },
  },
  "statefulsets.apps": {
    ...APPS,
    validateUpdate: fixedStatefulSet,
  },
  "controllerrevisions.apps": {},
  "jobs.batch": {
    status: true,
    desired: ({ spec }) => spec,
    orphans: true,
    prepareCreate: prepareJob,
    validate: ({ spec }) => [
      ...nonNegative("spec.parallelism", spec?.parallelism),
      ...nonNegative("spec.completions", spec?.completions),
      ...nonNegative("spec.backoffLimit", spec?.backoffLimit),
      ...validateJobTemplate(spec?.template, "spec.template"),
    ],
    validateUpdate: ({ spec }, old) =>
      ["completions", "selector", "template", "completionMode"].filter((each) => !equal(spec[each], old.spec[each]))
        .map((each) => cause.invalid(`spec.${each}`, spec[each], "field is immutable")),
    selectable: ["status.successful"],
  },
  "cronjobs.batch": {
    status: true,
    desired: ({ spec }) => spec,
    validate: ({ spec }) => [
      ...validateSchedule(spec?.schedule),
      ...validateJobTemplate(spec?.jobTemplate?.spec?.template, "spec.jobTemplate.spec.template"),
    ],
  },
};
