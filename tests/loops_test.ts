import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { ConfigMap } from "../kinds.ts";
import { LoopDetector } from "../loops.ts";
import type { KubernetesObject } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { collectLog } from "./_log.ts";
import { operatorOf, start, Thing, thing, things } from "./_operator.ts";
import { leap } from "./_time.ts";

let version = 0;

function written(rest: Record<string, unknown> = {}): KubernetesObject {
  const metadata = { name: "a", uid: "u", resourceVersion: `${++version}`, creationTimestamp: "2026-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...rest };
}

Deno.test("LoopDetector tells of a key once a minute when more than 30 of its runs changed the same object", () => {
  const loops = new LoopDetector();
  const told: number[] = [];
  for (let run = 1; run <= 1200; run++) {
    const loop = loops.wrote("a", run, "status", written({ status: { run } }), run * 100);
    if (!loop) continue;
    told.push(run);
    assertEquals(loop, { target: "status", runs: 31, fields: ["/status/run"] });
  }
  assertEquals(told, [31, 631]);
});

Deno.test("LoopDetector names no fields when each run writes the same anew (B39)", () => {
  const loops = new LoopDetector({ limit: 2 });
  const run = (run: number) => loops.wrote("a", run, "child", written({ data: { a: "1" } }), run);
  assertEquals([run(1), run(2), run(3)], [undefined, undefined, { target: "child", runs: 3, fields: [] }]);
});

Deno.test("LoopDetector takes no notice of many writes by one run, of many objects, of what changed nothing, or of slow ones", () => {
  const loops = new LoopDetector({ limit: 3 });
  const same = written();
  for (let i = 0; i < 100; i++) {
    assertEquals(loops.wrote("one run", 1, "status", written({ status: { i } }), i), undefined);
    assertEquals(loops.wrote("many objects", i, `child ${i}`, written(), i), undefined);
    assertEquals(loops.wrote("nothing changed", i, "child", same, i), undefined);
    assertEquals(loops.wrote("slow", i, "child", written(), i * 20_000), undefined);
  }
});

Deno.test("LoopDetector keeps the runs of a key that goes round two seconds apart, until it did not for a minute", () => {
  const loops = new LoopDetector({ limit: 2 });
  const run = (run: number, now: number) => void loops.wrote("a", run, "child", written(), now);
  for (const [index, now] of [0, 10, 20].entries()) {
    assertEquals(loops.pause("a", () => now), 0);
    run(index, now);
  }
  assertEquals([loops.pause("a", () => 20), loops.pause("a", () => 1020), loops.pause("a", () => 2020)], [
    2000,
    1000,
    0,
  ]);
  run(9, 61_000);
  assertEquals(loops.pause("a", () => 61_000), 2000, "the minute before it went round");
  run(10, 122_000);
  assertEquals(loops.pause("a", () => 122_000), 0);
  assertEquals(loops.pause("another", () => 122_000), 0);
});

Deno.test("an object that triggers itself is reconciled every two seconds once that is noticed, not as fast as it can", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await server.apply([Thing.crd(), thing("a")]);
  let runs = 0;
  const controller = things().reconcile(async (object, ctx) => {
    await ctx.client.api(Thing).patch(object, { spec: { count: ++runs } });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertEquals(runs > 30 && runs < 60, true, `${runs} runs`);
});

Deno.test("an object whose reconcile asks for its next run is not slowed down, whatever it writes", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await server.apply([Thing.crd(), thing("a")]);
  let runs = 0;
  const controller = things().reconcile(async (object, ctx) => {
    await ctx.patchStatus(object, { runs: ++runs });
    return Action.requeue(500);
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assert(runs > 55, `${runs} runs`);
});

Deno.test("LoopDetector remembers as many keys as it may, and forgets those that are gone", () => {
  const loops = new LoopDetector({ capacity: 10 });
  for (let i = 0; i < 1000; i++) loops.wrote(`${i}`, 1, "status", written(), i);
  assertEquals(loops.size, 10);
  loops.forget("999");
  assertEquals(loops.size, 9);
});

Deno.test("an object that reconciles itself by its own writes is warned of, by name and field, whenever it goes round for a minute (B34)", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = new ApiServer();
  await server.apply([Thing.crd(), thing("a"), thing("calm")]);
  let runs = 0;
  const controller = things().onStatus().reconcile(async (object, ctx) => {
    if (object.metadata.name === "calm") return Action.requeue(500);
    runs++;
    await new Promise((resolve) => setTimeout(resolve, 500));
    await ctx.patchStatus(object, { lastRun: Date.now() });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 150_000);
  assert(runs > 100 && runs < 160, `${runs} runs`);
  const warnings = log.texts("warning");
  assertEquals(warnings.length, 2, warnings.join("\n"));
  assertStringIncludes(
    warnings[0]!,
    `31 reconciles of default/a within a minute each changed things.example.com default/a, at ["/status/lastRun"]`,
  );
});

Deno.test("an object that another writer changes back each time is warned of (B39)", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = new ApiServer();
  await server.apply([Thing.crd(), thing("a")]);
  const other = server.client().api(ConfigMap);
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "child" }, data: { by: "us" } }));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  const timer = setInterval(() => other.patch("child", { data: { by: "them" } }), 500);
  await leap(time, 30_000);
  clearInterval(timer);
  const warnings = log.texts("warning");
  assertEquals(warnings.length, 1, warnings.join("\n"));
  assertStringIncludes(
    warnings[0]!,
    "31 reconciles of default/a within a minute wrote the same to configmaps default/child",
  );
});
