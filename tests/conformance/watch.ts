/**
 * States what watches tell: which events, with which objects, in which order.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { ConfigMap } from "../../kinds.ts";
import { COMPACTION } from "./lists.ts";
import { type Place, shown, type Suite, take } from "./_suite.ts";
import { map, widget } from "./_widget.ts";

async function version(at: Place): Promise<string> {
  return (await at.ok("GET configmaps")).metadata.resourceVersion;
}

/** Registers the behaviours. */
export function watch(suite: Suite): void {
  suite.test("A watch from a version tells all that came after, in order, with rising versions", async (at) => {
    const since = await version(at);
    await at.ok("POST configmaps", map("a"));
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${since}`);
    const changed = await at.ok("merge configmaps/a", { data: { k: "w" } });
    await at.ok("DELETE configmaps/a");
    const events = await take(watching, 3);
    assertEquals(shown(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
    assertEquals(events[1].object, changed);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    assert(versions[0]! < versions[1]! && versions[1]! < versions[2]!);
    assertEquals([events[2].object.data, events[2].object.metadata.uid], [{ k: "w" }, changed.metadata.uid]);
  });

  suite.test("A watch without a version begins with what is there", async (at) => {
    for (const name of ["b", "a"]) await at.ok("POST configmaps", map(name));
    await using watching = await at.watch("configmaps?watch=1");
    assertEquals(shown(await take(watching, 2)).sort(), ["ADDED a", "ADDED b"]);
    await at.ok("POST configmaps", map("c"));
    assertEquals(shown(await take(watching, 1)), ["ADDED c"]);
  });

  suite.test("A watch tells nothing of writes that change nothing", async (at) => {
    await at.ok("POST configmaps", map("a"));
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${await version(at)}`);
    await at.ok("PUT configmaps/a", map("a"));
    await at.ok("merge configmaps/a", { data: { k: "v" } });
    await at.ok("POST configmaps?dryRun=All", map("b"));
    await at.ok("POST configmaps", map("c"));
    assertEquals(shown(await take(watching, 1)), ["ADDED c"]);
  });

  suite.test("Entering a selection is ADDED, leaving it DELETED with the old labels and the new version", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { labels: { l: "2" } }));
    const since = await version(at);
    await using watching = await at.watch(`configmaps?watch=1&labelSelector=l%3D1&resourceVersion=${since}`);
    await at.ok("merge configmaps/a", { metadata: { labels: { l: "1" } } });
    await at.ok("merge configmaps/a", { data: { k: "v" } });
    const left = await at.ok("merge configmaps/a", { metadata: { labels: { l: "3" } } });
    const events = await take(watching, 3);
    assertEquals(shown(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
    const { labels, resourceVersion } = events[2].object.metadata;
    assertEquals([labels, resourceVersion], [{ l: "1" }, left.metadata.resourceVersion]);
  });

  suite.test("A watch of one object by its name tells of no other", async (at) => {
    const since = await version(at);
    const query = `watch=1&fieldSelector=metadata.name%3Db&resourceVersion=${since}`;
    await using watching = await at.watch(`configmaps?${query}`);
    for (const name of ["a", "b"]) await at.ok("POST configmaps", map(name));
    assertEquals(shown(await take(watching, 1)), ["ADDED b"]);
  });

  suite.test("A streamed list ends with a bookmark that says so, and goes on", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    await using watching = await at.watch(`configmaps?${query}`);
    const [added, bookmark] = await take(watching, 2);
    assertEquals([added.type, bookmark.type], ["ADDED", "BOOKMARK"]);
    const { annotations, resourceVersion, ...rest } = bookmark.object.metadata;
    assertEquals(annotations, { "k8s.io/initial-events-end": "true" });
    assert(Number(resourceVersion) >= Number(added.object.metadata.resourceVersion));
    assertEquals([rest, bookmark.object.data], [{}, undefined]);
    await at.ok("DELETE configmaps/a");
    assertEquals(shown(await take(watching, 1)), ["DELETED a"]);
  });

  suite.test("A streamed list of nothing is a bookmark at once", async (at) => {
    const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    await using watching = await at.watch(`configmaps?${query}`);
    const [{ type, object }] = await take(watching, 1) as [Body];
    assertEquals([type, object.kind, object.apiVersion], ["BOOKMARK", "ConfigMap", "v1"]);
  });

  suite.test("sendInitialEvents without its resourceVersionMatch is 422", async (at) => {
    const { code, body } = await at.send("GET configmaps?watch=1&sendInitialEvents=true");
    assertEquals([code, body.reason], [422, "Invalid"]);
  });

  suite.test("A watch from a version that is no number is 500, and a list 400", async (at) => {
    assertEquals((await at.send("GET configmaps?watch=1&resourceVersion=abc")).code, 500);
    assertEquals((await at.send("GET configmaps?resourceVersion=abc")).code, 400);
  });

  suite.test("A watch ends by itself after timeoutSeconds", async (at) => {
    await at.ok("POST configmaps", map("a"));
    await using watching = await at.watch(`configmaps?watch=1&timeoutSeconds=1`);
    assertEquals(shown(await take(watching, 1)), ["ADDED a"]);
    assertEquals(await watching.next(), undefined);
  });

  suite.test("A write of the status is MODIFIED, and two versions of a kind tell of the same", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    const second = at.path("widgets").replace("/v1/", "/v2/");
    await using one = await at.watch("widgets?watch=1");
    await using two = await at.watch(`${second}?watch=1`);
    await at.ok("merge widgets/a/status", { status: { phase: "Up" } });
    const [events, others] = [await take(one, 2), await take(two, 2)];
    assertEquals(shown(events), ["ADDED a", "MODIFIED a"]);
    assertEquals([events[1].object.status, others[1].object.status], [{ phase: "Up" }, { phase: "Up" }]);
    assertEquals([events[1].object.apiVersion, others[1].object.apiVersion].map((text) => text.split("/")[1]), [
      "v1",
      "v2",
    ]);
  });

  suite.test("A watch of metadata alone tells of each change, without the rest", async (at) => {
    const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${await version(at)}`, { accept });
    await at.ok("POST configmaps", map("a"));
    const [{ type, object }] = await take(watching, 1) as [Body];
    assertEquals([type, object.kind, object.metadata.name, object.data], [
      "ADDED",
      "PartialObjectMetadata",
      "a",
      undefined,
    ]);
  });

  suite.test("A watch over all namespaces tells of each", async (at) => {
    const since = await version(at);
    const query = `watch=1&labelSelector=place%3D${at.namespace}&resourceVersion=${since}`;
    await using watching = await at.watch(`/api/v1/configmaps?${query}`);
    await at.ok("POST configmaps", map("a", {}, { labels: { place: at.namespace } }));
    const [{ object }] = await take(watching, 1) as [Body];
    assertEquals(object.metadata.namespace, at.namespace);
  });

  suite.test("Marking for deletion is MODIFIED, and the end DELETED", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { finalizers: ["example.com/hold"] }));
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${await version(at)}`);
    await at.ok("DELETE configmaps/a");
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
    const events = await take(watching, 2);
    assertEquals(shown(events), ["MODIFIED a", "DELETED a"]);
    assertEquals(typeof events[0].object.metadata.deletionTimestamp, "string");
  });

  suite.test("A client's watch and writes see the same objects", async (at) => {
    await using client = at.server.client();
    const maps = client.api(ConfigMap);
    const { namespace } = at;
    const { metadata: { resourceVersion } } = await maps.list({ namespace });
    const stop = new AbortController();
    await maps.create({ metadata: { name: "a", namespace }, data: { k: "ä€😀\n" } });
    for await (const { type, object } of maps.watch({ namespace, resourceVersion, signal: stop.signal })) {
      assertEquals([type, object.data], ["ADDED", { k: "ä€😀\n" }]);
      break;
    }
  });

  suite.test("A watch that is to begin with a state that has not come yet is 200 with one ERROR of 504, and ends", async (at) => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using watching = await at.watch(`configmaps?watch=1&${query}&resourceVersion=999999999`);
    const [{ type, object }] = await take(watching, 1);
    assertEquals([type, object.code, object.reason, object.details.causes[0].reason], [
      ...["ERROR", 504, "Timeout", "ResourceVersionTooLarge"],
    ]);
    assertEquals(await watching.next(), undefined);
  });

  suite.test("After a restart watches from before it are 410; what is stored and lists of then are still there", async (at) => {
    const { metadata: { resourceVersion: then } } = await at.ok("POST configmaps", map("a"));
    await at.ok("POST configmaps", map("b"));
    const open = await at.watch(`configmaps?watch=1&resourceVersion=${await version(at)}`);
    await at.server.restart();
    await open.next().then(() => {}, () => {}); // The connection broke.
    await open[Symbol.asyncDispose]();
    const names = (await at.ok("GET configmaps")).items.map(({ metadata }: Body) => metadata.name);
    assert(["a", "b"].every((name) => names.includes(name)));
    const old = await at.ok(`GET configmaps?resourceVersionMatch=Exact&resourceVersion=${then}`);
    assertEquals(old.metadata.resourceVersion, then);
    assertEquals(old.items.map(({ metadata }: Body) => metadata.name).includes("b"), false);
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${then}`);
    const [{ type, object }] = await take(watching, 1);
    assertEquals([type, object.code, object.reason], ["ERROR", 410, "Expired"]);
    assertEquals(await watching.next(), undefined);
  });

  suite.test("A watch from before a compaction is 200 with one ERROR of 410 Expired, and ends", async (at) => {
    const { metadata } = await at.ok("POST configmaps", map("a"));
    await at.ok("DELETE configmaps/a");
    at.server.compact();
    await using watching = await at.watch(`configmaps?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const [{ type, object }] = await take(watching, 1) as [Body];
    assertEquals([type, object.code, object.reason], ["ERROR", 410, "Expired"]);
    assertEquals(await watching.next(), undefined);
  }, { needs: "compaction", reason: COMPACTION });
}
