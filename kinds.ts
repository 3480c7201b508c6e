/**
 * Lists the built-in kinds that operators watch, own and read, typed as their objects look on the wire.
 *
 * Each is a type and a value of one name. The types come from `@kubernetes/client-node`, which is never loaded for them.
 *
 * ```ts
 * import { Deployment } from "@tend/operator/kinds";
 *
 * const replicas = (deployment: Deployment): number => deployment.status?.readyReplicas ?? 0;
 * const web = Deployment.draft({ metadata: { name: "web" }, spec: { replicas: 2 } });
 * console.assert(web.apiVersion === "apps/v1");
 * console.assert(replicas.length === 1);
 * ```
 *
 * @module
 */
import type * as k8s from "@kubernetes/client-node";
import { groupOf, type KubernetesObject, type Resource, resource, type Scope } from "./resource.ts";

/** A model of `@kubernetes/client-node`, such as `V1Deployment`, by its name. */
export type Model<Name extends keyof typeof k8s> = (typeof k8s)[Name] extends { prototype: infer M } ? M : never;

/** A property's name on the wire: the models rename what is a keyword of some language, or has a dash. */
export type WireName<K> = K extends `_${infer Name}` ? Name
  : K extends `x_kubernetes_${infer Name}` ? `x-kubernetes-${Dashed<Name>}`
  : K;

/** A text with each `_` turned into `-`. */
export type Dashed<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}-${Dashed<Tail>}` : Text;

/**
 * A model as it is on the wire: times are RFC 3339 strings, properties have their real names, and what may be any JSON
 * is `unknown`. What is optional stays optional.
 */
export type Json<T> = 0 extends 1 & T ? unknown
  : T extends Date ? string
  : T extends readonly (infer Item)[] ? Json<Item>[]
  : T extends object ? { [K in keyof T as WireName<K>]: Json<T[K]> }
  : T;

/** A model as a server returns it: with `apiVersion`, `kind` and full metadata. */
export type Wire<T> = Omit<Json<T>, "apiVersion" | "kind" | "metadata"> & KubernetesObject;

function kind<T extends KubernetesObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: Scope = "Namespaced",
): Resource<T> {
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  return resource<T>({ group: groupOf(apiVersion), version, kind, plural, scope });
}

/** What the `scale` subresource reads and writes. */
export type Scale = Wire<Model<"V1Scale">>;

/** Configuration that is not secret, as text or bytes. */
export type ConfigMap = Wire<Model<"V1ConfigMap">>;
/** The kind ConfigMap of `v1`. */
export const ConfigMap: Resource<ConfigMap> = kind("v1", "ConfigMap", "configmaps");

/** The addresses of a Service; {@linkcode EndpointSlice} took over from it. */
export type Endpoints = Wire<Model<"V1Endpoints">>;
/** The kind Endpoints of `v1`. */
export const Endpoints: Resource<Endpoints> = kind("v1", "Endpoints", "endpoints");

/** An Event of the core group, as older clients write it; see {@linkcode Event}. */
export type CoreEvent = Wire<Model<"CoreV1Event">>;
/** The kind Event of `v1`. */
export const CoreEvent: Resource<CoreEvent> = kind("v1", "Event", "events");

/** Bounds and defaults for the resources of the Pods in a namespace. */
export type LimitRange = Wire<Model<"V1LimitRange">>;
/** The kind LimitRange of `v1`. */
export const LimitRange: Resource<LimitRange> = kind("v1", "LimitRange", "limitranges");

/** A scope for names, quotas and permissions. */
export type Namespace = Wire<Model<"V1Namespace">>;
/** The kind Namespace of `v1`. */
export const Namespace: Resource<Namespace> = kind("v1", "Namespace", "namespaces", "Cluster");

/** A machine that runs Pods. */
export type Node = Wire<Model<"V1Node">>;
/** The kind Node of `v1`. */
export const Node: Resource<Node> = kind("v1", "Node", "nodes", "Cluster");

/** A piece of storage in the cluster. */
export type PersistentVolume = Wire<Model<"V1PersistentVolume">>;
/** The kind PersistentVolume of `v1`. */
export const PersistentVolume: Resource<PersistentVolume> = kind(
  "v1",
  "PersistentVolume",
  "persistentvolumes",
  "Cluster",
);

/** A request for a {@linkcode PersistentVolume}. */
export type PersistentVolumeClaim = Wire<Model<"V1PersistentVolumeClaim">>;
/** The kind PersistentVolumeClaim of `v1`. */
export const PersistentVolumeClaim: Resource<PersistentVolumeClaim> = kind(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);

/** Containers that run together on one node. */
export type Pod = Wire<Model<"V1Pod">>;
/** The kind Pod of `v1`. */
export const Pod: Resource<Pod> = kind("v1", "Pod", "pods");

/** A Pod to be made of it, kept as an object. */
export type PodTemplate = Wire<Model<"V1PodTemplate">>;
/** The kind PodTemplate of `v1`. */
export const PodTemplate: Resource<PodTemplate> = kind("v1", "PodTemplate", "podtemplates");

/** A number of equal Pods; {@linkcode Deployment} took over from it. */
export type ReplicationController = Wire<Model<"V1ReplicationController">>;
/** The kind ReplicationController of `v1`. */
export const ReplicationController: Resource<ReplicationController> = kind(
  "v1",
  "ReplicationController",
  "replicationcontrollers",
);

/** A limit on what a namespace may use. */
export type ResourceQuota = Wire<Model<"V1ResourceQuota">>;
/** The kind ResourceQuota of `v1`. */
export const ResourceQuota: Resource<ResourceQuota> = kind("v1", "ResourceQuota", "resourcequotas");

/** Sensitive data; `data` is base64, `stringData` is written as it is and never read back. */
export type Secret = Wire<Model<"V1Secret">>;
/** The kind Secret of `v1`. */
export const Secret: Resource<Secret> = kind("v1", "Secret", "secrets");

/** One stable address for a changing set of Pods. */
export type Service = Wire<Model<"V1Service">>;
/** The kind Service of `v1`. */
export const Service: Resource<Service> = kind("v1", "Service", "services");

/** What a Pod authenticates as. */
export type ServiceAccount = Wire<Model<"V1ServiceAccount">>;
/** The kind ServiceAccount of `v1`. */
export const ServiceAccount: Resource<ServiceAccount> = kind("v1", "ServiceAccount", "serviceaccounts");

/** A snapshot of the state of a {@linkcode DaemonSet} or {@linkcode StatefulSet}. */
export type ControllerRevision = Wire<Model<"V1ControllerRevision">>;
/** The kind ControllerRevision of `apps/v1`. */
export const ControllerRevision: Resource<ControllerRevision> = kind(
  "apps/v1",
  "ControllerRevision",
  "controllerrevisions",
);

/** One Pod on each node. */
export type DaemonSet = Wire<Model<"V1DaemonSet">>;
/** The kind DaemonSet of `apps/v1`. */
export const DaemonSet: Resource<DaemonSet> = kind("apps/v1", "DaemonSet", "daemonsets");

/** Equal Pods, replaced step by step when their template changes. */
export type Deployment = Wire<Model<"V1Deployment">>;
/** The kind Deployment of `apps/v1`. */
export const Deployment: Resource<Deployment> = kind("apps/v1", "Deployment", "deployments");

/** A number of equal Pods; made by a {@linkcode Deployment}. */
export type ReplicaSet = Wire<Model<"V1ReplicaSet">>;
/** The kind ReplicaSet of `apps/v1`. */
export const ReplicaSet: Resource<ReplicaSet> = kind("apps/v1", "ReplicaSet", "replicasets");

/** Pods with a stable name and storage each. */
export type StatefulSet = Wire<Model<"V1StatefulSet">>;
/** The kind StatefulSet of `apps/v1`. */
export const StatefulSet: Resource<StatefulSet> = kind("apps/v1", "StatefulSet", "statefulsets");

/** A {@linkcode Job} by the clock. */
export type CronJob = Wire<Model<"V1CronJob">>;
/** The kind CronJob of `batch/v1`. */
export const CronJob: Resource<CronJob> = kind("batch/v1", "CronJob", "cronjobs");

/** Pods that run to completion. */
export type Job = Wire<Model<"V1Job">>;
/** The kind Job of `batch/v1`. */
export const Job: Resource<Job> = kind("batch/v1", "Job", "jobs");

/** Keeps a number of replicas to what metrics ask for. */
export type HorizontalPodAutoscaler = Wire<Model<"V2HorizontalPodAutoscaler">>;
/** The kind HorizontalPodAutoscaler of `autoscaling/v2`. */
export const HorizontalPodAutoscaler: Resource<HorizontalPodAutoscaler> = kind(
  "autoscaling/v2",
  "HorizontalPodAutoscaler",
  "horizontalpodautoscalers",
);

/** How many of some Pods may be evicted at once. */
export type PodDisruptionBudget = Wire<Model<"V1PodDisruptionBudget">>;
/** The kind PodDisruptionBudget of `policy/v1`. */
export const PodDisruptionBudget: Resource<PodDisruptionBudget> = kind(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);

/** An address that a {@linkcode ServiceCIDR} gave out. */
export type IPAddress = Wire<Model<"V1IPAddress">>;
/** The kind IPAddress of `networking.k8s.io/v1`. */
export const IPAddress: Resource<IPAddress> = kind("networking.k8s.io/v1", "IPAddress", "ipaddresses", "Cluster");

/** Routes of HTTP from outside the cluster to Services. */
export type Ingress = Wire<Model<"V1Ingress">>;
/** The kind Ingress of `networking.k8s.io/v1`. */
export const Ingress: Resource<Ingress> = kind("networking.k8s.io/v1", "Ingress", "ingresses");

/** Which controller serves an {@linkcode Ingress}. */
export type IngressClass = Wire<Model<"V1IngressClass">>;
/** The kind IngressClass of `networking.k8s.io/v1`. */
export const IngressClass: Resource<IngressClass> = kind(
  "networking.k8s.io/v1",
  "IngressClass",
  "ingressclasses",
  "Cluster",
);

/** Which traffic some Pods may receive and send. */
export type NetworkPolicy = Wire<Model<"V1NetworkPolicy">>;
/** The kind NetworkPolicy of `networking.k8s.io/v1`. */
export const NetworkPolicy: Resource<NetworkPolicy> = kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");

/** A range of addresses for Services. */
export type ServiceCIDR = Wire<Model<"V1ServiceCIDR">>;
/** The kind ServiceCIDR of `networking.k8s.io/v1`. */
export const ServiceCIDR: Resource<ServiceCIDR> = kind(
  "networking.k8s.io/v1",
  "ServiceCIDR",
  "servicecidrs",
  "Cluster",
);

/** A part of the addresses behind a {@linkcode Service}. */
export type EndpointSlice = Wire<Model<"V1EndpointSlice">>;
/** The kind EndpointSlice of `discovery.k8s.io/v1`. */
export const EndpointSlice: Resource<EndpointSlice> = kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");

/** Permissions in the whole cluster. */
export type ClusterRole = Wire<Model<"V1ClusterRole">>;
/** The kind ClusterRole of `rbac.authorization.k8s.io/v1`. */
export const ClusterRole: Resource<ClusterRole> = kind(
  "rbac.authorization.k8s.io/v1",
  "ClusterRole",
  "clusterroles",
  "Cluster",
);

/** Who has a {@linkcode ClusterRole} in the whole cluster. */
export type ClusterRoleBinding = Wire<Model<"V1ClusterRoleBinding">>;
/** The kind ClusterRoleBinding of `rbac.authorization.k8s.io/v1`. */
export const ClusterRoleBinding: Resource<ClusterRoleBinding> = kind(
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding",
  "clusterrolebindings",
  "Cluster",
);

/** Permissions in one namespace. */
export type Role = Wire<Model<"V1Role">>;
/** The kind Role of `rbac.authorization.k8s.io/v1`. */
export const Role: Resource<Role> = kind("rbac.authorization.k8s.io/v1", "Role", "roles");

/** Who has a {@linkcode Role}, or a {@linkcode ClusterRole}, in one namespace. */
export type RoleBinding = Wire<Model<"V1RoleBinding">>;
/** The kind RoleBinding of `rbac.authorization.k8s.io/v1`. */
export const RoleBinding: Resource<RoleBinding> = kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");

/** A lock with a holder and a time; leaders are elected with it. */
export type Lease = Wire<Model<"V1Lease">>;
/** The kind Lease of `coordination.k8s.io/v1`. */
export const Lease: Resource<Lease> = kind("coordination.k8s.io/v1", "Lease", "leases");

/** A note on what happened to an object. */
export type Event = Wire<Model<"EventsV1Event">>;
/** The kind Event of `events.k8s.io/v1`. */
export const Event: Resource<Event> = kind("events.k8s.io/v1", "Event", "events");

/** What a storage driver can do. */
export type CSIDriver = Wire<Model<"V1CSIDriver">>;
/** The kind CSIDriver of `storage.k8s.io/v1`. */
export const CSIDriver: Resource<CSIDriver> = kind("storage.k8s.io/v1", "CSIDriver", "csidrivers", "Cluster");

/** The storage drivers on a node. */
export type CSINode = Wire<Model<"V1CSINode">>;
/** The kind CSINode of `storage.k8s.io/v1`. */
export const CSINode: Resource<CSINode> = kind("storage.k8s.io/v1", "CSINode", "csinodes", "Cluster");

/** How much storage is left to one class in one place. */
export type CSIStorageCapacity = Wire<Model<"V1CSIStorageCapacity">>;
/** The kind CSIStorageCapacity of `storage.k8s.io/v1`. */
export const CSIStorageCapacity: Resource<CSIStorageCapacity> = kind(
  "storage.k8s.io/v1",
  "CSIStorageCapacity",
  "csistoragecapacities",
);

/** A way to provision a {@linkcode PersistentVolume}. */
export type StorageClass = Wire<Model<"V1StorageClass">>;
/** The kind StorageClass of `storage.k8s.io/v1`. */
export const StorageClass: Resource<StorageClass> = kind(
  "storage.k8s.io/v1",
  "StorageClass",
  "storageclasses",
  "Cluster",
);

/** A volume that is, or shall be, attached to a node. */
export type VolumeAttachment = Wire<Model<"V1VolumeAttachment">>;
/** The kind VolumeAttachment of `storage.k8s.io/v1`. */
export const VolumeAttachment: Resource<VolumeAttachment> = kind(
  "storage.k8s.io/v1",
  "VolumeAttachment",
  "volumeattachments",
  "Cluster",
);

/** Settings of a volume that can change in its life. */
export type VolumeAttributesClass = Wire<Model<"V1VolumeAttributesClass">>;
/** The kind VolumeAttributesClass of `storage.k8s.io/v1`. */
export const VolumeAttributesClass: Resource<VolumeAttributesClass> = kind(
  "storage.k8s.io/v1",
  "VolumeAttributesClass",
  "volumeattributesclasses",
  "Cluster",
);

/** How important Pods are against others. */
export type PriorityClass = Wire<Model<"V1PriorityClass">>;
/** The kind PriorityClass of `scheduling.k8s.io/v1`. */
export const PriorityClass: Resource<PriorityClass> = kind(
  "scheduling.k8s.io/v1",
  "PriorityClass",
  "priorityclasses",
  "Cluster",
);

/** A container runtime to run Pods with. */
export type RuntimeClass = Wire<Model<"V1RuntimeClass">>;
/** The kind RuntimeClass of `node.k8s.io/v1`. */
export const RuntimeClass: Resource<RuntimeClass> = kind("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", "Cluster");

/** A class of devices to claim. */
export type DeviceClass = Wire<Model<"V1DeviceClass">>;
/** The kind DeviceClass of `resource.k8s.io/v1`. */
export const DeviceClass: Resource<DeviceClass> = kind("resource.k8s.io/v1", "DeviceClass", "deviceclasses", "Cluster");

/** A request for devices. */
export type ResourceClaim = Wire<Model<"ResourceV1ResourceClaim">>;
/** The kind ResourceClaim of `resource.k8s.io/v1`. */
export const ResourceClaim: Resource<ResourceClaim> = kind("resource.k8s.io/v1", "ResourceClaim", "resourceclaims");

/** A {@linkcode ResourceClaim} to be made for each Pod. */
export type ResourceClaimTemplate = Wire<Model<"V1ResourceClaimTemplate">>;
/** The kind ResourceClaimTemplate of `resource.k8s.io/v1`. */
export const ResourceClaimTemplate: Resource<ResourceClaimTemplate> = kind(
  "resource.k8s.io/v1",
  "ResourceClaimTemplate",
  "resourceclaimtemplates",
);

/** The devices that a driver has on a node. */
export type ResourceSlice = Wire<Model<"V1ResourceSlice">>;
/** The kind ResourceSlice of `resource.k8s.io/v1`. */
export const ResourceSlice: Resource<ResourceSlice> = kind(
  "resource.k8s.io/v1",
  "ResourceSlice",
  "resourceslices",
  "Cluster",
);

/** A request for an X.509 certificate. */
export type CertificateSigningRequest = Wire<Model<"V1CertificateSigningRequest">>;
/** The kind CertificateSigningRequest of `certificates.k8s.io/v1`. */
export const CertificateSigningRequest: Resource<CertificateSigningRequest> = kind(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "certificatesigningrequests",
  "Cluster",
);

/** A kind that the cluster learns to serve. */
export type CustomResourceDefinition = Wire<Model<"V1CustomResourceDefinition">>;
/** The kind CustomResourceDefinition of `apiextensions.k8s.io/v1`. */
export const CustomResourceDefinition: Resource<CustomResourceDefinition> = kind(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
  "Cluster",
);

/** A group and version that another server serves. */
export type APIService = Wire<Model<"V1APIService">>;
/** The kind APIService of `apiregistration.k8s.io/v1`. */
export const APIService: Resource<APIService> = kind(
  "apiregistration.k8s.io/v1",
  "APIService",
  "apiservices",
  "Cluster",
);

/** Changes to requests, by expressions; served as `v1` since Kubernetes 1.36. */
export type MutatingAdmissionPolicy = Wire<Model<"V1MutatingAdmissionPolicy">>;
/** The kind MutatingAdmissionPolicy of `admissionregistration.k8s.io/v1`. */
export const MutatingAdmissionPolicy: Resource<MutatingAdmissionPolicy> = kind(
  "admissionregistration.k8s.io/v1",
  "MutatingAdmissionPolicy",
  "mutatingadmissionpolicies",
  "Cluster",
);

/** Where a {@linkcode MutatingAdmissionPolicy} holds. */
export type MutatingAdmissionPolicyBinding = Wire<Model<"V1MutatingAdmissionPolicyBinding">>;
/** The kind MutatingAdmissionPolicyBinding of `admissionregistration.k8s.io/v1`. */
export const MutatingAdmissionPolicyBinding: Resource<MutatingAdmissionPolicyBinding> = kind(
  "admissionregistration.k8s.io/v1",
  "MutatingAdmissionPolicyBinding",
  "mutatingadmissionpolicybindings",
  "Cluster",
);

/** Webhooks that may change requests. */
export type MutatingWebhookConfiguration = Wire<Model<"V1MutatingWebhookConfiguration">>;
/** The kind MutatingWebhookConfiguration of `admissionregistration.k8s.io/v1`. */
export const MutatingWebhookConfiguration: Resource<MutatingWebhookConfiguration> = kind(
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
  "Cluster",
);

/** Rules for requests, by expressions. */
export type ValidatingAdmissionPolicy = Wire<Model<"V1ValidatingAdmissionPolicy">>;
/** The kind ValidatingAdmissionPolicy of `admissionregistration.k8s.io/v1`. */
export const ValidatingAdmissionPolicy: Resource<ValidatingAdmissionPolicy> = kind(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
  "Cluster",
);

/** Where a {@linkcode ValidatingAdmissionPolicy} holds. */
export type ValidatingAdmissionPolicyBinding = Wire<Model<"V1ValidatingAdmissionPolicyBinding">>;
/** The kind ValidatingAdmissionPolicyBinding of `admissionregistration.k8s.io/v1`. */
export const ValidatingAdmissionPolicyBinding: Resource<ValidatingAdmissionPolicyBinding> = kind(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicyBinding",
  "validatingadmissionpolicybindings",
  "Cluster",
);

/** Webhooks that may refuse requests. */
export type ValidatingWebhookConfiguration = Wire<Model<"V1ValidatingWebhookConfiguration">>;
/** The kind ValidatingWebhookConfiguration of `admissionregistration.k8s.io/v1`. */
export const ValidatingWebhookConfiguration: Resource<ValidatingWebhookConfiguration> = kind(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
  "Cluster",
);

/** Which requests share a priority level. */
export type FlowSchema = Wire<Model<"V1FlowSchema">>;
/** The kind FlowSchema of `flowcontrol.apiserver.k8s.io/v1`. */
export const FlowSchema: Resource<FlowSchema> = kind(
  "flowcontrol.apiserver.k8s.io/v1",
  "FlowSchema",
  "flowschemas",
  "Cluster",
);

/** How much of the API server some requests may take. */
export type PriorityLevelConfiguration = Wire<Model<"V1PriorityLevelConfiguration">>;
/** The kind PriorityLevelConfiguration of `flowcontrol.apiserver.k8s.io/v1`. */
export const PriorityLevelConfiguration: Resource<PriorityLevelConfiguration> = kind(
  "flowcontrol.apiserver.k8s.io/v1",
  "PriorityLevelConfiguration",
  "prioritylevelconfigurations",
  "Cluster",
);
