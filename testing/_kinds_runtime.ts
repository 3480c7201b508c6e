/**
 * Says how leases and runtime classes behave.
 *
 * ```ts
 * import { RUNTIME } from "./_kinds_runtime.ts";
 *
 * console.assert(RUNTIME["leases.coordination.k8s.io"]?.createOnUpdate);
 * ```
 *
 * @module
 */
import { all, causesOf, type Check, declared, fixedByType, given, members, named, neededAnd, such } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { labels } from "./_label_selectors.ts";
import { equal, type Fields } from "./_objects.ts";
import { resourceName, resourceValue, sortedEntries } from "./_pods_resources.ts";
import { tolerations } from "./_pods_scheduling.ts";
import { cause } from "./_status.ts";

const lease: Check = members({
  leaseDurationSeconds: given(such((value) => value <= 0 ? "must be greater than 0" : undefined)),
  leaseTransitions: given(such((value) => value < 0 ? "must be greater than or equal to 0" : undefined)),
});

const overhead: Check = (value, at, causes) => {
  for (const [name, quantity] of sortedEntries(value?.podFixed)) {
    const path = `${at}.limits[${name}]`;
    causes.push(...resourceName(name, path));
    if (
      !name.includes("/") && !["cpu", "memory", "ephemeral-storage"].includes(name) && !name.startsWith("hugepages-")
    ) {
      causes.push(cause.invalid(path, name, "must be a standard resource for containers"));
    }
    causes.push(...resourceValue(name, quantity, path));
  }
};

const KEYS = ["key", "operator", "value", "effect"];

const uniqueTolerations: Check = (value = [], at, causes) => {
  const alike = (a: Fields, b: Fields): boolean => KEYS.every((key) => equal(a[key] ?? "", b[key] ?? ""));
  for (const [index, each] of (value as Fields[]).entries()) {
    if ((value as Fields[]).findIndex((other) => alike(other, each)) === index) continue;
    const { key: Key = "", operator: Operator = "", value: Value = "", effect: Effect = "" } = each;
    const printed = { Key, Operator, Value, Effect, TolerationSeconds: each.tolerationSeconds ?? null };
    causes.push({ ...cause.duplicate(`${at}[${index}]`, printed), late: true });
  }
};

const handler: Check = declared(neededAnd(named("label")));

const runtimeClass: Check = members({
  handler,
  overhead: given(overhead),
  scheduling: given(members({ nodeSelector: labels, tolerations: all(tolerations, uniqueTolerations) })),
});

function dropElection(spec: Fields | undefined): void {
  for (const member of ["strategy", "preferredHolder"]) if (spec) delete spec[member];
}

/** The behaviours by storage. */
export const RUNTIME: Readonly<Record<string, Behaviour>> = {
  "leases.coordination.k8s.io": {
    conditionalUpdate: true,
    createOnUpdate: true,
    bareFinalizers: true,
    // Leaders are not elected by the server: what asks for that is dropped.
    prepareCreate: ({ spec }) => dropElection(spec),
    prepareUpdate: ({ spec }) => dropElection(spec),
    validate: ({ spec }) => causesOf(lease, spec, "spec"),
  },
  "runtimeclasses.node.k8s.io": {
    bareFinalizers: true,
    conditionalUpdate: true,
    createOnUpdate: true,
    validate: (object, _apiVersion, _subresource, old) =>
      old
        ? [...fixedByType(object, old, ["handler"]), ...causesOf(handler, object.handler, "handler")]
        : causesOf(runtimeClass, object),
  },
};
