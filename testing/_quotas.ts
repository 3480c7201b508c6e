/**
 * Admits new objects by the ResourceQuotas of their namespace, and counts them in the quotas' status.
 *
 * What holds is the `hard` of a quota's status, which its controller sets: a quota without one refuses nothing.
 *
 * ```ts
 * import { usageOf } from "./_quotas.ts";
 *
 * console.assert(usageOf("configmaps", { spec: {} }).configmaps === "1");
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import { demandOf } from "./_limits.ts";
import type { Fields, Kube } from "./_objects.ts";
import { writeOwnStatus } from "./_own_status.ts";
import { qosClass } from "./_pods_admission.ts";
import { nanosOf, sortedEntries, written } from "./_pods_resources.ts";
import { addQuantities } from "./_quantity.ts";
import { forbidden } from "./_status.ts";

/** Kinds that quotas count by their name alone. */
const COUNTED = new Set([
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
]);

function podUsage({ spec = {} }: Fields): Fields {
  const requests = demandOf(spec, "requests"), limits = demandOf(spec, "limits");
  const usage: Fields = {};
  for (const [name, quantity] of Object.entries(requests)) {
    usage[`requests.${name}`] = quantity;
    if (!name.includes("/")) usage[name] = quantity;
  }
  for (const [name, quantity] of Object.entries(limits)) usage[`limits.${name}`] = quantity;
  return usage;
}

function serviceUsage({ spec = {} }: Fields): Fields {
  const ports = String((spec.ports ?? []).length);
  if (spec.type === "NodePort") return { "services.nodeports": ports };
  if (spec.type !== "LoadBalancer") return {};
  const node = spec.allocateLoadBalancerNodePorts === false ? "0" : ports;
  return { "services.loadbalancers": "1", "services.nodeports": node };
}

function claimUsage({ spec = {} }: Fields): Fields {
  const size = spec.resources?.requests?.storage ?? "0";
  const name = spec.storageClassName;
  if (!name) return { "requests.storage": size };
  const path = `${name}.storageclass.storage.k8s.io`;
  return {
    "requests.storage": size,
    [`${path}/requests.storage`]: size,
    [`${path}/persistentvolumeclaims`]: "1",
  };
}

/** What a new object uses of what quotas count. */
export function usageOf(storage: string, object: Fields): Fields {
  const counts = { [`count/${storage}`]: "1", ...(COUNTED.has(storage) ? { [storage]: "1" } : {}) };
  if (storage === "pods") return { ...counts, ...podUsage(object) };
  if (storage === "services") return { ...counts, ...serviceUsage(object) };
  if (storage === "persistentvolumeclaims") return { ...counts, ...claimUsage(object) };
  return counts;
}

/** Tells whether an object is of those that a quota is about. */
function inScope(quota: Fields, storage: string, { spec = {} }: Fields): boolean {
  const expressions: Fields[] = [
    ...((quota.spec?.scopes ?? []) as string[]).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...quota.spec?.scopeSelector?.matchExpressions ?? [],
  ];
  if (expressions.length === 0) return true;
  if (storage !== "pods") return false;
  return expressions.every(({ scopeName, operator, values = [] }) => {
    const name = spec.priorityClassName ?? "";
    switch (scopeName) {
      case "Terminating":
        return spec.activeDeadlineSeconds !== undefined;
      case "NotTerminating":
        return spec.activeDeadlineSeconds === undefined;
      case "BestEffort":
        return qosClass(spec) === "BestEffort";
      case "NotBestEffort":
        return qosClass(spec) !== "BestEffort";
      case "PriorityClass":
        if (operator === "In") return values.includes(name);
        if (operator === "NotIn") return !values.includes(name);
        return (name !== "") === (operator === "Exists");
      default:
        return false;
    }
  });
}

const NEEDED = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** The amounts of some resources, as messages list them. */
function listed(map: Fields, names: readonly string[]): string {
  return names.map((name) => `${name}=${written(map[name] ?? "0")}`).join(",");
}

/** What some quota says against an object. */
function problem(quota: Fields, storage: string, object: Fields, usage: Fields): string | undefined {
  const hard: Fields = quota.status?.hard ?? {}, used: Fields = quota.status?.used ?? {};
  const name = quota.metadata.name;
  if (storage === "pods") {
    const all: Fields[] = [...object.spec?.containers ?? [], ...object.spec?.initContainers ?? []];
    const missing = sortedEntries(hard).map(([each]) => each).filter((each) => NEEDED.has(each)).flatMap((each) => {
      const [side, resource] = each.includes(".") ? each.split(".") as [string, string] : ["requests", each];
      const without = all.filter(({ resources }) => resources?.[side]?.[resource] === undefined);
      return without.length === 0 ? [] : [`${each} for: ${without.map(({ name }) => name).join(",")}`];
    });
    if (missing.length > 0) return `failed quota: ${name}: must specify ${missing.join("; ")}`;
  }
  const over = Object.keys(usage).filter((each) =>
    hard[each] !== undefined && nanosOf(usage[each]) > 0n &&
    nanosOf(used[each]) + nanosOf(usage[each]) > nanosOf(hard[each])
  ).sort();
  if (over.length === 0) return undefined;
  return `exceeded quota: ${name}, requested: ${listed(usage, over)}, used: ${listed(used, over)}, ` +
    `limited: ${listed(hard, over)}`;
}

/** Refuses a new object that is beyond a quota of its namespace; counts it otherwise, if it is to be stored. */
export function admitByQuotas(
  storage: string,
  object: Kube,
  server: Pick<Ground, "store" | "now">,
  dryRun: boolean,
): void {
  const namespace = object.metadata.namespace;
  if (!namespace) return;
  const quotas = server.store.collection("resourcequotas").list({ namespace });
  if (quotas.length === 0) return;
  const usage = usageOf(storage, object);
  const [plural, ...group] = storage.split(".");
  const about = quotas.map(({ object: quota }) => quota).filter((quota) => inScope(quota, storage, object));
  for (const quota of about) {
    const why = problem(quota, storage, object, usage);
    if (why) throw forbidden({ group: group.join("."), plural: plural! }, object.metadata.name ?? "", why);
  }
  if (dryRun) return;
  for (const quota of about) {
    const hard: Fields = quota.status?.hard ?? {}, used: Fields = quota.status?.used ?? {};
    const counted = Object.keys(usage).filter((name) => hard[name] !== undefined && nanosOf(usage[name]) > 0n);
    if (counted.length === 0) continue;
    const sums = counted.map((name) => [name, addQuantities(String(used[name] ?? "0"), String(usage[name]))]);
    const status = { ...quota.status, used: { ...used, ...Object.fromEntries(sums) } };
    writeOwnStatus(server, "resourcequotas", quota, status);
  }
}
