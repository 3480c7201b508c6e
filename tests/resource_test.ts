import { assert, assertEquals, assertFalse, assertNotEquals, assertThrows } from "@std/assert";
import { childName, isDnsLabel, isLabelValue, labelValue } from "../names.ts";
import {
  assertCanOwn,
  compareVersions,
  fromKey,
  keyOf,
  type KubernetesObject,
  ownerReference,
  Resource,
  resource,
  type ResourceDefinition,
  toKey,
} from "../resource.ts";
import { labelSelector } from "../selectors.ts";
import { changesAnything, changesDesired, controllerUid, mapped, ownerKey } from "../triggers.ts";

const Thing = resource({ group: "example.com", version: "v1", kind: "Thing", plural: "things" });
const Realm = resource({ group: "example.com", version: "v1", kind: "Realm", plural: "realms", scope: "Cluster" });

function object(change: Partial<KubernetesObject["metadata"]> = {}, rest = {}): KubernetesObject {
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: {
      name: "a",
      namespace: "n",
      uid: "1",
      resourceVersion: "5",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...change,
    },
    ...rest,
  };
}

Deno.test("Resource.path() encodes each segment once, and keeps colons (B42)", () => {
  assertEquals(Thing.path(), "/apis/example.com/v1/things");
  assertEquals(Thing.path("n", "a", "status"), "/apis/example.com/v1/namespaces/n/things/a/status");
  const Role = resource({
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind: "ClusterRole",
    plural: "clusterroles",
    scope: "Cluster",
  });
  assertEquals(
    Role.path(undefined, "system:foo:bar"),
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:foo:bar",
  );
  assertEquals(Role.path("ignored", "a b"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b");
  assertEquals(
    resource({ group: "", version: "v1", kind: "Pod", plural: "pods" }).path("n"),
    "/api/v1/namespaces/n/pods",
  );
});

Deno.test("Resource.path() refuses segments that would change the path (B42)", () => {
  for (const name of ["", ".", "..", "a/b", "%2e%2e", "a%", "half \ud83d"]) {
    assertThrows(() => Thing.path("n", name), TypeError, "'name'");
    assertThrows(() => Thing.path(name), TypeError, "'namespace'");
  }
});

Deno.test("resource() refuses what is no kind, saying what and where", () => {
  const good: ResourceDefinition = { group: "example.com", version: "v1", kind: "Thing", plural: "things" };
  const cases: [Partial<ResourceDefinition>, string][] = [
    [{ group: "Example.com" }, "'group'"],
    [{ version: "" }, "'version'"],
    [{ version: "v1/x" }, "'version'"],
    [{ kind: "thing" }, "'kind'"],
    [{ kind: "" }, "'kind'"],
    [{ plural: "Things" }, "'plural'"],
    [{ scope: "namespaced" as "Namespaced" }, "'scope'"],
    [{ group: undefined as unknown as string }, "'group'"],
  ];
  for (const [change, text] of cases) assertThrows(() => new Resource({ ...good, ...change }), TypeError, text);
});

Deno.test("keys go there and back through one function, for namespaced and cluster-scoped objects", () => {
  for (const ref of [{ namespace: "n", name: "a" }, { name: "a" }]) assertEquals(fromKey(toKey(ref)), ref);
  assertEquals(keyOf(object()), "n/a");
  assertEquals(toKey({ namespace: "", name: "a" }), "a");
});

Deno.test("compareVersions() orders numbers of any length and never calls what is none older", () => {
  assert(compareVersions("9", "10") < 0);
  assert(compareVersions("10", "9") > 0);
  assertEquals(compareVersions("10", "10"), 0);
  assert(compareVersions("18446744073709551616", "18446744073709551615") > 0);
  assert(compareVersions("abc", "10") > 0);
  assert(compareVersions("10", "abc") > 0);
});

Deno.test("assertCanOwn() refuses owners that the garbage collector would not find (B40)", () => {
  const child = (namespace?: string) => ({
    kind: "ConfigMap",
    metadata: { name: "c", ...(namespace ? { namespace } : {}) },
  });
  const clusterOwner = { ...object(), kind: "Realm", metadata: { ...object().metadata, namespace: undefined! } };
  assertThrows(() => assertCanOwn(object(), child("other")), TypeError, `namespace "other"`);
  assertThrows(() => assertCanOwn(object(), child()), TypeError, "cluster-scoped");
  assertCanOwn(object(), child("n"));
  assertCanOwn(clusterOwner, child("any"));
  assertCanOwn(clusterOwner, child());
});

Deno.test("ownerReference() never names an owner by half (B40)", () => {
  assertEquals(ownerReference(object()), {
    apiVersion: "example.com/v1",
    kind: "Thing",
    name: "a",
    uid: "1",
    controller: true,
    blockOwnerDeletion: true,
  });
  assertThrows(() => ownerReference(object({ uid: "" })), TypeError, "'uid'");
  assertThrows(() => ownerReference({ ...object(), kind: "" }), TypeError, "'kind'");
  assertThrows(() => ownerReference({ ...object(), apiVersion: undefined! }), TypeError, "'apiVersion'");
});

Deno.test("ownerKey() matches group and kind of the controlling owner, not its version (B27)", () => {
  const child = (owner: Record<string, unknown>) =>
    object({
      ownerReferences: [{
        apiVersion: "example.com/v1",
        kind: "Thing",
        name: "o",
        uid: "9",
        controller: true,
        ...owner,
      }],
    }).metadata;
  assertEquals(ownerKey(Thing, child({})), "n/o");
  assertEquals(ownerKey(Thing, child({ apiVersion: "example.com/v1beta1" })), "n/o");
  assertEquals(ownerKey(Thing, child({ apiVersion: "other.com/v1" })), undefined);
  assertEquals(ownerKey(Thing, child({ apiVersion: "v1" })), undefined);
  assertEquals(ownerKey(Thing, child({ controller: false })), undefined);
  assertEquals(ownerKey(Realm, child({ kind: "Realm" })), "o", "a cluster-scoped owner has no namespace");
  const Secret = resource({ group: "", version: "v1", kind: "Secret", plural: "secrets" });
  assertEquals(ownerKey(Secret, child({ apiVersion: "v1", kind: "Secret" })), "n/o", "the core group has no name");
  assertEquals(ownerKey(Secret, child({ apiVersion: "v2", kind: "Secret" })), "n/o");
  assertEquals(ownerKey(Secret, child({ apiVersion: "vault.example.com/v1", kind: "Secret" })), undefined);
  assertEquals(ownerKey(Realm, child({ apiVersion: "example.com/v2alpha1", kind: "Realm" })), "o");
  const two = object({
    ownerReferences: [
      { apiVersion: "example.com/v1", kind: "Thing", name: "first", uid: "8" },
      { apiVersion: "example.com/v1", kind: "Thing", name: "second", uid: "9", controller: true },
    ],
  });
  assertEquals(ownerKey(Thing, two.metadata), "n/second");
  assertEquals(controllerUid(two), ["9"]);
  assertEquals(controllerUid(object()), []);
});

Deno.test("changesDesired() ignores status, versions and managed fields, and nothing else (B25, B34)", () => {
  const before = object({ generation: 1 }, { spec: { x: 1 }, status: { y: 1 } });
  const changed = (meta: Partial<KubernetesObject["metadata"]>, rest = {}) =>
    changesDesired(
      before,
      object({ generation: 1, resourceVersion: "6", ...meta }, { spec: { x: 1 }, status: { y: 1 }, ...rest }),
    );
  assertFalse(changed({}));
  assertFalse(changed({ managedFields: [{}] }, { status: { y: 2 } }));
  assert(changed({ generation: 2 }));
  assert(changed({ deletionTimestamp: "2026-01-01T00:00:00Z" }));
  assert(changed({ finalizers: ["example.com/a"] }));
  assert(changed({ labels: { a: "b" } }));
  assert(changed({ annotations: { a: "b" } }));
  assert(changed({ ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "2" }] }));
});

Deno.test("changesDesired() compares all but the status of kinds without a generation", () => {
  const before = object({}, { data: { a: "1" }, status: {} });
  assert(changesDesired(before, object({ resourceVersion: "6" }, { data: { a: "2" }, status: {} })));
  assertFalse(changesDesired(before, object({ resourceVersion: "6" }, { data: { a: "1" }, status: { z: 1 } })));
});

Deno.test("changesAnything() sees a child's status but not its version and managed fields alone (B38)", () => {
  const before = object({}, { status: { ready: 1 } });
  assertFalse(changesAnything(before, object({ resourceVersion: "6", managedFields: [{}] }, { status: { ready: 1 } })));
  assert(changesAnything(before, object({ resourceVersion: "6" }, { status: { ready: 2 } })));
});

Deno.test("labelValue() and childName() give valid, repeatable names that do not collide (B42)", () => {
  const long = "a".repeat(253);
  for (
    const text of [
      "a",
      "a".repeat(63),
      "a".repeat(64),
      long,
      `${"a".repeat(63)}b`,
      `${"a".repeat(63)}c`,
      "x:y",
      "-",
      "é",
      ".a",
    ]
  ) {
    assert(isLabelValue(labelValue(text)), text);
    assertEquals(labelValue(text), labelValue(text));
    assert(isDnsLabel(childName(text, "child")), text);
  }
  assertNotEquals(labelValue(`${"a".repeat(63)}b`), labelValue(`${"a".repeat(63)}c`));
  assertNotEquals(childName(`${long.slice(1)}b`, "x"), childName(`${long.slice(1)}c`, "x"));
  assertNotEquals(childName("a.b", "x"), childName("a-b", "x"));
  assertEquals(childName("web", "config"), "web-config");
  // The objects of these names are in clusters: another version of the framework must find them.
  assertEquals(childName("shop.example.com", "Web"), "shop-example-com-web-25ee1cac41");
  assertEquals(labelValue("Überschrift"), "berschrift-fb039458a3");
  assertThrows(() => childName("", "x"), TypeError, "no part may be empty");
});

Deno.test("labelSelector() selects as the server does", () => {
  const labels = { app: "web", tier: "front", "example.com/x": "", weight: "7" };
  const cases: [string, boolean][] = [
    ["", true],
    ["app=web", true],
    ["app==web,tier=front", true],
    ["app=web,tier=back", false],
    ["app!=web", false],
    ["none!=x", true],
    ["app in (web, api)", true],
    ["app notin (web)", false],
    ["none notin (x)", true],
    ["none in (x)", false],
    ["example.com/x", true],
    ["!example.com/x", false],
    ["!none", true],
    ["example.com/x=", true],
    ["weight>5", true],
    ["weight<5", false],
    ["toString", false],
  ];
  for (const [selector, expected] of cases) assertEquals(labelSelector(selector)(labels), expected, selector);
  assertEquals(labelSelector("a")(undefined), false);
  for (const wrong of ["=x", "a=b c", "a in x", "a,,b", "é=x", "a in (b"]) {
    assertThrows(() => labelSelector(wrong), SyntaxError, "Cannot read label selector");
  }
});

Deno.test("mapped() reads objects and their names, and says what a map function is to answer with", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  };
  assertEquals(mapped([object, { name: "b" }], object).map(({ name }) => name), ["a", "b"]);
  assertEquals(mapped(new Set([{ name: "b" }]), object), [{ name: "b" }]);
  for (const answer of [undefined, null, "b", ["b"], [undefined], [{ metadata: null }], Promise.resolve([])]) {
    assertThrows(
      () => mapped(answer, object),
      TypeError,
      `Cannot map ConfigMap "shop/a": 'map' must answer, without a promise`,
    );
  }
});
