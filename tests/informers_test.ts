import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { Client } from "../client.ts";
import { Informers, type SharedInformerOptions } from "../informers.ts";
import { ConfigMap, Namespace, Secret } from "../kinds.ts";
import { resource } from "../resource.ts";
import { configMap, Feed, json, later, list, ScriptedServer, stream } from "./_scripted.ts";

/** A server on which everything is empty and quiet. */
function quiet(): ScriptedServer {
  return new ScriptedServer().always("GET", "/", json(list([], 10))).always("GET", "/?watch", stream());
}

Deno.test("Informers shares one informer between all who ask for the same objects in the same way", () => {
  const informers = new Informers(new Client({ fetch: quiet().fetch }));
  const transform = (object: ConfigMap) => object;
  const same: [SharedInformerOptions<ConfigMap>, SharedInformerOptions<ConfigMap>][] = [
    [{}, { namespaces: undefined, labelSelector: "", metadataOnly: false }],
    [{ namespaces: ["a", "b"] }, { namespaces: ["b", "a", "b"] }],
    [{ labelSelector: "app=web" }, { labelSelector: "app=web" }],
    [{ transform }, { transform }],
  ];
  for (const [one, other] of same) assertStrictEquals(informers.for(ConfigMap, one), informers.for(ConfigMap, other));
  assertEquals(informers.all().length, same.length);
});

Deno.test("Informers keeps apart what differs in one thing", () => {
  const informers = new Informers(new Client({ fetch: quiet().fetch }));
  const options: SharedInformerOptions<ConfigMap>[] = [
    {},
    { namespaces: ["a"] },
    { namespaces: ["a", "b"] },
    { labelSelector: "app=web" },
    { fieldSelector: "metadata.name=a" },
    { metadataOnly: true },
    { transform: (object) => object },
    { transform: (object) => object },
    { initial: "pages" },
  ];
  const all = options.map((option) => informers.for(ConfigMap, option));
  assertEquals(new Set(all).size, options.length);
  const beta = resource({ group: "", version: "v1beta1", kind: "ConfigMap", plural: "configmaps" });
  assertNotStrictEquals<unknown>(informers.for(beta), all[0]);
  assertNotStrictEquals<unknown>(informers.for(Secret), all[0]);
  assertStrictEquals(informers.for(Namespace, { namespaces: ["a"] }), informers.for(Namespace));
});

Deno.test("Informers.run() runs those there are and those asked for later, and ends with all of them", async () => {
  const feeds = [new Feed(), new Feed(), new Feed()];
  const server = new ScriptedServer().always("GET", "/", json(list([], 10)))
    .on("GET", "/?watch", ...feeds.map(({ answer }) => answer));
  await using client = new Client({ fetch: server.fetch });
  const informers = new Informers(client);
  informers.for(ConfigMap);
  const stop = new AbortController();
  const run = informers.run(stop.signal);
  const joined = informers.run(new AbortController().signal);
  await informers.whenSynced();
  const secrets = informers.for(Secret);
  assertEquals(secrets.synced, false);
  await informers.whenSynced();
  assertEquals(secrets.synced, true);
  assertEquals(server.lists.length, 2);
  assertEquals(feeds.map(({ open }) => open), [true, true, false]);
  stop.abort();
  await run;
  await joined;
  assertEquals(feeds.map(({ open }) => open), [false, false, false]);
  informers.for(Namespace);
  assertEquals(server.lists.length, 2, "what is asked for after the run waits for the next");
  const again = new AbortController();
  const second = informers.run(again.signal);
  assertEquals(informers.all().length, 3);
  again.abort();
  await second;
});

Deno.test("Informers.run() that joins a run ends with its own signal", async () => {
  await using client = new Client({ fetch: quiet().fetch });
  const informers = new Informers(client);
  const stop = new AbortController();
  const run = informers.run(stop.signal);
  await informers.run(AbortSignal.abort()); // would not return
  const other = new AbortController();
  const joined = informers.run(other.signal);
  other.abort();
  await joined;
  stop.abort();
  await run;
});

Deno.test("Informers.run() can be called again while an aborted run is ending", async () => {
  const server = quiet();
  await using client = new Client({ fetch: server.fetch });
  const informers = new Informers(client);
  const informer = informers.for(ConfigMap);
  const first = new AbortController(), second = new AbortController();
  const one = informers.run(first.signal);
  await informers.whenSynced();
  first.abort();
  const two = informers.run(second.signal);
  await one;
  await informer.whenSynced();
  assertEquals(server.lists.length, 2);
  second.abort();
  await two;
});

Deno.test("Informers.run() fails with what an informer fails with, and leaves none running", async () => {
  const feed = new Feed();
  const server = quiet().on("GET", "/?watch", feed.answer);
  await using client = new Client({ fetch: server.fetch });
  const informers = new Informers(client);
  informers.for(ConfigMap);
  const run = informers.run(new AbortController().signal);
  run.catch(() => {});
  await informers.whenSynced();
  assertEquals(feed.open, true);
  informers.for(Secret, { initial: "magic" as "list" });
  await assertRejects(() => run, TypeError, `current value is "magic"`);
  assertEquals(feed.open, false);
});

Deno.test("Informers.whenSynced() waits for all, and rejects with the reason of its signal", async () => {
  const server = quiet().on("GET", "/api/v1/secrets", later(1e6, json({})));
  await using client = new Client({ fetch: server.fetch });
  const informers = new Informers(client);
  const maps = informers.for(ConfigMap);
  informers.for(Secret);
  const stop = new AbortController();
  const run = informers.run(stop.signal);
  await maps.whenSynced();
  const impatient = new AbortController();
  const waiting = informers.whenSynced(impatient.signal);
  impatient.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  stop.abort();
  await run;
});

Deno.test("Informers.accept() gives what a write returned to every informer of that kind, and to no other", () => {
  const informers = new Informers(new Client({ fetch: quiet().fetch }));
  const all = informers.for(ConfigMap);
  const web = informers.for(ConfigMap, { labelSelector: "app=web" });
  const metadata = informers.for(ConfigMap, { metadataOnly: true });
  const secrets = informers.for(Secret);
  informers.accept(ConfigMap, configMap("a", 11, { data: { k: "v" } }));
  informers.accept(ConfigMap, configMap("b", 12, { labels: { app: "web" } }));
  assertEquals([all, web, metadata, secrets].map((informer) => informer.size), [2, 1, 2, 0]);
  assert(!("data" in metadata.get("default/a")!));
});

Deno.test("Informers refuses what an informer refuses", () => {
  const informers = new Informers(new Client({ fetch: quiet().fetch }));
  assertThrows(() => informers.for(ConfigMap, { namespaces: [] }), TypeError, "must be a list of at least one");
  assertEquals(informers.all(), []);
});
