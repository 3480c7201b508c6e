/**
 * Lists the roles and bindings that a cluster starts with: written by tools/bootstrap_roles.ts from a real kube-apiserver, not to be edited.
 *
 * ```ts
 * import { BOOTSTRAP_ROLES } from "./_bootstrap_roles.ts";
 *
 * console.assert(BOOTSTRAP_ROLES[0]?.name === "cluster-admin");
 * ```
 *
 * @module
 */

/** A ClusterRole. */
export interface BootstrapRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly Readonly<Record<string, readonly string[]>>[];
}

/** A ClusterRoleBinding of the role with its name. */
export interface BootstrapBinding {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly subjects: readonly Readonly<Record<string, string>>[];
}

/** The roles. */
export const BOOTSTRAP_ROLES: readonly BootstrapRole[] = [
  {
    "name": "cluster-admin",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "rules": [
      {
        "verbs": [
          "*",
        ],
        "apiGroups": [
          "*",
        ],
        "resources": [
          "*",
        ],
      },
      {
        "verbs": [
          "*",
        ],
        "nonResourceURLs": [
          "*",
        ],
      },
    ],
  },
  {
    "name": "system:aggregate-to-admin",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
      "rbac.authorization.k8s.io/aggregate-to-admin": "true",
    },
    "rules": [
      {
        "verbs": [
          "create",
        ],
        "apiGroups": [
          "authorization.k8s.io",
        ],
        "resources": [
          "localsubjectaccessreviews",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ],
        "apiGroups": [
          "rbac.authorization.k8s.io",
        ],
        "resources": [
          "rolebindings",
          "roles",
        ],
      },
    ],
  },
  {
    "name": "system:aggregate-to-edit",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
      "rbac.authorization.k8s.io/aggregate-to-edit": "true",
    },
    "rules": [
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "pods/attach",
          "pods/exec",
          "pods/portforward",
          "pods/proxy",
          "secrets",
          "services/proxy",
        ],
      },
      {
        "verbs": [
          "impersonate",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "serviceaccounts",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "pods",
          "pods/attach",
          "pods/exec",
          "pods/portforward",
          "pods/proxy",
        ],
      },
      {
        "verbs": [
          "create",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "pods/eviction",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "configmaps",
          "persistentvolumeclaims",
          "replicationcontrollers",
          "replicationcontrollers/scale",
          "secrets",
          "serviceaccounts",
          "services",
          "services/proxy",
        ],
      },
      {
        "verbs": [
          "create",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "serviceaccounts/token",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "",
          "events.k8s.io",
        ],
        "resources": [
          "events",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "apps",
        ],
        "resources": [
          "daemonsets",
          "deployments",
          "deployments/rollback",
          "deployments/scale",
          "replicasets",
          "replicasets/scale",
          "statefulsets",
          "statefulsets/scale",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "autoscaling",
        ],
        "resources": [
          "horizontalpodautoscalers",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "batch",
        ],
        "resources": [
          "cronjobs",
          "jobs",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "extensions",
        ],
        "resources": [
          "daemonsets",
          "deployments",
          "deployments/rollback",
          "deployments/scale",
          "ingresses",
          "networkpolicies",
          "replicasets",
          "replicasets/scale",
          "replicationcontrollers/scale",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "policy",
        ],
        "resources": [
          "poddisruptionbudgets",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "networking.k8s.io",
        ],
        "resources": [
          "ingresses",
          "networkpolicies",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ],
        "apiGroups": [
          "coordination.k8s.io",
        ],
        "resources": [
          "leases",
        ],
      },
      {
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "patch",
          "update",
        ],
        "apiGroups": [
          "resource.k8s.io",
        ],
        "resources": [
          "resourceclaims",
          "resourceclaimtemplates",
        ],
      },
    ],
  },
  {
    "name": "system:aggregate-to-view",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
      "rbac.authorization.k8s.io/aggregate-to-view": "true",
    },
    "rules": [
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "configmaps",
          "endpoints",
          "persistentvolumeclaims",
          "persistentvolumeclaims/status",
          "pods",
          "replicationcontrollers",
          "replicationcontrollers/scale",
          "serviceaccounts",
          "services",
          "services/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "bindings",
          "limitranges",
          "namespaces/status",
          "pods/log",
          "pods/status",
          "replicationcontrollers/status",
          "resourcequotas",
          "resourcequotas/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "",
        ],
        "resources": [
          "namespaces",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "",
          "events.k8s.io",
        ],
        "resources": [
          "events",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "discovery.k8s.io",
        ],
        "resources": [
          "endpointslices",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "apps",
        ],
        "resources": [
          "controllerrevisions",
          "daemonsets",
          "daemonsets/status",
          "deployments",
          "deployments/scale",
          "deployments/status",
          "replicasets",
          "replicasets/scale",
          "replicasets/status",
          "statefulsets",
          "statefulsets/scale",
          "statefulsets/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "autoscaling",
        ],
        "resources": [
          "horizontalpodautoscalers",
          "horizontalpodautoscalers/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "batch",
        ],
        "resources": [
          "cronjobs",
          "cronjobs/status",
          "jobs",
          "jobs/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "extensions",
        ],
        "resources": [
          "daemonsets",
          "daemonsets/status",
          "deployments",
          "deployments/scale",
          "deployments/status",
          "ingresses",
          "ingresses/status",
          "networkpolicies",
          "replicasets",
          "replicasets/scale",
          "replicasets/status",
          "replicationcontrollers/scale",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "policy",
        ],
        "resources": [
          "poddisruptionbudgets",
          "poddisruptionbudgets/status",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "networking.k8s.io",
        ],
        "resources": [
          "ingresses",
          "ingresses/status",
          "networkpolicies",
        ],
      },
      {
        "verbs": [
          "get",
          "list",
          "watch",
        ],
        "apiGroups": [
          "resource.k8s.io",
        ],
        "resources": [
          "resourceclaims",
          "resourceclaims/status",
          "resourceclaimtemplates",
        ],
      },
    ],
  },
  {
    "name": "system:basic-user",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "rules": [
      {
        "verbs": [
          "create",
        ],
        "apiGroups": [
          "authorization.k8s.io",
        ],
        "resources": [
          "selfsubjectaccessreviews",
          "selfsubjectrulesreviews",
        ],
      },
      {
        "verbs": [
          "create",
        ],
        "apiGroups": [
          "authentication.k8s.io",
        ],
        "resources": [
          "selfsubjectreviews",
        ],
      },
    ],
  },
  {
    "name": "system:discovery",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "rules": [
      {
        "verbs": [
          "get",
        ],
        "nonResourceURLs": [
          "/api",
          "/api/*",
          "/apis",
          "/apis/*",
          "/healthz",
          "/livez",
          "/openapi",
          "/openapi/*",
          "/readyz",
          "/version",
          "/version/",
        ],
      },
    ],
  },
  {
    "name": "system:public-info-viewer",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "rules": [
      {
        "verbs": [
          "get",
        ],
        "nonResourceURLs": [
          "/healthz",
          "/livez",
          "/readyz",
          "/version",
          "/version/",
        ],
      },
    ],
  },
];

/** The bindings. */
export const BOOTSTRAP_BINDINGS: readonly BootstrapBinding[] = [
  {
    "name": "cluster-admin",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "subjects": [
      {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:masters",
      },
    ],
  },
  {
    "name": "system:basic-user",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "subjects": [
      {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:authenticated",
      },
    ],
  },
  {
    "name": "system:discovery",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "subjects": [
      {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:authenticated",
      },
    ],
  },
  {
    "name": "system:public-info-viewer",
    "labels": {
      "kubernetes.io/bootstrapping": "rbac-defaults",
    },
    "subjects": [
      {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:authenticated",
      },
      {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:unauthenticated",
      },
    ],
  },
];
