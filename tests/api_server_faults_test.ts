import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ApiError, TransportError } from "../errors.ts";
import { ConfigMap, Secret } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { CONFIG_MAPS, send, Watching } from "./_api.ts";
import { advance } from "./_time.ts";

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

Deno.test("ApiServer refuses faults, matches and options that make no sense, and says the rule and the value", async () => {
  await using server = new ApiServer();
  const { faults } = server;
  const wrong = (value: unknown): never => value as never;
  const cases: readonly [() => unknown, string][] = [
    [() => faults.add(wrong({ verbs: "list" }), { code: 500 }), "current member is verbs"],
    [() => faults.add(wrong({ verb: 1 }), { code: 500 }), "'verb' must be a string or an array of strings"],
    [() => faults.add({}, wrong({ cod: 500 })), "current member is cod"],
    [() => faults.add({}, { code: 200 }), "'code' must be an integer from 400 to 599: current value is 200"],
    [() => faults.add({}, { delay: -1 }), "'delay' must be a number from 0 on: current value is -1"],
    [() => faults.add({}, wrong({ reset: "later" })), "'reset' has a value that it cannot have: \"later\""],
    [() => faults.add({ times: NaN }, { code: 500 }), "'times' must be a number from 0 on: current value is NaN"],
    [() => faults.lag({}, { ms: -5 }), "'ms' must be a number from 0 on: current value is -5"],
    [() => faults.partition(wrong({ times: 1 })), "current member is times"],
    [() => faults.skew = NaN, "'skew': it must be a finite number of ms: current value is NaN"],
    [() => server.expect([{ times: 0.5 }]), "'times' must be an integer from 0 on: current value is 0.5"],
    [() => server.expect([wrong({ path: "/" })]), "current member is path"],
    [() => new ApiServer({ history: 0 }), "'history' must be a positive integer: current value is 0"],
    [() => new ApiServer({ controllers: wrong(["gc"]) }), "'controllers' must be an array of garbage-collector"],
    [() => new ApiServer({ controllerDelay: 2 ** 31 }), "'controllerDelay' must be a number of ms from 0 on"],
    [() => new ApiServer({ keepRequests: -1 }), "'keepRequests' must be an integer from 0 on, or Infinity"],
    [() => new ApiServer({ users: wrong({ secret: {} }) }), "'users' must be an object of users with a name"],
    [() => new ApiServer({ now: wrong(0) }), "'now' must be a function: current value is 0"],
    [() => new ApiServer(wrong({ clock: 0 })), "the options are now, random"],
  ];
  for (const [work, message] of cases) assertStringIncludes(assertThrows(work, Error).message, message);
  await assertRejects(() => server.listen({ port: 70_000 }), RangeError, "'port' must be an integer from 0 to 65535");
  await assertRejects(() => server.restart({ for: -1 }), RangeError, "'for' must be a number of ms from 0 on");
});

Deno.test("A fault meets the client, user, verb and resource that it is for, and no other", async () => {
  await using server = new ApiServer();
  const one = server.client({ name: "one", retries: 0 }), other = server.client({ name: "other", retries: 0 });
  using _ = server.faults.add({ client: "one", verb: ["get", "list"], resource: "configmaps" }, { code: 503 });
  await assertRejects(() => one.api(ConfigMap).list(), ApiError);
  assertEquals((await other.api(ConfigMap).list()).items, []);
  assertEquals((await one.api(Secret).list()).items, []);
  assertEquals(server.requests[0]?.fault, "code 503");
  server.faults.add({ client: "kubectl", times: 1 }, { code: 500 });
  assertEquals(
    (await send(server, `GET ${CONFIG_MAPS}`, undefined, { "user-agent": "kubectl/v1.32.0 (linux)" })).code,
    500,
  );
});

Deno.test("An answer is late, and what was asked for took effect long since", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  server.faults.add({ verb: "create", times: 1 }, { answerDelay: 1000 });
  let code = 0;
  const asked = send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } }).then((answer) => code = answer.code);
  await time.tickAsync(999);
  assertEquals([(await send(server, `GET ${CONFIG_MAPS}/a`)).code, code], [200, 0]);
  await time.tickAsync(1);
  await asked;
  assertEquals(code, 201);
});

Deno.test("A watch ends in the middle of a line, and an answer in its middle", async () => {
  await using server = new ApiServer();
  for (const name of ["a", "b", "c"]) await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name } });
  server.faults.add({ verb: "watch", times: 1 }, { truncate: 2 });
  const text = await (await server.fetch(new Request(`http://k${CONFIG_MAPS}?watch=1&resourceVersion=0`))).text();
  const lines = text.split("\n");
  assertEquals(lines.slice(0, 2).map((line) => JSON.parse(line).object.metadata.name), ["a", "b"]);
  assertEquals(lines.length, 3);
  assertThrows(() => JSON.parse(lines[2]!), SyntaxError);
  assertEquals(server.faults.breakWatches(), 0, "nothing is left open");
  server.faults.add({ verb: "list", times: 1 }, { truncate: 0 });
  await assertRejects(() => send(server, `GET ${CONFIG_MAPS}`), SyntaxError);
});

Deno.test("Bookmarks come twice, or not at all", async () => {
  await using server = new ApiServer();
  const path = `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1`;
  for (const [bookmarks, expected] of [["duplicate", ["BOOKMARK", "BOOKMARK"]], ["drop", ["ADDED"]]] as const) {
    server.faults.add({ verb: "watch", times: 1 }, { bookmarks });
    await using watching = await Watching.start(server, path);
    if (bookmarks === "drop") await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
    const events = await watching.take(expected.length);
    assertEquals(events.map(({ type }) => type), [...expected]);
  }
});

Deno.test("A watch gets an error in its stream, as the real 410 comes", async () => {
  await using server = new ApiServer();
  server.faults.add({ verb: "watch", times: 1 }, { code: 410, inStream: true });
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`);
  const { type, object } = await watching.next();
  assertEquals([type, object.code, object.reason, await watching.next()], ["ERROR", 410, "Expired", undefined]);
});

/** Names in a list, and its version. */
async function listed(server: ApiServer, query = ""): Promise<[string[], string]> {
  const { body } = await send(server, `GET ${CONFIG_MAPS}${query}`);
  return [
    body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    body.metadata.resourceVersion,
  ];
}

Deno.test("A replica that stands still answers from an older state, until it is released", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  const before = server.resourceVersion;
  const lag = server.faults.lag({ verb: ["get", "list", "watch"] });
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "b" } });
  await send(server, `DELETE ${CONFIG_MAPS}/a`);
  const newest = server.resourceVersion;
  assertEquals(await listed(server, "?resourceVersion=0"), [["a"], before]);
  assertEquals(await listed(server, `?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`), [["a"], before]);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/a?resourceVersion=0`)).code, 200);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/b?resourceVersion=0`)).code, 404);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}/b`)).code, 200, "without a version it is the newest state");
  // Only after 3 s is it clear that the replica does not get there.
  const consistent = listed(server), late = send(server, `GET ${CONFIG_MAPS}?resourceVersion=${newest}`);
  await time.tickAsync(2999);
  assertEquals(await Promise.race([consistent, late, time.delay(0).then(() => "waiting")]), "waiting");
  await time.tickAsync(1);
  assertEquals(await consistent, [["b"], newest]);
  const { code, body, headers } = await late;
  assertEquals([code, body.message, headers.get("retry-after")], [
    504,
    `Timeout: Too large resource version: ${newest}, current: ${before}`,
    "1",
  ]);
  await using old = await Watching.start(server, `${CONFIG_MAPS}?watch=1&resourceVersion=0`);
  await using ahead = await Watching.start(server, `${CONFIG_MAPS}?watch=1&resourceVersion=${newest}`);
  assertEquals((await old.next()).object.metadata.name, "a");
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "c" } });
  const events = old.take(3), next = ahead.next();
  assertEquals(await Promise.race([events, next, time.delay(0).then(() => "silent")]), "silent");
  lag[Symbol.dispose]();
  assertEquals((await events).map(({ type, object }) => `${type} ${object.metadata.name}`), [
    "ADDED b",
    "DELETED a",
    "ADDED c",
  ]);
  assertEquals((await next).object.metadata.name, "c", "a watch from a later version waits for what comes after it");
  assertEquals((await listed(server, "?resourceVersion=0"))[0], ["b", "c"]);
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "d" } });
  assertEquals((await old.next()).object.metadata.name, "d", "what was watched through it goes on");
});

Deno.test("A replica is some ms or some versions behind", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  {
    using _ = server.faults.lag({}, { ms: 100 });
    await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1`);
    await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
    const next = watching.next();
    await time.tickAsync(99);
    assertEquals((await listed(server, "?resourceVersion=0"))[0], []);
    // A read of a version that the replica is about to reach waits for it.
    const waiting = listed(server, `?resourceVersion=${server.resourceVersion}`);
    await time.tickAsync(1);
    assertEquals((await next).object.metadata.name, "a");
    assertEquals((await waiting)[0], ["a"]);
  }
  {
    using _ = server.faults.lag({}, { versions: 1 });
    assertEquals((await listed(server, "?resourceVersion=0"))[0], [], "it is behind from the start");
    await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "b" } });
    assertEquals((await listed(server, "?resourceVersion=0"))[0], ["a"]);
  }
  assertEquals((await listed(server, "?resourceVersion=0"))[0], ["a", "b"]);
});

Deno.test("A restart breaks connections, refuses new ones while it lasts, and makes earlier versions too old to watch from", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  const before = server.resourceVersion;
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "b" } });
  const newest = server.resourceVersion;
  await using watching = await Watching.start(server, `${CONFIG_MAPS}?watch=1&resourceVersion=${newest}`);
  server.faults.add({ verb: "get", times: 1 }, { delay: 5000 });
  const underWay = assertRejects(() => send(server, `GET ${CONFIG_MAPS}/a`), TypeError, "reset");
  const broken = assertRejects(() => watching.next(), TypeError, "reset");
  await time.runMicrotasks();
  const up = server.restart({ for: 1000 });
  await Promise.all([underWay, broken]);
  await assertRejects(() => send(server, `GET ${CONFIG_MAPS}`), TypeError, "refused");
  await time.tickAsync(1000);
  await up;
  assertEquals(await listed(server), [["a", "b"], newest], "what is stored stays");
  await using old = await Watching.start(server, `${CONFIG_MAPS}?watch=1&resourceVersion=${before}`);
  const { object } = await old.next();
  assertEquals([object.code, object.message], [410, `too old resource version: ${before} (${newest})`]);
  assertEquals(
    (await listed(server, `?resourceVersion=${before}&resourceVersionMatch=Exact`))[0],
    ["a"],
    "etcd has it",
  );
  await using fresh = await Watching.start(server, `${CONFIG_MAPS}?watch=1&resourceVersion=${newest}`);
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "c" } });
  assertEquals((await fresh.next()).object.metadata.name, "c");
});

Deno.test("A client that is cut off hears nothing; what it sent arrives afterwards, if it still waits", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  const cut = server.client({ name: "cut", retries: 0, timeout: 10_000, now: () => Date.now() });
  const free = server.client({ name: "free" });
  const watching = await cut.stream({ path: `${CONFIG_MAPS}?watch=1` });
  const reader = watching.body!.pipeThrough(new TextDecoderStream()).getReader();
  const partition = server.faults.partition({ client: "cut" });
  const create = cut.api(ConfigMap).create(ConfigMap.draft({ metadata: { name: "cut", namespace: "default" } }));
  await free.api(ConfigMap).create(ConfigMap.draft({ metadata: { name: "free", namespace: "default" } }));
  const next = reader.read();
  assertEquals(await Promise.race([create, next, time.delay(0).then(() => "silent")]), "silent");
  assertEquals((await listed(server))[0], ["free"]);
  partition[Symbol.dispose]();
  assertStringIncludes((await next).value!, '"name":"free"');
  assertEquals((await create).metadata.name, "cut");
  {
    using _ = server.faults.partition({ client: "cut" }, { lost: "answers" });
    const late = assertRejects(
      () => cut.api(ConfigMap).create(ConfigMap.draft({ metadata: { name: "lost", namespace: "default" } })),
      TransportError,
    );
    await advance(time, 10_000);
    await late;
    assertEquals((await free.api(ConfigMap).get({ name: "lost", namespace: "default" })).metadata.name, "lost");
  }
  {
    using _ = server.faults.partition({ client: "cut", for: 1000 }, { lost: "refused" });
    await assertRejects(() => cut.api(ConfigMap).list(), TransportError);
    await time.tickAsync(1000);
    assertEquals((await cut.api(ConfigMap).list()).items.length, 3);
  }
  await reader.cancel();
});

Deno.test("The server's clock is ahead of the test's by what is asked for", async () => {
  using _time = new FakeTime("2026-01-01T00:00:00Z");
  await using server = new ApiServer();
  server.faults.skew = -60_000;
  const { body } = await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a" } });
  assertEquals(body.metadata.creationTimestamp, "2025-12-31T23:59:00Z");
  assertEquals(server.requests[0]?.time, Date.parse("2026-01-01T00:00:00Z"));
  server.faults.clear();
  assertEquals(server.faults.skew, 0);
});

Deno.test("Over HTTP a connection really breaks: before a write, after it, in a watch, and all of them at a restart", async () => {
  await using server = new ApiServer();
  const { url } = await server.listen();
  const answering = {
    fetch: (request: Request) => fetch(new Request(request.url.replace("http://kubernetes", url), request)),
  };
  for (const reset of ["before", "after"] as const) {
    server.faults.add({ verb: "create", times: 1 }, { reset });
    await assertRejects(() => send(answering, `POST ${CONFIG_MAPS}`, { metadata: { name: reset } }), TypeError);
  }
  assertEquals((await send(answering, `GET ${CONFIG_MAPS}/before`)).code, 404);
  assertEquals((await send(answering, `GET ${CONFIG_MAPS}/after`)).code, 200);
  server.faults.add({ verb: "watch", times: 1 }, { breakAfter: 20 });
  for (const breaks of [() => {}, () => server.faults.breakWatches(), () => server.restart()]) {
    await using watching = await Watching.start(answering, `${CONFIG_MAPS}?watch=1`);
    assertEquals((await watching.next()).type, "ADDED");
    await breaks();
    await assertRejects(() => watching.next(), TypeError);
  }
  server.faults.add({ verb: "watch", times: 1 }, { truncate: 0 });
  const cut = await fetch(`${url}${CONFIG_MAPS}?watch=1`).then((response) => response.text());
  assertEquals([cut.length > 0, cut.endsWith("\n")], [true, false]);
  const up = server.restart({ for: 30 });
  await assertRejects(() => fetch(url), TypeError);
  await up;
  assertEquals((await send(answering, `GET ${CONFIG_MAPS}/after`)).code, 200);
});
