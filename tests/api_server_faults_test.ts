import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiServer } from "../testing/mod.ts";
import { CONFIG_MAPS, send, Watching } from "./_api.ts";

Deno.test("ApiServer answers with a fault as often as it is asked to", async () => {
  await using server = new ApiServer();
  server.faults.add({ verb: "list", resource: "configmaps", times: 1 }, { code: 429, retryAfter: 7 });
  const refused = await send(server, `GET ${CONFIG_MAPS}`);
  assertEquals([refused.code, refused.headers.get("retry-after")], [429, "7"]);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`)).code, 200);
});

Deno.test("ApiServer breaks the connection before or after a write took effect", async () => {
  await using server = new ApiServer();
  for (const reset of ["before", "after"] as const) {
    server.faults.add({ verb: "create", times: 1 }, { reset });
    await assertRejects(() => send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: reset } }), TypeError);
  }
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/before`)).code, 404);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/after`)).code, 200);
});

Deno.test("ApiServer delays an answer, and a fault ends with its time", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  server.faults.add({ verb: "list", for: 1000 }, { delay: 500 });
  let code = 0;
  const asked = send(server, `GET ${CONFIG_MAPS}`).then((answer) => code = answer.code);
  await time.tickAsync(499);
  assertEquals(code, 0);
  await time.tickAsync(1);
  await asked;
  assertEquals(code, 200);
  await time.tickAsync(500);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`)).code, 200);
});

Deno.test("ApiServer stalls a watch until the client gives up", async () => {
  await using server = new ApiServer();
  using _ = server.faults.add({ verb: "watch" }, { stall: true });
  {
    await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`);
    await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
    const silent = await Promise.race([watching.next(), Promise.resolve("silent")]);
    assertEquals(silent, "silent");
  }
});

Deno.test("ApiServer breaks a watch after a time", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  server.faults.add({ verb: "watch", times: 1 }, { breakAfter: 100 });
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`);
  const next = watching.next();
  const rejected = assertRejects(() => next, TypeError);
  await time.tickAsync(100);
  await rejected;
});
