/**
 * Knows the versions of built-in kinds that a Kubernetes API server still reads but does not serve.
 *
 * ```ts
 * import { isFormer } from "./_former_versions.ts";
 *
 * console.assert(isFormer("apps/v1beta1", "Deployment"));
 * ```
 *
 * @module
 */

const RBAC = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
const POLICIES = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
const WEBHOOKS = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
const FLOWS = ["FlowSchema", "PriorityLevelConfiguration"];

const FORMER: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io/v1alpha1": POLICIES,
  "admissionregistration.k8s.io/v1beta1": [...WEBHOOKS, ...POLICIES],
  "apps/v1beta1": ["Deployment", "StatefulSet", "ControllerRevision"],
  "apps/v1beta2": ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision"],
  "authentication.k8s.io/v1alpha1": ["SelfSubjectReview"],
  "authentication.k8s.io/v1beta1": ["TokenReview", "SelfSubjectReview"],
  "authorization.k8s.io/v1beta1": ["SubjectAccessReview"],
  "batch/v1beta1": ["CronJob"],
  "certificates.k8s.io/v1alpha1": ["ClusterTrustBundle"],
  "certificates.k8s.io/v1beta1": ["CertificateSigningRequest", "ClusterTrustBundle"],
  "coordination.k8s.io/v1alpha2": ["LeaseCandidate"],
  "coordination.k8s.io/v1beta1": ["Lease", "LeaseCandidate"],
  "discovery.k8s.io/v1beta1": ["EndpointSlice"],
  "events.k8s.io/v1beta1": ["Event"],
  "extensions/v1beta1": ["Deployment", "DaemonSet", "ReplicaSet", "Ingress", "NetworkPolicy"],
  "flowcontrol.apiserver.k8s.io/v1beta1": FLOWS,
  "flowcontrol.apiserver.k8s.io/v1beta2": FLOWS,
  "flowcontrol.apiserver.k8s.io/v1beta3": FLOWS,
  "networking.k8s.io/v1beta1": ["Ingress", "IngressClass", "IPAddress", "ServiceCIDR"],
  "node.k8s.io/v1alpha1": ["RuntimeClass"],
  "node.k8s.io/v1beta1": ["RuntimeClass"],
  "policy/v1beta1": ["PodDisruptionBudget", "Eviction"],
  "rbac.authorization.k8s.io/v1alpha1": RBAC,
  "rbac.authorization.k8s.io/v1beta1": RBAC,
  "scheduling.k8s.io/v1beta1": ["PriorityClass"],
  "storage.k8s.io/v1alpha1": ["VolumeAttachment", "CSIStorageCapacity", "VolumeAttributesClass"],
  "storage.k8s.io/v1beta1": [
    "StorageClass",
    "CSIDriver",
    "VolumeAttachment",
    "CSINode",
    "CSIStorageCapacity",
    "VolumeAttributesClass",
  ],
};

/** True if there was such a version of a kind, or of its list. */
export function isFormer(apiVersion: string, kind: string): boolean {
  const kinds = FORMER[apiVersion];
  return kinds !== undefined && (kinds.includes(kind) || kinds.includes(kind.replace(/List$/, "")));
}
