import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError } from "../errors.ts";
import { ConfigMap, Secret } from "../kinds.ts";
import { ApiServer, fakeContext } from "../testing/mod.ts";
import { Thing, things } from "./_operator.ts";

const thing = { metadata: { name: "a", namespace: "default" }, spec: { value: 1 } };

Deno.test("fakeContext() gives a context whose writes land in a server, and whose caches know them at once", async () => {
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    const data = { value: String(object.spec.value) };
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: object.metadata.name }, data }));
    await ctx.patchStatus(object, { children: ctx.owned(ConfigMap).length });
    ctx.event(object, { type: "Normal", reason: "Done", note: "done" });
  });
  await using fake = await fakeContext(controller, thing);
  assertEquals([fake.object.metadata.name, fake.object.spec, fake.object.status], ["a", { value: 1 }, undefined]);
  assertEquals(fake.requests, []);
  assertEquals(await fake.reconcile(), undefined);
  assertEquals(fake.context.owned(ConfigMap).map(({ data }) => data), [{ value: "1" }]);
  const there = await fake.server.client().api(Thing).get({ name: "a", namespace: "default" });
  assertEquals(there.status, { children: 1 });
  const writes = fake.requests.filter(({ resource }) => resource !== "events");
  assertEquals(writes.map(({ verb, resource, subresource, user }) => [verb, resource, subresource, user]), [
    ["patch", "configmaps", "", "operator"],
    ["patch", "things", "status", "operator"],
  ]);
  await fake.reconcile();
  assertEquals(fake.requests.filter(({ resource }) => resource === "configmaps").length, 1, "nothing is sent twice");
});

Deno.test("fakeContext() begins with the status, the objects and the deletion that a test asks for", async () => {
  const seen: unknown[] = [];
  const controller = things().watches(Secret, () => []).finalizer("example.com/f", async (object, ctx) => {
    seen.push(object.status, object.metadata.deletionTimestamp !== undefined, (await ctx.list(Secret)).length);
  });
  const metadata = { ...thing.metadata, finalizers: ["example.com/f"], deletionTimestamp: "2026-01-01T00:00:00Z" };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  await using server = new ApiServer();
  {
    const deleted = { ...thing, metadata, status: { phase: "Ready" } };
    await using fake = await fakeContext(controller, deleted, { objects: [secret], server });
    await fake.reconcile();
    assertEquals(seen, [{ phase: "Ready" }, true, 1]);
    assertEquals(fake.requests, [], "all of that came from the caches");
  }
  const there = await server.client().api(Thing).get({ name: "a", namespace: "default" });
  assertEquals(there.metadata.finalizers, ["example.com/f"], "the end of a test changes nothing");
});

Deno.test("fakeContext() works with a kind alone, under fake time, and meets faults", async () => {
  using _time = new FakeTime();
  await using fake = await fakeContext(Thing, thing);
  fake.server.faults.add({ client: "operator", verb: "patch", times: 1 }, { code: 403 });
  await assertRejects(() => fake.context.patchStatus(fake.object, { ready: true } as never), ApiError);
  await fake.context.patchStatus(fake.object, { ready: true } as never);
});

Deno.test("fakeContext() rejects, and leaves nothing behind, if the server refuses the object", async () => {
  await assertRejects(() => fakeContext(ConfigMap, { metadata: { name: "A B" } }), Error, "A B");
});
