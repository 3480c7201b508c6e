import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { Logger } from "@logtape/logtape";
import { Client } from "../client.ts";
import { ApiError } from "../errors.ts";
import { ConfigMap } from "../kinds.ts";
import type { KubernetesObject } from "../resource.ts";
import { slim, watch, type WatcherEvent, type WatcherOptions } from "../watcher.ts";
import {
  added,
  type Answer,
  bookmark,
  configMap,
  deleted,
  ended,
  errorEvent,
  Feed,
  json,
  later,
  list,
  modified,
  refuse,
  ScriptedServer,
  status,
  stream,
  text,
} from "./_scripted.ts";
import { leap, settle } from "./_time.ts";

const PATH = "/api/v1/configmaps";
const WATCH = `${PATH}?watch`;

type Options = Partial<WatcherOptions<ConfigMap>>;

/** A watcher that runs under fake time until the test is over. */
class Run implements AsyncDisposable {
  readonly time: FakeTime = new FakeTime(0);
  readonly events: WatcherEvent<ConfigMap>[] = [];
  readonly problems: (string | undefined)[] = [];
  readonly logged: { level: string; message: string; properties: Record<string, unknown> }[] = [];
  readonly #stop = new AbortController();
  readonly #client: Client;
  readonly #ended: Promise<void>;

  constructor(readonly server: ScriptedServer, options: Options = {}) {
    const log = Object.fromEntries(
      ["debug", "info", "warn", "error"].map((level) => [
        level,
        (message: string, properties: Record<string, unknown>) => this.logged.push({ level, message, properties }),
      ]),
    ) as unknown as Logger;
    const now = () => Date.now();
    this.#client = new Client({ fetch: server.fetch, now, random: () => 0 });
    const events = watch(this.#client.api(ConfigMap), {
      signal: this.#stop.signal,
      random: () => 0,
      onProblem: (problem) => this.problems.push(problem?.message),
      now,
      log,
      ...options,
    });
    this.#ended = (async () => {
      for await (const event of events) this.events.push(event);
    })();
  }

  /** What came, in short: `restarted a@1 b@2 (10)`, `applied a@3`, `deleted a@4`, `bookmark 50`. */
  get story(): string[] {
    const name = ({ metadata }: ConfigMap) => `${metadata.name}@${metadata.resourceVersion}`;
    return this.events.map((event) =>
      event.type === "restarted"
        ? ["restarted", ...event.objects.map(name), `(${event.resourceVersion})`].join(" ")
        : event.type === "bookmark"
        ? `bookmark ${event.resourceVersion}`
        : `${event.type} ${name(event.object)}`
    );
  }

  advance(ms: number): Promise<void> {
    return leap(this.time, ms);
  }

  settle(): Promise<void> {
    return settle(this.time);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.settle();
    await this.#ended;
    await this.#client.close();
    this.time.restore();
  }
}

/** The resource versions of some requests. */
const versions = (requests: readonly { query: Readonly<Record<string, string>> }[]) =>
  requests.map(({ query }) => query.resourceVersion);

const instants = (requests: readonly { at: number }[]) => requests.map(({ at }) => at);

Deno.test("watch() lists the most recent state in one piece, then watches from its resource version", async () => {
  const feed = new Feed();
  const server = new ScriptedServer()
    .on("GET", "/api/v1/namespaces/shop/configmaps", json(list([configMap("a", 5)], 10)))
    .on("GET", "/api/v1/namespaces/shop/configmaps?watch", feed.answer);
  await using run = new Run(server, {
    namespace: "shop",
    labelSelector: "app=web",
    fieldSelector: "metadata.name!=x",
    random: () => 0.5,
  });
  await run.settle();
  feed.send(added(configMap("b", 11)), modified(configMap("a", 12)), deleted(configMap("b", 13)), bookmark(20));
  await run.settle();

  const selectors = { labelSelector: "app=web", fieldSelector: "metadata.name!=x" };
  assertEquals(server.requests.map(({ query }) => query), [selectors, {
    ...selectors,
    watch: "true",
    resourceVersion: "10",
    allowWatchBookmarks: "true",
    timeoutSeconds: "450",
  }]);
  assertEquals(run.story, ["restarted a@5 (10)", "applied b@11", "applied a@12", "deleted b@13", "bookmark 20"]);
  const [restarted] = run.events;
  assert(restarted?.type === "restarted");
  assertEquals(restarted.objects[0]?.kind, "ConfigMap");
  assertEquals(restarted.objects[0]?.apiVersion, "v1");
});

Deno.test("watch() returns when its signal aborts, whatever it is waiting for, and leaves no request open", async (t) => {
  const feed = new Feed();
  const cases: [string, ScriptedServer][] = [
    ["a list", new ScriptedServer().on("GET", PATH, later(1e6, json(list([], 1))))],
    ["the rest of a list", new ScriptedServer().on("GET", PATH, new Feed().text('{"items":[').answer)],
    ["a watch", new ScriptedServer().on("GET", PATH, json(list([], 1))).on("GET", WATCH, feed.answer)],
    ["the back-off", new ScriptedServer().always("GET", PATH, refuse())],
  ];
  for (const [name, server] of cases) {
    await t.step(name, async () => {
      const run = new Run(server);
      await run.advance(100);
      assert(server.requests.length > 0);
      await run[Symbol.asyncDispose](); // would never return
      assertEquals(run.logged.filter(({ level }) => level === "error"), []);
    });
  }
  assertEquals(feed.open, false);
});

Deno.test("watch() closes its request when the consumer leaves the loop", async () => {
  const feed = new Feed().send(added(configMap("a", 2)));
  const server = new ScriptedServer().on("GET", PATH, json(list([], 1))).on("GET", WATCH, feed.answer);
  await using client = new Client({ fetch: server.fetch });
  for await (const event of watch(client.api(ConfigMap), { signal: new AbortController().signal })) {
    if (event.type === "applied") break;
  }
  assertEquals(feed.open, false);
});

Deno.test("watch() returns at once if its signal has aborted", async () => {
  const server = new ScriptedServer();
  await using client = new Client({ fetch: server.fetch });
  const events = watch(client.api(ConfigMap), { signal: AbortSignal.abort() });
  assertEquals(await events.next(), { done: true, value: undefined });
  assertEquals(server.requests.length, 0);
});

Deno.test("watch() refuses an unknown way to the initial state", async () => {
  await using client = new Client({ fetch: new ScriptedServer().fetch });
  const make = () => watch(client.api(ConfigMap), { signal: AbortSignal.abort(), initial: "magic" as "list" });
  assertThrows(make, TypeError, `current value is "magic"`);
});

Deno.test("B01: a watch that falls silent is cut 30 s after its timeoutSeconds and goes on where it was", async () => {
  const silent = new Feed().send(modified(configMap("a", 101)));
  const next = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([configMap("a", 90)], 100)))
    .on("GET", WATCH, silent.answer, next.answer);
  await using run = new Run(server);
  await run.advance(329_999);
  assertEquals(server.watches.length, 1);
  assertEquals(silent.open, true);
  await run.advance(1);
  assertEquals(silent.open, false);
  next.send(modified(configMap("a", 150)));
  await run.settle();
  assertEquals(versions(server.watches), ["100", "101"]);
  assertEquals(server.watches.map(({ query }) => query.timeoutSeconds), ["300", "300"]);
  assertEquals(run.story, ["restarted a@90 (100)", "applied a@101", "applied a@150"]);
  assertEquals(server.lists.length, 1);
  assertEquals(run.logged.filter(({ level }) => level === "warn").map(({ message }) => message), [
    "A watch fell silent: watching anew",
  ]);
});

Deno.test("B03: bookmarks move the resume point of a quiet watch, which is not listed again", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([configMap("a", 90)], 100)));
  let version = 100;
  server.always("GET", WATCH, (request, signal) => {
    if (Number(request.query.resourceVersion) !== version) return status(410)(request, signal);
    const feed = new Feed();
    for (let minute = 1; minute <= 5; minute++) {
      const at = version + minute * 1000;
      setTimeout(() => feed.send(bookmark(at)), minute * 60_000 - 1);
    }
    version += 5000;
    setTimeout(() => feed.end(), 300_000);
    return feed.answer(request, signal);
  });
  await using run = new Run(server);
  await run.advance(3_599_000);
  assertEquals(server.lists.length, 1);
  assertEquals(versions(server.watches), Array.from({ length: 12 }, (_, watch) => String(100 + watch * 5000)));
  assertEquals(run.events.filter(({ type }) => type !== "bookmark").length, 1);
  await run.advance(2000);
  for (const { type } of run.events.slice(1)) assertEquals(type, "bookmark");
});

Deno.test("B03: a watch without a byte but in order is neither cut before its time nor listed again", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([], 100)));
  server.always("GET", WATCH, (request, signal) => {
    const feed = new Feed();
    setTimeout(() => feed.end(), 300_000);
    return feed.answer(request, signal);
  });
  await using run = new Run(server);
  await run.advance(3_000_000);
  assertEquals(instants(server.watches), Array.from({ length: 11 }, (_, watch) => watch * 300_000));
  assertEquals(server.lists.length, 1);
  assertEquals(run.problems, []);
});

Deno.test("B13: after an hour without an event or bookmark the silence is no longer believed", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([configMap("a", 1100)], 1200)))
    .on("GET", PATH, tooLarge(1200), json(list([configMap("b", 1005)], 1005)));
  server.always("GET", WATCH, (request, signal) => {
    const feed = new Feed();
    setTimeout(() => feed.end(), 300_000);
    return feed.answer(request, signal);
  });
  await using run = new Run(server);
  await run.advance(3_601_000);
  assertEquals(run.story, ["restarted a@1100 (1200)", "restarted b@1005 (1005)"]);
  assertEquals(versions(server.lists), [undefined, "1200", undefined]);
  assertEquals(versions(server.watches).at(-1), "1005");
});

const EXPIRED = { reason: "Expired", message: "too old resource version: 100 (200)" };

for (
  const [shape, answer] of [
    ["an ERROR event", stream(errorEvent(410, EXPIRED))],
    ["an ERROR event and the end", ended(errorEvent(410, EXPIRED))],
    ["an HTTP status", status(410, EXPIRED)],
    ["an HTTP status without a Status", text("gone", 410)],
    ["the reason Gone", ended(errorEvent(410, { reason: "Gone" }))],
    ["the reason Expired without a code", ended(errorEvent(0, { reason: "Expired" }))],
  ] as const
) {
  Deno.test(`B04: 410 as ${shape} leads to exactly one list and a watch from there`, async () => {
    const server = new ScriptedServer()
      .on("GET", PATH, json(list([configMap("a", 90)], 100)), json(list([configMap("b", 150)], 200)))
      .on("GET", WATCH, answer, stream());
    await using run = new Run(server);
    await run.advance(60_000);
    assertEquals(run.story, ["restarted a@90 (100)", "restarted b@150 (200)"]);
    assertEquals(versions(server.watches), ["100", "200"]);
    assertEquals(instants(server.requests), [0, 0, 0, 0], "the first 410 is healed at once");
    assertEquals(server.unexpected, []);
    assertEquals(run.problems, []);
  });
}

Deno.test("B04: a version that is too old after an outage is healed at once, and is no problem", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([], 100)), json(list([configMap("a", 200)], 200)))
    .on("GET", WATCH, status(503), status(503), status(503), ended(errorEvent(410, EXPIRED)), stream());
  await using run = new Run(server);
  // The pauses after each 503; the 410 brings none.
  const outage = 800 + 1600 + 3200;
  await run.advance(outage - 1);
  const problems = [...run.problems];
  await run.advance(1);
  assertEquals(instants(server.requests), [0, 0, 800, 2400, outage, outage, outage]);
  assertEquals(run.story, ["restarted (100)", "restarted a@200 (200)"]);
  assertEquals(run.problems.length, problems.length + 1);
  assertEquals(run.problems.at(-1), undefined);
  assertEquals(server.unexpected, []);
});

Deno.test("B04: a server that answers 410 for ever is asked at a falling rate", async () => {
  const server = new ScriptedServer().always("GET", PATH, json(list([], 100)))
    .always("GET", WATCH, status(410, EXPIRED));
  await using run = new Run(server);
  await run.advance(30_000);
  assertEquals(instants(server.lists), [0, 0, 1600, 4800, 11_200, 24_000]);
  assertEquals(run.problems.length, 1);
});

Deno.test("B04: watches that are closed at once make the back-off grow, and after four of them a new list", async () => {
  const server = new ScriptedServer().always("GET", PATH, json(list([configMap("a", 90)], 100)))
    .always("GET", WATCH, ended());
  await using run = new Run(server);
  await run.advance(10_000);
  assertEquals(instants(server.watches), [0, 800, 2400, 5600]);
  assertEquals(server.lists.length, 1);
  await run.advance(10_000);
  assertEquals(instants(server.lists), [0, 12_000]);
  assertEquals(instants(server.watches), [0, 800, 2400, 5600, 12_000]);
});

Deno.test("B06: 429 in any shape delays the next try as the server asks and keeps the resource version", async () => {
  const busy = { reason: "TooManyRequests", message: "storage is (re)initializing", details: { retryAfterSeconds: 3 } };
  const server = new ScriptedServer().on("GET", PATH, json(list([], 100)))
    .on(
      "GET",
      WATCH,
      status(429, {}, { "retry-after": "2" }),
      status(429, busy),
      ended(errorEvent(429, busy)),
      status(429),
      status(429),
      stream(added(configMap("a", 101))),
    );
  await using run = new Run(server, { random: () => 0.5 });
  await run.advance(120_000);
  assertEquals(versions(server.watches), Array(6).fill("100"));
  const [first, second, third, fourth] = instants(server.watches);
  assert(second! - first! >= 2000 && second! - first! < 3000, `${second! - first!} ms`);
  assert(third! - second! >= 3000 && third! - second! < 4000, `${third! - second!} ms`);
  assert(fourth! - third! >= 3000 && fourth! - third! < 6000, `${fourth! - third!} ms`);
  assertEquals(run.story, ["restarted (100)", "applied a@101"]);
  assertEquals(server.lists.length, 1);
});

Deno.test("B06: a list that answers 429 is retried", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, status(429, {}, { "retry-after": "2" }), json(list([configMap("a", 1)], 2)))
    .on("GET", WATCH, stream());
  await using run = new Run(server);
  await run.advance(5000);
  assertEquals(instants(server.lists), [0, 2000]);
  assertEquals(run.story, ["restarted a@1 (2)"]);
});

Deno.test("B07: while no server answers, tries follow 0.8 s doubling to 30 s, and a healthy spell starts that afresh", async () => {
  const feed = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([], 100)))
    .on("GET", WATCH, feed.answer)
    .always("GET", WATCH, refuse());
  await using run = new Run(server);
  await run.advance(9999);
  feed.fail();
  await run.advance(100_000);
  const gaps = (from: number) =>
    instants(server.watches).slice(from).map((at, index, all) => at - (all[index - 1] ?? at));
  assertEquals(gaps(1).slice(0, 8), [0, 1600, 3200, 6400, 12_800, 25_600, 30_000], "one failure came before");
  assertEquals(server.lists.length, 1);

  const well = new Feed();
  server.on("GET", WATCH, well.answer);
  await run.advance(60_000);
  assertEquals(well.open, true);
  const before = server.watches.length;
  well.fail();
  const failed = run.time.now;
  await run.advance(1000);
  assertEquals(instants(server.watches).slice(before), [failed + 800]);
});

Deno.test("B07: the back-off is jittered by up to as much again", async () => {
  const server = new ScriptedServer().always("GET", PATH, refuse());
  await using run = new Run(server, { random: () => 0.5 });
  await run.advance(6000);
  assertEquals(instants(server.lists), [0, 1200, 3600]);
});

Deno.test("B10: a page that answers 410 makes the list start afresh; no part of it is ever seen", async () => {
  const expired = status(410, { reason: "Expired", metadata: { continue: "inconsistent" } });
  const one = json(list([configMap("a", 1)], 100, "token-1"));
  const server = new ScriptedServer()
    .on("GET", PATH, one, expired)
    .on("GET", PATH, json(list([configMap("b", 1)], 200, "token-2")), json(list([configMap("c", 2)], 200)))
    .on("GET", WATCH, stream());
  await using run = new Run(server, { initial: "pages" });
  await run.advance(5000);
  assertEquals(run.story, ["restarted b@1 c@2 (200)"]);
  assertEquals(server.lists.map(({ query }) => query), [
    { limit: "500" },
    { limit: "500", continue: "token-1" },
    { limit: "500" },
    { limit: "500", continue: "token-2" },
  ]);
  assertEquals(instants(server.lists), [0, 0, 800, 800]);
});

Deno.test("B10: pages that expire again and again give way to one list", async () => {
  const server = new ScriptedServer();
  for (let round = 0; round < 3; round++) {
    server.on("GET", PATH, json(list([configMap("a", 1)], 100, "token")), status(410, EXPIRED));
  }
  server.on("GET", PATH, json(list([configMap("z", 1)], 300))).on("GET", WATCH, stream());
  await using run = new Run(server, { initial: "pages" });
  await run.advance(20_000);
  assertEquals(run.story, ["restarted z@1 (300)"]);
  assertEquals(server.lists.at(-1)?.query, {});
  assertEquals(server.lists.length, 7);
});

Deno.test("B12: a new list must not be older than what was seen", async () => {
  const lagging: Answer = (
    request,
    signal,
  ) =>
    (request.query.resourceVersion === "205" && request.query.resourceVersionMatch === "NotOlderThan"
      ? json(list([configMap("b", 190)], 210))
      : json(list([configMap("a", 140), configMap("b", 140)], 150)))(request, signal);
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("b", 190)], 200)), lagging)
    .on("GET", WATCH, ended(modified(configMap("b", 205)), errorEvent(410, EXPIRED)), stream());
  await using run = new Run(server);
  await run.advance(10_000);
  assertEquals(run.story, ["restarted b@190 (200)", "applied b@205", "restarted b@190 (210)"]);
});

Deno.test("B12: pages name no version, as the most recent state is their first page", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([], 200)), json(list([], 300)))
    .on("GET", WATCH, ended(errorEvent(410, EXPIRED)), stream());
  await using run = new Run(server, { initial: "pages" });
  await run.advance(10_000);
  assertEquals(server.lists.map(({ query }) => query), [{ limit: "500" }, { limit: "500" }]);
  assertEquals(run.story.length, 2);
});

/** What a real API server answers to a version of the future. */
function tooLarge(version: number) {
  return status(504, {
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${version}, current: 1005`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  }, { "retry-after": "1" });
}

for (const [name, answer] of [["504", tooLarge(1200)], ["410", status(410, EXPIRED)]] as const) {
  Deno.test(`B13: when a list that must not be older answers ${name}, the most recent state is asked for at once and counts`, async () => {
    const server = new ScriptedServer()
      .on("GET", PATH, json(list([configMap("a", 1100)], 1200)), answer, json(list([configMap("b", 1003)], 1005)))
      .on("GET", WATCH, ended(errorEvent(410, EXPIRED)), stream(modified(configMap("b", 1006))));
    await using run = new Run(server);
    await run.advance(10_000);
    assertEquals(run.story, ["restarted a@1100 (1200)", "restarted b@1003 (1005)", "applied b@1006"]);
    assertEquals(versions(server.lists), [undefined, "1200", undefined]);
    assertEquals(instants(server.lists), [0, 0, 0]);
    assertEquals(versions(server.watches), ["1200", "1005"]);
  });
}

Deno.test("B13: a watch that answers that its version is too large leads to the most recent state", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([], 1200)), json(list([configMap("b", 1003)], 1005)))
    .on("GET", WATCH, tooLarge(1200), stream());
  await using run = new Run(server);
  await run.advance(10_000);
  assertEquals(versions(server.lists), [undefined, undefined]);
  assertEquals(versions(server.watches), ["1200", "1005"]);
});

Deno.test("B14: an event is read the same wherever its bytes are cut", async () => {
  const bytes = new TextEncoder().encode(
    `${JSON.stringify(modified(configMap("a", 100, { labels: { text: "é€𝄞" } })))}\n`,
  );
  const feed = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10))).on("GET", WATCH, feed.answer);
  await using run = new Run(server);
  await run.settle();
  for (let cut = 0; cut <= bytes.length; cut++) {
    feed.bytes(bytes.slice(0, cut));
    await run.time.runMicrotasks();
    feed.bytes(bytes.slice(cut));
  }
  await run.settle();
  const event = { type: "applied", object: configMap("a", 100, { labels: { text: "é€𝄞" } }) } as WatcherEvent<
    ConfigMap
  >;
  assertEquals(run.events.slice(1), Array(bytes.length + 1).fill(event));
});

Deno.test("B14: an invalid byte does not end the watch", async () => {
  const [head, tail] = JSON.stringify(modified(configMap("a", 11, { annotations: { text: "<>" } }))).split("<>");
  const feed = new Feed().text(head!).bytes(new Uint8Array([0xff, 0xc3])).text(`${tail}\n`);
  feed.send(modified(configMap("b", 12)));
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10))).on("GET", WATCH, feed.answer);
  await using run = new Run(server);
  await run.settle();
  assertEquals(run.story, ["restarted (10)", "applied a@11", "applied b@12"]);
  assertEquals(feed.open, true);
});

Deno.test("watch() skips a line that it cannot read, logs no word of it, and lists anew when the watch has ended", async () => {
  const feed = new Feed(), after = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10)), json(list([configMap("b", 12)], 20)))
    .on("GET", WATCH, feed.answer, after.answer);
  await using run = new Run(server);
  await run.settle();
  feed.text('{"type":"ADDED","object":{"data":{"password":"hunter2"}\n');
  feed.text('{"type":"ADDED","object":{"metadata":{},"data":{"password":"hunter2"}}}\n');
  feed.text('{"type":"PAINTED","object":{"data":{"password":"hunter2"}}}\n');
  feed.text('{"type":"BOOKMARK","object":{"metadata":{},"data":{"password":"hunter2"}}}\n');
  feed.text("null\n\n \n");
  feed.send(added(configMap("b", 12)));
  await run.settle();
  assertEquals(run.story, ["restarted (10)", "applied b@12"]);
  assertEquals(run.logged.filter(({ level }) => level === "warn").length, 5);
  assertEquals(Deno.inspect(run.logged, { depth: 9 }).includes("hunter2"), false);
  await run.advance(300_000);
  assertEquals(server.lists.length, 1);
  feed.end();
  await run.settle();
  assertEquals(run.story.at(-1), "restarted b@12 (20)");
  assertEquals(versions(server.watches), ["10", "20"]);
  await run.advance(20_000);
  server.on("GET", WATCH, stream());
  after.end();
  await run.settle();
  assertEquals(versions(server.watches), ["10", "20", "20"], "once is enough");
});

Deno.test("watch() logs and reports no word of a list that it cannot read", async () => {
  const garbled = new TextEncoder().encode(
    '{"metadata":{"resourceVersion":"1"},"items":[{"data":{"password":"hunter2"x}}]}',
  );
  const server = new ScriptedServer().always("GET", PATH, (...call) => new Feed().bytes(garbled).end().answer(...call));
  await using run = new Run(server);
  await run.advance(5000);
  assertEquals(run.problems, [
    "Cannot list configmaps (v1 ConfigMap) in all namespaces: Cannot read the list of configmaps: it must be whole and valid JSON",
  ]);
  assert(run.logged.length > 3);
  assertEquals(Deno.inspect(run.logged, { depth: 9 }).includes("hunter2"), false);
});

Deno.test("watch() takes a line that the end of the stream cut for what it is, and asks for it again", async () => {
  const feed = new Feed();
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10)))
    .on("GET", WATCH, feed.answer, stream(added(configMap("a", 11))));
  await using run = new Run(server);
  await run.advance(20_000);
  feed.text('{"type":"ADDED","obj').end();
  await run.advance(1000);
  assertEquals(run.story, ["restarted (10)", "applied a@11"]);
  assertEquals(run.logged.filter(({ level }) => level === "warn"), []);
  assertEquals(server.lists.length, 1);
});

Deno.test("B17: a kind that is not served is reported once by name, asked for at a falling rate, and found when it comes", async () => {
  let served = false;
  const server = new ScriptedServer()
    .always(
      "GET",
      PATH,
      (...call) => (served ? json(list([configMap("a", 5)], 10)) : text("404 page not found\n", 404))(...call),
    )
    .always("GET", WATCH, stream());
  await using run = new Run(server);
  await run.advance(60_000);
  assertEquals(instants(server.lists), [0, 800, 2400, 5600, 12_000, 24_800, 50_400]);
  assertEquals(run.problems, [
    "Cannot list configmaps (v1 ConfigMap) in all namespaces: the server answered 404: it does not serve this kind; " +
    "is its CustomResourceDefinition installed?",
  ]);
  assertEquals(run.logged.filter(({ level }) => level === "warn").length, 1);
  served = true;
  await run.advance(30_000);
  assertEquals(run.story, ["restarted a@5 (10)"]);
  assertEquals(run.problems.at(-1), undefined);
  assertEquals(run.problems.length, 2);
});

Deno.test("B17: when a kind is removed and comes back, its new history is taken as it is", async () => {
  const feed = new Feed().send(deleted(configMap("a", 110)));
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("a", 90)], 100)))
    .on("GET", WATCH, feed.answer, text("404 page not found\n", 404))
    .on("GET", PATH, text("404 page not found\n", 404), json(list([configMap("b", 7)], 8)))
    .on("GET", WATCH, stream());
  await using run = new Run(server);
  await run.advance(20_000);
  feed.end();
  await run.advance(10_000);
  assertEquals(run.story, ["restarted a@90 (100)", "deleted a@110", "restarted b@7 (8)"]);
  assertEquals(versions(server.lists), [undefined, undefined, undefined]);
});

Deno.test("B56: a list that is allowed and a watch that is not do not become a loop of lists", async () => {
  const forbidden = status(403, {
    reason: "Forbidden",
    message: 'configmaps is forbidden: User "system:serviceaccount:ops:tend" cannot watch resource "configmaps"',
  });
  let allowed = false;
  const server = new ScriptedServer()
    .always("GET", "/api/v1/namespaces/shop/configmaps", json(list([configMap("a", 5)], 10)))
    .always("GET", "/api/v1/namespaces/shop/configmaps?watch", (...call) => (allowed ? stream() : forbidden)(...call));
  await using run = new Run(server, { namespace: "shop" });
  await run.settle();
  assertEquals(run.problems, [
    'Cannot watch configmaps (v1 ConfigMap) in namespace "shop": the server answered 403: configmaps is forbidden: ' +
    'User "system:serviceaccount:ops:tend" cannot watch resource "configmaps"; ' +
    "are the roles that the operator's command 'rbac' prints applied?",
  ]);
  await run.advance(60_000);
  assertEquals(server.lists.length, 1);
  assertEquals(instants(server.watches), [0, 800, 2400, 5600, 12_000, 24_800, 50_400]);
  assertEquals(run.problems.length, 1);
  allowed = true;
  await run.advance(30_000);
  assertEquals(run.problems.length, 2);
  assertEquals(run.problems[1], undefined);
  assertEquals(versions(server.watches), Array(8).fill("10"));
});

Deno.test("watch() reports another problem as such, and what usually passes only when it has not", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, refuse(), refuse(), status(500, { message: "etcd" }), status(403, { message: "no" }))
    .on("GET", PATH, json(list([], 1)))
    .on("GET", WATCH, stream());
  await using run = new Run(server);
  await run.advance(2399);
  assertEquals(run.problems, []);
  await run.advance(30_000);
  assertEquals(run.problems, [
    "Cannot list configmaps (v1 ConfigMap) in all namespaces: the server answered 500: etcd",
    "Cannot list configmaps (v1 ConfigMap) in all namespaces: the server answered 403: no; " +
    "are the roles that the operator's command 'rbac' prints applied?",
    undefined,
  ]);
});

Deno.test("watch() does not take a watch that is accepted and lost at once, over and over, for a cure", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10)));
  server.always("GET", WATCH, (request, signal) => ended(added(configMap("a", 11)))(request, signal));
  await using run = new Run(server);
  await run.advance(60_000);
  assertEquals(run.problems, [
    "Cannot watch configmaps (v1 ConfigMap) in all namespaces: the server ended the watch at once",
  ]);
  server.on("GET", WATCH, stream());
  await run.advance(60_000);
  assertEquals(run.problems.length, 2);
  assertEquals(run.problems[1], undefined);
});

Deno.test("watch() survives a listener for problems that throws", async () => {
  const server = new ScriptedServer().on("GET", PATH, status(403), json(list([], 1))).on("GET", WATCH, stream());
  await using run = new Run(server, {
    onProblem: () => {
      throw new Error("boom");
    },
  });
  await run.advance(2000);
  assertEquals(run.story, ["restarted (1)"]);
});

Deno.test("watch() goes on from the same version after an ERROR event that is not 410, but not for ever", async () => {
  const broken = ended(errorEvent(500, { reason: "InternalError", message: "etcd lost its leader" }));
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([], 100)), json(list([], 300)))
    .on(
      "GET",
      WATCH,
      broken,
      ended(added(configMap("a", 101)), errorEvent(500)),
      broken,
      broken,
      broken,
      broken,
      stream(),
    );
  await using run = new Run(server);
  await run.advance(120_000);
  assertEquals(versions(server.watches), ["100", "100", "101", "101", "101", "101", "300"]);
  assertEquals(server.lists.length, 2);
});

Deno.test("watch() with a streaming list begins with what is there and goes on in the same stream", async () => {
  const feed = new Feed().send(added(configMap("a", 5)), added(configMap("b", 6)), modified(configMap("a", 7)));
  const server = new ScriptedServer().on("GET", WATCH, feed.answer);
  await using run = new Run(server, { initial: "stream" });
  await run.advance(1000);
  assertEquals(run.story, [], "not before all is there");
  feed.send(
    deleted(configMap("b", 8)),
    bookmark(9),
    bookmark(10, { initialEventsEnd: true }),
    added(configMap("c", 11)),
  );
  await run.advance(200_000);
  assertEquals(run.story, ["restarted a@7 (10)", "applied c@11"]);
  assertEquals(server.requests.map(({ query }) => query), [{
    watch: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
    timeoutSeconds: "300",
  }]);
  server.on("GET", WATCH, stream());
  feed.end();
  await run.settle();
  assertEquals(server.watches[1]?.query.sendInitialEvents, undefined);
  assertEquals(versions(server.watches), [undefined, "11"]);
});

for (
  const [why, answer, again] of [
    ["refused as invalid", status(422, { message: "sendInitialEvents is forbidden" }), "list"],
    ["refused as a bad request", status(400), "list"],
    ["refused, the right to watch missing", status(403), "stream"],
    ["ended before the initial events were", ended(added(configMap("x", 1))), "stream"],
    ["answered by a server that never ends the initial events", stream(added(configMap("x", 1))), "stream"],
  ] as const
) {
  Deno.test(`watch() lists instead when the streaming list is ${why}`, async () => {
    const lost = new Feed();
    const server = new ScriptedServer().on("GET", WATCH, answer, lost.answer)
      .on("GET", PATH, json(list([configMap("a", 5)], 10)));
    await using run = new Run(server, { initial: "stream" });
    await run.advance(31_000);
    assertEquals(run.story, ["restarted a@5 (10)"]);
    assertEquals(versions(server.watches), [undefined, "10"]);
    // the next time
    server.on("GET", PATH, json(list([], 20)))
      .on("GET", WATCH, again === "list" ? stream() : stream(bookmark(20, { initialEventsEnd: true })));
    lost.send(errorEvent(410));
    await run.advance(2000);
    assertEquals(run.story.at(-1), "restarted (20)");
    assertEquals(server.lists.length, again === "list" ? 2 : 1);
    assertEquals(server.watches[2]?.query.sendInitialEvents, again === "list" ? undefined : "true");
  });
}

Deno.test("watch() does not try another way when the server is busy or does not serve the kind", async () => {
  const server = new ScriptedServer().on("GET", WATCH, status(404), status(503), status(429), refuse());
  server.on("GET", WATCH, stream(bookmark(7, { initialEventsEnd: true })));
  await using run = new Run(server, { initial: "stream" });
  await run.advance(30_000);
  assertEquals(run.story, ["restarted (7)"]);
  assertEquals(server.lists.length, 0);
});

for (
  const [why, answer] of [
    ["too large for the server", status(413)],
    ["given up by a gateway", text("gateway timeout", 504)],
    ["cut in its middle", new Feed().text('{"kind":"ConfigMapList","items":[{"metadata":{"name":"x"}}').end().answer],
    ["reset in its middle", (...call) => {
      const feed = new Feed().text('{"kind":"ConfigMapList","items":[');
      setTimeout(() => feed.fail(), 100);
      return feed.answer(...call);
    }],
    ["never begun", later(60_000, json({}))],
    ["silent in its middle", new Feed().text('{"kind":"ConfigMapList","items":[').answer],
  ] as [string, Answer][]
) {
  Deno.test(`watch() lists by pages instead when the list is ${why}`, async () => {
    const server = new ScriptedServer().on("GET", PATH, answer, json(list([configMap("a", 5)], 10)))
      .on("GET", WATCH, stream());
    await using run = new Run(server);
    await run.advance(31_000);
    assertEquals(server.lists.map(({ query }) => query), [{}, { limit: "500" }]);
    assertEquals(run.story, ["restarted a@5 (10)"]);
  });
}

Deno.test("watch() gives a list time as long as something arrives", async () => {
  const feed = new Feed().text('{"kind":"ConfigMapList","metadata":{"resourceVersion":"10"},"items":[');
  const server = new ScriptedServer().on("GET", PATH, feed.answer).on("GET", WATCH, stream());
  await using run = new Run(server);
  for (let piece = 0; piece < 5; piece++) {
    await run.advance(29_000);
    feed.text(`${piece === 0 ? "" : ","}{"metadata":{"name":"a${piece}","resourceVersion":"1"}}`);
  }
  feed.text("]}").end();
  await run.settle();
  assertEquals(run.story, ["restarted a0@1 a1@1 a2@1 a3@1 a4@1 (10)"]);
  assertEquals(server.lists.length, 1);
});

Deno.test("watch() follows the tokens of a server that pages on its own", async () => {
  const server = new ScriptedServer()
    .on("GET", PATH, json(list([configMap("a", 1)], 100, "token")), json(list([configMap("b", 2)], 100)))
    .on("GET", WATCH, stream());
  await using run = new Run(server);
  await run.settle();
  assertEquals(run.story, ["restarted a@1 b@2 (100)"]);
  assertEquals(server.lists.map(({ query }) => query), [{}, { continue: "token" }]);
});

Deno.test("watch() with metadataOnly asks for metadata alone, keeps metadata alone, and puts the kind back", async () => {
  const partial = (name: string, version: number): KubernetesObject => ({
    ...configMap(name, version),
    apiVersion: "meta.k8s.io/v1",
    kind: "PartialObjectMetadata",
  });
  const server = new ScriptedServer()
    .on(
      "GET",
      PATH,
      json({ kind: "PartialObjectMetadataList", metadata: { resourceVersion: "10" }, items: [partial("a", 5)] }),
    )
    .on("GET", WATCH, stream(added(partial("b", 11)), added(configMap("c", 12, { data: { big: "data" } }))));
  await using run = new Run(server, { metadataOnly: true });
  await run.settle();
  assertEquals(server.requests.map(({ headers }) => headers.get("accept")), [
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  ]);
  assertEquals(run.events, [
    { type: "restarted", objects: [configMap("a", 5)], resourceVersion: "10" },
    { type: "applied", object: configMap("b", 11) },
    { type: "applied", object: configMap("c", 12) },
  ] as WatcherEvent<ConfigMap>[]);
});

Deno.test("B66: watch() leaves managedFields and the last-applied annotation out, unless a transform does otherwise", async () => {
  const full = configMap("a", 5, {
    managedFields: [{ manager: "kubectl" }],
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", keep: "me" },
  });
  const answers = (server: ScriptedServer) =>
    server.on("GET", PATH, json(list([full], 10))).on("GET", WATCH, stream(modified({ ...full })));
  {
    await using run = new Run(answers(new ScriptedServer()));
    await run.settle();
    const slimmed = configMap("a", 5, { annotations: { keep: "me" } });
    assertEquals(run.events, [
      { type: "restarted", objects: [slimmed], resourceVersion: "10" },
      { type: "applied", object: slimmed },
    ] as WatcherEvent<ConfigMap>[]);
  }
  await using run = new Run(answers(new ScriptedServer()), { transform: (object) => object });
  await run.settle();
  assertEquals(run.events[1], { type: "applied", object: full } as WatcherEvent<ConfigMap>);
});

Deno.test("slim() leaves the object as it is, and is the object if there is nothing to leave out", () => {
  const full = configMap("a", 5, { managedFields: [], annotations: { keep: "me" } });
  const copy = structuredClone(full);
  assertEquals(slim(full), configMap("a", 5, { annotations: { keep: "me" } }));
  assertEquals(full, copy);
  const plain = configMap("b", 6);
  assert(slim(plain) === plain);
});

Deno.test("watch() transforms each object while the list is still arriving", async () => {
  const feed = new Feed().text('{"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"name":"a"}},');
  const server = new ScriptedServer().on("GET", PATH, feed.answer).on("GET", WATCH, stream());
  const seen: string[] = [];
  await using run = new Run(server, {
    transform: (object) => {
      seen.push(object.metadata.name);
      return object;
    },
  });
  await run.settle();
  assertEquals(seen, ["a"]);
  feed.text("]}").end();
  await run.settle();
});

Deno.test("watch() keeps an object whole that the transform throws on, and logs its name alone", async () => {
  const server = new ScriptedServer().on("GET", PATH, json(list([], 10)))
    .on("GET", WATCH, stream(added(configMap("a", 11, { managedFields: [], data: { k: "secret" } }))));
  await using run = new Run(server, {
    transform: () => {
      throw new Error("boom");
    },
  });
  await run.settle();
  assertEquals(run.events[1], {
    type: "applied",
    object: configMap("a", 11, { data: { k: "secret" } }),
  } as WatcherEvent<ConfigMap>);
  const [logged] = run.logged.filter(({ level }) => level === "error");
  assertStringIncludes(logged!.message, "Cannot transform");
  assertEquals(logged!.properties.name, "a");
  assertEquals(Deno.inspect(logged, { depth: 9 }).includes("secret"), false);
});

Deno.test("B07: after an outage each watch is open once, and watches do not retry in step", async () => {
  const time = new FakeTime(0);
  const server = new ScriptedServer();
  let up = true;
  const feeds = new Set<Feed>();
  server.always("GET", PATH, (...call) => (up ? json(list([], 10)) : refuse())(...call));
  server.always("GET", WATCH, (...call) => {
    if (!up) return refuse()(...call);
    const feed = new Feed();
    feeds.add(feed);
    return feed.answer(...call);
  });
  const client = new Client({ fetch: server.fetch, now: () => Date.now() });
  const stop = new AbortController();
  const runs = Array.from({ length: 5 }, async (_, index) => {
    let seed = index + 1;
    const random = () => (seed = seed * 16_807 % 2_147_483_647) / 2_147_483_647;
    for await (const _ of watch(client.api(ConfigMap), { signal: stop.signal, now: () => Date.now(), random }));
  });
  await leap(time, 20_000);
  for (let cycle = 0; cycle < 50; cycle++) {
    up = false;
    for (const feed of feeds) if (feed.open) feed.fail();
    const before = server.requests.length;
    await leap(time, 10_000);
    const tries = server.requests.slice(before);
    assert(tries.length >= 10 && tries.length <= 20, `${tries.length} tries in 10 s by 5 watches`);
    assert(new Set(instants(tries)).size > 5, "they are spread");
    up = true;
    await leap(time, 30_000);
    assertEquals([...feeds].filter(({ open }) => open).length, 5);
  }
  stop.abort();
  await settle(time);
  await Promise.all(runs);
  assertEquals([...feeds].filter(({ open }) => open).length, 0);
  await client.close();
  time.restore();
});

Deno.test("watch() reports an error that carries the server's answer", async () => {
  const time = new FakeTime(0);
  const server = new ScriptedServer().always("GET", PATH, status(403, { reason: "Forbidden", message: "no" }));
  const client = new Client({ fetch: server.fetch, now: () => Date.now() });
  const stop = new AbortController();
  const problems: (Error | undefined)[] = [];
  const events = watch(client.api(ConfigMap), {
    signal: stop.signal,
    onProblem: (problem) => problems.push(problem),
    now: () => Date.now(),
  });
  const next = events.next();
  await settle(time);
  assert(problems[0]?.cause instanceof ApiError);
  assertMatch(problems[0].message, /^Cannot list configmaps \(v1 ConfigMap\) in all namespaces: /);
  stop.abort();
  await next;
  await client.close();
  time.restore();
});
