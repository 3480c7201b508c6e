/** What public bug reports of clients tell of lists and watches, on a server that answers as told. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Client, type ClientOptions } from "../client.ts";
import { goneObjects } from "../_gone_objects.ts";
import { addFinalizer } from "../finalizer.ts";
import { Informer, type InformerEvent, type InformerOptions } from "../informer.ts";
import { ConfigMap } from "../kinds.ts";
import { denoOk, ROOT } from "./_deno.ts";
import { collectLog } from "./_log.ts";
import { operatorOf, start, Thing, thing, things } from "./_operator.ts";
import {
  added,
  type Answer,
  bookmark,
  configMap,
  deleted,
  ended,
  errorEvent,
  Feed,
  json,
  later,
  list,
  modified,
  refuse,
  ScriptedServer,
  status,
  stream,
} from "./_scripted.ts";
import { leap, settle } from "./_time.ts";

const PATH = "/api/v1/configmaps";
const WATCH = `${PATH}?watch`;
const EXPIRED = { reason: "Expired", message: "too old resource version" };
const THINGS = "/apis/example.com/v1/things";

/** An informer of ConfigMaps under fake time. */
class World implements AsyncDisposable {
  readonly time: FakeTime = new FakeTime(0);
  readonly events: string[] = [];
  readonly informer: Informer<ConfigMap>;
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;

  constructor(server: ScriptedServer, options: InformerOptions<ConfigMap> = {}, client: ClientOptions = {}) {
    const now = () => Date.now();
    this.#client = new Client({ fetch: server.fetch, now, random: () => 0, ...client });
    this.informer = new Informer(this.#client, ConfigMap, { now, random: () => 0, ...options });
    this.informer.subscribe(({ type, object: { metadata } }: InformerEvent<ConfigMap>) =>
      this.events.push(`${type} ${metadata.name}@${metadata.resourceVersion}`)
    );
    this.#run = this.informer.run(this.#stop.signal);
  }

  get stored(): string[] {
    return this.informer.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  }

  leap(ms: number): Promise<void> {
    return leap(this.time, ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await settle(this.time);
    await this.#run;
    await this.#client.close();
    this.time.restore();
  }
}

const versions = (requests: readonly { query: Readonly<Record<string, string>> }[]) =>
  requests.map(({ query }) => query.resourceVersion);
const instants = (requests: readonly { at: number }[]) => requests.map(({ at }) => at);

for (const initial of ["list", "stream"] as const) {
  Deno.test(`B01: the cache equals the server again within the bound after a watch fell silent that began with a ${initial}`, async () => {
    const first = new Feed();
    const server = new ScriptedServer();
    if (initial === "stream") {
      first.send(added(configMap("a", 90)), bookmark(100, { initialEventsEnd: true }));
    } else server.on("GET", PATH, json(list([configMap("a", 90)], 100)));
    const missed = [modified(configMap("a", 120)), added(configMap("b", 150))];
    server.on("GET", WATCH, first.answer, stream(...missed));
    await using world = new World(server, { initial });
    await world.leap(1_000);
    first.send(modified(configMap("a", 101)));
    await world.leap(329_500);
    assertEquals(world.stored, ["a@120", "b@150"]);
    assertEquals(versions(server.watches).at(-1), "101");
    assertEquals(server.lists.length, initial === "list" ? 1 : 0);
  });
}

for (
  const [what, answer] of [
    ["a list that never answers", later(1e9, json({}))],
    ["a list that falls silent in its middle", new Feed().text('{"kind":"ConfigMapList","items":[').answer],
  ] as [string, Answer][]
) {
  Deno.test(`B01: ${what} is cut, and another way is taken`, async () => {
    const server = new ScriptedServer().on("GET", PATH, answer, json(list([configMap("a", 5)], 10)))
      .on("GET", WATCH, stream());
    await using world = new World(server);
    await world.leap(31_000);
    assertEquals(world.stored, ["a@5"]);
  });
}

Deno.test("B04: 410 in the midst of pages, and in a new list, is healed as in a watch", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("a", 5)], 100, "t")), status(410, EXPIRED))
    .on("GET", PATH, json(list([configMap("a", 5)], 200)))
    .on("GET", WATCH, ended(errorEvent(410, EXPIRED)))
    .on("GET", PATH, status(410, EXPIRED), json(list([configMap("b", 250)], 300)))
    .on("GET", WATCH, stream());
  await using world = new World(server);
  await world.leap(60_000);
  assertEquals(world.events, ["added a@5", "deleted a@5", "added b@250"]);
  assertEquals(versions(server.watches), ["200", "300"]);
  assertEquals(server.unexpected, []);
});

Deno.test("B06: a server that asks for no time at all is still asked a second apart", async () => {
  using time = new FakeTime(0);
  const server = new ScriptedServer();
  for (let n = 0; n < 3; n++) server.on("PATCH", PATH, status(429, {}, { "retry-after": "0" }));
  server.always("PATCH", "/api", json(configMap("a", 5)));
  server.on("PATCH", "/api/v1/namespaces", ...Array<Answer>(3).fill(status(429, {}, { "retry-after": "0" })));
  await using client = new Client({ fetch: server.fetch, now: () => Date.now(), random: () => 0 });
  const done = client.api(ConfigMap).patch("a", {});
  await leap(time, 10_000);
  await done;
  assertEquals(instants(server.requests), [0, 1000, 2000, 3000]);
});

for (const initial of ["list", "pages", "stream"] as const) {
  Deno.test(`B06: 429 at the very beginning delays the initial state by ${initial}, which then comes that way`, async () => {
    const path = initial === "stream" ? WATCH : PATH;
    const busy = { details: { retryAfterSeconds: 3 } };
    const server = new ScriptedServer().on("GET", path, status(429, {}, { "retry-after": "2" }), status(429, busy));
    if (initial === "stream") {
      server.on("GET", WATCH, stream(added(configMap("a", 5)), bookmark(10, { initialEventsEnd: true })));
    } else server.on("GET", PATH, json(list([configMap("a", 5)], 10))).on("GET", WATCH, stream());
    await using world = new World(server, { initial });
    await world.leap(10_000);
    const [first, second, third] = instants(server.requests);
    assertEquals([second! - first!, third! - second!], [2000, 3000]);
    assertEquals(world.stored, ["a@5"]);
  });
}

Deno.test("B07: a server that is not there from the start is asked ever more seldom, by each of five watches in its own time", async () => {
  using time = new FakeTime(0);
  const server = new ScriptedServer();
  let up = false;
  server.always("GET", PATH, (...call) => (up ? json(list([], 10)) : refuse())(...call)).always("GET", WATCH, stream());
  const client = new Client({ fetch: server.fetch, now: () => Date.now() });
  const stop = new AbortController();
  const runs = Array.from({ length: 5 }, (_, index) => {
    let seed = (index + 1) * 123_456_789;
    const random = () => (seed = seed * 16_807 % 2_147_483_647) / 2_147_483_647;
    const informer = new Informer(client, ConfigMap, { now: () => Date.now(), random });
    // Started twice, it runs once.
    return Promise.all([informer.run(stop.signal), informer.run(stop.signal)]);
  });
  await leap(time, 60_000);
  assert(server.lists.length <= 5 * 7, `${server.lists.length} tries`);
  const late = instants(server.lists).filter((at) => at > 0);
  assertEquals(new Set(late).size, late.length, "no two at one time");
  up = true;
  await leap(time, 61_000);
  assertEquals(server.watches.length, 5);
  stop.abort();
  await settle(time);
  await Promise.all(runs);
  await client.close();
});

Deno.test("B10: of five pages of 500 the third expires: nothing is deleted, added or kept of the half that had come", async () => {
  const names = (from: number) => Array.from({ length: 500 }, (_, at) => configMap(`c${from + at}`, 5));
  const pages = (version: number, upTo: number) =>
    Array.from({ length: upTo }, (_, at) => json(list(names(at * 500), version, at < 4 ? `t${at}` : undefined)));
  const inconsistent = status(410, { reason: "Expired", metadata: { continue: "inconsistent" } });
  const server = new ScriptedServer()
    .on("GET", PATH, ...pages(100, 5))
    .on("GET", WATCH, ended(errorEvent(410, EXPIRED)))
    .on("GET", PATH, ...pages(200, 2), inconsistent, ...pages(300, 5))
    .on("GET", WATCH, stream());
  await using world = new World(server, { initial: "pages" });
  await settle(world.time);
  const before = world.events.length;
  await world.leap(5_000);
  assertEquals([before, world.events.length, world.informer.size], [2500, 2500, 2500]);
  assertEquals(server.lists.filter(({ query }) => query.continue === "inconsistent").length, 0);
  for (const { query } of server.lists) {
    assertEquals([query.resourceVersion, query.resourceVersionMatch], [undefined, undefined]);
  }
  assertEquals(versions(server.watches), ["100", "300"]);
});

Deno.test("B10: a server that pages on its own is read to its end, by a live list and by a new leader, and half of it is no answer", async () => {
  using time = new FakeTime(0);
  const server = new ScriptedServer();
  const half = json(list([configMap("a", 5)], 10, "t"));
  const rest = json(list([configMap("b", 6)], 10));
  server.on("GET", PATH, half, rest).always("GET", WATCH, stream());
  await using client = new Client({ fetch: server.fetch, now: () => Date.now(), random: () => 0 });
  const informer = new Informer(client, ConfigMap, { now: () => Date.now() });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await settle(time);
  assertEquals(informer.size, 2);
  const gone = () => goneObjects(client, informer, { signal: stop.signal, now: () => Date.now(), random: () => 0 });
  server.on("GET", PATH, half, rest);
  assertEquals(await gone(), new Map());
  server.on("GET", PATH, half, status(410, EXPIRED), half, json(list([], 10)));
  const asked = gone();
  await leap(time, 5_000);
  assertEquals(await asked, new Map([["default/b", "uid-b"]]));
  stop.abort();
  await settle(time);
  await run;

  const seen: unknown[] = [];
  const controller = things().reconcile(async (_object, ctx) => {
    seen.push(await ctx.list(ConfigMap).then((all) => all.map(({ metadata }) => metadata.name), (error) => error.code));
  });
  server.on("GET", THINGS, json(list([served("x", 5) as never, served("y", 5) as never], 10)))
    .always("GET", `${THINGS}?watch`, stream())
    .on("GET", PATH, half, rest, half, status(410, EXPIRED));
  await using _running = start(operatorOf(controller.concurrency(1)), client, time);
  await leap(time, 1_000);
  assertEquals(seen, [["a", "b"], 410]);
  assertEquals(server.unexpected, []);
});

Deno.test("B12: a streaming list that is begun anew must not be older than what was seen", async () => {
  const server = new ScriptedServer()
    .on(
      "GET",
      WATCH,
      ended(added(configMap("a", 5)), bookmark(200, { initialEventsEnd: true }), errorEvent(410, EXPIRED)),
    )
    .on("GET", WATCH, stream(bookmark(210, { initialEventsEnd: true })));
  await using world = new World(server, { initial: "stream" });
  await world.leap(10_000);
  assertEquals(server.watches.map(({ query }) => [query.resourceVersion, query.resourceVersionMatch]), [
    [undefined, "NotOlderThan"],
    ["200", "NotOlderThan"],
  ]);
  assertEquals(world.events, ["added a@5", "deleted a@5"]);
});

for (const initial of ["list", "pages", "stream"] as const) {
  Deno.test(`B13: a bookmark from before what was seen is taken for what it is, a restored server: by ${initial}`, async () => {
    await using log = await collectLog();
    const tooLarge = status(504, { details: { causes: [{ reason: "ResourceVersionTooLarge" }] } });
    const before = [configMap("a", 1100), configMap("lost", 1190)];
    const after = [configMap("a", 900), configMap("new", 1003)];
    const feed = new Feed();
    const server = new ScriptedServer();
    if (initial === "stream") {
      server.on("GET", WATCH, feed.answer, tooLarge);
      server.on("GET", WATCH, stream(...after.map(added), bookmark(1005, { initialEventsEnd: true })));
      feed.send(...before.map(added), bookmark(1200, { initialEventsEnd: true }));
    } else {
      server.on("GET", PATH, json(list(before, 1200)));
      if (initial === "list") server.on("GET", PATH, tooLarge);
      server.on("GET", PATH, json(list(after, 1005))).on("GET", WATCH, feed.answer, stream());
    }
    await using world = new World(server, { initial });
    await world.leap(60_000);
    feed.send(bookmark(1200));
    await world.leap(1_000);
    assertEquals(world.stored, ["a@1100", "lost@1190"], "the same once more is nothing");
    feed.send(bookmark(1004));
    await world.leap(1_000);
    assertEquals(world.stored, ["a@900", "new@1003"]);
    assertEquals(log.texts("warning"), ["The server has gone back behind what was seen: listing anew"]);
    assertEquals(server.unexpected, []);
  });
}

/** A thing as a server has it. */
function served(name: string, version: number, more: Record<string, unknown> = {}): unknown {
  const metadata = { uid: `uid-${name}`, resourceVersion: `${version}`, creationTimestamp: "2026-01-01T00:00:00Z" };
  const draft = thing(name);
  return { ...draft, metadata: { ...draft.metadata, ...metadata, generation: 1, ...more } };
}

Deno.test("B30: a finalizer that meets a conflict, then nothing, has nothing to be added to", async () => {
  const server = new ScriptedServer()
    .on("PATCH", "/apis/example.com/v1/namespaces/default/things/a", status(409, { reason: "Conflict" }))
    .on("GET", "/apis/example.com/v1/namespaces/default/things/a", status(404, { reason: "NotFound" }));
  await using client = new Client({ fetch: server.fetch });
  const api = client.api(Thing as never);
  assertEquals(await addFinalizer(api, served("a", 5) as never, "example.com/x"), undefined);
  assertEquals([server.left, server.unexpected], [0, []]);
});

for (const fails of [false, true]) {
  Deno.test(`B30: an object that goes though it has our finalizer is forgotten, with all that ${fails ? "its failure" : "it"} asked for`, async () => {
    using time = new FakeTime(0);
    await using log = await collectLog();
    const finalizers = ["example.com/x"];
    const feed = new Feed();
    const server = new ScriptedServer()
      .on("GET", THINGS, json(list([served("a", 5) as never], 10)))
      .on("GET", `${THINGS}?watch`, feed.answer)
      .always("GET", `${THINGS}?watch`, stream())
      .on(
        "PATCH",
        "/apis/example.com/v1/namespaces/default/things/a",
        later(500, json(served("a", 11, { finalizers }))),
      );
    const client = new Client({ fetch: server.fetch, now: () => Date.now(), random: () => 0 });
    const runs: number[] = [];
    let cleanups = 0;
    const controller = things().finalizer("example.com/x", () => void cleanups++).reconcile(({ metadata }) => {
      assertEquals(metadata.finalizers, finalizers);
      runs.push(Date.now());
      if (fails) throw new Error("no");
    });
    const operator = operatorOf(controller);
    {
      await using _running = start(operator, client, time);
      await leap(time, 499);
      assertEquals(runs, [], "not before the finalizer is confirmed");
      await leap(time, 1_000);
      assertEquals(runs.length, 1);
      feed.send(deleted(served("a", 12, { finalizers })));
      await leap(time, 600_000);
      assertEquals([runs.length, cleanups], [1, 0]);
      assertStringIncludes(
        await operator.metrics.text(),
        `workqueue_depth{name="thing",controller="thing",priority="0"} 0`,
      );
    }
    assertEquals(log.texts("error").length, fails ? 1 : 0);
    assertEquals(server.requests.filter(({ method }) => method !== "GET").length, 1);
    await client.close();
  });
}

Deno.test("B66: a cache of 5,000 Secrets holds what a controller wants of them, not what they are, and nothing of those deleted", async () => {
  const program = `
    import { Client } from "${ROOT}/client.ts";
    import { Informer } from "${ROOT}/informer.ts";
    import { Secret } from "${ROOT}/kinds.ts";
    const COUNT = 5000;
    const text = "x".repeat(32 * 1024), field = "f:" + "y".repeat(8 * 1024);
    const secret = (n) => JSON.stringify({
      apiVersion: "v1", kind: "Secret", type: "Opaque", data: { password: text },
      metadata: { name: "s" + n, namespace: "default", uid: "u" + n, resourceVersion: "" + (n + 1),
        managedFields: [{ manager: "m", fieldsV1: { [field]: {} } }] },
    });
    const encoder = new TextEncoder();
    const pieces = (head, piece, tail) => {
      let n = -1;
      return new Response(new ReadableStream({ pull(controller) {
        const part = n < 0 ? head : n < COUNT ? piece(n) : tail;
        if (part !== undefined) controller.enqueue(encoder.encode(part));
        if (n++ >= COUNT && tail !== undefined) controller.close();
        if (n > COUNT && tail === undefined) return new Promise(() => {});
      } }, { highWaterMark: 0 }));
    };
    const gone = Promise.withResolvers();
    const client = new Client({ fetch: async (request) => {
      if (!request.url.includes("watch=true")) {
        return pieces('{"kind":"SecretList","metadata":{"resourceVersion":"9000"},"items":[', (n) => (n ? "," : "") + secret(n), "]}");
      }
      await gone.promise;
      return pieces("\\n", (n) => '{"type":"DELETED","object":' + secret(n).replace(/"resourceVersion":"\\d+"/, '"resourceVersion":"' + (9001 + n) + '"') + "}\\n", undefined);
    } });
    const heap = async () => {
      for (let round = 0; round < 3; round++) { await new Promise((resolve) => setTimeout(resolve, 5)); gc(); }
      return Deno.memoryUsage().heapUsed / 2 ** 20;
    };
    const base = await heap();
    const transform = ({ data, ...rest }) => ({ ...rest, metadata: { ...rest.metadata, managedFields: undefined } });
    const informer = new Informer(client, Secret, Deno.args[0] === "transform" ? { transform } : Deno.args[0] === "metadata" ? { metadataOnly: true } : {});
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await informer.whenSynced();
    const synced = await heap() - base;
    gone.resolve();
    while (informer.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const after = await heap() - base;
    stop.abort();
    await run;
    await client.close();
    console.log(JSON.stringify({ synced, after }));
    Deno.exit(0);
  `;
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/program.js`, program);
    const measure = async (way: string): Promise<{ synced: number; after: number }> => {
      const flags = ["--no-check", "-A", "--v8-flags=--expose-gc", `--config=${ROOT}/deno.json`];
      const { stdout } = await denoOk(["run", ...flags, `${dir}/program.js`, way]);
      return JSON.parse(stdout);
    };
    // In MiB: the payload is 200, of which managedFields are 40.
    for (const [way, limit] of [["whole", 185], ["transform", 20], ["metadata", 20]] as const) {
      const { synced, after } = await measure(way);
      assert(synced < limit, `${way}: ${synced} MiB`);
      assert(after < 10, `${way}: ${after} MiB are left when all are deleted`);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
