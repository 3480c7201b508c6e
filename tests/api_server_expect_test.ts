import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError } from "../errors.ts";
import { ConfigMap } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { CONFIG_MAPS, send } from "./_api.ts";

Deno.test("ApiServer.expect() says which requests came that were not expected, and which did not come", async () => {
  using _time = new FakeTime("2026-01-01T00:00:00Z");
  await using server = new ApiServer();
  const expectation = server.expect(
    [{ verb: ["list", "watch"], resource: "configmaps" }, { verb: "create", resource: "configmaps", times: 2 }],
    { of: { user: "operator" } },
  );
  const maps = server.client({ user: "operator", name: "tester" }).api(ConfigMap);
  await maps.list();
  await maps.create(ConfigMap.draft({ metadata: { name: "a", namespace: "default" } }));
  await send(server, `DELETE ${CONFIG_MAPS}/a`); // The test's own.
  assertEquals(await maps.find({ name: "a", namespace: "default" }), undefined);
  const { message } = assertThrows(() => expectation[Symbol.dispose](), Error);
  assertEquals(
    message,
    `1 request came that the test did not expect:
  2026-01-01T00:00:00.000Z get configmaps of operator (tester): GET ${CONFIG_MAPS}/a, answered 404
Requests that the test expected did not come:
  verb create, resource configmaps, 2 times: came 1 of 2 times
Expected was:
  verb list or watch, resource configmaps
  verb create, resource configmaps, 2 times`,
  );
  expectation[Symbol.dispose]();
});

Deno.test("ApiServer.expect() is content with what was expected, and looks no longer once disposed", async () => {
  await using server = new ApiServer();
  {
    using _ = server.expect([{ verb: "create", name: "", times: 1 }, { verb: "delete", times: 0 }, { verb: "list" }]);
    await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  }
  await send(server, `DELETE ${CONFIG_MAPS}/a`);
});

Deno.test("ApiServer.expect() refuses what is not expected, if it is asked to, so that it has no effect", async () => {
  await using server = new ApiServer();
  const expectation = server.expect([], { refuse: true, of: { user: "operator" } });
  const maps = server.client({ user: "operator", name: "tester" }).api(ConfigMap);
  const create = () => maps.create(ConfigMap.draft({ metadata: { name: "a", namespace: "default" } }));
  const error = await assertRejects(create, ApiError);
  assertEquals(error.code, 403);
  assertStringIncludes(error.message, "the test did not expect create configmaps of operator (tester): POST");
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/a`)).code, 404);
  assertThrows(() => expectation[Symbol.dispose](), Error, "answered 403");
});

Deno.test("ApiServer.requests says who asked for what, when, and what went wrong", async () => {
  using _time = new FakeTime("2026-01-01T00:00:00Z");
  await using server = new ApiServer();
  server.faults.add({ subresource: "status" }, { code: 503 });
  await send(server, `merge ${CONFIG_MAPS}/a/status?dryRun=All`, { data: {} });
  const [{ time, user, client, verb, resource, subresource, namespace, name, query, body, code, fault }] = server
    .requests as [typeof server.requests[0]];
  assertEquals({ time, user, client, verb, resource, subresource, namespace, name, query, body, code, fault }, {
    ...{ time: Date.parse("2026-01-01T00:00:00Z"), user: "kubernetes-admin", client: "tester", verb: "patch" },
    ...{ resource: "configmaps", subresource: "status", namespace: "default", name: "a" },
    ...{ query: { dryRun: "All" }, body: '{"data":{}}', code: 503, fault: "code 503" },
  });
});

Deno.test("ApiServer keeps the newest requests only, and large bodies not for long", async () => {
  await using few = new ApiServer({ keepRequests: 10 });
  for (let index = 0; index < 2000; index++) await send(few, `GET ${CONFIG_MAPS}/${index}`);
  assertEquals(few.requests.length, 10);
  assertEquals(few.requests.at(-1)?.name, "1999");
  await using none = new ApiServer({ keepRequests: 0 });
  await send(none, `GET ${CONFIG_MAPS}`);
  assertEquals(none.requests, []);
  await using large = new ApiServer({ keepRequests: Infinity });
  const data = { a: "x".repeat(200_000) };
  for (let index = 0; index < 1000; index++) {
    await send(large, `POST ${CONFIG_MAPS}?dryRun=All`, { metadata: {}, data });
  }
  const kept = large.requests.reduce((sum, { body }) => sum + body.length, 0);
  assert(kept <= 2 ** 26, `${kept} characters`);
});

Deno.test("ApiServer takes uids from where it is told to", async () => {
  let count = 0;
  await using server = new ApiServer({ uid: () => `uid-${++count}` });
  const before = count;
  const { body } = await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  assertEquals(body.metadata.uid, `uid-${before + 1}`);
});
