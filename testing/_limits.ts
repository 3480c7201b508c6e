/**
 * Admits pods and claims by the LimitRanges of their namespace: gives them defaults, and refuses what is beyond.
 *
 * ```ts
 * import { admitByLimits } from "./_limits.ts";
 *
 * console.assert(typeof admitByLimits === "function");
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import type { Fields, Kube } from "./_objects.ts";
import { nanosOf, sortedEntries, written } from "./_pods_resources.ts";
import { addQuantities } from "./_quantity.ts";
import { forbidden } from "./_status.ts";

/** The limits that hold in a namespace. */
function limitsOf(namespace: string | undefined, { store }: Pick<Ground, "store">): Fields[] {
  const ranges = store.collection("limitranges").list({ namespace: namespace ?? "" });
  return ranges.flatMap(({ object }) => (object.spec?.limits ?? []) as Fields[]);
}

const NOTE = "kubernetes.io/limit-ranger";

function fill(container: Fields, what: string, limits: readonly Fields[]): string[] {
  const notes: string[] = [];
  const resources: Fields = container.resources ??= {};
  for (const [side, member] of [["requests", "defaultRequest"], ["limits", "default"]] as const) {
    const set: string[] = [];
    for (const limit of limits) {
      for (const [name, quantity] of sortedEntries(limit[member])) {
        if (resources[side]?.[name] !== undefined) continue;
        (resources[side] ??= {})[name] = quantity;
        set.push(name);
      }
    }
    if (set.length > 0) notes.push(`${set.sort().join(", ")} ${side.slice(0, -1)} for ${what} ${container.name}`);
  }
  return notes;
}

/** Gives the containers of a new pod what they do not ask for themselves. */
export function defaultByLimits(pod: Fields, server: Pick<Ground, "store">): void {
  const limits = limitsOf(pod.metadata.namespace, server).filter(({ type }) => type === "Container");
  if (limits.length === 0) return;
  const notes = [["containers", "container"], ["initContainers", "init container"]].flatMap(([list, what]) =>
    ((pod.spec[list!] ?? []) as Fields[]).flatMap((each) => fill(each, what!, limits))
  );
  if (notes.length === 0) return;
  pod.metadata.annotations = { ...pod.metadata.annotations, [NOTE]: `LimitRanger plugin set: ${notes.join("; ")}` };
}

/** What something asks for, and up to what limit. */
interface Demand {
  readonly requests: Fields;
  readonly limits: Fields;
}

function problems(limit: Fields, { requests, limits }: Demand): string[] {
  const found: string[] = [];
  const { type } = limit;
  for (const [name, least] of sortedEntries(limit.min)) {
    const rule = `minimum ${name} usage per ${type} is ${written(least)}`;
    const request = requests[name], most = limits[name];
    if (request === undefined) found.push(`${rule}.  No request is specified`);
    else if (nanosOf(request) < nanosOf(least)) found.push(`${rule}, but request is ${written(request)}`);
    else if (most !== undefined && nanosOf(most) < nanosOf(least)) {
      found.push(`${rule}, but limit is ${written(most)}`);
    }
  }
  for (const [name, most] of sortedEntries(limit.max)) {
    const rule = `maximum ${name} usage per ${type} is ${written(most)}`;
    const request = requests[name], own = limits[name];
    if (own === undefined && type !== "PersistentVolumeClaim") found.push(`${rule}.  No limit is specified`);
    else if (own !== undefined && nanosOf(own) > nanosOf(most)) found.push(`${rule}, but limit is ${written(own)}`);
    else if (request !== undefined && nanosOf(request) > nanosOf(most)) {
      found.push(`${rule}, but request is ${written(request)}`);
    }
  }
  for (const [name, ratio] of sortedEntries(limit.maxLimitRequestRatio)) {
    const rule = `${name} max limit to request ratio per ${type} is ${written(ratio)}`;
    const request = nanosOf(requests[name]), own = nanosOf(limits[name]);
    if (request === 0n) found.push(`${rule}, but no request is specified or request is 0`);
    else if (own === 0n) found.push(`${rule}, but no limit is specified or limit is 0`);
    else if (Number(own) / Number(request) > Number(nanosOf(ratio)) / 1e9) {
      found.push(`${rule}, but provided ratio is ${(Number(own) / Number(request)).toFixed(6)}`);
    }
  }
  return found;
}

/** The sum of what the containers of a pod ask for on one side. */
export function demandOf(spec: Fields, side: "requests" | "limits"): Fields {
  const total: Record<string, string> = {};
  for (const { resources } of (spec.containers ?? []) as Fields[]) {
    for (const [name, quantity] of Object.entries(resources?.[side] ?? {})) {
      total[name] = addQuantities(total[name] ?? "0", String(quantity));
    }
  }
  for (const { resources } of (spec.initContainers ?? []) as Fields[]) {
    for (const [name, quantity] of Object.entries(resources?.[side] ?? {})) {
      if (nanosOf(quantity) > nanosOf(total[name] ?? "-1")) total[name] = String(quantity);
    }
  }
  return total;
}

function podProblems({ spec = {} }: Fields, limit: Fields): string[] {
  if (limit.type === "Pod") {
    return problems(limit, { requests: demandOf(spec, "requests"), limits: demandOf(spec, "limits") });
  }
  if (limit.type !== "Container") return [];
  return [...spec.containers ?? [], ...spec.initContainers ?? []].flatMap(({ resources = {} }: Fields) =>
    problems(limit, { requests: resources.requests ?? {}, limits: resources.limits ?? {} })
  );
}

/** Refuses a pod, or a claim, that is beyond the limits. */
export function admitByLimits(storage: string, object: Kube, server: Pick<Ground, "store">): void {
  if (storage !== "pods" && storage !== "persistentvolumeclaims") return;
  const found = limitsOf(object.metadata.namespace, server).flatMap((limit) => {
    if (storage === "pods") return podProblems(object, limit);
    if (limit.type !== "PersistentVolumeClaim") return [];
    return problems(limit, { requests: object.spec?.resources?.requests ?? {}, limits: {} });
  });
  if (found.length === 0) return;
  const why = found.length === 1 ? found[0]! : `[${found.join(", ")}]`;
  throw forbidden({ group: "", plural: storage }, object.metadata.name ?? "", why);
}
