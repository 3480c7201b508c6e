/**
 * States what JSON, merge and strategic merge patches do.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { deployment, map, widget } from "./_widget.ts";

/** Registers the behaviours. */
export function patch(suite: Suite): void {
  suite.test("A merge patch sets, removes with null, and replaces lists whole", async (at) => {
    await at.ok("POST configmaps", map("a", { k: "v", l: "v" }, { finalizers: ["example.com/a", "example.com/b"] }));
    const body = await at.ok("merge configmaps/a", {
      data: { k: null, m: "w" },
      metadata: { finalizers: ["example.com/b"] },
    });
    assertEquals([body.data, body.metadata.finalizers], [{ l: "v", m: "w" }, ["example.com/b"]]);
  });

  suite.test("A patch that changes nothing leaves the version and the managers alone", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    assertEquals(await at.ok("merge configmaps/a?fieldManager=other", { data: { k: "v" } }), made);
    assertEquals(await at.ok("json configmaps/a?fieldManager=other", []), made);
    assertEquals(await at.ok("strategic configmaps/a?fieldManager=other", {}), made);
    const own = { metadata: { creationTimestamp: null, generation: null, deletionTimestamp: null } };
    assertEquals(await at.ok("merge configmaps/a", own), made);
  });

  suite.test("A patch with the current version is stored, with an old one 409", async (at) => {
    const { metadata: { resourceVersion } } = await at.ok("POST configmaps", map("a"));
    await at.ok("merge configmaps/a", { metadata: { resourceVersion }, data: { k: "w" } });
    const stale = { metadata: { resourceVersion }, data: { k: "x" } };
    for (const type of ["merge", "strategic"]) {
      assertEquals(await at.refused(`${type} configmaps/a`, stale), [409, "Conflict"]);
    }
  });

  suite.test("A patch of the uid is 422, of the name 400", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals(await at.refused("merge configmaps/a", { metadata: { uid: crypto.randomUUID() } }), [
      422,
      "Invalid",
    ]);
    assertEquals(await at.refused("merge configmaps/a", { metadata: { name: "b" } }), [400, "BadRequest"]);
  });

  suite.test("A JSON patch adds, replaces, moves, copies and removes, in order", async (at) => {
    await at.ok("POST configmaps", map("a", { l: "v" }, { labels: { "x/y": "v" } }));
    const { data, metadata } = await at.ok("json configmaps/a", [
      { op: "test", path: "/metadata/labels/x~1y", value: "v" },
      { op: "add", path: "/data/m", value: "1" },
      { op: "copy", from: "/data/m", path: "/data/n" },
      { op: "move", from: "/data/l", path: "/data/o" },
      { op: "remove", path: "/metadata/labels/x~1y" },
      { op: "replace", path: "/data/m", value: "2" },
    ]);
    assertEquals([data, metadata.labels], [{ m: "2", n: "1", o: "v" }, undefined]);
  });

  suite.test("A JSON patch that cannot be applied is 422 Invalid and changes nothing", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    const patches = [
      [{ op: "test", path: "/data/k", value: "w" }],
      [{ op: "add", path: "/data/l", value: "x" }, { op: "remove", path: "/data/none" }],
      [{ op: "add", path: "/none/k", value: "x" }],
    ];
    for (const operations of patches) {
      const { code, body } = await at.send("json configmaps/a", operations);
      assertEquals([code, body.reason], [422, "Invalid"]);
    }
    assertEquals(await at.ok("GET configmaps/a"), made);
  });

  suite.test("A patch that does not parse is 400, and of an unknown type 415", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals(await at.refused("json configmaps/a", { data: {} }), [400, "BadRequest"]);
    assertEquals(await at.refused("merge configmaps/a", "{"), [400, "BadRequest"]);
    const { code, body } = await at.send("PATCH configmaps/a", { data: {} }, { "content-type": "application/json" });
    assertEquals([code, body.reason], [415, "UnsupportedMediaType"]);
  });

  suite.test("A strategic patch merges lists by key, new items first", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const containers = [{ name: "side", image: "busybox" }, { name: "main", image: "nginx:2" }];
    const { spec, metadata } = await at.ok("strategic deployments/a", { spec: { template: { spec: { containers } } } });
    assertEquals(spec.template.spec.containers.map(({ name, image }: Body) => [name, image]), [
      ["side", "busybox"],
      ["main", "nginx:2"],
    ]);
    assertEquals(metadata.generation, 2);
  });

  suite.test("A strategic patch deletes items, replaces maps and unions finalizers on demand", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const side = { name: "side", image: "busybox" };
    const spec = (containers: Body[]) => ({ spec: { template: { spec: { containers } } } });
    await at.ok("strategic deployments/a", spec([side]));
    const left = await at.ok("strategic deployments/a", spec([{ name: "side", $patch: "delete" }]));
    assertEquals(left.spec.template.spec.containers.length, 1);
    await at.ok("POST configmaps", map("a", { k: "v" }, { finalizers: ["example.com/a"] }));
    const replaced = await at.ok("strategic configmaps/a", { data: { $patch: "replace", l: "w" } });
    assertEquals(replaced.data, { l: "w" });
    const more = await at.ok("strategic configmaps/a", { metadata: { finalizers: ["example.com/b"] } });
    assertEquals(more.metadata.finalizers, ["example.com/b", "example.com/a"]);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("A strategic patch without the merge key is 500, and of a custom resource 415", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const keyless = { spec: { template: { spec: { containers: [{ image: "x" }] } } } };
    assertEquals((await at.refused("strategic deployments/a", keyless))[0], 500);
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    assertEquals(await at.refused("strategic widgets/a", { spec: {} }), [415, "UnsupportedMediaType"]);
  });

  suite.test("A patch of the status leaves the spec alone, and the reverse", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const both = { spec: { replicas: 7 }, status: { replicas: 5 } };
    const status = await at.ok("merge deployments/a/status", both);
    assertEquals([status.spec.replicas, status.status.replicas, status.metadata.generation], [1, 5, 1]);
    const main = await at.ok("merge deployments/a", { spec: { replicas: 7 }, status: { replicas: 6 } });
    assertEquals([main.spec.replicas, main.status.replicas, main.metadata.generation], [7, 5, 2]);
    const entry = main.metadata.managedFields.find(({ subresource }: Body) => subresource === "status");
    assertEquals([entry.operation, entry.fieldsV1], ["Update", { "f:status": { "f:replicas": {} } }]);
  });

  suite.test("An unknown field of a patch warns, and is refused when strict", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const warned = await at.send("merge configmaps/a", { nope: 1 });
    assertEquals(warned.code, 200);
    assertMatch(warned.headers.get("warning")!, /unknown field/);
    assertEquals((await at.refused("merge configmaps/a?fieldValidation=Strict", { nope: 1 }))[0], 422);
  });
}
