import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { SmallServer, type SmallServerOptions } from "../_http_server.ts";
import { HealthServer } from "../health.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const GET = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

/** A server of probes, and of metrics that are as long as is asked for. */
function health(size = 0): HealthServer {
  return new HealthServer({
    readiness: { cache: () => undefined },
    metrics: () => Promise.resolve({ body: "x".repeat(size), contentType: "text/plain" }),
  });
}

/** A server with other limits than the usual, and how often it has answered. */
function small(options: SmallServerOptions): { port: number; answered: () => number } & AsyncDisposable {
  let count = 0;
  const server = new SmallServer(() => Promise.resolve(new Response(`${++count}`)), options);
  const { port } = server.listen(LOOPBACK);
  const close = async (): Promise<void> => {
    await server.stop();
    await server.cut();
  };
  return { port, answered: () => count, [Symbol.asyncDispose]: close };
}

/** Writes to a new connection and reads until the server closes it. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const writing = write(connection, text).catch(() => {});
  const answer = await readAll(connection);
  await writing;
  return answer;
}

async function write(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

async function readAll(connection: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  while (true) {
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return text;
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);
}

Deno.test("Probes answer GET and HEAD alone, on their paths alone, in HTTP/1 alone", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  const line = (text: string): string => `${text}\r\nhost: x\r\n\r\n`;
  const cases: [string, number][] = [
    [line("GET /healthz HTTP/1.1"), 200],
    [line("HEAD /healthz HTTP/1.1"), 200],
    [line("GET /readyz/cache?verbose HTTP/1.1"), 200],
    ["GET /healthz HTTP/1.0\r\n\r\n", 200],
    ...["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "TRACK", "get", "PROPFIND", "X!"].map((
      method,
    ): [string, number] => [line(`${method} /healthz HTTP/1.1`), 405]),
    ...["/", "/nowhere", "//healthz", "/HEALTHZ", "/healthz%2f", "/metrics/x", "/etc/passwd", "/readyz/../x"].map((
      path,
    ): [string, number] => [line(`GET ${path} HTTP/1.1`), 404]),
    ...["healthz", "http://x/healthz", "*", "x:80", "/a b"].map((
      target,
    ): [string, number] => [line(`GET ${target} HTTP/1.1`), 400]),
    [line("GET /healthz HTTP/2.0"), 505],
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    [line("GET /healthz"), 400],
    ["GET /healthz HTTP/1.1\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost : x\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost: x\r\nx: a\nb\r\n\r\n", 400],
    ["\x16\x03\x01\x02\x00 a TLS hello\r\n\r\n", 400],
  ];
  for (const [request, status] of cases) {
    const answer = await exchange(port, request);
    assertEquals(statusOf(answer), status, JSON.stringify(request));
    assertMatch(answer, /\r\nconnection: close\r\n/);
    if (request.startsWith("HEAD")) assertMatch(answer, /\r\n\r\n$/);
  }
});

Deno.test("Probes read no more than 16 KiB of a request, and no body", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  assertEquals(statusOf(await exchange(port, `GET /${"x".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)), 431);
  assertEquals(statusOf(await exchange(port, `GET /healthz HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(5000)}`)), 431);
  assertEquals(statusOf(await exchange(port, "x".repeat(50_000))), 431);
  const post = "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n";
  assertEquals(statusOf(await exchange(port, post + "y".repeat(100_000))), 405);
  const get = "GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n";
  assertEquals(statusOf(await exchange(port, `${get}ffffffff\r\n${"z".repeat(1000)}`)), 200);
  // what will not stop is cut off in the end
  using endless = await Deno.connect({ hostname: "127.0.0.1", port });
  await assertRejects(() => write(endless, post + "y".repeat(20_000_000)));
});

Deno.test("Probes answer the first of pipelined requests, and close", async () => {
  await using server = small({});
  const answer = await exchange(server.port, GET.repeat(100));
  assertEquals(answer.match(/HTTP\/1\.1 200 OK/g)?.length, 1);
  assertEquals(server.answered(), 1);
});

Deno.test("Probes cut a client that is slow to send its request, however it drips", async () => {
  await using server = small({ headTimeout: 100 });
  using silent = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  using dripping = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const drip = (async () => {
    for (const character of "GET /healthz HTTP/1.1\r\nhost: x\r\nx: " + "y".repeat(10_000)) {
      await write(dripping, character);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })().catch(() => "cut");
  assertEquals(await readAll(silent), "");
  assertEquals(await readAll(dripping), "");
  assertEquals(await drip, "cut");
  assertEquals(server.answered(), 0);
});

Deno.test("Probes cut a client that does not take its answer", async () => {
  const server = new SmallServer(() => Promise.resolve(new Response("x".repeat(50_000_000))), { answerTimeout: 100 });
  const { port } = server.listen(LOOPBACK);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await write(connection, GET);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert((await readAll(connection)).length < 50_000_000);
  await server.stop();
  await server.cut();
});

Deno.test("Probes answer in the midst of a thousand connections that say nothing, or half a request", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  const connections: Deno.TcpConn[] = [];
  for (let count = 0; count < 1000; count++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    if (count % 2 === 0) await write(connection, "GET /healthz HTT").catch(() => {});
    connections.push(connection);
    if (count % 100 === 99) assertEquals(statusOf(await exchange(port, GET)), 200, `beside ${count} others`);
  }
  const open = await Promise.all(connections.map(async (connection) => {
    const cut = await Promise.race([readAll(connection).then(() => true), pause(1000).then(() => false)]);
    connection.close();
    return !cut;
  }));
  assert(open.filter(Boolean).length <= 128, "no more than 128 are kept");
});

Deno.test("Probes answer in the midst of clients that ask for metrics and do not read them", async () => {
  await using server = health(8_000_000);
  const { port } = server.listen(LOOPBACK);
  const connections = await Promise.all(Array.from({ length: 150 }, async () => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await write(connection, "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").catch(() => {});
    return connection;
  }));
  assertEquals(statusOf(await exchange(port, GET)), 200);
  for (const connection of connections) connection.close();
});

Deno.test("Probes outlive clients that go, reset, or close their side", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  for (let round = 0; round < 50; round++) {
    const gone = await Deno.connect({ hostname: "127.0.0.1", port });
    await write(gone, GET.slice(0, round));
    gone.close(); // with an answer unread this is a reset
    const half = await Deno.connect({ hostname: "127.0.0.1", port });
    await write(half, GET);
    await half.closeWrite();
    assertEquals(statusOf(await readAll(half)), 200);
    half.close();
  }
});

Deno.test("Probes are bound to the address that is told, and to no other", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  assertEquals(statusOf(await exchange(port, GET)), 200);
  await assertRejects(() => Deno.connect({ hostname: "127.0.0.2", port }), Deno.errors.ConnectionRefused);
  await assertRejects(() => Deno.connect({ hostname: "::1", port }));
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
