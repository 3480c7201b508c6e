/** What public bug reports of operators tell of reconciles, finalizers, statuses and children, on the server in memory. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { Controller } from "../controller.ts";
import { customResource } from "../crd.ts";
import { ObjectGoneError, RetryError } from "../errors.ts";
import { Informer } from "../informer.ts";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Lease, Namespace, Role, RoleBinding, Secret } from "../kinds.ts";
import { Operator } from "../operator.ts";
import type { KubernetesObject } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { collectLog } from "./_log.ts";
import { operatorOf, start, Thing, thing, things, writes } from "./_operator.ts";
import { leap } from "./_time.ts";

const FINALIZER = "example.com/cleanup";

async function serverOf(...names: string[]): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), ...names.map((name) => thing(name))]);
  return server;
}

/** The times between instants, in seconds. */
function gaps(instants: readonly number[]): number[] {
  return instants.slice(1).map((at, index) => (at - instants[index]!) / 1000);
}

/** The value of a metric's sample. */
async function sample(operator: Operator, name: string): Promise<string | undefined> {
  const line = (await operator.metrics.text()).split("\n").find((line) => line.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}

Deno.test("B18: failures count for nothing once a run succeeded, however long that asks to be left alone", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const runs: number[] = [];
  const plan = [...Array(5).fill("fail"), ...Array(3).fill("again"), "fail", "fail", "again"];
  const controller = things().reconcile(() => {
    runs.push(Date.now());
    if (plan.shift() === "fail") throw new Error("no");
    return Action.requeue({ minutes: 1 });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 360_000);
  assertEquals(gaps(runs).slice(0, 10), [5, 10, 20, 40, 80, 60, 60, 60, 5, 10]);
});

Deno.test("B18: an error with a delay of its own is tried again after just that, and logged once for each try", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  const runs: number[] = [];
  const controller = things().reconcile(() => {
    runs.push(Date.now());
    throw new RetryError("busy", { seconds: runs.length % 2 === 0 ? 7 : 600 });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1_300_000);
  assertEquals(gaps(runs), [600, 7, 600, 7]);
  assertEquals(log.texts("error"), Array(5).fill("Reconcile of default/a failed"));
  assertEquals(log.texts("warning"), []);
});

Deno.test("B19: twenty children that change at once during a run of their owner make one further run", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const api = server.client().api(ConfigMap);
  const runs: [number, number][] = [];
  let running = 0;
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    assertEquals(++running, 1);
    for (let index = 0; index < 20 && runs.length === 0; index++) {
      await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: `c${index}` } }));
    }
    const began = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    runs.push([began, Date.now()]);
    running--;
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 60_000);
  runs.length = 0;
  for (const round of [1, 2]) {
    for (let index = 0; index < 20; index++) await api.patch(`c${index}`, { data: { round: `${round}` } });
    await leap(time, 500);
  }
  await leap(time, 60_000);
  assertEquals(runs.length, 2, "the first burst one, the second, during that, another");
  assertEquals(runs[1]![0] - runs[0]![1], 0);
});

Deno.test("B20: a run whose object is gone, or another by now, makes no children in its name", async () => {
  using time = new FakeTime();
  await using server = await serverOf("deleted", "replaced");
  const api = server.client().api(Thing);
  const first = new Set((await api.list()).items.map(({ metadata }) => metadata.uid));
  const outcomes: unknown[] = [];
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    const { name, uid } = object.metadata;
    const child = ConfigMap.draft({ metadata: { name: `of-${name}` }, data: { of: uid } });
    if (!first.has(uid)) return void await ctx.applyOwned(object, child);
    await api.delete(name);
    if (name === "replaced") await server.apply(thing(name));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    outcomes.push(await ctx.applyOwned(object, child).catch((error) => error));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertEquals(outcomes.length, 2);
  for (const outcome of outcomes) assert(outcome instanceof ObjectGoneError, String(outcome));
  const { items } = await server.client().api(ConfigMap).list({ namespace: "default" });
  const { uid } = (await api.get("replaced")).metadata;
  assertEquals(items.map(({ metadata, data }) => [metadata.name, metadata.ownerReferences?.[0]?.uid, data?.of]), [
    ["of-replaced", uid, uid],
  ]);
});

const HOSTILE: Record<string, () => unknown> = {
  null: () => null,
  symbol: () => Symbol("no"),
  bigint: () => 10n,
  function: () => () => {},
  bare: () => Object.create(null),
  accessors: () => ({
    get message() {
      throw new Error("the message");
    },
    get name() {
      throw new Error("the name");
    },
    toString() {
      throw new Error("the text");
    },
  }),
  error: () =>
    Object.defineProperty(new Error("no"), "message", {
      get() {
        throw new Error("the message");
      },
    }),
  proxy: () => {
    const trap = (): never => {
      throw new Error("a trap");
    };
    return new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
  },
};

Deno.test("B22: no value that a reconcile throws, or a filter, can stop its worker: others go on, and it is tried again", async () => {
  using time = new FakeTime();
  await using _log = await collectLog();
  await using server = await serverOf(...Object.keys(HOSTILE), "zzz-fine", "filtered");
  const runs = new Map<string, number>();
  const controller = things().concurrency(1)
    .filter(({ metadata }) => {
      if (metadata.name === "filtered") throw HOSTILE.proxy!();
      return true;
    })
    .reconcile(({ metadata: { name } }) => {
      runs.set(name, (runs.get(name) ?? 0) + 1);
      const make = HOSTILE[name];
      if (make) throw make();
    });
  const operator = operatorOf(controller);
  await using _running = start(operator, server.client(), time);
  await leap(time, 10);
  await leap(time, 5_000);
  const expected = Object.keys(HOSTILE).map((name): [string, number] => [name, 2]);
  assertEquals(Object.fromEntries(runs), Object.fromEntries([...expected, ["zzz-fine", 1], ["filtered", 1]]));
  assertEquals(
    await sample(operator, `controller_runtime_reconcile_errors_total{controller="thing"}`),
    `${expected.length * 2}`,
  );
});

Deno.test("B22: what is asynchronous by mistake, a filter, a mapping, a listener, ends nothing by its rejection, and is told of", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  const reject = (what: string): never => Promise.reject(new Error(what)) as never;
  const seen: string[] = [];
  const controller = things().filter(() => reject("filter")).watches(ConfigMap, () => reject("map"))
    .reconcile(({ metadata }) => void seen.push(metadata.name));
  const client = server.client();
  await using _running = start(operatorOf(controller), client, time);
  const informer = new Informer(client, ConfigMap);
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  using _ = informer.subscribe(() => reject("listener"));
  await leap(time, 1_000);
  await client.api(ConfigMap).create({ metadata: { name: "c", namespace: "default" } });
  await server.apply(thing("b"));
  await leap(time, 1_000);
  assertEquals(seen, ["a", "b"]);
  const told = log.records.filter(({ level }) => level === "error").map(({ properties }) =>
    properties.function ?? "listener"
  );
  assertEquals(new Set(told), new Set(["filter", "watches", "listener"]));
  stop.abort();
  await leap(time, 10);
  await run;
});

Deno.test("B06: a new leader that asks what is gone waits as the server asks, and says so when that goes on", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
  const seen: string[] = [];
  const replica = (name: string) => {
    const controller = things().finalizer(FINALIZER, () => {}).reconcile(() => void seen.push(name));
    const operator = new Operator("tester").leaderElection("default", "tester").controller(controller);
    return start(operator, server.client({ user: name }), time, { identity: name });
  };
  await using one = replica("one");
  await leap(time, 3_000);
  await using _two = replica("two");
  await leap(time, 3_000);
  const fault = server.faults.add({ user: "two", verb: "list", resource: "things" }, { code: 429, retryAfter: 20 });
  await one.stop();
  const lists = () =>
    server.requests.filter(({ user, code, path }) => user === "two" && code === 429 && path.includes("/things")).length;
  await leap(time, 55_000);
  assertEquals(lists(), 3);
  assertEquals(seen.includes("two"), false);
  assertEquals(
    log.texts("warning"),
    ["The work waits: asking again what is left of Thing".replace("Thing", '"Thing"')]
      .map((text) => text.replaceAll('"', "")),
  );
  fault[Symbol.dispose]();
  await leap(time, 30_000);
  assert(seen.includes("two"));
});

Deno.test("B24: a child that the watch tells of late is made once, by two runs and two replicas, without a word", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  using _lag = server.faults.lag({ verb: "watch", resource: "configmaps" }, { ms: 3_000 });
  const seen: [string, number][] = [];
  const replica = (name: string) => {
    const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
      seen.push([name, ctx.owned(ConfigMap).length]);
      await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: `${object.metadata.name}-child` } }));
      assertEquals(ctx.owned(ConfigMap).length, 1, "what was written is there at once");
      return Action.requeue(100);
    });
    const operator = new Operator("tester").leaderElection("default", "tester").controller(controller);
    return start(operator, server.client(), time, { identity: name });
  };
  await using one = replica("one");
  await using _two = replica("two");
  await leap(time, 1_500);
  assert(seen.length > 3);
  assertEquals(seen.slice(1).map(([, owned]) => owned), Array(seen.length - 1).fill(1));
  await one.stop();
  await leap(time, 2_600);
  assert(seen.some(([name]) => name === "two"), "the other one works");
  const { items } = await server.client().api(ConfigMap).list({ namespace: "default" });
  assertEquals(items.map(({ metadata }) => metadata.name), ["a-child"]);
  assertEquals([log.texts("error"), log.texts("warning")], [[], []]);
});

Deno.test("B24: that a name is taken, or a version newer, is tried again soon and is no error", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  const runs: number[] = [];
  const failures: ((ctx: { client: ReturnType<ApiServer["client"]> }) => Promise<unknown>)[] = [
    ({ client }) => client.api(Secret).create({ metadata: { name: "s", namespace: "default" } }),
    ({ client }) => client.api(Secret).replace({ metadata: { name: "s", namespace: "default", resourceVersion: "1" } }),
  ];
  await server.client().api(Secret).create({ metadata: { name: "s", namespace: "default" } });
  const operator = operatorOf(
    things().reconcile(async (_object, ctx) => {
      runs.push(Date.now());
      await failures.shift()?.(ctx);
    }),
  );
  await using _running = start(operator, server.client(), time);
  await leap(time, 60_000);
  assertEquals(gaps(runs), [1, 2]);
  assertEquals([log.texts("error"), log.texts("warning")], [[], []]);
  assertEquals(await sample(operator, `controller_runtime_reconcile_errors_total{controller="thing"}`), "0");
});

Deno.test("B24: a conflict that does not pass is an error after a minute: a name that another object has is no race", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  await server.client().api(Secret).create({ metadata: { name: "taken", namespace: "default" } });
  const runs: number[] = [];
  const operator = operatorOf(
    things().reconcile(async (_object, ctx) => {
      runs.push(Date.now());
      await ctx.client.api(Secret).create({ metadata: { name: "taken", namespace: "default" } });
    }),
  );
  await using _running = start(operator, server.client(), time);
  await leap(time, 62_900);
  assertEquals([gaps(runs), log.texts("error")], [[1, 2, 4, 8, 16], []]);
  await leap(time, 70_000);
  assertEquals([gaps(runs).slice(5), log.texts("error")], [[32, 64], [
    "Reconcile of default/a failed",
    "Reconcile of default/a failed",
  ]]);
});

Deno.test("B25: a deletion that only the answer to an own write tells of is acted on, before the watch tells, or though it never does", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
  const api = server.client().api(Thing);
  const log: string[] = [];
  const controller = things()
    .reconcile(async (object, ctx) => {
      if (log.push("reconcile") > 1) return;
      await api.delete("a");
      const answer = await ctx.patchStatus(object, { done: true });
      assert(answer.metadata.deletionTimestamp !== undefined);
    })
    .finalizer(FINALIZER, () => void log.push("cleanup"));
  server.faults.add({ verb: "watch", resource: "things" }, { stall: true });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  assertEquals(log, ["reconcile", "cleanup"]);
  assertEquals(await api.find("a"), undefined);
});

Deno.test("B25: of two changes around an own write, the one before and the one after, each is reconciled", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  using _lag = server.faults.lag({ verb: "watch", resource: "things" }, { ms: 3_000 });
  const seen: unknown[] = [];
  const controller = things().reconcile(async (object, ctx) => {
    seen.push(object.spec.n);
    if (seen.length === 1) await server.apply(thing("a", { n: 1 }));
    await ctx.patchStatus(object, { seen: seen.length });
    if (seen.length === 1) await server.apply(thing("a", { n: 2 }));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 60_000);
  assertEquals(seen, [undefined, 1, 2]);
});

Deno.test("B28: a finalizer goes by one cleanup, whatever others do to the list of them meanwhile", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  const others = ["foregroundDeletion", "example.com/before", "example.com/after"] as const;
  await server.apply(thing("a", {}, { finalizers: [others[1], FINALIZER, others[2]] }));
  const api = server.client().api(Thing);
  let cleanups = 0;
  const controller = things().reconcile(() => {}).finalizer(FINALIZER, async (object) => {
    cleanups++;
    assertEquals(object.metadata.finalizers?.length, 3);
    await api.patch("a", { metadata: { finalizers: [FINALIZER, others[2]] } });
  });
  using _lag = server.faults.lag({ verb: "watch", resource: "things" }, { ms: 1_000 });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2_000);
  await api.delete("a");
  await leap(time, 30_000);
  assertEquals([cleanups, (await api.get("a")).metadata.finalizers], [1, [others[2]]]);
});

Deno.test("B28: parties that remove their finalizers of dying objects at the same moment each remove their own, to the end", async () => {
  await using server = await serverOf();
  const { removeFinalizer } = await import("../finalizer.ts");
  const api = server.client().api<KubernetesObject>(Thing as never);
  const all = ["a", "b", "c"].map((name) => `example.com/${name}`);
  for (let round = 0; round < 200; round++) {
    await server.apply(thing("x", {}, { finalizers: all }));
    await api.delete("x");
    const seen = await api.get("x");
    await Promise.all(all.map((finalizer) => removeFinalizer(api, seen, finalizer)));
    assertEquals(await api.find("x"), undefined);
  }
});

Deno.test("B31: a cleanup that fails, whatever it throws, or is not done yet keeps the finalizer, and is seen in the metrics", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
  const runs: number[] = [];
  const operator = operatorOf(
    things().reconcile(() => {}).finalizer(FINALIZER, () => {
      runs.push(Date.now());
      if (runs.length === 1) throw new Error("no");
      if (runs.length === 2) return Promise.reject(undefined);
      if (runs.length === 3) throw 0;
      if (runs.length === 4) return Action.requeue({ seconds: 10 });
      if (runs.length === 5) return false as never;
    }),
  );
  const api = server.client().api(Thing);
  await using _running = start(operator, server.client(), time);
  await leap(time, 1_000);
  await api.delete("a");
  await leap(time, 44_000);
  assertEquals((await api.get("a")).metadata.finalizers, [FINALIZER]);
  await leap(time, 10_000);
  assertEquals(gaps(runs), [5, 10, 20, 10, 5]);
  assertEquals(await api.find("a"), undefined);
  assertEquals(await sample(operator, `controller_runtime_reconcile_errors_total{controller="thing"}`), "4");
  assertEquals(
    await sample(operator, `controller_runtime_reconcile_total{controller="thing",result="requeue_after"}`),
    "1",
  );
  assertEquals(log.texts("error").length, 4);
});

Deno.test("B31: a cleanup that does not wait for what it asked its context for has not succeeded before that has", async () => {
  using time = new FakeTime();
  await using _log = await collectLog();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
  const api = server.client().api(Thing);
  await api.delete("a");
  let cleanups = 0;
  const fault = server.faults.add({ verb: "patch", subresource: "status" }, { code: 500, delay: 1_000 });
  const controller = things().reconcile(() => {}).finalizer(FINALIZER, (object, ctx) => {
    cleanups++;
    void ctx.patchStatus(object, { cleaned: true });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 3_000);
  assertEquals([cleanups, (await api.get("a")).metadata.finalizers], [1, [FINALIZER]]);
  fault[Symbol.dispose]();
  await leap(time, 10_000);
  assertEquals([cleanups, await api.find("a")], [2, undefined]);
});

for (const obeys of [true, false]) {
  Deno.test(`B32: a cleanup that ${obeys ? "obeys" : "ignores"} the loss of its lease removes nothing: only the next leader's does`, async () => {
    using time = new FakeTime();
    await using server = await serverOf();
    await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
    const api = server.client().api(Thing);
    await api.delete("a");
    const log: [string, string, number][] = [];
    const began = Date.now();
    const say = (who: string, what: string) => log.push([who, what, Date.now() - began]);
    const replica = (name: string) => {
      const controller = things().reconcile(() => {}).finalizer(FINALIZER, async (_object, ctx) => {
        say(name, "begins");
        ctx.signal.addEventListener("abort", () => say(name, "is aborted"));
        await new Promise((resolve, reject) => {
          setTimeout(resolve, name === "one" ? 40_000 : 1_000);
          if (obeys) ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
        });
        say(name, "ends");
      });
      const operator = new Operator("tester").leaderElection("default", "tester").controller(controller);
      return start(operator, server.client({ user: name }), time, { identity: name });
    };
    await using _one = replica("one");
    await leap(time, 1_000);
    await using _two = replica("two");
    await leap(time, 2_000);
    const cut = server.faults.partition({ user: "one" });
    await leap(time, 60_000);
    const at = (who: string, what: string) => log.find((line) => line[0] === who && line[1] === what)?.[2];
    assert(at("one", "is aborted")! <= 3_000 + 10_000, `${log}`);
    assert(at("two", "begins")! > at("one", "is aborted")!, `${log}`);
    assertEquals(at("one", "ends") === undefined, obeys, `${log}`);
    cut[Symbol.dispose]();
    await leap(time, 60_000);
    assertEquals(await api.find("a"), undefined);
    const removals = server.requests.filter(({ method, path }) => method === "PATCH" && path.endsWith("/things/a"))
      .filter(({ user }) => user !== "kubernetes-admin");
    assertEquals(removals.map(({ user }) => user), ["two"]);
    assertEquals(log.filter(([, what]) => what === "begins").length, 2);
  });
}

Deno.test("B32: of two operators without election that clean up one object, both end quietly, and it is gone", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { finalizers: [FINALIZER] }));
  const cleanups: string[] = [];
  const instance = (name: string, ms: number) =>
    start(
      operatorOf(
        things().reconcile(() => {}).finalizer(FINALIZER, async () => {
          await new Promise((resolve) => setTimeout(resolve, ms));
          cleanups.push(name);
        }),
      ),
      server.client(),
      time,
    );
  await using _one = instance("one", 1_000);
  await using _two = instance("two", 1_000);
  await using _three = instance("three", 3_000);
  await leap(time, 1_000);
  await server.client().api(Thing).delete("a");
  await leap(time, 60_000);
  assertEquals(cleanups, ["one", "two", "three"]);
  assertEquals(await server.client().api(Thing).find("a"), undefined);
  assertEquals([log.texts("error"), log.texts("warning")], [[], []]);
});

Deno.test("B34: a status is written once, though its keys come in another order, or the server keeps only a part of it", async () => {
  using time = new FakeTime();
  const Strict = customResource({
    ...{ group: "example.com", version: "v1", kind: "Strict" },
    spec: { type: "object", properties: { n: { type: "integer" } } },
    status: {
      type: "object",
      properties: { a: { type: "object", "x-kubernetes-preserve-unknown-fields": true }, kept: { type: "string" } },
    },
  });
  await using server = new ApiServer();
  await server.apply(Strict.crd());
  const api = server.client().api(Strict);
  await api.create({ metadata: { name: "s", namespace: "default" }, spec: { n: 1 } } as never);
  let runs = 0;
  const controller = new Controller(Strict).reconcile(async (object, ctx) => {
    const even = runs++ % 2 === 0;
    const a = even ? { x: 1, y: [{ p: 1, q: 2 }] } : { y: [{ q: 2, p: 1 }], x: 1 };
    const dropped = even ? { by: "the", schema: [] } : { schema: [], by: "the" };
    await ctx.patchStatus(object, { a, kept: "yes", dropped, none: undefined } as never);
    return Action.requeue({ seconds: 1 });
  });
  const written = () => writes(server).filter((line) => line.endsWith("/status")).length;
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  assertEquals(written(), 2, "the whole, and once more what was dropped");
  await leap(time, 30_000);
  assert(runs >= 30);
  assertEquals(written(), 2);
});

for (const metadataOnly of [false, true]) {
  Deno.test(`B38: a server that makes a new version of each apply makes no loop of owner and child${metadataOnly ? ", of which only metadata is cached" : ""}`, async () => {
    using time = new FakeTime();
    await using server = await serverOf("a");
    const { Client } = await import("../client.ts");
    const admin = server.client().api(ConfigMap);
    let applies = 0;
    /** A change that shows in the version and the managed fields alone. */
    const bump = () =>
      admin.apply({ metadata: { name: "child", namespace: "default" }, data: { a: "1" } }, {
        fieldManager: `m${applies}`,
      });
    const client = new Client({
      server: "http://localhost",
      fetch: async (request) => {
        const isApply = request.method === "PATCH" && new URL(request.url).pathname.includes("/configmaps/");
        // Of metadata alone, only the version that the answer names can be known to be one's own.
        if (isApply && metadataOnly && applies > 0) await bump();
        const response = await server.fetch(request);
        if (isApply && applies++ >= 0 && !metadataOnly) await bump();
        return response;
      },
    });
    let runs = 0;
    const controller = things().owns(ConfigMap, { metadataOnly }).reconcile(async (object, ctx) => {
      runs++;
      await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "child" }, data: { a: "1" } }));
    });
    await using _running = start(operatorOf(controller), client, time);
    await leap(time, 30_000);
    const settled = [runs, applies];
    await leap(time, 120_000);
    assertEquals([runs, applies], settled, "it settles");
    assert(applies <= 5, `${applies} applies`);
    await client.close();
  });
}

Deno.test("B39: a conflict names the other manager and the fields, a forced apply takes them, and what a template omits is released", async () => {
  await using server = new ApiServer();
  const api = server.client().api(ConfigMap);
  const at = { name: "c", namespace: "default" };
  await api.create({ metadata: at, data: { a: "1", b: "1" } }, { fieldManager: "x" });
  const own = await assertRejects(() => api.apply({ metadata: at, data: { a: "2" } }, { fieldManager: "x" }), Error);
  // The fields of a create and of an apply are another's, though the manager has one name.
  assertMatch(own.message, /conflict with "x" using v1.*\.data\.a/s);
  await api.apply({ metadata: at, data: { a: "2" } }, { fieldManager: "x", force: true });
  const other = await assertRejects(() => api.apply({ metadata: at, data: { a: "3" } }, { fieldManager: "y" }), Error);
  assertMatch(other.message, /conflict with "x".*\.data\.a/s);
  await api.apply({ metadata: at, data: { a: "3" } }, { fieldManager: "y", force: true });
  assertEquals((await api.get(at)).data, { a: "3", b: "1" });
  await api.apply({ metadata: at, data: { a: "3", c: "3" } }, { fieldManager: "z" });
  await api.apply({ metadata: at }, { fieldManager: "y" });
  assertEquals((await api.get(at)).data, { a: "3", b: "1", c: "3" }, "another holds what it released");
});

Deno.test("B40: a cluster-scoped owner has children where it says, with a whole reference, also when it comes out of a list", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  const Realm = customResource({
    group: "example.com",
    version: "v1",
    kind: "Realm",
    scope: "Cluster",
    spec: { type: "object" },
  });
  await server.apply([Realm.crd(), { apiVersion: "example.com/v1", kind: "Realm", metadata: { name: "r" }, spec: {} }]);
  const errors: string[] = [];
  const controller = new Controller(Realm).owns(ConfigMap).owns(ClusterRole).reconcile(async (_object, ctx) => {
    const [owner] = await ctx.list(Realm, { live: true });
    await ctx.applyOwned(owner!, ConfigMap.draft({ metadata: { name: "c", namespace: "default" } }));
    await ctx.applyOwned(owner!, ClusterRole.draft({ metadata: { name: "realm:r:x" } }));
    await ctx.applyOwned(owner!, ConfigMap.draft({ metadata: { name: "nowhere" } })).catch((error) =>
      errors.push(error.message)
    );
    await ctx.applyOwned(
      { ...owner!, metadata: { ...owner!.metadata, uid: "" } },
      ConfigMap.draft({ metadata: { name: "half", namespace: "default" } }),
    ).catch((error) => errors.push(error.message));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  const { uid } = (await server.client().api(Realm).get("r")).metadata;
  const reference = {
    apiVersion: "example.com/v1",
    kind: "Realm",
    name: "r",
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const child = await server.client().api(ConfigMap).get({ name: "c", namespace: "default" });
  assertEquals(child.metadata.ownerReferences, [reference]);
  assertEquals((await server.client().api(ClusterRole).get("realm:r:x")).metadata.ownerReferences, [reference]);
  assertStringIncludes(errors[0]!, "'metadata.namespace' must be set");
  assertStringIncludes(errors[1]!, "'uid'");
});

Deno.test("B16: an object that leaves the selection is alive: it is neither reconciled nor cleaned up any more, and comes back", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  await server.apply(thing("a", {}, { labels: { app: "x" } }));
  for (const selection of [{ labelSelector: "app=x" }, { fieldSelector: "metadata.name=a" }]) {
    const selective = new Controller(Thing as never, selection) as ReturnType<typeof things>;
    assertThrows(
      () => selective.finalizer(FINALIZER, () => {}),
      TypeError,
      "without selectors, which an object cannot leave",
    );
  }
  const log: string[] = [];
  const controller = (new Controller(Thing as never, { labelSelector: "app=x" }) as ReturnType<typeof things>)
    .reconcile(async (object, ctx) => {
      log.push(`reconcile ${object.spec.n}`);
      if (object.spec.n !== 1) return Action.requeue({ seconds: 10 });
      await api.patch("a", { metadata: { labels: { app: null } } });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const [cached, live] = [await ctx.get(Thing, "a"), await ctx.get(Thing, "a", { live: true })];
      log.push(`${cached?.metadata.name} ${live?.metadata.name}`);
      throw new Error("which nobody needs to hear");
    });
  const api = server.client().api(Thing);
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1_000);
  await api.patch("a", { spec: { n: 1 } });
  await leap(time, 60_000);
  assertEquals(log, ["reconcile undefined", "reconcile 1", "a a"], "a read asks the server for what is not selected");
  await api.patch("a", { spec: { n: 2 }, metadata: { labels: { app: "x" } } });
  await leap(time, 5_000);
  assertEquals(log.slice(3), ["reconcile 2"]);
});

Deno.test("B55: a thousand objects that come and go, some during their run, leave no series behind", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  const operator = operatorOf(
    things().concurrency(50).reconcile(async ({ metadata }) => {
      if (metadata.name.endsWith("7")) await new Promise((resolve) => setTimeout(resolve, 1_000));
      if (metadata.name.endsWith("3")) throw new Error("no");
    }),
  );
  const names = async () => (await operator.metrics.text()).split("\n").map((line) => line.split(" ")[0]).sort();
  await using _running = start(operator, server.client(), time);
  await server.apply(thing("first3"));
  await leap(time, 2_000);
  const before = await names();
  const api = server.client().api(Thing);
  for (let round = 0; round < 10; round++) {
    await server.apply(Array.from({ length: 100 }, (_, index) => thing(`t${round}-${index}`)));
    await leap(time, 500);
    await api.deleteCollection({ namespace: "default" });
    await leap(time, 3_000);
  }
  assertEquals(await names(), before);
});

Deno.test("B66: what is left out of the cache stays on the object, whatever the framework writes", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  await server.apply(thing("a", {}, { annotations }));
  const cached: unknown[] = [];
  const controller = things().finalizer(FINALIZER, () => {}).owns(ConfigMap).reconcile(async (object, ctx) => {
    cached.push(object.metadata.managedFields, object.metadata.annotations);
    await ctx.patchStatus(object, { done: true });
    await ctx.setCondition(object, { type: "Ready", status: true, reason: "Done" });
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "c" } }));
    const live = await ctx.get(Thing, "a", { live: true });
    cached.push(live?.metadata.annotations, (live?.metadata.managedFields?.length ?? 0) > 0);
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  assertEquals(cached.slice(0, 4), [undefined, {}, annotations, true]);
  const { metadata } = await server.client().api(Thing).get("a");
  assertEquals(metadata.annotations, annotations);
  assert(metadata.managedFields!.length > 1);
});

const access = (user: string, kind: typeof ClusterRole | typeof Role, verbs: string[], namespace?: string) => {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: kind.kind, name: user };
  const metadata = { name: user, ...(namespace ? { namespace } : {}) };
  const binding = kind === ClusterRole ? ClusterRoleBinding : RoleBinding;
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
  return [kind.draft({ metadata, rules } as never), binding.draft({ metadata, roleRef, subjects } as never)];
};

for (
  const [what, first, verb] of [
    ["to watch", access("sa", ClusterRole, ["get", "list"]), "watch"],
    ["to list and watch", access("sa", ClusterRole, ["get"]), "list"],
    ["beyond one namespace", access("sa", Role, ["get", "list", "watch"], "default"), "list"],
  ] as const
) {
  Deno.test(`B56: a missing right ${what} is named within seconds, keeps nobody else from work, and its grant heals`, async () => {
    using time = new FakeTime();
    await using server = new ApiServer({ authorization: true });
    await server.apply([
      ...first,
      {
        ...ClusterRole.draft({
          metadata: { name: "others" },
          rules: [
            { apiGroups: ["example.com"], resources: ["things"], verbs: ["get", "list", "watch"] },
          ],
        }),
      },
      {
        ...ClusterRoleBinding.draft({
          metadata: { name: "others" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "others" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "sa" }],
        }),
      },
      Thing.crd(),
      thing("a"),
      ConfigMap.draft({ metadata: { name: "c", namespace: "default" } }),
    ]);
    const seen: string[] = [];
    const note = (object: KubernetesObject): void => void seen.push(object.kind);
    const operator = new Operator("tester").controller(things().reconcile(note))
      .controller(new Controller(ConfigMap).reconcile(note));
    await using log = await collectLog();
    await using _running = start(operator, server.client({ user: "sa" }), time);
    await leap(time, 5_000);
    assert(seen.includes("Thing"), "the other controller works");
    const [warning] = log.records.filter(({ level }) => level === "warning");
    const { message } = warning!.properties.problem as Error;
    assertMatch(
      message,
      new RegExp(`^Cannot ${verb} configmaps \\(v1 ConfigMap\\) in all namespaces: the server answered 403`),
    );
    assertStringIncludes(message, 'User "sa"');
    const asked = () =>
      server.requests.filter(({ path, user }) => user === "sa" && path.startsWith("/api/v1/configmaps")).length;
    const before = asked();
    await leap(time, 60_000);
    assert(asked() - before < 10, `${asked() - before} requests in a minute`);
    assertEquals(log.records.filter(({ level }) => level === "warning").length, 1, "said once");
    await server.apply(access("sa", ClusterRole, ["get", "list", "watch"]));
    await leap(time, 61_000);
    assert(seen.includes("ConfigMap"), "it recovers alone");
  });
}

Deno.test("B52: operators without a word about their leases take no other's: each has its own name for it, and each process its own identity", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  const make = (name: string) => new Operator(name).leaderElection("default").controller(things().reconcile(() => {}));
  await using _one = start(make("one"), server.client(), time);
  await using _two = start(make("two"), server.client(), time);
  await using _twin = start(make("two"), server.client(), time);
  await leap(time, 5_000);
  const { items } = await server.client().api(Lease).list({ namespace: "default" });
  assertEquals(items.map(({ metadata }) => metadata.name).sort(), ["one", "two"]);
  assertEquals(new Set(items.map(({ spec }) => spec?.holderIdentity)).size, 2);
  assertEquals(
    items.map(({ spec }) => spec?.leaseTransitions),
    [0, 0],
    "the twin stands by",
  );
});

Deno.test("B26: a namespace that is going, with objects whose children go one by one, goes, and is told of without an error", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = new ApiServer({ controllers: ["namespaces"] });
  const names = ["x", "y", "z"];
  await server.apply([
    Thing.crd(),
    { ...Namespace.draft({ metadata: { name: "doomed" } }) },
    ...names.map((name) => thing(name, {}, { namespace: "doomed" })),
  ]);
  const cleanups: string[] = [];
  const late: number[] = [];
  const controller = things().owns(ConfigMap)
    .finalizer(FINALIZER, async ({ metadata }, ctx) => {
      ctx.event({ ...await ctx.get(Thing, metadata.name) } as never, { type: "Normal", reason: "Cleaning", note: "x" });
      if (cleanups.filter((name) => name === metadata.name).length < 2) {
        cleanups.push(metadata.name);
        return Action.requeue({ seconds: 5 });
      }
      cleanups.push(metadata.name);
    })
    .reconcile(async (object, ctx) => {
      if (object.metadata.namespace !== "doomed") late.push(Date.now() - Number(object.spec.at));
      for (const part of ["a", "b"]) {
        await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: `${object.metadata.name}-${part}` } }));
      }
    });
  const operator = operatorOf(controller);
  await using _running = start(operator, server.client(), time);
  await leap(time, 3_000);
  await server.client().api(Namespace).delete("doomed");
  for (let round = 0; round < 3; round++) {
    await leap(time, 1_000);
    await server.apply(thing(`new${round}`, { at: Date.now() }));
  }
  await leap(time, 60_000);
  assertEquals(await server.client().api(Namespace).find("doomed"), undefined);
  assertEquals(cleanups.toSorted(), names.flatMap((name) => [name, name, name]));
  assertEquals([log.texts("error"), log.texts("warning")], [[], []]);
  assert(late.length >= 3 && late.slice(0, 3).every((ms) => ms < 100), `${late}`);
  assertEquals(await sample(operator, `controller_runtime_reconcile_errors_total{controller="thing"}`), "0");
});
