/**
 * Prints the cells of common built-in kinds as `kubectl get` shows them.
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
import type { Fields } from "./_objects.ts";
import { duration } from "./_ages.ts";

/** What cells know beside the object. */
export interface CellContext {
  /** How old the object is. */
  readonly age: string;
  /** Wall time. */
  readonly now: Date;
}

type Cells = (object: Fields, context: CellContext) => unknown[];

const NONE = "<none>";

function count(map: Fields | undefined): number {
  return Object.keys(map ?? {}).length;
}

function containers(spec: Fields | undefined, member: "name" | "image"): string {
  return (spec?.containers ?? []).map((each: Fields) => each[member]).join(",");
}

/** A label selector as kubectl prints it. */
export function selectorText(selector: Fields | undefined): string {
  if (!selector) return NONE;
  const { matchLabels = selector.matchExpressions ? {} : selector, matchExpressions = [] } = selector;
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`).sort();
  for (const { key, operator, values = [] } of matchExpressions as Fields[]) {
    if (operator === "Exists") parts.push(key);
    else if (operator === "DoesNotExist") parts.push(`!${key}`);
    else parts.push(`${key} ${operator.toLowerCase()} (${values.join(",")})`);
  }
  return parts.join(",") || NONE;
}

function podStatus({ metadata, status = {} }: Fields): string {
  if (metadata.deletionTimestamp) return "Terminating";
  for (const { state } of status.containerStatuses ?? []) {
    if (state?.waiting?.reason) return state.waiting.reason;
    if (state?.terminated?.reason) return state.terminated.reason;
  }
  return status.reason || status.phase || "Unknown";
}

function pod(object: Fields, { age }: CellContext): unknown[] {
  const { metadata, spec = {}, status = {} } = object;
  const statuses: Fields[] = status.containerStatuses ?? [];
  const ready = statuses.filter((each) => each.ready).length;
  const restarts = statuses.reduce((sum, each) => sum + (each.restartCount ?? 0), 0);
  return [
    metadata.name,
    `${ready}/${spec.containers?.length ?? 0}`,
    podStatus(object),
    String(restarts),
    age,
    status.podIP || NONE,
    spec.nodeName || NONE,
    status.nominatedNodeName || NONE,
    NONE,
  ];
}

function ports(list: Fields[] | undefined): string {
  const texts = (list ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
  );
  return texts.join(",") || NONE;
}

function externalIp({ spec = {}, status = {} }: Fields): string {
  if (spec.type === "ExternalName") return spec.externalName;
  const addresses = (status.loadBalancer?.ingress ?? []).map((each: Fields) => each.ip ?? each.hostname);
  if (spec.type === "LoadBalancer") return addresses.join(",") || "<pending>";
  return (spec.externalIPs ?? []).join(",") || NONE;
}

function template({ spec = {} }: Fields): unknown[] {
  return [containers(spec.template?.spec, "name"), containers(spec.template?.spec, "image")];
}

function since(from: string | undefined, now: Date): string {
  if (!from) return "<unknown>";
  return duration(Math.max(0, Math.floor((now.getTime() - Date.parse(from)) / 1000)));
}

function jobStatus({ status = {}, spec = {}, metadata }: Fields): string {
  const is = (type: string): boolean =>
    (status.conditions ?? []).some((each: Fields) => each.type === type && each.status === "True");
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp) return "Terminating";
  return spec.suspend ? "Suspended" : "Running";
}

function subjects(list: Fields[] | undefined, kind: string): string {
  return (list ?? []).filter((each) => each.kind === kind)
    .map((each) => kind === "ServiceAccount" ? `${each.namespace}/${each.name}` : each.name).join(", ");
}

function binding({ metadata, roleRef, subjects: list }: Fields, { age }: CellContext): unknown[] {
  const kinds = ["User", "Group", "ServiceAccount"].map((kind) => subjects(list, kind));
  return [metadata.name, `${roleRef.kind}/${roleRef.name}`, age, ...kinds];
}

function nodeStatus({ spec = {}, status = {} }: Fields): string {
  const ready = (status.conditions ?? []).find((each: Fields) => each.type === "Ready");
  const text = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec.unschedulable ? `${text},SchedulingDisabled` : text;
}

function event(object: Fields, { now }: CellContext): unknown[] {
  const { metadata, type, reason, message = "", source = {}, series } = object;
  const about = object.involvedObject ?? {};
  const last = series?.lastObservedTime ?? object.lastTimestamp ?? object.eventTime;
  const first = object.firstTimestamp ?? object.eventTime;
  return [
    since(last, now),
    type ?? "",
    reason ?? "",
    `${String(about.kind ?? "").toLowerCase()}/${about.name ?? ""}`,
    about.fieldPath ?? "",
    [source.component, source.host].filter((each) => each).join(", "),
    message.trim(),
    since(first, now),
    object.count ?? series?.count ?? 1,
    metadata.name,
  ];
}

/** The cells by apiVersion and plural. */
export const CELLS: Readonly<Record<string, Cells>> = {
  "v1 configmaps": ({ metadata, data, binaryData }, { age }) => [metadata.name, count(data) + count(binaryData), age],
  "v1 secrets": ({ metadata, type, data }, { age }) => [metadata.name, type, count(data), age],
  "v1 namespaces": ({ metadata, status }, { age }) => [metadata.name, status?.phase ?? "", age],
  "v1 serviceaccounts": ({ metadata }, { age }) => [metadata.name, age],
  "v1 pods": pod,
  "v1 events": event,
  "v1 services": (object, { age }) => [
    object.metadata.name,
    object.spec?.type,
    object.spec?.clusterIP || NONE,
    externalIp(object),
    ports(object.spec?.ports),
    age,
    selectorText(object.spec?.selector),
  ],
  "v1 nodes": (object, { age }) => {
    const { metadata, status = {} } = object;
    const address = (type: string): string =>
      (status.addresses ?? []).find((each: Fields) => each.type === type)?.address ?? NONE;
    const info = status.nodeInfo ?? {};
    return [
      metadata.name,
      nodeStatus(object),
      NONE,
      age,
      info.kubeletVersion,
      address("InternalIP"),
      address("ExternalIP"),
      info.osImage || "<unknown>",
      info.kernelVersion || "<unknown>",
      info.containerRuntimeVersion || "<unknown>",
    ];
  },
  "apps/v1 deployments": (object, { age }) => {
    const { metadata, spec = {}, status = {} } = object;
    return [
      metadata.name,
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age,
      ...template(object),
      selectorText(spec.selector),
    ];
  },
  "apps/v1 replicasets": (object, { age }) => [
    object.metadata.name,
    object.spec?.replicas ?? 0,
    object.status?.replicas ?? 0,
    object.status?.readyReplicas ?? 0,
    age,
    ...template(object),
    selectorText(object.spec?.selector),
  ],
  "apps/v1 statefulsets": (object, { age }) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    age,
    ...template(object),
  ],
  "batch/v1 jobs": (object, { age, now }) => {
    const { metadata, spec = {}, status = {} } = object;
    const total = spec.completions ?? spec.parallelism ?? 1;
    const ended = status.completionTime ? new Date(status.completionTime) : now;
    return [
      metadata.name,
      jobStatus(object),
      `${status.succeeded ?? 0}/${total}`,
      status.startTime ? since(status.startTime, ended) : "",
      age,
      ...template(object),
      selectorText(spec.selector),
    ];
  },
  "batch/v1 cronjobs": (object, { age, now }) => {
    const { metadata, spec = {}, status = {} } = object;
    return [
      metadata.name,
      spec.schedule,
      spec.timeZone ?? NONE,
      spec.suspend ? "True" : "False",
      status.active?.length ?? 0,
      status.lastScheduleTime ? since(status.lastScheduleTime, now) : NONE,
      age,
      ...template({ spec: spec.jobTemplate?.spec }),
      selectorText(spec.jobTemplate?.spec?.selector),
    ];
  },
  "rbac.authorization.k8s.io/v1 rolebindings": binding,
  "rbac.authorization.k8s.io/v1 clusterrolebindings": binding,
  "rbac.authorization.k8s.io/v1 roles": ({ metadata }) => [metadata.name, metadata.creationTimestamp],
  "rbac.authorization.k8s.io/v1 clusterroles": ({ metadata }) => [metadata.name, metadata.creationTimestamp],
  "coordination.k8s.io/v1 leases": ({ metadata, spec }, { age }) => [metadata.name, spec?.holderIdentity ?? "", age],
  "apiextensions.k8s.io/v1 customresourcedefinitions": ({ metadata, spec, status = {} }) => [
    metadata.name,
    spec.scope,
    spec.versions.map(({ name, storage }: Fields) => storage ? `${name}(storage)` : name).join(","),
    metadata.creationTimestamp,
    spec.group,
    spec.names.kind,
    (spec.names.shortNames ?? []).join(","),
    (status.conditions ?? []).some((each: Fields) => each.type === "Established" && each.status === "True"),
  ],
};
