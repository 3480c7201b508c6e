/** What the cases say of API servers, asked of a real one: what it refuses, and that what the framework sends is taken. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Controller } from "../../controller.ts";
import { customResource } from "../../crd.ts";
import { ApiError, isConflict, isNamespaceTerminating } from "../../errors.ts";
import { EventRecorder } from "../../events.ts";
import { ClusterRole, ConfigMap, Deployment, Event, Lease, Namespace, Role } from "../../kinds.ts";
import { addFinalizer, removeFinalizer } from "../../finalizer.ts";
import { LeaderElector } from "../../leader.ts";
import { childName, labelValue } from "../../names.ts";
import { assertCanOwn, type KubernetesObject, ownerReference } from "../../resource.ts";
import { operatorOf, start } from "../_operator.ts";
import { applyAll, makeNamespace, removeDefinition } from "./_cluster.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

/** The error that a call is answered with. */
function refused(call: () => Promise<unknown>): Promise<ApiError> {
  return assertRejects(call, ApiError);
}

Deno.test("B13: A list of a version of the future is answered with 504 and its cause, a watch from there is taken and silent", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const { metadata } = await client.api(ConfigMap).list({ namespace });
  const resourceVersion = String(Number(metadata.resourceVersion) + 1_000_000);
  const api = client.api(ConfigMap);
  const late = await refused(() =>
    api.list({ namespace, resourceVersion, resourceVersionMatch: "NotOlderThan", timeout: 5_000 })
  );
  assertEquals([late.code, late.details?.causes?.[0]?.reason], [504, "ResourceVersionTooLarge"]);
  const events = api.watch({ namespace, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 3 });
  const next = events.next();
  await api.create({ metadata: { name: "unseen", namespace } });
  assertEquals(await next, { done: true, value: undefined });
});

Deno.test("B35: Without the subresource a status is written by the main path and counts as a change, and /status is not there; with it, neither", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const kind = (name: string) =>
    customResource({ group: "cases.example.com", version: "v1", kind: name, spec, status: spec });
  const [With, Without] = [kind("With"), kind("Without")];
  const bare = Without.crd();
  for (const version of bare.spec?.versions ?? []) delete version?.subresources;
  await applyAll(client, [With.crd(), bare]);
  const at = { name: "a", namespace };
  for (const one of [With, Without]) {
    const api = client.api<KubernetesObject>(one as never);
    await api.create({ metadata: at, spec: {}, status: { early: true } } as never);
    const { status, metadata } = await api.patch(at, { status: { x: 1 } }) as KubernetesObject & { status?: unknown };
    const subresource = one === With;
    assertEquals(status, subresource ? undefined : { early: true, x: 1 });
    assertEquals(metadata.generation, subresource ? 1 : 2);
  }
  const { metadata } = await client.api(With).status.patch(at, { status: { x: 1 } });
  assertEquals(metadata.generation, 1);
  assertEquals((await refused(() => client.api(Without).status.patch(at, { status: { x: 1 } }))).code, 404);

  const errors: string[] = [];
  let runs = 0;
  const controller = new Controller(Without).reconcile(async (object, ctx) => {
    runs++;
    for (
      const write of [
        () => ctx.patchStatus(object, { x: 2 }),
        () => ctx.setCondition(object, { type: "Ready", status: true, reason: "Done" }),
      ]
    ) await write().catch((error) => errors.push(error.message));
    throw new Error("no");
  });
  await using running = start(operatorOf(controller as never), client, undefined, { namespaces: [namespace] });
  await until("A reconcile", () => Promise.resolve(errors.length >= 2));
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await running.stop();
  assertEquals(runs, 1, "it is not tried hot");
  for (const error of errors) {
    assertStringIncludes(error, `its kind has no status subresource; enable 'subresources.status'`);
  }
  for (const name of ["withs", "withouts"]) await removeDefinition(client, `${name}.cases.example.com`);
});

Deno.test("B37: The server refuses managed fields and the want of a manager, of which the client sends neither", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web" }] } };
  const api = client.api(Deployment);
  await api.create({ metadata: { name: "web", namespace }, spec: { selector: { matchLabels: labels }, template } });
  const read = await api.get({ name: "web", namespace });
  const path = Deployment.path(namespace, "web");
  const raw = (body: unknown, query: Record<string, string>) =>
    refused(() => client.request({ method: "PATCH", path, query, body, contentType: "application/apply-patch+yaml" }));
  const nil = await raw(read, { fieldManager: "x", force: "true" });
  assertEquals([nil.code, nil.status.message], [400, "metadata.managedFields must be nil"]);
  const { managedFields: _, ...metadata } = read.metadata;
  assertEquals((await raw({ ...read, metadata }, {})).code, 422);
  const { apiVersion: _version, kind: _kind, ...bare } = read;
  const stale = { ...bare.metadata, resourceVersion: "1", uid: crypto.randomUUID() };
  const applied = await api.apply({ ...bare, metadata: stale, spec: { ...read.spec, replicas: 3 } }, { force: true });
  assertEquals([applied.spec?.replicas, applied.metadata.uid], [3, read.metadata.uid]);
  const { managedFields } = await api.apply({ ...read, spec: { ...read.spec, replicas: 4 } }, { fieldManager: "" })
    .then(({ metadata }) => metadata);
  assertEquals(managedFields?.find(({ operation }) => operation === "Apply")?.manager, "tend");
});

Deno.test("B39: What a manager made by a create is another's to its apply: the conflict names it and the field, force takes it, omission releases it", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const api = client.api(ConfigMap);
  const metadata = { name: "c", namespace };
  await api.create({ metadata, data: { a: "1", b: "1" } }, { fieldManager: "x" });
  const conflict = await refused(() => api.apply({ metadata, data: { a: "2" } }, { fieldManager: "x" }));
  assert(isConflict(conflict));
  assertMatch(conflict.message, /conflict with "x" using v1.*\.data\.a/s);
  await api.apply({ metadata, data: { a: "2" } }, { fieldManager: "x", force: true });
  await api.apply({ metadata, data: { a: "2", c: "3" } }, { fieldManager: "z" });
  await api.apply({ metadata }, { fieldManager: "x" });
  assertEquals((await api.get(metadata)).data, { a: "2", b: "1", c: "3" }, "another holds what it released");
});

Deno.test("B42: Colons in names go there and back, and names and values made of the longest owners' are taken and apart", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const roles = client.api(ClusterRole);
  const name = `cases:${namespace}:bar`;
  await roles.create({ metadata: { name }, rules: [] });
  assertEquals((await roles.get(name)).metadata.name, name);
  await roles.patch(name, { metadata: { labels: { a: "b" } } });
  await roles.apply({ metadata: { name, labels: { c: "d" } } });
  await roles.delete(name);
  assertEquals(await roles.find(name), undefined);

  const api = client.api(ConfigMap);
  const owners = [
    "a".repeat(63),
    "a".repeat(64),
    `${"a".repeat(63)}b`,
    `${"a".repeat(250)}b.c`,
    `${"a".repeat(250)}b-c`,
  ];
  for (const owner of owners) {
    await api.create({ metadata: { name: owner, namespace, labels: { owner: labelValue(owner) } } });
    await api.create({ metadata: { name: childName(owner, "child"), namespace, labels: { of: labelValue(owner) } } });
  }
  for (const owner of owners) {
    const { items } = await api.list({ namespace, labelSelector: `of in (${labelValue(owner)}, other)` });
    assertEquals(items.map(({ metadata }) => metadata.name), [childName(owner, "child")]);
  }
});

Deno.test("B43, B45, B51: Every event that is recorded is taken, whatever its words and its object's name, each as one of its own", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const now = (object: KubernetesObject): KubernetesObject => object;
  const api = client.api(ConfigMap);
  const [web, long] = await Promise.all(
    ["web", `${"x".repeat(250)}.yz`].map((name) => api.create({ metadata: { name, namespace } }).then(now)),
  );
  const role = await client.api(Role).create({ metadata: { name: "system::x", namespace }, rules: [] }).then(now);
  const cluster = await client.api(ClusterRole).create({ metadata: { name: `system::${namespace}` }, rules: [] }).then(
    now,
  );
  const dropped: unknown[] = [];
  const recorder = new EventRecorder(client, {
    controller: "example.com/cases",
    instance: "i".repeat(300),
    onDropped: () => dropped.push("one"),
  });
  const notes = [0, 1023, 1024, 1025, 20_000].map((size) => "x".repeat(size));
  notes.push("語".repeat(600), `${"x".repeat(1020)}😀😀`, "half \ud83d of a pair");
  notes.forEach((note, at) => recorder.record(web!, { type: "Normal", reason: `Note${at}`, note }));
  for (const reason of ["r".repeat(200), "", "ä".repeat(100)]) {
    recorder.record(web!, { type: "Warning", reason, note: "reasons", action: reason });
  }
  for (const object of [long!, role, cluster]) {
    // In one millisecond, and one after the other.
    for (const reason of ["One", "Two"]) {
      recorder.record(object, { type: "Normal", reason, note: "names", related: web! });
    }
    recorder.record(object, { type: "Normal", reason: "One", note: "names", related: web! });
  }
  await recorder[Symbol.asyncDispose]();
  assertEquals(dropped, []);
  const mine = ({ reportingController }: Event) => reportingController === "example.com/cases";
  const events = client.api(Event);
  const here = (await events.list({ namespace })).items.filter(mine);
  const there = (await events.list({ namespace: "default" })).items.filter(mine);
  assertEquals([here.length, there.length], [notes.length + 3 + 4, 2]);
  for (const { note, reason, action, reportingInstance, eventTime, regarding } of [...here, ...there]) {
    assert(new TextEncoder().encode(note ?? "").length <= 1024);
    for (const word of [reason, action, reportingInstance]) {
      assert(word && new TextEncoder().encode(word).length <= 128, `${word}`);
    }
    assertMatch(String(eventTime), /\.\d{6}Z$/);
    assert(regarding?.apiVersion && regarding.kind && regarding.name && regarding.uid && regarding.resourceVersion);
  }
  assertEquals(new Set(there.map(({ regarding }) => regarding?.name)), new Set([cluster.metadata.name]));
  assertEquals(here.filter(({ series }) => series?.count === 2).length, 2);
  await client.api(ClusterRole).delete(cluster);

  // The check of the note is on bytes, though its text says characters.
  const draft = { regarding: here[0]!.regarding, reason: "R", action: "A", type: "Normal" };
  const from = { reportingController: "example.com/cases", reportingInstance: "x" };
  const raw = (name: string, note: string, eventTime: string) =>
    events.create({ metadata: { name, namespace }, ...draft, ...from, note, eventTime } as never);
  assertEquals((await refused(() => raw("n1", "語".repeat(342), "2026-01-01T00:00:00.000000Z"))).code, 422);
  await raw("n2", "語".repeat(341), "2026-01-01T00:00:00.000000Z");
  assertEquals((await refused(() => raw("n3", "x", "2026-01-01T00:00:00.000Z"))).code, 400, "three digits are too few");
});

Deno.test("B51: A Lease is created and renewed, its times have six digits, and one with times of three is refused", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const elector = new LeaderElector(client, {
    ...{ namespace, name: "cases", leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 200 },
  });
  const stop = new AbortController();
  const run = elector.run(
    (term) =>
      new Promise((resolve) =>
        [term.signal, stop.signal].forEach((one) => one.addEventListener("abort", () => resolve()))
      ),
    stop.signal,
  );
  const leases = client.api(Lease);
  const read = async () => (await leases.find("cases", { namespace }))?.spec;
  await until("Renewals", async () => {
    const { renewTime, acquireTime } = await read() ?? {};
    return renewTime !== undefined && renewTime !== acquireTime;
  });
  const held = await read();
  for (const time of [held?.renewTime, held?.acquireTime]) {
    assertMatch(time!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  }
  stop.abort();
  await run;
  assertEquals([elector.problem, (await read())?.holderIdentity], [undefined, ""]);
  const three = { renewTime: "2026-01-01T00:00:00.123Z", holderIdentity: "x", leaseDurationSeconds: 1 };
  assertEquals((await refused(() => leases.create({ metadata: { name: "three", namespace }, spec: three }))).code, 400);
});

Deno.test("B26: What is created or applied in a namespace that is being deleted is refused with a cause of its own, also to the recorder of events", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const api = client.api(ConfigMap);
  const there = await api.create({ metadata: { name: "there", namespace } });
  await client.api(Namespace).delete(namespace);
  for (
    const call of [
      () => api.create({ metadata: { name: "new", namespace } }),
      () => api.apply({ metadata: { name: "new", namespace } }),
      () => client.api(Lease).create({ metadata: { name: "new", namespace } }),
    ]
  ) assert(isNamespaceTerminating(await refused(call)));
  assertEquals((await api.apply({ metadata: { name: "there", namespace }, data: { a: "b" } })).data, { a: "b" });
  assertEquals((await api.patch(there, { data: { a: "c" } })).data, { a: "c" });
  let dropped = 0;
  const recorder = new EventRecorder(client, { controller: "cases", onDropped: () => dropped++ });
  recorder.record(there, { type: "Normal", reason: "Seen", note: "seen" });
  await recorder[Symbol.asyncDispose]();
  assertEquals(dropped, 0);
});

Deno.test("B30: A dying object takes no new finalizer, a merge patch of the list or not, and addFinalizer() knows", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const api = client.api<KubernetesObject>(ConfigMap as never);
  const metadata = { name: "dying", namespace, finalizers: ["example.com/theirs"] };
  const alive = await api.create({ metadata });
  await api.delete(alive);
  const all = ["example.com/theirs", "example.com/ours"];
  assertEquals((await refused(() => api.patch(alive, { metadata: { finalizers: all } }))).code, 422);
  assertEquals(await addFinalizer(api, alive, "example.com/ours"), undefined);
  assertEquals((await api.get(alive)).metadata.finalizers, ["example.com/theirs"]);
  await removeFinalizer(api, alive, "example.com/theirs");
  assertEquals(await addFinalizer(api, alive, "example.com/ours"), undefined);
  assertEquals(await api.find(alive), undefined);
});

Deno.test("B40: The server takes owners that its garbage collector will not find, and refuses those without a uid", async () => {
  await using client = plane().client();
  const [one, other] = [await makeNamespace(client), await makeNamespace(client)];
  const api = client.api(ConfigMap);
  const owner = await api.create({ metadata: { name: "owner", namespace: one } }) as KubernetesObject;
  const reference = ownerReference(owner);
  const taken = await api.create({ metadata: { name: "child", namespace: other, ownerReferences: [reference] } });
  assertEquals(taken.metadata.ownerReferences?.length, 1);
  assertThrows(() => assertCanOwn(owner, { kind: "ConfigMap", metadata: taken.metadata }), TypeError, `"${other}"`);
  const half = { ...reference, uid: "" };
  const none = await refused(() => api.create({ metadata: { name: "c", namespace: one, ownerReferences: [half] } }));
  assertEquals(none.code, 422);
  const { items: [listed] } = await api.list({ namespace: one });
  assertEquals(ownerReference(listed as KubernetesObject), reference);
});
