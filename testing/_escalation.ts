/**
 * Refuses to let users grant what they do not have, and to own what they may not delete.
 *
 * ```ts
 * import { checkOwners } from "./_escalation.ts";
 *
 * console.assert(typeof checkOwners === "function");
 * ```
 *
 * @module
 */
import type { Call } from "./_call.ts";
import { equal, type Fields, type Kube } from "./_objects.ts";
import { breakdown, includes, type PolicyRule, Rbac } from "./_rbac.ts";
import { groupOf } from "../resource.ts";
import { forbidden, notFound } from "./_status.ts";

const GROUP = "rbac.authorization.k8s.io";

/** True for a change of nothing but what a garbage collector must write to delete an object. */
function changesForCollectorOnly(object: Kube, old: Kube): boolean {
  const rest = ({ metadata, ...others }: Kube): unknown => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...kept } = metadata;
    return { ...others, metadata: kept };
  };
  return equal(rest(object), rest(old));
}

/** Refuses a role, or a binding to one, that grants more than the user has. */
export function checkEscalation(call: Call, object: Kube, old?: Kube): void {
  const { info, server, user } = call;
  if (!server.authorizes || info.group !== GROUP) return;
  const binding = info.plural.endsWith("bindings");
  if (old && changesForCollectorOnly(object, old)) return;
  const namespace = info.namespaced ? call.asked.namespace : "";
  const name = object.metadata.name ?? "";
  const rbac = new Rbac(server.store);
  if (binding) {
    const { roleRef } = object;
    const resource = roleRef.kind === "ClusterRole" ? "clusterroles" : "roles";
    if (server.allows(user, { verb: "bind", group: GROUP, resource, namespace, name: roleRef.name })) return;
  } else if (server.allows(user, { verb: "escalate", group: GROUP, resource: info.plural, namespace, name })) return;
  if (binding && !rbac.isThere(object.roleRef, namespace)) throw notFound(info, object.roleRef.name);
  const wanted: readonly PolicyRule[] = binding ? rbac.rulesOf(object.roleRef, namespace) : object.rules ?? [];
  const held = [...rbac.granted(user, namespace)].map(({ rule }) => rule);
  const missing = wanted.flatMap((rule) => [...breakdown(rule)])
    .filter((single) => !held.some((rule) => includes(rule, single)));
  if (missing.length === 0) return checkAggregation(call, object, old, held);
  const groups = user.groups.map((each) => JSON.stringify(each)).join(" ");
  throw forbidden(
    info,
    name,
    `user ${
      JSON.stringify(user.name)
    } (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n` +
      compacted(missing).map(ruleText).join("\n"),
  );
}

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/** Refuses a role that gathers the rules of others to who may not do everything: it might gather anything. */
function checkAggregation({ info }: Call, object: Kube, old: Kube | undefined, held: readonly PolicyRule[]): void {
  if (!object.aggregationRule && !old?.aggregationRule) return;
  const wanted = EVERYTHING.flatMap((rule) => [...breakdown(rule)]);
  if (wanted.every((single) => held.some((rule) => includes(rule, single)))) return;
  throw forbidden(info, object.metadata.name ?? "", "must have cluster-admin privileges to use the aggregationRule");
}

/** Puts verbs on one resource together. */
function compacted(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, { rule: PolicyRule; verbs: string[] }>();
  for (const rule of rules) {
    // Rules of paths stay one by one.
    const path = rule.nonResourceURLs ? rule.verbs : undefined;
    const key = JSON.stringify([path, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const found = merged.get(key);
    if (found) found.verbs.push(...rule.verbs);
    else merged.set(key, { rule, verbs: [...rule.verbs] });
  }
  return [...merged.values()].map(({ rule, verbs }) => ({ ...rule, verbs })).sort((a, b) =>
    ruleText(a) < ruleText(b) ? -1 : 1
  );
}

function ruleText({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): string {
  const part = (label: string, values?: readonly string[]): string[] =>
    values && values.length > 0 ? [`${label}:[${values.map((each) => JSON.stringify(each)).join(" ")}]`] : [];
  return `{${
    [
      ...part("NonResourceURLs", nonResourceURLs),
      ...part("APIGroups", apiGroups),
      ...part("Resources", resources),
      ...part("ResourceNames", resourceNames),
      ...part("Verbs", verbs),
    ].join(", ")
  }}`;
}

function owners(object: Kube | undefined): readonly Fields[] {
  return (object?.metadata.ownerReferences ?? []) as readonly Fields[];
}

/** Refuses owner references that would let a user delete, or hold up, what they otherwise could not. */
export function checkOwners(call: Call, object: Kube, old?: Kube): void {
  const { server, user, info, asked } = call;
  if (!server.authorizes || equal(owners(object), owners(old))) return;
  const name = object.metadata.name ?? "";
  const namespace = info.namespaced ? asked.namespace : "";
  const { group, plural: resource } = info;
  if (old && !server.allows(user, { verb: "delete", group, resource, namespace, name })) {
    throw forbidden(info, name, "cannot set an ownerRef on a resource you can't delete: , <nil>");
  }
  const before = new Set(owners(old).filter((each) => each.blockOwnerDeletion).map(({ uid }) => uid));
  const blocking = owners(object).filter((each) => each.blockOwnerDeletion && !before.has(each.uid));
  if (blocking.length === 0) return;
  const finalizers = { verb: "update", subresource: "finalizers" };
  if (server.allows(user, { ...finalizers, group: "*", resource: "*" })) return;
  for (const owner of blocking) {
    const { apiVersion, kind } = owner;
    const found = server.registry.byKind(groupOf(apiVersion), kind);
    if (!found) {
      throw forbidden(
        info,
        name,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ` +
          `${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    }
    const where = found.namespaced ? { namespace } : {};
    if (
      server.allows(user, { ...finalizers, group: found.group, resource: found.plural, name: owner.name, ...where })
    ) continue;
    throw forbidden(
      info,
      name,
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
    );
  }
}
