import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { Logger } from "@logtape/logtape";
import { Index } from "../_key_index.ts";
import { Client } from "../client.ts";
import { Informer, type InformerEvent, type InformerOptions } from "../informer.ts";
import { ConfigMap, Namespace } from "../kinds.ts";
import {
  added,
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
  ScriptedServer,
  status,
  stream,
} from "./_scripted.ts";
import { leap, settle } from "./_time.ts";

const PATH = "/api/v1/configmaps";
const WATCH = `${PATH}?watch`;

/** An informer that runs under fake time until the test is over. */
class World implements AsyncDisposable {
  readonly time: FakeTime = new FakeTime(0);
  readonly client: Client;
  readonly informer: Informer<ConfigMap>;
  readonly events: InformerEvent<ConfigMap>[] = [];
  readonly errors: { message: string; properties: Record<string, unknown> }[] = [];
  readonly stop: AbortController = new AbortController();
  readonly #runs: Promise<void>[] = [];

  constructor(readonly server: ScriptedServer, options: InformerOptions<ConfigMap> = {}) {
    const ignore = () => {};
    const error = (message: string, properties: Record<string, unknown>) => this.errors.push({ message, properties });
    const log = { debug: ignore, info: ignore, warn: ignore, error } as unknown as Logger;
    const now = () => Date.now();
    this.client = new Client({ fetch: server.fetch, now, random: () => 0 });
    this.informer = new Informer(this.client, ConfigMap, { now, random: () => 0, log, ...options });
    this.informer.subscribe((event) => this.events.push(event));
  }

  /** Starts the informer and lets it list. */
  async start(signal: AbortSignal = this.stop.signal): Promise<Promise<void>[]> {
    this.#runs.push(this.informer.run(signal));
    await this.settle();
    return this.#runs;
  }

  /** What was told since the last look, in short: `added a@1 initial`, `updated a@1>2`, `deleted a@2`. */
  get told(): string[] {
    return this.events.splice(0).map(({ type, object: { metadata }, previous, initial }) =>
      `${type} ${metadata.name}@${previous ? `${previous.metadata.resourceVersion}>` : ""}${metadata.resourceVersion}` +
      (initial ? " initial" : "")
    );
  }

  /** What is stored, in short. */
  get stored(): string[] {
    return this.informer.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  }

  leap(ms: number): Promise<void> {
    return leap(this.time, ms);
  }

  settle(): Promise<void> {
    return settle(this.time);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await this.settle();
    await Promise.all(this.#runs);
    await this.client.close();
    this.time.restore();
  }
}

/** A server with one list and then one watch that the test feeds. */
function fed(objects: Parameters<typeof list>[0], version: number): [ScriptedServer, Feed] {
  const feed = new Feed();
  return [new ScriptedServer().on("GET", PATH, json(list(objects, version))).on("GET", WATCH, feed.answer), feed];
}

Deno.test("Informer stores what is listed and watched, and tells each change", async () => {
  const [server, feed] = fed([configMap("a", 5), configMap("b", 6, { namespace: "shop" })], 10);
  await using world = new World(server);
  assertEquals(world.informer.synced, false);
  await world.start();
  assertEquals(world.informer.synced, true);
  assertEquals(world.told, ["added a@5 initial", "added b@6 initial"]);
  feed.send(added(configMap("c", 11)), modified(configMap("a", 12)), bookmark(20), deleted(configMap("c", 21)));
  await world.settle();
  assertEquals(world.told, ["added c@11", "updated a@5>12", "deleted c@21"]);
  assertEquals(world.stored, ["a@12", "b@6"]);
  assertEquals(world.informer.size, 2);
  assertEquals([...world.informer.keys()], ["default/a", "shop/b"]);
  assertEquals(world.informer.get("shop/b")?.metadata.name, "b");
  assertEquals(world.informer.get("default/c"), undefined);
  assertEquals(world.informer.list("shop").map(({ metadata }) => metadata.name), ["b"]);
  feed.send(added(configMap("d", 22, { namespace: "shop" })), deleted(configMap("b", 23, { namespace: "shop" })));
  await world.settle();
  assertEquals(world.informer.list("shop").map(({ metadata }) => metadata.name), ["d"]);
  assertEquals(world.informer.list("nowhere"), []);
});

Deno.test("Informer has cluster-scoped objects under their name", async () => {
  const namespace = { metadata: { name: "shop", uid: "1", resourceVersion: "5" } };
  const server = new ScriptedServer()
    .on("GET", "/api/v1/namespaces", json({ metadata: { resourceVersion: "10" }, items: [namespace] }))
    .on("GET", "/api/v1/namespaces?watch", stream());
  await using client = new Client({ fetch: server.fetch });
  const informer = new Informer(client, Namespace, { namespaces: ["elsewhere"] });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await informer.whenSynced();
  assertEquals(informer.get("shop")?.kind, "Namespace");
  informer.accept({ ...informer.get("shop")!, metadata: { ...informer.get("shop")!.metadata, resourceVersion: "11" } });
  assertEquals(informer.get("shop")?.metadata.resourceVersion, "11");
  stop.abort();
  await run;
});

Deno.test("B08: Informer tells nothing when a new list finds the same versions, or an event is repeated", async () => {
  const feed = new Feed();
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("a", 5), configMap("b", 6)], 10)), json(list([configMap("a", 5)], 20)))
    .on("GET", WATCH, ended(errorEvent(410)), feed.answer);
  await using world = new World(server);
  await world.start();
  assertEquals(world.told, ["added a@5 initial", "added b@6 initial", "deleted b@6"]);
  const first = world.informer.get("default/a");
  for (let second = 0; second < 30; second++) {
    feed.send(modified(configMap("a", 21)));
    if (second > 0) feed.send(deleted(configMap("b", 22)));
    await world.leap(1000);
  }
  assertEquals(world.told, ["updated a@5>21"]);
  assertEquals(world.stored, ["a@21"]);
  assertEquals(first?.metadata.resourceVersion, "5", "what was handed out stays");
});

Deno.test("Informer tells what it missed between two lists: deletions with the last known object, replaced objects as deleted and added", async () => {
  const server = new ScriptedServer()
    .on(
      "GET",
      PATH,
      json(list([configMap("a", 5), configMap("b", 6, { data: { last: "known" } }), configMap("c", 7)], 10)),
      json(list([configMap("a", 15), configMap("c", 16, { uid: "another" }), configMap("d", 17)], 20)),
    )
    .on("GET", WATCH, ended(errorEvent(410)), stream());
  await using world = new World(server);
  await world.start();
  assertEquals((world.events.find(({ type }) => type === "deleted")?.object as ConfigMap).data, { last: "known" });
  assertEquals(world.told.slice(3), ["deleted b@6", "updated a@5>15", "deleted c@7", "added c@16", "added d@17"]);
  assertEquals(world.stored, ["a@15", "c@16", "d@17"]);
});

Deno.test("Informer tells an object with another uid as deleted, then added, and ignores a late deletion of the first", async () => {
  const [server, feed] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  await world.start();
  feed.send(modified(configMap("a", 11, { uid: "second" })), deleted(configMap("a", 12)));
  await world.settle();
  assertEquals(world.told, ["added a@5 initial", "deleted a@5", "added a@11"]);
  assertEquals(world.stored, ["a@11"]);
});

Deno.test("Informer does not go back to an older version of an object, nor delete by one", async () => {
  const [server, feed] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  await world.start();
  feed.send(modified(configMap("a", 12)), modified(configMap("a", 11)), deleted(configMap("a", 11)));
  await world.settle();
  assertEquals(world.stored, ["a@12"]);
  assertEquals(world.told, ["added a@5 initial", "updated a@5>12"]);
});

Deno.test("B13: Informer takes a list from an older history as it is, also where versions are the same", async () => {
  const feed = new Feed();
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("a", 1003), configMap("b", 1100)], 1200)), status(410))
    .on("GET", PATH, json(list([configMap("a", 1003, { data: { other: "history" } })], 1005)))
    .on("GET", WATCH, feed.answer, stream(modified(configMap("a", 1006)), added(configMap("c", 1007))));
  await using world = new World(server);
  await world.start();
  world.informer.accept(configMap("lost", 1300));
  feed.send(errorEvent(410));
  await world.leap(2000);
  assertEquals(world.told, [
    "added a@1003 initial",
    "added b@1100 initial",
    "added lost@1300",
    "deleted b@1100",
    "deleted lost@1300",
    "updated a@1003>1003",
    "updated a@1003>1006",
    "added c@1007",
  ]);
  assertEquals(world.stored, ["a@1006", "c@1007"]);
});

Deno.test("B12: an object that was seen deleted does not come back from a lagging replica", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([configMap("a", 5)], 10)))
    .on("GET", WATCH, ended(deleted(configMap("a", 11)), errorEvent(410)), stream());
  server.always(
    "GET",
    PATH,
    (...call) =>
      (call[0].query.resourceVersion === "11" ? json(list([], 12)) : json(list([configMap("a", 5)], 10)))(...call),
  );
  await using world = new World(server);
  await world.start();
  await world.leap(5000);
  assertEquals(world.told, ["added a@5 initial", "deleted a@11"]);
  assertEquals(world.informer.size, 0);
});

Deno.test("B24: Informer.accept() has what a write returned there at once, and tells it once", async () => {
  const [server, feed] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  await world.start();
  const created = configMap("b", 11);
  world.informer.accept(created);
  world.informer.accept(configMap("a", 12));
  assertEquals(world.stored, ["a@12", "b@11"]);
  await world.leap(3000);
  feed.send(added(configMap("b", 11)), modified(configMap("a", 12)), modified(configMap("a", 13)));
  await world.settle();
  assertEquals(world.told, ["added a@5 initial", "added b@11", "updated a@5>12", "updated a@12>13"]);
  created.metadata.name = "mine"; // what the caller holds is not frozen, and not what is stored
  assertEquals(world.stored, ["a@13", "b@11"]);
});

Deno.test("B25: a change that a write's answer overtakes is not lost: it is in the answer, and is told with it", async () => {
  const [server, feed] = fed([configMap("a", 10, { generation: 1 })], 10);
  await using world = new World(server);
  await world.start();
  world.events.splice(0);
  world.informer.accept(configMap("a", 12, { generation: 2 }));
  feed.send(modified(configMap("a", 11, { generation: 2 })), modified(configMap("a", 12, { generation: 2 })));
  await world.settle();
  assertEquals(
    world.events.map(({ previous, object }) => [previous?.metadata.generation, object.metadata.generation]),
    [[
      1,
      2,
    ]],
  );
  assertEquals(world.stored, ["a@12"]);
});

Deno.test("Informer.accept() of an object that replaces another leaves the watch nothing to tell", async () => {
  const [server, feed] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  await world.start();
  const second = configMap("a", 15, { uid: "second" });
  world.informer.accept(second);
  feed.send(modified(configMap("a", 12)), deleted(configMap("a", 14)), added(second));
  await world.settle();
  assertEquals(world.told, ["added a@5 initial", "deleted a@5", "added a@15"]);
  assertEquals(world.stored, ["a@15"]);
});

Deno.test("Informer.accept() ignores what is not news", async (t) => {
  const [server, feed] = fed([configMap("a", 5), configMap("held", 6)], 10);
  await using world = new World(server, { labelSelector: "", fieldSelector: "metadata.name!=unselected" });
  await world.start();
  feed.send(deleted(configMap("gone", 20)), bookmark(30));
  await world.settle();
  world.events.splice(0);
  const kept = world.stored;
  const cases: [string, Parameters<Informer["accept"]>[0]][] = [
    ["an older version", configMap("a", 4)],
    ["the same version", configMap("a", 5)],
    ["an object that the watch saw deleted", configMap("gone", 19)],
    ["an object that the watch saw replaced", configMap("a", 29, { uid: "another" })],
    ["another kind", { ...configMap("new", 31), kind: "Scale" }],
    ["another version of the kind", { ...configMap("new", 31), apiVersion: "v2" }],
    ["an object outside the selection", configMap("unselected", 31)],
    ["an object without uid", configMap("new", 31, { uid: "" })],
    ["an object without metadata", { apiVersion: "v1", kind: "ConfigMap" } as ConfigMap],
    ["an object that its last write removed", configMap("held", 31, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ];
  for (const [name, object] of cases) {
    await t.step(name, () => {
      world.informer.accept(object);
      assertEquals(world.told, []);
      assertEquals(world.stored, kept);
    });
  }
  await t.step("but not a newer version, though the watch has got further", () => {
    world.informer.accept(configMap("a", 29));
    assertEquals(world.told, ["updated a@5>29"]);
  });
  await t.step("nor an object that is being deleted and still held", () => {
    const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/x"] };
    world.informer.accept(configMap("held", 31, metadata));
    assertEquals(world.told, ["updated held@6>31"]);
  });
  await t.step("nor another object of the name, written after what the watch has seen", () => {
    world.informer.accept(configMap("a", 32, { uid: "another" }));
    assertEquals(world.told, ["deleted a@29", "added a@32"]);
  });
});

Deno.test("Informer.accept() respects namespaces and label selectors, and leaves field selectors to the server", async () => {
  const server = new ScriptedServer().always("GET", "/api/v1/namespaces/", json(list([], 10)));
  server.always("GET", "/api/v1/namespaces/?watch", stream());
  await using world = new World(server, { namespaces: ["shop"], labelSelector: "app=web" });
  await world.start();
  world.informer.accept(configMap("a", 11, { namespace: "shop", labels: { app: "web" } }));
  world.informer.accept(configMap("b", 12, { namespace: "bank", labels: { app: "web" } }));
  world.informer.accept(configMap("c", 13, { namespace: "shop" }));
  assertEquals(world.stored, ["a@11"]);
  const informer = new Informer(world.client, ConfigMap, { fieldSelector: "status.phase=Running" });
  informer.accept(configMap("a", 11));
  assertEquals(informer.size, 0);
  const named = new Informer(world.client, ConfigMap, { fieldSelector: "metadata.name=a,metadata.namespace==default" });
  for (const name of ["a", "b"]) named.accept(configMap(name, 11));
  assertEquals([...named.keys()], ["default/a"]);
});

Deno.test("Informer.accept() stores through the transform, and metadata alone where nothing else is kept", async () => {
  const full = configMap("a", 11, { managedFields: [], data: { k: "v" } });
  await using client = new Client({ fetch: new ScriptedServer().fetch });
  for (
    const [options, expected] of [
      [{}, configMap("a", 11, { data: { k: "v" } })],
      [{ metadataOnly: true }, configMap("a", 11)],
      [{ transform: (object: ConfigMap) => ({ ...object, data: { k: "w" } }) }, { ...full, data: { k: "w" } }],
    ] as [InformerOptions<ConfigMap>, ConfigMap][]
  ) {
    const informer = new Informer(client, ConfigMap, options);
    informer.accept(full);
    assertEquals(informer.list(), [expected]);
  }
});

Deno.test("Informer keeps what a write returned when a list does not reach it yet", async () => {
  const slow = later(5000, json(list([configMap("a", 5)], 20)));
  const feed = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([configMap("a", 5)], 10)), slow)
    .on("GET", WATCH, ended(errorEvent(410)), feed.answer);
  await using world = new World(server);
  await world.start();
  world.informer.accept(configMap("seen", 19));
  world.informer.accept(configMap("ahead", 21));
  world.informer.accept(configMap("a", 22));
  await world.leap(6000);
  assertEquals(world.stored.sort(), ["a@22", "ahead@21"], "the list is newer than the write of 'seen', and without it");
  feed.send(deleted(configMap("ahead", 23)));
  await world.settle();
  assertEquals(world.told.slice(1), [
    "added seen@19",
    "added ahead@21",
    "updated a@5>22",
    "deleted seen@19",
    "deleted ahead@23",
  ]);
});

Deno.test("Informer.accept() before the first list is kept if the list does not reach it", async () => {
  const [server] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  world.informer.accept(configMap("b", 11));
  world.informer.accept(configMap("c", 9));
  assertEquals(world.informer.synced, false);
  assertEquals(world.stored, ["b@11", "c@9"]);
  await world.start();
  assertEquals(world.stored.sort(), ["a@5", "b@11"]);
});

Deno.test("Informer hands out frozen objects, through every way", async () => {
  const [server, feed] = fed([configMap("a", 5, { labels: { app: "web" } })], 10);
  await using world = new World(server);
  world.informer.addIndex("app", (object) => [object.metadata.labels?.app ?? ""]);
  await world.start();
  feed.send(modified(configMap("a", 11, { labels: { app: "web" }, ownerReferences: [] })));
  await world.settle();
  const { informer } = world;
  const ways = [
    ["get", informer.get("default/a")],
    ["list", informer.list()[0]],
    ["list of a namespace", informer.list("default")[0]],
    ["byIndex", informer.byIndex("app", "web")[0]],
    ["an event", world.events.at(-1)?.object],
    ["an event's previous", world.events.at(-1)?.previous],
  ] as const;
  for (const [way, object] of ways) {
    assertThrows(() => object!.metadata.labels!.app = "db", TypeError, undefined);
    assertThrows(() => object!.kind = "Other" as "ConfigMap", TypeError, undefined);
    assertEquals(object?.metadata.labels?.app, "web", way);
  }
  assertThrows(() => informer.get("default/a")!.metadata.ownerReferences!.push({} as never), TypeError);
  assertStrictEquals(informer.get("default/a"), informer.list()[0]);
});

Deno.test("Informer.byIndex() follows additions, changes, deletions and lists; a later index covers what is there", async () => {
  const feed = new Feed();
  const at = (name: string, version: number, ...apps: string[]) => configMap(name, version, { finalizers: apps });
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([at("a", 5, "web"), at("b", 6, "web", "db")], 10)), json(list([at("b", 30, "db")], 40)))
    .on("GET", WATCH, feed.answer, stream());
  await using world = new World(server);
  const { informer } = world;
  const names = (value: string) => informer.byIndex("app", value).map(({ metadata }) => metadata.name);
  informer.addIndex("app", (object) => object.metadata.finalizers ?? []);
  assertEquals(names("web"), []);
  await world.start();
  assertEquals([names("web"), names("db"), names("x")], [["a", "b"], ["b"], []]);
  feed.send(modified(at("a", 11, "db")), added(at("c", 12, "web", "web")), deleted(at("b", 13)));
  await world.settle();
  assertEquals([names("web"), names("db")], [["c"], ["a"]]);
  informer.accept(at("d", 14, "x"));
  assertEquals(names("x"), ["d"]);
  informer.addIndex("name", (object) => [object.metadata.name]);
  assertEquals(informer.byIndex("name", "c").map(({ metadata }) => metadata.name), ["c"]);
  feed.send(errorEvent(410));
  await world.settle();
  assertEquals([names("web"), names("db"), names("x")], [[], ["b"], []]);
  assertThrows(() => informer.byIndex("none", "x"), RangeError, `current value is "none"`);
});

Deno.test("Informer logs an index that throws, and leaves the object out of it", async () => {
  const [server] = fed([configMap("a", 5), configMap("b", 6)], 10);
  await using world = new World(server);
  world.informer.addIndex("bad", (object) => {
    if (object.metadata.name === "a") throw new Error("boom");
    return ["x"];
  });
  await world.start();
  assertEquals(world.informer.byIndex("bad", "x").length, 1);
  assertEquals(world.errors.map(({ properties }) => properties.name), ["a"]);
});

Deno.test("Informer.subscribe() replays what is there, goes on from there, and ends when disposed of", async () => {
  const [server, feed] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  await world.start();
  const seen: string[] = [];
  const subscription = world.informer.subscribe(({ type, object, initial }) =>
    seen.push(`${type} ${object.metadata.name} ${initial}`)
  );
  assertEquals(seen, ["added a true"]);
  feed.send(added(configMap("b", 11)));
  await world.settle();
  subscription[Symbol.dispose]();
  feed.send(added(configMap("c", 12)));
  await world.settle();
  assertEquals(seen, ["added a true", "added b false"]);
});

Deno.test("Informer tells everyone, though a listener throws", async () => {
  const [server] = fed([configMap("a", 5)], 10);
  await using world = new World(server);
  world.informer.subscribe(() => {
    throw new Error("boom");
  });
  const seen: string[] = [];
  world.informer.subscribe(({ object }) => seen.push(object.metadata.name));
  await world.start();
  assertEquals(seen, ["a"]);
  assertEquals(world.errors.length, 1);
});

Deno.test("Informer tells changes in order, also those that a listener causes, and each to whom it is news", async () => {
  const [server, feed] = fed([configMap("a", 5), configMap("b", 6)], 10);
  await using world = new World(server);
  const late: string[] = [];
  let first = true;
  const { informer } = world;
  informer.subscribe(({ object }) => {
    if (!first) return;
    first = false;
    assertEquals(informer.size, 2, "all of a list is there before any of it is told");
    assertEquals(object.metadata.name, "a");
    informer.accept(configMap("b", 11));
    informer.subscribe(({ type, object: { metadata } }) =>
      late.push(`${type} ${metadata.name}@${metadata.resourceVersion}`)
    );
  });
  const after: string[] = [];
  informer.subscribe(({ type, object: { metadata } }) =>
    after.push(`${type} ${metadata.name}@${metadata.resourceVersion}`)
  );
  await world.start();
  assertEquals(after, ["added a@5", "added b@6", "updated b@11"]);
  assertEquals(late, ["added a@5", "added b@11"]);
  assertEquals(world.told, ["added a@5 initial", "added b@6 initial", "updated b@6>11"]);
  assertEquals(world.errors, []);
  feed.send(deleted(configMap("b", 12)));
  await world.settle();
  assertEquals(late.at(-1), "deleted b@12");
});

Deno.test("Informer with several namespaces watches each, and is synced when all are", async () => {
  const shop = new Feed(), bank = new Feed();
  const server = new ScriptedServer()
    .on("GET", "/api/v1/namespaces/shop/configmaps", json(list([configMap("a", 5, { namespace: "shop" })], 10)))
    .on("GET", "/api/v1/namespaces/shop/configmaps?watch", shop.answer, ended(errorEvent(410)), stream())
    .on("GET", "/api/v1/namespaces/shop/configmaps", json(list([], 50)))
    .on(
      "GET",
      "/api/v1/namespaces/bank/configmaps",
      later(5000, json(list([configMap("b", 6, { namespace: "bank" })], 100))),
    )
    .on("GET", "/api/v1/namespaces/bank/configmaps?watch", bank.answer);
  await using world = new World(server, { namespaces: ["shop", "bank", "shop"] });
  const { informer } = world;
  await world.start();
  assertEquals(informer.synced, false);
  let synced = false;
  informer.whenSynced().then(() => synced = true);
  await world.leap(4000);
  assertEquals([informer.synced, synced], [false, false]);
  assertEquals(world.told, ["added a@5 initial"]);
  await world.leap(1000);
  assertEquals([informer.synced, synced], [true, true]);
  assertEquals(world.told, ["added b@6 initial"]);
  bank.send(added(configMap("a", 101, { namespace: "bank" })));
  await world.settle();
  assertEquals([...informer.keys()], ["shop/a", "bank/b", "bank/a"]);
  assertEquals(informer.list("bank").map(({ metadata }) => metadata.name), ["b", "a"]);
  assertEquals(informer.get("bank/a")?.metadata.resourceVersion, "101");
  await world.leap(20_000);
  shop.end();
  await world.leap(5000);
  assertEquals(world.told, ["added a@101", "deleted a@5"], "a new list of one namespace leaves the other alone");
  assertEquals(server.watches.length, 4);
});

Deno.test("B56: Informer.problem names what keeps a watch from its work, and goes when that goes", async () => {
  const server = new ScriptedServer()
    .on("GET", "/api/v1/namespaces/shop/configmaps", json(list([], 10)))
    .on("GET", "/api/v1/namespaces/shop/configmaps?watch", stream())
    .on("GET", "/api/v1/namespaces/bank/configmaps", status(403, { message: "no" }), json(list([], 10)))
    .on("GET", "/api/v1/namespaces/bank/configmaps?watch", stream());
  await using world = new World(server, { namespaces: ["shop", "bank"] });
  await world.start();
  assertEquals(world.informer.synced, false);
  assertEquals(
    world.informer.problem?.message,
    'Cannot list configmaps (v1 ConfigMap) in namespace "bank": the server answered 403: no; ' +
      "are the roles that the operator's command 'rbac' prints applied?",
  );
  await world.leap(2000);
  assertEquals(world.informer.problem, undefined);
  assertEquals(world.informer.synced, true);
});

Deno.test("Informer has no problem when it does not run", async () => {
  const server = new ScriptedServer().always("GET", PATH, status(403, { message: "no" }));
  await using world = new World(server);
  const [run] = await world.start();
  assertEquals(world.informer.problem?.message.includes("403"), true);
  world.stop.abort();
  await run;
  assertEquals(world.informer.problem, undefined);
});

Deno.test("Index keeps nothing of values that no object has any more", () => {
  const index = new Index<string[]>((values) => values);
  index.add("1", ["a", "b"]);
  index.add("2", ["b", "c"]);
  index.remove("1", ["a", "b"]);
  assertEquals(["a", "b", "c"].map((value) => [...index.keys(value)]), [[], ["2"], ["2"]]);
  index.remove("2", ["b", "c"]);
  assertEquals(index.size, 0);
});

Deno.test("Informer.run() joins a run that is on, and can be run again", async () => {
  const [server, feed] = fed([configMap("a", 5), configMap("b", 6)], 10);
  await using world = new World(server);
  const { informer } = world;
  await world.start();
  let joined = 0;
  const other = new AbortController();
  const second = informer.run(other.signal).then(() => joined++);
  const third = informer.run(new AbortController().signal).then(() => joined++);
  await world.settle();
  assertEquals(server.requests.length, 2);
  other.abort();
  await second;
  assertEquals([joined, feed.open], [1, true]);
  world.stop.abort();
  await third;
  assertEquals([joined, feed.open, informer.synced], [2, false, false]);
  world.events.splice(0);

  server.on("GET", PATH, later(1000, json(list([configMap("b", 6), configMap("a", 15)], 20)))).on(
    "GET",
    WATCH,
    stream(),
  );
  const stop = new AbortController();
  await world.start(stop.signal);
  assertEquals([informer.synced, informer.size], [false, 2]);
  let synced = false;
  informer.whenSynced().then(() => synced = true);
  await world.leap(1000);
  assertEquals([informer.synced, synced], [true, true]);
  assertEquals(world.told, ["updated a@5>15 initial"]);
  assertEquals(server.lists.at(-1)?.query, {});
  stop.abort();
});

Deno.test("Informer.run() starts anew when it is called while an aborted run is ending", async () => {
  const feed = new Feed();
  const server = new ScriptedServer().always("GET", PATH, json(list([], 10))).on("GET", WATCH, stream(), feed.answer);
  await using world = new World(server);
  const first = new AbortController();
  await world.start(first.signal);
  first.abort();
  await world.start();
  assertEquals(server.lists.length, 2);
  assertEquals(feed.open, true);
});

Deno.test("Informer.run() resolves at once if its signal has aborted", async () => {
  const server = new ScriptedServer();
  await using client = new Client({ fetch: server.fetch });
  await new Informer(client, ConfigMap).run(AbortSignal.abort());
  assertEquals(server.requests.length, 0);
});

Deno.test("Informer.whenSynced() rejects with the reason of its signal", async () => {
  await using client = new Client({ fetch: new ScriptedServer().fetch });
  const informer = new Informer(client, ConfigMap);
  const stop = new AbortController();
  const waiting = informer.whenSynced(stop.signal);
  stop.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  await assertRejects(async () => await informer.whenSynced(stop.signal), Error, "enough");
});

Deno.test("Informer refuses what is not a namespace, a label selector or a way to the initial state", async () => {
  await using client = new Client({ fetch: new ScriptedServer().fetch });
  const make = (options: InformerOptions<ConfigMap>) => () => new Informer(client, ConfigMap, options);
  assertThrows(make({ namespaces: [] }), TypeError, "'namespaces' must be a list of at least one");
  assertThrows(make({ namespaces: ["Shop"] }), TypeError, `'namespaces' must be a DNS label`);
  assertThrows(make({ labelSelector: "a in" }), SyntaxError, "Cannot read label selector");
});

Deno.test("B66: Informer keeps one entry for each object, and nothing of those that are gone", async () => {
  const [server, feed] = fed([], 10);
  await using world = new World(server);
  const { informer } = world;
  informer.addIndex("name", (object) => [object.metadata.name]);
  await world.start();
  for (let version = 11; version < 61; version++) feed.send(added(configMap(`a${version}`, version)));
  await world.settle();
  assertEquals(informer.byIndex("name", "a11").length, 1);
  for (let version = 11; version < 61; version++) feed.send(deleted(configMap(`a${version}`, version + 50)));
  await world.settle();
  assertEquals(informer.size, 0);
  assertEquals(informer.byIndex("name", "a11"), []);
});
