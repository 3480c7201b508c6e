/**
 * Works out which permissions an operator needs, and writes them as Roles, ClusterRoles and their bindings.
 *
 * ```ts
 * import { mergeRules, roles } from "@tend/operator";
 *
 * const read = { apiGroups: [""], verbs: ["get"], namespace: "shop" };
 * const rules = mergeRules([{ ...read, resources: ["secrets"] }, { ...read, resources: ["configmaps"] }]);
 * console.assert(rules.length === 1 && rules[0]!.resources.join() === "configmaps,secrets");
 * const objects = roles(rules, { name: "copier", serviceAccount: "copier", namespace: "operators" });
 * console.assert(objects.map((object) => object.kind).join() === "Role,RoleBinding");
 * ```
 *
 * # Guarantees
 *
 * - No rule has a wildcard, neither those that are worked out nor those that users add.
 * - The same needs give the same text, in whatever order they were declared.
 *
 * @module
 */
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "./kinds.ts";
import { assertDnsLabel, isDnsSubdomain } from "./names.ts";
import type { DraftMeta, KindedDraft, Resource } from "./resource.ts";

/** A permission: verbs on resources, or on URLs that are none. */
export interface Rule {
  /** The API groups; `""` is the core group. */
  readonly apiGroups: readonly string[];
  /** The resources' plural names, such as `secrets`, or `deployments/scale`. */
  readonly resources: readonly string[];
  /** The verbs, such as `get`. */
  readonly verbs: readonly string[];
  /** Only objects of these names; `create`, `list` and `watch` do not go by it. @default {all} */
  readonly resourceNames?: readonly string[] | undefined;
  /** Paths such as `/metrics`, instead of groups and resources, which then are empty; cluster-wide only. @default {none} */
  readonly nonResourceURLs?: readonly string[] | undefined;
}

/** A permission in one namespace, or in the whole cluster. */
export interface ScopedRule extends Rule {
  /** Where it holds. @default {the whole cluster} */
  readonly namespace?: string | undefined;
}

/** Who gets the permissions of {@linkcode roles}. */
export interface RolesOptions {
  /** The name of the roles and bindings. */
  readonly name: string;
  /** The name of the service account. */
  readonly serviceAccount: string;
  /** The namespace of the service account. */
  readonly namespace: string;
  /** Labels of the roles and bindings. @default {none} */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A role or a binding, to be applied. */
export type RoleObject =
  | KindedDraft<ClusterRole>
  | KindedDraft<ClusterRoleBinding>
  | KindedDraft<Role>
  | KindedDraft<RoleBinding>;

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** How the parts of a rule must look. */
const PARTS: readonly [keyof Rule, (value: string) => boolean, string][] = [
  ["apiGroups", (value) => value === "" || isDnsSubdomain(value), `API groups such as apps, or "" for the core group`],
  [
    "resources",
    (value) => /^[a-z][a-z0-9.-]*(\/[a-z][a-z0-9-]*)?$/.test(value),
    "plural names in lower case such as secrets",
  ],
  ["verbs", (value) => /^[a-z][a-z:-]*$/.test(value), "verbs in lower case such as get"],
  ["resourceNames", (value) => /^[^/%*]+$/.test(value), "names of objects"],
  ["nonResourceURLs", (value) => /^\/[^*]*$/.test(value), "paths such as /metrics"],
];

/**
 * Checks a rule that a user wrote.
 *
 * @throws {TypeError} If a part is missing, malformed, or a wildcard
 */
function assertRule(rule: Rule): void {
  const fail = (what: string, value: unknown): never => {
    throw new TypeError(`Cannot define rule: ${what}: current value is ${Deno.inspect(value)}`);
  };
  if (typeof rule !== "object" || rule === null) fail("it must be an object with apiGroups, resources and verbs", rule);
  const urls = rule.nonResourceURLs !== undefined && rule.nonResourceURLs.length > 0;
  for (const [part, valid, kind] of PARTS) {
    const values: unknown = rule[part];
    if (values === undefined && (part === "resourceNames" || part === "nonResourceURLs")) continue;
    if (urls && part !== "verbs" && part !== "nonResourceURLs") {
      if (values !== undefined && (!Array.isArray(values) || values.length > 0)) {
        fail(`'${part}' must be empty beside 'nonResourceURLs'`, values);
      }
      continue;
    }
    if (!Array.isArray(values) || values.length === 0) fail(`'${part}' must be a list of ${kind}`, values);
    for (const value of values as unknown[]) {
      if (value === "*" || (typeof value === "string" && value.includes("*"))) {
        fail(`'${part}' must name each of them, without wildcards`, value);
      }
      if (typeof value !== "string" || !valid(value)) fail(`'${part}' must be ${kind}`, value);
    }
  }
}

/**
 * Puts rules into each of the namespaces, or into the whole cluster if these are undefined.
 *
 * @throws {TypeError} If a rule, or a namespace, is malformed; or if one for URLs is put into a namespace
 */
export function scopeRules(rules: readonly Rule[], namespaces: readonly string[] | undefined): ScopedRule[] {
  for (const rule of rules) {
    assertRule(rule);
    if (namespaces !== undefined && (rule.nonResourceURLs?.length ?? 0) > 0) {
      throw new TypeError(
        `Cannot define rule: 'nonResourceURLs' must hold cluster-wide: current value is in ${Deno.inspect(namespaces)}`,
      );
    }
  }
  if (namespaces === undefined) return rules.map((rule) => ({ ...rule }));
  for (const namespace of namespaces) assertDnsLabel(namespace, "rule", "namespace");
  return namespaces.flatMap((namespace) => rules.map((rule) => ({ ...rule, namespace })));
}

function on(resource: Resource, verbs: readonly string[], subresource = ""): Rule {
  return { apiGroups: [resource.group], resources: [resource.plural + subresource], verbs };
}

/** What watching a kind needs. */
export function watchRules(resource: Resource): Rule[] {
  return [on(resource, ["get", "list", "watch"])];
}

/** What adding and removing a finalizer needs. */
export function finalizerRules(resource: Resource): Rule[] {
  return [on(resource, ["patch"])];
}

/** What being the owner of other objects needs: clusters that protect owners ask for this before an object may block their deletion. */
export function ownerRules(resource: Resource): Rule[] {
  return [on(resource, ["update"], "/finalizers")];
}

/** What writing the status needs. */
export function statusRules(resource: Resource): Rule[] {
  return [on(resource, ["patch"], "/status")];
}

/** What owning objects of a kind needs. */
export function ownedRules(resource: Resource): Rule[] {
  return [on(resource, ["get", "list", "watch", "create", "patch", "delete"])];
}

/** What recording events needs. */
export function eventRules(): Rule[] {
  return [{ apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] }];
}

/** What an election under a Lease needs; `create` cannot be limited to a name. */
export function leaseRules(namespace: string, name: string): ScopedRule[] {
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  return scopeRules(
    [{ ...leases, verbs: ["create"] }, { ...leases, resourceNames: [name], verbs: ["get", "update"] }],
    [
      namespace,
    ],
  );
}

const byText = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;
const unique = (values: readonly string[]): string[] => [...new Set(values)].sort(byText);

function byVerb(a: string, b: string): number {
  const [one, two] = [VERBS.indexOf(a), VERBS.indexOf(b)];
  return one >= 0 && two >= 0 ? one - two : one >= 0 ? -1 : two >= 0 ? 1 : byText(a, b);
}

/** One resource, or URL, of one group, in one place, under one set of names: what verbs are collected by. */
interface Target {
  readonly namespace: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly url: string;
  readonly names: readonly string[];
  readonly verbs: Set<string>;
}

const keyOf = ({ namespace, group, resource, url, names }: Omit<Target, "verbs">): string =>
  [namespace ?? "", group, resource, url, ...names].join("\0");

/** Takes the rules apart to single resources, and collects the verbs of each. */
function targetsOf(rules: readonly ScopedRule[]): Map<string, Target> {
  const targets = new Map<string, Target>();
  for (const { namespace, apiGroups, resources, verbs, resourceNames = [], nonResourceURLs = [] } of rules) {
    const names = unique(resourceNames);
    const add = (group: string, resource: string, url: string): void => {
      const target = { namespace, group, resource, url, names, verbs: new Set<string>() };
      const key = keyOf(target);
      if (!targets.has(key)) targets.set(key, target);
      for (const verb of verbs) targets.get(key)!.verbs.add(verb);
    };
    for (const url of nonResourceURLs) add("", "", url);
    if (nonResourceURLs.length === 0) {
      for (const group of apiGroups) for (const resource of resources) add(group, resource, "");
    }
  }
  return targets;
}

/**
 * Merges rules: each permission stands once, none beside a wider one, and what needs the same verbs stands together.
 *
 * Sorted: the whole cluster first, then by namespace, group, resource and names.
 */
export function mergeRules(rules: readonly ScopedRule[]): ScopedRule[] {
  const targets = targetsOf(rules);
  for (const target of targets.values()) {
    const { namespace, names } = target;
    const wider = [
      ...(namespace !== undefined ? [{ ...target, namespace: undefined }] : []),
      ...(names.length > 0 ? [{ ...target, names: [] }] : []),
      ...(namespace !== undefined && names.length > 0 ? [{ ...target, namespace: undefined, names: [] }] : []),
    ];
    for (const other of wider) for (const verb of targets.get(keyOf(other))?.verbs ?? []) target.verbs.delete(verb);
  }
  const merged = new Map<string, ScopedRule>();
  const sorted = [...targets].filter(([, { verbs }]) => verbs.size > 0).sort(([a], [b]) => byText(a, b));
  for (const [, { namespace, group, resource, url, names, verbs }] of sorted) {
    const list = [...verbs].sort(byVerb);
    const key = JSON.stringify([namespace ?? "", group, url !== "", names, list]);
    const rule = merged.get(key);
    merged.set(key, {
      ...(namespace === undefined ? {} : { namespace }),
      apiGroups: url ? [] : [group],
      resources: url ? [] : [...rule?.resources ?? [], resource],
      verbs: list,
      ...(names.length > 0 ? { resourceNames: names } : {}),
      ...(url ? { nonResourceURLs: [...rule?.nonResourceURLs ?? [], url] } : {}),
    });
  }
  return [...merged.values()];
}

/**
 * Writes rules as roles, and binds them to a service account: a ClusterRole for what holds in the whole cluster, if there
 * is any, and a Role for each namespace.
 */
export function roles(rules: readonly ScopedRule[], options: RolesOptions): RoleObject[] {
  const { name, serviceAccount, namespace, labels } = options;
  const subjects = [{ kind: "ServiceAccount", name: serviceAccount, namespace }];
  const meta = (namespace?: string): DraftMeta => ({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
  });
  const merged = mergeRules(rules);
  const places = new Set(merged.map((rule) => rule.namespace));
  return [...places].flatMap((place): RoleObject[] => {
    const metadata = meta(place);
    const here = merged.filter((rule) => rule.namespace === place).map(policyRule);
    const kind = place === undefined ? ClusterRole.kind : Role.kind;
    const roleRef = { apiGroup: Role.group, kind, name };
    return place === undefined
      ? [ClusterRole.draft({ metadata, rules: here }), ClusterRoleBinding.draft({ metadata, roleRef, subjects })]
      : [Role.draft({ metadata, rules: here }), RoleBinding.draft({ metadata, roleRef, subjects })];
  });
}

function policyRule({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: ScopedRule): PolicyRule {
  if (nonResourceURLs) return { nonResourceURLs: [...nonResourceURLs], verbs: [...verbs] };
  return {
    apiGroups: [...apiGroups],
    resources: [...resources],
    ...(resourceNames ? { resourceNames: [...resourceNames] } : {}),
    verbs: [...verbs],
  };
}

type PolicyRule = NonNullable<Role["rules"]>[number];
