import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { ConfigMap, Lease } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { keyOf } from "../resource.ts";
import { ApiServer, type Fault, type FaultMatch } from "../testing/mod.ts";
import { start, Thing, thing, things } from "./_operator.ts";
import { leap } from "./_time.ts";

/** A generator of numbers from 0 up to 1 (mulberry32). */
function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FAULTS: readonly [FaultMatch, Fault][] = [
  [{ verb: "watch" }, { breakAfter: 500 }],
  [{ verb: "watch", for: 3_000 }, { code: 410, reason: "Expired" }],
  [{ verb: "list", for: 2_000 }, { code: 500 }],
  [{ resource: "leases", for: 15_000 }, { code: 500 }],
  [{ resource: "leases", for: 15_000 }, { stall: true }],
  [{ verb: "patch" }, { code: 409, reason: "Conflict" }],
  [{ verb: "patch" }, { reset: "after" }],
  [{ verb: "patch" }, { reset: "before" }],
  [{ verb: "patch" }, { delay: 4_000 }],
  [{ verb: "patch", subresource: "status" }, { code: 429, retryAfter: 1 }],
];

/** Lets a server and an operator live through a minute of changes and faults; then everything must be as it was asked for. */
async function live(seed: number): Promise<void> {
  using time = new FakeTime();
  const random = generator(seed);
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)]!;
  await using server = new ApiServer({ random, controllers: ["garbage-collector"] });
  await server.apply(Thing.crd());
  const [api, maps] = [server.client().api(Thing), server.client().api(ConfigMap)];
  const names = Array.from({ length: 6 }, (_, i) => `t${i}`);
  const running = new Set<string>();
  const external = new Map<string, string>();
  const twice: string[] = [];

  /** Runs a part of a reconcile alone: an object must never be worked on twice at once. */
  const alone = async <R>(uid: string, work: () => Promise<R>): Promise<R> => {
    if (running.has(uid)) twice.push(uid);
    running.add(uid);
    try {
      return await work();
    } finally {
      running.delete(uid);
    }
  };
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, random() * 2_000));
  const controller = things().concurrency(3).owns(ConfigMap)
    .finalizer("example.com/model", ({ metadata: { uid } }) =>
      alone(uid, async () => {
        await pause();
        if (random() < 0.2) throw new Error("cleanup");
        external.delete(uid);
      }))
    .reconcile((object, ctx) =>
      alone(object.metadata.uid, async () => {
        external.set(object.metadata.uid, object.metadata.name);
        await pause();
        if (random() < 0.2) throw new Error("reconcile");
        const data = { value: String(object.spec.value) };
        await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: object.metadata.name }, data }));
        await ctx.patchStatus(object, { value: object.spec.value });
        if (random() < 0.2) return Action.requeue({ seconds: 30 });
      })
    );
  const operator = new Operator("tester").leaderElection("default", "tester").controller(controller);
  await using _running = start(operator, server.client({ user: "operator" }), time, { random });

  const changes: (() => Promise<unknown>)[] = [
    () => server.apply(thing(pick(names), { value: Math.floor(random() * 1000) })),
    () => api.patch(pick(names), { spec: { value: Math.floor(random() * 1000) } }),
    () => api.delete(pick(names)),
    () => maps.patch(pick(names), { data: { value: "by hand" } }),
    () => maps.delete(pick(names)),
    () =>
      api.status.patch(pick(names), { status: { value: -1 } }).then(() =>
        api.patch(pick(names), { spec: { x: random() } })
      ),
    async () => {
      const lease = await server.client().api(Lease).get("tester");
      await server.client().api(Lease).replace({ ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
    },
  ];
  for (let step = 0; step < 60; step++) {
    if (random() < 0.3) {
      const [match, fault] = pick(FAULTS);
      server.faults.add({ user: "operator", times: 3, ...match }, fault);
    }
    await pick(changes)().catch(() => {});
    await leap(time, random() * 3_000);
  }
  // What the lease, the watches and every back-off may take at most, and some more.
  await leap(time, 20_000);
  await server.apply(names.slice(0, 3).map((name) => thing(name, { value: 7 })));
  await leap(time, 700_000);

  assertEquals(twice, []);
  assertEquals(running.size, 0);
  const objects = (await api.list()).items;
  assert(objects.length >= 3);
  for (const { metadata, spec, status } of objects as unknown as Thing[]) {
    const what = `${keyOf({ metadata })} of seed ${seed}`;
    assertEquals(metadata.finalizers, ["example.com/model"], what);
    assertEquals(metadata.deletionTimestamp, undefined, what);
    const child = await maps.get(metadata.name);
    assertEquals(child.data, { value: String(spec.value) }, what);
    assertEquals(child.metadata.ownerReferences?.map(({ uid }) => uid), [metadata.uid], what);
    if (status?.value !== -1) assertEquals(status?.value, spec.value, what);
  }
  assertEquals([...external.keys()].sort(), objects.map(({ metadata }) => metadata.uid).sort(), `of seed ${seed}`);
}

for (const seed of [1, 2]) {
  Deno.test(`whatever happens meanwhile, all is as it was asked for in the end, and nothing ran twice at once (seed ${seed})`, () =>
    live(seed));
}

Deno.test("a change in the middle of a long initial list is reconciled before what is left of that, and nothing is left behind", async () => {
  const count = 2_000;
  await using server = new ApiServer();
  await server.apply(Thing.crd());
  const api = server.client().api(Thing);
  for (let i = 0; i < count; i++) await api.create(thing(`t${i}`));
  const stop = new AbortController();
  let runs = 0;
  let changedAt: number | undefined;
  let seenAt: number | undefined;
  const controller = things().reconcile(async ({ spec }) => {
    if (spec.changed) seenAt ??= runs;
    if (++runs === 200) {
      await api.patch(`t${count - 1}`, { spec: { changed: true } });
      changedAt = runs;
    }
    if (runs === count) stop.abort();
  });
  const operator = new Operator("tester").controller(controller);
  await operator.run({ client: server.client(), signals: false, signal: stop.signal });
  assert(seenAt !== undefined && changedAt !== undefined && seenAt - changedAt < 200, `${seenAt} after ${changedAt}`);
  assertEquals(runs, count);
});
