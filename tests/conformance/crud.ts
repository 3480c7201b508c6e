/**
 * States how objects are created, read and replaced.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import type { Suite } from "./_suite.ts";
import { deployment, map } from "./_widget.ts";

/** Registers the behaviours. */
export function crud(suite: Suite): void {
  suite.test("A created object has what the server knows of it, and its creator as manager", async (at) => {
    const { code, body } = await at.send("POST configmaps", map("a"));
    assertEquals([code, body.kind, body.metadata.namespace], [201, "ConfigMap", at.namespace]);
    assertMatch(body.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assertMatch(body.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assertMatch(body.metadata.resourceVersion, /^\d+$/);
    const [{ time, ...entry }] = body.metadata.managedFields;
    assertMatch(time, /Z$/);
    assertEquals(entry, {
      manager: "tester",
      operation: "Update",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { ".": {}, "f:k": {} } },
    });
    assertEquals(await at.ok("GET configmaps/a"), body);
  });

  suite.test("A create with generateName appends five characters of its own", async (at) => {
    const draft = { metadata: { generateName: "a-" } };
    const [one, two] = [await at.ok("POST configmaps", draft), await at.ok("POST configmaps", draft)];
    assertMatch(one.metadata.name, /^a-[a-z0-9]{5}$/);
    assertNotEquals(one.metadata.name, two.metadata.name);
    assertEquals(one.metadata.generateName, "a-");
  });

  suite.test("A create of a name that is taken is 409 AlreadyExists, and changes nothing", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    const { code, body } = await at.send("POST configmaps", map("a", { k: "w" }));
    assertEquals([code, body.reason, body.details], [409, "AlreadyExists", { name: "a", kind: "configmaps" }]);
    assertEquals(await at.ok("GET configmaps/a"), made);
  });

  suite.test("In a namespace that is not there a create is 404, and a list is empty", async (at) => {
    const path = `/api/v1/namespaces/${at.namespace}-none/configmaps`;
    assertEquals(await at.refused(`POST ${path}`, map("a")), [404, "NotFound"]);
    assertEquals((await at.ok(`GET ${path}`)).items, []);
  });

  suite.test("A create with a resourceVersion is 500; a uid and times of the client are not taken", async (at) => {
    assertEquals(await at.refused("POST configmaps", map("a", {}, { resourceVersion: "5" })), [500, undefined]);
    const uid = crypto.randomUUID();
    const times = { creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z" };
    const { metadata } = await at.ok("POST configmaps", map("a", {}, { uid, ...times }));
    assertNotEquals(metadata.uid, uid);
    assertNotEquals(metadata.creationTimestamp, times.creationTimestamp);
    assertEquals(metadata.deletionTimestamp, undefined);
  });

  suite.test("Names and labels that are not allowed are 422 Invalid with the field as cause", async (at) => {
    const cases = [
      [map("A_b"), "metadata.name", "FieldValueInvalid"],
      [{ ...map("a"), metadata: {} }, "metadata.name", "FieldValueRequired"],
      [map("a", {}, { labels: { "a b": "c" } }), "metadata.labels", "FieldValueInvalid"],
    ] as const;
    for (const [draft, field, reason] of cases) {
      const { code, body } = await at.send("POST configmaps", draft);
      assertEquals([code, body.reason], [422, "Invalid"]);
      const cause = body.details.causes[0];
      assertEquals([cause.field, cause.reason], [field, reason]);
    }
  });

  suite.test("A finalizer without a domain is 422 Invalid, with its index in the field", async (at) => {
    const { code, body } = await at.send("POST configmaps", map("a", {}, { finalizers: ["nope"] }));
    assertEquals([code, body.details.causes[0].field], [422, "metadata.finalizers[0]"]);
  });

  suite.test("An object that names another namespace or kind than its path is 400", async (at) => {
    assertEquals(await at.refused("POST configmaps", map("a", {}, { namespace: "other" })), [400, "BadRequest"]);
    assertEquals(await at.refused("POST configmaps", { ...map("a"), kind: "Secret" }), [400, "BadRequest"]);
    assertEquals(await at.refused("POST configmaps", { ...map("a"), apiVersion: "v2" }), [400, "BadRequest"]);
  });

  suite.test("What is not there is 404 NotFound with its name and kind, for each verb", async (at) => {
    for (const line of ["GET", "PUT", "DELETE", "merge", "json", "strategic"]) {
      const { code, body } = await at.send(
        `${line} configmaps/a`,
        line === "json" ? [] : line === "GET" ? undefined : {},
      );
      if (line === "PUT") continue;
      assertEquals([line, code, body.reason, body.details], [line, 404, "NotFound", { name: "a", kind: "configmaps" }]);
    }
    assertEquals(await at.refused("PUT configmaps/a", map("a")), [404, "NotFound"]);
  });

  suite.test("A replace with the current version, or with none, is stored; with an old one it is 409", async (at) => {
    const { metadata } = await at.ok("POST configmaps", map("a"));
    const { resourceVersion } = metadata;
    const second = await at.ok("PUT configmaps/a", map("a", { k: "w" }, { resourceVersion }));
    assert(Number(second.metadata.resourceVersion) > Number(resourceVersion));
    assertEquals([second.metadata.uid, second.data], [metadata.uid, { k: "w" }]);
    const stale = await at.send("PUT configmaps/a", map("a", { k: "x" }, { resourceVersion }));
    assertEquals([stale.code, stale.body.reason], [409, "Conflict"]);
    assertEquals((await at.ok("PUT configmaps/a", map("a", { k: "y" }))).data, { k: "y" });
  });

  suite.test("A replace that changes nothing leaves the version and the managers alone", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    assertEquals(await at.ok("PUT configmaps/a?fieldManager=other", map("a")), made);
    assertEquals(await at.ok("GET configmaps/a"), made);
  });

  suite.test("A replace under another uid is 409, under another name 400", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const { code, body } = await at.send("PUT configmaps/a", map("a", {}, { uid: crypto.randomUUID() }));
    assertEquals([code, body.reason], [409, "Conflict"]);
    assertEquals(await at.refused("PUT configmaps/a", map("b")), [400, "BadRequest"]);
  });

  suite.test("A replace of a Lease that is not there creates it", async (at) => {
    const { code, body } = await at.send("PUT leases/a", { metadata: { name: "a" }, spec: { holderIdentity: "me" } });
    assertEquals([code, body.spec.holderIdentity], [201, "me"]);
  });

  suite.test("The manager of a replace is named by fieldManager, and takes what it changes", async (at) => {
    await at.ok("POST configmaps", map("a", { k: "v", l: "v" }));
    const { metadata } = await at.ok("PUT configmaps/a?fieldManager=other", map("a", { k: "w", l: "v" }));
    const owned = metadata.managedFields.map((
      { manager, fieldsV1 }: { manager: string; fieldsV1: object },
    ) => [manager, fieldsV1]);
    assertEquals(owned.sort(), [
      ["other", { "f:data": { "f:k": {} } }],
      ["tester", { "f:data": { ".": {}, "f:l": {} } }],
    ]);
  });

  suite.test("A dry run answers as the write would, and stores nothing", async (at) => {
    const tried = await at.send("POST configmaps?dryRun=All", map("a"));
    assertEquals([tried.code, tried.body.metadata.resourceVersion], [201, undefined]);
    assertMatch(tried.body.metadata.uid, /^[0-9a-f-]{36}$/);
    assertEquals((await at.send("GET configmaps/a")).code, 404);
    const made = await at.ok("POST configmaps", map("a"));
    const replaced = await at.ok("PUT configmaps/a?dryRun=All", map("a", { k: "w" }));
    assertEquals([replaced.data, replaced.metadata.resourceVersion], [{ k: "w" }, made.metadata.resourceVersion]);
    assertEquals((await at.ok("merge configmaps/a?dryRun=All", { data: { l: "x" } })).data, { k: "v", l: "x" });
    await at.ok("DELETE configmaps/a?dryRun=All");
    assertEquals(await at.ok("GET configmaps/a"), made);
    assertEquals((await at.refused("POST configmaps?dryRun=all", map("b")))[0], 422);
  });

  suite.test("Unknown and duplicate fields warn, are 400 when strict, and pass in silence when ignored", async (at) => {
    const odd = (name: string) => ({ ...map(name), nope: 1 });
    const warned = await at.send("POST configmaps", odd("a"));
    assertEquals([warned.code, warned.body.nope], [201, undefined]);
    assertEquals(warned.headers.get("warning"), '299 - "unknown field \\"nope\\""');
    assertEquals(await at.refused("POST configmaps?fieldValidation=Strict", odd("b")), [400, "BadRequest"]);
    assertEquals((await at.send("POST configmaps?fieldValidation=Ignore", odd("c"))).headers.get("warning"), null);
    const twice = '{"metadata":{"name":"d"},"data":{"k":"1","k":"2"}}';
    const duplicate = await at.send("POST configmaps", twice);
    assertEquals([duplicate.code, duplicate.body.data], [201, { k: "2" }]);
    assertEquals(duplicate.headers.get("warning"), '299 - "duplicate field \\"data.k\\""');
    assertEquals((await at.refused("POST configmaps?fieldValidation=nope", map("e")))[0], 422);
  });

  suite.test("What is declared immutable is 422 Invalid to change, and the field says so", async (at) => {
    await at.ok("POST configmaps", { ...map("a"), immutable: true });
    const { code, body } = await at.send("merge configmaps/a", { data: { k: "w" } });
    assertEquals([code, body.reason, body.details.causes[0].reason], [422, "Invalid", "FieldValueForbidden"]);
    assertEquals((await at.send("merge configmaps/a", { metadata: { labels: { a: "b" } } })).code, 200);
    await at.ok("POST secrets", { metadata: { name: "a" }, type: "example.com/a" });
    const typed = await at.send("merge secrets/a", { type: "example.com/b" });
    assertEquals([typed.code, typed.body.details.causes[0].field], [422, "type"]);
    await at.ok("POST deployments", deployment("a"));
    const selector = { matchLabels: { app: "b" } };
    const moved = await at.send("merge deployments/a", {
      spec: { selector, template: { metadata: { labels: { app: "b" } } } },
    });
    assertEquals([moved.code, moved.body.details.causes[0].field], [422, "spec.selector"]);
  });

  suite.test("A body that is no object is 400, of an unknown media type 415, and YAML is taken", async (at) => {
    assertEquals(await at.refused("POST configmaps", '{"metadata": {'), [400, "BadRequest"]);
    const csv = { "content-type": "text/csv" };
    assertEquals(await at.refused("POST configmaps", "a,b", csv), [415, "UnsupportedMediaType"]);
    const yaml = { "content-type": "application/yaml" };
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
    assertEquals((await at.send("POST configmaps", text, yaml)).code, 201);
    const typed = await at.send("POST configmaps", { metadata: { name: "b" }, data: { k: 1 } });
    assertEquals([typed.code, typed.body.reason], [400, "BadRequest"]);
  });

  suite.test("A body of more than 3 MiB is 413 RequestEntityTooLarge", async (at) => {
    const huge = map("a", { k: "x".repeat(3 * 1024 * 1024 + 1) });
    assertEquals(await at.refused("POST configmaps", huge), [413, "RequestEntityTooLarge"]);
  });

  suite.test("A ConfigMap of more than 1 MiB is 422 with the reason FieldValueTooLong", async (at) => {
    const { code, body } = await at.send("POST configmaps", map("a", { k: "x".repeat(1024 * 1024 + 1) }));
    assertEquals([code, body.details.causes[0].reason], [422, "FieldValueTooLong"]);
  });

  suite.test("A verb that a resource does not have is 405 MethodNotAllowed", async (at) => {
    assertEquals(await at.refused("POST configmaps/a", map("a")), [405, "MethodNotAllowed"]);
    const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assertEquals(await at.refused(`GET ${review}`), [405, "MethodNotAllowed"]);
  });

  suite.test("A PUT and a PATCH of a collection are 405 MethodNotAllowed", async (at) => {
    assertEquals(await at.refused("PUT configmaps", map("a")), [405, "MethodNotAllowed"]);
    assertEquals(await at.refused("merge configmaps", map("a")), [405, "MethodNotAllowed"]);
  });

  suite.test("The generation of a Deployment grows with its spec alone", async (at) => {
    const made = await at.ok("POST deployments", deployment("a"));
    assertEquals([made.metadata.generation, made.spec.replicas, made.status], [1, 1, {}]);
    const steps = [
      ["merge deployments/a", { metadata: { labels: { a: "b" } } }, 1],
      ["merge deployments/a", { spec: { replicas: 2 } }, 2],
      ["merge deployments/a/status", { status: { observedGeneration: 2 } }, 2],
      ["merge deployments/a/scale", { spec: { replicas: 3 } }, 3],
      ["merge deployments/a", { spec: { replicas: 3 } }, 3],
    ] as const;
    for (const [line, patch, generation] of steps) {
      await at.ok(line, patch);
      assertEquals((await at.ok("GET deployments/a")).metadata.generation, generation);
    }
  });

  suite.test("A Deployment, a Service and a Secret come back with their defaults", async (at) => {
    const { spec } = await at.ok("POST deployments", deployment("a"));
    assertEquals([spec.progressDeadlineSeconds, spec.revisionHistoryLimit, spec.strategy.type], [
      600,
      10,
      "RollingUpdate",
    ]);
    const [container] = spec.template.spec.containers;
    assertEquals([container.imagePullPolicy, container.terminationMessagePath], ["Always", "/dev/termination-log"]);
    const service = await at.ok("POST services", { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    assertEquals(service.spec.ports, [{ protocol: "TCP", port: 80, targetPort: 80 }]);
    assertEquals([service.spec.type, service.spec.sessionAffinity], ["ClusterIP", "None"]);
    assertMatch(service.spec.clusterIP, /^10\./);
    const secret = await at.ok("POST secrets", { metadata: { name: "a" }, stringData: { k: "v" } });
    assertEquals([secret.type, secret.data, secret.stringData], ["Opaque", { k: "dg==" }, undefined]);
  });

  suite.test("A MicroTime has six digits or is 400", async (at) => {
    const lease = (renewTime: string) => ({ metadata: { name: "a" }, spec: { renewTime } });
    assertEquals(await at.refused("POST leases", lease("2030-01-01T00:00:00Z")), [400, "BadRequest"]);
    const made = await at.ok("POST leases", lease("2030-01-01T00:00:00.000000Z"));
    assertEquals(made.spec.renewTime, "2030-01-01T00:00:00.000000Z");
  });

  suite.test("An Event of events.k8s.io reads as one of the core group, and needs its time", async (at) => {
    const event = {
      metadata: { name: "a" },
      eventTime: "2030-01-01T00:00:00.000000Z",
      regarding: { kind: "ConfigMap", name: "a", namespace: at.namespace },
      reason: "Tested",
      action: "Testing",
      type: "Normal",
      note: "a note",
      reportingController: "example.com/tester",
      reportingInstance: "tester-1",
    };
    await at.ok("POST events", event);
    const core = await at.ok(`GET /api/v1/namespaces/${at.namespace}/events/a`);
    assertEquals([core.message, core.involvedObject.name, core.reportingComponent], [
      "a note",
      "a",
      "example.com/tester",
    ]);
    const { eventTime: _, ...timeless } = event;
    assertEquals(await at.refused("POST events", { ...timeless, metadata: { name: "b" } }), [422, "Invalid"]);
    assertEquals(await at.refused("POST events", { ...event, metadata: { name: "c" }, note: "x".repeat(1025) }), [
      422,
      "Invalid",
    ]);
  });
}
