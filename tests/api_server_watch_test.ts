import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiServer } from "../testing/mod.ts";
import { type Body, CONFIG_MAPS, send, Watching } from "./_api.ts";

const named = (name: string, labels?: Record<string, string>) => ({
  metadata: { name, ...(labels ? { labels } : {}) },
});
const shown = (events: Body[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

Deno.test("ApiServer watches from a version: added, modified, deleted, in order", async () => {
  await using server = new ApiServer();
  const { body } = await send(server, `GET ${CONFIG_MAPS}`);
  await send(server, `POST ${CONFIG_MAPS}`, named("a"));
  await using watching = await Watching.start(
    server,
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  await send(server, `merge ${CONFIG_MAPS}/a`, { data: { k: "v" } });
  await send(server, `DELETE ${CONFIG_MAPS}/a`);
  const events = await watching.take(3);
  assertEquals(shown(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
  assertEquals(versions, [...versions].sort((a, b) => a - b));
  assertEquals(events[2].object.data, { k: "v" });
});

Deno.test("ApiServer shows entering a selection as added, and leaving it as deleted with the old labels", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}`, named("a", { l: "2" }));
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1&labelSelector=l%3D1`);
  await send(server, `merge ${CONFIG_MAPS}/a`, { metadata: { labels: { l: "1" } } });
  const left = await send(server, `merge ${CONFIG_MAPS}/a`, { metadata: { labels: { l: "3" } } });
  const events = await watching.take(2);
  assertEquals(shown(events), ["ADDED a", "DELETED a"]);
  assertEquals(events[1].object.metadata.labels, { l: "1" });
  assertEquals(events[1].object.metadata.resourceVersion, left.body.metadata.resourceVersion);
});

Deno.test("ApiServer streams the initial state and marks its end", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}`, named("a"));
  const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?${query}`);
  const [added, bookmark] = await watching.take(2);
  assertEquals([added.type, bookmark.type], ["ADDED", "BOOKMARK"]);
  assertEquals(bookmark.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
});

Deno.test("ApiServer tells a watch from before a compaction that it is too old, and ends it", async () => {
  await using server = new ApiServer();
  const { body } = await send(server, `POST ${CONFIG_MAPS}`, named("a"));
  await send(server, `DELETE ${CONFIG_MAPS}/a`);
  server.compact();
  await using watching = await Watching.start(
    server,
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  const event = await watching.next();
  assertEquals([event.type, event.object.code, event.object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(await watching.next(), undefined);
});

Deno.test("ApiServer forgets the oldest events when there are too many", async () => {
  await using server = new ApiServer({ history: 2 });
  const { body } = await send(server, `POST ${CONFIG_MAPS}`, named("a"));
  for (const name of ["b", "c", "d"]) await send(server, `POST ${CONFIG_MAPS}`, named(name));
  await using watching = await Watching.start(
    server,
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  assertEquals((await watching.next()).object.code, 410);
});

Deno.test("ApiServer ends a watch at its timeout, with a bookmark before, under fake time", async () => {
  using time = new FakeTime(1_900_000_000_000);
  await using server = new ApiServer();
  const { body } = await send(server, `GET ${CONFIG_MAPS}`);
  const query = `watch=1&timeoutSeconds=10&allowWatchBookmarks=true&resourceVersion=${body.metadata.resourceVersion}`;
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?${query}`);
  const bookmark = watching.next();
  await time.tickAsync(8000);
  assertEquals((await bookmark).type, "BOOKMARK");
  const end = watching.next();
  await time.tickAsync(2000);
  assertEquals(await end, undefined);
});

Deno.test("ApiServer ends its watches when it closes", async () => {
  const server = new ApiServer();
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`);
  await server.close();
  assertEquals(await watching.next(), undefined);
});

Deno.test("ApiServer shows metadata alone to who asks for that", async () => {
  await using server = new ApiServer();
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`, {
    accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  });
  await send(server, `POST ${CONFIG_MAPS}`, { ...named("a"), data: { k: "v" } });
  const { object } = await watching.next();
  assertEquals([object.kind, object.data], ["PartialObjectMetadata", undefined]);
});
