/**
 * Says how the kinds of the other groups behave.
 *
 * ```ts
 * import { OTHERS } from "./_kinds_others.ts";
 *
 * console.assert(OTHERS["leases.coordination.k8s.io"]?.createOnUpdate);
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

const RBAC = "rbac.authorization.k8s.io";
const spec = ({ spec }: Fields): unknown => spec;

function validateRules({ rules }: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, rule] of (rules ?? []).entries()) {
    const at = `rules[${index}]`;
    if (!rule.verbs?.length) causes.push(cause.required(`${at}.verbs`, "verbs must contain at least one value"));
    if (rule.nonResourceURLs?.length) continue;
    if (!rule.apiGroups?.length) {
      causes.push(cause.required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
    }
    if (!rule.resources?.length) {
      causes.push(cause.required(`${at}.resources`, "resource rules must supply at least one resource"));
    }
  }
  return causes;
}

function validateBinding({ roleRef = {} }: Fields): Cause[] {
  return [
    ...(roleRef.apiGroup === RBAC ? [] : [cause.unsupported("roleRef.apiGroup", roleRef.apiGroup ?? "", [RBAC])]),
    ...(["Role", "ClusterRole"].includes(roleRef.kind)
      ? []
      : [cause.unsupported("roleRef.kind", roleRef.kind ?? "", ["ClusterRole", "Role"])]),
    ...(roleRef.name ? [] : [cause.required("roleRef.name")]),
  ];
}

function validateWebhooks({ webhooks }: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, webhook] of (webhooks ?? []).entries()) {
    const at = `webhooks[${index}]`;
    if (!/^[^.]+\.[^.]+\..+$/.test(webhook.name ?? "")) {
      const why = "should be a domain with at least three segments separated by dots";
      causes.push(cause.invalid(`${at}.name`, webhook.name ?? "", why));
    }
    if (!webhook.sideEffects) {
      causes.push(cause.required(`${at}.sideEffects`, "must specify one of None, NoneOnDryRun"));
    }
    if (!webhook.clientConfig?.url && !webhook.clientConfig?.service) {
      causes.push(cause.required(`${at}.clientConfig`, "exactly one of url or service is required"));
    }
    if (!webhook.admissionReviewVersions?.length) {
      causes.push(cause.required(`${at}.admissionReviewVersions`, "must specify one of v1, v1beta1"));
    }
  }
  return causes;
}

function validateIngress({ spec = {} }: Fields): Cause[] {
  const { rules = [], defaultBackend } = spec;
  if (rules.length === 0 && !defaultBackend) {
    return [cause.invalid("spec", null, "either `defaultBackend` or `rules` must be specified")];
  }
  const causes: Cause[] = [];
  for (const [index, { http }] of rules.entries()) {
    for (const [number, { path, pathType }] of (http?.paths ?? []).entries()) {
      const at = `spec.rules[${index}].http.paths[${number}]`;
      if (!pathType) causes.push(cause.required(`${at}.pathType`, "pathType must be specified"));
      else if (!PATH_TYPES.includes(pathType)) causes.push(cause.unsupported(`${at}.pathType`, pathType, PATH_TYPES));
      else if (pathType !== "ImplementationSpecific" && !String(path ?? "").startsWith("/")) {
        causes.push(cause.invalid(`${at}.path`, path ?? "", "must be an absolute path"));
      }
    }
  }
  return causes;
}

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];

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

function validateLease({ spec = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
    causes.push(cause.invalid("spec.leaseDurationSeconds", spec.leaseDurationSeconds, "must be greater than 0"));
  }
  if (spec.leaseTransitions !== undefined && spec.leaseTransitions < 0) {
    causes.push(cause.invalid("spec.leaseTransitions", spec.leaseTransitions, "must be greater than or equal to 0"));
  }
  return causes;
}

const role: Behaviour = { names: "path", validate: validateRules };
const binding: Behaviour = { names: "path", validate: validateBinding };

/** The behaviours by storage. */
export const OTHERS: Readonly<Record<string, Behaviour>> = {
  "customresourcedefinitions.apiextensions.k8s.io": DEFINITION,
  "leases.coordination.k8s.io": { createOnUpdate: true, validate: validateLease },
  events: EVENTS,
  services: SERVICES,
  "roles.rbac.authorization.k8s.io": role,
  "clusterroles.rbac.authorization.k8s.io": role,
  "rolebindings.rbac.authorization.k8s.io": binding,
  "clusterrolebindings.rbac.authorization.k8s.io": binding,
  "networkpolicies.networking.k8s.io": {
    desired: spec,
  },
  "ingresses.networking.k8s.io": {
    status: true,
    desired: spec,
    prepareCreate: (object) => {
      object.status = { loadBalancer: {} };
    },
    validate: validateIngress,
  },
  "ingressclasses.networking.k8s.io": { desired: spec },
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
  "validatingwebhookconfigurations.admissionregistration.k8s.io": {
    desired: ({ webhooks }) => webhooks,
    validate: validateWebhooks,
  },
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": {
    desired: ({ webhooks }) => webhooks,
    validate: validateWebhooks,
  },
  "priorityclasses.scheduling.k8s.io": { desired: ({ metadata: _, ...rest }) => rest },
  "storageclasses.storage.k8s.io": {
    returnsDeleted: true,
  },
  "volumeattachments.storage.k8s.io": { returnsDeleted: true, status: true },
  "csinodes.storage.k8s.io": { returnsDeleted: true },
  "csidrivers.storage.k8s.io": { returnsDeleted: true },
  "endpointslices.discovery.k8s.io": {
    desired: ({ metadata: _, ...rest }) => rest,
  },
};
