import { assert, assertEquals, assertGreater, assertMatch, assertRejects } from "@std/assert";
import type { Client, List } from "../../client.ts";
import { customResource } from "../../crd.ts";
import { ApiError, isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../errors.ts";
import { ConfigMap, Deployment, Node, Pod } from "../../kinds.ts";
import { Client as NewClient } from "../../mod.ts";
import type { KubernetesObject } from "../../resource.ts";
import { kubeconfigOf } from "../../testing/_kubeconfig.ts";
import { applyAll, makeNamespace } from "./_cluster.ts";
import { sharedControlPlane } from "./_setup.ts";

const plane = sharedControlPlane();

interface Place extends AsyncDisposable {
  readonly client: Client;
  readonly namespace: string;
}

/** The admin's client, with a namespace of the test's own as its default. */
async function place(): Promise<Place> {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  const client = plane().client(plane().admin, { namespace });
  return { client, namespace, [Symbol.asyncDispose]: () => client.close() };
}

/** The error that a call is answered with. */
function refused(call: () => Promise<unknown>, message?: string): Promise<ApiError> {
  return assertRejects(call, ApiError, message);
}

const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "web", image: "web", env: [{ name: "A", value: "1" }] }] },
    },
  },
});

Deno.test("Api.create(), get(), find() and generateName on a real server", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const made = await maps.create({ metadata: { name: "one" }, data: { a: "b" } });
  assertEquals([made.apiVersion, made.kind, made.metadata.namespace], ["v1", "ConfigMap", at.namespace]);
  assertEquals(await maps.get("one"), made);
  assertEquals(await maps.get(made, { resourceVersion: "0" }), made);
  assertEquals(await maps.find({ name: "one", namespace: at.namespace }), made);
  assertEquals(await maps.find("none"), undefined);
  const [first, second] = [
    await maps.create({ metadata: { generateName: "many-" } }),
    await maps.create({ metadata: { generateName: "many-" } }),
  ];
  assertMatch(first.metadata.name, /^many-[a-z0-9]{5}$/);
  assert(first.metadata.name !== second.metadata.name);
});

Deno.test("Errors of a real server keep its code, reason, message and details, and name the request", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const path = `/api/v1/namespaces/${at.namespace}/configmaps`;
  const missing = await refused(() => maps.get("none"));
  assert(isNotFound(missing));
  assertEquals([missing.code, missing.reason, missing.method, missing.path], [404, "NotFound", "GET", `${path}/none`]);
  assertEquals(missing.details, { name: "none", kind: "configmaps" });
  assertEquals(missing.message, `Cannot GET ${path}/none: the server answered 404: configmaps "none" not found`);

  await maps.create({ metadata: { name: "one" } });
  const twice = await refused(() => maps.create({ metadata: { name: "one" } }));
  assert(isAlreadyExists(twice));
  assertEquals([twice.code, twice.method, twice.path], [409, "POST", `${path}?fieldManager=tend`]);

  const invalid = await refused(() => at.client.api(Deployment).create({ metadata: { name: "Web" }, spec: {} }));
  assert(isInvalid(invalid));
  assertEquals([invalid.code, invalid.details?.group, invalid.details?.kind], [422, "apps", "Deployment"]);
  const fields = invalid.details!.causes!.map(({ field, reason }) => `${field} ${reason}`);
  assert(fields.includes("metadata.name FieldValueInvalid"), `${fields}`);
  assert(fields.includes("spec.selector FieldValueRequired"), `${fields}`);

  await using nobody = plane().client(plane().user("nobody"));
  const forbidden = await refused(() => nobody.api(ConfigMap).list({ namespace: at.namespace }));
  assertEquals([forbidden.code, forbidden.reason], [403, "Forbidden"]);
  assertMatch(forbidden.status.message!, /User "nobody" cannot list resource "configmaps" in API group ""/);
  const { server, ca } = { server: plane().url, ca: plane().ca };
  await using stranger = new NewClient({ server, ca, token: "wrong" });
  const unknown = await refused(() => stranger.api(ConfigMap).list());
  assertEquals([unknown.code, unknown.reason], [401, "Unauthorized"]);
});

Deno.test("Api.replace() with a resource version replaces that version only", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const made = await maps.create({ metadata: { name: "one" }, data: { a: "1" } });
  const replaced = await maps.replace({ ...made, data: { b: "2" } });
  assertEquals(replaced.data, { b: "2" });
  const stale = await refused(() => maps.replace({ ...made, data: {} }));
  assert(isConflict(stale));
  assertEquals([stale.code, stale.reason, stale.method], [409, "Conflict", "PUT"]);
  assertEquals((await maps.replace({ metadata: { name: "one" }, data: { c: "3" } })).data, { c: "3" });
});

Deno.test("Api.patch() merges, runs JSON patches and merges lists by their keys", async () => {
  await using at = await place();
  const deployments = at.client.api(Deployment);
  const made = await deployments.create(deployment("web"));
  const container = (patched: Deployment) => patched.spec!.template.spec!.containers[0]!;

  const merged = await deployments.patch(made, { metadata: { labels: { a: "b" } }, spec: { replicas: 2 } });
  assertEquals([merged.metadata.labels, merged.spec!.replicas], [{ a: "b" }, 2]);
  const containers = [{ name: "web", env: [{ name: "B", value: "2" }] }];
  const strategic = await deployments.patch(made, { spec: { template: { spec: { containers } } } }, {
    type: "strategic",
  });
  assertEquals(container(strategic).image, "web");
  assertEquals(container(strategic).env!.map(({ name }) => name).sort(), ["A", "B"]);
  const path = "/spec/template/spec/containers/0/env";
  const json = await deployments.patch(made, [
    { op: "test", path: "/metadata/uid", value: made.metadata.uid },
    { op: "replace", path, value: [{ name: "C", value: "3" }] },
  ], { type: "json" });
  assertEquals(container(json).env!.map(({ name }) => name), ["C"]);

  const failed = await refused(() =>
    deployments.patch(made, [{ op: "test", path: "/metadata/uid", value: "other" }], { type: "json" })
  );
  assertEquals(failed.code, 422);
  const { resourceVersion } = made.metadata;
  const stale = await refused(() => deployments.patch(made, { metadata: { resourceVersion }, spec: { replicas: 3 } }));
  assert(isConflict(stale));
  const foreign = await refused(() => deployments.patch(made, { metadata: { uid: crypto.randomUUID() } }));
  assertEquals([foreign.code, foreign.details?.causes?.[0]?.field], [422, "metadata.uid"]);
});

Deno.test("Api.apply() creates, merges by owner, meets conflicts, and takes fields over when forced", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const draft = (data: Record<string, string>) => ({ metadata: { name: "one" }, data });
  const made = await maps.apply(draft({ a: "1", b: "1" }));
  assertEquals(made.metadata.managedFields!.map(({ manager, operation }) => [manager, operation]), [["tend", "Apply"]]);
  assertEquals((await maps.apply(draft({ a: "1" }))).data, { a: "1" }, "what is no longer applied goes");

  const conflict = await refused(() => maps.apply(draft({ a: "2" }), { fieldManager: "other" }));
  assert(isConflict(conflict));
  const [cause] = conflict.details!.causes!;
  assertEquals([cause!.reason, cause!.field], ["FieldManagerConflict", ".data.a"]);
  assertMatch(cause!.message!, /conflict with "tend"/);
  assertEquals((await maps.apply(draft({ c: "3" }), { fieldManager: "other" })).data, { a: "1", c: "3" });
  const forced = await maps.apply(draft({ a: "2", c: "3" }), { fieldManager: "other", force: true });
  assertEquals(forced.data, { a: "2", c: "3" });
  // What a server returned can be applied as it is.
  const again = await maps.apply({ ...forced, data: { a: "2", c: "4" } }, { fieldManager: "other" });
  assertEquals(again.data, { a: "2", c: "4" });
  const same = await maps.apply({ ...forced, data: { a: "2", c: "4" } }, { fieldManager: "other" });
  assertEquals(same.metadata.resourceVersion, again.metadata.resourceVersion);
});

Deno.test("Api.delete() with preconditions deletes that object only, and answers with what is left or a Status", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const made = await maps.create({ metadata: { name: "one", finalizers: ["example.com/hold"] } });
  assert(isConflict(await refused(() => maps.delete("one", { uid: crypto.randomUUID() }))));
  assert(isConflict(await refused(() => maps.delete("one", { uid: made.metadata.uid, resourceVersion: "1" }))));
  assertEquals((await maps.get("one")).metadata.deletionTimestamp, undefined);

  const held = await maps.delete(made, { uid: made.metadata.uid }) as ConfigMap;
  assertMatch(held.metadata.deletionTimestamp!, /Z$/);
  await maps.patch(made, { metadata: { finalizers: null } });
  assertEquals(await maps.find(made), undefined);

  await maps.create({ metadata: { name: "two" } });
  const status = await maps.delete("two") as { kind: string; status: string; details: { uid: string } };
  assertEquals([status.kind, status.status], ["Status", "Success"]);
  assert(isNotFound(await refused(() => maps.delete("two"))));

  const pods = at.client.api(Pod);
  const spec = { containers: [{ name: "a", image: "a" }] };
  const pod = await pods.create({ metadata: { name: "a" }, spec });
  assertEquals(pod.spec!.terminationGracePeriodSeconds, 30);
  await pods.delete("a", { gracePeriodSeconds: 0 });
  assertEquals(await pods.find("a"), undefined);
  const web = await at.client.api(Deployment).create(deployment("web"));
  const fading = await at.client.api(Deployment).delete(web, { propagationPolicy: "Foreground" }) as Deployment;
  assertEquals(fading.metadata.finalizers, ["foregroundDeletion"]);
});

Deno.test("Api.list(), items() and deleteCollection() select by label and field, and page", async () => {
  await using at = await place();
  const { namespace } = at;
  const maps = at.client.api(ConfigMap);
  for (let index = 0; index < 7; index++) {
    await maps.create({ metadata: { name: `map-${index}`, labels: { parity: index % 2 ? "odd" : "even" } } });
  }
  const names = (list: List<KubernetesObject>) => list.items.map(({ metadata }) => metadata.name);
  const odd = await maps.list({ namespace, labelSelector: "parity=odd" });
  assertEquals(names(odd), ["map-1", "map-3", "map-5"]);
  assertEquals([odd.kind, odd.items[0]!.kind, odd.items[0]!.apiVersion], ["ConfigMapList", "ConfigMap", "v1"]);
  assertEquals(names(await maps.list({ namespace, labelSelector: "parity notin (odd),parity" })).length, 4);
  assertEquals(names(await maps.list({ namespace, fieldSelector: "metadata.name=map-2" })), ["map-2"]);
  const everywhere = await maps.list({ fieldSelector: `metadata.namespace=${namespace}` });
  assertEquals(everywhere.items.length, 7);

  const page = await maps.list({ namespace, limit: 3 });
  assertEquals([page.items.length, page.metadata.remainingItemCount], [3, 4]);
  const next = await maps.list({ namespace, limit: 3, continue: page.metadata.continue });
  assertEquals(names(next), ["map-3", "map-4", "map-5"]);
  const all = await Array.fromAsync(maps.items({ namespace, pageSize: 2 }));
  assertEquals(all.map(({ metadata }) => metadata.name), [0, 1, 2, 3, 4, 5, 6].map((index) => `map-${index}`));

  const { resourceVersion } = page.metadata;
  await maps.delete("map-0");
  const exact = await maps.list({ namespace, resourceVersion, resourceVersionMatch: "Exact", limit: 10 });
  assertEquals(exact.items.length, 7);
  await maps.deleteCollection({ namespace, labelSelector: "parity=even", dryRun: true });
  assertEquals((await maps.list({ namespace })).items.length, 6);
  await maps.deleteCollection({ namespace, labelSelector: "parity=even" });
  assertEquals(names(await maps.list({ namespace })), ["map-1", "map-3", "map-5"]);
});

Deno.test("Writes with dryRun are checked and answered, and not stored; fieldValidation Strict refuses unknown fields", async () => {
  await using at = await place();
  const maps = at.client.api(ConfigMap);
  const dryRun = true;
  const tried = await maps.create({ metadata: { name: "one" } }, { dryRun });
  assertEquals([tried.metadata.name, await maps.find("one")], ["one", undefined]);
  const made = await maps.create({ metadata: { name: "one" }, data: { a: "1" } });
  assertEquals((await maps.patch("one", { data: { a: "2" } }, { dryRun })).data, { a: "2" });
  assertEquals((await maps.replace({ ...made, data: {} }, { dryRun })).data, undefined);
  assertEquals((await maps.apply({ ...made, data: { b: "1" } }, { dryRun, force: true })).data, { a: "1", b: "1" });
  await maps.delete("one", { dryRun });
  assertEquals(await maps.get("one"), made);

  const typo = { ...deployment("web"), spec: { ...deployment("web").spec, replicsa: 2 } };
  const strict = await refused(() => at.client.api(Deployment).create(typo, { fieldValidation: "Strict" }));
  assertEquals(strict.code, 400);
  assertMatch(strict.message, /strict decoding error: unknown field "spec.replicsa"/);
  await at.client.api(Deployment).create(typo, { fieldValidation: "Ignore" });
});

Deno.test("Api.status and Api.scale read and write their part of the object only", async () => {
  await using at = await place();
  const deployments = at.client.api(Deployment);
  await deployments.create(deployment("web"));
  const scale = await deployments.scale.get("web");
  assertEquals([scale.apiVersion, scale.kind, scale.spec?.replicas], ["autoscaling/v1", "Scale", 1]);
  assertEquals(scale.status?.selector, "app=web");
  assertEquals((await deployments.scale.patch("web", { spec: { replicas: 2 } })).spec?.replicas, 2);
  const current = await deployments.scale.get("web");
  assertEquals((await deployments.scale.replace({ ...current, spec: { replicas: 3 } })).spec?.replicas, 3);
  assert(isConflict(await refused(() => deployments.scale.replace({ ...current, spec: { replicas: 4 } }))));

  const patched = await deployments.status.patch("web", { status: { replicas: 3 }, spec: { replicas: 9 } });
  assertEquals([patched.status?.replicas, patched.spec?.replicas], [3, 3]);
  const read = await deployments.status.get("web");
  assertEquals(read.status, patched.status);
  const replaced = await deployments.status.replace({ ...read, status: { replicas: 2 } });
  assertEquals(replaced.status?.replicas, 2);
  const applied = await deployments.status.apply(
    { metadata: { name: "web" }, status: { readyReplicas: 1 } },
    { fieldManager: "prober" },
  );
  assertEquals([applied.status?.replicas, applied.status?.readyReplicas], [2, 1]);
  const owner = applied.metadata.managedFields!.find(({ manager }) => manager === "prober")!;
  assertEquals([owner.operation, owner.subresource], ["Apply", "status"]);
});

Deno.test("Api.watch() tells what happens after a version, with bookmarks and selectors, until its time or an error", async () => {
  await using at = await place();
  const { namespace } = at;
  const maps = at.client.api(ConfigMap);
  const { metadata: { resourceVersion } } = await maps.list({ namespace });
  const labelSelector = "watched";
  const stop = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    const options = { namespace, resourceVersion, labelSelector, signal: stop.signal };
    for await (const { type, object } of maps.watch(options)) {
      seen.push(`${type} ${object.metadata.name}`);
      if (type === "DELETED") break;
    }
  })();
  await maps.create({ metadata: { name: "other" } });
  await maps.create({ metadata: { name: "one", labels: { watched: "" } } });
  await maps.patch("one", { data: { a: "ä€😀\n" } });
  await maps.delete("one");
  await watching;
  assertEquals(seen, ["ADDED one", "MODIFIED one", "DELETED one"]);

  const events = await Array.fromAsync(maps.watch({ namespace, allowWatchBookmarks: true, timeoutSeconds: 2 }));
  assertEquals(
    events.map(({ type, object }) => type === "BOOKMARK" ? type : `${type} ${object.metadata.name}`).slice(0, 1),
    [
      "ADDED other",
    ],
  );
  const initial = [];
  for await (
    const { type, object } of maps.watch({
      namespace,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
    })
  ) {
    initial.push(type);
    if (object.metadata.annotations?.["k8s.io/initial-events-end"] === "true") break;
  }
  assertEquals(initial, ["ADDED", "BOOKMARK"]);
  const aborted = maps.watch({ namespace, resourceVersion, signal: stop.signal });
  await aborted.next();
  stop.abort();
  await assertRejects(() => Array.fromAsync(aborted));
});

Deno.test("A cluster-scoped kind and a custom one have the same verbs", async () => {
  await using at = await place();
  const nodes = at.client.api(Node);
  await nodes.create({ metadata: { name: "node" } });
  assertEquals((await nodes.get("node")).metadata.namespace, undefined);
  assertEquals((await nodes.patch("node", { spec: { unschedulable: true } })).spec?.unschedulable, true);
  await nodes.deleteCollection();
  assertEquals((await nodes.list()).items, []);

  const Widget = customResource({
    group: "client.example.com",
    version: "v1",
    kind: "Widget",
    spec: { type: "object", properties: { size: { type: "integer" } } },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    selectableFields: [".spec.size"],
  });
  await applyAll(at.client, [Widget.crd()]);
  const widgets = at.client.api(Widget);
  for (const size of [1, 2]) await widgets.create({ metadata: { name: `w${size}` }, spec: { size } });
  const { items } = await widgets.list({ namespace: at.namespace, fieldSelector: "spec.size=2" });
  assertEquals(items.map(({ metadata, apiVersion, kind }) => [apiVersion, kind, metadata.name]), [
    ["client.example.com/v1", "Widget", "w2"],
  ]);
  const grown = await widgets.patch("w2", { spec: { size: 3 }, status: { done: true } });
  assertEquals([grown.spec, grown.status, grown.metadata.generation], [{ size: 3 }, undefined, 2]);
  const strategic = await refused(() => widgets.patch("w2", { spec: {} }, { type: "strategic" }));
  assertEquals([strategic.code, strategic.reason], [415, "UnsupportedMediaType"]);
  const wrong = await refused(() => widgets.create({ metadata: { name: "w3" }, spec: { size: "big" as never } }));
  assert(isInvalid(wrong));
  assertEquals(wrong.details?.causes?.[0]?.field, "spec.size");
});

Deno.test("A merge patch with a foreign uid on the status of a custom object is taken, which is why the status is written by JSON patch", async () => {
  await using at = await place();
  const Gadget = customResource({
    group: "client.example.com",
    version: "v1",
    kind: "Gadget",
    spec: { type: "object" },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  });
  await applyAll(at.client, [Gadget.crd()]);
  const gadgets = at.client.api(Gadget);
  const { metadata } = await gadgets.create({ metadata: { name: "one" }, spec: {} });
  const uid = crypto.randomUUID();
  const taken = await gadgets.status.patch("one", { metadata: { uid }, status: { from: "a stranger" } });
  assertEquals([taken.metadata.uid, taken.status], [metadata.uid, { from: "a stranger" }]);
  const test = { op: "test", path: "/metadata/uid", value: uid } as const;
  const tested = [test, { op: "add", path: "/status/from", value: "another" } as const];
  const failed = await refused(() => gadgets.status.patch("one", tested, { type: "json" }));
  assert(isInvalid(failed));
  assertEquals((await gadgets.get("one")).status, { from: "a stranger" });
});

Deno.test("Client takes client certificates, tokens, tokens in files, what a program prints, and a service account", async () => {
  const certified = plane().user("alice", ["developers"]);
  const account = await plane().serviceAccount("default", "robot");
  const folder = await Deno.makeTempDir({ prefix: "tend-client-" });
  const file = (name: string) => `${folder}/${name}`;
  const whoami = async (client: Client): Promise<string> => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { status } = await client.request<{ status: { userInfo: { username: string } } }>({
      method: "POST",
      path,
      body,
    });
    return status.userInfo.username;
  };
  try {
    await using byCertificate = plane().client(certified);
    assertEquals(await whoami(byCertificate), "alice");
    await using byToken = plane().client(account);
    assertEquals([await whoami(byToken), await byToken.server()], [account.name, plane().url]);

    await Deno.writeTextFile(file("token"), account.token!);
    await Deno.writeTextFile(file("ca.crt"), plane().ca);
    await Deno.writeTextFile(file("namespace"), "shop");
    const { hostname, port } = new URL(plane().url);
    const variables: Record<string, string> = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    await using inCluster = new NewClient({ serviceAccountDir: folder, env: (name) => variables[name] });
    assertEquals([await whoami(inCluster), await inCluster.namespace()], [account.name, "shop"]);

    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential" };
    const status = { token: account.token, expirationTimestamp: new Date(Date.now() + 3_600_000).toISOString() };
    await Deno.writeTextFile(file("credential"), JSON.stringify({ ...credential, status }));
    const config = kubeconfigOf({ server: plane().url, ca: plane().ca });
    const exec = {
      apiVersion: credential.apiVersion,
      command: "cat",
      args: [file("credential")],
      interactiveMode: "Never",
    };
    await Deno.writeTextFile(file("config"), config.replace("user: {}", `user: ${JSON.stringify({ exec })}`));
    await using byProgram = new NewClient({ kubeconfig: file("config") });
    assertEquals(await whoami(byProgram), account.name);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Client counts each request, sends its name and aborts on demand", async () => {
  const codes: unknown[] = [];
  await using client = plane().client(plane().admin, {
    userAgent: "counter",
    onRequest: ({ method, code }) => codes.push([method, code]),
  });
  await client.api(ConfigMap).find("none", { namespace: "default" });
  await client.api(ConfigMap).create({ metadata: { name: "counted", namespace: "default" } }, { fieldManager: "me" });
  assertEquals(codes, [["GET", 404], ["POST", 201]]);
  await plane().pause();
  const started = performance.now();
  try {
    const timeout = client.api(ConfigMap).list({ timeout: 300 });
    const error = await assertRejects(() => timeout);
    assertEquals((error as { timedOut?: boolean }).timedOut, true);
    const reason = new Error("enough");
    const aborted = client.api(ConfigMap).list({ signal: AbortSignal.any([AbortSignal.abort(reason)]) });
    assertEquals(await assertRejects(() => aborted), reason);
    assertGreater(performance.now() - started, 299);
  } finally {
    plane().resume();
  }
  assertEquals((await client.api(ConfigMap).get("counted", { namespace: "default" })).metadata.name, "counted");
});
