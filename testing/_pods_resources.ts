/**
 * Checks what containers and pods ask for of resources, and up to what limit.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { containerResources } from "./_pods_resources.ts";
 *
 * const resources = { requests: { cpu: "2" }, limits: { cpu: "1" } };
 * console.assert(causesOf(containerResources([]), resources, "resources").length === 1);
 * ```
 *
 * @module
 */
import { type Check, isEmpty } from "./_checks.ts";
import { validateQualified } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { canonicalQuantity, quantityNanos } from "./_quantity.ts";
import { type Cause, cause } from "./_status.ts";

/** What a quantity is in billionths; nothing is none. */
export function nanosOf(quantity: unknown): bigint {
  return quantityNanos(String(quantity ?? "0")) ?? 0n;
}

/** A quantity as messages show it. */
export function written(quantity: unknown): string {
  return canonicalQuantity(String(quantity)) ?? String(quantity);
}

const CONTAINER = ["cpu", "memory", "ephemeral-storage"];

const WHOLE = 1_000_000_000n;

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

/** True for a resource of a domain other than Kubernetes' own. */
export function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}

function mayOvercommit(name: string): boolean {
  return !isExtended(name) && !isHugePages(name);
}

/** Names of resources that need no domain. */
const STANDARD = new Set([
  ...CONTAINER,
  ...["requests.cpu", "requests.memory", "requests.ephemeral-storage"],
  ...["limits.cpu", "limits.memory", "limits.ephemeral-storage"],
  ...[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
  ],
  ...["services.nodeports", "services.loadbalancers", "requests.storage", "storage"],
]);

/** True for a resource that Kubernetes itself counts. */
export function isStandardResource(name: string): boolean {
  return STANDARD.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
}

/** What is wrong with the name of a resource, wherever it is. */
export function resourceName(name: string, at: string): Cause[] {
  const causes = validateQualified(name).map((why) => cause.invalid(at, name, why));
  if (causes.length === 0 && !name.includes("/") && !isStandardResource(name)) {
    causes.push(cause.invalid(at, name, "must be a standard resource type or fully qualified"));
  }
  return causes;
}

function containerResourceName(name: string, at: string): Cause[] {
  const causes = resourceName(name, at);
  if (name.includes("/")) {
    const quota = `requests.${name}`;
    if (isExtended(name) && validateQualified(quota).length > 0) {
      causes.push(cause.invalid(at, name, "doesn't follow extended resource name standard"));
    }
  } else if (!CONTAINER.includes(name) && !isHugePages(name)) {
    causes.push(cause.invalid(at, name, "must be a standard resource for containers"));
  }
  return causes;
}

/** What is wrong with the value of a resource. */
export function resourceValue(name: string, quantity: unknown, at: string): Cause[] {
  const nanos = nanosOf(quantity);
  const causes: Cause[] = [];
  if (nanos < 0n) causes.push(cause.invalid(at, written(quantity), "must be greater than or equal to 0"));
  const whole = isExtended(name) ||
    ["pods", "services", "resourcequotas", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps"]
      .includes(name) ||
    /^services\.|^count\//.test(name);
  if (whole && nanos % WHOLE !== 0n) causes.push(cause.invalid(at, written(quantity), "must be an integer"));
  return causes;
}

function hugePages(name: string, quantity: unknown, at: string): Cause[] {
  if (!isHugePages(name)) return [];
  const page = nanosOf(name.slice("hugepages-".length)), nanos = nanosOf(quantity);
  if (page > 0n && nanos >= 0n && nanos % page === 0n) return [];
  const value = written(quantity);
  return [cause.invalid(at, value, `${value} is not positive integer multiple of ${name}`)];
}

/** The entries of a map, by the order of its keys. */
export function sortedEntries(map: Fields | undefined): [string, unknown][] {
  return Object.entries(map ?? {}).sort(([a], [b]) => a < b ? -1 : 1);
}

function comparison(name: string, request: unknown, limits: Fields, at: string): Cause[] {
  const limit = limits[name];
  if (limit === undefined) {
    return mayOvercommit(name)
      ? []
      : [cause.required(`${at}.limits`, "Limit must be set for non overcommitable resources")];
  }
  if (!mayOvercommit(name) && nanosOf(request) !== nanosOf(limit)) {
    const why = `must be equal to ${name} limit of ${written(limit)}`;
    return [cause.invalid(`${at}.requests`, written(request), why)];
  }
  if (mayOvercommit(name) && nanosOf(request) > nanosOf(limit)) {
    const why = `must be less than or equal to ${name} limit of ${written(limit)}`;
    return [cause.invalid(`${at}.requests`, written(request), why)];
  }
  return [];
}

function claims(value: Fields[], known: readonly string[], at: string): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, { name, request }] of value.entries()) {
    const path = `${at}[${index}]`;
    if (!name) {
      causes.push(cause.required(path));
      continue;
    }
    const key = request ? `${name}/${request}` : name;
    if (seen.has(key)) causes.push(cause.duplicate(path, key));
    seen.add(key);
    if (known.includes(name)) continue;
    const which = known.length === 0 ? " which is empty" : "";
    causes.push(cause.notFound(path, name, `must be one of the names in pod.spec.resourceClaims${which}`));
  }
  return causes;
}

/** Takes the resources of a container in a pod with these claims. */
export function containerResources(known: readonly string[]): Check {
  return (value, at, causes) => {
    if (isEmpty(value)) return;
    const limits: Fields = value.limits ?? {}, requests: Fields = value.requests ?? {};
    for (const [name, quantity] of sortedEntries(limits)) {
      const path = `${at}.limits[${name}]`;
      causes.push(...containerResourceName(name, path), ...resourceValue(name, quantity, path));
      causes.push(...hugePages(name, quantity, path));
    }
    for (const [name, quantity] of sortedEntries(requests)) {
      const path = `${at}.requests[${name}]`;
      causes.push(...containerResourceName(name, path), ...resourceValue(name, quantity, path));
      const found = comparison(name, quantity, limits, at);
      causes.push(...found, ...(found.length > 0 ? [] : hugePages(name, quantity, path)));
    }
    const named = new Set([...Object.keys(limits), ...Object.keys(requests)]);
    if ([...named].some(isHugePages) && !named.has("cpu") && !named.has("memory")) {
      causes.push(cause.forbidden(at, "HugePages require cpu or memory"));
    }
    causes.push(...claims(value.claims ?? [], known, `${at}.claims`));
  };
}

const POD = ["cpu", "hugepages-", "memory"];

/** What all containers of a pod ask for of a resource, and the most that they use. */
function requested({ containers = [], initContainers = [] }: Fields, name: string): bigint {
  let running = 0n, starting = 0n, sidecars = 0n;
  for (const { resources } of containers) running += nanosOf(resources?.requests?.[name]);
  for (const { resources, restartPolicy } of initContainers) {
    const own = nanosOf(resources?.requests?.[name]);
    if (restartPolicy === "Always") sidecars += own;
    if (restartPolicy !== "Always" && own + sidecars > starting) starting = own + sidecars;
  }
  return running + sidecars > starting ? running + sidecars : starting;
}

function quantityText(nanos: bigint, like: unknown): string {
  const whole = nanos % WHOLE === 0n ? String(nanos / WHOLE) : `${nanos / 1_000_000n}m`;
  const binary = /i$/.test(String(like)) && nanos % WHOLE === 0n;
  if (!binary) return written(whole);
  return written(nanos / WHOLE % 1024n === 0n ? `${nanos / WHOLE / 1024n}Ki` : whole);
}

/** Takes the resources of a pod as a whole; the value is its spec. */
export const podResources: Check = (spec, at, causes) => {
  const resources = spec?.resources;
  if (isEmpty(resources)) return;
  const path = `${at}.resources`;
  const limits: Fields = resources.limits ?? {}, requests: Fields = resources.requests ?? {};
  for (const [side, map] of [["limits", limits], ["requests", requests]] as const) {
    for (const [name, quantity] of sortedEntries(map)) {
      const field = `${path}.${side}[${name}]`;
      if (name !== "cpu" && name !== "memory" && !isHugePages(name)) {
        causes.push(cause.unsupported(field, name, POD));
      }
      causes.push(...resourceValue(name, quantity, field), ...hugePages(name, quantity, field));
      if (side === "requests") causes.push(...comparison(name, quantity, limits, path));
    }
  }
  for (const [name, quantity] of sortedEntries(requests)) {
    const total = requested(spec, name);
    if (total <= nanosOf(quantity)) continue;
    const why = `must be greater than or equal to aggregate container requests of ${quantityText(total, quantity)}`;
    causes.push(cause.invalid(`${path}.requests[${name}]`, written(quantity), why));
  }
};
