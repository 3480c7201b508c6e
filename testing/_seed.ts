/**
 * Stores what every cluster has from the start: the first APIServices, namespaces, roles and bindings.
 *
 * ```ts
 * import { FIRST_NAMESPACES } from "./_seed.ts";
 *
 * console.assert(FIRST_NAMESPACES.includes("default"));
 * ```
 *
 * @module
 */
import { seedApiServices } from "./_api_services.ts";
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from "./_bootstrap_roles.ts";
import type { ServerState } from "./_call.ts";
import { type Kube, timestamp } from "./_objects.ts";

/** The namespaces that are there from the start. */
export const FIRST_NAMESPACES: readonly string[] = ["default", "kube-system", "kube-public", "kube-node-lease"];

const RBAC = "rbac.authorization.k8s.io";

/** Roles whose rules a controller would gather from others, and what they are gathered into in turn. */
const AGGREGATED: readonly [name: string, into?: string][] = [["admin"], ["edit", "admin"], ["view", "edit"]];

/** The priorities that are there from the start. */
const PRIORITIES: readonly [name: string, value: number, description: string][] = [
  [
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ],
  [
    "system-node-critical",
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ],
];

/** Stores it. */
export function seed(server: ServerState): void {
  seedApiServices(server);
  const creationTimestamp = timestamp(server.now());
  const put = (storage: string, name: string, object: Omit<Kube, "metadata">, meta: object): void => {
    const metadata = { name, uid: server.uid(), creationTimestamp, ...meta };
    const { apiVersion, kind, ...rest } = object;
    server.store.collection(storage).put("", name, { apiVersion, kind, metadata, ...rest } as Kube);
  };
  for (const name of FIRST_NAMESPACES) {
    const rest = { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
    put("namespaces", name, { apiVersion: "v1", kind: "Namespace", ...rest }, {
      labels: { "kubernetes.io/metadata.name": name },
    });
  }
  for (const [name, value, description] of PRIORITIES) {
    const rest = { value, description, preemptionPolicy: "PreemptLowerPriority" };
    put("priorityclasses.scheduling.k8s.io", name, {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      ...rest,
    }, { generation: 1 });
  }
  const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
  const apiVersion = `${RBAC}/v1`;
  for (const { name, labels, rules } of BOOTSTRAP_ROLES) {
    put(`clusterroles.${RBAC}`, name, { apiVersion, kind: "ClusterRole", rules }, { annotations, labels });
  }
  for (const [name, into] of AGGREGATED) {
    const labels = {
      "kubernetes.io/bootstrapping": "rbac-defaults",
      ...(into === undefined ? {} : { [`${RBAC}/aggregate-to-${into}`]: "true" }),
    };
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [`${RBAC}/aggregate-to-${name}`]: "true" } }] };
    put(`clusterroles.${RBAC}`, name, { apiVersion, kind: "ClusterRole", rules: null, aggregationRule }, {
      annotations,
      labels,
    });
  }
  for (const { name, labels, subjects } of BOOTSTRAP_BINDINGS) {
    const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name };
    put(`clusterrolebindings.${RBAC}`, name, { apiVersion, kind: "ClusterRoleBinding", subjects, roleRef }, {
      annotations,
      labels,
    });
  }
}
