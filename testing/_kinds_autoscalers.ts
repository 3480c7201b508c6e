/**
 * Says how HorizontalPodAutoscalers behave: what they may scale, by which metrics, how fast.
 *
 * ```ts
 * import { AUTOSCALER } from "./_kinds_autoscalers.ts";
 *
 * console.assert(AUTOSCALER.status);
 * ```
 *
 * @module
 */
import { type Check, each, given, isEmpty, members, oneOf } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { negatives } from "./_kinds_apps_numbers.ts";
import { validateName } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { nanosOf, written } from "./_pods_resources.ts";
import { type Cause, cause } from "./_status.ts";

const CORE_TARGETS = ["ReplicationController", "Pod"];

function segment(value: string, at: string, why = ""): Cause[] {
  if (!value) return [cause.required(at, why)];
  return validateName(value, "path").map((each) => cause.invalid(at, value, each));
}

/** Takes a reference to an object; `grouped` if its API group must be said. */
function reference({ apiVersion = "", kind, name }: Fields, at: string, grouped: boolean): Cause[] {
  const causes = [...segment(kind, `${at}.kind`), ...segment(name, `${at}.name`)];
  const path = `${at}.apiVersion`;
  if (apiVersion.split("/").length > 2) {
    return [...causes, cause.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  }
  if (!grouped || apiVersion.includes("/")) return causes;
  if (apiVersion !== "" && CORE_TARGETS.includes(kind)) return causes;
  return [...causes, cause.invalid(path, apiVersion, "apiVersion must specify API group")];
}

const positiveQuantity: Check = given((value, at, causes) => {
  if (nanosOf(value) <= 0n) causes.push(cause.invalid(at, written(value), "must be positive"));
});

const target: Check = (value = {}, at, causes) => {
  const { type = "", averageUtilization } = value;
  if (type === "") causes.push(cause.required(`${at}.type`, "must specify a metric target type"));
  if (!["Utilization", "Value", "AverageValue"].includes(type)) {
    causes.push(cause.invalid(`${at}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  positiveQuantity(value.value, `${at}.value`, causes);
  positiveQuantity(value.averageValue, `${at}.averageValue`, causes);
  if (averageUtilization !== undefined && averageUtilization < 1) {
    causes.push(cause.invalid(`${at}.averageUtilization`, averageUtilization, "must be greater than 0"));
  }
};

const metric: Check = (value = {}, at, causes) => {
  causes.push(...segment(value.name, `${at}.name`, "must specify a metric name"));
};

/** Takes a target of a resource: how much of it, or what share. */
const resourceTarget: Check = (value = {}, at, causes) => {
  target(value, at, causes);
  const { averageUtilization, averageValue } = value;
  if (averageUtilization === undefined && averageValue === undefined) {
    const why = "must set either a target raw value or a target utilization";
    causes.push(cause.required(`${at}.averageUtilization`, why));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const why = "may not set both a target raw value and a target utilization";
    causes.push(cause.forbidden(`${at}.averageValue`, why));
  }
};

const named: Check = (value, at, causes) => {
  if (isEmpty(value)) causes.push(cause.required(at, "must specify a resource name"));
};

/** The sources of metrics by the member that has them. */
const SOURCES: Readonly<Record<string, Check>> = {
  object: (value, at, causes) => {
    causes.push(...reference(value.describedObject ?? {}, `${at}.describedObject`, false));
    metric(value.metric, `${at}.metric`, causes);
    target(value.target, `${at}.target`, causes);
    if (value.target?.value === undefined && value.target?.averageValue === undefined) {
      causes.push(cause.required(`${at}.target.averageValue`, "must set either a target value or averageValue"));
    }
  },
  pods: (value, at, causes) => {
    metric(value.metric, `${at}.metric`, causes);
    target(value.target, `${at}.target`, causes);
    if (value.target?.averageValue === undefined) {
      causes.push(cause.required(`${at}.target.averageValue`, "must specify a positive target averageValue"));
    }
  },
  resource: members({ name: named, target: resourceTarget }),
  containerResource: (value, at, causes) => {
    named(value.name, `${at}.name`, causes);
    causes.push(...segment(value.container, `${at}.container`, "must specify a container"));
    resourceTarget(value.target, `${at}.target`, causes);
  },
  external: (value, at, causes) => {
    metric(value.metric, `${at}.metric`, causes);
    target(value.target, `${at}.target`, causes);
    const { value: whole, averageValue } = value.target ?? {};
    if (whole === undefined && averageValue === undefined) {
      const why = "must set either a target value for metric or a per-pod target";
      causes.push(cause.required(`${at}.target.averageValue`, why));
    }
    if (whole !== undefined && averageValue !== undefined) {
      const why = "may not set both a target value for metric and a per-pod target";
      causes.push(cause.forbidden(`${at}.target.value`, why));
    }
  },
};

const TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];

const metricSpec: Check = (value, at, causes) => {
  const { type = "" } = value;
  if (type === "") causes.push(cause.required(`${at}.type`, "must specify a metric source type"));
  oneOf(TYPES)(type, `${at}.type`, causes);
  const wanted = type === "" ? "" : type[0].toLowerCase() + type.slice(1);
  for (const name in SOURCES) if (value[name]) SOURCES[name]!(value[name], `${at}.${name}`, causes);
  if (!TYPES.includes(type)) return;
  if (!value[wanted]) {
    causes.push(cause.required(`${at}.${wanted}`, "must populate information for the given metric source"));
  }
  for (const name in SOURCES) {
    if (name === wanted || !value[name]) continue;
    causes.push(cause.forbidden(`${at}.${name}`, "must populate the given metric source only"));
  }
};

const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

const policy: Check = (value, at, causes) => {
  oneOf(["Percent", "Pods"])(value.type ?? "", `${at}.type`, causes);
  for (const member of ["value", "periodSeconds"]) {
    if ((value[member] ?? 0) > 0) continue;
    causes.push(cause.invalid(`${at}.${member}`, value[member] ?? 0, "must be greater than zero"));
  }
  if (value.periodSeconds > LONGEST_PERIOD) {
    const why = `must be less than or equal to ${LONGEST_PERIOD}`;
    causes.push(cause.invalid(`${at}.periodSeconds`, value.periodSeconds, why));
  }
};

const rules: Check = given((value, at, causes) => {
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = value;
  const refuse = (why: string) => causes.push(cause.invalid(`${at}.stabilizationWindowSeconds`, window, why));
  if (window < 0) refuse("must be greater than or equal to zero");
  if (window > LONGEST_WINDOW) refuse(`must be less than or equal to ${LONGEST_WINDOW}`);
  oneOf(["Disabled", "Max", "Min"])(selectPolicy, `${at}.selectPolicy`, causes);
  if (isEmpty(policies)) causes.push(cause.required(`${at}.policies`, "must specify at least one Policy"));
  each(policy)(policies, `${at}.policies`, causes);
  if (tolerance !== undefined && nanosOf(tolerance) < 0n) {
    causes.push(cause.invalid(`${at}.tolerance`, written(tolerance), "must be greater than or equal to 0"));
  }
});

const BEHAVIOUR: Check = given(members({ scaleUp: rules, scaleDown: rules }));

function scalesFromNothing(metrics: readonly Fields[]): boolean {
  return metrics.some(({ type }) => type === "Object" || type === "External");
}

function validate({ spec = {} }: Fields): Cause[] {
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {}, metrics = [] } = spec;
  const causes: Cause[] = [];
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    causes.push(cause.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  causes.push(...reference(scaleTargetRef, "spec.scaleTargetRef", true));
  each(metricSpec)(metrics, "spec.metrics", causes);
  if (minReplicas === 0 && !scalesFromNothing(metrics)) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    causes.push(cause.forbidden("spec.metrics", why));
  }
  BEHAVIOUR(spec.behavior, "spec.behavior", causes);
  causes.push(...negatives(spec, ["minReplicas"], "spec"));
  if (maxReplicas === 0) causes.push(cause.required("spec.maxReplicas"));
  return causes;
}

/** Version 1 knows no metric but the CPU: it is checked as what it is stored as. */
function asStored(object: Fields, apiVersion: string): Fields {
  return VERSIONS.toStorage!(object, apiVersion);
}

/** Autoscalers are stored as version 2: version 1 knows no metric but the CPU. */
const VERSIONS: Pick<Behaviour, "toStorage" | "fromStorage"> = {
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

/** The behaviour. */
export const AUTOSCALER: Behaviour = {
  status: true,
  desired: ({ spec }) => spec,
  prepareCreate: (object) => {
    object.status = object.apiVersion === "autoscaling/v1"
      ? { currentReplicas: 0, desiredReplicas: 0 }
      : { currentMetrics: null, desiredReplicas: 0 };
  },
  validate: (object, apiVersion, subresource) =>
    subresource === "status"
      ? negatives(object.status ?? {}, ["currentReplicas", "desiredReplicas"], "status")
      : validate(asStored(object, apiVersion)),
  ...VERSIONS,
};
