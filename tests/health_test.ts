import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Guarded } from "../_guarded.ts";
import { type Check, HealthServer, type HealthServerOptions, parseAddress } from "../health.ts";
import type { Logger } from "../logger.ts";
import { Metrics } from "../metrics.ts";
import { parseMetrics } from "./_prometheus.ts";
import { advance } from "./_time.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

/** Asks a server in process; answers with status, body and headers. */
async function ask(
  options: HealthServerOptions,
  path: string,
  method = "GET",
): Promise<{ status: number; body: string; headers: Headers }> {
  const response = await new HealthServer(options).handle(new Request(`http://probe${path}`, { method }));
  return { status: response.status, body: await response.text(), headers: response.headers };
}

async function statusAndBody(options: HealthServerOptions, path: string): Promise<[number, string]> {
  const { status, body } = await ask(options, path);
  return [status, body];
}

const failing: HealthServerOptions = {
  liveness: { loop: () => undefined },
  readiness: { cache: () => "the cache is not synced yet", watch: () => Promise.resolve(undefined) },
};

Deno.test("HealthServer answers probes with ok, or 503 without the reasons", async () => {
  assertEquals(await statusAndBody(failing, "/healthz"), [200, "ok\n"]);
  assertEquals(await statusAndBody(failing, "/livez"), [200, "ok\n"]);
  assertEquals(await statusAndBody(failing, "/readyz"), [
    503,
    "[+]ping ok\n[-]cache failed: reason withheld\n[+]watch ok\nreadyz check failed\n",
  ]);
});

Deno.test("HealthServer names each check and its reason when asked with ?verbose", async () => {
  assertEquals(await statusAndBody(failing, "/readyz?verbose"), [
    503,
    "[+]ping ok\n[-]cache failed: the cache is not synced yet\n[+]watch ok\nreadyz check failed\n",
  ]);
  assertEquals(await statusAndBody(failing, "/livez?verbose=1"), [200, "[+]ping ok\n[+]loop ok\nlivez check passed\n"]);
});

Deno.test("HealthServer answers for one check alone", async () => {
  assertEquals(await statusAndBody(failing, "/readyz/watch"), [200, "ok\n"]);
  assertEquals(await statusAndBody(failing, "/readyz/cache?verbose"), [
    503,
    "[-]cache failed: the cache is not synced yet\nreadyz/cache check failed\n",
  ]);
  assertEquals(await statusAndBody({ readiness: { "watch-apps/v1": () => undefined } }, "/readyz/watch-apps%2Fv1"), [
    200,
    "ok\n",
  ]);
});

Deno.test("HealthServer answers 404 elsewhere, and for what it was not given", async () => {
  const paths = [
    "/",
    "/metricsx",
    "/readyz/other",
    "/readyz/%E0%A4%A",
    "/healthz/cache",
    "/metrics/x",
    "//readyz",
    "/a/b",
  ];
  for (const path of paths) assertEquals((await ask(failing, path)).status, 404, path);
  for (const path of ["/metrics", "/readyz"]) assertEquals((await ask({}, path)).status, 404, path);
});

Deno.test("HealthServer answers only GET and HEAD, and HEAD without a body", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const { status, headers } = await ask(failing, "/readyz", method);
    assertEquals([status, headers.get("allow")], [405, "GET, HEAD"], method);
    assertEquals((await ask(failing, "/nowhere", method)).status, 404, method);
  }
  const [head, get] = [await ask(failing, "/readyz?verbose", "HEAD"), await ask(failing, "/readyz?verbose")];
  assertEquals([head.status, head.body], [503, ""]);
  assertEquals([...head.headers], [...get.headers]);
});

Deno.test("HealthServer answers in a way that no cache keeps and no browser guesses at", async () => {
  const { headers } = await ask(failing, "/readyz");
  assertEquals(Object.fromEntries(headers), {
    "cache-control": "no-store",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
});

Deno.test("HealthServer says of a check that throws only the class of the error", async () => {
  class DatabaseError extends Error {}
  const secret = "postgres://operator:hunter2@db";
  const throwing: Record<string, Check> = {
    sync: () => {
      throw new DatabaseError(secret);
    },
    async: () => Promise.reject(new TypeError(secret)),
    odd: () => Promise.reject(secret),
    nothing: () => Promise.reject(undefined),
  };
  const { status, body } = await ask({ readiness: throwing }, "/readyz?verbose");
  assertEquals([status, body], [
    503,
    "[+]ping ok\n[-]sync failed: it threw DatabaseError\n[-]async failed: it threw TypeError\n" +
    "[-]odd failed: it threw string\n[-]nothing failed: it threw undefined\nreadyz check failed\n",
  ]);
});

Deno.test("HealthServer asks a check again after it threw", async () => {
  let broken = true;
  const throwing = (): undefined => {
    if (broken) throw new Error("broken");
  };
  const server = new HealthServer({ readiness: { throwing } });
  const probe = async (): Promise<number> => (await server.handle(new Request("http://probe/readyz"))).status;
  assertEquals(await probe(), 503);
  broken = false;
  assertEquals(await probe(), 200);
});

Deno.test("HealthServer keeps a reason to one short line, so that it cannot look like another check", async () => {
  const reason = `broken\r\n[+]other ok\u0000\u001b[31m${"x".repeat(1000)}`;
  const { body } = await ask({ readiness: { a: () => reason, b: () => "" } }, "/readyz?verbose");
  const lines = body.split("\n");
  assertEquals(lines.length, 5);
  assertMatch(lines[1]!, /^\[-\]a failed: broken \[\+\]other ok \[31mx+$/);
  assertLess(lines[1]!.length, 330);
  assertEquals(lines[2], "[-]b failed: it gave no reason");
});

Deno.test("HealthServer gives a check that hangs 800 ms, and does not run it again meanwhile", async () => {
  using time = new FakeTime(0);
  let runs = 0;
  let release = (): void => {};
  const server = new HealthServer({
    readiness: {
      slow: () => {
        runs++;
        return new Promise((resolve) => release = () => resolve(undefined));
      },
    },
  });
  const probe = async (): Promise<[number, number, string]> => {
    const response = await server.handle(new Request("http://probe/readyz?verbose"));
    return [Date.now(), response.status, (await response.text()).split("\n")[1]!];
  };
  const [first, second] = [probe(), probe()];
  await advance(time, 800, 100);
  const late = "[-]slow failed: it did not answer within 800 ms";
  assertEquals([await first, await second], [[800, 503, late], [800, 503, late]]);
  const third = probe();
  await advance(time, 100, 100);
  assertEquals(runs, 1);
  release();
  assertEquals(await third, [900, 200, "[+]slow ok"]);
  assertEquals(time.next(), false);
  const fourth = probe();
  await advance(time, 0);
  release();
  assertEquals((await fourth)[1], 200);
  assertEquals(runs, 2);
});

Deno.test("HealthServer serves the metrics with the registry's content type", async () => {
  const metrics = new Metrics();
  const options = { metrics: async () => ({ body: await metrics.text(), contentType: metrics.contentType }) };
  const { status, body, headers } = await ask(options, "/metrics");
  assertEquals([status, headers.get("content-type")], [200, "text/plain; version=0.0.4; charset=utf-8"]);
  assertEquals(parseMetrics(body).value("tend_events_dropped_total"), 0);
  assertEquals((await ask(options, "/metrics", "HEAD")).body, "");
});

Deno.test("HealthServer answers 500 when the metrics throw and 503 when they hang, saying nothing of why", async () => {
  const throwing = () => Promise.reject(new Error("secret"));
  const { status, body } = await ask({ metrics: throwing }, "/metrics");
  assertEquals([status, body], [500, "the metrics cannot be collected\n"]);
  using time = new FakeTime(0);
  const hanging = ask({ metrics: () => new Promise(() => {}) }, "/metrics");
  await advance(time, 9000);
  assertEquals((await hanging).status, 503);
});

Deno.test("HealthServer refuses check names and timeouts that cannot work", () => {
  for (const name of ["", "two words", "line\nbreak", "[+]é"]) {
    assertThrows(() => new HealthServer({ readiness: { [name]: () => undefined } }), TypeError, JSON.stringify(name));
  }
  for (const value of [0, -1, NaN, Infinity]) {
    assertThrows(() => new HealthServer({ checkTimeout: value }), RangeError, `current value is ${value}`);
    assertThrows(() => new HealthServer({ metricsTimeout: value }), RangeError, `current value is ${value}`);
  }
});

Deno.test("Guarded logs an error when a call begins to fail, not each time", async () => {
  const logged: string[] = [];
  const log = { error: (message: string) => logged.push(message) } as unknown as Logger;
  const results = [true, false, false, true, false];
  const call = (): void => {
    if (!results.shift()) throw new Error("broken");
  };
  const guarded = new Guarded(call, 1000, "call", log);
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) {
    await guarded.run(new AbortController().signal);
    counts.push(logged.length);
  }
  assertEquals(counts, [0, 1, 1, 1, 2]);
});

// -- Over a socket ----------------------------------------------------------------------------------------------------

async function get(port: number, path: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return [response.status, await response.text()];
}

/** Opens a connection and writes a raw text to it. */
async function send(port: number, text: string): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  return connection;
}

async function receive(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(4096);
  const count = await connection.read(buffer).catch(() => null);
  return new TextDecoder().decode(buffer.subarray(0, count ?? 0));
}

Deno.test("HealthServer.listen() answers with the real port, and says it to onListen", async () => {
  await using server = new HealthServer(failing);
  const told: unknown[] = [];
  const address = server.listen({ ...LOOPBACK, onListen: (address) => told.push(address) });
  assertEquals(told, [address]);
  assertEquals(address.hostname, "127.0.0.1");
  assertEquals(await get(address.port, "/healthz"), [200, "ok\n"]);
  assertEquals((await get(address.port, "/readyz", { method: "HEAD" }))[0], 503);
});

Deno.test("HealthServer.listen() without a host is reached over IPv4", async () => {
  await using server = new HealthServer(failing);
  const { port } = server.listen(parseAddress(":0")!);
  assertEquals(await get(port, "/healthz"), [200, "ok\n"]);
});

Deno.test("HealthServer.listen() says where it cannot listen, and refuses to listen twice", async () => {
  await using first = new HealthServer();
  const { port } = first.listen(LOOPBACK);
  const second = new HealthServer();
  const error = assertThrows(
    () => second.listen({ hostname: "127.0.0.1", port }),
    Error,
    `Cannot listen on 127.0.0.1:${port}: another program listens there: choose another address (--address)`,
  );
  assert(error.cause instanceof Deno.errors.AddrInUse);
  assertThrows(() => first.listen(LOOPBACK), Error, "the server is listening already");
  await second.close();
});

Deno.test("HealthServer.listen() works again after close(), and closing twice or unopened is nothing", async () => {
  const server = new HealthServer(failing);
  await server.close();
  for (let round = 0; round < 2; round++) {
    const { port } = server.listen(LOOPBACK);
    assertEquals(await get(port, "/healthz"), [200, "ok\n"]);
    await Promise.all([server.close(), server.close()]);
    await assertRejects(() => Deno.connect({ hostname: "127.0.0.1", port }), Deno.errors.ConnectionRefused);
  }
});

Deno.test("HealthServer goes on serving beside clients that are slow, rude or gone", async () => {
  await using server = new HealthServer(failing);
  const { port } = server.listen(LOOPBACK);
  const idle = await send(port, "");
  const slow = await send(port, "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ");
  const rude = await send(port, "\u0000\u0001 nonsense\r\n\r\n");
  const hostless = await send(port, "GET http://[/healthz HTTP/1.1\r\nhost: a b\r\n\r\n");
  const unread = await send(port, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(50));
  const gone = await send(port, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  gone.close();
  assertMatch(await receive(rude), /^(HTTP\/1\.1 400 .*)?$/s);
  assertMatch(await receive(hostless), /^(HTTP\/1\.1 4.*)?$/s);
  const huge = await send(port, `GET /healthz HTTP/1.1\r\nhost: x\r\nx-huge: ${"x".repeat(4_000_000)}`).catch(() => {});
  assertEquals(await get(port, "/healthz"), [200, "ok\n"]);
  for (const connection of [idle, slow, rude, hostless, unread, huge]) connection?.close();
});

Deno.test("HealthServer is not harmed by a client that goes while its request is being answered", async () => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using server = new HealthServer({
    readiness: { slow: () => (asked.resolve(), gone.promise.then(() => undefined)) },
  });
  const { port } = server.listen(LOOPBACK);
  const connection = await send(port, "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n");
  await asked.promise;
  connection.close();
  // Once the server has answered others it has seen that connection end.
  for (let round = 0; round < 20; round++) assertEquals(await get(port, "/healthz"), [200, "ok\n"]);
  gone.resolve();
  for (let round = 0; round < 20; round++) assertEquals(await get(port, "/readyz/ping"), [200, "ok\n"]);
});

Deno.test("HealthServer.close() ends at once when only idle connections are open", async () => {
  const server = new HealthServer(failing);
  const { port } = server.listen(LOOPBACK);
  const connection = await send(port, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  assertStringIncludes(await receive(connection), "200 OK");
  const half = await send(port, "GET /heal");
  using time = new FakeTime(0);
  await server.close(); // waits for no timer: none of this fake time passes
  assertEquals(time.now, 0);
  assertEquals([await receive(connection), await receive(half)], ["", ""]);
  connection.close();
  half.close();
});

Deno.test("HealthServer.close() lets a request that is being answered end", async () => {
  let release = (): void => {};
  const asked = Promise.withResolvers<void>();
  const server = new HealthServer({
    readiness: {
      slow: () =>
        new Promise((resolve) => {
          release = () => resolve(undefined);
          asked.resolve();
        }),
    },
  });
  const { port } = server.listen(LOOPBACK);
  const answer = get(port, "/readyz");
  await asked.promise;
  const closed = server.close();
  release();
  assertEquals(await answer, [200, "ok\n"]);
  await closed;
});

Deno.test("HealthServer.close() cuts off a request that hangs after a second, and leaves no timer", async () => {
  const asked = Promise.withResolvers<void>();
  const server = new HealthServer({
    metrics: () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  using time = new FakeTime(0);
  const { port } = server.listen(LOOPBACK);
  const connection = await send(port, "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
  await asked.promise;
  let closed = false;
  const closing = server.close().then(() => closed = true);
  await advance(time, 900, 100);
  assertEquals(closed, false);
  await advance(time, 100, 100);
  await closing;
  assertEquals(time.next(), false);
  connection.close();
});

// -- Addresses --------------------------------------------------------------------------------------------------------

Deno.test("parseAddress() reads hosts, IPv6 addresses and ports, and 0 as none", () => {
  assertEquals(parseAddress(":8080"), { hostname: "::", port: 8080 });
  assertEquals(parseAddress(":0"), { hostname: "::", port: 0 });
  assertEquals(parseAddress("[::]:8080"), { hostname: "::", port: 8080 });
  assertEquals(parseAddress("[::1]:8080"), { hostname: "::1", port: 8080 });
  assertEquals(parseAddress("127.0.0.1:65535"), { hostname: "127.0.0.1", port: 65535 });
  assertEquals(parseAddress("localhost:1"), { hostname: "localhost", port: 1 });
  assertEquals(parseAddress("0"), undefined);
});

Deno.test("parseAddress() refuses what is no address, with the value", () => {
  const bad = ["", "8080", "localhost", "::1:8080", "[::1]", "[::1", "[x]:1", "[:::]:1", ":http", ":-1", ":1.5", ": 1"];
  for (const address of [...bad, "http://a:1", "a:1/", "a b:1", "a:1\n", "é:1"]) {
    assertThrows(
      () => parseAddress(address),
      SyntaxError,
      "Cannot read an address: it must be HOST:PORT, such as :8080 or [::1]:8080, or 0 for none: " +
        `current value is ${JSON.stringify(address)}`,
    );
  }
  assertThrows(() => parseAddress(":65536"), RangeError, 'must be at most 65535: current value is ":65536"');
});
