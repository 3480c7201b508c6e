import { assert, assertEquals, assertExists, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { toJson } from "../_status_writer.ts";
import type { Context } from "../context.ts";
import { Controller } from "../controller.ts";
import { customResource } from "../crd.ts";
import { ConfigMap, Deployment, Namespace, Secret } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { ApiServer } from "../testing/mod.ts";
import { collectLog } from "./_log.ts";
import { operatorOf, start, Thing, thing, things, writes } from "./_operator.ts";
import { leap } from "./_time.ts";

async function serverOf(...names: string[]): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), ...names.map((name) => thing(name))]);
  return server;
}

/** Runs one reconcile of a thing; answers with what it answers with. */
async function once<R>(
  time: FakeTime,
  server: ApiServer,
  body: (object: Thing, ctx: Context) => Promise<R>,
  controller = things(),
): Promise<R> {
  const outcome: R[] = [];
  controller.reconcile(async (object, ctx) => {
    if (outcome.length === 0) outcome.push(await body(object, ctx));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertEquals(outcome.length, 1);
  return outcome[0]!;
}

Deno.test("patchStatus() writes what JSON holds, whatever the names, and refuses before any request what it would lose", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const sent = JSON.parse(
    `{"__proto__":{"x":1},"constructor":2,"a/b~c":3,"":4,"list":[null,{"x":null}],"deep":{"none":null}}`,
  );
  const errors: string[] = [];
  const status = await once(time, server, async (object, ctx) => {
    await ctx.patchStatus(object, { ...sent, at: new Date(0), none: undefined, gone: null, list: sent.list });
    const before = server.requests.length;
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const wrong = [NaN, -Infinity, new Date(NaN), 10n, [{ x: NaN }], circular].map((value) => ({ wrong: value }));
    for (const bad of [...wrong, "text", [1], 5, null, undefined]) {
      await ctx.patchStatus(object, bad as never).catch((error) => errors.push(`${error.name}: ${error.message}`));
    }
    assertEquals(server.requests.length, before);
    return (await server.client().api(Thing).get("a")).status;
  });
  const expected = JSON.parse(
    `{"__proto__":{"x":1},"constructor":2,"a/b~c":3,"":4,"list":[null,{"x":null}],"deep":{},"at":"1970-01-01T00:00:00.000Z"}`,
  );
  assertEquals(JSON.parse(JSON.stringify(status)), expected);
  assertEquals(errors.length, 11);
  for (const error of errors) assert(error.startsWith("TypeError: "), error);
  assertStringIncludes(errors[0]!, "'wrong' must be JSON: current value is NaN");
  assertStringIncludes(errors[6]!, `it must be an object: current value is "text"`);
});

Deno.test("toJson() leaves out what is undefined, and keeps what is null", () => {
  assertEquals(toJson({ a: undefined, b: null, c: [undefined] }), { b: null, c: [null] });
});

Deno.test("statuses and conditions written in a row build on each other, each once, and end with all of them", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const status = await once(time, server, async (object, ctx) => {
    await ctx.patchStatus(object, { one: 1, list: [1] });
    await ctx.setCondition(object, { type: "Ready", status: false, reason: "Starting" });
    await ctx.setCondition(object, { type: "Synced", status: true, reason: "Done" });
    await ctx.patchStatus(object, { two: 2, list: [2] });
    await ctx.setCondition(object, { type: "Ready", status: true, reason: "Done" });
    await ctx.patchStatus(object, { one: null });
    await Promise.all([
      ctx.patchStatus(object, { a: 1 }),
      ctx.patchStatus(object, { b: 1 }),
      ctx.setCondition(object, { type: "Late", status: "Unknown", reason: "R" }),
    ]);
    return (await server.client().api(Thing).get("a")).status as Record<string, unknown>;
  });
  const { conditions, ...rest } = status as { conditions: { type: string; status: string }[] };
  assertEquals(rest as unknown, { list: [2], two: 2, a: 1, b: 1 });
  assertEquals(conditions.map(({ type, status }) => `${type}=${status}`), [
    "Ready=True",
    "Synced=True",
    "Late=Unknown",
  ]);
});

for (
  const [name, fault] of [
    ["409", { code: 409, reason: "Conflict" }],
    ["500", { code: 500 }],
    ["503 with Retry-After", { code: 503, retryAfter: 2 }],
    ["429", { code: 429, retryAfter: 1 }],
    ["a reset before it took effect", { reset: "before" }],
    ["a reset after it took effect", { reset: "after" }],
    ["no answer", { stall: true }],
  ] as const
) {
  Deno.test(`a status, a finalizer and a child are written in the end, once, after ${name}`, async () => {
    using time = new FakeTime();
    await using server = await serverOf("a");
    for (const resource of ["things", "configmaps"]) {
      server.faults.add({ verb: "patch", resource, times: 1 }, fault);
      server.faults.add({ verb: "patch", resource, subresource: "status", times: 1 }, fault);
    }
    let cleanups = 0;
    const controller = things().owns(ConfigMap).finalizer("example.com/x", () => void cleanups++).reconcile(
      async (object, ctx) => {
        await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "child" }, data: { a: "1" } }));
        await ctx.patchStatus(object, { done: true });
      },
    );
    await using _running = start(operatorOf(controller), server.client(), time);
    await leap(time, 120_000);
    const api = server.client().api(Thing);
    const { metadata, status } = await api.get("a");
    assertEquals(metadata.finalizers, ["example.com/x"]);
    assertEquals(status as unknown, { done: true });
    assertExists(await server.client().api(ConfigMap).find("child"));
    server.faults.add({ verb: "patch", resource: "things", times: 1 }, fault);
    await api.delete("a");
    await leap(time, 120_000);
    assertEquals(await api.find("a"), undefined);
    assert(cleanups >= 1);
  });
}

Deno.test("two owners do not fight over one child: the second is told, sends nothing, and gets it when it is free", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a", "b");
  const errors = new Map<string, string>();
  const controller = things().owns(ConfigMap).reconcile(async (object, ctx) => {
    const { name } = object.metadata;
    errors.delete(name);
    const child = ConfigMap.draft({ metadata: { name: "shared" }, data: { by: name } });
    await ctx.applyOwned(object, child).catch((error) => {
      errors.set(name, error.message);
      throw error;
    });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 60_000);
  const applies = () => writes(server).filter((line) => line.includes("/configmaps/")).length;
  assertEquals(applies(), 1);
  assertEquals(errors.size, 1);
  const [loser, message] = [...errors][0]!;
  const winner = loser === "a" ? "b" : "a";
  assertStringIncludes(message, `ConfigMap "shared" of Thing "default/${loser}": another object`);
  const api = server.client().api(ConfigMap);
  assertEquals((await api.get("shared")).data, { by: winner });

  await server.client().api(Thing).delete(winner);
  await api.delete("shared"); // as the garbage collector does
  await leap(time, 300_000);
  assertEquals((await api.get("shared")).data, { by: loser });
  assertEquals(errors.size, 0);
});

Deno.test("a child that another operator controls is left alone; one that nobody controls, or an earlier owner of the name, is taken over", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const reference = (name: string, uid: string, kind = "Thing") => ({
    apiVersion: "example.com/v1beta1",
    ...{ kind, name, uid, controller: true, blockOwnerDeletion: true },
  });
  const api = server.client().api(ConfigMap);
  const make = (name: string, ...ownerReferences: ReturnType<typeof reference>[]) =>
    api.create({ metadata: { name, namespace: "default", ownerReferences }, data: { by: "hand" } });
  await make("free");
  await make("foreign", reference("a", "1", "Site"));
  const former = { name: "former", namespace: "default", ownerReferences: [reference("a", "2")] };
  await api.apply({ metadata: former, data: { by: "us, before" } }, { fieldManager: "tester" });
  const errors: string[] = [];
  const apply = async (object: Thing, ctx: Context, name: string) => {
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name }, data: { by: "us" } }))
      .catch((error) => errors.push(error.message));
  };
  await once(time, server, async (object, ctx) => {
    for (const name of ["free", "foreign", "former"]) await apply(object, ctx, name);
  }, things().owns(ConfigMap));
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0]!, `current controller is Site "a"`);
  assertEquals((await api.get("free")).data, { by: "us" });
  const { uid } = (await server.client().api(Thing).get("a")).metadata;
  assertEquals((await api.get("former")).metadata.ownerReferences?.map((owner) => owner.uid), [uid]);
  assertEquals((await api.get("foreign")).data, { by: "hand" });
});

for (const metadataOnly of [false, true]) {
  const what = metadataOnly ? "of which only metadata is cached" : "that is cached whole";
  Deno.test(`a child ${what} is not applied again when only its status changed, but when anything else did (B38)`, async () => {
    using time = new FakeTime();
    await using server = await serverOf("a");
    let runs = 0;
    const controller = things().owns(Deployment, { metadataOnly }).reconcile(async (object, ctx) => {
      runs++;
      const labels = { app: "a" };
      const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "a" }] } };
      const spec = { replicas: 1, selector: { matchLabels: labels }, template };
      await ctx.applyOwned(object, Deployment.draft({ metadata: { name: "a" }, spec }));
    });
    await using _running = start(operatorOf(controller), server.client({ user: "operator" }), time);
    await leap(time, 5_000);
    const applies = () =>
      server.requests.filter(({ user, method }) => user === "operator" && method === "PATCH").length;
    assertEquals(applies(), 1);
    const api = server.client().api(Deployment);
    const before = runs;
    for (let replicas = 1; replicas < 5; replicas++) {
      await api.status.patch("a", { status: { replicas } });
      await leap(time, 1_000);
    }
    assertEquals([runs - before, applies()], [4, 1]);
    await api.patch("a", { spec: { replicas: 7 } });
    await leap(time, 5_000);
    assertEquals([(await api.get("a")).spec?.replicas, applies()], [1, 2]);
    await api.patch("a", { metadata: { labels: { by: "hand" } } });
    await leap(time, 5_000);
    assertEquals(applies(), 3);
  });
}

Deno.test("a kind may be owned and watched, for several reasons, and be the controller's own", async () => {
  using time = new FakeTime();
  await using server = await serverOf("root", "leaf");
  await server.client().api(Secret).create({ metadata: { name: "s", namespace: "default", labels: { for: "leaf" } } });
  const seen: string[] = [];
  const controller = things()
    .owns(Thing)
    .watches(Thing, ({ spec }) => "parent" in (spec as object) ? [{ name: (spec as { parent: string }).parent }] : [])
    .watches(Secret, () => [{ name: "root" }], { labelSelector: "for=root" })
    .watches(Secret, () => [{ name: "leaf" }], { labelSelector: "for=leaf", metadataOnly: true })
    .reconcile(async (object, ctx) => {
      const { name } = object.metadata;
      seen.push(name);
      if (name !== "root") return;
      await ctx.applyOwned(object, Thing.draft({ metadata: { name: "child" }, spec: { parent: "leaf" } }));
      assertEquals(ctx.owned(Thing).map(({ metadata }) => metadata.name), ["child"]);
    });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  assertEquals(new Set(seen), new Set(["root", "leaf", "child"]));
  const next = async (change: () => Promise<unknown>): Promise<string[]> => {
    seen.length = 0;
    await change();
    await leap(time, 5_000);
    return [...new Set(seen)].sort();
  };
  const api = server.client().api(Thing);
  assertEquals(await next(() => api.patch("leaf", { spec: { x: 1 } })), ["leaf"]);
  assertEquals(await next(() => api.patch("child", { spec: { x: 1 } })), ["child", "leaf", "root"]);
  const secrets = server.client().api(Secret);
  assertEquals(await next(() => secrets.patch("s", { data: { x: "eA==" } })), ["leaf"]);
  assertEquals(await next(() => secrets.patch("s", { metadata: { labels: { for: "root" } } })), ["leaf", "root"]);
});

Deno.test("a mapping to a cluster-scoped kind names no namespace, whatever it answers with (B27)", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  const seen: string[] = [];
  const controller = new Controller(Namespace)
    .watches(ConfigMap, ({ metadata }) => [{ name: metadata.namespace!, namespace: metadata.namespace }])
    .reconcile(({ metadata }) => void seen.push(metadata.name));
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1_000);
  seen.length = 0;
  await server.client().api(ConfigMap).create({ metadata: { name: "x", namespace: "default" } });
  await leap(time, 1_000);
  assertEquals(seen, ["default"]);
});

Deno.test("the context never takes for absent what a selector or the namespaces only keep out of the cache (B24)", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  await server.client().api(Namespace).create({ metadata: { name: "other" } });
  const api = server.client().api(Secret);
  await api.create({ metadata: { name: "in", namespace: "default", labels: { use: "yes" } } });
  await api.create({ metadata: { name: "out", namespace: "default" } });
  await api.create({ metadata: { name: "far", namespace: "other", labels: { use: "yes" } } });
  const selective = things().watches(Secret, () => [], { labelSelector: "use=yes", namespaces: ["default"] });
  const requests = () =>
    server.requests.filter(({ user, path }) => user !== "system:seed" && path.includes("secrets")).length;
  const found = await once(time, server, async (_object, ctx) => {
    const before = requests();
    const names: unknown[] = [];
    names.push((await ctx.get(Secret, "in"))?.metadata.name, requests() - before);
    names.push((await ctx.get(Secret, "out"))?.metadata.name, requests() - before);
    names.push((await ctx.get(Secret, { name: "far", namespace: "other" }))?.metadata.name, requests() - before);
    names.push((await ctx.get(Secret, "none"))?.metadata.name, requests() - before);
    names.push((await ctx.list(Secret)).length, (await ctx.list(Secret, { namespace: "default" })).length);
    names.push(requests() - before, (await ctx.list(Secret, { namespace: "other" })).length, requests() - before);
    return names;
  }, selective);
  assertEquals(found, ["in", 0, "out", 1, "far", 2, undefined, 3, 1, 1, 3, 1, 4]);
});

Deno.test("of a cluster-scoped object, ctx.get() leaves to the server what names no namespace", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await server.client().api(ConfigMap).create({ metadata: { name: "c", namespace: "default" } });
  const found: unknown[] = [];
  const controller = new Controller(Namespace).watches(ConfigMap, () => []).reconcile(async ({ metadata }, ctx) => {
    if (metadata.name !== "default") return;
    found.push((await ctx.get(ConfigMap, "c"))?.metadata.name, (await ctx.get(Namespace, "default"))?.metadata.name);
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 1_000);
  assertEquals(found, ["c", "default"]);
});

Deno.test("a filter cannot lose the reconcile that follows the finalizer", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const seen: unknown[] = [];
  const controller = things()
    .filter((object, previous) => object.metadata.generation !== previous?.metadata.generation)
    .finalizer("example.com/x", () => {})
    .reconcile(({ metadata }) => void seen.push(metadata.finalizers));
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 5_000);
  assertEquals(seen, [["example.com/x"]]);
  await server.client().api(Thing).patch("a", { metadata: { finalizers: null } });
  await leap(time, 5_000);
  assertEquals(seen, [["example.com/x"], ["example.com/x"]], "taken away by hand, it comes back");
});

Deno.test("what a reconcile does not await cannot end the process, nor write after it, and is told of (B22)", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = await serverOf("a");
  server.faults.add({ verb: "patch", resource: "things", subresource: "status" }, { delay: 1_000, code: 500 });
  let late: Promise<unknown> | undefined;
  const controller = things().owns(ConfigMap).reconcile((object, ctx) => {
    if (late) return;
    ctx.patchStatus(object, { lost: true });
    late = new Promise((resolve) => setTimeout(resolve, 5_000)).then(() =>
      ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: "late" } }))
    ).catch((error) => error);
    return Action.requeue({ hours: 1 });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertStringIncludes(String(await late), "The reconcile has ended");
  assertEquals(await server.client().api(ConfigMap).find("late"), undefined);
  assertEquals(log.texts("warning"), ["Reconcile of default/a did not await 1 calls of its context: they may be lost"]);
});

Deno.test("the signal of a reconcile that ends by itself does not abort", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const signal = await once(time, server, (_object, ctx) => Promise.resolve(ctx.signal));
  assertEquals(signal.aborted, false);
});

Deno.test("what is remembered of objects goes when they do, also of kinds that are only watched", async () => {
  using time = new FakeTime();
  await using server = await serverOf();
  const { WriteMemo } = await import("../memo.ts");
  const memos = new Set<InstanceType<typeof WriteMemo>>();
  const { remember } = WriteMemo.prototype;
  WriteMemo.prototype.remember = function (...args) {
    memos.add(this);
    remember.apply(this, args);
  };
  try {
    const controller = things().owns(ConfigMap).watches(Thing, () => []).reconcile(async (object, ctx) => {
      await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: object.metadata.name } }));
      await ctx.patchStatus(object, { done: true });
    });
    await using _running = start(operatorOf(controller), server.client(), time);
    await leap(time, 1_000);
    const names = Array.from({ length: 50 }, (_, i) => `t${i}`);
    await server.apply(names.map((name) => thing(name)));
    await leap(time, 5_000);
    const [memo] = memos;
    assertEquals([memos.size, memo!.size], [1, 100]);
    for (const name of names) {
      await server.client().api(Thing).delete(name);
      await server.client().api(ConfigMap).delete(name);
    }
    await leap(time, 30_000);
    assertEquals(memo!.size, 0);
  } finally {
    WriteMemo.prototype.remember = remember;
  }
});

Deno.test("two controllers of one kind, each with a finalizer, share an object to its end (B28)", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const log: string[] = [];
  const named = (name: string) =>
    (new Controller(Thing, { name }) as unknown as Controller<Thing>)
      .owns(ConfigMap)
      .finalizer(`example.com/${name}`, () => void log.push(`clean ${name}`))
      .reconcile(async (object, ctx) => {
        log.push(name);
        await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name } }));
      });
  const operator = new Operator("tester").controller(named("one")).controller(named("two"));
  await using _running = start(operator, server.client(), time);
  await leap(time, 10_000);
  assertEquals((await server.client().api(Thing).get("a")).metadata.finalizers?.toSorted(), [
    "example.com/one",
    "example.com/two",
  ]);
  assertEquals((await server.client().api(ConfigMap).list({ namespace: "default" })).items.length, 2);
  log.length = 0;
  await server.client().api(Thing).delete("a");
  await leap(time, 10_000);
  assertEquals(log.sort(), ["clean one", "clean two"]);
  assertEquals(await server.client().api(Thing).find("a"), undefined);
});

Deno.test("in a namespace that is being deleted creates are retried quietly, cleanups run, and others are not delayed (B26)", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  await using server = new ApiServer({ controllers: ["namespaces"] });
  await server.apply([Thing.crd(), { apiVersion: "v1", kind: "Namespace", metadata: { name: "doomed" } }]);
  const held = thing("held", {}, { namespace: "doomed", finalizers: ["example.com/other"] });
  await server.apply([held, thing("x", {}, { namespace: "doomed" }), thing("a")]);
  const runs = new Map<string, number>();
  const controller = things().owns(ConfigMap).finalizer("example.com/x", () => {}).reconcile(async (object, ctx) => {
    const { name } = object.metadata;
    runs.set(name, (runs.get(name) ?? 0) + 1);
    await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name } }));
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 2_000);
  await server.client().api(Namespace).delete("doomed");
  await leap(time, 60_000);
  assertEquals(await server.client().api(Thing).find({ name: "x", namespace: "doomed" }), undefined);
  await server.apply(thing("b"));
  await leap(time, 1_000);
  assert(runs.has("b"));
  assertEquals(log.texts("error"), []);
  await server.client().api(Thing).patch({ name: "held", namespace: "doomed" }, { metadata: { finalizers: null } });
  await leap(time, 60_000);
  assertEquals(await server.client().api(Namespace).find("doomed"), undefined);
});

Deno.test("an object deleted during its back-off leaves no timer, and one of its name starts afresh (B30, B55)", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const tries: number[] = [];
  const operator = operatorOf(
    things().reconcile(() => {
      tries.push(Date.now());
      throw new Error("no");
    }),
  );
  await using _running = start(operator, server.client(), time);
  await leap(time, 100_000);
  await server.client().api(Thing).delete("a");
  await leap(time, 1_000);
  tries.length = 0;
  await leap(time, 1_000_000);
  assertEquals(tries, []);
  assert(!(await operator.metrics.text()).includes("default/a"));
  await server.apply(thing("a"));
  await leap(time, 15_100);
  assertEquals(tries.slice(1).map((at, index) => at - tries[index]!), [5_000, 10_000]);
});

Deno.test("an object recreated under its name while the watch was down starts afresh (B20)", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const seen: [string, number][] = [];
  const controller = things().reconcile(({ metadata }) => {
    seen.push([metadata.uid, Date.now()]);
    throw new Error("no");
  });
  server.faults.add({ resource: "things", verb: "watch", times: 1 }, { breakAfter: 5_000 });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 4_000);
  const down = ["watch", "list"].map((verb) => server.faults.add({ resource: "things", verb }, { code: 500 }));
  await leap(time, 2_000);
  const api = server.client().api(Thing);
  await api.delete("a");
  await server.apply(thing("a"));
  const { uid } = (await api.get("a")).metadata;
  await leap(time, 10_000);
  assert(seen.length >= 2 && seen.every(([of]) => of !== uid), "it knows nothing of that yet");
  for (const fault of down) fault[Symbol.dispose]();
  await leap(time, 60_000);
  const mine = seen.filter(([of]) => of === uid).map(([, at]) => at);
  assert(mine.length >= 3);
  assertEquals(mine.slice(1, 3).map((at, index) => at - mine[index]!), [5_000, 10_000]);
});

Deno.test("a kind without the status subresource, written by its main path, is told of as a loop instead of going round unseen (B34, B35)", async () => {
  using time = new FakeTime();
  await using log = await collectLog();
  const Plain = customResource({
    ...{ group: "example.com", version: "v1", kind: "Plain" },
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  });
  await using server = new ApiServer();
  const crd = Plain.crd();
  for (const version of crd.spec?.versions ?? []) delete version?.subresources;
  await server.apply([crd, {
    apiVersion: "example.com/v1",
    kind: "Plain",
    metadata: { name: "p", namespace: "default" },
    spec: {},
  }]);
  let runs = 0;
  const controller = new Controller(Plain).reconcile(async (object, ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await ctx.client.api(Plain).patch(object, { status: { runs: ++runs } });
  });
  await using _running = start(operatorOf(controller), server.client(), time);
  await leap(time, 30_000);
  assertEquals(log.texts("warning").length, 1);
  assertStringIncludes(log.texts("warning")[0]!, `plains.example.com default/p, at ["/status/runs"]`);
});

Deno.test("check() throws when the lease may be another's though no timer has told so yet, and aborts the run", async () => {
  using time = new FakeTime();
  await using server = await serverOf("a");
  const seen: string[] = [];
  let still = 0;
  const controller = things().timeout({ seconds: 400 }).reconcile((_object, ctx) => {
    if (seen.length > 0) return;
    ctx.check();
    seen.push("at first all is well");
    still = 60_000; // No timer has rung meanwhile.
    seen.push(`aborted: ${ctx.signal.aborted}`);
    try {
      ctx.check();
    } catch (error) {
      seen.push((error as Error).name, `aborted: ${ctx.signal.aborted}`);
    }
  });
  await using _running = start(operatorOf(controller).leaderElection("default", "things"), server.client(), time, {
    now: () => Date.now() + still,
  });
  await leap(time, 120_000);
  assertEquals(seen, ["at first all is well", "aborted: false", "LeadershipLostError", "aborted: true"]);
});
