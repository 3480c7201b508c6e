import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import type { Client } from "../../client.ts";
import type { Condition } from "../../conditions.ts";
import { delay } from "../../delay.ts";
import { ObjectGoneError } from "../../errors.ts";
import { ConfigMap } from "../../kinds.ts";
import { operatorOf, start, Thing, thing, things } from "../_operator.ts";
import { applyAll, makeNamespace } from "./_cluster.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

Deno.test.beforeAll(async () => {
  await using client = plane().client();
  await applyAll(client, [Thing.crd()]);
});

const api = (client: Client) => client.api(Thing as never as typeof Thing & { readonly kind: string });

Deno.test("An object stays until its cleanup has succeeded, and then until another party's finalizer goes", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  let allowed = false;
  let cleanups = 0;
  const controller = things().reconcile(() => {}).onError({ milliseconds: 50 })
    .finalizer("example.com/cleanup", () => {
      cleanups++;
      if (!allowed) throw new Error("not yet");
    });
  await using running = start(operatorOf(controller), client, undefined, { namespaces: [namespace] });
  const at = { name: "held", namespace };
  await api(client).create(thing("held", {}, { namespace, finalizers: ["other.example.com/hold"] }));
  const finalizers = async () => (await api(client).find(at))?.metadata.finalizers;
  await until("The second finalizer", async () => (await finalizers())?.length === 2);
  assertEquals(await finalizers(), ["other.example.com/hold", "example.com/cleanup"]);

  await api(client).delete(at);
  await until("Several cleanups", () => Promise.resolve(cleanups >= 3));
  assertEquals(await finalizers(), ["other.example.com/hold", "example.com/cleanup"]);
  allowed = true;
  await until("The removal of the finalizer", async () => (await finalizers())?.length === 1);
  assertEquals(await finalizers(), ["other.example.com/hold"]);
  const before = cleanups;
  await api(client).patch(at, { metadata: { finalizers: null } });
  assertEquals(await api(client).find(at), undefined);
  await running.stop();
  assertEquals(cleanups, before);
});

Deno.test("A reconcile that is overtaken by a deletion cannot write into the status of the object's successor", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const controller = things().reconcile(async ({ ...object }, ctx) => {
    if (object.spec.life === 2) return void await ctx.patchStatus(object, { life: 2 });
    reached.resolve();
    await go.promise;
    for (
      const write of [
        () => ctx.patchStatus(object, { life: 1 }),
        () => ctx.setCondition(object, { type: "Ready", status: true, reason: "Alive" }),
      ]
    ) failures.push(await write().catch((error) => error));
  });
  await using _ = start(operatorOf(controller), client, undefined, { namespaces: [namespace] });
  const at = { name: "phoenix", namespace };
  await api(client).create(thing("phoenix", { life: 1 }, { namespace }));
  await reached.promise;
  await api(client).delete(at);
  await api(client).create(thing("phoenix", { life: 2 }, { namespace }));
  go.resolve();
  const { status } = await until("The successor's reconcile", async () => {
    const found = await api(client).get(at);
    return found.status !== undefined && found;
  });
  assertEquals(status as unknown, { life: 2 });
  assertEquals(failures.length, 2);
  for (const failure of failures) assertInstanceOf(failure, ObjectGoneError);
});

Deno.test("ctx.applyOwned(), patchStatus() and setCondition() send nothing when nothing changed, and repair what did", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  const sent: string[] = [];
  await using client = plane().client(undefined, {
    onRequest: ({ method }) => method === "GET" ? undefined : sent.push(method),
  });
  let rounds = 0;
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    const data = { color: `${object.spec.color}` };
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: object.metadata.name }, data }));
    await ctx.patchStatus(object, { color: data.color, list: [{ a: 1 }, {}] });
    await ctx.setCondition(object, { type: "Ready", status: data.color !== "none", reason: "AsAsked" });
    rounds++;
  });
  const at = { name: "painted", namespace };
  const maps = admin.api(ConfigMap);
  const owner = async () => await api(admin).get(at);
  const condition = async () => ((await owner()).status as { conditions: Condition[] }).conditions[0]!;
  const versions = async () => [await maps.get(at), await owner()].map(({ metadata }) => metadata.resourceVersion);
  /** Waits for a reconcile after what `change` does, and until there are no more; answers with what these sent. */
  const writesAfter = async (change: () => Promise<unknown>) => {
    const [before, { length }] = [rounds, sent];
    await change();
    await until("A reconcile", () => Promise.resolve(rounds > before));
    for (let last = -1; last < rounds; await delay(300)) last = rounds;
    return sent.slice(length);
  };

  await using running = start(operatorOf(controller), client, undefined, { namespaces: [namespace] });
  const draft = thing("painted", { color: "red" }, { namespace });
  // Child, status and condition.
  assertEquals(await writesAfter(() => api(admin).create(draft)), ["PATCH", "PATCH", "PATCH"]);
  const child = await maps.get(at);
  const first = await condition();
  assertEquals([first.status, first.observedGeneration], ["True", 1]);

  assertEquals(await writesAfter(() => api(admin).patch(at, { metadata: { annotations: { touched: "1" } } })), []);
  // Another version of the child is applied to, which the server finds nothing new in.
  assertEquals(await writesAfter(() => maps.patch(at, { metadata: { labels: { touched: "1" } } })), ["PATCH"]);
  const touched = await maps.get(at);
  const ofOperator = ({ metadata }: ConfigMap) => metadata.managedFields!.find(({ manager }) => manager === "tester");
  assertEquals(ofOperator(touched), ofOperator(child));
  // The condition's observedGeneration follows, and nothing else.
  assertEquals(await writesAfter(() => api(admin).patch(at, { spec: { other: 1 } })), ["PATCH"]);
  assertEquals((await maps.get(at)).metadata.resourceVersion, touched.metadata.resourceVersion);
  const still = await condition();
  assertEquals([still.observedGeneration, still.lastTransitionTime], [2, first.lastTransitionTime]);

  assertEquals(await writesAfter(() => maps.patch(at, { data: { color: "black" } })), ["PATCH"]);
  assertEquals((await maps.get(at)).data, { color: "red" });
  assertEquals(await writesAfter(() => maps.delete(at)), ["PATCH"]);
  assertEquals((await maps.get(at)).data, { color: "red" });

  // A new process does not know what the last one wrote: it applies once, and the server finds nothing new.
  await running.stop();
  const settled = await versions();
  await using second = start(operatorOf(controller), client, undefined, { namespaces: [namespace] });
  assertEquals(await writesAfter(() => Promise.resolve()), ["PATCH"]);
  await second.stop();
  assertEquals(await versions(), settled);
});

Deno.test("A condition's transition time moves when its status flips, and others' conditions stay", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const controller = things().reconcile(async (object, ctx) => {
    await ctx.setCondition(object, { type: "Ready", status: object.spec.ready === true, reason: "AsAsked" });
  });
  await using _ = start(operatorOf(controller), client, undefined, { namespaces: [namespace] });
  const at = { name: "flag", namespace };
  await api(client).create(thing("flag", { ready: false }, { namespace }));
  const conditions = async () =>
    ((await api(client).get(at)).status as { conditions?: Condition[] } | undefined)?.conditions;
  const [first] = await until("The condition", conditions);
  const lastTransitionTime = "2020-01-01T00:00:00Z";
  const foreign = { type: "Healthy", status: "True", reason: "Fine", message: "", lastTransitionTime };
  const aged = { ...first!, lastTransitionTime };
  await api(client).status.patch(at, { status: { conditions: [foreign, aged] } });
  await api(client).patch(at, { spec: { ready: true } });
  const after = await until("The flip", async () => {
    const now = await conditions();
    return now?.some(({ type, status }) => type === "Ready" && status === "True") && now;
  });
  assertEquals(after[0] as unknown, foreign);
  assert(after[1]!.lastTransitionTime > lastTransitionTime);
  assertEquals([after.length, after[1]!.observedGeneration], [2, 2]);
});
