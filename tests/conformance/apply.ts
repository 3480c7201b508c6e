/**
 * States what server-side apply does: who owns which fields, and what conflicts.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { deployment, map, widget } from "./_widget.ts";

/** Managers with what they own. */
function owners({ metadata }: Body): Record<string, Body> {
  return Object.fromEntries(
    metadata.managedFields.map(({ manager, operation, fieldsV1 }: Body) => [`${manager} ${operation}`, fieldsV1]),
  );
}

/** Registers the behaviours. */
export function apply(suite: Suite): void {
  suite.test("An apply creates, and notes the applier as owner of what it sent", async (at) => {
    const { code, body } = await at.send("apply configmaps/a?fieldManager=one", map("a", { k: "v" }));
    assertEquals(code, 201);
    assertEquals(owners(body), { "one Apply": { "f:data": { "f:k": {} } } });
    assertMatch(body.metadata.managedFields[0].time, /Z$/);
  });

  suite.test("An apply of the same again changes nothing", async (at) => {
    const first = await at.ok("apply configmaps/a?fieldManager=one", map("a"));
    const again = await at.send("apply configmaps/a?fieldManager=one", map("a"));
    assertEquals([again.code, again.body], [200, first]);
  });

  suite.test("An apply without a manager is 422, and with managedFields 400", async (at) => {
    assertEquals(await at.refused("apply configmaps/a", map("a")), [422, "Invalid"]);
    const managed = map("a", {}, { managedFields: [] });
    assertEquals((await at.refused("apply configmaps/a?fieldManager=one", managed))[0], 400);
    assertEquals((await at.refused("apply configmaps/a?fieldManager=one", { ...map("a"), metadata: {} }))[0], 400);
    assertEquals((await at.send("GET configmaps/a")).code, 404);
  });

  suite.test("An apply against another owner's value is 409 with the field as cause, and forced takes it", async (at) => {
    await at.ok("apply configmaps/a?fieldManager=one", map("a", { k: "v", l: "v" }));
    const { code, body } = await at.send("apply configmaps/a?fieldManager=two", map("a", { k: "x" }));
    assertEquals([code, body.reason], [409, "Conflict"]);
    assertEquals(body.details.causes.map(({ reason, field }: Body) => [reason, field]), [
      ["FieldManagerConflict", ".data.k"],
    ]);
    const forced = await at.ok("apply configmaps/a?fieldManager=two&force=true", map("a", { k: "x" }));
    assertEquals(forced.data, { k: "x", l: "v" });
    assertEquals(owners(forced), {
      "one Apply": { "f:data": { "f:l": {} } },
      "two Apply": { "f:data": { "f:k": {} } },
    });
  });

  suite.test("A field that is applied no more goes, unless somebody else owns it, too", async (at) => {
    await at.ok("apply configmaps/a?fieldManager=one", map("a", { k: "v", l: "v" }));
    await at.ok("apply configmaps/a?fieldManager=two", map("a", { l: "v" }));
    const body = await at.ok("apply configmaps/a?fieldManager=one", map("a", {}));
    assertEquals(body.data, { l: "v" });
    assertEquals(owners(body)["two Apply"], { "f:data": { "f:l": {} } });
  });

  suite.test("The second applier of the same values becomes an owner without conflict", async (at) => {
    const first = await at.ok("apply configmaps/a?fieldManager=one", map("a"));
    const second = await at.ok("apply configmaps/a?fieldManager=two", map("a"));
    assertEquals(Object.keys(owners(second)).sort(), ["one Apply", "two Apply"]);
    assert(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
  });

  suite.test("An update takes a field from its applier, who conflicts at the next apply", async (at) => {
    await at.ok("apply configmaps/a?fieldManager=one", map("a"));
    const updated = await at.ok("merge configmaps/a?fieldManager=human", { data: { k: "w" } });
    assertEquals(owners(updated), { "human Update": { "f:data": { "f:k": {} } } });
    const { code, body } = await at.send("apply configmaps/a?fieldManager=one", map("a"));
    assertEquals([code, body.details.causes[0].field], [409, ".data.k"]);
  });

  suite.test("Lists with keys merge by key, sets by value, each item with its owner", async (at) => {
    await at.widgets();
    const one = { size: 1, parts: [{ name: "a", amount: 1 }], tags: ["x"] };
    await at.ok("apply widgets/a?fieldManager=one", widget("a", one));
    const two = { size: 1, parts: [{ name: "b", amount: 2 }], tags: ["y"] };
    const body = await at.ok("apply widgets/a?fieldManager=two", widget("a", two));
    assertEquals([body.spec.parts, body.spec.tags], [[...one.parts, ...two.parts], ["x", "y"]]);
    const owned = owners(body)["two Apply"]["f:spec"];
    assertEquals(owned["f:tags"], { 'v:"y"': {} });
    assertEquals(owned["f:parts"], { 'k:{"name":"b"}': { ".": {}, "f:amount": {}, "f:name": {} } });
    const less = await at.ok("apply widgets/a?fieldManager=one", widget("a", { size: 1 }));
    assertEquals([less.spec.parts, less.spec.tags], [two.parts, ["y"]]);
  });

  suite.test("Containers merge by name, and ports by port and protocol", async (at) => {
    await at.ok("apply deployments/a?fieldManager=one", deployment("a"));
    const side = { name: "side", image: "busybox" };
    const template = { metadata: { labels: { app: "a" } }, spec: { containers: [side] } };
    const body = await at.ok("apply deployments/a?fieldManager=two", deployment("a", { template }));
    assertEquals(body.spec.template.spec.containers.map(({ name }: Body) => name), ["main", "side"]);
    assertEquals(body.metadata.generation, 2);
    const less = await at.ok("apply deployments/a?fieldManager=two", {
      ...deployment("a"),
      spec: { selector: { matchLabels: { app: "a" } } },
    });
    assertEquals(less.spec.template.spec.containers.length, 1);
  });

  suite.test("An apply of an unknown field is refused, whatever the validation", async (at) => {
    const odd = { ...map("a"), nope: 1 };
    for (const validation of ["Ignore", "Warn", "Strict"]) {
      const line = `apply configmaps/a?fieldManager=one&fieldValidation=${validation}`;
      assertEquals([validation, await at.refused(line, odd)], [validation, [500, undefined]]);
    }
    assertEquals((await at.send("GET configmaps/a")).code, 404);
  });

  suite.test("An apply of the status owns the status, under that subresource", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    const draft = { ...widget("a"), spec: { size: 9 }, status: { phase: "Up" } };
    const body = await at.ok("apply widgets/a/status?fieldManager=one", draft);
    assertEquals([body.spec.size, body.status, body.metadata.generation], [1, { phase: "Up" }, 1]);
    const entry = body.metadata.managedFields.find(({ manager }: Body) => manager === "one");
    assertEquals([entry.subresource, entry.fieldsV1], ["status", { "f:status": { "f:phase": {} } }]);
  });

  suite.test("An apply of what scaling changed conflicts with the scale", async (at) => {
    await at.ok("apply deployments/a?fieldManager=one", deployment("a", { replicas: 1 }));
    await at.ok("merge deployments/a/scale?fieldManager=scaler", { spec: { replicas: 3 } });
    const { code, body } = await at.send(
      "apply deployments/a?fieldManager=one",
      deployment("a", { replicas: 1 }),
    );
    assertEquals([code, body.details.causes[0].field], [409, ".spec.replicas"]);
    assertMatch(body.message, /subresource "scale"/);
  });

  suite.test("An apply with another uid than the object's is refused, and with an old version 409", async (at) => {
    const made = await at.ok("apply configmaps/a?fieldManager=one", map("a"));
    const other = map("a", { k: "v" }, { uid: crypto.randomUUID() });
    assertEquals((await at.refused("apply configmaps/a?fieldManager=one", other))[0], 422);
    await at.ok("merge configmaps/a", { data: { l: "1" } });
    const stale = map("a", { k: "w" }, { resourceVersion: made.metadata.resourceVersion });
    assertEquals(await at.refused("apply configmaps/a?fieldManager=one", stale), [409, "Conflict"]);
  });

  suite.test("A dry apply answers with what it would be, and stores nothing", async (at) => {
    const made = await at.ok("apply configmaps/a?fieldManager=one", map("a"));
    const tried = await at.ok("apply configmaps/a?fieldManager=one&dryRun=All", map("a", { k: "w" }));
    assertEquals(tried.data, { k: "w" });
    assertEquals(await at.ok("GET configmaps/a"), made);
  });
}
