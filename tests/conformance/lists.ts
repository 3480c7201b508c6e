/**
 * States what lists hold: selections, pages, versions and other representations.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { names, type Place, type Suite } from "./_suite.ts";
import { map, pod, widget } from "./_widget.ts";

const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const PARTIAL = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };

async function several(at: Place, count: number): Promise<Body[]> {
  const made = [];
  for (let index = 0; index < count; index++) {
    const labels = { index: `${index}`, parity: index % 2 ? "odd" : "even" };
    made.push(await at.ok("POST configmaps", map(`m${index}`, {}, { labels })));
  }
  return made;
}

/** Registers the behaviours. */
export function lists(suite: Suite): void {
  suite.test("A list is sorted by name, at or above the versions of its items, which carry no kind", async (at) => {
    for (const name of ["c", "a", "b"]) await at.ok("POST configmaps", map(name));
    const list = await at.ok("GET configmaps");
    assertEquals([list.kind, list.apiVersion, names(list)], ["ConfigMapList", "v1", ["a", "b", "c"]]);
    assertEquals(list.items[0].kind, undefined);
    const newest = Math.max(...list.items.map(({ metadata }: Body) => Number(metadata.resourceVersion)));
    assert(Number(list.metadata.resourceVersion) >= newest);
  });

  suite.test("A list over all namespaces has those of each", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { labels: { place: at.namespace } }));
    const list = await at.ok(`GET /api/v1/configmaps?labelSelector=place%3D${at.namespace}`);
    assertEquals(list.items.map(({ metadata }: Body) => metadata.namespace), [at.namespace]);
  });

  suite.test("Label selectors select by equality, sets and existence", async (at) => {
    await several(at, 4);
    const cases = [
      ["parity=odd", ["m1", "m3"]],
      ["parity!=odd", ["m0", "m2"]],
      ["index in (0,3)", ["m0", "m3"]],
      ["index notin (0,3),parity", ["m1", "m2"]],
      ["!parity", []],
      ["index>2", ["m3"]],
    ] as const;
    for (const [selector, expected] of cases) {
      const list = await at.ok(`GET configmaps?labelSelector=${encodeURIComponent(selector)}`);
      assertEquals([selector, names(list)], [selector, expected]);
    }
    assertEquals(await at.refused("GET configmaps?labelSelector=a%3D%3D%3Db%20c"), [400, "BadRequest"]);
  });

  suite.test("Field selectors select what a kind offers, and are 400 for the rest", async (at) => {
    await several(at, 2);
    assertEquals(names(await at.ok("GET configmaps?fieldSelector=metadata.name%3Dm1")), ["m1"]);
    assertEquals(names(await at.ok("GET configmaps?fieldSelector=metadata.name!%3Dm1")), ["m0"]);
    assertEquals(await at.refused("GET configmaps?fieldSelector=data.k%3Dv"), [400, "BadRequest"]);
    await at.ok("POST pods", pod("a"));
    assertEquals(names(await at.ok("GET pods?fieldSelector=status.phase%3DPending")), ["a"]);
    assertEquals(names(await at.ok("GET pods?fieldSelector=spec.nodeName%3Dnone")), []);
  });

  suite.test("Pages are of one moment, and say how many remain", async (at) => {
    await several(at, 5);
    const first = await at.ok("GET configmaps?limit=2");
    assertEquals([names(first), first.metadata.remainingItemCount], [["m0", "m1"], 3]);
    await at.ok("DELETE configmaps/m2");
    await at.ok("POST configmaps", map("m5"));
    const token = encodeURIComponent(first.metadata.continue);
    const second = await at.ok(`GET configmaps?limit=2&continue=${token}`);
    assertEquals([names(second), second.metadata.remainingItemCount], [["m2", "m3"], 1]);
    assertEquals(second.metadata.resourceVersion, first.metadata.resourceVersion);
    const last = await at.ok(`GET configmaps?limit=2&continue=${encodeURIComponent(second.metadata.continue)}`);
    assertEquals([names(last), last.metadata.continue], [["m4"], undefined]);
  });

  suite.test("A page of a selection does not say how many remain", async (at) => {
    await several(at, 5);
    const { metadata, ...list } = await at.ok("GET configmaps?limit=1&labelSelector=parity%3Deven");
    assertEquals([names(list), metadata.remainingItemCount, typeof metadata.continue], [["m0"], undefined, "string"]);
  });

  suite.test("A continue token that is none is 400, and one with a version, too", async (at) => {
    await several(at, 2);
    assertEquals(await at.refused("GET configmaps?limit=1&continue=nope"), [400, "BadRequest"]);
    const { metadata } = await at.ok("GET configmaps?limit=1");
    const query = `limit=1&continue=${
      encodeURIComponent(metadata.continue)
    }&resourceVersion=${metadata.resourceVersion}`;
    assertEquals((await at.refused(`GET configmaps?${query}`))[0], 400);
  });

  suite.test("A list at an exact version is of that moment; one not older has at least that", async (at) => {
    const [, second] = await several(at, 2);
    const version = second.metadata.resourceVersion;
    await at.ok("DELETE configmaps/m0");
    const exact = await at.ok(`GET configmaps?resourceVersion=${version}&resourceVersionMatch=Exact`);
    assertEquals([names(exact), exact.metadata.resourceVersion], [["m0", "m1"], version]);
    const newer = await at.ok(`GET configmaps?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
    assert(Number(newer.metadata.resourceVersion) >= Number(version));
  });

  suite.test("Rules for versions that contradict each other are refused", async (at) => {
    assertEquals((await at.refused("GET configmaps?resourceVersion=abc"))[0], 400);
    assertEquals((await at.refused("GET configmaps?resourceVersionMatch=Exact"))[0], 422);
    assertEquals((await at.refused("GET configmaps?resourceVersion=0&resourceVersionMatch=Exact"))[0], 422);
    assertEquals((await at.refused("GET configmaps?resourceVersion=1&resourceVersionMatch=Nope"))[0], 422);
  });

  suite.test("A list of a version of the future is 504 Timeout, with a time to come again", async (at) => {
    const response = await at.server.fetch(
      new Request(`http://any${at.path("configmaps")}?resourceVersion=900000000&resourceVersionMatch=NotOlderThan`),
    );
    const body = await response.json();
    assertEquals([response.status, body.reason], [504, "Timeout"]);
    assertEquals([response.headers.get("retry-after"), body.details.causes[0].reason], [
      "1",
      "ResourceVersionTooLarge",
    ]);
  });

  suite.test("A list of version 0 takes no notice of the limit", async (at) => {
    await several(at, 3);
    await at.ok("GET configmaps");
    const list = await at.ok("GET configmaps?resourceVersion=0&limit=1");
    assertEquals([list.items.length, list.metadata.continue], [3, undefined]);
  });

  suite.test("A Table has columns, a row for each object and its metadata", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const table = await at.ok("GET configmaps", undefined, TABLE);
    assertEquals([table.kind, table.columnDefinitions.map(({ name }: Body) => name)], ["Table", [
      "Name",
      "Data",
      "Age",
    ]]);
    const [{ cells, object }] = table.rows;
    assertEquals([cells.slice(0, 2), object.kind, object.metadata.name], [["a", 1], "PartialObjectMetadata", "a"]);
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 5 }));
    const own = await at.ok("GET widgets/a", undefined, TABLE);
    assertEquals([own.columnDefinitions[1].name, own.rows[0].cells], ["Size", ["a", 5]]);
  });

  suite.test("Metadata alone is given on demand, of lists and of objects, each under its name", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const list = await at.ok("GET configmaps", undefined, PARTIAL);
    assertEquals([list.kind, list.items[0].data, list.items[0].metadata.name], [
      "PartialObjectMetadataList",
      undefined,
      "a",
    ]);
    const one = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
    assertEquals((await at.ok("GET configmaps/a", undefined, one)).kind, "PartialObjectMetadata");
    assertEquals((await at.refused("GET configmaps/a", undefined, PARTIAL))[0], 406);
    assertEquals((await at.refused("GET configmaps", undefined, { accept: "text/csv" }))[0], 406);
  });

  suite.test("A list of custom resources has a kind in each item and an empty continue", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    const list = await at.ok("GET widgets");
    assertEquals([list.kind, list.items[0].kind, list.metadata.continue], ["WidgetList", "Widget", ""]);
  });

  suite.test("A continue token from before a compaction is 410, and says how to go on", async (at) => {
    await several(at, 3);
    const first = await at.ok("GET configmaps?limit=1");
    await at.ok("DELETE configmaps/m1");
    at.server.compact();
    const { code, body } = await at.send(`GET configmaps?continue=${encodeURIComponent(first.metadata.continue)}`);
    assertEquals([code, body.reason], [410, "Expired"]);
    const rest = await at.ok(`GET configmaps?continue=${encodeURIComponent(body.metadata.continue)}`);
    assertEquals(names(rest), ["m2"]);
  }, { needs: "compaction", reason: COMPACTION });
}

/** Why a real server does not forget on demand. */
export const COMPACTION = "its etcd forgets by the clock, five minutes later";
