import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { Controller } from "../controller.ts";
import { ConfigMap, Lease } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { ApiServer, type RecordedRequest } from "../testing/mod.ts";
import { operatorOf, start, Thing, thing, things } from "./_operator.ts";
import { leap } from "./_time.ts";

async function serverOfThings(): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), thing("a"), thing("b")]);
  return server;
}

function elected(controller: ReturnType<typeof things>): Operator {
  return new Operator("tester").leaderElection("default", "tester").controller(controller);
}

/** Gives the lease to somebody who does not renew it. */
async function steal(server: ApiServer): Promise<void> {
  const leases = server.client().api(Lease);
  const lease = await leases.get("tester");
  await leases.replace({ ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
}

for (const timeout of [undefined, { minutes: 10 }]) {
  const name = timeout ? "under a timeout, too" : "without a timeout";
  Deno.test(`a run that ignores the loss of the lease keeps its object, and only that, from the next spell: ${name} (B48)`, async () => {
    using time = new FakeTime();
    await using server = await serverOfThings();
    const release = Promise.withResolvers<void>();
    const running = new Map<string, number>();
    let most = 0;
    const seen: string[] = [];
    const controller = things().reconcile(async ({ metadata: { name } }) => {
      seen.push(name);
      running.set(name, (running.get(name) ?? 0) + 1);
      most = Math.max(most, running.get(name)!);
      if (name === "a") await release.promise;
      running.set(name, running.get(name)! - 1);
    });
    if (timeout) controller.timeout(timeout);
    await using _running = start(elected(controller), server.client(), time);
    await leap(time, 3_000);
    assertEquals(seen.sort(), ["a", "b"]);
    await steal(server);
    await leap(time, 40_000);
    assertEquals(seen.sort(), ["a", "b", "b"], "it leads again, and has left alone what still runs");
    release.resolve();
    await leap(time, 10);
    assertEquals(seen.sort(), ["a", "a", "b", "b"]);
    assertEquals(most, 1);
  });

  Deno.test(`a reconcile that ignores its abort keeps the lease from being released: ${name} (B49)`, async () => {
    using time = new FakeTime();
    await using server = await serverOfThings();
    const release = Promise.withResolvers<void>();
    const controller = things().reconcile(() => release.promise);
    if (timeout) controller.timeout(timeout);
    const running = start(elected(controller), server.client(), time, { identity: "me", shutdownGrace: 0 });
    await leap(time, 3_000);
    await assertRejects(() => running.stop(), Error, "ignored their abort");
    assertEquals((await server.client().api(Lease).get("tester")).spec?.holderIdentity, "me");
    release.resolve();
    await leap(time, 10);
  });
}

Deno.test("a run that outlived its timeout, and still goes on at the stop, keeps the lease from being released (B49)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const controller = things().timeout({ seconds: 1 }).reconcile(({ metadata }) => {
    if (metadata.name === "a" && runs++ === 0) return release.promise;
  });
  const running = start(elected(controller), server.client(), time, { identity: "me" });
  await leap(time, 30_000);
  assertEquals(runs, 2);
  const began = Date.now();
  await assertRejects(() => running.stop(), Error, "ignored their abort");
  assert(Date.now() - began <= 3_000, "it had its time already");
  assertEquals((await server.client().api(Lease).get("tester")).spec?.holderIdentity, "me");
  release.resolve();
  await leap(time, 10);
});

Deno.test("nothing of a lost term is sent any more: neither writes nor events (B48)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  let lostAt = Infinity;
  const errors: unknown[] = [];
  const controller = things().concurrency(1).reconcile(async (object, ctx) => {
    ctx.signal.addEventListener("abort", () => {
      lostAt = Math.min(lostAt, server.requests.length);
      ctx.event(object, { type: "Normal", reason: "Late", note: "late" });
      ctx.patchStatus(object, { late: true }).catch((error) => errors.push(error));
      ctx.client.api(Thing).delete(object).catch((error) => errors.push(error));
    });
    ctx.event(object, { type: "Normal", reason: "Seen", note: "seen" });
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  });
  await using running = start(elected(controller), server.client(), time);
  await leap(time, 3_000);
  server.faults.add({ resource: "leases" }, { code: 500 });
  await leap(time, 12_000);
  assert(lostAt < Infinity);
  const isWrite = ({ method, path }: RecordedRequest): boolean => method !== "GET" && !path.includes("/leases");
  assertEquals(server.requests.slice(lostAt).filter(isWrite), []);
  assertEquals(errors.length, 2);
  const stopping = running.stop().catch(() => {});
  await leap(time, 3_600_000);
  await stopping;
});

Deno.test("events that nobody takes hold up the stop for a second at most (B43)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  server.faults.add({ resource: "events" }, { stall: true });
  const controller = things().reconcile((object, ctx) => {
    for (let i = 0; i < 20; i++) ctx.event(object, { type: "Normal", reason: "Seen", note: `seen ${i}` });
  });
  const running = start(operatorOf(controller), server.client(), time);
  await leap(time, 500);
  let took = Infinity;
  const stopped = Date.now();
  void running.ended.then(() => took = Date.now() - stopped);
  await running.stop();
  assert(took <= 1_000, `${took} ms`);
});

Deno.test("an operator stops at any moment: before the sync, standing by, twice, or before it has begun", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const operator = () => elected(things().reconcile(() => {}));

  const stall = server.faults.add({ verb: "list" }, { stall: true });
  const unsynced = start(operator(), server.client(), time);
  await leap(time, 3_000);
  await unsynced.stop();
  assertEquals(
    (await server.client().api(Lease).get("tester")).spec?.holderIdentity,
    "",
    "it had led, and has released",
  );
  stall[Symbol.dispose]();

  const leader = start(operator(), server.client(), time);
  await leap(time, 3_000);
  const standby = start(operator(), server.client(), time);
  await leap(time, 3_000);
  await standby.stop();
  await Promise.all([leader.stop(), leader.stop()]);
  await start(operator(), server.client(), time, { signal: AbortSignal.abort() }).ended;
});

Deno.test("an operator that is running already, or has no controllers, refuses to run", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const operator = operatorOf(things().reconcile(() => {}));
  const running = start(operator, server.client(), time);
  await assertRejects(() => operator.run({ client: server.client(), signals: false }), TypeError, "running already");
  await running.stop();
  await start(operator, server.client(), time).stop();
  await assertRejects(() => new Operator("none").run({ signals: false }), TypeError, "no controllers");
});

Deno.test("a port that is taken ends the run with an error, and nothing is left", async () => {
  await using server = await serverOfThings();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const operator = operatorOf(things().reconcile(() => {}));
  const options = { client: server.client(), address: `127.0.0.1:${port}` };
  await assertRejects(() => operator.run(options), Error, "Cannot listen on");
  await assertRejects(() => operator.run(options), Error, "Cannot listen on");
});

Deno.test("readiness tells of every watch of a kind, whichever was declared last (B56)", async () => {
  await using server = new ApiServer();
  await server.apply([Thing.crd()]);
  server.faults.add({ resource: "configmaps", namespace: "locked" }, { code: 403, message: "no access to locked" });
  const operator = new Operator("tester")
    .controller(new Controller(ConfigMap, { name: "one", namespaces: ["locked"] }).reconcile(() => {}))
    .controller(new Controller(ConfigMap, { name: "two", namespaces: ["default"] }).reconcile(() => {}));
  const stop = new AbortController();
  const port = Promise.withResolvers<number>();
  const ended = operator.run({
    client: server.client(),
    signals: false,
    signal: stop.signal,
    address: "127.0.0.1:0",
    onListen: (address) => port.resolve(address.port),
  });
  const at = await port.promise;
  let text = "";
  for (let tries = 0; tries < 100 && !text.includes("no access"); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    text = await (await fetch(`http://127.0.0.1:${at}/readyz?verbose`)).text();
  }
  assertStringIncludes(text, "[-]watch-configmaps");
  assertStringIncludes(text, "no access to locked");
  stop.abort();
  await ended;
});

Deno.test("an abort while the finalizer is being added is no failure, and the next run goes on from there", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const seen: string[] = [];
  const operator = operatorOf(
    things().finalizer("example.com/x", () => {}).reconcile(({ metadata }) => void seen.push(metadata.name)),
  );
  const slow = server.faults.add({ verb: "patch", resource: "things" }, { delay: 60_000 });
  const first = start(operator, server.client(), time, { shutdownGrace: 0 });
  await leap(time, 1_000);
  await first.stop();
  slow[Symbol.dispose]();
  assertEquals(seen, []);
  assertStringIncludes(
    await operator.metrics.text(),
    `controller_runtime_reconcile_errors_total{controller="thing"} 0`,
  );
  await using _second = start(operator, server.client(), time);
  await leap(time, 70_000);
  assertEquals(seen.sort(), ["a", "b"]);
});

Deno.test("a given client stays open, and one's own is closed, at the end of the run", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const client = server.client();
  const operator = operatorOf(things().reconcile(() => Action.requeue({ seconds: 1 })));
  await start(operator, client, time).stop();
  assertEquals((await client.api(Thing).list()).items.length, 2);
  const own = start(operator, client, time, { client: undefined, connection: { fetch: server.fetch } });
  await leap(time, 3_000);
  await own.stop();
});

Deno.test("thousands of reconciles leave no listener on any signal that outlives them (B71)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const live = new Map<AbortSignal, number>();
  const { prototype } = EventTarget;
  const { addEventListener, removeEventListener } = prototype;
  const count = (target: EventTarget, change: number): void => {
    if (target instanceof AbortSignal) live.set(target, (live.get(target) ?? 0) + change);
  };
  prototype.addEventListener = function (...args) {
    count(this, 1);
    addEventListener.apply(this, args);
  };
  prototype.removeEventListener = function (...args) {
    count(this, -1);
    removeEventListener.apply(this, args);
  };
  let runs = 0;
  try {
    const controller = things().timeout({ hours: 1 }).reconcile(async (object, ctx) => {
      await ctx.patchStatus(object, { runs: ++runs });
      await ctx.get(ConfigMap, "none");
      return Action.requeue(100);
    });
    await using _running = start(elected(controller), server.client(), time);
    await leap(time, 20_000);
    assert(runs > 200, `${runs} runs`);
    const most = Math.max(...[...live].filter(([signal]) => !signal.aborted).map(([, count]) => count));
    // One for each worker that waits, and a few for those who watch over them.
    assert(most >= 16 && most < 32, `${most} listeners on one signal`);
  } finally {
    Object.assign(prototype, { addEventListener, removeEventListener });
  }
});
