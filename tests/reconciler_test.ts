import { assert, assertEquals, assertExists, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import type { Context } from "../context.ts";
import { ConfigMap } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { collectLog } from "./_log.ts";
import { operatorOf, start, Thing, thing, things, writes } from "./_operator.ts";
import { leap } from "./_time.ts";

async function serverOfThings(...names: string[]): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), ...names.map((name) => thing(name))]);
  return server;
}

/** Every way to write, or to ask the server, that a context gives. */
const LATE_CALLS: Record<string, (ctx: Context, object: Thing) => unknown> = {
  "client.create": (ctx) => ctx.client.api(ConfigMap).create({ metadata: { name: "late", namespace: "default" } }),
  "client.apply": (ctx) => ctx.client.api(ConfigMap).apply({ metadata: { name: "late", namespace: "default" } }),
  "client.patch": (ctx, object) => ctx.client.api(Thing).patch(object, { spec: { late: true } }),
  "client.delete": (ctx, object) => ctx.client.api(Thing).delete(object),
  "client.request": (ctx) => ctx.client.request({ method: "DELETE", path: "/api/v1/namespaces/default" }),
  "a client derived from it": (ctx, object) =>
    ctx.client.with({ fieldManager: "other" }).api(Thing).patch(object, { spec: { late: true } }),
  patchStatus: (ctx, object) => ctx.patchStatus(object, { late: true }),
  setCondition: (ctx, object) => ctx.setCondition(object, { type: "Late", status: true, reason: "Late", message: "" }),
  applyOwned: (ctx, object) => ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "late" } })),
};

for (const outcome of ["succeeded", "asked to be run again", "failed", "cleaned up"]) {
  Deno.test(`What a reconcile that ${outcome} left behind can write nothing any more`, async () => {
    using time = new FakeTime();
    await using _log = await collectLog();
    await using server = await serverOfThings();
    const finalizers = outcome === "cleaned up" ? ["example.com/x", "other.example.com/x"] : [];
    await server.apply(thing("a", {}, { finalizers }));
    if (finalizers.length > 0) await server.client().api(Thing).delete("a");
    let left: { ctx: Context; object: Thing } | undefined;
    const controller = things().owns(ConfigMap).reconcile((object, ctx) => {
      left ??= { ctx, object };
      if (outcome === "failed") throw new Error("no");
      return outcome === "asked to be run again" ? Action.requeue({ hours: 1 }) : undefined;
    });
    if (outcome === "cleaned up") {
      controller.finalizer("example.com/x", (object, ctx) => void (left ??= { ctx, object }));
    }
    await using _running = start(operatorOf(controller), server.client(), time);
    await leap(time, 1_000);
    assertExists(left);
    const { ctx, object } = left;
    const before = writes(server);
    for (const [name, call] of Object.entries(LATE_CALLS)) {
      const error = await assertRejects(async () => await call(ctx, object as Thing), Error);
      assertStringIncludes(error.message, "The reconcile has ended", name);
    }
    assertEquals(writes(server), before);
  });
}

Deno.test("What a run left behind is refused while the next run of the same object may write", async () => {
  using time = new FakeTime();
  await using _log = await collectLog();
  await using server = await serverOfThings("a");
  const contexts: Context[] = [];
  const second = Promise.withResolvers<void>();
  const controller = things().reconcile(async (object, ctx) => {
    contexts.push(ctx);
    if (contexts.length === 1) return Action.requeue({ seconds: 1 });
    await second.promise;
    await ctx.patchStatus(object, { by: "second" });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2_000);
  assertEquals(contexts.length, 2);
  const object = await server.client().api(Thing).get("a") as Thing;
  await assertRejects(() => contexts[0]!.patchStatus(object, { by: "first" }), Error, "The reconcile has ended");
  second.resolve();
  await leap(time, 1_000);
  assertEquals((await server.client().api(Thing).get("a") as Thing).status, { by: "second" });
});

/** What happens to an object while its reconcile runs. */
const VANISHINGS: Record<string, (server: ApiServer) => Promise<unknown>> = {
  "deleted": (server) => server.client().api(Thing).delete("a"),
  "replaced by another of its name": async (server) => {
    await server.client().api(Thing).delete("a");
    await server.apply(thing("a", { second: true }));
  },
};

/** Ways to fail. */
const FAILURES: Record<string, () => unknown> = {
  "an Error": () => new Error("no"),
  "undefined": () => undefined,
  "a frozen object": () => Object.freeze({}),
};

for (const [vanishing, vanish] of Object.entries(VANISHINGS)) {
  for (const [failure, makeError] of Object.entries(FAILURES)) {
    Deno.test(`B30: A reconcile that throws ${failure} after its object was ${vanishing} is no error: not counted, not logged, not tried again`, async () => {
      using time = new FakeTime();
      await using log = await collectLog();
      await using server = await serverOfThings("a");
      const uids: string[] = [];
      const running = Promise.withResolvers<void>();
      const operator = operatorOf(
        things().reconcile(async ({ metadata }) => {
          uids.push(metadata.uid);
          if (uids.length > 1) return;
          await running.promise;
          throw makeError();
        }),
      );
      await using _running = start(operator, server.client(), time);
      await leap(time, 1_000);
      assertEquals(uids.length, 1);
      await vanish(server);
      await leap(time, 1_000);
      running.resolve();
      await leap(time, 600_000);
      const replaced = vanishing !== "deleted";
      assertEquals(uids.length, replaced ? 2 : 1, "only another object is reconciled");
      assertEquals(new Set(uids).size, uids.length);
      assertEquals([log.texts("error"), log.texts("warning")], [[], []]);
      const metrics = await operator.metrics.text();
      for (
        const line of [
          `controller_runtime_reconcile_errors_total{controller="thing"} 0`,
          `controller_runtime_reconcile_total{controller="thing",result="error"} 0`,
          `controller_runtime_reconcile_total{controller="thing",result="success"} ${replaced ? 2 : 1}`,
        ]
      ) assert(metrics.includes(`${line}\n`), `${line}\n${metrics}`);
    });
  }
}

Deno.test("B30: A reconcile that throws while its object is there is an error: counted, logged and tried again", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOfThings("a");
  let runs = 0;
  const operator = operatorOf(
    things().reconcile(() => {
      if (runs++ === 0) throw new Error("no");
    }),
  );
  await using _running = start(operator, server.client(), time);
  await leap(time, 6_000);
  assertEquals(runs, 2);
  assertEquals(log.texts("error"), ["Reconcile of default/a failed"]);
  assertStringIncludes(
    await operator.metrics.text(),
    `controller_runtime_reconcile_errors_total{controller="thing"} 1\n`,
  );
});
