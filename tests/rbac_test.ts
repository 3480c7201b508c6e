import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ConfigMap, Deployment, type RoleBinding } from "../kinds.ts";
import {
  eventRules,
  finalizerRules,
  leaseRules,
  mergeRules,
  ownedRules,
  ownerRules,
  roles,
  type Rule,
  type ScopedRule,
  scopeRules,
  statusRules,
  watchRules,
} from "../rbac.ts";
import { type KindedDraft, resource } from "../resource.ts";

const Backup = resource({ group: "example.com", version: "v1", kind: "Backup", plural: "backups" });
const secrets = (verbs: string[], more: Partial<ScopedRule> = {}): ScopedRule => ({
  apiGroups: [""],
  resources: ["secrets"],
  verbs,
  ...more,
});

Deno.test("B57: the rules of a controller with finalizer, status, children, events and a lease are exactly what it needs", () => {
  const rules = mergeRules([
    ...scopeRules([
      ...watchRules(Backup),
      ...finalizerRules(Backup),
      ...statusRules(Backup),
      ...ownerRules(Backup),
      ...ownedRules(ConfigMap),
      ...ownedRules(Deployment),
      ...eventRules(),
    ], undefined),
    ...leaseRules("operators", "backup-operator"),
  ]);
  assertEquals(rules, [
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    { apiGroups: ["example.com"], resources: ["backups"], verbs: ["get", "list", "watch", "patch"] },
    { apiGroups: ["example.com"], resources: ["backups/finalizers"], verbs: ["update"] },
    { apiGroups: ["example.com"], resources: ["backups/status"], verbs: ["patch"] },
    { namespace: "operators", apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    {
      namespace: "operators",
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get", "update"],
      resourceNames: ["backup-operator"],
    },
  ]);
});

Deno.test("mergeRules() puts resources of one group with the same verbs together, and verbs in their usual order", () => {
  assertEquals(
    mergeRules([
      { apiGroups: [""], resources: ["secrets"], verbs: ["watch", "get"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["list", "get"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["watch", "list", "get"] },
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["escalate", "bind", "delete", "get"] },
    ]),
    [
      { apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["get", "delete", "bind", "escalate"] },
    ],
  );
});

Deno.test("mergeRules() leaves out what a wider rule allows already", () => {
  assertEquals(
    mergeRules([
      secrets(["get", "patch"], { namespace: "shop" }),
      secrets(["get"]),
      secrets(["get", "update"], { resourceNames: ["a"] }),
      secrets(["get", "patch", "delete"], { resourceNames: ["a"], namespace: "shop" }),
    ]),
    [
      secrets(["get"]),
      secrets(["update"], { resourceNames: ["a"] }),
      secrets(["patch"], { namespace: "shop" }),
      secrets(["delete"], { namespace: "shop", resourceNames: ["a"] }),
    ],
  );
});

Deno.test("mergeRules() keeps URLs apart from resources", () => {
  const urls = (paths: string[]): ScopedRule => ({
    apiGroups: [],
    resources: [],
    verbs: ["get"],
    nonResourceURLs: paths,
  });
  assertEquals(mergeRules([urls(["/metrics"]), secrets(["get"]), urls(["/healthz", "/metrics"])]), [
    urls(["/healthz", "/metrics"]),
    secrets(["get"]),
  ]);
});

/** Every single permission of the rules that no wider one includes, as text. */
function permissions(rules: readonly ScopedRule[]): string[] {
  const all = rules.flatMap(({ namespace = "*", apiGroups, resources, verbs, resourceNames = [] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((kind) =>
        verbs.map((verb) => [namespace, [...resourceNames].sort().join() || "*", group, kind, verb])
      )
    )
  );
  const texts = new Set(all.map((parts) => parts.join(" ")));
  const included = ([namespace, names, ...rest]: string[]): boolean =>
    [["*", names], [namespace, "*"], ["*", "*"]].some(([place, called]) =>
      (place !== namespace || called !== names) && texts.has([place, called, ...rest].join(" "))
    );
  return [...new Set(all.filter((parts) => !included(parts)).map((parts) => parts.join(" ")))].sort();
}

Deno.test("mergeRules() neither adds nor loses a permission, whatever the order, and merges again to the same", () => {
  const some = (values: string[]): fc.Arbitrary<string[]> =>
    fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 });
  const rule = fc.record({
    apiGroups: some(["", "apps", "example.com"]),
    resources: some(["pods", "secrets", "secrets/status"]),
    verbs: some(["get", "list", "patch", "use"]),
    resourceNames: fc.option(some(["a", "b"]), { nil: undefined }),
    namespace: fc.option(fc.constantFrom("shop", "ops"), { nil: undefined }),
  });
  fc.assert(fc.property(fc.array(rule), fc.array(fc.nat()), (rules, order) => {
    const merged = mergeRules(rules);
    assertEquals(permissions(merged), permissions(rules));
    assertEquals(mergeRules(merged), merged);
    const shuffled = [...rules].map((rule, index) => [order[index] ?? 0, rule] as const).sort(([a], [b]) => a - b);
    assertEquals(mergeRules(shuffled.map(([, rule]) => rule)), merged);
  }));
});

Deno.test("roles() writes a ClusterRole for what holds everywhere, and a Role for each namespace", () => {
  const objects = roles([
    secrets(["get"]),
    secrets(["patch"], { namespace: "b" }),
    secrets(["create"], { namespace: "a" }),
  ], {
    name: "copier",
    serviceAccount: "robot",
    namespace: "operators",
    labels: { team: "x" },
  });
  assertEquals(objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name]), [
    ["ClusterRole", undefined, "copier"],
    ["ClusterRoleBinding", undefined, "copier"],
    ["Role", "a", "copier"],
    ["RoleBinding", "a", "copier"],
    ["Role", "b", "copier"],
    ["RoleBinding", "b", "copier"],
  ]);
  assertEquals(objects[0], {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "copier", labels: { team: "x" } },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
  });
  assertEquals(objects[3] as KindedDraft<RoleBinding>, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "copier", namespace: "a", labels: { team: "x" } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "copier" },
    subjects: [{ kind: "ServiceAccount", name: "robot", namespace: "operators" }],
  });
});

Deno.test("roles() writes no ClusterRole for an operator of some namespaces", () => {
  const rules = scopeRules([...watchRules(ConfigMap), ...eventRules()], ["shop"]);
  const kinds = roles(rules, { name: "a", serviceAccount: "a", namespace: "ops" }).map(({ kind }) => kind);
  assertEquals(kinds, ["Role", "RoleBinding"]);
});

Deno.test("scopeRules() refuses malformed rules and wildcards, and says which part is wrong", () => {
  const good: Rule = { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] };
  const bad: [rule: Partial<Record<keyof Rule, unknown>>, message: string][] = [
    [{ apiGroups: undefined }, "'apiGroups' must be a list of API groups"],
    [{ apiGroups: [] }, "'apiGroups' must be a list of API groups"],
    [{ apiGroups: "apps" }, "'apiGroups' must be a list of API groups"],
    [{ apiGroups: ["apps/v1"] }, "'apiGroups' must be API groups such as apps"],
    [{ apiGroups: ["*"] }, "'apiGroups' must name each of them, without wildcards"],
    [{ resources: ["*"] }, "'resources' must name each of them, without wildcards"],
    [{ resources: ["deployments/*"] }, "'resources' must name each of them, without wildcards"],
    [{ resources: ["Deployment"] }, "'resources' must be plural names in lower case"],
    [{ resources: [""] }, "'resources' must be plural names in lower case"],
    [{ verbs: ["*"] }, "'verbs' must name each of them, without wildcards"],
    [{ verbs: ["GET"] }, "'verbs' must be verbs in lower case"],
    [{ verbs: [] }, "'verbs' must be a list of verbs"],
    [{ resourceNames: [] }, "'resourceNames' must be a list of names"],
    [{ resourceNames: ["a/b"] }, "'resourceNames' must be names of objects"],
    [{ nonResourceURLs: ["/metrics"] }, "'apiGroups' must be empty beside 'nonResourceURLs'"],
    [{ apiGroups: [], resources: [], nonResourceURLs: ["metrics"] }, "'nonResourceURLs' must be paths"],
    [{ apiGroups: [], resources: [], nonResourceURLs: ["/api/*"] }, "'nonResourceURLs' must name each of them"],
  ];
  for (const [change, message] of bad) {
    const rule = { ...good, ...change } as Rule;
    const error = assertThrows(() => scopeRules([rule], undefined), TypeError);
    assert(error.message.startsWith(`Cannot define rule: ${message}`), error.message);
  }
  assertThrows(() => scopeRules([null as unknown as Rule], undefined), TypeError, "it must be an object");
  assertThrows(() => scopeRules([good], ["a/b"]), TypeError, "'namespace' must be a DNS label");
  const url = { apiGroups: [], resources: [], verbs: ["get"], nonResourceURLs: ["/metrics"] };
  assertThrows(() => scopeRules([url], ["a"]), TypeError, "'nonResourceURLs' must hold cluster-wide");
});
