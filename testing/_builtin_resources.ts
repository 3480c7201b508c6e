/**
 * Lists the built-in groups and resources: written by tools/builtin_resources.ts from a real kube-apiserver, not to be edited.
 *
 * ```ts
 * import { BUILTIN_GROUPS } from "./_builtin_resources.ts";
 *
 * console.assert(BUILTIN_GROUPS[0]?.name === "");
 * ```
 *
 * @module
 */
import type { GroupData } from "./_group_data.ts";

/** Groups in the order of discovery, with their versions, the preferred one first. */
export const BUILTIN_GROUPS: readonly GroupData[] = [
  {
    "name": "",
    "versions": [
      {
        "version": "v1",
        "priority": [
          18000,
          1,
        ],
        "resources": [
          {
            "name": "bindings",
            "singularName": "binding",
            "kind": "Binding",
            "namespaced": true,
            "verbs": [
              "create",
            ],
          },
          {
            "name": "componentstatuses",
            "singularName": "componentstatus",
            "kind": "ComponentStatus",
            "verbs": [
              "get",
              "list",
            ],
            "shortNames": [
              "cs",
            ],
          },
          {
            "name": "configmaps",
            "singularName": "configmap",
            "kind": "ConfigMap",
            "namespaced": true,
            "shortNames": [
              "cm",
            ],
            "hash": "qFsyl6wFWjQ=",
          },
          {
            "name": "endpoints",
            "singularName": "endpoints",
            "kind": "Endpoints",
            "namespaced": true,
            "shortNames": [
              "ep",
            ],
            "hash": "fWeeMqaN/OA=",
          },
          {
            "name": "events",
            "singularName": "event",
            "kind": "Event",
            "namespaced": true,
            "shortNames": [
              "ev",
            ],
            "hash": "r2yiGXH7wu8=",
          },
          {
            "name": "limitranges",
            "singularName": "limitrange",
            "kind": "LimitRange",
            "namespaced": true,
            "shortNames": [
              "limits",
            ],
            "hash": "EBKMFVe6cwo=",
          },
          {
            "name": "namespaces",
            "singularName": "namespace",
            "kind": "Namespace",
            "verbs": [
              "create",
              "delete",
              "get",
              "list",
              "patch",
              "update",
              "watch",
            ],
            "shortNames": [
              "ns",
            ],
            "hash": "Q3oi5N2YM8M=",
          },
          {
            "name": "namespaces/finalize",
            "kind": "Namespace",
            "verbs": [
              "update",
            ],
          },
          {
            "name": "namespaces/status",
            "kind": "Namespace",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "nodes",
            "singularName": "node",
            "kind": "Node",
            "shortNames": [
              "no",
            ],
            "hash": "XwShjMxG9Fs=",
          },
          {
            "name": "nodes/proxy",
            "kind": "NodeProxyOptions",
            "verbs": [
              "create",
              "delete",
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "nodes/status",
            "kind": "Node",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "persistentvolumeclaims",
            "singularName": "persistentvolumeclaim",
            "kind": "PersistentVolumeClaim",
            "namespaced": true,
            "shortNames": [
              "pvc",
            ],
            "hash": "QWTyNDq0dC4=",
          },
          {
            "name": "persistentvolumeclaims/status",
            "kind": "PersistentVolumeClaim",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "persistentvolumes",
            "singularName": "persistentvolume",
            "kind": "PersistentVolume",
            "shortNames": [
              "pv",
            ],
            "hash": "HN/zwEC+JgM=",
          },
          {
            "name": "persistentvolumes/status",
            "kind": "PersistentVolume",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "pods",
            "singularName": "pod",
            "kind": "Pod",
            "namespaced": true,
            "shortNames": [
              "po",
            ],
            "categories": [
              "all",
            ],
            "hash": "xPOwRZ+Yhw8=",
          },
          {
            "name": "pods/attach",
            "kind": "PodAttachOptions",
            "namespaced": true,
            "verbs": [
              "create",
              "get",
            ],
          },
          {
            "name": "pods/binding",
            "kind": "Binding",
            "namespaced": true,
            "verbs": [
              "create",
            ],
          },
          {
            "name": "pods/ephemeralcontainers",
            "kind": "Pod",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "pods/eviction",
            "kind": "Eviction",
            "namespaced": true,
            "verbs": [
              "create",
            ],
            "group": "policy",
            "version": "v1",
          },
          {
            "name": "pods/exec",
            "kind": "PodExecOptions",
            "namespaced": true,
            "verbs": [
              "create",
              "get",
            ],
          },
          {
            "name": "pods/log",
            "kind": "Pod",
            "namespaced": true,
            "verbs": [
              "get",
            ],
          },
          {
            "name": "pods/portforward",
            "kind": "PodPortForwardOptions",
            "namespaced": true,
            "verbs": [
              "create",
              "get",
            ],
          },
          {
            "name": "pods/proxy",
            "kind": "PodProxyOptions",
            "namespaced": true,
            "verbs": [
              "create",
              "delete",
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "pods/resize",
            "kind": "Pod",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "pods/status",
            "kind": "Pod",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "podtemplates",
            "singularName": "podtemplate",
            "kind": "PodTemplate",
            "namespaced": true,
            "hash": "LIXB2x4IFpk=",
          },
          {
            "name": "replicationcontrollers",
            "singularName": "replicationcontroller",
            "kind": "ReplicationController",
            "namespaced": true,
            "shortNames": [
              "rc",
            ],
            "categories": [
              "all",
            ],
            "hash": "Jond2If31h0=",
          },
          {
            "name": "replicationcontrollers/scale",
            "kind": "Scale",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
            "group": "autoscaling",
            "version": "v1",
          },
          {
            "name": "replicationcontrollers/status",
            "kind": "ReplicationController",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "resourcequotas",
            "singularName": "resourcequota",
            "kind": "ResourceQuota",
            "namespaced": true,
            "shortNames": [
              "quota",
            ],
            "hash": "8uhSgffRX6w=",
          },
          {
            "name": "resourcequotas/status",
            "kind": "ResourceQuota",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "secrets",
            "singularName": "secret",
            "kind": "Secret",
            "namespaced": true,
            "hash": "S6u1pOWzb84=",
          },
          {
            "name": "serviceaccounts",
            "singularName": "serviceaccount",
            "kind": "ServiceAccount",
            "namespaced": true,
            "shortNames": [
              "sa",
            ],
            "hash": "pbx9ZvyFpBE=",
          },
          {
            "name": "serviceaccounts/token",
            "kind": "TokenRequest",
            "namespaced": true,
            "verbs": [
              "create",
            ],
            "group": "authentication.k8s.io",
            "version": "v1",
          },
          {
            "name": "services",
            "singularName": "service",
            "kind": "Service",
            "namespaced": true,
            "shortNames": [
              "svc",
            ],
            "categories": [
              "all",
            ],
            "hash": "0/CO1lhkEBI=",
          },
          {
            "name": "services/proxy",
            "kind": "ServiceProxyOptions",
            "namespaced": true,
            "verbs": [
              "create",
              "delete",
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "services/status",
            "kind": "Service",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "apiregistration.k8s.io",
    "versions": [
      {
        "version": "v1",
        "resources": [
          {
            "name": "apiservices",
            "singularName": "apiservice",
            "kind": "APIService",
            "categories": [
              "api-extensions",
            ],
            "hash": "InPBPD7+PqM=",
          },
          {
            "name": "apiservices/status",
            "kind": "APIService",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "apps",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17800,
          15,
        ],
        "resources": [
          {
            "name": "controllerrevisions",
            "singularName": "controllerrevision",
            "kind": "ControllerRevision",
            "namespaced": true,
            "hash": "85nkx63pcBU=",
          },
          {
            "name": "daemonsets",
            "singularName": "daemonset",
            "kind": "DaemonSet",
            "namespaced": true,
            "shortNames": [
              "ds",
            ],
            "categories": [
              "all",
            ],
            "hash": "dd7pWHUlMKQ=",
          },
          {
            "name": "daemonsets/status",
            "kind": "DaemonSet",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "deployments",
            "singularName": "deployment",
            "kind": "Deployment",
            "namespaced": true,
            "shortNames": [
              "deploy",
            ],
            "categories": [
              "all",
            ],
            "hash": "8aSe+NMegvE=",
          },
          {
            "name": "deployments/scale",
            "kind": "Scale",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
            "group": "autoscaling",
            "version": "v1",
          },
          {
            "name": "deployments/status",
            "kind": "Deployment",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "replicasets",
            "singularName": "replicaset",
            "kind": "ReplicaSet",
            "namespaced": true,
            "shortNames": [
              "rs",
            ],
            "categories": [
              "all",
            ],
            "hash": "P1RzHs8/mWQ=",
          },
          {
            "name": "replicasets/scale",
            "kind": "Scale",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
            "group": "autoscaling",
            "version": "v1",
          },
          {
            "name": "replicasets/status",
            "kind": "ReplicaSet",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "statefulsets",
            "singularName": "statefulset",
            "kind": "StatefulSet",
            "namespaced": true,
            "shortNames": [
              "sts",
            ],
            "categories": [
              "all",
            ],
            "hash": "H+vl74LkKdo=",
          },
          {
            "name": "statefulsets/scale",
            "kind": "Scale",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
            "group": "autoscaling",
            "version": "v1",
          },
          {
            "name": "statefulsets/status",
            "kind": "StatefulSet",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "events.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17750,
          15,
        ],
        "resources": [
          {
            "name": "events",
            "singularName": "event",
            "kind": "Event",
            "namespaced": true,
            "shortNames": [
              "ev",
            ],
            "hash": "r2yiGXH7wu8=",
          },
        ],
      },
    ],
  },
  {
    "name": "authentication.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17700,
          15,
        ],
        "resources": [
          {
            "name": "selfsubjectreviews",
            "singularName": "selfsubjectreview",
            "kind": "SelfSubjectReview",
            "verbs": [
              "create",
            ],
          },
          {
            "name": "tokenreviews",
            "singularName": "tokenreview",
            "kind": "TokenReview",
            "verbs": [
              "create",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "authorization.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17600,
          15,
        ],
        "resources": [
          {
            "name": "localsubjectaccessreviews",
            "singularName": "localsubjectaccessreview",
            "kind": "LocalSubjectAccessReview",
            "namespaced": true,
            "verbs": [
              "create",
            ],
          },
          {
            "name": "selfsubjectaccessreviews",
            "singularName": "selfsubjectaccessreview",
            "kind": "SelfSubjectAccessReview",
            "verbs": [
              "create",
            ],
          },
          {
            "name": "selfsubjectrulesreviews",
            "singularName": "selfsubjectrulesreview",
            "kind": "SelfSubjectRulesReview",
            "verbs": [
              "create",
            ],
          },
          {
            "name": "subjectaccessreviews",
            "singularName": "subjectaccessreview",
            "kind": "SubjectAccessReview",
            "verbs": [
              "create",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "autoscaling",
    "versions": [
      {
        "version": "v2",
        "priority": [
          17500,
          30,
        ],
        "resources": [
          {
            "name": "horizontalpodautoscalers",
            "singularName": "horizontalpodautoscaler",
            "kind": "HorizontalPodAutoscaler",
            "namespaced": true,
            "shortNames": [
              "hpa",
            ],
            "categories": [
              "all",
            ],
            "hash": "qwQve8ut294=",
          },
          {
            "name": "horizontalpodautoscalers/status",
            "kind": "HorizontalPodAutoscaler",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
      {
        "version": "v1",
        "priority": [
          17500,
          15,
        ],
        "resources": [
          {
            "name": "horizontalpodautoscalers",
            "singularName": "horizontalpodautoscaler",
            "kind": "HorizontalPodAutoscaler",
            "namespaced": true,
            "shortNames": [
              "hpa",
            ],
            "categories": [
              "all",
            ],
            "hash": "qwQve8ut294=",
          },
          {
            "name": "horizontalpodautoscalers/status",
            "kind": "HorizontalPodAutoscaler",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "batch",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17400,
          15,
        ],
        "resources": [
          {
            "name": "cronjobs",
            "singularName": "cronjob",
            "kind": "CronJob",
            "namespaced": true,
            "shortNames": [
              "cj",
            ],
            "categories": [
              "all",
            ],
            "hash": "sd5LIXh4Fjs=",
          },
          {
            "name": "cronjobs/status",
            "kind": "CronJob",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "jobs",
            "singularName": "job",
            "kind": "Job",
            "namespaced": true,
            "categories": [
              "all",
            ],
            "hash": "mudhfqk/qZY=",
          },
          {
            "name": "jobs/status",
            "kind": "Job",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "certificates.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17300,
          15,
        ],
        "resources": [
          {
            "name": "certificatesigningrequests",
            "singularName": "certificatesigningrequest",
            "kind": "CertificateSigningRequest",
            "shortNames": [
              "csr",
            ],
            "hash": "95fRKMXA+00=",
          },
          {
            "name": "certificatesigningrequests/approval",
            "kind": "CertificateSigningRequest",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "certificatesigningrequests/status",
            "kind": "CertificateSigningRequest",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "clustertrustbundles",
            "singularName": "clustertrustbundle",
            "kind": "ClusterTrustBundle",
            "hash": "v5yhuVertL4=",
          },
          {
            "name": "podcertificaterequests",
            "singularName": "podcertificaterequest",
            "kind": "PodCertificateRequest",
            "namespaced": true,
            "hash": "wYA9yXQH8fg=",
          },
          {
            "name": "podcertificaterequests/status",
            "kind": "PodCertificateRequest",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "networking.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17200,
          15,
        ],
        "resources": [
          {
            "name": "ingressclasses",
            "singularName": "ingressclass",
            "kind": "IngressClass",
            "hash": "l/iqIbDgFyQ=",
          },
          {
            "name": "ingresses",
            "singularName": "ingress",
            "kind": "Ingress",
            "namespaced": true,
            "shortNames": [
              "ing",
            ],
            "hash": "39NQlfNR+bo=",
          },
          {
            "name": "ingresses/status",
            "kind": "Ingress",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "ipaddresses",
            "singularName": "ipaddress",
            "kind": "IPAddress",
            "shortNames": [
              "ip",
            ],
            "hash": "3f/plJFChNE=",
          },
          {
            "name": "networkpolicies",
            "singularName": "networkpolicy",
            "kind": "NetworkPolicy",
            "namespaced": true,
            "shortNames": [
              "netpol",
            ],
            "hash": "YpfwF18m1G8=",
          },
          {
            "name": "servicecidrs",
            "singularName": "servicecidr",
            "kind": "ServiceCIDR",
            "hash": "gNLvruQhW2g=",
          },
          {
            "name": "servicecidrs/status",
            "kind": "ServiceCIDR",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "policy",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17100,
          15,
        ],
        "resources": [
          {
            "name": "poddisruptionbudgets",
            "singularName": "poddisruptionbudget",
            "kind": "PodDisruptionBudget",
            "namespaced": true,
            "shortNames": [
              "pdb",
            ],
            "hash": "EVWiDmWqyJw=",
          },
          {
            "name": "poddisruptionbudgets/status",
            "kind": "PodDisruptionBudget",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "rbac.authorization.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          17000,
          15,
        ],
        "resources": [
          {
            "name": "clusterrolebindings",
            "singularName": "clusterrolebinding",
            "kind": "ClusterRoleBinding",
            "hash": "48tpQ8gZHFc=",
          },
          {
            "name": "clusterroles",
            "singularName": "clusterrole",
            "kind": "ClusterRole",
            "hash": "bYE5ZWDrJ44=",
          },
          {
            "name": "rolebindings",
            "singularName": "rolebinding",
            "kind": "RoleBinding",
            "namespaced": true,
            "hash": "eGsCzGH6b1g=",
          },
          {
            "name": "roles",
            "singularName": "role",
            "kind": "Role",
            "namespaced": true,
            "hash": "7FuwZcIIItM=",
          },
        ],
      },
    ],
  },
  {
    "name": "storage.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16800,
          15,
        ],
        "resources": [
          {
            "name": "csidrivers",
            "singularName": "csidriver",
            "kind": "CSIDriver",
            "hash": "hL6j/rwBV5w=",
          },
          {
            "name": "csinodes",
            "singularName": "csinode",
            "kind": "CSINode",
            "hash": "Pe62DkZtjuo=",
          },
          {
            "name": "csinodes/status",
            "kind": "CSINode",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "csistoragecapacities",
            "singularName": "csistoragecapacity",
            "kind": "CSIStorageCapacity",
            "namespaced": true,
            "hash": "xeVl+2Ly1kE=",
          },
          {
            "name": "storageclasses",
            "singularName": "storageclass",
            "kind": "StorageClass",
            "shortNames": [
              "sc",
            ],
            "hash": "K+m6uJwbjGY=",
          },
          {
            "name": "volumeattachments",
            "singularName": "volumeattachment",
            "kind": "VolumeAttachment",
            "hash": "tJx/ezt6UDU=",
          },
          {
            "name": "volumeattachments/status",
            "kind": "VolumeAttachment",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "volumeattributesclasses",
            "singularName": "volumeattributesclass",
            "kind": "VolumeAttributesClass",
            "shortNames": [
              "vac",
            ],
            "hash": "tIjydgKBC5w=",
          },
        ],
      },
    ],
  },
  {
    "name": "admissionregistration.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16700,
          15,
        ],
        "resources": [
          {
            "name": "mutatingadmissionpolicies",
            "singularName": "mutatingadmissionpolicy",
            "kind": "MutatingAdmissionPolicy",
            "categories": [
              "api-extensions",
            ],
            "hash": "mHCkTKpUTrE=",
          },
          {
            "name": "mutatingadmissionpolicybindings",
            "singularName": "mutatingadmissionpolicybinding",
            "kind": "MutatingAdmissionPolicyBinding",
            "categories": [
              "api-extensions",
            ],
            "hash": "ZKgZT1uTmZ0=",
          },
          {
            "name": "mutatingwebhookconfigurations",
            "singularName": "mutatingwebhookconfiguration",
            "kind": "MutatingWebhookConfiguration",
            "categories": [
              "api-extensions",
            ],
            "hash": "Sqi0GUgDaX0=",
          },
          {
            "name": "validatingadmissionpolicies",
            "singularName": "validatingadmissionpolicy",
            "kind": "ValidatingAdmissionPolicy",
            "categories": [
              "api-extensions",
            ],
            "hash": "6OxvlMmQ6is=",
          },
          {
            "name": "validatingadmissionpolicies/status",
            "kind": "ValidatingAdmissionPolicy",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "validatingadmissionpolicybindings",
            "singularName": "validatingadmissionpolicybinding",
            "kind": "ValidatingAdmissionPolicyBinding",
            "categories": [
              "api-extensions",
            ],
            "hash": "v9715VZqakg=",
          },
          {
            "name": "validatingwebhookconfigurations",
            "singularName": "validatingwebhookconfiguration",
            "kind": "ValidatingWebhookConfiguration",
            "categories": [
              "api-extensions",
            ],
            "hash": "B0wHjQmsGNk=",
          },
        ],
      },
    ],
  },
  {
    "name": "apiextensions.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16700,
          15,
        ],
        "resources": [
          {
            "name": "customresourcedefinitions",
            "singularName": "customresourcedefinition",
            "kind": "CustomResourceDefinition",
            "shortNames": [
              "crd",
              "crds",
            ],
            "categories": [
              "api-extensions",
            ],
            "hash": "jfWCUB31mvA=",
          },
          {
            "name": "customresourcedefinitions/status",
            "kind": "CustomResourceDefinition",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "scheduling.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16600,
          15,
        ],
        "resources": [
          {
            "name": "priorityclasses",
            "singularName": "priorityclass",
            "kind": "PriorityClass",
            "shortNames": [
              "pc",
            ],
            "hash": "1QwjyaZjj3Y=",
          },
        ],
      },
    ],
  },
  {
    "name": "coordination.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16500,
          15,
        ],
        "resources": [
          {
            "name": "leases",
            "singularName": "lease",
            "kind": "Lease",
            "namespaced": true,
            "hash": "gqkMMb/YqFM=",
          },
        ],
      },
    ],
  },
  {
    "name": "node.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16300,
          15,
        ],
        "resources": [
          {
            "name": "runtimeclasses",
            "singularName": "runtimeclass",
            "kind": "RuntimeClass",
            "hash": "WQTu1GL3T2Q=",
          },
        ],
      },
    ],
  },
  {
    "name": "discovery.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16200,
          15,
        ],
        "resources": [
          {
            "name": "endpointslices",
            "singularName": "endpointslice",
            "kind": "EndpointSlice",
            "namespaced": true,
            "hash": "qgS0xkrxYAI=",
          },
        ],
      },
    ],
  },
  {
    "name": "resource.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16200,
          21,
        ],
        "resources": [
          {
            "name": "deviceclasses",
            "singularName": "deviceclass",
            "kind": "DeviceClass",
            "hash": "Yk2PTc1Ybxk=",
          },
          {
            "name": "devicetaintrules",
            "singularName": "devicetaintrule",
            "kind": "DeviceTaintRule",
            "hash": "i+85+TcIKpA=",
          },
          {
            "name": "devicetaintrules/status",
            "kind": "DeviceTaintRule",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "resourceclaims",
            "singularName": "resourceclaim",
            "kind": "ResourceClaim",
            "namespaced": true,
            "hash": "wgAZaHcZxUg=",
          },
          {
            "name": "resourceclaims/status",
            "kind": "ResourceClaim",
            "namespaced": true,
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "resourceclaimtemplates",
            "singularName": "resourceclaimtemplate",
            "kind": "ResourceClaimTemplate",
            "namespaced": true,
            "hash": "TuzjC49aUfM=",
          },
          {
            "name": "resourceslices",
            "singularName": "resourceslice",
            "kind": "ResourceSlice",
            "hash": "KsC072WgaEY=",
          },
        ],
      },
    ],
  },
  {
    "name": "flowcontrol.apiserver.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          16100,
          21,
        ],
        "resources": [
          {
            "name": "flowschemas",
            "singularName": "flowschema",
            "kind": "FlowSchema",
            "hash": "GJVAJZSZBIw=",
          },
          {
            "name": "flowschemas/status",
            "kind": "FlowSchema",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
          {
            "name": "prioritylevelconfigurations",
            "singularName": "prioritylevelconfiguration",
            "kind": "PriorityLevelConfiguration",
            "hash": "Kir5PVfvNeI=",
          },
          {
            "name": "prioritylevelconfigurations/status",
            "kind": "PriorityLevelConfiguration",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
  {
    "name": "storagemigration.k8s.io",
    "versions": [
      {
        "version": "v1",
        "priority": [
          15800,
          15,
        ],
        "resources": [
          {
            "name": "storageversionmigrations",
            "singularName": "storageversionmigration",
            "kind": "StorageVersionMigration",
            "hash": "pCjmmKOkLy4=",
          },
          {
            "name": "storageversionmigrations/status",
            "kind": "StorageVersionMigration",
            "verbs": [
              "get",
              "patch",
              "update",
            ],
          },
        ],
      },
    ],
  },
];
