import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { lines, readList } from "../_stream.ts";
import { Window } from "../_window.ts";
import { MAX_ANSWER, MAX_ERROR_BODY, MAX_OBJECT } from "../_limits.ts";
import { clone, equal, merge } from "../json.ts";
import { ConfigMap } from "../kinds.ts";
import { jsonLine, textLine } from "../logging.ts";
import { ApiError, Client, isNamespaceTerminating, Operator, TransportError } from "../mod.ts";
import { planRetry } from "../retry.ts";
import { VirtualTime } from "../testing/simulation/_virtual_time.ts";
import { watch, type WatcherEvent } from "../watcher.ts";
import { Thing, things } from "./_operator.ts";

const JSON_TYPE = { "content-type": "application/json" };
const encoder = new TextEncoder();

/** A body that goes on for ever, and how many bytes of it were asked for. */
function endless(piece: string, start = ""): { body: ReadableStream<Uint8Array>; read: () => number } {
  const chunk = encoder.encode(piece.repeat(Math.ceil(65_536 / piece.length)));
  let read = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = read === 0 && start !== "" ? encoder.encode(start) : chunk;
      read += next.length;
      controller.enqueue(next);
    },
  }, { highWaterMark: 0 });
  return { body, read: () => read };
}

function answering(answer: (request: Request) => Response | Promise<Response>): Client {
  return new Client({ fetch: (request) => Promise.resolve(answer(request)), token: "the-token" });
}

// -- Gigabytes --------------------------------------------------------------------------------------------------------

Deno.test("An answer that never ends is left after 64 MiB, and not asked for again", async () => {
  for (const start of ["", '{"items":["']) {
    const source = endless("x", start);
    let asked = 0;
    await using client = answering(() => (asked++, new Response(source.body, { headers: JSON_TYPE })));
    const error = await assertRejects(() => client.request({ path: "/x" }), TransportError);
    assertEquals(error.message, "Cannot GET /x: the request failed: the answer must have at most 64 MiB: it has more");
    assertEquals(asked, 1);
    assert(source.read() <= MAX_ANSWER + 200_000, `${source.read()} bytes were read`);
  }
});

Deno.test("Of an error that never ends the start is read", async () => {
  const source = endless("no ");
  await using client = answering(() => new Response(source.body, { status: 500 }));
  const error = await assertRejects(() => client.request({ path: "/x" }), ApiError, "500: no no no");
  assert(source.read() <= MAX_ERROR_BODY + 200_000, `${source.read()} bytes were read`);
  assert(error.message.length < 1000);
});

Deno.test("A list or a watch whose object never ends is left after 16 MiB", async () => {
  const list = endless("x", '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},{"a":"');
  await assertRejects(
    () => readList(new Window(list.body), () => {}),
    RangeError,
    "one object must have at most 16 MiB",
  );
  assert(list.read() <= MAX_OBJECT + 200_000, `${list.read()} bytes were read`);
  const around = endless('"a":[1],', "{");
  await assertRejects(
    () => readList(new Window(around.body), () => {}),
    RangeError,
    "one object must have at most 16 MiB",
  );
  const stream = endless("x", '{"type":"ADDED","object":{}}\n{"type":"');
  await assertRejects(() => Array.fromAsync(lines(stream.body)), RangeError, "one object must have at most 16 MiB");
  assert(stream.read() <= MAX_OBJECT + 200_000, `${stream.read()} bytes were read`);
  const api = endless("x");
  await using client = answering(() => new Response(api.body, { headers: JSON_TYPE }));
  await assertRejects(
    () => Array.fromAsync(client.api(ConfigMap).watch()),
    TransportError,
    "the stream was left: one object must have at most 16 MiB",
  );
});

Deno.test("Lines and lists of any length pass as long as each object is within its limit", async () => {
  const line = `${JSON.stringify({ a: "x".repeat(90) })}\n`;
  assertEquals((await Array.fromAsync(lines(new Blob([line.repeat(100)]).stream(), 200))).length, 100);
  const list = `{"items":[${Array.from({ length: 100 }, () => line.trim()).join(",")}]}`;
  const chunks = ReadableStream.from(list.match(/.{1,50}/g)!.map((part) => encoder.encode(part)));
  let items = 0;
  await readList(new Window(chunks, 200), () => items++);
  assertEquals(items, 100);
});

Deno.test("A hundred thousand objects are listed and watched, whatever they are called", async () => {
  const count = 100_000;
  const stop = new AbortController();
  await using client = answering(({ url }) => {
    if (url.includes("watch=true")) return new Response(new ReadableStream({}), { headers: JSON_TYPE });
    const items = Array.from(
      { length: count },
      (_, n) => `{"metadata":{"name":"n${n}","uid":"${n}","resourceVersion":"1"}}`,
    );
    return new Response(`{"metadata":{"resourceVersion":"1"},"items":[${items.join(",")}]}`, { headers: JSON_TYPE });
  });
  for await (const event of watch(client.api(ConfigMap), { signal: stop.signal })) {
    assert(event.type === "restarted");
    assertEquals(event.objects.length, count);
    stop.abort();
  }
});

// -- What is no answer ------------------------------------------------------------------------------------------------

/** Answers that are none, and what is said of them. */
const NONSENSE: Record<string, [answer: () => Response, said: RegExp]> = {
  "a web page": [
    () => new Response("<html><title>Sign in</title></html>", { headers: { "content-type": "text/html" } }),
    /must be JSON: .*"text\/html": a web page, not an API server's answer: Sign in$/,
  ],
  "no content type": [() => new Response(encoder.encode("{}")), /must be JSON: current value is of type "" with 2 /],
  "a content type of megabytes": [
    () => new Response("{}", { headers: { "content-type": `text/${"x".repeat(1_000_000)}` } }),
    /must be JSON: current value is of type "text\/x{290,}\.\.\."/,
  ],
  "truncated JSON": [() => new Response('{"kind":"A', { headers: JSON_TYPE }), /not valid JSON at position 10$/],
  "a byte order mark and rubbish": [() => new Response("\ufeff\0", { headers: JSON_TYPE }), /not valid JSON/],
  "a redirect to another host": [
    () => new Response(null, { status: 302, headers: { location: "https://evil.example/?a" } }),
    /a redirect to https:\/\/evil\.example, which is not followed$/,
  ],
  "a redirect to no URL": [
    () => new Response(null, { status: 307, headers: { location: "http://[" } }),
    /a redirect to something that is no URL, which is not followed$/,
  ],
  "a redirect in a circle": [
    () => new Response(null, { status: 301, headers: { location: "/x" } }),
    /a redirect to http:\/\/localhost, which is not followed$/,
  ],
  "a redirect without a place": [() => new Response(null, { status: 308 }), /answered 308/],
  "a Status of other types": [
    () =>
      Response.json({ kind: "Status", code: "x", message: { a: 1 }, reason: [1], details: [2], metadata: 3 }, {
        status: 500,
      }),
    /the server answered 500: no message$/,
  ],
  "a Status with details of other types": [
    () =>
      Response.json({ kind: "Status", details: { causes: { some: 1 }, retryAfterSeconds: "soon", kind: 1 } }, {
        status: 403,
      }),
    /the server answered 403/,
  ],
  "a Status that is very long": [
    () => Response.json({ kind: "Status", message: "m".repeat(200_000) }, { status: 400 }),
    /the server answered 400: m{4096}\.\.\.$/,
  ],
  "a page with a million titles": [
    () => new Response("<title".repeat(40_000), { status: 502, headers: { "content-type": "text/html" } }),
    /a web page, not an API server's answer$/,
  ],
};

for (const [name, [answer, said]] of Object.entries(NONSENSE)) {
  Deno.test(`For ${name} a request fails with a clear error, and a list and a watch go on when it is over`, async () => {
    let bad = true;
    const sent: string[] = [];
    await using client = answering((request) => {
      sent.push(new URL(request.url).host);
      if (bad) return answer();
      if (request.url.includes("watch=true")) return new Response(new ReadableStream({}), { headers: JSON_TYPE });
      return Response.json({ metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "a" } }] });
    });
    const error = await assertRejects(() => client.request({ path: "/x" }));
    assert(error instanceof ApiError || error instanceof TransportError, `${error}`);
    assertMatch(error.message, said);
    assert(!isNamespaceTerminating(error));
    using time = new VirtualTime({ random: () => 0.5 });
    time.install();
    const stop = new AbortController();
    const events: WatcherEvent<ConfigMap>[] = [];
    const watching = (async () => {
      for await (const event of watch(client.api(ConfigMap), { signal: stop.signal, now: () => time.now })) {
        events.push(event);
      }
    })();
    await time.advance(120_000);
    assertEquals(events, []);
    bad = false;
    await time.advance(120_000);
    assertEquals(events.map(({ type }) => type), ["restarted"]);
    stop.abort();
    await watching;
    assertEquals([...new Set(sent)], ["localhost"], "credentials went nowhere else");
  });
}

Deno.test("What a server asks to wait is an hour at most, and never nothing that is a number", () => {
  for (const seconds of [1e9, Number.MAX_VALUE]) {
    const error = new ApiError({ code: 503, details: { retryAfterSeconds: seconds } }, "GET", "/x");
    assertEquals(error.retryAfter, 3_600_000);
    assertEquals(planRetry(error, 5_000, 1).delay, 3_600_000);
  }
});

Deno.test("A body that drips ends at the deadline, and endless headers end the request", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const sockets: Deno.TcpConn[] = [];
  const serving = (async () => {
    for await (const socket of listener) {
      sockets.push(socket);
      void (async () => {
        const head = new TextDecoder().decode(
          new Uint8Array(100).subarray(0, await socket.read(new Uint8Array(4096)) ?? 0),
        );
        assert(head.length > 0);
        const dripping = sockets.length === 1;
        const write = (text: string): Promise<number> => socket.write(encoder.encode(text));
        await write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
        if (dripping) await write("content-length: 1000000\r\n\r\n");
        while (true) {
          await write(dripping ? " " : `x: ${"y".repeat(10_000)}\r\n`);
          if (dripping) await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })().catch(() => {});
    }
  })();
  {
    await using client = new Client({ server: `http://127.0.0.1:${port}`, timeout: 200, retries: 0 });
    await assertRejects(() => client.request({ path: "/x" }), TransportError, "no answer came within 200 ms");
    await using other = new Client({ server: `http://127.0.0.1:${port}`, timeout: 20_000, retries: 0 });
    await assertRejects(() => other.request({ path: "/x" }), TransportError, "Cannot GET /x: the request failed");
  }
  listener.close();
  for (const socket of sockets) {
    try {
      socket.close();
    } catch {
      // closed already
    }
  }
  await serving.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 30));
});

// -- Objects ----------------------------------------------------------------------------------------------------------

const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "a\u0000b",
  "\u001b[31mred",
  "..",
  "%2e%2e",
  "ünï\ud83d\ude00",
  "x".repeat(100_000),
];
const HOSTILE_KEYS =
  '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"toString":"x","\\u0000\\n":"y"}';
const SHALLOW = `${'{"a":['.repeat(400)}1${"]}".repeat(400)}`;
const DEEP = `${'{"a":['.repeat(4_500)}1${"]}".repeat(4_500)}`;

Deno.test("An operator reconciles every object, whatever names, labels, annotations, depth and size they have", async () => {
  const bodies = [
    ...NAMES.map((name) => `{"metadata":{"name":${JSON.stringify(name)},"namespace":"default"},"spec":{}}`),
    `{"metadata":{"name":"keys","namespace":"default","labels":${HOSTILE_KEYS},"annotations":${HOSTILE_KEYS}},"spec":${HOSTILE_KEYS},"status":${HOSTILE_KEYS}}`,
    `{"metadata":{"name":"deep","namespace":"default"},"spec":${DEEP},"status":${DEEP}}`,
    `{"metadata":{"name":"huge","namespace":"default"},"spec":{"a":"${"y".repeat(5_000_000)}"}}`,
    `{"metadata":{"name":"wide","namespace":"default"},"spec":{"a":[${"1,".repeat(200_000)}1]}}`,
    `{"metadata":{"name":"null","namespace":"default","labels":null,"annotations":null,"ownerReferences":null,"finalizers":null,"managedFields":null},"spec":null,"status":null}`,
  ];
  const objects = (version: number): string[] =>
    bodies.map((body, uid) =>
      body.replace("{", '{"apiVersion":"example.com/v1","kind":"Thing",').replace(
        '"metadata":{',
        `"metadata":{"uid":"${uid}","resourceVersion":"${version}","generation":${version},`,
      )
    );
  const names = [...NAMES, "keys", "deep", "huge", "wide", "null"];
  const seen: string[] = [];
  const written: string[] = [];
  await using client = answering(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method !== "GET") {
      written.push(`${request.method} ${decodeURIComponent(pathname.split("/").at(-2)!)}`);
      const [{ value: uid }] = await request.json() as [{ value: string }];
      return new Response(objects(3)[Number(uid)], { headers: JSON_TYPE });
    }
    if (searchParams.get("watch") !== "true") {
      return new Response(`{"metadata":{"resourceVersion":"1"},"items":[${objects(1)}]}`, { headers: JSON_TYPE });
    }
    const again = Number(searchParams.get("resourceVersion")) < 2;
    const text = again ? objects(2).map((object) => `{"type":"MODIFIED","object":${object}}\n`).join("") : "";
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(encoder.encode(text)),
      }),
      { headers: JSON_TYPE },
    );
  });
  using time = new VirtualTime({ random: () => 0.5 });
  time.install();
  const errors: unknown[] = [];
  const controller = things().reconcile(async (object, ctx) => {
    seen.push(object.metadata.name);
    try {
      jsonLine({ timestamp: 0, level: "info", category: ["x"], properties: { object }, message: [""], rawMessage: "" });
      textLine({ timestamp: 0, level: "info", category: ["x"], properties: { object }, message: [""], rawMessage: "" });
      await ctx.list(Thing as never, { labelSelector: "a=b" });
      assert(equal(object, clone(object)));
      await ctx.patchStatus(object, JSON.parse(HOSTILE_KEYS));
      await ctx.patchStatus(object, { a: JSON.parse(SHALLOW) });
      await assertRejects(() => ctx.patchStatus(object, JSON.parse(DEEP)), TypeError, "must not be nested deeper");
    } catch (error) {
      if (!(error instanceof TypeError && /request path/.test(error.message))) {
        errors.push([object.metadata.name.slice(0, 30), error]);
      }
    }
  });
  const operator = new Operator("o").controller(controller);
  const stop = new AbortController();
  const run = operator.run({ client, signals: false, signal: stop.signal, now: () => time.now });
  let over = false;
  const ended = run.finally(() => over = true);
  await time.advance(10_000);
  stop.abort();
  await time.run(() => over, 60_000);
  await ended;
  assertEquals(errors, []);
  for (const name of names) {
    assert(seen.filter((one) => one === name).length >= 2, `${name.slice(0, 30)} was seen as it was and as it became`);
  }
  assert(written.includes("PATCH keys") && written.includes("PATCH deep") && written.includes("PATCH __proto__"));
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
  assertEquals(Object.keys(Object.prototype), []);
});

Deno.test("Merging keeps keys such as __proto__ and changes no prototype", () => {
  const patch = JSON.parse(HOSTILE_KEYS);
  const merged = merge({}, patch) as Record<string, unknown>;
  assertEquals(JSON.stringify(merged), JSON.stringify(patch));
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
  assertEquals(Object.getPrototypeOf(merged), Object.prototype);
});

Deno.test("A log line holds what is logged under any name, and no more of it than can be read", () => {
  const properties = JSON.parse('{"__proto__":"kept","time":"kept","long":""}');
  properties.long = "x".repeat(1_000_000);
  const record = { timestamp: 0, level: "info", category: ["x"], properties, message: [""], rawMessage: "" } as never;
  const line = jsonLine(record);
  assertEquals(JSON.parse(line).time_, "kept");
  assertStringIncludes(line, '"__proto___":"kept"');
  assert(line.length < 50_000);
});
