import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { setImmediate } from "node:timers"; // Not those of the globals: time is fake.
import { Client } from "../client.ts";
import { Controller } from "../controller.ts";
import { ConfigMap, Deployment, Pod } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { ApiServer, type Fault } from "../testing/mod.ts";
import { Thing, thing, things } from "./_operator.ts";
import { isPublished, modulePaths, source, withoutComments } from "./_sources.ts";

/** A generator of numbers from 0 up to 1 (mulberry32). */
function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Notes every byte that a client sends and gets, and when. */
function tapped(server: ApiServer, log: string[]): (request: Request) => Promise<Response> {
  const note = (line: string): void => void log.push(`${Date.now()} ${line}`);
  let count = 0;
  return async (request) => {
    const id = `#${++count} ${request.headers.get("user-agent")} ${request.method} ${request.url}`;
    note(`${id} ${request.body ? await request.clone().text() : ""}`);
    let response: Response;
    try {
      response = await server.fetch(request);
    } catch (error) {
      note(`${id} ${error}`);
      throw error;
    }
    note(`${id} ${response.status} ${JSON.stringify([...response.headers])}`);
    const decoder = new TextDecoder();
    const bytes = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          note(`${id} ${decoder.decode(chunk)}`);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(bytes, response);
  };
}

const WRITES: readonly Fault[] = [
  { code: 409 },
  { code: 429, retryAfter: 1 },
  { code: 500 },
  { reset: "before" },
  { reset: "after" },
  { delay: 700 },
  { answerDelay: 700 },
];
const WATCHES: readonly Fault[] = [
  { breakAfter: 300 },
  { truncate: 1 },
  { code: 410, inStream: true },
  { bookmarks: "duplicate" },
  { bookmarks: "drop" },
];

/** Two replicas of an operator with two controllers, under a lease, through a time of changes and faults. */
async function live(seed: number, turn: () => Promise<unknown>): Promise<string[]> {
  using time = new FakeTime("2026-01-01T00:00:00Z");
  const random = generator(seed), log: string[] = [];
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)]!;
  await using server = new ApiServer({
    random,
    controllers: ["garbage-collector", "namespaces", "workloads"],
    controllerDelay: 50,
    users: { secret: { name: "operator", groups: ["system:masters"] } },
  });
  const fetch = tapped(server, log);
  let over = false;
  /** Lets time pass, with turns of the event loop that take however long. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0 && !over; left -= 100) {
      await turn();
      time.tick(100);
      await turn();
    }
  };
  await server.apply(Thing.crd());
  const operator = () =>
    new Operator("tester").leaderElection("default", "tester").controller(
      things().concurrency(2).owns(Deployment).owns(ConfigMap)
        .finalizer("example.com/model", async () => await new Promise((resolve) => setTimeout(resolve, random() * 100)))
        .reconcile(async (object, ctx) => {
          const { name } = object.metadata;
          await new Promise((resolve) => setTimeout(resolve, random() * 300));
          await ctx.applyOwned(
            object,
            ConfigMap.draft({ metadata: { name }, data: { value: String(object.spec.value) } }),
          );
          const labels = { app: name };
          await ctx.applyOwned(
            object,
            Deployment.draft({
              metadata: { name },
              spec: {
                replicas: Number(object.spec.value) % 3,
                selector: { matchLabels: labels },
                template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
              },
            }),
          );
          ctx.event(object, { type: "Normal", reason: "Applied", note: `value ${object.spec.value}` });
          const [deployment] = ctx.owned(Deployment);
          await ctx.patchStatus(object, { ready: deployment?.status?.readyReplicas ?? 0 });
        }),
    ).controller(
      new Controller(Pod).reconcile(async (pod, ctx) => {
        if (random() < 0.1) throw new Error("a failure");
        await ctx.client.api(Pod).patch(pod, { metadata: { annotations: { seen: "yes" } } });
      }),
    );
  const stop = new AbortController();
  const runs = ["one", "two"].map((identity) =>
    operator().run({
      client: new Client({
        server: "http://kubernetes",
        token: "secret",
        userAgent: identity,
        fetch,
        now: () => Date.now(),
        random,
      }),
      ...{ identity, signals: false, now: () => Date.now(), random, signal: stop.signal },
    })
  );
  const ended = Promise.allSettled(runs).then(() => over = true);
  const names = ["a", "b", "c", "d"];
  const api = server.client().api(Thing);
  const changes: (() => unknown)[] = [
    () => server.apply(thing(pick(names), { value: Math.floor(random() * 100) })),
    () => api.delete({ name: pick(names), namespace: "default" }).catch(() => {}),
    () => server.faults.add({ verb: ["create", "patch"], client: ["one", "two"], times: 3 }, pick(WRITES)),
    () => server.faults.add({ verb: "watch", times: 1, for: 5000 }, pick(WATCHES)),
    () => server.faults.lag({ client: pick(["one", "two"]), for: 2000 }, { ms: random() * 1000 }),
    () => server.faults.partition({ client: pick(["one", "two"]), for: 2000 }, { lost: pick(["requests", "answers"]) }),
    () => server.faults.breakWatches(),
    () => server.compact(),
    () => void server.restart({ for: random() * 1000 }),
  ];
  for (let step = 0; step < 100; step++) {
    const change = random() < 0.6 ? changes[0]! : pick(changes);
    const asked = Promise.resolve(change()).catch(() => {});
    await pass(Math.ceil(random() * 1500));
    await asked;
  }
  stop.abort();
  while (!over) await pass(1000);
  await ended;
  return log;
}

const realTimeout = setTimeout;
/** The shortest turn of the event loop. */
const quick = () => new Promise((resolve) => setImmediate(resolve));
/** A turn that takes some milliseconds. */
const slow = () => new Promise((resolve) => realTimeout(resolve, 1));

Deno.test("A whole operator runs the same, byte for byte, with the same seed, however fast the machine is", async () => {
  const first = await live(7, quick), second = await live(7, slow);
  assert(first.length > 500, `something happened: ${first.length} lines`);
  const differs = first.findIndex((line, index) => line !== second[index]);
  assertEquals([first[differs], first.length], [second[differs], second.length]);
  assertNotEquals((await live(8, quick)).join("\n"), first.join("\n"));
});

/** Where chance and real time come from; in what is published each is the default of an option that injects another. */
const SOURCES = /Math\.random|performance\.now|randomUUID|getRandomValues|node:timers|new Date\(\)|Date\.now/;
const DEFAULT = /(= |\?\? )\(?(Math\.random|\(\) => performance\.now\(\)|\(\) => Date\.now\(\)|new Date\(\))/;

/** Those that are not, and why that is right. Fake time moves `Date`: it counts in the server alone, which has a clock. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "leader.ts": "identities of processes must differ; an option sets one",
  "testing/fake_context.ts": "fake time moves the clock of the operator",
  "testing/simulation/_virtual_time.ts": "it replaces them all",
  "testing/control_plane.ts": "a real server is not deterministic",
  "testing/_supervisor.ts": "a real server is not deterministic",
  "testing/_certificates.ts": "TLS clients look at the real time",
  "testing/_turns.ts": "an endless loop at one instant of fake time must leave the test a chance to end it",
};

Deno.test("Chance and real time come into the framework and the server in memory by their options alone", async () => {
  const found = new Set<string>();
  for (const path of (await modulePaths()).filter(isPublished)) {
    for (const line of withoutComments(await source(path)).split("\n")) {
      if (!SOURCES.test(line) || DEFAULT.test(line)) continue;
      if (/Date/.test(line) && !path.startsWith("testing/")) continue;
      if (ELSEWHERE[path] === undefined) found.add(`${path}: ${line.trim()}`);
    }
  }
  assertEquals([...found], []);
});
