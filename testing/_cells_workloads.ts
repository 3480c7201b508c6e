/**
 * Prints the cells of workloads, autoscalers and disruption budgets.
 *
 * ```ts
 * import { WORKLOAD_CELLS } from "./_cells_workloads.ts";
 *
 * console.assert("apps/v1 deployments" in WORKLOAD_CELLS);
 * ```
 *
 * @module
 */
import { duration } from "./_ages.ts";
import { type Cells, isTrue, labelsText, NONE, selectorText, shortened, since, template, UNSET } from "./_cells_kit.ts";
import { podCells } from "./_cells_pods.ts";
import type { Fields } from "./_objects.ts";

const JOB_ENDS = ["Complete", "Failed"] as const;
const JOB_STATES = ["Suspended", "FailureTarget", "SuccessCriteriaMet"] as const;

function jobStatus({ status = {}, metadata }: Fields): string {
  const is = (type: string): boolean => isTrue(status.conditions, type);
  return JOB_ENDS.find(is) ?? (metadata.deletionTimestamp ? "Terminating" : JOB_STATES.find(is) ?? "Running");
}

function completions({ spec = {}, status = {} }: Fields): string {
  const done = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${done}/${spec.completions}`;
  return spec.parallelism > 1 ? `${done}/1 of ${spec.parallelism}` : `${done}/1`;
}

function took({ startTime, completionTime }: Fields, now: Date): string {
  if (!startTime) return "";
  if (!completionTime) return since(startTime, now);
  return duration(Math.floor((Date.parse(completionTime) - Date.parse(startTime)) / 1000));
}

function replicas({ metadata, spec = {}, status = {} }: Fields, age: string): unknown[] {
  return [metadata.name, spec.replicas ?? 0, status.replicas ?? 0, status.readyReplicas ?? 0, age];
}

/** One metric of an autoscaler: what is, and what is wanted. */
function metric(wanted: Fields, found: Fields | undefined): string {
  const { type } = wanted;
  const member = `${type[0].toLowerCase()}${type.slice(1)}`;
  const { target = {}, name } = wanted[member] ?? {}, { current = {} } = found?.[member] ?? {};
  const shown = (key: string): string => current[key] === undefined ? "<unknown>" : String(current[key]);
  const average = `${shown("averageValue")}/${target.averageValue}`;
  switch (type) {
    case "Pods":
      return average;
    case "Object":
    case "External":
      return target.averageValue !== undefined ? `${average} (avg)` : `${shown("value")}/${target.value}`;
    case "Resource":
    case "ContainerResource": {
      if (target.averageValue !== undefined) return `${name}: ${average}`;
      const now = current.averageUtilization === undefined ? "<unknown>" : `${current.averageUtilization}%`;
      const then = target.averageUtilization === undefined ? "<auto>" : `${target.averageUtilization}%`;
      return `${name}: ${now}/${then}`;
    }
  }
  return "<unknown type>";
}

function autoscaler({ metadata, spec = {}, status = {} }: Fields, age: string): unknown[] {
  const metrics = (spec.metrics ?? []).map((each: Fields, index: number) =>
    metric(each, status.currentMetrics?.[index])
  );
  return [
    metadata.name,
    `${spec.scaleTargetRef?.kind}/${spec.scaleTargetRef?.name}`,
    shortened(metrics, 2, ", ") || NONE,
    spec.minReplicas === undefined ? UNSET : String(spec.minReplicas),
    spec.maxReplicas ?? 0,
    status.currentReplicas ?? 0,
    age,
  ];
}

/** The cells by apiVersion and plural. */
export const WORKLOAD_CELLS: Readonly<Record<string, Cells>> = {
  "v1 pods": podCells,
  "v1 podtemplates": ({ metadata, template: pod }) => [
    metadata.name,
    ...template({ spec: { template: pod } }),
    labelsText(pod?.metadata?.labels),
  ],
  "v1 replicationcontrollers": (object, { age }) => [
    ...replicas(object, age),
    ...template(object),
    labelsText(object.spec?.selector),
  ],
  "apps/v1 deployments": (object, { age }) => {
    const { metadata, spec = {}, status = {} } = object;
    return [
      metadata.name,
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age,
      ...template(object),
      selectorText(spec.selector),
    ];
  },
  "apps/v1 replicasets": (object, { age }) => [
    ...replicas(object, age),
    ...template(object),
    selectorText(object.spec?.selector),
  ],
  "apps/v1 statefulsets": (object, { age }) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    age,
    ...template(object),
  ],
  "apps/v1 daemonsets": (object, { age }) => {
    const { metadata, spec = {}, status = {} } = object;
    return [
      metadata.name,
      status.desiredNumberScheduled ?? 0,
      status.currentNumberScheduled ?? 0,
      status.numberReady ?? 0,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      labelsText(spec.template?.spec?.nodeSelector),
      age,
      ...template(object),
      selectorText(spec.selector),
    ];
  },
  "apps/v1 controllerrevisions": ({ metadata, revision }, { age }) => {
    const owner = (metadata.ownerReferences ?? []).find((each: Fields) => each.controller);
    const [group] = owner?.apiVersion?.includes("/") ? owner.apiVersion.split("/") : [""];
    const kind = `${owner?.kind ?? ""}${group ? `.${group}` : ""}`.toLowerCase();
    return [metadata.name, owner ? `${kind}/${owner.name}` : NONE, revision ?? 0, age];
  },
  "batch/v1 jobs": (object, { age, now }) => [
    object.metadata.name,
    jobStatus(object),
    completions(object),
    took(object.status ?? {}, now),
    age,
    ...template(object),
    selectorText(object.spec?.selector),
  ],
  "batch/v1 cronjobs": ({ metadata, spec = {}, status = {} }, { age, now }) => [
    metadata.name,
    spec.schedule ?? "",
    spec.timeZone ?? NONE,
    spec.suspend === undefined ? NONE : spec.suspend ? "True" : "False",
    status.active?.length ?? 0,
    status.lastScheduleTime ? since(status.lastScheduleTime, now) : NONE,
    age,
    ...template({ spec: spec.jobTemplate?.spec }),
    selectorText(spec.jobTemplate?.spec?.selector),
  ],
  // Stored as v2, whatever version is asked for.
  "autoscaling/v1 horizontalpodautoscalers": (object, { age }) => autoscaler(object, age),
  "autoscaling/v2 horizontalpodautoscalers": (object, { age }) => autoscaler(object, age),
  "autoscaling/v1 scales": ({ metadata, spec, status }, { age }) => [
    metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    age,
  ],
  "policy/v1 poddisruptionbudgets": ({ metadata, spec = {}, status = {} }, { age }) => [
    metadata.name,
    String(spec.minAvailable ?? "N/A"),
    String(spec.maxUnavailable ?? "N/A"),
    status.disruptionsAllowed ?? 0,
    age,
  ],
};
