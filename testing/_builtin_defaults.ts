/**
 * Fills in what a Kubernetes API server fills in for built-in kinds, so that what an operator reads back is what it would be.
 *
 * ```ts
 * import { defaultBuiltin } from "./_builtin_defaults.ts";
 *
 * const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } };
 * defaultBuiltin(secret); // secret.type is "Opaque"
 * ```
 *
 * Values that depend on the cluster (addresses, uids, phases that admission sets) are not defaults and not made here.
 *
 * @module
 */
import { isObject, type JsonObject } from "./_json.ts";
import { defaultPod, defaultPodSpec, made, objectsOf, preset, within } from "./_pod_defaults.ts";

type Defaulter = (object: JsonObject) => void;

/** Fills in a workload's pod template. */
function defaultTemplate(spec: JsonObject): void {
  within(spec, "template", (template) => defaultPodSpec(made(template, "spec")));
}

function deployment(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = made(spec, "strategy");
  preset(strategy, { type: "RollingUpdate" });
  if (strategy.type === "RollingUpdate") {
    preset(made(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
  }
  defaultTemplate(spec);
}

function statefulSet(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { podManagementPolicy: "OrderedReady", replicas: 1, revisionHistoryLimit: 10 });
  const strategy = made(spec, "updateStrategy");
  if (!strategy.type) {
    strategy.type = "RollingUpdate";
    made(strategy, "rollingUpdate");
  }
  if (strategy.type === "RollingUpdate") within(strategy, "rollingUpdate", (update) => preset(update, STATEFUL_UPDATE));
  preset(made(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
  defaultTemplate(spec);
  for (const claim of objectsOf(spec, "volumeClaimTemplates")) {
    preset(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" });
    persistentVolumeClaim(claim);
  }
}

const STATEFUL_UPDATE = { partition: 0, maxUnavailable: 1 };

function daemonSet(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { revisionHistoryLimit: 10 });
  const strategy = made(spec, "updateStrategy");
  preset(strategy, { type: "RollingUpdate" });
  if (strategy.type === "RollingUpdate") made(strategy, "rollingUpdate");
  within(strategy, "rollingUpdate", (update) => preset(update, { maxUnavailable: 1, maxSurge: 0 }));
  defaultTemplate(spec);
}

function replicaSet(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { replicas: 1 });
  defaultTemplate(spec);
}

/** Gives an object without labels those of its template. */
function takeTemplateLabels(object: JsonObject, spec: JsonObject): void {
  const template = isObject(spec.template) ? spec.template : {};
  const labels = isObject(template.metadata) ? template.metadata.labels : undefined;
  const metadata = made(object, "metadata");
  const own = metadata.labels;
  if (isObject(labels) && (!isObject(own) || Object.keys(own).length === 0)) metadata.labels = { ...labels };
}

function replicationController(object: JsonObject): void {
  const spec = made(object, "spec");
  const template = isObject(spec.template) ? spec.template : {};
  const labels = isObject(template.metadata) ? template.metadata.labels : undefined;
  if (isObject(labels) && !isObject(spec.selector)) spec.selector = { ...labels };
  takeTemplateLabels(object, spec);
  replicaSet(object);
}

function job(object: JsonObject): void {
  const spec = made(object, "spec");
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  preset(spec, {
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed",
    manualSelector: false,
  });
  within(spec, "podFailurePolicy", (policy) => {
    for (const rule of objectsOf(policy, "rules")) {
      for (const pattern of objectsOf(rule, "onPodConditions")) preset(pattern, { status: "True" });
    }
  });
  takeTemplateLabels(object, spec);
  defaultTemplate(spec);
}

function cronJob(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  within(spec, "jobTemplate", (template) => within(template, "spec", defaultTemplate));
}

function service(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { sessionAffinity: "None", type: "ClusterIP" });
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === "ClientIP") {
    preset(made(made(spec, "sessionAffinityConfig"), "clientIP"), { timeoutSeconds: 10_800 });
  }
  for (const port of objectsOf(spec, "ports")) {
    preset(port, { protocol: "TCP" });
    if (!port.targetPort) port.targetPort = port.port;
  }
  const { type } = spec;
  const outside = type === "NodePort" || type === "LoadBalancer" ||
    type === "ClusterIP" && Array.isArray(spec.externalIPs) && spec.externalIPs.length > 0;
  if (outside) preset(spec, { externalTrafficPolicy: "Cluster" });
  if (type !== "ExternalName") preset(spec, { internalTrafficPolicy: "Cluster" });
  if (type !== "LoadBalancer") return;
  preset(spec, { allocateLoadBalancerNodePorts: true });
  within(made(object, "status"), "loadBalancer", (balancer) => {
    for (const ingress of objectsOf(balancer, "ingress")) if (ingress.ip) preset(ingress, { ipMode: "VIP" });
  });
}

function persistentVolumeClaim(object: JsonObject): void {
  preset(made(object, "status"), { phase: "Pending" });
  preset(made(object, "spec"), { volumeMode: "Filesystem" });
}

function persistentVolume(object: JsonObject): void {
  preset(made(object, "status"), { phase: "Pending" });
  const spec = made(object, "spec");
  preset(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
  within(spec, "hostPath", (path) => path.type ??= "");
}

function networkPolicy(object: JsonObject): void {
  const spec = made(object, "spec");
  const egress = objectsOf(spec, "egress");
  for (const rule of [...objectsOf(spec, "ingress"), ...egress]) {
    for (const port of objectsOf(rule, "ports")) preset(port, { protocol: "TCP" });
  }
  if (!Array.isArray(spec.policyTypes) || spec.policyTypes.length === 0) {
    spec.policyTypes = egress.length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  }
}

const UP_POLICIES = [
  { type: "Pods", value: 4, periodSeconds: 15 },
  { type: "Percent", value: 100, periodSeconds: 15 },
];
const DOWN_POLICIES = [{ type: "Percent", value: 100, periodSeconds: 15 }];

function autoscaler(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { minReplicas: 1 });
  if (!Array.isArray(spec.metrics) || spec.metrics.length === 0) {
    const target = { type: "Utilization", averageUtilization: 80 };
    spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  }
  within(spec, "behavior", (behavior) => {
    preset(made(behavior, "scaleUp"), {
      stabilizationWindowSeconds: 0,
      selectPolicy: "Max",
      policies: UP_POLICIES,
    });
    preset(made(behavior, "scaleDown"), { selectPolicy: "Max", policies: DOWN_POLICIES });
  });
}

const RBAC = "rbac.authorization.k8s.io";

function roleBinding(object: JsonObject): void {
  within(object, "roleRef", (reference) => preset(reference, { apiGroup: RBAC }));
  for (const subject of objectsOf(object, "subjects")) {
    if (subject.kind === "User" || subject.kind === "Group") preset(subject, { apiGroup: RBAC });
  }
}

const RESOURCE_MATCH = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };

function webhooks(object: JsonObject, more: JsonObject): void {
  for (const webhook of objectsOf(object, "webhooks")) {
    preset(webhook, { ...RESOURCE_MATCH, failurePolicy: "Fail", timeoutSeconds: 10, ...more });
    for (const rule of objectsOf(webhook, "rules")) preset(rule, { scope: "*" });
    within(webhook, "clientConfig", (config) => {
      within(config, "service", (reference) => preset(reference, { port: 443 }));
    });
  }
}

function matchResources(match: JsonObject): void {
  preset(match, RESOURCE_MATCH);
  const rules = [...objectsOf(match, "resourceRules"), ...objectsOf(match, "excludeResourceRules")];
  for (const rule of rules) preset(rule, { scope: "*" });
}

function admissionPolicy(object: JsonObject): void {
  const spec = made(object, "spec");
  preset(spec, { failurePolicy: "Fail" });
  within(spec, "matchConstraints", matchResources);
}

function admissionBinding(object: JsonObject): void {
  within(made(object, "spec"), "matchResources", matchResources);
}

function limitRange(object: JsonObject): void {
  for (const limit of objectsOf(made(object, "spec"), "limits")) {
    if (limit.type !== "Container") continue;
    const defaults = made(limit, "default"), requests = made(limit, "defaultRequest");
    within(limit, "max", (most) => preset(defaults, most));
    preset(requests, defaults);
    within(limit, "min", (least) => preset(requests, least));
  }
}

function csiDriver(object: JsonObject): void {
  preset(made(object, "spec"), {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
    preventPodSchedulingIfMissing: false,
  });
}

const KINDS: Readonly<Record<string, Defaulter>> = {
  "v1 Pod": defaultPod,
  "v1 PodTemplate": defaultTemplate,
  "v1 ReplicationController": replicationController,
  "v1 Service": service,
  "v1 Secret": (object) => preset(object, { type: "Opaque" }),
  "v1 PersistentVolumeClaim": persistentVolumeClaim,
  "v1 PersistentVolume": persistentVolume,
  "v1 Namespace": (object) => preset(made(object, "status"), { phase: "Active" }),
  "v1 LimitRange": limitRange,
  "v1 Endpoints": (object) => {
    for (const subset of objectsOf(object, "subsets")) {
      for (const port of objectsOf(subset, "ports")) preset(port, { protocol: "TCP" });
    }
  },
  "apps/v1 Deployment": deployment,
  "apps/v1 StatefulSet": statefulSet,
  "apps/v1 DaemonSet": daemonSet,
  "apps/v1 ReplicaSet": replicaSet,
  "batch/v1 Job": job,
  "batch/v1 CronJob": cronJob,
  "autoscaling/v1 HorizontalPodAutoscaler": (object) => preset(made(object, "spec"), { minReplicas: 1 }),
  "autoscaling/v2 HorizontalPodAutoscaler": autoscaler,
  "networking.k8s.io/v1 NetworkPolicy": networkPolicy,
  "networking.k8s.io/v1 IngressClass": (object) => {
    within(made(object, "spec"), "parameters", (parameters) => preset(parameters, { scope: "Cluster" }));
  },
  "discovery.k8s.io/v1 EndpointSlice": (object) => {
    for (const port of objectsOf(object, "ports")) {
      port.name ??= "";
      preset(port, { protocol: "TCP" });
    }
  },
  "rbac.authorization.k8s.io/v1 RoleBinding": roleBinding,
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": roleBinding,
  "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": (object) => webhooks(object, {}),
  "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration": (object) =>
    webhooks(object, { reinvocationPolicy: "Never" }),
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy": admissionPolicy,
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy": admissionPolicy,
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": admissionBinding,
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding": admissionBinding,
  "storage.k8s.io/v1 StorageClass": (object) =>
    preset(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "storage.k8s.io/v1 CSIDriver": csiDriver,
  "scheduling.k8s.io/v1 PriorityClass": (object) => preset(object, { preemptionPolicy: "PreemptLowerPriority" }),
  "authentication.k8s.io/v1 TokenRequest": (object) => preset(made(object, "spec"), { expirationSeconds: 3600 }),
};

/** Fills in an object of a built-in kind. The object is changed: the caller must own it all the way down. */
export function defaultBuiltin(object: object): void {
  const { apiVersion, kind } = object as { apiVersion?: unknown; kind?: unknown };
  const key = `${apiVersion} ${kind}`;
  if (Object.hasOwn(KINDS, key)) KINDS[key]!(object as JsonObject);
}
