/**
 * Prints the cells of built-in kinds as `kubectl get` shows them.
 *
 * ```ts
 * import { CELLS } from "./_table_cells.ts";
 *
 * const map = { metadata: { name: "a" }, data: { k: "v" } };
 * console.assert(CELLS["v1 configmaps"]!(map, { age: "1s", now: new Date() })[1] === 1);
 * ```
 *
 * @module
 */
import { duration } from "./_ages.ts";
import { type CellContext, type Cells, count, isTrue, NONE, since, UNSET } from "./_cells_kit.ts";
import { NETWORK_CELLS } from "./_cells_network.ts";
import { STORAGE_CELLS } from "./_cells_storage.ts";
import { WORKLOAD_CELLS } from "./_cells_workloads.ts";
import type { Fields } from "./_objects.ts";

function subjects(list: Fields[] | undefined, kind: string): string {
  return (list ?? []).filter((each) => each.kind === kind)
    .map((each) => kind === "ServiceAccount" ? `${each.namespace}/${each.name}` : each.name).join(", ");
}

function binding({ metadata, roleRef = {}, subjects: list }: Fields, { age }: CellContext): unknown[] {
  const kinds = ["User", "Group", "ServiceAccount"].map((kind) => subjects(list, kind));
  return [metadata.name, `${roleRef.kind ?? ""}/${roleRef.name ?? ""}`, age, ...kinds];
}

function nodeStatus({ spec = {}, status = {} }: Fields): string {
  const ready = (status.conditions ?? []).find((each: Fields) => each.type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec.unschedulable ? `${text},SchedulingDisabled` : text;
}

const ROLE = "node-role.kubernetes.io/";

function nodeRoles(labels: Fields | undefined): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key.startsWith(ROLE)) roles.add(key.slice(ROLE.length));
    else if (key === "kubernetes.io/role" && value !== "") roles.add(value);
  }
  roles.delete("");
  return [...roles].sort().join(",") || NONE;
}

function node(object: Fields, { age }: CellContext): unknown[] {
  const { metadata, status = {} } = object;
  const address = (type: string): string =>
    (status.addresses ?? []).find((each: Fields) => each.type === type)?.address ?? NONE;
  const { kubeletVersion = "", osImage, kernelVersion, architecture, containerRuntimeVersion } = status.nodeInfo ?? {};
  return [
    metadata.name,
    nodeStatus(object),
    nodeRoles(metadata.labels),
    age,
    kubeletVersion,
    address("InternalIP"),
    address("ExternalIP"),
    osImage || "<unknown>",
    kernelVersion ? `${kernelVersion}${architecture ? ` (${architecture})` : ""}` : "<unknown>",
    containerRuntimeVersion || "<unknown>",
  ];
}

/** Events of both groups: `events.k8s.io` has other names for the same. */
function event(object: Fields, { now }: CellContext): unknown[] {
  const { metadata, type, reason, series, eventTime } = object;
  const about = object.involvedObject ?? object.regarding ?? {};
  const source = object.source ?? object.deprecatedSource ?? {};
  const message = object.message ?? object.note ?? "";
  const first = object.firstTimestamp || object.deprecatedFirstTimestamp || eventTime;
  const last = series?.lastObservedTime || object.lastTimestamp || object.deprecatedLastTimestamp || first;
  const component = source.component || object.reportingComponent || object.reportingController || "";
  const host = source.host || object.reportingInstance || "";
  const kind = String(about.kind ?? "").toLowerCase();
  return [
    since(last, now),
    type ?? "",
    reason ?? "",
    about.name ? `${kind}/${about.name}` : kind,
    about.fieldPath ?? "",
    host === "" ? component : `${component}, ${host}`,
    message.trim(),
    since(first, now),
    (series?.count ?? object.count ?? object.deprecatedCount) || 1,
    metadata.name,
  ];
}

function quota({ metadata, status = {} }: Fields, { age }: CellContext): unknown[] {
  const parts: Record<"requests" | "limits", string[]> = { requests: [], limits: [] };
  for (const name of Object.keys(status.hard ?? {}).sort()) {
    const column = name.startsWith("limits.") ? "limits" : "requests";
    parts[column].push(`${name}: ${status.used?.[name] ?? "0"}/${status.hard[name]}`);
  }
  return [metadata.name, parts.requests.join(", "), parts.limits.join(", "), age];
}

function signing({ metadata, spec = {}, status = {} }: Fields, { age }: CellContext): unknown[] {
  const types = new Set((status.conditions ?? []).map((each: Fields) => each.type));
  const words = types.has("Denied") ? ["Denied"] : types.has("Approved") ? ["Approved"] : ["Pending"];
  if (types.has("Failed")) words.push("Failed");
  if (status.certificate) words.push("Issued");
  const seconds = spec.expirationSeconds;
  const asked = seconds === undefined ? NONE : duration(seconds);
  return [metadata.name, age, spec.signerName || NONE, spec.username ?? "", asked, words.join(",")];
}

function webhooks({ metadata, webhooks: list }: Fields, { age }: CellContext): unknown[] {
  return [metadata.name, list?.length ?? 0, age];
}

function policy(member: string): Cells {
  return ({ metadata, spec = {} }, { age }) => {
    const { paramKind } = spec;
    const kind = paramKind ? `${paramKind.apiVersion}/${paramKind.kind}` : UNSET;
    return [metadata.name, spec[member]?.length ?? 0, kind, age];
  };
}

function policyBinding({ metadata, spec = {} }: Fields, { age }: CellContext): unknown[] {
  const { paramRef } = spec;
  const where = paramRef?.namespace ? `${paramRef.namespace}/` : "";
  const shown = !paramRef ? UNSET : paramRef.name ? `${where}${paramRef.name}` : "*";
  return [metadata.name, spec.policyName ?? "", shown, age];
}

function apiService({ metadata, spec = {}, status = {} }: Fields, { age }: CellContext): unknown[] {
  const { service } = spec;
  const where = service ? `${service.namespace ?? ""}/${service.name ?? ""}` : "Local";
  const available = (status.conditions ?? []).find((each: Fields) => each.type === "Available");
  const { status: state = "Unknown", reason } = available ?? {};
  return [metadata.name, where, reason && state !== "True" ? `${state} (${reason})` : state, age];
}

const aged: Cells = ({ metadata }, { age }) => [metadata.name, age];
const created: Cells = ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? null];

/** The cells by apiVersion and plural. */
export const CELLS: Readonly<Record<string, Cells>> = {
  ...WORKLOAD_CELLS,
  ...NETWORK_CELLS,
  ...STORAGE_CELLS,
  "v1 configmaps": ({ metadata, data, binaryData }, { age }) => [metadata.name, count(data) + count(binaryData), age],
  "v1 secrets": ({ metadata, type, data }, { age }) => [metadata.name, type ?? "", count(data), age],
  "v1 namespaces": ({ metadata, status }, { age }) => [metadata.name, status?.phase ?? "", age],
  "v1 serviceaccounts": aged,
  "v1 events": event,
  "events.k8s.io/v1 events": event,
  "v1 nodes": node,
  "v1 resourcequotas": quota,
  "rbac.authorization.k8s.io/v1 rolebindings": binding,
  "rbac.authorization.k8s.io/v1 clusterrolebindings": binding,
  "rbac.authorization.k8s.io/v1 roles": created,
  "rbac.authorization.k8s.io/v1 clusterroles": created,
  "coordination.k8s.io/v1 leases": ({ metadata, spec }, { age }) => [metadata.name, spec?.holderIdentity ?? "", age],
  "scheduling.k8s.io/v1 priorityclasses": ({ metadata, value, globalDefault, preemptionPolicy }, { age }) => [
    metadata.name,
    value ?? 0,
    globalDefault ?? false,
    age,
    preemptionPolicy ?? "",
  ],
  "node.k8s.io/v1 runtimeclasses": ({ metadata, handler }, { age }) => [metadata.name, handler ?? "", age],
  "certificates.k8s.io/v1 certificatesigningrequests": signing,
  "admissionregistration.k8s.io/v1 mutatingwebhookconfigurations": webhooks,
  "admissionregistration.k8s.io/v1 validatingwebhookconfigurations": webhooks,
  "admissionregistration.k8s.io/v1 validatingadmissionpolicies": policy("validations"),
  "admissionregistration.k8s.io/v1 mutatingadmissionpolicies": policy("mutations"),
  "admissionregistration.k8s.io/v1 validatingadmissionpolicybindings": policyBinding,
  "admissionregistration.k8s.io/v1 mutatingadmissionpolicybindings": policyBinding,
  "apiregistration.k8s.io/v1 apiservices": apiService,
  "apiextensions.k8s.io/v1 customresourcedefinitions": ({ metadata, spec = {}, status = {} }) => [
    metadata.name,
    spec.scope ?? "",
    (spec.versions ?? []).map(({ name, storage }: Fields) => storage ? `${name}(storage)` : name).join(","),
    metadata.creationTimestamp ?? null,
    spec.group ?? "",
    spec.names?.kind ?? "",
    (spec.names?.shortNames ?? []).join(","),
    isTrue(status.conditions, "Established"),
  ],
};
