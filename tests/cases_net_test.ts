/** What goes wrong on the wire: connections that die without a sign, and those that a server closes while they are used. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import * as http2 from "node:http2";
import * as net from "node:net";
import { Client } from "../client.ts";
import { TransportError } from "../errors.ts";
import { ConfigMap, Lease, Pod, Secret, Service, ServiceAccount } from "../kinds.ts";
import { LeaderElector } from "../leader.ts";
import type { KubernetesObject, Resource } from "../resource.ts";
import { Authority } from "../testing/_certificates.ts";
import { ApiServer } from "../testing/mod.ts";
import { watch } from "../watcher.ts";
import { until } from "./control_plane/_wait.ts";

const CA = new Authority("ca");

/** A TCP proxy whose flows can be made to swallow all bytes, or be reset. */
interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: ReadonlySet<net.Socket>;
  /** How many there have been. */
  opened(): number;
  /** Swallows what the flows of before send, without a sign. */
  blackHole(): void;
  /** Swallows also what new flows send, until it is given back. */
  swallowAll(on: boolean): void;
  /** Resets all flows. */
  reset(): void;
  /** Refuses connections while it is off. */
  listen(on: boolean): Promise<void>;
}

async function proxyTo(port: number): Promise<Proxy> {
  const open = new Set<net.Socket>();
  const dead = new WeakSet<net.Socket>();
  let opened = 0;
  let all = false;
  const server = net.createServer((socket) => {
    opened++;
    open.add(socket);
    const onward = net.connect(port, "127.0.0.1");
    const lost = (): boolean => all || dead.has(socket);
    socket.on("data", (chunk) => lost() || onward.write(chunk));
    onward.on("data", (chunk) => lost() || socket.write(chunk));
    socket.on("error", () => {});
    onward.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      onward.destroy();
    });
    onward.on("close", () => lost() || socket.destroy());
  });
  const listen = (at: number): Promise<void> =>
    new Promise((resolve) => server.listen(at, "127.0.0.1", () => resolve()));
  const close = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  await listen(0);
  const { port: bound } = server.address() as net.AddressInfo;
  const reset = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: bound,
    open,
    opened: () => opened,
    blackHole: () => open.forEach((socket) => dead.add(socket)),
    swallowAll: (on) => void (all = on),
    reset,
    listen: (on) => on ? listen(bound) : close(),
    [Symbol.asyncDispose]: async () => {
      reset();
      if (server.listening) await close();
    },
  };
}

/** An HTTPS server that speaks HTTP/2, behind a proxy. */
function http2Backend(): Deno.HttpServer<Deno.NetAddr> {
  const { cert, key } = CA.server(["127.0.0.1"]);
  const event = new TextEncoder().encode('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  return Deno.serve(
    { port: 0, hostname: "127.0.0.1", cert, key, onListen() {} },
    (request) =>
      request.url.includes("watch=true")
        ? new Response(new ReadableStream({ start: (controller) => controller.enqueue(event) }))
        : Response.json({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" } }),
  );
}

Deno.test("B02: Over HTTP/2, a request that its caller gives up leaves no dead connection to the next one", async () => {
  const backend = http2Backend();
  await using proxy = await proxyTo(backend.addr.port);
  const client = new Client({ server: `https://127.0.0.1:${proxy.port}`, ca: CA.cert });
  const api = client.api(ConfigMap);
  const writes = [
    (signal: AbortSignal) => api.get("a", { signal }),
    (signal: AbortSignal) => api.create({ metadata: { name: "a" } }, { signal }),
    (signal: AbortSignal) => api.patch("a", {}, { signal }),
  ];
  for (const write of writes) {
    await api.get("a");
    proxy.blackHole();
    // As the time limit of a reconcile, or of a lease, does.
    await assertRejects(() => write(AbortSignal.timeout(1_100)), DOMException, "timeout");
    assertEquals((await write(AbortSignal.timeout(1_000))).metadata.name, "a");
  }
  await client.close();
  await backend.shutdown();
});

Deno.test("B02: Over HTTP/2, a watch that was cut for its silence is opened on a new connection, and others go on", async () => {
  const backend = http2Backend();
  await using proxy = await proxyTo(backend.addr.port);
  const client = new Client({ server: `https://127.0.0.1:${proxy.port}`, ca: CA.cert, timeout: 5_000 });
  const api = client.api(ConfigMap);
  const stop = new AbortController();
  const silent = api.watch({ signal: stop.signal });
  await silent.next();
  const alive = api.watch();
  await alive.next();
  assertEquals(proxy.opened(), 1, "HTTP/2 takes both on one connection");
  proxy.blackHole();
  const cut = assertRejects(() => silent.next(), TransportError, "silent");
  stop.abort(new TransportError("silent", "GET", "/", { timedOut: true }));
  await cut;
  const started = performance.now();
  const again = api.watch();
  assertEquals((await again.next()).value?.type, "ADDED");
  assert(performance.now() - started < 2_000, "not only after a deadline");
  assertEquals(proxy.opened(), 2);
  await again.return(undefined);
  await client.close();
  await assertRejects(async () => await alive.next(), Error);
  await backend.shutdown();
});

interface Replica {
  readonly proxy: Proxy;
  readonly client: Client;
  readonly elector: LeaderElector;
  readonly terms: { from: number; to: number }[];
  readonly ended: Promise<void>;
}

/** Replicas with short times that reach one server by a proxy each. */
async function electorate(
  server: ApiServer,
  names: readonly string[],
): Promise<{ replicas: Replica[] } & AsyncDisposable> {
  const { url } = await server.listen();
  const stop = new AbortController();
  const replicas: Replica[] = [];
  for (const name of names) {
    const proxy = await proxyTo(Number(new URL(url).port));
    const client = new Client({ server: `http://127.0.0.1:${proxy.port}` });
    const elector = new LeaderElector(client, {
      ...{ namespace: "default", name: "cases", identity: name },
      ...{ leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 300 },
    });
    const terms: { from: number; to: number }[] = [];
    const ended = elector.run(async (term) => {
      const at = { from: performance.now(), to: Infinity };
      terms.push(at);
      await new Promise<void>((resolve) => {
        for (const signal of [term.signal, stop.signal]) {
          signal.addEventListener("abort", () => resolve(), { once: true });
        }
      });
      at.to = performance.now();
    }, stop.signal);
    replicas.push({ proxy, client, elector, terms, ended });
  }
  return {
    replicas,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      for (const { proxy, client, ended } of replicas) {
        proxy.swallowAll(false);
        await ended;
        await client.close();
        await proxy[Symbol.asyncDispose]();
      }
    },
  };
}

Deno.test("B02: A lease whose renewals go into a dead connection is renewed over a new one before its deadline", async () => {
  await using server = new ApiServer();
  await using world = await electorate(server, ["one"]);
  const [one] = world.replicas;
  await until("The lead", () => Promise.resolve(one!.elector.leading));
  const leases = server.client().api(Lease);
  const renewed = async () => (await leases.get("cases", { namespace: "default" })).spec?.renewTime;
  for (let round = 0; round < 2; round++) {
    const before = await renewed();
    const opened = one!.proxy.opened();
    one!.proxy.blackHole();
    await until("The next renewal", async () => await renewed() !== before);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert(one!.elector.leading, "the term goes on");
    assert(one!.proxy.opened() > opened);
  }
  assertEquals(one!.terms.length, 1);
});

Deno.test("B48: A leader whose every connection swallows what it sends stops in time, the standby leads after it, and it stands again", async () => {
  await using server = new ApiServer();
  await using world = await electorate(server, ["one", "two"]);
  const { replicas } = world;
  await until("A lead", () => Promise.resolve(replicas.some(({ elector }) => elector.leading)));
  const leader = replicas.find(({ elector }) => elector.leading)!;
  const standby = replicas.find((replica) => replica !== leader)!;
  await until("The standby's look", () => Promise.resolve(standby.elector.holder !== undefined));
  leader.proxy.swallowAll(true);
  const cut = performance.now();
  await until("The other lead", () => Promise.resolve(standby.elector.leading));
  assert(leader.terms[0]!.to - cut <= 2_000 + 500, `it led for ${leader.terms[0]!.to - cut} ms`);
  assert(standby.terms[0]!.from > leader.terms[0]!.to);
  leader.proxy.swallowAll(false);
  leader.proxy.reset();
  await until("The look of the one that was cut off", () => Promise.resolve(leader.elector.problem === undefined));
  assertEquals(leader.elector.holder, standby.elector.identity);
});

Deno.test("B07: After resets and outages each of five kinds has one watch open, and no connection is left behind", async () => {
  await using server = new ApiServer();
  const { url } = await server.listen();
  await using proxy = await proxyTo(Number(new URL(url).port));
  const client = new Client({ server: `http://127.0.0.1:${proxy.port}` });
  const stop = new AbortController();
  const restarts = new Map<string, number>();
  const follow = async (kind: Resource): Promise<void> => {
    for await (const { type } of watch(client.api(kind), { signal: stop.signal, random: () => 0 })) {
      if (type === "restarted") restarts.set(kind.kind, (restarts.get(kind.kind) ?? 0) + 1);
    }
  };
  const kinds = [ConfigMap, Secret, Pod, Service, ServiceAccount] as unknown as Resource<KubernetesObject>[];
  const runs = kinds.map(follow);
  const settled = () => until("Five watches", () => Promise.resolve(proxy.open.size === 5 && restarts.size === 5));
  await settled();
  for (const outage of [0, 500, 0]) {
    const before = proxy.opened();
    proxy.reset();
    if (outage > 0) {
      await proxy.listen(false);
      await new Promise((resolve) => setTimeout(resolve, outage));
      await proxy.listen(true);
    }
    await until("New watches", () => Promise.resolve(proxy.opened() >= before + 5));
    await settled();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assertEquals(proxy.open.size, 5, "at rest one for each kind");
  }
  assertEquals([...restarts.values()], [1, 1, 1, 1, 1], "a reset is no reason to list again");
  stop.abort();
  await Promise.all(runs);
  await client.close();
  await until("No connections", () => Promise.resolve(proxy.open.size === 0));
});

Deno.test("B69: A server that closes an HTTP/2 connection in the midst of its use costs no request, neither reads nor creates", async () => {
  const server = http2.createSecureServer(CA.server(["127.0.0.1"]));
  const sessions: http2.ServerHttp2Session[] = [];
  const seen: string[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    seen.push(`${headers[":method"]} ${String(headers[":path"]).split("?")[0]!.split("/").at(-1)}`);
    stream.resume();
    stream.on("error", () => {});
    setTimeout(() => {
      stream.respond({ ":status": 200, "content-type": "application/json" });
      stream.end('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}');
    }, 50);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as net.AddressInfo;
  const client = new Client({ server: `https://127.0.0.1:${port}`, ca: CA.cert });
  const api = client.api(ConfigMap);
  const calls = (prefix: string) => [
    api.get(`${prefix}-get`),
    api.patch(`${prefix}-patch`, {}),
    api.apply({ metadata: { name: `${prefix}-apply` } }),
    api.delete(`${prefix}-delete`),
    api.create({ metadata: { name: `${prefix}-create` } }),
  ];
  await api.get("first");
  for (let round = 0; round < 5; round++) {
    const inUse = calls(`inuse${round}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const session of sessions) if (!session.destroyed) session.goaway(0);
    await Promise.all([...inUse, ...calls(`late${round}`)]);
  }
  assertEquals(new Set(seen.filter((line) => !line.startsWith("POST"))).size, 1 + 5 * 2 * 4);
  assertEquals(seen.length, 1 + 5 * 2 * 5, "each arrived once");
  await client.close();
  for (const session of sessions) session.destroy();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
});
