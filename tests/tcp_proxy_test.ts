import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { TcpProxy } from "./_tcp_proxy.ts";

/** A server that sends back what it gets, and a connection to it through a proxy. */
async function echoed(): Promise<AsyncDisposable & { proxy: TcpProxy; dial(): Promise<Deno.TcpConn> }> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) connection.readable.pipeTo(connection.writable).catch(() => {});
  })();
  const proxy = await TcpProxy.to(listener.addr.port);
  return {
    proxy,
    dial: () => Deno.connect({ hostname: "127.0.0.1", port: proxy.port }),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      listener.close();
      await serving;
    },
  };
}

/** Sends a byte and answers with the one that comes back; `undefined` if none does for a moment, `null` at the end. */
async function ping(connection: Deno.TcpConn, byte: number): Promise<number | null | undefined> {
  await connection.write(new Uint8Array([byte]));
  return await next(connection);
}

async function next(connection: Deno.TcpConn): Promise<number | null | undefined> {
  const buffer = new Uint8Array(1);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nothing = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), 150));
  const read = connection.read(buffer).then((count) => count === null ? null : buffer[0]);
  read.catch(() => {});
  const answer = await Promise.race([read, nothing]);
  clearTimeout(timer);
  return answer;
}

Deno.test("TcpProxy passes bytes on, and holds them back while it is stalled", async () => {
  await using world = await echoed();
  using connection = await world.dial();
  assertEquals(await ping(connection, 1), 1);
  world.proxy.stall();
  using late = await world.dial();
  assertEquals([await ping(late, 2)], [undefined]);
  world.proxy.flow();
  using fresh = await world.dial();
  assertEquals(await ping(fresh, 3), 3);
  assertEquals(await ping(connection, 4), 4);
});

Deno.test("TcpProxy passes everything on later, and in order", async () => {
  await using world = await echoed();
  using connection = await world.dial();
  world.proxy.delay(30);
  const started = performance.now();
  for (const byte of [1, 2, 3]) assertEquals(await ping(connection, byte), byte);
  assertGreater(performance.now() - started, 3 * 2 * 30 - 5);
});

Deno.test("TcpProxy resets the connections of now, and takes new ones", async () => {
  await using world = await echoed();
  using connection = await world.dial();
  assertEquals(await ping(connection, 1), 1);
  world.proxy.reset();
  await assertRejects(() => ping(connection, 2), Deno.errors.ConnectionReset);
  using fresh = await world.dial();
  assertEquals(await ping(fresh, 3), 3);
  assertEquals([world.proxy.opened, world.proxy.open], [2, 1]);
});

Deno.test("TcpProxy loses what comes on the connections that it has cut, without a sign, and takes new ones", async () => {
  await using world = await echoed();
  using connection = await world.dial();
  assertEquals(await ping(connection, 1), 1);
  world.proxy.cut();
  assertEquals(await ping(connection, 2), undefined);
  using fresh = await world.dial();
  assertEquals(await ping(fresh, 3), 3);
});
