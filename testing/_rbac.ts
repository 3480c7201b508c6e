/**
 * Decides what users may do, from the roles and bindings that are stored.
 *
 * ```ts
 * import { covers } from "./_rbac.ts";
 *
 * const rule = { apiGroups: [""], resources: ["pods"], verbs: ["*"] };
 * console.assert(covers(rule, { verb: "get", group: "", resource: "pods" }));
 * ```
 *
 * @module
 */
import type { AccessAttributes } from "./_call.ts";
import type { User } from "./_user.ts";
import type { Fields, Kube } from "./_objects.ts";
import type { Store } from "./_store.ts";

const GROUP = "rbac.authorization.k8s.io";

/** A rule of a role. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}

function hasResource(resources: readonly string[] | undefined, resource: string, subresource: string): boolean {
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  if (has(resources, whole)) return true;
  return subresource !== "" && (resources ?? []).includes(`*/${subresource}`);
}

function hasPath(urls: readonly string[] | undefined, path: string): boolean {
  return (urls ?? []).some((url) =>
    url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)))
  );
}

/** True if a rule allows that. */
export function covers(rule: PolicyRule, attributes: AccessAttributes): boolean {
  const { verb, path, group = "", resource = "", subresource = "", name = "" } = attributes;
  if (!has(rule.verbs, verb)) return false;
  if (path !== undefined) return hasPath(rule.nonResourceURLs, path);
  const { resourceNames = [] } = rule;
  return has(rule.apiGroups, group) && hasResource(rule.resources, resource, subresource) &&
    (resourceNames.length === 0 || resourceNames.includes(name));
}

function isSubject(subject: Fields, user: User, namespace: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.name === user.name;
    case "Group":
      return user.groups.includes(subject.name);
    case "ServiceAccount":
      return user.name === `system:serviceaccount:${subject.namespace || namespace}:${subject.name}`;
  }
  return false;
}

function subjectText(subject: Fields): string {
  const { kind, name, namespace } = subject;
  return kind === "ServiceAccount"
    ? `ServiceAccount ${JSON.stringify(`${name}/${namespace}`)}`
    : `${kind} ${JSON.stringify(name)}`;
}

/** A rule that a user has, and why. */
export interface Granted {
  readonly rule: PolicyRule;
  /** The reason, as access reviews say it. */
  readonly reason: string;
}

/** What the stored roles and bindings say. */
export class Rbac {
  readonly #store: Store;

  /** Reads from a store, at each question. */
  constructor(store: Store) {
    this.#store = store;
  }

  #role(reference: Fields, namespace: string): Kube | undefined {
    const role = reference.kind === "ClusterRole"
      ? this.#store.collection(`clusterroles.${GROUP}`).get("", reference.name)
      : this.#store.collection(`roles.${GROUP}`).get(namespace, reference.name);
    return role?.object;
  }

  #rules(reference: Fields, namespace: string): readonly PolicyRule[] {
    return this.#role(reference, namespace)?.rules ?? [];
  }

  /** True if the role that a binding refers to is there. */
  isThere(reference: Fields, namespace: string): boolean {
    return this.#role(reference, namespace) !== undefined;
  }

  /** The rules of a role that a binding refers to. */
  rulesOf(reference: Fields, namespace: string): readonly PolicyRule[] {
    return this.#rules(reference, namespace);
  }

  *#bound(binding: Kube, user: User, namespace: string): Generator<Granted> {
    const subject = (binding.subjects ?? []).find((each: Fields) => isSubject(each, user, namespace));
    if (!subject) return;
    const { roleRef, metadata } = binding;
    const name = namespace === "" ? metadata.name : `${metadata.name}/${namespace}`;
    const reason =
      `RBAC: allowed by ${namespace === "" ? "ClusterRoleBinding" : "RoleBinding"} ${JSON.stringify(name)} ` +
      `of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subjectText(subject)}`;
    for (const rule of this.#rules(roleRef, namespace)) yield { rule, reason };
  }

  /** The rules that a user has, everywhere and in a namespace. */
  *granted(user: User, namespace: string): Generator<Granted> {
    for (const { object } of this.#store.collection(`clusterrolebindings.${GROUP}`).list()) {
      yield* this.#bound(object, user, "");
    }
    if (namespace === "") return;
    for (const { object } of this.#store.collection(`rolebindings.${GROUP}`).list({ namespace })) {
      yield* this.#bound(object, user, namespace);
    }
  }

  /** The roles that the user's bindings refer to and that are not there, in words; empty if all are. */
  missing(user: User, namespace: string): string {
    const found = new Set<string>();
    const look = (binding: Kube, where: string): void => {
      if (!(binding.subjects ?? []).some((each: Fields) => isSubject(each, user, where))) return;
      const { kind, name } = binding.roleRef;
      if (!this.#role(binding.roleRef, where)) {
        found.add(`${kind.toLowerCase()}.${GROUP} ${JSON.stringify(name)} not found`);
      }
    };
    for (const { object } of this.#store.collection(`clusterrolebindings.${GROUP}`).list()) look(object, "");
    if (namespace !== "") {
      for (const { object } of this.#store.collection(`rolebindings.${GROUP}`).list({ namespace })) {
        look(object, namespace);
      }
    }
    const [first = ""] = found;
    return found.size > 1 ? `[${[...found].join(", ")}]` : first;
  }

  /** What an answer says of why nothing allows that; empty if there is nothing to say. */
  refusal(user: User, attributes: AccessAttributes): string {
    const missing = this.missing(user, attributes.path === undefined ? attributes.namespace ?? "" : "");
    return missing === "" ? "" : `rbac: RBAC: ${missing}`;
  }

  /** Why a user may do that; undefined if they may not. */
  reason(user: User, attributes: AccessAttributes): string | undefined {
    if (user.groups.includes("system:masters")) return "";
    const namespace = attributes.path === undefined ? attributes.namespace ?? "" : "";
    for (const { rule, reason } of this.granted(user, namespace)) if (covers(rule, attributes)) return reason;
    return undefined;
  }
}

/** The single things that a rule allows, each as a rule of one group, resource and verb. */
export function* breakdown(rule: PolicyRule): Generator<PolicyRule> {
  for (const verb of rule.verbs) {
    for (const url of rule.nonResourceURLs ?? []) yield { verbs: [verb], nonResourceURLs: [url] };
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const single = { apiGroups: [group], resources: [resource], verbs: [verb] };
        const names = rule.resourceNames ?? [];
        if (names.length === 0) yield single;
        for (const name of names) yield { ...single, resourceNames: [name] };
      }
    }
  }
}

/** True if a rule allows all that a single one of {@linkcode breakdown} does. */
export function includes(rule: PolicyRule, single: PolicyRule): boolean {
  const [verb = ""] = single.verbs;
  if (!has(rule.verbs, verb)) return false;
  const [url] = single.nonResourceURLs ?? [];
  if (url !== undefined) return hasPath(rule.nonResourceURLs, url);
  const [resource = "", subresource = ""] = single.resources![0]!.split("/");
  if (!has(rule.apiGroups, single.apiGroups![0]!)) return false;
  if (!hasResource(rule.resources, resource, subresource)) return false;
  const names = rule.resourceNames ?? [], [name] = single.resourceNames ?? [];
  return names.length === 0 || (name !== undefined && names.includes(name));
}
