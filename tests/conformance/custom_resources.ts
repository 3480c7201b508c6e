/**
 * States what a definition brings: a kind that is validated, pruned, defaulted and served in its versions.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { DEFINITIONS, names, type Suite, unique, until } from "./_suite.ts";
import { gadget, GROUP, widget } from "./_widget.ts";

const causes = ({ details }: Body): [string, string][] =>
  details.causes.map(({ field, reason }: Body) => [field, reason]);

/** Registers the behaviours. */
export function customResources(suite: Suite): void {
  suite.test("A definition is established, and its kind is served until it is deleted", async (at) => {
    const name = unique();
    const definition = gadget(name, { type: "object" });
    const path = `${DEFINITIONS}/gadgets.${name}.example.com`;
    const served = `/apis/${name}.example.com/v1/namespaces/${at.namespace}/gadgets`;
    assertEquals((await at.send(`GET ${served}`)).code, 404);
    const made = await at.ok(`POST ${DEFINITIONS}`, definition);
    assertEquals([made.spec.names.singular, made.spec.names.listKind], ["gadget", "GadgetList"]);
    assertEquals([made.spec.conversion, made.metadata.generation], [{ strategy: "None" }, 1]);
    await at.define(definition);
    const { status } = await at.ok(`GET ${path}`);
    const conditions = status.conditions.map(({ type, status }: Body) => `${type}=${status}`);
    assertEquals([conditions.sort(), status.storedVersions], [["Established=True", "NamesAccepted=True"], ["v1"]]);
    await at.ok(`POST ${served}`, { apiVersion: `${name}.example.com/v1`, kind: "Gadget", metadata: { name: "a" } });
    assertEquals((await at.ok(`DELETE ${path}`)).kind, "CustomResourceDefinition");
    await until(async () => (await at.send(`GET ${path}`)).code === 404);
    await until(async () => (await at.send(`GET ${served}`)).code === 404);
  });

  suite.test("A kind at cluster scope has no namespaces", async (at) => {
    const name = unique();
    const group = `${name}.example.com`;
    await at.define(gadget(name, { type: "object" }, "Cluster"));
    const body = { apiVersion: `${group}/v1`, kind: "Gadget", metadata: { name: "a" } };
    const made = await at.ok(`POST /apis/${group}/v1/gadgets`, body);
    assertEquals(made.metadata.namespace, undefined);
    assertEquals((await at.send(`GET /apis/${group}/v1/namespaces/${at.namespace}/gadgets`)).code, 404);
    await at.ok(`DELETE ${DEFINITIONS}/gadgets.${group}`);
  });

  suite.test("Definitions that are not structural, or not named after their kind, are 422 Invalid", async (at) => {
    const bad = (change: (definition: Body) => void) => {
      const definition = gadget(unique(), { type: "object" });
      change(definition);
      return definition;
    };
    const definitions = [
      bad(({ metadata }) => metadata.name = "other.example.com"),
      bad(({ spec }) => spec.versions[0].schema = { openAPIV3Schema: { type: "object", properties: { a: {} } } }),
      bad(({ spec }) => spec.versions[0].storage = false),
      bad(({ spec }) => delete spec.versions[0].schema),
      bad(({ spec }) => spec.names.kind = "bad kind"),
    ];
    for (const definition of definitions) {
      assertEquals(await at.refused(`POST ${DEFINITIONS}`, definition), [422, "Invalid"]);
    }
  });

  suite.test("A custom resource is defaulted, and pruned of what is not in its schema", async (at) => {
    await at.widgets();
    const { code, body, headers } = await at.send("POST widgets", widget("a", { size: 1, nope: 1, free: { x: [1] } }));
    assertEquals([code, body.spec], [201, { size: 1, color: "red", free: { x: [1] } }]);
    assertEquals(headers.get("warning"), '299 - "unknown field \\"spec.nope\\""');
    assertEquals(body.metadata.generation, 1);
    assertEquals(await at.refused("POST widgets?fieldValidation=Strict", widget("b", { size: 1, nope: 1 })), [
      400,
      "BadRequest",
    ]);
  });

  suite.test("A value against the schema is 422 Invalid with its field as cause", async (at) => {
    await at.widgets();
    const cases = [
      [{ size: "1" }, "spec.size", "FieldValueTypeInvalid"],
      [{ size: -1 }, "spec.size", "FieldValueInvalid"],
      [{}, "spec.size", "FieldValueRequired"],
      [{ size: 1, color: "pink" }, "spec.color", "FieldValueNotSupported"],
      [{ size: 1, when: "soon" }, "spec.when", "FieldValueTypeInvalid"],
      [{ size: 1, tags: ["a", "a"] }, "spec.tags[1]", "FieldValueDuplicate"],
      [{ size: 1, parts: [{ name: "a" }, { name: "a" }] }, "spec.parts[1]", "FieldValueDuplicate"],
      [{ size: 1, parts: [{ amount: 1 }] }, "spec.parts[0].name", "FieldValueRequired"],
    ] as const;
    for (const [spec, field, reason] of cases) {
      const { code, body } = await at.send("POST widgets", widget("a", spec));
      assertEquals([spec, code, body.reason, causes(body)[0]], [spec, 422, "Invalid", [field, reason]]);
    }
  });

  suite.test("Integers and strings both pass for an int-or-string, and null where it is allowed", async (at) => {
    await at.widgets();
    const body = await at.ok("POST widgets", widget("a", { size: 1, port: 80, note: null }));
    assertEquals(body.spec, { size: 1, color: "red", port: 80, note: null });
    assertEquals((await at.ok("merge widgets/a", { spec: { port: "http" } })).spec.port, "http");
    assertEquals((await at.refused("merge widgets/a", { spec: { port: true } }))[0], 422);
  });

  suite.test("A null for a field that is not nullable gives way to the default", async (at) => {
    await at.widgets();
    const body = await at.ok("POST widgets", widget("a", { size: 1, color: null, fixed: null }));
    assertEquals(body.spec, { size: 1, color: "red" });
  });

  suite.test("Rules are held: of values, and of changes", async (at) => {
    await at.widgets();
    const large = await at.send("POST widgets", widget("a", { size: 101 }));
    assertEquals([large.code, causes(large.body)], [422, [["spec", "FieldValueInvalid"]]]);
    assert(large.body.message.includes("size is at most 100"));
    await at.ok("POST widgets", widget("a", { size: 1, fixed: "x" }));
    const moved = await at.send("merge widgets/a", { spec: { fixed: "y" } });
    assertEquals([moved.code, causes(moved.body)], [422, [["spec.fixed", "FieldValueInvalid"]]]);
    await at.ok("merge widgets/a", { spec: { fixed: "x", size: 2 } });
  });

  suite.test("A rule that does not compile is refused with its definition", async (at) => {
    const rule = { rule: "self.nope > 1" };
    const schema = { type: "object", properties: { spec: { type: "object", "x-kubernetes-validations": [rule] } } };
    const { code, body } = await at.send(`POST ${DEFINITIONS}`, gadget(unique(), schema));
    assertEquals([code, causes(body)], [422, [[
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
      "FieldValueInvalid",
    ]]]);
  });

  suite.test("The status is dropped on create and update, and written apart", async (at) => {
    await at.widgets();
    const made = await at.ok("POST widgets", { ...widget("a"), status: { phase: "Up" } });
    assertEquals(made.status, undefined);
    const { resourceVersion } = made.metadata;
    const draft = { ...widget("a", { size: 9 }, { resourceVersion, labels: { a: "b" } }), status: { phase: "Up" } };
    const written = await at.ok("PUT widgets/a/status", draft);
    assertEquals([written.spec.size, written.status, written.metadata.generation], [1, { phase: "Up" }, 1]);
    assertEquals(written.metadata.labels, undefined);
    assert(Number(written.metadata.resourceVersion) > Number(resourceVersion));
    const main = await at.ok("merge widgets/a", { spec: { size: 2 }, status: { phase: "Down" } });
    assertEquals([main.spec.size, main.status, main.metadata.generation], [2, { phase: "Up" }, 2]);
    const wrong = await at.send("merge widgets/a/status", { status: { phase: 1 } });
    assertEquals([wrong.code, causes(wrong.body)[0]![0]], [422, "status.phase"]);
  });

  suite.test("Metadata alone changes no generation", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    const { metadata } = await at.ok("merge widgets/a", { metadata: { labels: { a: "b" } } });
    assertEquals(metadata.generation, 1);
  });

  suite.test("A replace of a custom resource needs its version", async (at) => {
    await at.widgets();
    const { metadata: { resourceVersion } } = await at.ok("POST widgets", widget("a"));
    const { code, body } = await at.send("PUT widgets/a", widget("a", { size: 2 }));
    assertEquals([code, causes(body)[0]![0]], [422, "metadata.resourceVersion"]);
    await at.ok("PUT widgets/a", widget("a", { size: 2 }, { resourceVersion }));
    assertEquals(await at.refused("PUT widgets/a", widget("a", { size: 3 }, { resourceVersion })), [409, "Conflict"]);
    assertEquals(await at.refused("PUT widgets/none", widget("none", { size: 3 })), [404, "NotFound"]);
  });

  suite.test("The scale of a custom resource reads and writes its paths", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1, replicas: 2 }));
    await at.ok("merge widgets/a/status", { status: { replicas: 1, selector: "a=b" } });
    const scale = await at.ok("GET widgets/a/scale");
    assertEquals([scale.apiVersion, scale.kind, scale.spec, scale.status], [
      "autoscaling/v1",
      "Scale",
      { replicas: 2 },
      { replicas: 1, selector: "a=b" },
    ]);
    assertEquals((await at.ok("merge widgets/a/scale", { spec: { replicas: 5 } })).spec, { replicas: 5 });
    const { spec, metadata } = await at.ok("GET widgets/a");
    assertEquals([spec.replicas, metadata.generation], [5, 2]);
    assertEquals((await at.refused("merge widgets/a/scale", { spec: { replicas: -1 } }))[0], 422);
  });

  suite.test("Fields that are selectable select", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    await at.ok("POST widgets", widget("b", { size: 1, color: "blue" }));
    assertEquals(names(await at.ok("GET widgets?fieldSelector=spec.color%3Dblue")), ["b"]);
    assertEquals(await at.refused("GET widgets?fieldSelector=spec.size%3D1"), [400, "BadRequest"]);
  });

  suite.test("Each served version shows the same objects, under its own name", async (at) => {
    await at.widgets();
    const made = await at.ok("POST widgets", widget("a"));
    const second = at.path("widgets/a").replace("/v1/", "/v2/");
    const other = await at.ok(`GET ${second}`);
    assertEquals([other.apiVersion, other.spec], [`${GROUP}/v2`, made.spec]);
    assertEquals(other.metadata.resourceVersion, made.metadata.resourceVersion);
    assertEquals((await at.refused("POST widgets", { ...widget("b"), apiVersion: `${GROUP}/v2` }))[0], 400);
    assertEquals((await at.send(`GET ${at.path("widgets").replace("/v1/", "/v3/")}`)).code, 404);
  });

  suite.test("A version that is added is served, and one that stores becomes known as stored", async (at) => {
    const name = unique();
    const path = `${DEFINITIONS}/gadgets.${name}.example.com`;
    await at.define(gadget(name, { type: "object", "x-kubernetes-preserve-unknown-fields": true }));
    const { spec, metadata } = await at.ok(`GET ${path}`);
    const [v1] = spec.versions;
    const versions = [{ ...v1, storage: false }, { ...v1, name: "v2" }];
    const changed = await at.ok(`merge ${path}`, { spec: { versions } });
    assertEquals([changed.metadata.generation, metadata.generation], [2, 1]);
    await until(async () => (await at.send(`GET /apis/${name}.example.com/v2/gadgets`)).code === 200);
    assertEquals((await at.ok(`GET ${path}`)).status.storedVersions, ["v1", "v2"]);
    const dropped = await at.send(`merge ${path}`, { spec: { versions: [{ ...v1, name: "v2" }] } });
    assertEquals([dropped.code, causes(dropped.body)[0]![0]], [422, "status.storedVersions[0]"]);
    await at.ok(`DELETE ${path}`);
  });

  suite.test("A kind without a status takes it as any field, and has no subresources", async (at) => {
    const name = unique();
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await at.define(gadget(name, schema));
    const path = `/apis/${name}.example.com/v1/namespaces/${at.namespace}/gadgets`;
    const body = { apiVersion: `${name}.example.com/v1`, kind: "Gadget", metadata: { name: "a" }, status: { x: 1 } };
    assertEquals((await at.ok(`POST ${path}`, body)).status, { x: 1 });
    assertEquals(await at.refused(`GET ${path}/a/status`), [404, "NotFound"]);
    assertEquals((await at.ok(`merge ${path}/a`, { status: { x: 2 } })).metadata.generation, 2);
    await at.ok(`DELETE ${DEFINITIONS}/gadgets.${name}.example.com`);
  });

  suite.test("The type of a schema's root is object: another is one cause, and one that there is not two", async (at) => {
    const name = unique();
    const fields = async (type: string) => {
      const { body } = await at.send(`POST ${DEFINITIONS}?dryRun=All`, gadget(name, { type }));
      return body.details.causes.map(({ reason }: Body) => reason);
    };
    assertEquals(await fields("string"), ["FieldValueInvalid"]);
    assertEquals(await fields("nope"), ["FieldValueInvalid", "FieldValueNotSupported"]);
  });
}
