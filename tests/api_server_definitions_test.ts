import { assertEquals } from "@std/assert";
import { ApiServer } from "../testing/mod.ts";
import { type Body, definition, DEFINITIONS, SCHEMA, send, Watching, WIDGETS } from "./_api.ts";

const widget = (spec: Body, metadata: Body = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "a", ...metadata },
  spec,
});

Deno.test("ApiServer serves what a definition defines, and no more once it is gone", async () => {
  await using server = new ApiServer();
  assertEquals((await send(server, `GET ${WIDGETS}`)).code, 404);
  assertEquals((await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA))).code, 201);
  const { body } = await send(server, `GET ${DEFINITIONS}/widgets.example.com`);
  assertEquals(body.status.conditions.map(({ type, status }: Body) => `${type}=${status}`), [
    "NamesAccepted=True",
    "Established=True",
  ]);
  await send(server, `POST ${WIDGETS}`, widget({ size: 1 }));
  await using watching = await Watching.start(server, `${WIDGETS}?watch=1`);
  assertEquals((await watching.next()).type, "ADDED");
  await send(server, `DELETE ${DEFINITIONS}/widgets.example.com`);
  assertEquals((await watching.next()).type, "DELETED");
  assertEquals((await send(server, `GET ${WIDGETS}`)).code, 404);
});

Deno.test("ApiServer validates, prunes and defaults custom resources", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  const created = await send(server, `POST ${WIDGETS}`, widget({ size: 1, nope: true }));
  assertEquals(created.body.spec, { size: 1, color: "red" });
  const refused = await send(server, `POST ${WIDGETS}`, widget({ size: "big" }, { name: "b" }));
  assertEquals([refused.code, refused.body.details.causes[0].field], [422, "spec.size"]);
});

Deno.test("ApiServer keeps status and spec of a custom resource apart", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  const created = await send(server, `POST ${WIDGETS}`, { ...widget({ size: 1 }), status: { phase: "Up" } });
  assertEquals(created.body.status, undefined);
  const { body } = await send(server, `merge ${WIDGETS}/a/status`, {
    metadata: { labels: { x: "y" } },
    spec: { size: 9 },
    status: { phase: "Up" },
  });
  assertEquals([body.status, body.spec.size, body.metadata.labels, body.metadata.generation], [
    { phase: "Up" },
    1,
    undefined,
    1,
  ]);
  const replaced = await send(server, `merge ${WIDGETS}/a`, { spec: { size: 2 }, status: { phase: "Down" } });
  assertEquals([replaced.body.status, replaced.body.metadata.generation], [{ phase: "Up" }, 2]);
});

Deno.test("ApiServer refuses to replace a custom resource without its version", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  await send(server, `POST ${WIDGETS}`, widget({ size: 1 }));
  const { code, body } = await send(server, `PUT ${WIDGETS}/a`, widget({ size: 2 }));
  assertEquals([code, body.details.causes[0].message], [422, "Invalid value: 0: must be specified for an update"]);
});

Deno.test("ApiServer shows definitions in discovery, plain and aggregated", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  const plain = await send(server, "GET /apis/example.com/v1");
  assertEquals(plain.body.resources.map(({ name }: Body) => name), ["widgets", "widgets/status"]);
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const aggregated = await send(server, "GET /apis", undefined, { accept });
  const found = aggregated.body.items.find(({ metadata }: Body) => metadata.name === "example.com");
  assertEquals(found.versions[0].resources[0].responseKind.kind, "Widget");
});

Deno.test("ApiServer refuses definitions that are not structural", async () => {
  await using server = new ApiServer();
  const { code } = await send(server, `POST ${DEFINITIONS}`, definition({ type: "string" }));
  assertEquals(code, 422);
});

Deno.test("ApiServer serves a new version of a definition and shows old objects in it", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  await send(server, `POST ${WIDGETS}`, widget({ size: 1 }));
  const { body } = await send(server, `GET ${DEFINITIONS}/widgets.example.com`);
  const [v1] = body.spec.versions;
  const versions = [{ ...v1, storage: false }, { ...v1, name: "v2", storage: true }];
  const replaced = await send(server, `PUT ${DEFINITIONS}/widgets.example.com`, {
    ...body,
    spec: { ...body.spec, versions },
  });
  assertEquals([replaced.code, replaced.body.status.storedVersions], [200, ["v1", "v2"]]);
  const read = await send(server, `GET ${WIDGETS.replace("/v1/", "/v2/")}/a`);
  assertEquals([read.body.apiVersion, read.body.spec.size], ["example.com/v2", 1]);
});

Deno.test("ApiServer runs the rules of a definition: on the whole object, also when only the status is written", async () => {
  await using server = new ApiServer();
  const ruled = {
    ...SCHEMA,
    properties: { ...SCHEMA.properties, status: { type: "object", properties: { ready: { type: "integer" } } } },
    "x-kubernetes-validations": [
      { rule: "self.metadata.name.startsWith('a')", message: "name starts with a" },
      { rule: "!has(self.status) || self.status.ready <= self.spec.size", message: "too many ready" },
    ],
  };
  assertEquals((await send(server, `POST ${DEFINITIONS}`, definition(ruled))).code, 201);
  const named = await send(server, `POST ${WIDGETS}`, widget({ size: 1 }, { name: "b" }));
  assertEquals([named.code, named.body.details.causes], [422, [
    { field: "<nil>", reason: "FieldValueInvalid", message: "Invalid value: name starts with a" },
  ]]);
  assertEquals((await send(server, `POST ${WIDGETS}`, widget({ size: 1 }))).code, 201);
  const ready = await send(server, `merge ${WIDGETS}/a/status`, { status: { ready: 2 } });
  assertEquals([ready.code, ready.body.details.causes[0].message], [422, "Invalid value: too many ready"]);
  const wrong = await send(server, `POST ${WIDGETS}`, widget({ size: "x" }, { name: "ab" }));
  assertEquals(wrong.body.details.causes.map(({ field }: Body) => field), ["spec.size", "<nil>"]);
});

Deno.test("ApiServer shows stored objects with defaults that came later, and without fields that went", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  const { body: before } = await send(server, `POST ${WIDGETS}`, widget({ size: 1 }));
  const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
  const changed = await send(server, `json ${DEFINITIONS}/widgets.example.com`, [
    { op: "add", path: `${path}/shape`, value: { type: "string", default: "round" } },
    { op: "remove", path: `${path}/color` },
  ]);
  assertEquals(changed.code, 200);
  const { body } = await send(server, `GET ${WIDGETS}/a`);
  assertEquals(body.spec, { size: 1, shape: "round" });
  assertEquals(body.metadata, before.metadata);
  const listed = await send(server, `GET ${WIDGETS}`);
  assertEquals(listed.body.items[0].spec, body.spec);
});

Deno.test("ApiServer describes the paths and schemas of custom resources in OpenAPI", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${DEFINITIONS}`, definition(SCHEMA));
  const { body: text } = await send(server, "GET /openapi/v3/apis/example.com/v1");
  const { paths, components } = typeof text === "string" ? JSON.parse(text) : text;
  assertEquals(Object.keys(paths), [
    "/apis/example.com/v1/namespaces/{namespace}/widgets",
    "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}",
    "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status",
    "/apis/example.com/v1/widgets",
  ]);
  const { post } = paths["/apis/example.com/v1/namespaces/{namespace}/widgets"];
  assertEquals(post.operationId, "createExampleComV1NamespacedWidget");
  assertEquals(post.parameters.map(({ name }: Body) => name), ["dryRun", "fieldManager", "fieldValidation"]);
  assertEquals(post.requestBody.content["application/json"].schema, {
    $ref: "#/components/schemas/com.example.v1.Widget",
  });
  assertEquals("io.k8s.api.autoscaling.v1.Scale" in components.schemas, false);
  assertEquals("com.example.v1.WidgetList" in components.schemas, true);
});
