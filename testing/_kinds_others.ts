/**
 * Says how the kinds of the other groups behave.
 *
 * ```ts
 * import { OTHERS } from "./_kinds_others.ts";
 *
 * console.assert(OTHERS.events?.createOnUpdate);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { DEFINITION } from "./_kinds_definitions.ts";
import { EVENTS } from "./_kinds_events.ts";
import { SERVICES } from "./_kinds_services.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const spec = ({ spec }: Fields): unknown => spec;

function validateAutoscaler({ spec = {} }: Fields): Cause[] {
  const { minReplicas = 1, maxReplicas = 0, scaleTargetRef = {} } = spec;
  const causes: Cause[] = [];
  if (minReplicas < 1) {
    causes.push(cause.invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1"));
  }
  if (maxReplicas < minReplicas) {
    causes.push(cause.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  if (maxReplicas === 0) causes.push(cause.required("spec.maxReplicas"));
  if (!scaleTargetRef.kind) causes.push(cause.required("spec.scaleTargetRef.kind"));
  if (!scaleTargetRef.name) causes.push(cause.required("spec.scaleTargetRef.name"));
  return causes;
}

/** Autoscalers are stored as version 2: version 1 knows no metric but the CPU. */
const AUTOSCALER_VERSIONS: Pick<Behaviour, "toStorage" | "fromStorage"> = {
  toStorage: (object, apiVersion) => {
    if (apiVersion !== "autoscaling/v1") return object;
    const { targetCPUUtilizationPercentage: averageUtilization, ...spec } = object.spec;
    const target = { type: "Utilization", averageUtilization };
    const metrics = averageUtilization === undefined
      ? {}
      : { metrics: [{ type: "Resource", resource: { name: "cpu", target } }] };
    const { currentReplicas, ...status } = object.status ?? {};
    return {
      ...object,
      apiVersion: "autoscaling/v2",
      spec: { ...spec, ...metrics },
      status: { ...(currentReplicas ? { currentReplicas } : {}), currentMetrics: null, ...status },
    };
  },
  fromStorage: (object, apiVersion) => {
    if (apiVersion !== "autoscaling/v1" || object.apiVersion === apiVersion) return object;
    const { metrics = [], behavior: _, ...spec } = object.spec;
    const percentage = (metrics as Fields[]).find(({ resource }) => resource?.name === "cpu")?.resource.target
      .averageUtilization;
    const { currentMetrics: _metrics, conditions: _conditions, ...status } = object.status ?? {};
    return {
      ...object,
      apiVersion,
      spec: { ...spec, ...(percentage === undefined ? {} : { targetCPUUtilizationPercentage: percentage }) },
      status: { currentReplicas: 0, ...status },
    };
  },
};

/** The behaviours by storage. */
export const OTHERS: Readonly<Record<string, Behaviour>> = {
  "customresourcedefinitions.apiextensions.k8s.io": DEFINITION,
  events: EVENTS,
  services: SERVICES,
  "poddisruptionbudgets.policy": {
    status: true,
    desired: spec,
    prepareCreate: (object) => {
      object.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
    },
  },
  "horizontalpodautoscalers.autoscaling": {
    status: true,
    desired: spec,
    prepareCreate: (object) => {
      object.status = object.apiVersion === "autoscaling/v1"
        ? { currentReplicas: 0, desiredReplicas: 0 }
        : { currentMetrics: null, desiredReplicas: 0 };
    },
    validate: validateAutoscaler,
    ...AUTOSCALER_VERSIONS,
  },
  "priorityclasses.scheduling.k8s.io": { desired: ({ metadata: _, ...rest }) => rest },
};
