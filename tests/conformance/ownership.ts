/**
 * States who owns what over versions, scales and statuses, and what a write that changes nothing leaves alone.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Body } from "../_api.ts";
import { DEFINITIONS, type Suite, until } from "./_suite.ts";
import { deployment, gadget, map, widget } from "./_widget.ts";

/** The managers of an object with their subresource, and what they own below `spec`. */
function owners({ metadata }: Body): [string, Body][] {
  return metadata.managedFields.map((
    { manager, subresource, fieldsV1 }: Body,
  ) => [subresource ? `${manager}/${subresource}` : manager, fieldsV1["f:spec"]]);
}

/** A definition of Gadgets in two versions, each with a member that the other does not have. */
function versions(name: string): Body {
  const definition = gadget(name, {});
  const version = (name: string, storage: boolean, members: readonly string[]) => ({
    name,
    storage,
    served: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: Object.fromEntries(members.map((each) => [each, { type: "string" }])) },
        },
      },
    },
  });
  definition.spec.versions = [version("v1", true, ["a", "b"]), version("v2", false, ["a", "c"])];
  return definition;
}

/** Registers the behaviours. */
export function ownership(suite: Suite): void {
  suite.test("What the stored version does not have is not kept, whatever version is written", async (at) => {
    const definition = versions("kept");
    await at.define(definition);
    const path = (version: string, name = "") =>
      `/apis/kept.example.com/${version}/namespaces/${at.namespace}/gadgets${name}`;
    const draft = {
      apiVersion: "kept.example.com/v2",
      kind: "Gadget",
      metadata: { name: "a" },
      spec: { a: "1", c: "2" },
    };
    assertEquals((await at.ok(`POST ${path("v2")}`, draft)).spec, { a: "1" });
    await at.ok(`merge ${path("v1", "/a")}`, { spec: { b: "3" } });
    assertEquals((await at.ok(`GET ${path("v2", "/a")}`)).spec, { a: "1" });
    await at.ok(`merge ${path("v2", "/a")}`, { spec: { a: "4" } });
    assertEquals((await at.ok(`GET ${path("v1", "/a")}`)).spec, { a: "4" });
  });

  suite.test("Managers stay as they are where one wrote in a version that cannot say what is written", async (at) => {
    await at.define(versions("said"));
    const path = (version: string) => `/apis/said.example.com/${version}/namespaces/${at.namespace}/gadgets/a`;
    const draft = (version: string, spec: Body) => (
      { apiVersion: `said.example.com/${version}`, kind: "Gadget", metadata: { name: "a" }, spec }
    );
    const made = await at.ok(`apply ${path("v1")}?fieldManager=one`, draft("v1", { a: "1", b: "2" }));
    const changed = await at.ok(`merge ${path("v2")}?fieldManager=two`, { spec: { a: "3", c: "4" } });
    assertEquals(changed.metadata.managedFields, made.metadata.managedFields);
    const refused = await at.send(`apply ${path("v2")}?fieldManager=two`, draft("v2", { c: "4" }));
    assertEquals([refused.code, refused.body.reason], [500, undefined]);
    assertMatch(refused.body.message, /field not declared in schema/);
    const taken = await at.ok(`merge ${path("v2")}?fieldManager=two`, { spec: { a: "5" } });
    assertEquals(owners(taken), [["one", { "f:b": {} }], ["two", { "f:a": {} }]]);
  });

  suite.test("Managers stay as they are while what is stored does not fit its schema any more", async (at) => {
    const schema = (type: string): Body => (
      { type: "object", properties: { spec: { type: "object", properties: { a: { type } } } } }
    );
    const definition = gadget("outdated", schema("string"));
    await at.define(definition);
    const path = `/apis/outdated.example.com/v1/namespaces/${at.namespace}/gadgets`;
    const draft = { apiVersion: "outdated.example.com/v1", kind: "Gadget", metadata: { name: "a" }, spec: { a: "1" } };
    const made = await at.ok(`POST ${path}`, draft);
    const change = [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema("integer") }];
    await at.ok(`json ${DEFINITIONS}/gadgets.outdated.example.com`, change);
    const other = { ...draft, metadata: { name: "b" } };
    await until(async () => (await at.send(`POST ${path}?dryRun=All`, other)).code === 422);
    const labelled = await at.ok(`merge ${path}/a?fieldManager=two`, { metadata: { labels: { x: "y" } } });
    assertEquals([labelled.metadata.labels, labelled.metadata.managedFields], [
      { x: "y" },
      made.metadata.managedFields,
    ]);
    await at.ok(`DELETE ${DEFINITIONS}/gadgets.outdated.example.com`);
  });

  suite.test("A scale without an owner of the replicas is written without one", async (at) => {
    await at.ok("apply deployments/a?fieldManager=one", deployment("a"));
    await at.ok("merge deployments/a/scale?fieldManager=scaler", { spec: { replicas: 3 } });
    const { spec, metadata } = await at.ok("GET deployments/a");
    assertEquals([spec.replicas, metadata.managedFields.length], [3, 1]);
  });

  suite.test("An apply of the scale conflicts with who owns the replicas, and forced takes them without a time", async (at) => {
    await at.ok("apply deployments/a?fieldManager=one", deployment("a", { replicas: 1 }));
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 2 } };
    const refused = await at.send("apply deployments/a/scale?fieldManager=two", scale);
    assertEquals([refused.code, refused.body.details.causes[0].field], [409, ".spec.replicas"]);
    await at.ok("apply deployments/a/scale?fieldManager=two&force=true", scale);
    const { metadata } = await at.ok("GET deployments/a");
    const entry = (name: string): Body => metadata.managedFields.find(({ manager }: Body) => manager === name);
    const one = entry("one"), two = entry("two");
    assertEquals("f:replicas" in one.fieldsV1["f:spec"], false);
    assertEquals([two.manager, two.subresource, two.fieldsV1, two.time], [
      "two",
      "scale",
      { "f:spec": { "f:replicas": {} } },
      undefined,
    ]);
  });

  suite.test("A scale to zero owns nothing", async (at) => {
    await at.ok("POST deployments?fieldManager=one", deployment("a", { replicas: 2 }));
    await at.ok("merge deployments/a/scale?fieldManager=scaler", { spec: { replicas: 0 } });
    assertEquals((await at.ok("GET deployments/a")).metadata.managedFields.length, 1);
  });

  suite.test("An apply that only tries what it cannot change is no write", async (at) => {
    await at.widgets();
    await at.ok("apply widgets/a?fieldManager=one", { ...widget("a"), status: { phase: "Up" } });
    const { metadata } = await at.ok("merge widgets/a/status?fieldManager=two", { status: { phase: "Down" } });
    const again = await at.ok("apply widgets/a?fieldManager=one", { ...widget("a"), status: { phase: "Up" } });
    assertEquals([again.status, again.metadata], [{ phase: "Down" }, metadata]);
  });

  suite.test("A null in an applied custom resource is refused where it may not be", async (at) => {
    await at.widgets();
    const draft = widget("a", { size: 1, tags: null, note: null, color: null });
    const { code, body } = await at.send("apply widgets/a?fieldManager=one", draft);
    assertEquals([code, body.details.causes[0].field], [422, "spec.tags"]);
  });

  suite.test("An apply that fits the schema but cannot be read is 500", async (at) => {
    const draft = { ...map("a"), binaryData: { b: "!" } };
    assertEquals(await at.refused("apply configmaps/a?fieldManager=one", draft), [500, undefined]);
    const other = map("b");
    assertEquals(await at.refused("apply configmaps/a?fieldManager=one", other), [400, "BadRequest"]);
  });

  suite.test("A status write leaves a Deployment's labels alone, and a Pod's owners", async (at) => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "p", uid: crypto.randomUUID() };
    const metadata = { labels: { a: "b" }, annotations: { c: "d" }, ownerReferences: [owner] };
    await at.ok("POST deployments", deployment("a"));
    const changed = await at.ok("merge deployments/a/status", { metadata, status: { replicas: 1 } });
    assertEquals([changed.metadata.labels, changed.metadata.annotations], [undefined, { c: "d" }]);
    const spec = { containers: [{ name: "main", image: "nginx" }] };
    await at.ok("POST pods", { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec });
    const pod = await at.ok("merge pods/a/status", { metadata, status: { phase: "Running" } });
    assertEquals([pod.metadata.labels, pod.metadata.ownerReferences], [{ a: "b" }, undefined]);
  });

  suite.test("An item that comes twice in a status is refused, and beside what the schema refuses", async (at) => {
    const items = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
    const list = { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
    const properties = { list, size: { type: "integer" } };
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties }, status: { type: "object", properties } },
    };
    const definition = gadget("twice", schema);
    definition.spec.versions[0].subresources = { status: {} };
    await at.define(definition);
    const path = `/apis/twice.example.com/v1/namespaces/${at.namespace}/gadgets`;
    const draft = (spec: Body) => ({
      apiVersion: "twice.example.com/v1",
      kind: "Gadget",
      metadata: { name: "a" },
      spec,
    });
    const twice = [{ name: "x" }, { name: "x" }];
    const refused = await at.send(`POST ${path}`, draft({ size: "1", list: twice }));
    assertEquals(refused.body.details.causes.map(({ field }: Body) => field), ["spec.size", "spec.list[1]"]);
    await at.ok(`POST ${path}`, draft({}));
    const { code, body } = await at.send(`merge ${path}/a/status`, { status: { list: twice } });
    assertEquals([code, body.details.causes[0].field], [422, "status.list[1]"]);
  });

  suite.test("A PUT of a Lease must say the version that it was made for, and one of a ConfigMap need not", async (at) => {
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" }, spec: {} };
    const { metadata } = await at.ok("POST leases", lease);
    const refused = await at.send("PUT leases/a", lease);
    assertEquals([refused.code, refused.body.details.kind], [422, "leases"]);
    const { resourceVersion } = metadata;
    await at.ok("PUT leases/a", { ...lease, metadata: { name: "a", resourceVersion } });
    await at.ok("POST configmaps", map("a"));
    await at.ok("PUT configmaps/a", map("a", { l: "w" }));
  });

  suite.test("A name that is being freed is taken, and says so", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { finalizers: ["example.com/f"] }));
    await at.ok("DELETE configmaps/a");
    const { code, body } = await at.send("POST configmaps", map("a"));
    assertEquals([code, body.reason], [409, "AlreadyExists"]);
    assertMatch(body.message, /^object is being deleted: /);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
    await at.ok("POST configmaps", map("a"));
    const generated = await at.send("POST configmaps", map("a", {}, { generateName: "a-" }));
    assertEquals([generated.code, generated.body.details.retryAfterSeconds], [409, 1]);
  });

  suite.test("Keys that come twice are warned of in every format, and the last one stays", async (at) => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n  k: w\n";
    const type = { "content-type": "application/yaml" };
    assertEquals(await at.refused("POST configmaps?fieldValidation=Strict", yaml, type), [400, "BadRequest"]);
    const made = await at.send("POST configmaps", yaml, type);
    assertEquals([made.code, made.body.data], [201, { k: "w" }]);
    assert(made.headers.get("warning")?.includes('line 7: key \\"k\\" already set in map'));
    const patched = await at.send("merge configmaps/a", '{"data":{"k":"1","k":"2"}}');
    assertEquals([patched.code, patched.body.data], [200, { k: "2" }]);
    assert(patched.headers.get("warning")?.includes('duplicate field \\"data.k\\"'));
    const strict = await at.refused("merge configmaps/a?fieldValidation=Strict", '{"data":{"k":"1","k":"2"}}');
    assertEquals(strict, [422, "Invalid"]);
  });

  suite.test("A patch that is no patch is 400, and null is an empty one", async (at) => {
    await at.ok("POST configmaps", map("a"));
    for (const line of ["merge", "json", "strategic"]) {
      for (const body of ["", "nope", '"x"', "1"]) {
        assertEquals([line, body, await at.refused(`${line} configmaps/a`, body)], [line, body, [400, "BadRequest"]]);
      }
    }
    assertEquals((await at.send("strategic configmaps/a", "null")).code, 200);
    assertEquals((await at.send("json configmaps/a", "null")).code, 200);
    assertEquals((await at.send("merge configmaps/a", "null")).code, 400);
    assertEquals(await at.refused("json configmaps/a", [null]), [422, "Invalid"]);
    const odd = await at.send("json configmaps/a", [{ op: "add", path: "/data/x", value: "1", nope: 1 }]);
    assertEquals(odd.code, 200);
    assert(odd.headers.get("warning")?.includes('json patch unknown field \\"[0].nope\\"'));
  });
}
