import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { HealthServer } from "../health.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const GET = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

/** A server of probes, and of metrics that are as long as is asked for. */
function health(size = 0): HealthServer {
  return new HealthServer({
    readiness: { cache: () => undefined },
    metrics: () => Promise.resolve({ body: "x".repeat(size), contentType: "text/plain" }),
  });
}

/** Writes to a new connection and reads the first piece of the answer. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const writing = write(connection, text).catch(() => {});
  const buffer = new Uint8Array(65_536);
  const count = await connection.read(buffer).catch(() => null);
  await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 50))]);
  return new TextDecoder().decode(buffer.subarray(0, count ?? 0));
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

Deno.test("Probes answer GET and HEAD alone, on their paths alone", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  const line = (text: string): string => `${text}\r\nhost: x\r\nconnection: close\r\n\r\n`;
  const cases: [string, number][] = [
    [line("GET /healthz HTTP/1.1"), 200],
    [line("HEAD /healthz HTTP/1.1"), 200],
    [line("GET /readyz/cache?verbose HTTP/1.1"), 200],
    ...["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACK", "get", "PROPFIND"].map((
      method,
    ): [string, number] => [line(`${method} /healthz HTTP/1.1`), 405]),
    ...["/", "/nowhere", "/HEALTHZ", "/healthz%2f", "/metrics/x", "/etc/passwd", "/readyz/../x"].map((
      path,
    ): [string, number] => [line(`GET ${path} HTTP/1.1`), 404]),
    [line("GET /healthz"), 400],
    ["GET /healthz HTTP/1.1\r\nhost : x\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n", 400],
  ];
  for (const [request, status] of cases) {
    const answer = await exchange(port, request);
    assertEquals(statusOf(answer), status, JSON.stringify(request));
    if (request.startsWith("HEAD")) assertMatch(answer, /\r\n\r\n$/);
  }
});

Deno.test("Probes answer without a look at a body, and bound what they read of line and headers", async () => {
  await using server = health();
  const { port } = server.listen(LOOPBACK);
  const post = "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\nconnection: close\r\n\r\n";
  assertEquals(statusOf(await exchange(port, post + "y".repeat(1000))), 405);
  for (const endless of [`GET /${"x".repeat(2_000_000)}`, `${GET.slice(0, -2)}${"a: b\r\n".repeat(300_000)}`]) {
    assert([0, 400, 414, 431].includes(statusOf(await exchange(port, endless))));
  }
  assertEquals(statusOf(await exchange(port, GET)), 200);
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
  for (const connection of connections) connection.close();
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
