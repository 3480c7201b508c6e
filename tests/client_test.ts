import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { Client, type ClientOptions, type RequestAttempt } from "../client.ts";
import { ApiError, LeadershipLostError, type Status, TransportError } from "../errors.ts";
import { type KubernetesObject, resource } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { collectLog } from "./_log.ts";
import { advance } from "./_time.ts";

interface Config extends KubernetesObject {
  data?: Record<string, string>;
}
const ConfigMap = resource<Config>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps" });
const Deployment = resource({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments" });
const ClusterRole = resource({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Headers;
  readonly body: unknown;
  readonly at: number;
}

type Answer = (sent: Sent, request: Request) => Response | Promise<Response>;

/** A client whose requests are recorded and get these answers, the last of them again and again. */
function scripted(answers: Answer | Answer[], options: ClientOptions = {}): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const script = Array.isArray(answers) ? [...answers] : [answers];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
      at: Date.now(),
    };
    sent.push(one);
    return await (script.length > 1 ? script.shift()! : script[0]!)(one, request);
  };
  return { client: new Client({ fetch, random: () => 0, now: () => Date.now(), ...options }), sent };
}

const json = (value: unknown, init: ResponseInit = {}): Answer => () => Response.json(value, init);
const ok: Answer = json({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web", namespace: "ns", resourceVersion: "5" },
});
const broken: Answer = () =>
  Promise.reject(new TypeError("fetch failed", { cause: new Error("connection reset by peer") }));
const hangs: Answer = () => new Promise(() => {});
const status = (code: number, rest: Partial<Status> = {}, headers: HeadersInit = {}): Answer =>
  json({ kind: "Status", apiVersion: "v1", status: "Failure", code, ...rest }, { status: code, headers });

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const one of source) seen.push(one);
  return seen;
}

/** A signal that counts its listeners. */
function counted(): { controller: AbortController; signal: AbortSignal; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (type: string, listener: unknown, options?: unknown) => {
    listeners.add(listener);
    addEventListener.call(signal, type, listener as EventListener, options as AddEventListenerOptions);
  };
  signal.removeEventListener = (type: string, listener: unknown, options?: unknown) => {
    listeners.delete(listener);
    removeEventListener.call(signal, type, listener as EventListener, options as EventListenerOptions);
  };
  return { controller, signal, listeners: () => listeners.size };
}

Deno.test("Api sends each verb with its method, path, query and body", async () => {
  const { client, sent } = scripted(ok);
  const api = client.api(ConfigMap);
  const object = { metadata: { name: "web", namespace: "ns", resourceVersion: "4" }, data: { a: "b" } };
  const full = { apiVersion: "v1", kind: "ConfigMap", ...object };
  const at = "/api/v1/namespaces/ns/configmaps";
  const calls: [() => Promise<unknown>, string, string, Record<string, string>, unknown?][] = [
    [() => api.get("web", { namespace: "ns", resourceVersion: "0" }), "GET", `${at}/web`, { resourceVersion: "0" }],
    [() => api.get(object), "GET", `${at}/web`, {}],
    [() => api.get({ name: "web", namespace: "ns" }), "GET", `${at}/web`, {}],
    [() => api.get("web"), "GET", "/api/v1/namespaces/default/configmaps/web", {}],
    [
      () => api.list({ labelSelector: "a=b,c in (d)", fieldSelector: "metadata.name=x", limit: 3, continue: "t" }),
      "GET",
      "/api/v1/configmaps",
      { labelSelector: "a=b,c in (d)", fieldSelector: "metadata.name=x", limit: "3", continue: "t" },
    ],
    [() => api.list({ namespace: "ns", resourceVersion: "1", resourceVersionMatch: "Exact" }), "GET", at, {
      resourceVersion: "1",
      resourceVersionMatch: "Exact",
    }],
    [() => api.create(object, { dryRun: true, fieldValidation: "Strict" }), "POST", at, {
      fieldManager: "tend",
      dryRun: "All",
      fieldValidation: "Strict",
    }, full],
    [() => api.replace(object, { fieldManager: "me" }), "PUT", `${at}/web`, { fieldManager: "me" }, full],
    [() => api.patch(object, { data: null }), "PATCH", `${at}/web`, { fieldManager: "tend" }, { data: null }],
    [() => api.status.patch("web", { status: {} }, { namespace: "ns" }), "PATCH", `${at}/web/status`, {
      fieldManager: "tend",
    }, { status: {} }],
    [() => api.status.get(object), "GET", `${at}/web/status`, {}],
    [() => api.status.replace(object), "PUT", `${at}/web/status`, { fieldManager: "tend" }, full],
    [
      () => api.status.apply(object, { force: true }),
      "PATCH",
      `${at}/web/status`,
      { fieldManager: "tend", force: "true" },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "ns" }, data: { a: "b" } },
    ],
    [
      () => api.delete(object, { uid: "u", resourceVersion: "4", propagationPolicy: "Foreground" }),
      "DELETE",
      `${at}/web`,
      {},
      {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid: "u", resourceVersion: "4" },
        propagationPolicy: "Foreground",
      },
    ],
    [() => api.delete(object, { dryRun: true, gracePeriodSeconds: 0 }), "DELETE", `${at}/web`, {}, {
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      dryRun: ["All"],
    }],
    [() => api.deleteCollection({ namespace: "ns", labelSelector: "a=b" }), "DELETE", at, { labelSelector: "a=b" }, {
      apiVersion: "v1",
      kind: "DeleteOptions",
    }],
    [
      () => client.api(Deployment).scale.patch("web", { spec: { replicas: 2 } }),
      "PATCH",
      "/apis/apps/v1/namespaces/default/deployments/web/scale",
      {
        fieldManager: "tend",
      },
      { spec: { replicas: 2 } },
    ],
    [
      () => client.api(Deployment).scale.replace({ metadata: { name: "web" }, spec: { replicas: 2 } }),
      "PUT",
      "/apis/apps/v1/namespaces/default/deployments/web/scale",
      {
        fieldManager: "tend",
      },
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" }, spec: { replicas: 2 } },
    ],
  ];
  for (const [call, method, path, query, body] of calls) {
    await call();
    const one = sent.pop()!;
    assertEquals([one.method, one.path, one.query, one.body], [method, path, query, body]);
  }
  await client.close();
});

Deno.test("Api names the way of each patch in its content type", async () => {
  const { client, sent } = scripted(ok);
  const api = client.api(ConfigMap);
  await api.patch("web", {}, { type: "merge" });
  await api.patch("web", [{ op: "remove", path: "/data" }], { type: "json" });
  await api.patch("web", {}, { type: "strategic" });
  await api.apply({ metadata: { name: "web" } });
  assertEquals(sent.map(({ headers }) => headers.get("content-type")), [
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
  ]);
  assertEquals(sent[3]?.query, { fieldManager: "tend", force: "false" });
  await assertRejects(
    () => api.patch("web", {}, { type: "json" }),
    TypeError,
    'current value is object of type "json"',
  );
  await assertRejects(() => api.patch("web", []), TypeError, 'current value is an array of type "merge"');
});

Deno.test("Api.apply() leaves out what only the server sets (B37)", async () => {
  const { client, sent } = scripted(ok);
  const draft = {
    metadata: {
      name: "web",
      labels: { a: "b" },
      uid: "u",
      resourceVersion: "3",
      creationTimestamp: "2020-01-01T00:00:00Z",
      generation: 2,
      managedFields: [{}],
      deletionTimestamp: "2020-01-01T00:00:00Z",
    },
    data: { a: "b" },
  };
  const before = structuredClone(draft);
  await client.api(ConfigMap).apply(draft, { namespace: "ns" });
  assertEquals(sent[0]?.body, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "web", labels: { a: "b" } },
    data: { a: "b" },
  });
  assertEquals(draft, before, "the draft is not changed");
});

Deno.test("Api.apply() of an object as it was read works, warns that it claims every field, and always has a manager (B37)", async () => {
  await using log = await collectLog();
  await using server = new ApiServer();
  const claimed = "An object is applied as it was read: each of its fields belongs to the manager from now on";
  for (const [index, fieldManager] of [undefined, "", "mine"].entries()) {
    const api = server.client({ fieldManager }).api(ConfigMap);
    const metadata = { name: `c${index}`, namespace: "default" };
    await api.create({ metadata, data: { a: "1", b: "1" } }, { fieldManager: "other" });
    const read = await api.get(metadata);
    const { apiVersion: _version, kind: _kind, ...bare } = read;
    const before = log.texts("warning").length;
    const applied = await api.apply({ ...bare, data: { ...read.data, a: "2" } }, { force: true, fieldManager });
    assertEquals(applied.data, { a: "2", b: "1" });
    assertEquals(
      applied.metadata.managedFields?.find(({ operation }) => operation === "Apply")?.manager,
      fieldManager || "tend",
    );
    assertEquals(log.texts("warning").slice(before), [claimed]);
    const { managedFields: _fields, ...slim } = applied.metadata;
    await api.apply({ metadata: { name: slim.name, namespace: "default" }, data: { a: "2" } }, { fieldManager: "" });
    assertEquals(log.texts("warning").length, before + 1);
  }
});

Deno.test("Api refuses a draft of another kind and a collection without namespace before sending", async () => {
  const { client, sent } = scripted(ok);
  const api = client.api(ConfigMap);
  await assertRejects(
    () => api.create({ kind: "Secret", metadata: { name: "x" } }),
    TypeError,
    `'kind' must be "ConfigMap"`,
  );
  await assertRejects(() => api.deleteCollection(), TypeError, "'namespace' must be set");
  assertEquals(sent.length, 0);
});

Deno.test("Api encodes path segments once and refuses those that could change the path (B42)", async () => {
  const { client, sent } = scripted(json({ kind: "ClusterRole", metadata: {} }));
  const roles = client.api(ClusterRole);
  await roles.get("system:foo:bar", { namespace: "ignored" });
  await roles.get("a b?c#d");
  assertEquals(sent.map(({ path }) => path.split("/").pop()), ["system:foo:bar", "a%20b%3Fc%23d"]);
  for (const name of ["", ".", "..", "a/b", "a%2fb"]) {
    await assertRejects(() => roles.get(name), TypeError, "Cannot build a request path");
    await assertRejects(
      () => client.api(ConfigMap).get("x", { namespace: name }),
      TypeError,
      "Cannot build a request path",
    );
  }
  await assertRejects(() => client.api(ConfigMap).apply({ metadata: { generateName: "x-" } }), TypeError, "'name'");
  assertEquals(sent.length, 2);
});

Deno.test("Api.list() gives each item its kind, and takes items that are null", async () => {
  const { client } = scripted([
    json({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: "9" },
      items: [{ metadata: { name: "a" } }],
    }),
    json({ kind: "ConfigMapList", apiVersion: "v1", metadata: {}, items: null }),
  ]);
  const list = await client.api(ConfigMap).list();
  assertEquals(list.items, [{ metadata: { name: "a" }, apiVersion: "v1", kind: "ConfigMap" }] as never);
  assertEquals(list.metadata.resourceVersion, "9");
  assertEquals((await client.api(ConfigMap).list()).items, []);
});

const page = (names: string[], token?: string): Answer =>
  json({
    kind: "ConfigMapList",
    metadata: token ? { continue: token } : {},
    items: names.map((name) => ({ metadata: { name } })),
  });

Deno.test("Api.items() reads page by page, only as far as it is read", async () => {
  const { client, sent } = scripted([page(["a", "b"], "t1"), page(["c"], "t2"), page([], undefined)]);
  const items = client.api(ConfigMap).items({ pageSize: 2, labelSelector: "x" });
  assertEquals((await items.next()).value?.metadata.name, "a");
  assertEquals(sent.length, 1);
  assertEquals((await all(items)).map(({ metadata }) => metadata.name), ["b", "c"]);
  assertEquals(sent.map(({ query }) => query), [
    { labelSelector: "x", limit: "2" },
    { labelSelector: "x", limit: "2", continue: "t1" },
    { labelSelector: "x", limit: "2", continue: "t2" },
  ]);
});

Deno.test("Api.items() goes on with the token that comes with a 410, without resource version (B10)", async () => {
  const { client, sent } = scripted([
    page(["a"], "t1"),
    status(410, { reason: "Expired", metadata: { continue: "inconsistent" } }),
    page(["b"]),
  ]);
  assertEquals((await all(client.api(ConfigMap).items())).length, 2);
  assertEquals(sent.map(({ query }) => query), [
    { limit: "500" },
    { limit: "500", continue: "t1" },
    { limit: "500", continue: "inconsistent" },
  ]);
  const hopeless = scripted([page(["a"], "t1"), status(410, { reason: "Expired" })]);
  await assertRejects(() => all(hopeless.client.api(ConfigMap).items()), ApiError, "410");
});

Deno.test("Api.find() answers with undefined for 404 alone", async () => {
  const { client } = scripted([status(404, { reason: "NotFound" }), status(403, { reason: "Forbidden" })]);
  assertEquals(await client.api(ConfigMap).find("web"), undefined);
  await assertRejects(() => client.api(ConfigMap).find("web"), ApiError, "403");
});

const ERRORS: Record<string, [Answer, { code: number; reason: string; message: string }]> = {
  "a Status": [
    status(422, { reason: "Invalid", message: "spec.x: bad", details: { causes: [{ field: "spec.x" }] } }),
    { code: 422, reason: "Invalid", message: "spec.x: bad" },
  ],
  "a Status without code": [
    json({ kind: "Status", reason: "Forbidden", message: "no" }, { status: 403 }),
    { code: 403, reason: "Forbidden", message: "no" },
  ],
  "the text of a path that is not served": [
    () => new Response("404 page not found\n", { status: 404, headers: { "content-type": "text/plain" } }),
    { code: 404, reason: "NotFound", message: "404 page not found" },
  ],
  "a proxy's page": [
    () =>
      new Response("<html><head><title>502 Bad Gateway</title></head>" + "x".repeat(5000), {
        status: 502,
        headers: { "content-type": "text/html" },
      }),
    { code: 502, reason: "", message: "a web page, not an API server's answer: 502 Bad Gateway" },
  ],
  "other JSON": [json({ message: "overloaded" }, { status: 500 }), {
    code: 500,
    reason: "InternalError",
    message: "overloaded",
  }],
  "nothing": [() => new Response(null, { status: 401 }), { code: 401, reason: "Unauthorized", message: "" }],
  "a long text": [
    () => new Response("y".repeat(5000), { status: 500 }),
    { code: 500, reason: "InternalError", message: "y".repeat(300) + "..." },
  ],
};

for (const [name, [answer, expected]] of Object.entries(ERRORS)) {
  Deno.test(`Client makes an ApiError of an error that holds ${name}`, async () => {
    const { client } = scripted(answer);
    const error = await assertRejects(() => client.api(ConfigMap).get("web"), ApiError);
    const { code, reason, method, path } = error;
    assertEquals({ code, reason, message: error.status.message ?? "" }, expected);
    assertEquals([method, path], ["GET", "/api/v1/namespaces/default/configmaps/web"]);
    assertStringIncludes(error.message, `Cannot GET ${path}: the server answered ${code}`);
  });
}

Deno.test("Client says what came instead of JSON", async () => {
  const { client } = scripted([
    () => new Response("<html><title>Sign in</title></html>", { headers: { "content-type": "text/html" } }),
    () => new Response('{"kind":"Conf', { headers: { "content-type": "application/json" } }),
    () => new Response("ok", { headers: { "content-type": "text/plain" } }),
    () => new Response(null, { status: 200 }),
  ]);
  await assertRejects(
    () => client.request({ path: "/x" }),
    TransportError,
    `the answer must be JSON: current value is of type "text/html": a web page, not an API server's answer: Sign in`,
  );
  await assertRejects(() => client.request({ path: "/x" }), TransportError, "the answer is not valid JSON");
  assertEquals(await client.request({ path: "/readyz", accept: "text/plain" }), "ok");
  assertEquals(await client.request({ path: "/x" }), undefined);
  await assertRejects(() => client.request({ path: "x" }), TypeError, `a path must start with "/"`);
  await assertRejects(() => client.stream({ path: "x" }), TypeError, `a path must start with "/"`);
});

for (
  const [what, answer] of Object.entries({
    "a header in seconds": status(429, {}, { "retry-after": "3" }),
    "a header with a date": () =>
      status(503, {}, { "retry-after": new Date(Date.now() + 3000).toUTCString() })({} as Sent, {} as Request),
    "the Status alone": status(429, { details: { retryAfterSeconds: 3 } }),
  })
) {
  for (const method of ["GET", "PATCH", "POST"]) {
    Deno.test(`Client waits as ${what} asks before it repeats a ${method} (B06)`, async () => {
      using time = new FakeTime(1_000_000);
      const { client, sent } = scripted([answer, answer, ok]);
      const work = client.request({ method, path: "/x", ...(method === "GET" ? {} : { body: {} }) });
      await advance(time, 10_000, 500);
      await work;
      assertEquals(sent.map(({ at }) => at - 1_000_000), [0, 3000, 6000]);
    });
  }
}

Deno.test("Client leaves it to who opens a stream to wait as the server asks (B06)", async () => {
  const { client, sent } = scripted([
    status(429, {}, { "retry-after": "3" }),
    status(429, { details: { retryAfterSeconds: 2 } }),
  ]);
  const error = await assertRejects(() => client.stream({ path: "/x" }), ApiError);
  assertEquals([error.code, error.retryAfter], [429, 3000]);
  const other = await assertRejects(() => client.stream({ path: "/x" }), ApiError);
  assertEquals([other.retryAfter, sent.length], [2000, 2]);
});

Deno.test("Client adds up to a tenth of the wait at random", async () => {
  using time = new FakeTime(0);
  const { client, sent } = scripted([status(429, {}, { "retry-after": "10" }), ok], { random: () => 0.9999 });
  const work = client.request({ path: "/x" });
  await advance(time, 10_990, 5495);
  assertEquals(sent.length, 1);
  await advance(time, 10);
  await work;
  assertEquals(sent.length, 2);
});

Deno.test("Client passes on a 429 that asks for no time, for too long, or again and again", async () => {
  using time = new FakeTime(0);
  const no = scripted(status(429));
  await assertRejects(() => no.client.request({ path: "/x" }), ApiError, "429");
  assertEquals(no.sent.length, 1);
  const long = scripted(status(503, {}, { "retry-after": "3600" }));
  const error = await assertRejects(() => long.client.request({ path: "/x" }), ApiError);
  assertEquals([error.retryAfter, long.sent.length], [3_600_000, 1]);
  const endless = scripted(status(429, {}, { "retry-after": "1" }));
  const work = assertRejects(() => endless.client.request({ path: "/x" }), ApiError);
  await advance(time, 20_000);
  await work;
  assertEquals(endless.sent.length, 11);
});

Deno.test("Client repeats after a 500 that asks for it only what may be repeated", async () => {
  using time = new FakeTime(0);
  const answer = status(500, { reason: "ServerTimeout", details: { retryAfterSeconds: 1 } });
  const read = scripted([answer, ok]);
  const work = read.client.request({ path: "/x" });
  await advance(time, 2000);
  await work;
  assertEquals(read.sent.length, 2);
  const create = scripted([answer, ok]);
  await assertRejects(() => create.client.request({ method: "POST", path: "/x", body: {} }), ApiError, "500");
  assertEquals(create.sent.length, 1);
});

Deno.test("Client tells what the server said, not that time ran out, when that asked for patience again and again (B13)", async () => {
  using time = new FakeTime(0);
  const slow = (answer: Answer): Answer => async (...call) => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    return await answer(...call);
  };
  const causes = [{ reason: "ResourceVersionTooLarge" }];
  const late = slow(status(504, { reason: "Timeout", details: { causes, retryAfterSeconds: 1 } }));
  const read = scripted(late, { timeout: 10_000 });
  const outcome = read.client.api(ConfigMap).list({ resourceVersion: "9" }).catch((error) => error);
  await advance(time, 40_000, 500);
  assertInstanceOf(await outcome, ApiError);
  assertEquals([(await outcome).code, read.sent.length], [504, 4]);
  // A write that timed out after that may have taken effect.
  const write = scripted([status(429, { details: { retryAfterSeconds: 1 } }), hangs], { timeout: 10_000 });
  const written = write.client.api(ConfigMap).create({ metadata: { name: "x" } }).catch((error) => error);
  await advance(time, 40_000, 500);
  assertInstanceOf(await written, TransportError);
});

Deno.test("A signal ends the wait that a server asked for, and leaves no timer", async () => {
  using _time = new FakeTime(0);
  const { client, sent } = scripted(status(429, {}, { "retry-after": "30" }));
  const stop = new AbortController();
  const work = client.request({ path: "/x", signal: stop.signal });
  while (sent.length === 0) await _time.runMicrotasks();
  await _time.runMicrotasks();
  stop.abort(new Error("enough"));
  await assertRejects(() => work, Error, "enough");
  assert(!_time.next(), "no timer is left");
});

const REPEATED: Record<string, [boolean, (client: Client) => Promise<unknown>]> = {
  "a get": [true, (client) => client.api(ConfigMap).get("web")],
  "a list": [true, (client) => client.api(ConfigMap).list()],
  "a replace of a version": [
    true,
    (client) => client.api(ConfigMap).replace({ metadata: { name: "web", resourceVersion: "1" } }),
  ],
  "a merge patch of a uid": [true, (client) => client.api(ConfigMap).patch("web", { metadata: { uid: "u" } })],
  "a JSON patch with a test": [
    true,
    (client) => client.api(ConfigMap).patch("web", [{ op: "test", path: "/a", value: 1 }], { type: "json" }),
  ],
  "a delete of a uid": [true, (client) => client.api(ConfigMap).delete("web", { uid: "u" })],
  "a create": [
    false,
    (client) => client.api(ConfigMap).create({ metadata: { name: "web", uid: "u", resourceVersion: "1" } }),
  ],
  "a replace of any version": [false, (client) => client.api(ConfigMap).replace({ metadata: { name: "web" } })],
  "a merge patch of any version": [false, (client) => client.api(ConfigMap).patch("web", { data: {} })],
  "a JSON patch without test": [
    false,
    (client) => client.api(ConfigMap).patch("web", [{ op: "add", path: "/a", value: 1 }], { type: "json" }),
  ],
  "an apply": [false, (client) => client.api(ConfigMap).apply({ metadata: { name: "web" } })],
  "a delete of any object": [false, (client) => client.api(ConfigMap).delete("web")],
  "a stream": [false, (client) => client.stream({ path: "/x" })],
};

for (const [what, [repeated, call]] of Object.entries(REPEATED)) {
  Deno.test(`Client ${repeated ? "repeats at once" : "does not repeat"} ${what} when no answer came (B68, B69)`, async () => {
    using _time = new FakeTime(0); // stands still: the repeat needs no time
    const { client, sent } = scripted([broken, ok]);
    if (repeated) await call(client);
    else {
      const error = await assertRejects(
        () => call(client),
        TransportError,
        "the request failed: connection reset by peer",
      );
      assertEquals(error.timedOut, false);
    }
    assertEquals(sent.length, repeated ? 2 : 1);
  });
}

Deno.test("Client gives up repeating, and says why no answer came", async () => {
  using time = new FakeTime(0);
  const { client, sent } = scripted(broken);
  const work = assertRejects(() => client.request({ path: "/x" }), TransportError, "Cannot GET /x: the request failed");
  await advance(time, 1000, 100);
  await work;
  assertEquals(sent.length, 3);
  const never = scripted(broken, { retries: 0 });
  await assertRejects(() => never.client.request({ path: "/x" }), TransportError);
  assertEquals(never.sent.length, 1);
});

Deno.test("A request ends at its deadline, by default 30 s, wherever it hangs", async () => {
  using time = new FakeTime(0);
  const hangingBody: Answer = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) }));
  for (const answer of [hangs, hangingBody]) {
    const { client, sent } = scripted(answer);
    const start = time.now;
    const ends = assertRejects(() => client.request({ path: "/x" }), TransportError, "no answer came within 30000 ms")
      .then((error) => ({ timedOut: error.timedOut, after: time.now - start }));
    await advance(time, 40_000, 5000);
    assertEquals(await ends, { timedOut: true, after: 30_000 });
    assertEquals(sent.length, 1);
    assert(!time.next(), "no timer is left");
  }
});

Deno.test("The deadline can be set per client, derivation and request, and spans repeats", async () => {
  using time = new FakeTime(0);
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const start = time.now;
    const ends = assertRejects(work, TransportError).then(() => time.now - start);
    await advance(time, 12_000, 500);
    return await ends;
  };
  const { client } = scripted(hangs, { timeout: { seconds: 10 } });
  assertEquals(await took(() => client.request({ path: "/x" })), 10_000);
  assertEquals(await took(() => client.with({ timeout: 5000 }).request({ path: "/x" })), 5000);
  assertEquals(
    await took(() => client.with({ timeout: 5000 }).api(ConfigMap).get("x", { timeout: { seconds: 1 } })),
    1000,
  );
  const slow: Answer = (_, { signal }) =>
    new Promise((_, reject) => {
      const timer = setTimeout(() => reject(new TypeError("reset")), 4000);
      signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
  assertEquals(await took(() => scripted(slow, { timeout: 10_000 }).client.request({ path: "/x" })), 10_000);
});

Deno.test("An answer that comes after the deadline is let go of", async () => {
  using time = new FakeTime(0);
  let cancelled = false;
  const late: Answer = () =>
    new Promise((resolve) =>
      setTimeout(() => resolve(new Response(new ReadableStream({ cancel: () => void (cancelled = true) }))), 6000)
    );
  const { client } = scripted(late, { timeout: 5000 });
  const ends = assertRejects(() => client.request({ path: "/x" }), TransportError);
  await advance(time, 10_000);
  await ends;
  assert(cancelled);
});

Deno.test("A signal aborts a request with its own reason, also before it is sent", async () => {
  const { client, sent } = scripted(hangs);
  const stop = new AbortController();
  const work = client.api(ConfigMap).get("web", { signal: stop.signal });
  stop.abort(new LeadershipLostError("gone"));
  await assertRejects(() => work, LeadershipLostError);
  const before = sent.length;
  await assertRejects(() => client.request({ path: "/x", signal: stop.signal }), LeadershipLostError);
  assertEquals(sent.length, before);
  await client.close();
});

Deno.test("Requests leave no listener on signals that live longer (B71)", async () => {
  const { client } = scripted([ok, broken, ok, status(404), ok]);
  const long = counted(), call = counted();
  const derived = client.with({ signal: long.signal });
  for (let round = 0; round < 200; round++) {
    await derived.request({ path: "/x", signal: call.signal }).catch(() => {});
    assertEquals([long.listeners(), call.listeners()], [0, 0]);
  }
  const { body } = await derived.stream({ path: "/x", signal: call.signal });
  assertEquals([long.listeners(), call.listeners()], [1, 1]);
  await new Response(body).text();
  assertEquals([long.listeners(), call.listeners()], [0, 0]);
  await (await derived.stream({ path: "/x", signal: call.signal })).body?.cancel();
  assertEquals([long.listeners(), call.listeners()], [0, 0]);
});

Deno.test("Client.with() adds guards, which see every attempt, and whatever they throw ends the request", async () => {
  const { client, sent } = scripted([broken, ok]);
  const calls: string[] = [];
  let allowed = 5;
  const derived = client.with({ guard: () => void calls.push("outer") }).with({
    guard: () => {
      calls.push("inner");
      if (allowed-- <= 0) throw new LeadershipLostError("lost");
    },
  });
  await derived.request({ path: "/x" });
  assertEquals(calls, ["outer", "inner", "outer", "inner"]);
  assertEquals(sent.length, 2);
  allowed = 0;
  await assertRejects(() => derived.request({ path: "/x" }), LeadershipLostError);
  await assertRejects(() => derived.stream({ path: "/x" }), LeadershipLostError);
  assertEquals(sent.length, 2);
  await client.request({ path: "/x" });
  assertEquals(sent.length, 3);
});

Deno.test("A guard can refuse the repeat of what it let pass", async () => {
  using time = new FakeTime(0);
  const { client, sent } = scripted(status(429, {}, { "retry-after": "5" }));
  let leading = true;
  const derived = client.with({
    guard: () => {
      if (!leading) throw new LeadershipLostError("lost");
    },
  });
  const ends = assertRejects(() => derived.api(ConfigMap).patch("web", {}), LeadershipLostError);
  await advance(time, 1000);
  leading = false;
  await advance(time, 10_000);
  await ends;
  assertEquals(sent.length, 1);
});

Deno.test("A guard has the last word, also when the credentials took long to read (B48)", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let sent = 0;
  let leading = true;
  await using client = new Client({
    fetch: () => (sent++, Promise.resolve(Response.json({}))),
    kubeconfig: "/config",
    readFile: () => promise,
  });
  const derived = client.with({
    guard: () => {
      if (!leading) throw new LeadershipLostError("lost");
    },
  });
  const ends = assertRejects(() => derived.request({ method: "POST", path: "/x", body: {} }), LeadershipLostError);
  await new Promise((resolve) => setTimeout(resolve, 1));
  leading = false;
  resolve(`
clusters: [{ name: a, cluster: { server: "http://api.test" } }]
contexts: [{ name: a, context: { cluster: a, user: a } }]
users: [{ name: a, user: { token: t } }]
current-context: a
`);
  await ends;
  assertEquals(sent, 0);
});

Deno.test("Client.with() tells of what writes answered with, not of reads, dry runs and statuses", async () => {
  const { client } = scripted((sent) =>
    sent.method === "DELETE" && !sent.path.endsWith("kept")
      ? Response.json({ kind: "Status", status: "Success" })
      : Response.json({
        kind: sent.path.endsWith("scale") ? "Scale" : "ConfigMap",
        apiVersion: "v1",
        metadata: { name: sent.path.split("/").pop(), resourceVersion: "2" },
      })
  );
  const told: string[] = [];
  const api = client.with({ onWritten: (kind, object) => void told.push(`1 ${kind.id} ${object.metadata.name}`) })
    .with({ onWritten: (_, object) => void told.push(`2 ${object.metadata.name}`) }).api(ConfigMap);
  await api.get("a");
  await api.create({ metadata: { name: "a" } }, { dryRun: true });
  await api.delete("a");
  await api.delete("kept", { dryRun: true });
  await api.scale.patch("a", {});
  await client.api(ConfigMap).create({ metadata: { name: "a" } });
  assertEquals(told, []);
  await api.create({ metadata: { name: "a" } });
  await api.replace({ metadata: { name: "b" } });
  await api.patch("c", {});
  await api.apply({ metadata: { name: "d" } });
  await api.status.patch("e", {});
  await api.delete("kept");
  assertEquals(told.filter((line) => line.startsWith("1")), [
    "1 configmaps configmaps",
    "1 configmaps b",
    "1 configmaps c",
    "1 configmaps d",
    "1 configmaps status",
    "1 configmaps kept",
  ]);
  assertEquals(told.length, 12);
});

Deno.test("Client.with() sets the field manager, and closing a derived client leaves its origin open", async () => {
  const { client, sent } = scripted(ok, { fieldManager: "one" });
  const derived = client.with({ fieldManager: "two" }).with({});
  assertEquals([client.fieldManager, derived.fieldManager], ["one", "two"]);
  await derived.api(ConfigMap).create({ metadata: { name: "a" } });
  assertEquals(sent[0]?.query.fieldManager, "two");
  await derived.close();
  await client.request({ path: "/x" });
  await client.close();
  await assertRejects(() => derived.request({ path: "/x" }), Error, "the client is closed");
});

Deno.test("Client.close() ends what is under way", async () => {
  const { client } = scripted(hangs);
  const request = assertRejects(() => client.request({ path: "/x" }), Error, "the client is closed");
  await client.close();
  await request;
  const other = scripted(() => new Response(new ReadableStream()));
  const { body } = await other.client.stream({ path: "/x" });
  const read = assertRejects(() => body!.getReader().read(), Error, "the client is closed");
  await other.client.close();
  await read;
});

Deno.test("Client sends user agent, token and further headers", async () => {
  const { client, sent } = scripted(ok, { token: "abc", userAgent: "backup-operator/1.0" });
  await client.request({ path: "/x", headers: { "x-a": "b" }, accept: "application/json;as=Table" });
  const headers = sent[0]!.headers;
  assertEquals(
    ["user-agent", "authorization", "x-a", "accept"].map((name) => headers.get(name)),
    ["backup-operator/1.0", "Bearer abc", "b", "application/json;as=Table"],
  );
});

Deno.test("Client tells of each attempt, for metrics", async () => {
  const seen: RequestAttempt[] = [];
  const { client } = scripted([broken, status(404), ok], {
    server: "https://api.test:6443/prefix",
    onRequest: (info) => void seen.push(info),
  });
  await client.api(ConfigMap).find("web");
  await client.api(ConfigMap).create({ metadata: { name: "a" } });
  assertEquals(seen, [
    { method: "GET", host: "api.test:6443", code: "<error>" },
    { method: "GET", host: "api.test:6443", code: 404 },
    { method: "POST", host: "api.test:6443", code: 200 },
  ]);
});

Deno.test("Client keeps the path of its server before every path", async () => {
  const { client, sent } = scripted(ok, { server: "https://rancher.test/k8s/clusters/c-1/" });
  await client.request({ path: "/version" });
  assertEquals(sent[0]?.path, "/k8s/clusters/c-1/version");
  assertEquals(await client.server(), "https://rancher.test/k8s/clusters/c-1");
});

Deno.test("Fifty requests whose token was rotated read it anew once, an open watch goes on, and no token is logged (B59)", async () => {
  await using log = await collectLog();
  const files = new Map([["/token", "token-one\n"]]);
  files.set(
    "/config",
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
      clusters: [{ name: "c", cluster: { server: "https://api.test" } }],
      users: [{ name: "c", user: { tokenFile: "/token" } }],
    }),
  );
  let reads = 0, valid = "token-one", refused = 0, open = 0;
  await using client = new Client({
    kubeconfig: "/config",
    readFile: (path) => {
      if (path === "/token") reads++;
      return Promise.resolve(files.get(path)!);
    },
    fetch: (request) => {
      if (request.headers.get("authorization") !== `Bearer ${valid}`) {
        refused++;
        const message = `the token ${request.headers.get("authorization")} has expired`;
        return Promise.resolve(Response.json({ kind: "Status", code: 401, message }, { status: 401 }));
      }
      if (!request.url.includes("watch")) {
        return Promise.resolve(Response.json({ kind: "ConfigMap", metadata: { name: "a" } }));
      }
      open++;
      return Promise.resolve(new Response(new ReadableStream({ cancel: () => void open-- })));
    },
  });
  const watch = await client.stream({ path: "/x?watch=true" });
  files.set("/token", "token-two\r\n");
  valid = "token-two";
  const api = client.api(ConfigMap);
  const writes = Array.from({ length: 25 }, (_, at) => api.create({ metadata: { name: `a${at}` } }));
  await Promise.all([...writes, ...Array.from({ length: 25 }, () => api.get("a"))]);
  assertEquals([reads, refused, open], [2, 50, 1]);
  valid = "token-three";
  files.delete("/token");
  const error = await assertRejects(() => api.get("a"), ApiError, "401");
  assertEquals(Deno.inspect([error, log.records], { depth: 9 }).match(/token-\w+/g), null);
  await watch.body?.cancel();
});

Deno.test("Client asks for new credentials once after 401, and repeats once (B59)", async () => {
  let token = "old";
  let reads = 0;
  const fetch = (request: Request): Promise<Response> =>
    Promise.resolve(
      request.headers.get("authorization") === "Bearer new"
        ? Response.json({ kind: "ConfigMap" })
        : Response.json({ kind: "Status", code: 401, reason: "Unauthorized" }, { status: 401 }),
    );
  const text = () =>
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
      clusters: [{ name: "c", cluster: { server: "https://c.test" } }],
      users: [{ name: "c", user: { token } }],
    });
  const client = new Client({
    fetch,
    kubeconfig: "/config",
    readFile: () => {
      reads++;
      return Promise.resolve(text());
    },
  });
  await assertRejects(() => client.api(ConfigMap).create({ metadata: { name: "a" } }), ApiError, "401");
  assertEquals(reads, 2);
  token = "new";
  await new Client({ fetch, kubeconfig: "/config", readFile: () => Promise.resolve(text()) }).api(ConfigMap).get("a");
  const fresh = new Client({ fetch, kubeconfig: "/config", readFile: () => Promise.resolve((reads++, text())) });
  token = "old";
  await fresh.namespace();
  token = "new";
  reads = 0;
  await Promise.all(Array.from({ length: 20 }, () => fresh.api(ConfigMap).create({ metadata: { name: "a" } })));
  assertEquals(reads, 1);
});

Deno.test("Client logs each warning of the server once, and no token", async () => {
  const records: LogRecord[] = [];
  await configure({
    sinks: { memory: (record) => void records.push(record) },
    loggers: [{ category: "tend", sinks: ["memory"], lowestLevel: "debug" }, {
      category: ["logtape", "meta"],
      lowestLevel: "error",
    }],
    reset: true,
  });
  try {
    const warned = (...texts: string[]): Answer =>
      json({}, { headers: { warning: texts.map((text) => `299 - "${text}"`).join(", ") } });
    const { client } = scripted([warned('v1beta1 is \\"old\\", use v1', "other"), warned("other"), broken, ok], {
      token: "secret-token",
    });
    for (let round = 0; round < 4; round++) await client.request({ path: "/x" });
    const warnings = records.filter(({ level }) => level === "warning").map(({ properties }) => properties.warning);
    assertEquals(warnings, ['v1beta1 is "old", use v1', "other"]);
    assert(records.every(({ properties: { warning, method } }) => warning === undefined || method === "GET"));
    assert(!Deno.inspect(records, { depth: 10 }).includes("secret-token"));
  } finally {
    await reset();
  }
});

Deno.test("Client follows a redirect within its server, and never one elsewhere", async () => {
  const to = (location: string): Answer => () => new Response(null, { status: 307, headers: { location } });
  const within = scripted([to("/k8s/version/"), ok], { server: "https://api.test/k8s", token: "abc" });
  await within.client.request({ path: "/version" });
  assertEquals(within.sent.map(({ path }) => path), ["/k8s/version", "/k8s/version/"]);
  for (
    const elsewhere of [
      "https://evil.test/k8s/x",
      "http://api.test/k8s/x",
      "https://api.test/other",
      "//evil.test/k8s/x",
    ]
  ) {
    const { client, sent } = scripted([to(elsewhere), ok], { server: "https://api.test/k8s", token: "abc" });
    const error = await assertRejects(() => client.request({ path: "/version" }), ApiError, "which is not followed");
    assertEquals([error.code, sent.length], [307, 1]);
  }
  const write = scripted([to("/k8s/x"), ok], { server: "https://api.test/k8s" });
  await assertRejects(() => write.client.request({ method: "POST", path: "/x", body: {} }), ApiError, "not followed");
  const endless = scripted(to("/x"));
  await assertRejects(() => endless.client.request({ path: "/x" }), ApiError, "not followed");
  assertEquals(endless.sent.length, 6);
});

const event = (type: string, object: unknown): string => JSON.stringify({ type, object }) + "\n";

Deno.test("Api.watch() yields events as they come, and ends with the stream", async () => {
  const { client, sent } = scripted(() =>
    new Response(
      event("ADDED", { metadata: { name: "a" } }) + event("BOOKMARK", { metadata: { resourceVersion: "9" } }),
      { headers: { "content-type": "application/json" } },
    )
  );
  const events = await all(
    client.api(ConfigMap).watch({
      namespace: "ns",
      resourceVersion: "5",
      allowWatchBookmarks: true,
      timeoutSeconds: 300,
      sendInitialEvents: false,
    }),
  );
  assertEquals(events.map(({ type }) => type), ["ADDED", "BOOKMARK"]);
  assertEquals(sent[0]?.path, "/api/v1/namespaces/ns/configmaps");
  assertEquals(sent[0]?.query, {
    watch: "true",
    resourceVersion: "5",
    allowWatchBookmarks: "true",
    timeoutSeconds: "300",
    sendInitialEvents: "false",
  });
});

Deno.test("Api.watch() throws an ApiError for an error in the stream, and a TransportError for a cut event", async () => {
  const gone = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
  const { client } = scripted([
    () => new Response(event("ADDED", { metadata: { name: "a" } }) + event("ERROR", gone)),
    () => new Response(event("ADDED", { metadata: { name: "a" } }) + '{"type":"ADD'),
    () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(event("ADDED", { metadata: { name: "a" } })));
          },
          pull(controller) {
            controller.error(new TypeError("body failed"));
          },
        }),
      ),
    status(410, { reason: "Expired" }),
  ]);
  const api = client.api(ConfigMap);
  const outcomes: unknown[] = [];
  for (let round = 0; round < 4; round++) {
    let events = 0;
    try {
      for await (const _ of api.watch()) events++;
    } catch (error) {
      outcomes.push([
        events,
        (error as Error).name,
        error instanceof ApiError ? error.reason : (error as Error).message.split(": ").slice(1).join(": "),
      ]);
    }
  }
  assertEquals(outcomes, [
    [1, "ApiError", "Expired"],
    [1, "TransportError", "an event is cut short or not valid JSON"],
    [1, "TransportError", "the stream broke: body failed"],
    [0, "ApiError", "Expired"],
  ]);
});

Deno.test("Api.watch() ends with the signal's reason though the source goes on, and leaving it cancels the source", async () => {
  let cancelled = 0;
  const { client } = scripted(() =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(event("ADDED", {}) + event("ADDED", {}))),
        cancel: () => void cancelled++,
      }),
    )
  );
  const stop = counted();
  const work = all(client.with({ signal: stop.signal }).api(ConfigMap).watch());
  const ends = assertRejects(() => work, Error, "enough");
  await new Promise((resolve) => setTimeout(resolve, 0));
  stop.controller.abort(new Error("enough"));
  await ends;
  assertEquals([cancelled, stop.listeners()], [1, 0]);
  for await (const _ of client.api(ConfigMap).watch()) break;
  assertEquals(cancelled, 2);
});

Deno.test("A stream's deadline ends when its answer begins", async () => {
  using time = new FakeTime(0);
  const { client } = scripted([() => new Response(new ReadableStream()), hangs], { timeout: 5000 });
  const { body } = await client.stream({ path: "/x" });
  let ended = false;
  const reading = body!.getReader().read().catch((error) => error).finally(() => ended = true);
  await advance(time, 3_600_000, 600_000);
  assert(!ended);
  const late = assertRejects(() => client.stream({ path: "/x" }), TransportError, "no answer came within 5000 ms");
  await advance(time, 6000);
  await late;
  await client.close();
  assertInstanceOf(await reading, Error);
});

Deno.test("Client refuses options that make no sense", () => {
  assertThrows(
    () => new Client({ retries: -1 }),
    RangeError,
    "'retries' must be a whole number of at least 0: current value is -1",
  );
  assertThrows(() => new Client({ timeout: -1 }), RangeError, "'timeout'");
  assertThrows(() => new Client().with({ timeout: NaN }), RangeError, "'timeout'");
});
