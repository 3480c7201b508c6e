import { assert, assertEquals, assertExists, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { Controller } from "../controller.ts";
import { isApiError, ObjectGoneError, RetryError, TerminalError } from "../errors.ts";
import { ConfigMap, Namespace, Node, Secret } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { keyOf } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { operatorOf, start, Thing, thing, things, writes } from "./_operator.ts";
import { leap, settle } from "./_time.ts";

/** An in-memory server with the kind of the tests. */
async function serverOfThings(): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply(Thing.crd());
  return server;
}

Deno.test("a controller reconciles what is there, and what comes, once each", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("a"), thing("b")]);
  const seen: string[] = [];
  await using _running = start(
    operatorOf(things().reconcile((object) => void seen.push(keyOf(object)))),
    server.client(),
    time,
  );
  await leap(time, 1000);
  assertEquals(seen.sort(), ["default/a", "default/b"]);
  await server.apply(thing("c"));
  await leap(time, 60_000);
  assertEquals(seen, ["default/a", "default/b", "default/c"]);
});

Deno.test("a failing reconcile is retried after 5, 10, 20, 40, 80, 160, 300, 300 s, and after 5 s again once it succeeded (B18)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const tries: number[] = [];
  let failing = true;
  const controller = things().reconcile(() => {
    tries.push(Date.now());
    if (failing) throw new Error("not yet");
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 10);
  await leap(time, 1_000_000);
  const gaps = tries.slice(1).map((at, index) => (at - tries[index]!) / 1000);
  assertEquals(gaps, [5, 10, 20, 40, 80, 160, 300, 300]);

  failing = false;
  await server.apply(thing("a", { x: 1 }));
  await leap(time, 10);
  assertEquals(tries.length, 10, "a change does not wait for the back-off");
  failing = true;
  await server.apply(thing("a", { x: 2 }));
  await leap(time, 5_010);
  assertEquals(tries.length, 12);
  assertEquals(tries[11]! - tries[10]!, 5_000);
});

Deno.test("onError() sets the first delay of the back-off", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const tries: number[] = [];
  const controller = things().onError({ seconds: 1 }).reconcile(() => {
    tries.push(Date.now());
    throw new Error("no");
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 10);
  await leap(time, 15_000);
  assertEquals(tries.slice(1).map((at, index) => at - tries[index]!), [1000, 2000, 4000, 8000]);
});

Deno.test("RetryError sets its own delay, TerminalError waits for a change", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("own"), thing("terminal")]);
  const tries: Record<string, number[]> = { own: [], terminal: [] };
  const controller = things().reconcile(({ metadata: { name } }) => {
    tries[name]!.push(Date.now());
    throw name === "own" ? new RetryError("busy", 42_000) : new TerminalError("wrong");
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 10);
  await leap(time, 100_000);
  assertEquals(tries.own!.slice(1).map((at, index) => at - tries.own![index]!), [42_000, 42_000]);
  assertEquals(tries.terminal!.length, 1);
  await server.apply(thing("terminal", { fixed: true }));
  await leap(time, 10);
  assertEquals(tries.terminal!.length, 2);
});

Deno.test("whatever a reconcile throws, others go on and it is retried (B22)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const thrown: Record<string, unknown> = {
    nothing: undefined,
    text: "text",
    frozen: Object.freeze({}),
    aggregate: new AggregateError([new Error("x")]),
  };
  const names = [...Object.keys(thrown), "fine"];
  await server.apply(names.map((name) => thing(name)));
  const tries = new Map<string, number>();
  const controller = things().reconcile(({ metadata: { name } }) => {
    tries.set(name, (tries.get(name) ?? 0) + 1);
    if (name === "fine") return;
    if (name === "text") throw thrown[name];
    return Promise.reject(thrown[name]);
  });
  const operator = operatorOf(controller);
  await using _running = start(operator, server.client(), time);
  await leap(time, 10);
  await leap(time, 5_000);
  assertEquals(Object.fromEntries(tries), { nothing: 2, text: 2, frozen: 2, aggregate: 2, fine: 1 });
  assertStringIncludes(
    await operator.metrics.text(),
    `controller_runtime_reconcile_errors_total{controller="thing"} 8`,
  );
});

Deno.test("timeout() aborts the signal, frees the worker and counts as a failure; a run past it can write no more (B22)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("hangs"), thing("other")]);
  const reasons: unknown[] = [];
  const tries: number[] = [];
  const others: number[] = [];
  let late: Promise<unknown> | undefined;
  const controller = things().concurrency(1).timeout({ seconds: 30 }).reconcile(async (object, ctx) => {
    if (object.metadata.name === "other") return void others.push(Date.now());
    tries.push(Date.now());
    ctx.signal.addEventListener("abort", () => {
      reasons.push(ctx.signal.reason);
      late ??= ctx.patchStatus(object, { late: true }).catch((error) => error);
    });
    await new Promise(() => {});
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 10);
  await leap(time, 60_000);
  assertEquals(tries[1]! - tries[0]!, 35_000, "the limit of 30 s, then the back-off of 5 s");
  assertStringIncludes(String(reasons[0]), "took longer than");
  assertEquals(others.length, 1);
  assertStringIncludes(String(await late), "took longer than");
  assertEquals(writes(server).filter((line) => line.includes("status")), []);
});

Deno.test("an object is never reconciled twice at once, and a change meanwhile means one more run after (B19)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", { version: 1 }));
  const seen: unknown[] = [];
  let running = 0;
  const controller = things().reconcile(async ({ spec }) => {
    assertEquals(++running, 1);
    seen.push(spec.version);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    running--;
    return Action.requeue({ minutes: 10 });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  await server.apply(thing("a", { version: 2 }));
  await leap(time, 500);
  await server.apply(thing("a", { version: 3 }));
  await leap(time, 10_000);
  assertEquals(seen, [1, 3]);
  await server.apply(thing("a", { version: 4 }));
  await leap(time, 1000);
  assertEquals(seen, [1, 3, 4], "a change does not wait for the requeue");
  await leap(time, 602_000);
  assertEquals(seen, [1, 3, 4, 4], "and only one timer stays");
});

Deno.test("concurrency() bounds how many objects are reconciled at once", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(Array.from({ length: 10 }, (_, index) => thing(`t${index}`)));
  let running = 0;
  let most = 0;
  let done = 0;
  const controller = things().concurrency(3).reconcile(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 100));
    running--;
    done++;
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals([most, done], [3, 10]);
});

Deno.test("own status writes make no further reconcile, and an equal status is not written (B34)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  let runs = 0;
  const controller = things().reconcile(async (object, ctx) => {
    runs++;
    await ctx.patchStatus(object, { phase: "Done", gone: undefined, list: [] });
    await ctx.setCondition(object, { type: "Ready", status: true, reason: "Done" });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertEquals(runs, 1);
  assertEquals(writes(server).filter((line) => line.endsWith("/status")).length, 2);
  await server.apply(thing("a", {}, { labels: { again: "yes" } }));
  await leap(time, 30_000);
  assertEquals(runs, 2);
  assertEquals(writes(server).filter((line) => line.endsWith("/status")).length, 2);
  const now = await server.client().api(Thing).get("a");
  assertEquals((now.status as Record<string, unknown>).phase, "Done");
});

Deno.test("onStatus() reconciles for status changes, too", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  let runs = 0;
  await using _running = start(operatorOf(things().onStatus().reconcile(() => void runs++)), server.client(), time);
  await leap(time, 1000);
  await server.client().api(Thing).status.patch("a", { status: { by: "someone" } });
  await leap(time, 1000);
  assertEquals(runs, 2);
});

Deno.test("a change by somebody else just before an own write is reconciled (B25)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", { version: 1 }));
  const seen: unknown[] = [];
  const controller = things().reconcile(async (object, ctx) => {
    seen.push(object.spec.version);
    if (seen.length === 1) await server.apply(thing("a", { version: 2 }));
    await ctx.patchStatus(object, { seen: object.spec.version });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2000);
  assertEquals(seen, [1, 2]);
});

Deno.test("setCondition() keeps conditions that others set meanwhile, and the transition time", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const api = server.client().api(Thing);
  let runs = 0;
  const controller = things().reconcile(async (object, ctx) => {
    if (++runs === 1) {
      await api.status.patch("a", {
        status: {
          conditions: [{
            type: "Other",
            status: "True",
            reason: "R",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          }],
        },
      });
    }
    await ctx.setCondition(object, { type: "Ready", status: "False", reason: `Run${runs}` });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  await leap(time, 60_000);
  await server.apply(thing("a", { again: true }));
  await leap(time, 1000);
  const { conditions } = (await api.get("a")).status as { conditions: Record<string, unknown>[] };
  assertEquals(conditions.map(({ type, reason, observedGeneration }) => [type, reason, observedGeneration]), [
    ["Other", "R", undefined],
    ["Ready", "Run2", 2],
  ]);
  assert(Date.parse(String(conditions[1]!.lastTransitionTime)) < Date.now() - 50_000, "the status did not flip");
});

Deno.test("a status write says so when the kind has no status subresource, and backs off (B35)", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  const crd = Thing.crd();
  delete crd.spec!.versions![0]!.subresources;
  await server.apply(crd);
  await server.apply(thing("a"));
  const errors: string[] = [];
  const controller = things().reconcile(async (object, ctx) => {
    await ctx.patchStatus(object, { x: 1 }).catch((error) => {
      errors.push(error.message);
      throw error;
    });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0]!, `no status subresource`);
});

Deno.test("a finalizer is on the object before it is reconciled, and goes, alone, after the cleanup succeeded (B28, B31)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", {}, { finalizers: ["other.com/x"] }));
  const log: string[] = [];
  let cleanups = 0;
  const controller = things()
    .reconcile(({ metadata }) => void log.push(`reconcile ${metadata.finalizers}`))
    .finalizer("example.com/cleanup", () => {
      log.push("cleanup");
      cleanups++;
      if (cleanups === 1) throw undefined;
      if (cleanups === 2) return Action.requeue({ seconds: 10 });
    });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(log, ["reconcile other.com/x,example.com/cleanup"]);

  const api = server.client().api(Thing);
  await api.delete("a");
  await leap(time, 1000);
  assertEquals(log.length, 2, "a cleanup that threw keeps the finalizer");
  await leap(time, 4_000);
  assertEquals(log.length, 3, "retried after 5 s, not yet done");
  assertEquals((await api.get("a")).metadata.finalizers, ["other.com/x", "example.com/cleanup"]);
  await leap(time, 11_000);
  assertEquals(cleanups, 3);
  assertEquals((await api.get("a")).metadata.finalizers, ["other.com/x"]);
  await leap(time, 60_000);
  assertEquals(cleanups, 3);
});

Deno.test("an object first seen while it is being deleted gets no finalizer, no reconcile and no cleanup (B30)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", {}, { finalizers: ["other.com/x"] }));
  await server.client().api(Thing).delete("a");
  server.requests.length = 0;
  const fail = (): never => {
    throw new Error("must not run");
  };
  const operator = operatorOf(things().reconcile(fail).finalizer("example.com/cleanup", fail));
  await using _running = start(operator, server.client(), time);
  await leap(time, 30_000);
  assertEquals(writes(server), []);
  assertStringIncludes(
    await operator.metrics.text(),
    `controller_runtime_reconcile_errors_total{controller="thing"} 0`,
  );
});

Deno.test("a successor of the same name is never written to in the name of its predecessor (B20)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", { of: "first" }));
  const api = server.client().api(Thing);
  const first = (await api.get("a")).metadata.uid;
  const outcomes: unknown[] = [];
  const seen: unknown[] = [];
  const controller = things().reconcile(async (object, ctx) => {
    seen.push(object.spec.of);
    if (object.metadata.uid !== first) return;
    await api.delete("a");
    await server.apply(thing("a", { of: "second" }));
    outcomes.push(await ctx.patchStatus(object, { written: true }).catch((error) => error));
    outcomes.push(await ctx.setCondition(object, { type: "Ready", status: true, reason: "R" }).catch((error) => error));
    throw new Error("which must not delay the successor");
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2000);
  assertEquals(seen, ["first", "second"]);
  for (const outcome of outcomes) assert(outcome instanceof ObjectGoneError, String(outcome));
  assertEquals((await api.get("a")).status, undefined);
});

Deno.test("a change of an owned child reconciles its owner; nothing is applied while nothing changed (B38)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", { text: "hello" }));
  let runs = 0;
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    runs++;
    const child = await ctx.applyOwned(
      object,
      ConfigMap.draft({ metadata: { name: "a-child" }, data: { text: String(object.spec.text) } }),
    );
    assertEquals(child.metadata.ownerReferences?.[0]?.uid, object.metadata.uid);
    assertEquals(ctx.owned(ConfigMap).map(keyOf), ["default/a-child"]);
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  const applies = (): number =>
    writes(server).filter((line) => line.startsWith("PATCH") && line.includes("configmaps")).length;
  assertEquals(applies(), 1);
  assert(runs <= 2, "the child's creation may wake its owner once");

  const before = runs;
  await server.client().api(ConfigMap).patch("a-child", { data: { text: "changed by hand" } });
  await leap(time, 5_000);
  assert(runs > before);
  assertEquals((await server.client().api(ConfigMap).get("a-child")).data, { text: "hello" });
  assertEquals(applies(), 2 + 1, "the change by hand, and the one that undoes it");

  await server.client().api(ConfigMap).delete("a-child");
  await leap(time, 5_000);
  assertExists(await server.client().api(ConfigMap).find("a-child"), "a child that was deleted is applied again");
});

Deno.test("applyOwned() sends nothing for what the garbage collector would not find, or what was not declared (B40)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const errors: string[] = [];
  const controller = things().owns(ConfigMap).watches(Namespace, () => []).reconcile(async (object, ctx) => {
    const attempt = (child: Parameters<typeof ctx.applyOwned>[1]) =>
      ctx.applyOwned(object, child).catch((error) => errors.push(error.message));
    await attempt(ConfigMap.draft({ metadata: { name: "x", namespace: "other" } }));
    await attempt(ConfigMap.draft({ metadata: {} }));
    await attempt({ apiVersion: "v1", kind: "Secret", metadata: { name: "x" } });
    await attempt({ apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(errors.length, 4);
  assertStringIncludes(errors[0]!, `namespace "other"`);
  assertStringIncludes(errors[1]!, "'metadata.name' must be set");
  assertStringIncludes(errors[2]!, ".owns()");
  assertStringIncludes(errors[3]!, ".owns()");
  assertEquals(writes(server).filter((line) => line.includes("configmaps")), []);
});

Deno.test("watches() reconciles what the mapping names, from before and after a change; what it throws stops nothing (B22)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("a"), thing("b")]);
  const seen: string[] = [];
  const controller = things()
    .watches(ConfigMap, (config, cache) => {
      const target = config.data?.target;
      if (target === "throw") throw new Error("mapping");
      return cache.list(Thing).filter(({ metadata }) => metadata.name === target);
    })
    .reconcile(({ metadata }) => void seen.push(metadata.name));
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  seen.length = 0;
  const api = server.client().api(ConfigMap);
  await api.create({ metadata: { name: "c", namespace: "default" }, data: { target: "a" } });
  await leap(time, 500);
  assertEquals(seen, ["a"]);
  await api.patch("c", { data: { target: "throw" } });
  await leap(time, 500);
  await api.patch("c", { data: { target: "b" } });
  await leap(time, 500);
  await api.delete("c");
  await leap(time, 500);
  assertEquals(seen, ["a", "a", "b", "b"]);
});

Deno.test("filter() keeps changes from reconciling, but never a deletion", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const log: string[] = [];
  const controller = things()
    .filter(({ spec }, previous) => spec.wanted === true && previous?.spec.wanted !== true)
    .reconcile(({ spec }) => void log.push(`reconcile ${spec.n}`))
    .finalizer("example.com/cleanup", () => void log.push("cleanup"));
  await using _running = start(operatorOf(controller), server.client(), time);
  await server.apply(thing("a", { n: 1 }, { finalizers: ["example.com/cleanup"] }));
  await leap(time, 500);
  await server.apply(thing("a", { n: 2, wanted: true }, { finalizers: ["example.com/cleanup"] }));
  await leap(time, 500);
  await server.apply(thing("a", { n: 3, wanted: true }, { finalizers: ["example.com/cleanup"] }));
  await leap(time, 500);
  assertEquals(log, ["reconcile 2"]);
  await server.client().api(Thing).delete("a");
  await leap(time, 500);
  assertEquals(log, ["reconcile 2", "cleanup"]);
});

Deno.test("resync() reconciles everything again, give or take a tenth of the interval", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("a"), thing("b")]);
  const runs: number[] = [];
  await using _running = start(
    operatorOf(things().resync({ hours: 1 }).reconcile(() => void runs.push(Date.now()))),
    server.client(),
    time,
  );
  await leap(time, 1000);
  assertEquals(runs.length, 2);
  await leap(time, 3_500_000);
  assertEquals(runs.length, 2);
  await leap(time, 200_000);
  assertEquals(runs.length, 4);
});

Deno.test("a controller sees only its namespaces and what its selector selects", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(["n1", "n2", "n3"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  for (const namespace of ["n1", "n2", "n3"]) {
    await server.apply([thing("yes", {}, { namespace, labels: { app: "x" } }), thing("no", {}, { namespace })]);
  }
  const seen: string[] = [];
  const controller = new Controller(Thing, { namespaces: ["n1", "n2"], labelSelector: "app=x" })
    .reconcile((object) => void seen.push(keyOf(object)));
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(seen.sort(), ["n1/yes", "n2/yes"]);
});

Deno.test("Action.requeue() runs again after its time, a deleted object's timer goes with it", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const runs: number[] = [];
  const controller = things().reconcile(() => {
    runs.push(Date.now());
    return Action.requeue({ minutes: 1 });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 10);
  await leap(time, 120_000);
  assertEquals(runs.map((at) => at - runs[0]!), [0, 60_000, 120_000]);
  await server.client().api(Thing).delete("a");
  await leap(time, 300_000);
  assertEquals(runs.length, 3);
});

Deno.test("the context reads watched kinds from the cache and others from the server", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([
    thing("a"),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c1", namespace: "default", labels: { x: "1" } } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c2", namespace: "default" } },
  ]);
  let checks = 0;
  const controller = things().owns(ConfigMap).reconcile(async (_object, ctx) => {
    server.requests.length = 0;
    assertEquals((await ctx.get(ConfigMap, "c1"))?.metadata.name, "c1");
    assertEquals((await ctx.get(ConfigMap, { name: "c1" }))?.metadata.name, "c1", "also in the object's namespace");
    assertEquals(await ctx.get(ConfigMap, "none"), undefined);
    await assertRejects(() => ctx.get(ConfigMap, ""), TypeError, "'name' must not be empty");
    assertEquals((await ctx.list(ConfigMap, { labelSelector: "x=1" })).map(keyOf), ["default/c1"]);
    assertEquals((await ctx.list(ConfigMap, { namespace: "other" })).length, 0);
    assertEquals(server.requests.length, 0, "all of that came from the cache");
    assertEquals((await ctx.get(ConfigMap, "c1", { live: true }))?.metadata.name, "c1");
    assertEquals((await ctx.get(Namespace, "default"))?.metadata.name, "default");
    assertEquals(await ctx.get(Node, "none"), undefined);
    assertEquals((await ctx.list(ConfigMap, { live: true, labelSelector: "x=1" })).length, 1);
    assertEquals(server.requests.length, 4);
    checks++;
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(checks, 1);
});

Deno.test("what a reconcile is given cannot be changed by mistake", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a", { list: [1] }));
  const errors: unknown[] = [];
  const controller = things().reconcile((object) => {
    try {
      (object.spec.list as number[]).push(2);
    } catch (error) {
      errors.push(error);
    }
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assert(errors[0] instanceof TypeError);
});

Deno.test("ctx.event() records an Event about the object", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  const controller = things().reconcile((object, ctx) =>
    ctx.event(object, { type: "Warning", reason: "Odd", note: "This is odd" })
  );
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2000);
  const { items } = await server.client().request<
    { items: { reason: string; note: string; regarding: { name: string } }[] }
  >({
    path: "/apis/events.k8s.io/v1/namespaces/default/events",
  });
  assertEquals(items.map(({ reason, note, regarding }) => [reason, note, regarding.name]), [[
    "Odd",
    "This is odd",
    "a",
  ]]);
});

Deno.test("a missing kind delays only the controllers that need it, and they start when it comes (B17)", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await server.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } });
  const seen: string[] = [];
  const note = (object: { kind: string }): void => void seen.push(object.kind);
  const operator = new Operator("tester").controller(things().reconcile(note)).controller(
    new Controller(ConfigMap).reconcile(note),
  );
  await using _running = start(operator, server.client(), time);
  await leap(time, 5_000);
  assertEquals(seen, ["ConfigMap"]);
  await server.apply(Thing.crd());
  await server.apply(thing("a"));
  await leap(time, 61_000);
  assertEquals(seen, ["ConfigMap", "Thing"]);
});

Deno.test("Controller refuses, when it is described, what could not work", () => {
  const nothing = (): void => {};
  const cases: [() => unknown, string][] = [
    [() => new Controller(Thing, { name: "Not a label" }), "'name'"],
    [() => new Controller(Thing, { namespaces: [] }), "'namespaces'"],
    [() => new Controller(Thing, { namespaces: ["A"] }), "'namespaces'"],
    [() => new Controller(Namespace, { namespaces: ["a"] }), "has no namespaces"],
    [() => new Controller(Thing, { labelSelector: "a in" }), "Cannot read label selector"],
    [() => things().reconcile("x" as never), "'reconcile' must be a function"],
    [() => things().reconcile(nothing).reconcile(nothing), "may be set once"],
    [() => things().finalizer("cleanup", nothing), "qualified by a domain"],
    [() => things().finalizer("example.com/", nothing), "'finalizer'"],
    [() => things().finalizer("example.com/a", undefined as never), "must be a function"],
    [() => new Controller(Thing, { labelSelector: "a=b" }).finalizer("example.com/a", nothing), "without selectors"],
    [() => things().concurrency(0), "'concurrency' must be a positive integer: current value is 0"],
    [() => things().concurrency(1.5), "current value is 1.5"],
    [() => things().timeout(0), "'timeout'"],
    [() => things().onError(NaN), "'onError'"],
    [() => things().resync({ days: 1 } as never), "'resync'"],
    [() => things().owns(ConfigMap).owns(ConfigMap), `current value is "configmaps"`],
    [() => things().owns(Thing).owns(Thing), `current value is "things.example.com"`],
    [() => {
      const named = (name: string) =>
        (new Controller(Thing, { name }) as never as ReturnType<typeof things>).finalizer("example.com/a", nothing);
      new Operator("x").controller(named("a").reconcile(nothing)).controller(named("b").reconcile(nothing));
    }, "finalizers of their own"],
    [() => things().owns(Namespace), "cannot own a cluster-scoped kind"],
    [() => things().watches(ConfigMap, undefined as never), "must be a function"],
    [() => things().filter(1 as never), "must be a function"],
    [() => things().rule({ apiGroups: ["*"], resources: ["pods"], verbs: ["get"] }), "*"],
    [() => new Operator("x").controller(things()), "has no reconcile function"],
    [
      () => new Operator("x").controller(things().reconcile(nothing)).controller(things().reconcile(nothing)),
      `"thing"`,
    ],
    [() => new Operator("Not a name"), "'name'"],
    [() => new Operator("x").leaderElection("", "y"), "'namespace'"],
    [() => new Operator("x").leaderElection("a", "b").leaderElection("a", "b"), "may be set once"],
    [() => new Operator("x").leaderElection("a", "b", { identity: "two words" }), "'identity'"],
    [() => new Operator("x").leaderElection("a", "b", { leaseDuration: { seconds: 9 } }), "'leaseDuration'"],
    [() => new Operator("x").readinessCheck("a", () => undefined).readinessCheck("a", () => undefined), `"a"`],
  ];
  for (const [build, text] of cases) assertStringIncludes(assertThrows(build).message, text);
});

Deno.test("an operator runs again after it was stopped, from a clean start", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply(thing("a"));
  let runs = 0;
  const operator = operatorOf(
    things().reconcile(() => {
      runs++;
      throw new Error("no");
    }),
  );
  for (const expected of [1, 2]) {
    await using running = start(operator, server.client(), time);
    await leap(time, 1000);
    assertEquals(runs, expected);
    await running.stop();
  }
  await settle(time);
  await assertRejects(async () => await server.client().api(Thing).get("none"), Error);
  assert(isApiError(await server.client().api(Thing).get("none").catch((error) => error), 404));
});

Deno.test("transform decides what of a kind is cached, and a status is still written right (B66)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([
    thing("a", { big: "x".repeat(1000), small: 1 }),
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" }, stringData: { key: "value" } },
  ]);
  await server.client().api(Thing).status.patch("a", { status: { by: "another" } });
  const seen: unknown[] = [];
  const withoutStatus = ({ status: _, ...object }: Thing): Thing => ({ ...object, spec: { small: object.spec.small } });
  const controller = new Controller<Thing>(Thing as never, { transform: withoutStatus })
    .watches(Secret, () => [], {
      transform: ({ data, ...secret }) => ({ ...secret, data: { keys: Object.keys(data ?? {}).join() } }),
    })
    .reconcile(async (object, ctx) => {
      seen.push(object.spec, (await ctx.get(Secret, "s"))?.data);
      await ctx.patchStatus(object, { done: true });
    });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1000);
  assertEquals(seen, [{ small: 1 }, { keys: "key" }]);
  assertEquals((await server.client().api(Thing).get("a")).status, { by: "another", done: true });
});

for (const keep of ["text", "parsed"] as const) {
  Deno.test(`keep: "${keep}" decides whether what was read long ago is parsed again, of the own kind and of others`, async () => {
    using time = new FakeTime();
    await using server = await serverOfThings();
    // Larger, together, than what stays parsed of what is read again and again.
    const large = "x".repeat(1_000_000);
    const names = [..."abcdefghijkl"];
    await server.apply(names.flatMap((name) => [
      thing(name, { large }),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { large } },
    ]));
    const same: boolean[] = [];
    const controller = new Controller<Thing>(Thing as never, { keep })
      .watches(ConfigMap, () => [], { keep })
      .reconcile(async (object, ctx) => {
        if (object.metadata.name !== "a" || same.length > 0) return;
        for (const kind of [Thing, ConfigMap]) {
          const first = await ctx.get(kind as typeof ConfigMap, "a");
          for (const name of [...names.slice(1), ...names.slice(1)]) await ctx.get(kind as typeof ConfigMap, name);
          same.push(await ctx.get(kind as typeof ConfigMap, "a") === first);
        }
      });
    await using _running = start(operatorOf(controller), server.client(), time);
    await leap(time, 1000);
    const kept = keep === "parsed";
    assertEquals(same, [kept, kept]);
  });
}

Deno.test("a controller refuses a way to keep objects that is none", () => {
  const keep = "bytes" as never;
  const message = `'keep' must be "text" or "parsed": current value is "bytes"`;
  assertThrows(() => new Controller<Thing>(Thing as never, { keep }), TypeError, message);
  assertThrows(() => things().owns(ConfigMap, { keep }), TypeError, message);
});
