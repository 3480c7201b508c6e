import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import fc from "fast-check";
import { eventName } from "../_event_draft.ts";
import { MAX_SERIES } from "../_event_series.ts";
import { Client } from "../client.ts";
import { LeadershipLostError } from "../errors.ts";
import { cutText, type EventDescription, EventRecorder, type EventRecorderOptions } from "../events.ts";
import type { Event } from "../kinds.ts";
import { isDnsSubdomain } from "../names.ts";
import type { KubernetesObject } from "../resource.ts";
import { status } from "./_lease_world.ts";
import { microtasks, play } from "./_play.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

interface Sent {
  at: number;
  method: string;
  path: string;
  body: Event;
}

/** A server that takes events as events.k8s.io/v1 does, and a recorder that sends to it. */
class Stage implements AsyncDisposable {
  readonly time = new FakeTime(Date.UTC(2026, 0, 1));
  readonly sent: Sent[] = [];
  readonly events = new Map<string, Event>();
  fault: (request: Sent) => Response | Promise<Response> | undefined = () => undefined;
  dropped = 0;
  readonly recorder: EventRecorder;

  constructor(options: Partial<EventRecorderOptions> & { guard?: () => void } = {}) {
    const { guard, ...rest } = options;
    const now = (): number => Date.now();
    const client = new Client({
      server: "http://events.test",
      namespace: "operators",
      retries: 0,
      now,
      fetch: async (request) => {
        const { method, url } = request;
        const body = JSON.parse(await request.text()) as Event;
        const sent = { at: Date.now() - this.time.start, method, path: new URL(url).pathname, body };
        this.sent.push(sent);
        return await this.fault(sent) ?? this.#answer(sent);
      },
    });
    this.recorder = new EventRecorder(guard ? client.with({ guard }) : client, {
      controller: "example.com/backup-operator",
      instance: "pod-1",
      now,
      random: () => 0,
      onDropped: () => this.dropped++,
      ...rest,
    });
  }

  #answer({ method, path, body }: Sent): Response {
    if (method === "PATCH") {
      const old = this.events.get(path);
      if (!old) return status(404, "NotFound");
      if ((body.series?.count ?? 0) < 2) return status(422, "Invalid");
      this.events.set(path, { ...old, ...body });
      return Response.json(this.events.get(path));
    }
    const where = `${path}/${body.metadata.name}`;
    const wrong = problemOf(body, path);
    if (wrong) return status(422, "Invalid", wrong);
    if (this.events.has(where)) return status(409, "AlreadyExists");
    this.events.set(where, body);
    return Response.json(body, { status: 201 });
  }

  record(regarding: KubernetesObject, event: Partial<EventDescription> = {}): void {
    this.recorder.record(regarding, { type: "Normal", reason: "Done", note: "all is well", ...event });
  }

  /** Resolves when so many requests were sent, without any time passing. */
  async reached(count: number): Promise<void> {
    for (let round = 0; round < 500 && this.sent.length < count; round++) await microtasks();
    assertEquals(this.sent.length, count);
  }

  /** What was sent, in short. */
  get log(): [number, string, number | undefined][] {
    return this.sent.map(({ at, method, body }) => [at, method, body.series?.count]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.recorder[Symbol.asyncDispose]();
    await play(this.time, 10_000);
    await closed;
    this.time.restore();
  }
}

/** What a real server would say is wrong with an event that is created. */
function problemOf(event: Event, path: string): string | undefined {
  const namespace = path.split("/")[5];
  for (const field of ["reason", "action", "reportingInstance"] as const) {
    const value = event[field] ?? "";
    if (value === "" || bytes(value) > 128) return field;
  }
  if (!isDnsSubdomain(event.metadata.name)) return "name";
  if (bytes(event.note ?? "") > 1024) return "note";
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/.test(event.eventTime)) return "eventTime";
  if (event.type !== "Normal" && event.type !== "Warning") return "type";
  if (event.series && (event.series.count < 2 || !event.series.lastObservedTime)) return "series";
  if (!event.regarding?.namespace && namespace !== "default" && namespace !== "kube-system") return "namespace";
  return undefined;
}

function object(name: string, namespace?: string, kind = "Backup"): KubernetesObject {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { apiVersion: "example.com/v1", kind, metadata: namespace ? { ...metadata, namespace } : metadata };
}

Deno.test("EventRecorder.record() creates an event with all that describes it", async () => {
  await using stage = new Stage();
  stage.record(object("web", "shop"), {
    type: "Warning",
    action: "Copying",
    related: object("other", "shop", "Volume"),
  });
  await microtasks();
  assertEquals(stage.sent.length, 1);
  const [{ path, body }] = stage.sent as [Sent];
  assertEquals(path, "/apis/events.k8s.io/v1/namespaces/shop/events");
  assertMatch(body.metadata.name, /^web\.[0-9a-f]+$/);
  assertEquals({ ...body, metadata: { ...body.metadata, name: "" } }, {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "", namespace: "shop" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    type: "Warning",
    reason: "Done",
    action: "Copying",
    note: "all is well",
    reportingController: "example.com/backup-operator",
    reportingInstance: "pod-1",
    regarding: {
      apiVersion: "example.com/v1",
      kind: "Backup",
      namespace: "shop",
      name: "web",
      uid: "uid-web",
      resourceVersion: "7",
    },
    related: {
      apiVersion: "example.com/v1",
      kind: "Volume",
      namespace: "shop",
      name: "other",
      uid: "uid-other",
      resourceVersion: "7",
    },
  } as unknown as Event);
});

Deno.test("cutText() cuts between characters, with a marker (B43)", () => {
  const table: [string, number, string | undefined, string][] = [
    ["", 10, undefined, ""],
    ["short", 10, undefined, "short"],
    ["exactly10!", 10, undefined, "exactly10!"],
    ["elevenbytes", 10, undefined, "elevenb…"],
    ["日本語日本語", 12, undefined, "日本語…"],
    ["日本語日本語", 11, undefined, "日本…"],
    ["ab😀cd", 6, "", "ab😀"],
    ["ab😀cd", 5, "", "ab"],
    ["abcdef", 2, undefined, "ab"],
    ["abcdef", 3, undefined, "…"],
    ["abcdef", 0, undefined, ""],
    ["😀", 3, "", ""],
    ["a\ud83d", 10, undefined, "a\ufffd"],
  ];
  for (const [text, limit, marker, expected] of table) {
    assertEquals(cutText(text, limit, marker), expected, `${text} ${limit}`);
  }
});

Deno.test("cutText() keeps the longest start that fits, whatever the text (B43)", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat({ max: 100 }), (text, limit) => {
    const cut = cutText(text, limit);
    assert(bytes(cut) <= limit);
    assertFalse(cut.includes("\ufffd") && !text.includes("\ufffd"));
    if (bytes(text) <= limit) return assertEquals(cut, text);
    const head = limit >= 3 ? cut.slice(0, -1) : cut;
    assert(text.startsWith(head));
    assert(bytes(head) > limit - (limit >= 3 ? 3 : 0) - 4, "no more than a character's bytes are left unused");
  }));
});

for (const size of [0, 1023, 1024, 1025, 20_000]) {
  Deno.test(`EventRecorder cuts a note of ${size} bytes to what the server takes (B43)`, async () => {
    await using stage = new Stage();
    stage.record(object("web", "shop"), { note: "x".repeat(size) });
    stage.record(object("api", "shop"), { note: "語".repeat(Math.ceil(size / 3)) });
    stage.record(object("db", "shop"), { note: "x".repeat(Math.max(0, size - 3)) + "😀" });
    await microtasks();
    assertEquals([stage.events.size, stage.dropped], [3, 0]);
    assertEquals(stage.sent[0]!.body.note!.endsWith("…"), size > 1024);
    assertEquals(stage.sent[0]!.body.note!.length, size > 1024 ? 1022 : size);
  });
}

Deno.test("EventRecorder makes good whatever words it is given (B43)", async () => {
  await using stage = new Stage({ instance: "i".repeat(300) });
  const odd: Partial<EventDescription>[] = [
    { reason: "r".repeat(200) },
    { reason: "" },
    { reason: "  " },
    { action: "" },
    { action: "ä".repeat(65) },
    { reason: undefined as never, note: undefined as never },
    { type: "Strange" as never },
    { note: "half \ud83d of a pair" },
  ];
  odd.forEach((event, index) => stage.record(object(`o${index}`, "shop"), event));
  await play(stage.time, 2_000);
  assertEquals([stage.events.size, stage.dropped], [odd.length, 0]);
  const { reason, action } = stage.sent[1]!.body;
  assertEquals([reason, action], ["Unspecified", "Unspecified"]);
});

Deno.test("EventRecorder makes valid names of any object's, and puts cluster-scoped objects' events in default (B45)", async () => {
  await using stage = new Stage();
  const names = [
    "system::x",
    "x".repeat(253),
    `${"x".repeat(230)}.${"-".repeat(10)}y`,
    "system:controller:a.b",
    "A.B",
    ":",
    "web",
  ];
  for (const name of names) stage.record(object(name, undefined, "ClusterRole"));
  await play(stage.time, 1_000);
  assertEquals([stage.events.size, stage.dropped], [names.length, 0]);
  for (const { path, body } of stage.sent) {
    assertEquals(path, "/apis/events.k8s.io/v1/namespaces/default/events");
    assert(isDnsSubdomain(body.metadata.name), body.metadata.name);
  }
  assertEquals(stage.sent[0]!.body.regarding?.name, "system::x");
});

Deno.test("eventName() is a DNS subdomain for any name (B45)", () => {
  const name = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: fc.constantFrom("a", "-", ".", ":", "Z"), maxLength: 300 }),
  );
  fc.assert(fc.property(name, (name) => isDnsSubdomain(eventName(name, "18f2a3b4c5d00010000ffff"))));
});

Deno.test("EventRecorder makes two events of two in one millisecond (B45)", async () => {
  await using stage = new Stage();
  stage.record(object("web", "shop"), { reason: "One" });
  stage.record(object("web", "shop"), { reason: "Two" });
  await microtasks();
  assertEquals(stage.events.size, 2);
  assertEquals(stage.sent.map(({ body }) => body.eventTime), [
    "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:00.000001Z",
  ]);
});

Deno.test("EventRecorder turns repetitions into a series: the first at once, later ones ever more seldom", async () => {
  await using stage = new Stage();
  for (let second = 0; second < 100; second++) {
    stage.record(object("web", "shop"));
    await play(stage.time, 1_000);
  }
  assertEquals(stage.log, [
    [0, "POST", undefined],
    [1_000, "PATCH", 2],
    [11_000, "PATCH", 11],
    [31_000, "PATCH", 31],
    [71_000, "PATCH", 71],
  ]);
  assertEquals(
    stage.sent[2]!.path,
    `/apis/events.k8s.io/v1/namespaces/shop/events/${stage.sent[0]!.body.metadata.name}`,
  );
  await play(stage.time, 200_000);
  assertEquals(stage.log.slice(5), [[151_000, "PATCH", 100]]);
  assertEquals(stage.sent[5]!.body as unknown, {
    series: { count: 100, lastObservedTime: "2026-01-01T00:01:39.000099Z" },
  });
});

Deno.test("EventRecorder sends few requests for a hot loop", async () => {
  await using stage = new Stage();
  for (let count = 0; count < 10_000; count++) stage.record(object("web", "shop"));
  await play(stage.time, 60_000);
  assertEquals(stage.log, [[0, "POST", undefined], [0, "PATCH", 10_000]]);
});

Deno.test("EventRecorder begins another event when the last was seen more than 6 minutes ago", async () => {
  await using stage = new Stage();
  stage.record(object("web", "shop"));
  await play(stage.time, 360_000);
  stage.record(object("web", "shop"));
  await play(stage.time, 360_001);
  stage.record(object("web", "shop"));
  await play(stage.time, 1_000);
  assertEquals(stage.log.map(([, method, count]) => [method, count]), [["POST", undefined], ["PATCH", 2], [
    "POST",
    undefined,
  ]]);
  assertEquals(stage.events.size, 2);
});

Deno.test("EventRecorder keeps apart what differs in object, uid, type, reason, action, note or related object", async () => {
  await using stage = new Stage();
  const web = object("web", "shop");
  stage.record(web);
  stage.record({ ...web, metadata: { ...web.metadata, uid: "another" } });
  stage.record(object("web", "market"));
  stage.record(web, { type: "Warning" });
  stage.record(web, { reason: "Other" });
  stage.record(web, { action: "Other" });
  stage.record(web, { note: "other" });
  stage.record(web, { related: object("api", "shop") });
  await play(stage.time, 1_000);
  assertEquals(stage.log.map(([, method]) => method), Array(8).fill("POST"));
  stage.record({ ...web, metadata: { ...web.metadata, resourceVersion: "8" } });
  await play(stage.time, 1_000);
  assertEquals(stage.log.slice(8), [[1_000, "PATCH", 2]], "another version is the same object");
});

Deno.test("EventRecorder combines events that differ only in ever new notes", async () => {
  await using stage = new Stage();
  for (let count = 0; count < 1000; count++) {
    stage.record(object("web", "shop"), { note: count ? `note ${count}` : "" });
  }
  await play(stage.time, 1_000);
  assertEquals(stage.events.size, 11);
  const combined = [...stage.events.values()].at(-1)!;
  assertEquals([combined.note, combined.series?.count], ["(combined from similar events) note 10", 990]);
  assertEquals(stage.dropped, 0);
});

Deno.test("EventRecorder creates a series anew when it is gone", async () => {
  await using stage = new Stage();
  stage.record(object("web", "shop"));
  await play(stage.time, 1_000);
  stage.events.clear();
  stage.record(object("web", "shop"));
  await play(stage.time, 1_000);
  assertEquals(stage.log, [[0, "POST", undefined], [1_000, "PATCH", 2], [1_000, "POST", 2]]);
  assertEquals([stage.events.size, stage.dropped], [1, 0]);
});

for (
  const [code, reason] of [[400, "BadRequest"], [403, "Forbidden"], [404, "NotFound"], [409, "Conflict"], [
    422,
    "Invalid",
  ]] as const
) {
  Deno.test(`EventRecorder drops an event that the server answers with ${code}, and counts it (B43)`, async () => {
    await using stage = new Stage();
    stage.fault = () => status(code, reason);
    stage.record(object("web", "shop"));
    await play(stage.time, 1_000);
    assertEquals([stage.sent.length, stage.dropped], [1, 1]);
    for (let count = 0; count < 100; count++) stage.record(object("web", "shop"));
    await play(stage.time, 300);
    assertEquals(stage.sent.length, 1, "it is not tried for each repetition");
    stage.fault = () => undefined;
    await play(stage.time, 10_000);
    assertEquals(stage.log.slice(1), [[10_000, "POST", 101]]);
  });
}

Deno.test("EventRecorder tries again a few times when the server fails (B43)", async () => {
  await using stage = new Stage();
  let failures = 2;
  stage.fault = () => failures-- > 0 ? status(500, "InternalError") : undefined;
  stage.record(object("web", "shop"));
  await play(stage.time, 10_000);
  assertEquals(stage.log.map(([at]) => at), [0, 1_000, 3_000]);
  assertEquals([stage.events.size, stage.dropped], [1, 0]);
  failures = Infinity;
  stage.record(object("api", "shop"));
  await play(stage.time, 60_000);
  assertEquals([stage.sent.length, stage.dropped], [6, 1]);
});

Deno.test("EventRecorder gives up a request that hangs (B43)", async () => {
  await using stage = new Stage();
  stage.fault = () => new Promise<Response>(() => {});
  stage.record(object("web", "shop"));
  await play(stage.time, 60_000);
  assertEquals(stage.log.map(([at]) => at), [0, 11_000, 23_000]);
  assertEquals(stage.dropped, 1);
});

Deno.test("EventRecorder takes an event that exists for its own earlier try", async () => {
  await using stage = new Stage();
  let lost = true;
  stage.fault = ({ path, body }) => {
    if (!lost) return undefined;
    lost = false;
    stage.events.set(`${path}/${body.metadata.name}`, body); // it took effect, but the answer is lost
    return Promise.reject(new TypeError("connection reset"));
  };
  stage.record(object("web", "shop"));
  await play(stage.time, 5_000);
  stage.record(object("web", "shop"));
  await play(stage.time, 5_000);
  assertEquals(stage.log, [[0, "POST", undefined], [1_000, "POST", undefined], [5_000, "PATCH", 2]]);
  assertEquals([stage.events.size, stage.dropped], [1, 0]);
});

Deno.test("EventRecorder takes a namespace that is being deleted for no failure (B43)", async () => {
  await using stage = new Stage();
  const details = { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] };
  stage.fault = () => status(403, "Forbidden", "it is being terminated", details);
  stage.record(object("web", "shop"));
  await play(stage.time, 60_000);
  assertEquals([stage.sent.length, stage.dropped], [1, 0]);
});

Deno.test("EventRecorder drops what a lost leadership does not let it send", async () => {
  await using stage = new Stage({
    guard: () => {
      throw new LeadershipLostError("gone");
    },
  });
  stage.record(object("web", "shop"));
  await play(stage.time, 30_000);
  assertEquals([stage.sent.length, stage.dropped], [0, 1]);
});

Deno.test("EventRecorder.record() never throws, whatever it is given (B43)", async () => {
  await using stage = new Stage({
    onDropped: () => {
      throw new Error("oops");
    },
  });
  for (const strange of [undefined, null, {}, { metadata: null }, { metadata: {} }, 17]) {
    stage.recorder.record(strange as never, { type: "Normal", reason: "Done", note: "" });
    stage.recorder.record(object("web"), strange as never);
  }
  const circular = object("x") as unknown as Record<string, unknown>;
  circular.apiVersion = circular;
  stage.recorder.record(circular as never, { type: "Normal", reason: "Done", note: "" });
  await play(stage.time, 1_000);
});

Deno.test("EventRecorder bounds what waits and what it remembers, and counts what it drops", async () => {
  await using stage = new Stage();
  stage.fault = () => new Promise<Response>(() => {});
  for (let count = 0; count < 5_000; count++) stage.record(object(`o${count}`, "shop"));
  assertEquals(stage.dropped, 5_000 - 1_000 - 4);
  await microtasks();
  assertEquals(stage.sent.length, 4, "at most four are sent at a time");
  stage.fault = () => undefined;
  await play(stage.time, 15_000);
  await stage.recorder.flush();
  assertEquals(stage.events.size, 1_004);
});

Deno.test("EventRecorder forgets the series unseen longest when there are too many, and tells its count first", async () => {
  await using stage = new Stage();
  for (const name of ["first", "second", "second", "second", "first"]) {
    stage.record(object(name, "shop"));
    await microtasks();
  }
  assertEquals(stage.log.map(([, method, count]) => [method, count]), [
    ["POST", undefined],
    ["POST", undefined],
    ["PATCH", 2],
    ["PATCH", 2],
  ]);
  for (let count = 1; count < MAX_SERIES; count++) {
    stage.record(object(`o${count}`, "shop"));
    if (count % 500 === 499) await stage.reached(4 + count);
  }
  await stage.reached(4 + MAX_SERIES);
  assertEquals([...stage.events.values()].slice(0, 2).map(({ series }) => series?.count), [2, 3]);
  stage.record(object("first", "shop"));
  stage.record(object("second", "shop"));
  await stage.recorder.flush();
  assertEquals(stage.log.slice(4 + MAX_SERIES), [[0, "POST", undefined], [0, "PATCH", 3]]);
  assertEquals(stage.dropped, 0);
});

Deno.test("EventRecorder.flush() sends at once what waits, and what comes meanwhile", async () => {
  await using stage = new Stage();
  await stage.recorder.flush();
  for (let count = 0; count < 5; count++) {
    stage.record(object("web", "shop"));
    await microtasks();
  }
  assertEquals(stage.log, [[0, "POST", undefined], [0, "PATCH", 2]]);
  let once = true;
  stage.fault = () => {
    if (once) stage.record(object("web", "shop"));
    once = false;
    return undefined;
  };
  await stage.recorder.flush();
  assertEquals(stage.log.slice(2), [[0, "PATCH", 5], [0, "PATCH", 6]]);
});

Deno.test("EventRecorder.flush() ends when its signal aborts", async () => {
  await using stage = new Stage();
  stage.fault = () => new Promise<Response>(() => {});
  stage.record(object("web", "shop"));
  const stop = new AbortController();
  const flushed = stage.recorder.flush(stop.signal).then(() => "done", (reason) => reason);
  await microtasks();
  stop.abort("enough");
  assertEquals(await flushed, "enough");
});

Deno.test("EventRecorder sends what waits when it is disposed, within 5 s, and then takes no more", async () => {
  await using stage = new Stage();
  for (let count = 0; count < 5; count++) {
    stage.record(object("web", "shop"));
    await microtasks();
  }
  const closed = stage.recorder[Symbol.asyncDispose]();
  stage.record(object("late", "shop"));
  await microtasks();
  await closed;
  assertEquals(stage.log, [[0, "POST", undefined], [0, "PATCH", 2], [0, "PATCH", 5]]);
  assertEquals(stage.dropped, 1);
});

Deno.test("EventRecorder does not wait for a server that hangs when it is disposed", async () => {
  await using stage = new Stage();
  stage.fault = () => new Promise<Response>(() => {});
  for (let count = 0; count < 50; count++) stage.record(object(`o${count}`, "shop"));
  let closed = 0;
  const closing = stage.recorder[Symbol.asyncDispose]().then(() => closed = Date.now() - stage.time.start);
  await play(stage.time, 8_000);
  await closing;
  assertEquals([closed, stage.dropped], [5_000, 50]);
});

Deno.test("EventRecorder refuses options that cannot work", () => {
  const client = new Client({ server: "http://events.test" });
  const make = (options: EventRecorderOptions) => () => new EventRecorder(client, options);
  for (const controller of ["", "not valid", "a/b/c", "x".repeat(64), "-a", undefined as never]) {
    const error = assertThrows(make({ controller }), TypeError, "'controller' must be a qualified name");
    assertStringIncludes(error.message, "current value is");
  }
  assertThrows(make({ controller: "a", seriesWindow: -1 }), RangeError, "seriesWindow");
});
