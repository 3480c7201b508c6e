/** Holds what the API server in memory makes of HTTP/1.1, byte by byte. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { Answering, HttpRequest } from "../testing/_http_connection.ts";
import { type HttpError, readHead } from "../testing/_http_head.ts";
import { Input } from "../testing/_http_input.ts";
import { HttpServer } from "../testing/_http_server.ts";
import { HeaderMap } from "../testing/_request_headers.ts";
import type { Reply } from "../testing/_reply.ts";
import { ApiServer } from "../testing/mod.ts";

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** A server that answers so. */
function serving(answer: Answering): HttpServer {
  return new HttpServer({ port: 0, hostname: "127.0.0.1" }, { answer, now: () => new Date("2030-01-02T03:04:05Z") });
}

/** Says what came. */
async function echo(request: HttpRequest): Promise<Reply> {
  const { pathname } = new URL(request.url);
  const body = `${request.method} ${pathname} ${request.headers.get("x-name")} ${await request.text()}`;
  return { status: 200, headers: [["content-type", "text/plain"]], body };
}

/** Sends a text over a connection of its own; all that comes until the server hangs up. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(encoder.encode(text));
  return await new Response(connection.readable).text();
}

/** The bodies of answers that say how long they are. */
function bodies(text: string): string[] {
  const found: string[] = [];
  while (text !== "") {
    const [head = ""] = text.split("\r\n\r\n", 1);
    const [, length] = /content-length: (\d+)/.exec(head) ?? [];
    found.push(text.slice(head.length + 4, head.length + 4 + Number(length)));
    text = text.slice(head.length + 4 + Number(length));
  }
  return found;
}

/** What reads a text in pieces. */
function pieces(text: string, sizes: readonly number[]): Input {
  let bytes = encoder.encode(text), next = 0;
  return new Input((place) => {
    if (bytes.length === 0) return Promise.resolve(null);
    const size = Math.min(place.length, bytes.length, sizes[next++ % sizes.length] ?? 1);
    place.set(bytes.subarray(0, size));
    bytes = bytes.subarray(size);
    return Promise.resolve(size);
  });
}

Deno.test("Heads and bodies are read alike, however their bytes are cut", async () => {
  const size = fc.integer({ min: 1, max: 40 });
  const request = fc.record({
    headers: fc.array(fc.constantFrom("a: b", "x-name: c d", `long: ${"e".repeat(300)}`), { maxLength: 4 }),
    body: fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { maxLength: 4 }),
    chunked: fc.boolean(),
    gap: fc.constantFrom("", "\r\n", "\n"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 5 }),
      fc.array(size, { minLength: 1 }),
      async (requests, sizes) => {
        const text = requests.map(({ headers, body, chunked, gap }) => {
          const lengths = body.map((part) => encoder.encode(part).length);
          const framing = chunked
            ? "transfer-encoding: chunked"
            : `content-length: ${lengths.reduce((a, b) => a + b, 0)}`;
          const sent = chunked
            ? `${
              body.map((part, index) => `${lengths[index]!.toString(16)};x=y\r\n${part}\r\n`).join("")
            }0\r\nt: u\r\n\r\n`
            : body.join("");
          return `${gap}POST /p HTTP/1.1\r\n${[...headers, framing].join("\r\n")}\r\n\r\n${sent}`;
        }).join("");
        const input = pieces(text, sizes);
        for (const { headers, body, chunked } of requests) {
          const head = readHead((await input.head())!);
          assertEquals([head.method, head.target, head.length === undefined], ["POST", "/p", chunked]);
          assertEquals(
            head.headers.get("x-name")?.split(", ").length ?? 0,
            headers.filter((each) => each[0] === "x").length,
          );
          const bytes = await (head.length === undefined ? input.chunks() : input.bytes(head.length));
          assertEquals(decoder.decode(bytes), body.join(""));
        }
        assertEquals(await input.head(), undefined);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("A HeaderMap is read as Headers are, and one with another value leaves the first alone", () => {
  const name = fc.constantFrom("a", "A", "accept", "Impersonate-Extra-x"), value = fc.constantFrom("a", "b", "c, d");
  fc.assert(fc.property(fc.array(fc.tuple(name, value)), (entries) => {
    const expected = new Headers(entries), headers = new HeaderMap();
    for (const [name, value] of entries) headers.add(name, value);
    const other = HeaderMap.with(headers, "a", "other");
    for (const each of ["a", "accept", "impersonate-extra-x", "none"]) {
      assertEquals([headers.get(each), headers.has(each)], [expected.get(each), expected.has(each)]);
      assertEquals(other.get(each), each === "a" ? "other" : expected.get(each));
    }
    const found: Record<string, string> = {};
    headers.forEach((value, name) => found[name] = value);
    assertEquals(found, Object.fromEntries(expected));
  }));
});

Deno.test("What is no request is refused, with a code of its own", () => {
  const refused: [string, number][] = [
    ["", 400],
    ["GET /", 400],
    ["GET / HTTP/2.0", 400],
    ["G@T / HTTP/1.1", 400],
    ["GET /a b HTTP/1.1", 400],
    ["GET / HTTP/1.1\r\nno colon", 400],
    ["GET / HTTP/1.1\r\n: no name", 400],
    ["GET / HTTP/1.1\r\na b: c", 400],
    ["GET / HTTP/1.1\r\na: b\r\n folded: c", 400],
    ["GET / HTTP/1.1\r\ncontent-length: -1", 400],
    ["GET / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2", 400],
    ["GET / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked", 400],
    ["GET / HTTP/1.1\r\ntransfer-encoding: gzip", 501],
    ["GET / HTTP/1.1\r\nexpect: much", 417],
  ];
  for (const [text, status] of refused) {
    let found: unknown;
    try {
      readHead(text);
    } catch (error) {
      found = error;
    }
    assertEquals([text, (found as HttpError | undefined)?.status], [text, status]);
  }
});

Deno.test("Requests that come at once are answered in order, and a connection stays open until it is not wanted", async () => {
  const server = serving(echo);
  const post = (path: string, body: string, more = ""): string =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\nx-name: n\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;
  const close = "connection: close\r\n";
  assertEquals(bodies(await exchange(server.port, post("/1", "one") + post("/2", "") + post("/3", "three", close))), [
    "POST /1 n one",
    "POST /2 n ",
    "POST /3 n three",
  ]);
  const old = await exchange(server.port, "GET /old HTTP/1.0\r\n\r\n");
  assertStringIncludes(old, "\r\ndate: Wed, 02 Jan 2030 03:04:05 GMT\r\n");
  assertMatch(old, /^HTTP\/1.1 200 OK\r\n(.*\r\n)*connection: close\r\n(.*\r\n)*\r\nGET \/old null $/);
  const kept = await exchange(server.port, "GET /1 HTTP/1.0\r\nconnection: keep-alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n");
  assertStringIncludes(kept, "connection: keep-alive\r\n");
  assertEquals(bodies(kept), ["GET /1 null ", "GET /2 null "]);
  const bare = await exchange(server.port, `HEAD /h HTTP/1.1\r\nhost: a\r\n${close}\r\n`);
  assertMatch(bare, /^HTTP\/1.1 200 OK\r\n(.*\r\n)*content-length: 13\r\n(.*\r\n)*\r\n$/);
  await server.close();
});

Deno.test("A client that waits to be told is told to send its body, and one that does not is not", async () => {
  const server = serving(echo);
  const head = "PUT /p HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n";
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(encoder.encode(head));
  const reader = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "HTTP/1.1 100 Continue\r\n\r\n");
  await connection.write(encoder.encode("body"));
  assertMatch((await reader.read()).value!, /^HTTP\/1.1 200 OK\r\n(.*\r\n)*\r\nPUT \/p null body$/);
  assertEquals((await reader.read()).done, true);
  assertMatch(await exchange(server.port, `${head}body`), /^HTTP\/1.1 200 OK\r\n/);
  await server.close();
});

Deno.test("What is wrong with a request is answered, and its connection closed", async () => {
  const server = serving(echo);
  const wrong: [string, number][] = [
    ["nonsense\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\nhost: a b\r\n\r\n", 400],
    ["GET a HTTP/1.1\r\nhost: a\r\n\r\n", 400],
    ["POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", 400],
    ["POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", 400],
    ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999\r\n\r\n", 413],
    [`GET / HTTP/1.1\r\na: ${"b".repeat(1 << 20)}`, 431],
  ];
  for (const [text, status] of wrong) {
    const answer = await exchange(server.port, text);
    assertEquals([text.slice(0, 80), answer.slice(9, 12), bodies(answer).length], [text.slice(0, 80), `${status}`, 1]);
  }
  await server.close();
});

/** A stream that says what becomes of it. */
function streaming(): { reply: Reply; controller: ReadableStreamDefaultController<Uint8Array>; gone: Promise<void> } {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (own) => void (controller = own), cancel: () => resolve() });
  return { reply: { status: 200, headers: [], body }, controller, gone };
}

Deno.test("A stream is sent piece by piece, ends in order, and leaves its connection for the next request", async () => {
  const { reply, controller } = streaming();
  const server = serving((request) => request.url.endsWith("/s") ? Promise.resolve(reply) : echo(request));
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(encoder.encode("GET /s HTTP/1.1\r\nhost: a\r\n\r\n"));
  const reader = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  assertMatch((await reader.read()).value!, /\r\ntransfer-encoding: chunked\r\n(.*\r\n)*\r\n$/);
  controller.enqueue(encoder.encode("twelve bytes"));
  assertEquals((await reader.read()).value, "c\r\ntwelve bytes\r\n");
  await connection.write(encoder.encode("GET /n HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"));
  controller.close();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value;
  assertMatch(rest, /^0\r\n\r\nHTTP\/1.1 200 OK\r\n(.*\r\n)*\r\nGET \/n null $/);
  await server.close();
});

Deno.test("A stream to a client of HTTP/1.0 is not cut into chunks, and ends with the connection", async () => {
  const { reply, controller } = streaming();
  const server = serving(() => Promise.resolve(reply));
  controller.enqueue(encoder.encode("a piece"));
  controller.close();
  const answer = await exchange(server.port, "GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
  assertMatch(answer, /^HTTP\/1.1 200 OK\r\nconnection: close\r\n(.*\r\n)*\r\na piece$/);
  await server.close();
});

Deno.test("A stream is cancelled when its client goes, and breaks its connection when it fails", async () => {
  const streams = [streaming(), streaming()];
  let next = 0;
  const server = serving(() => Promise.resolve(streams[next++]!.reply));
  const abort = new AbortController();
  const left = await fetch(`http://127.0.0.1:${server.port}`, { signal: abort.signal });
  abort.abort();
  await streams[0]!.gone;
  await assertRejects(() => left.text());
  const failing = await fetch(`http://127.0.0.1:${server.port}`);
  streams[1]!.controller.error(new Error("failed"));
  await assertRejects(() => failing.text(), TypeError);
  await server.close();
});

Deno.test("A server that is down refuses connections and has broken those that there were; one that closes answers first", async () => {
  let answered = Promise.withResolvers<Reply>();
  const asked: (() => void)[] = [];
  const server = serving(() => {
    asked.shift()?.();
    return answered.promise;
  });
  const get = async (): Promise<[answer: Promise<string>]> => {
    const came = new Promise<void>((resolve) => asked.push(resolve));
    const answer = fetch(`http://127.0.0.1:${server.port}`).then((response) => response.text());
    answer.catch(() => {});
    await came;
    return [answer];
  };
  const [broken] = await get();
  server.down();
  await assertRejects(() => broken, TypeError);
  await assertRejects(() => fetch(`http://127.0.0.1:${server.port}`), TypeError);
  await server.up();
  answered.resolve({ status: 200, headers: [], body: "late" });
  answered = Promise.withResolvers<Reply>();
  const [last] = await get();
  using idle = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  using half = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await half.write(encoder.encode("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf"));
  const closed = server.close();
  await assertRejects(() => fetch(`http://127.0.0.1:${server.port}`), TypeError);
  assertEquals(await idle.read(new Uint8Array(1)), null);
  assertEquals(await half.read(new Uint8Array(1)).catch(() => null), null);
  answered.resolve({ status: 200, headers: [], body: "last" });
  assertEquals(await last, "last");
  await closed;
});

Deno.test("An answer that fails breaks its connection", async () => {
  const server = serving(() => Promise.reject(new Error("failed")));
  await assertRejects(() => fetch(`http://127.0.0.1:${server.port}`), TypeError);
  await server.close();
});

Deno.test("Over HTTP small answers are not compressed, each warning is a header, and large bodies come whole", async () => {
  await using server = new ApiServer();
  const { port } = await server.listen();
  const ask = (method: string, path: string, body: string, more = ""): Promise<string> =>
    exchange(
      port,
      `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${more}` +
        `content-type: application/json\r\ncontent-length: ${encoder.encode(body).length}\r\n\r\n${body}`,
    );
  const maps = "/api/v1/namespaces/default/configmaps";
  const map = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: { text: "é".repeat(100) },
    x: 1,
    y: 2,
  };
  const created = await ask("POST", maps, JSON.stringify(map), "accept-encoding: gzip\r\n");
  assertMatch(created, /^HTTP\/1.1 201 Created\r\n/);
  assertEquals(created.match(/\r\nwarning: 299 - "unknown field \\"[xy]\\""/g)?.length, 2);
  assert(!/content-encoding/.test(created));
  const large = { ...map, metadata: { name: "b" }, data: { text: "é".repeat(500_000) } };
  const answer = await ask("POST", maps, JSON.stringify(large));
  assertEquals(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)).data, large.data);
});
