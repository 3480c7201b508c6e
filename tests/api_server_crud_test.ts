import { assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiServer } from "../testing/mod.ts";
import { type Body, CONFIG_MAPS, send } from "./_api.ts";

const configMap = (name: string, data: Record<string, string> = { k: "v" }, metadata = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

Deno.test("ApiServer has the first namespaces", async () => {
  await using server = new ApiServer();
  const { body } = await send(server, "GET /api/v1/namespaces");
  assertEquals(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name), [
    "default",
    "kube-node-lease",
    "kube-public",
    "kube-system",
  ]);
});

Deno.test("ApiServer creates, reads, replaces and deletes an object", async () => {
  await using server = new ApiServer();
  const created = await send(server, `POST ${CONFIG_MAPS}`, configMap("a"));
  assertEquals(created.code, 201);
  assertMatch(created.body.metadata.uid, /^[0-9a-f-]{36}$/);
  const { resourceVersion } = created.body.metadata;
  const replaced = await send(server, `PUT ${CONFIG_MAPS}/a`, configMap("a", { k: "w" }, { resourceVersion }));
  assertEquals(replaced.body.data, { k: "w" });
  const stale = await send(server, `PUT ${CONFIG_MAPS}/a`, configMap("a", { k: "x" }, { resourceVersion }));
  assertEquals([stale.code, stale.body.reason], [409, "Conflict"]);
  const deleted = await send(server, `DELETE ${CONFIG_MAPS}/a`);
  assertEquals([deleted.code, deleted.body.status], [200, "Success"]);
  const gone = await send(server, `GET ${CONFIG_MAPS}/a`);
  assertEquals([gone.code, gone.body.message], [404, 'configmaps "a" not found']);
});

Deno.test("ApiServer refuses to create in a namespace that is not there", async () => {
  await using server = new ApiServer();
  const { code, body } = await send(server, "POST /api/v1/namespaces/none/configmaps", configMap("a"));
  assertEquals([code, body.message], [404, 'namespaces "none" not found']);
});

Deno.test("ApiServer changes nothing when an update changes nothing", async () => {
  await using server = new ApiServer();
  const created = await send(server, `POST ${CONFIG_MAPS}`, configMap("a"));
  const replaced = await send(server, `PUT ${CONFIG_MAPS}/a`, configMap("a"));
  const patched = await send(server, `merge ${CONFIG_MAPS}/a?fieldManager=other`, { data: { k: "v" } });
  assertEquals(replaced.body, created.body);
  assertEquals(patched.body, created.body);
});

Deno.test("ApiServer keeps an object with finalizers until they are gone", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}`, configMap("a", {}, { finalizers: ["example.com/f"] }));
  const marked = await send(server, `DELETE ${CONFIG_MAPS}/a`);
  assertEquals(marked.body.kind, "ConfigMap");
  const added = await send(server, `merge ${CONFIG_MAPS}/a`, {
    metadata: { finalizers: ["example.com/f", "example.com/g"] },
  });
  assertEquals(added.code, 422);
  await send(server, `merge ${CONFIG_MAPS}/a`, { metadata: { finalizers: null } });
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/a`)).code, 404);
});

Deno.test("ApiServer stores nothing in a dry run", async () => {
  await using server = new ApiServer();
  const { code, body } = await send(server, `POST ${CONFIG_MAPS}?dryRun=All`, configMap("a"));
  assertEquals([code, body.metadata.resourceVersion], [201, undefined]);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/a`)).code, 404);
});

Deno.test("ApiServer warns of unknown fields, or refuses them if it is asked to", async () => {
  await using server = new ApiServer();
  const odd = { ...configMap("a"), nope: 1 };
  const warned = await send(server, `POST ${CONFIG_MAPS}`, odd);
  assertEquals([warned.code, warned.headers.get("warning")], [201, '299 - "unknown field \\"nope\\""']);
  const refused = await send(server, `POST ${CONFIG_MAPS}?fieldValidation=Strict`, odd);
  assertEquals(refused.code, 400);
});

Deno.test("ApiServer refuses times that are no MicroTime in a Lease", async () => {
  await using server = new ApiServer();
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const lease = (renewTime: string) => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "a" },
    spec: { renewTime },
  });
  assertEquals((await send(server, `POST ${path}`, lease("2030-01-01T00:00:00Z"))).code, 400);
  assertEquals((await send(server, `POST ${path}`, lease("2030-01-01T00:00:00.000000Z"))).code, 201);
});

Deno.test("ApiServer pages through one moment", async () => {
  await using server = new ApiServer();
  for (const name of ["a", "b", "c"]) await send(server, `POST ${CONFIG_MAPS}`, configMap(name));
  const first = await send(server, `GET ${CONFIG_MAPS}?limit=1`);
  assertEquals(first.body.metadata.remainingItemCount, 2);
  await send(server, `DELETE ${CONFIG_MAPS}/b`);
  await send(server, `POST ${CONFIG_MAPS}`, configMap("bb"));
  const rest = await send(server, `GET ${CONFIG_MAPS}?continue=${first.body.metadata.continue}`);
  assertEquals(rest.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name), ["b", "c"]);
  assertEquals(rest.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
});

Deno.test("ApiServer is 410 for a continue token from before a compaction, and says how to go on", async () => {
  await using server = new ApiServer();
  for (const name of ["a", "b", "c"]) await send(server, `POST ${CONFIG_MAPS}`, configMap(name));
  const first = await send(server, `GET ${CONFIG_MAPS}?limit=1`);
  await send(server, `DELETE ${CONFIG_MAPS}/b`);
  server.compact();
  const expired = await send(server, `GET ${CONFIG_MAPS}?continue=${first.body.metadata.continue}`);
  assertEquals([expired.code, expired.body.reason], [410, "Expired"]);
  const rest = await send(server, `GET ${CONFIG_MAPS}?continue=${expired.body.metadata.continue}`);
  assertEquals(rest.body.items.length, 1);
});

Deno.test("ApiServer grows the generation of a Deployment with its spec, not with its status", async () => {
  await using server = new ApiServer();
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "nginx" }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const created = await send(server, `POST ${path}`, { metadata: { name: "a" }, spec });
  assertEquals([created.body.metadata.generation, created.body.spec.replicas], [1, 1]);
  await send(server, `merge ${path}/a`, { spec: { replicas: 3 } });
  const { body } = await send(server, `merge ${path}/a/status`, { spec: { replicas: 9 }, status: { replicas: 3 } });
  assertEquals([body.metadata.generation, body.spec.replicas, body.status], [2, 3, { replicas: 3 }]);
  const scaled = await send(server, `merge ${path}/a/scale`, { spec: { replicas: 5 } });
  assertEquals([scaled.body.kind, scaled.body.spec, scaled.body.status.replicas], ["Scale", { replicas: 5 }, 3]);
});

Deno.test("ApiServer applies, notes who owns what, and refuses conflicts unless forced", async () => {
  await using server = new ApiServer();
  const applied = await send(server, `apply ${CONFIG_MAPS}/a?fieldManager=one`, configMap("a"));
  assertEquals([applied.code, applied.body.metadata.managedFields[0].manager], [201, "one"]);
  const refused = await send(server, `apply ${CONFIG_MAPS}/a?fieldManager=two`, configMap("a", { k: "x" }));
  assertEquals([refused.code, refused.body.message], [
    409,
    'Apply failed with 1 conflict: conflict with "one": .data.k',
  ]);
  const forced = await send(server, `apply ${CONFIG_MAPS}/a?fieldManager=two&force=true`, configMap("a", { k: "x" }));
  assertEquals(forced.body.data, { k: "x" });
});

Deno.test("ApiServer records the requests that came", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}?fieldManager=me`, configMap("a"));
  const [{ method, path, query, user, contentType, code }] = server.requests as [typeof server.requests[0]];
  assertEquals({ method, path, query, user, contentType, code }, {
    method: "POST",
    path: CONFIG_MAPS,
    query: { fieldManager: "me" },
    user: "kubernetes-admin",
    contentType: "application/json",
    code: 201,
  });
});

Deno.test("ApiServer gives the same answers for the same clock and random source", async () => {
  const run = async (): Promise<unknown> => {
    let state = 1;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    await using server = new ApiServer({ now: () => 1_900_000_000_000, random });
    const { body } = await send(server, `POST ${CONFIG_MAPS}`, { metadata: { generateName: "a-" } });
    return body;
  };
  assertEquals(await run(), await run());
});

Deno.test("ApiServer keeps kubectl's note of what it applied in step with what it applies through the server", async () => {
  await using server = new ApiServer();
  const note = "kubectl.kubernetes.io/last-applied-configuration";
  const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
  await send(server, `POST ${CONFIG_MAPS}`, { ...applied, metadata: { name: "a", annotations: { [note]: "{}\n" } } });
  await send(server, `apply ${CONFIG_MAPS}/a?fieldManager=other&force=true`, applied);
  const { body: before } = await send(server, `GET ${CONFIG_MAPS}/a`);
  assertEquals(before.metadata.annotations[note], "{}\n");
  const { body } = await send(server, `apply ${CONFIG_MAPS}/a?fieldManager=kubectl&force=true`, applied);
  assertEquals(
    body.metadata.annotations[note],
    '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
  );
});

Deno.test("ApiServer waits three seconds for a resource version that has not come yet, under fake time", async () => {
  using time = new FakeTime(1_900_000_000_000);
  await using server = new ApiServer();
  const next = Number(server.resourceVersion) + 1;
  let settled = false;
  const refused = send(server, `GET ${CONFIG_MAPS}?resourceVersion=${next + 100}`).finally(() => settled = true);
  const served = send(server, `GET ${CONFIG_MAPS}?resourceVersion=${next}`);
  await time.tickAsync(2999);
  assertEquals(settled, false);
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  assertEquals((await served).body.items.length, 1);
  await time.tickAsync(1);
  const { code, headers, body } = await refused;
  assertEquals([code, headers.get("retry-after"), body.reason], [504, "1", "Timeout"]);
  assertEquals(body.details.causes[0].reason, "ResourceVersionTooLarge");
});

Deno.test("ApiServer says which member of which owner reference is missing", async () => {
  await using server = new ApiServer();
  const ownerReferences = [
    { apiVersion: "v1", kind: "Event", name: "e", uid: "u" },
    { apiVersion: "a/b/c", kind: "", name: "x", uid: "" },
  ];
  const { body } = await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a", ownerReferences } });
  assertEquals(body.details.causes.map(({ field, message }: Body) => `${field}: ${message}`), [
    'metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: ' +
    "/v1, Kind=Event is disallowed from being an owner",
    'metadata.ownerReferences[1].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>',
    "metadata.ownerReferences[1].kind: Required value: must not be empty",
    "metadata.ownerReferences[1].uid: Required value: must not be empty",
  ]);
});

Deno.test("ApiServer says what is wrong with a continue token", async () => {
  await using server = new ApiServer();
  const cases = [
    ["zz", "invalid character 'Ï' looking for beginning of value"],
    ["*", "illegal base64 data at input byte 0"],
    ["e30", "server does not recognize this encoded version "],
    ["W10", "json: cannot unmarshal array into Go value of type storage.continueToken"],
  ];
  for (const [token, why] of cases) {
    const { code, body } = await send(server, `GET ${CONFIG_MAPS}?continue=${encodeURIComponent(token!)}`);
    assertEquals([code, body.message], [400, `invalid continue token: continue key is not valid: ${why}`]);
  }
});

Deno.test("Timers have their turn while requests in process follow each other without a pause", async () => {
  await using server = new ApiServer();
  let fired = false;
  setTimeout(() => fired = true, 0);
  for (let request = 0; request < 250; request++) {
    await server.fetch(new Request("http://kubernetes/api/v1/namespaces/default"));
  }
  assertEquals(fired, true);
});
