/** The client over real sockets: TLS, client certificates, dead and stale connections. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createPrivateKey } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import type { TLSSocket } from "node:tls";
import { Client, type ClientOptions } from "../client.ts";
import { ApiError, TransportError } from "../errors.ts";
import { type KubernetesObject, resource } from "../resource.ts";
import { Authority, type KeyPair } from "../testing/_certificates.ts";
import { denoOk, ROOT } from "./_deno.ts";

interface Config extends KubernetesObject {
  data?: Record<string, string>;
}
const ConfigMap = resource<Config>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps" });

const CA = new Authority("ca");

interface Listening extends AsyncDisposable {
  readonly port: number;
  /** Sockets that are open now. */
  readonly open: Set<net.Socket>;
  /** How many have been opened. */
  opened(): number;
}

async function listening(server: net.Server, host = "127.0.0.1"): Promise<Listening> {
  const open = new Set<net.Socket>();
  let opened = 0;
  server.on("connection", (socket: net.Socket) => {
    opened++;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, () => resolve()));
  return {
    port: (server.address() as net.AddressInfo).port,
    open,
    opened: () => opened,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function kubeconfig(server: string, user: Record<string, unknown>, cluster: Record<string, unknown> = {}): string {
  return JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
    clusters: [{ name: "c", cluster: { server, ...cluster } }],
    users: [{ name: "c", user }],
  });
}

/** An HTTPS server that answers with who the client is, by its certificate and its headers. */
function tlsServer(pair: KeyPair, clients?: Authority): https.Server {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const socket = request.socket as TLSSocket;
    const user = socket.authorized ? String(socket.getPeerCertificate().subject?.CN) : "anonymous";
    const { pathname, searchParams } = new URL(request.url!, "https://x");
    if (clients && user === "anonymous") {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "Status", code: 401, reason: "Unauthorized" }));
      return;
    }
    const metadata = { name: user, namespace: pathname, uid: request.method };
    response.writeHead(200, { "content-type": "application/json" });
    const groups = request.rawHeaders.filter((_, at) =>
      request.rawHeaders[at - 1]?.toLowerCase() === "impersonate-group"
    );
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata, data: { groups: groups.join("|") } };
    request.resume();
    request.on(
      "end",
      () =>
        response.end(
          searchParams.get("watch") ? JSON.stringify({ type: "ADDED", object }) + "\n" : JSON.stringify(object),
        ),
    );
  };
  return https.createServer({
    ...pair,
    ...(clients ? { ca: clients.cert, requestCert: true, rejectUnauthorized: false } : {}),
  }, answer);
}

async function openssl(dir: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args, cwd: dir, stdin: "null" }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Client certificates by the form of their key; RSA ones need openssl. */
async function clientPairs(dir: string): Promise<Record<string, KeyPair & { ca?: string }>> {
  const pkcs8 = CA.client("admin");
  const sec1 = createPrivateKey(pkcs8.key).export({ type: "sec1", format: "pem" }).toString();
  await openssl(
    dir,
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    "rsa.key",
    "-out",
    "rsa.crt",
    "-days",
    "2",
    "-subj",
    "/CN=admin",
  );
  const rsa = { cert: await Deno.readTextFile(`${dir}/rsa.crt`), key: await Deno.readTextFile(`${dir}/rsa.key`) };
  const pkcs1 = createPrivateKey(rsa.key).export({ type: "pkcs1", format: "pem" }).toString();
  return {
    "EC in PKCS#8": pkcs8,
    "EC in SEC1": { cert: pkcs8.cert, key: sec1 },
    "RSA in PKCS#8": { ...rsa, ca: rsa.cert },
    "RSA in PKCS#1": { cert: rsa.cert, key: pkcs1, ca: rsa.cert },
  };
}

Deno.test("Client sends its certificate with every kind of request, whatever the form of its key (B62)", async (t) => {
  const dir = await Deno.makeTempDir();
  try {
    for (const [form, { cert, key, ca = CA.cert }] of Object.entries(await clientPairs(dir))) {
      await t.step(form, async () => {
        const trusted = { cert: ca } as Authority;
        await using server = await listening(tlsServer(CA.server(["127.0.0.1"]), trusted));
        const options = { server: `https://127.0.0.1:${server.port}`, ca: CA.cert };
        await using client = new Client({ ...options, cert, key });
        const api = client.api(ConfigMap);
        const users: string[] = [];
        for await (const { object } of api.watch()) users.push(object.metadata.name);
        users.push((await api.patch("a", {})).metadata.name);
        for (const one of await Promise.all(Array.from({ length: 5 }, () => api.get("a")))) {
          users.push(one.metadata.name);
        }
        assertEquals(users, Array(7).fill("admin"));
        await using anonymous = new Client(options);
        await assertRejects(() => anonymous.api(ConfigMap).get("a"), ApiError, "401");
      });
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Client trusts a CA for an address or a name, and says why not otherwise (B63)", async (t) => {
  const other = new Authority("other");
  const cases: [string, string[], ClientOptions, string | undefined][] = [
    ["an address in the certificate", ["127.0.0.1"], { ca: CA.cert }, undefined],
    ["the second CA of a bundle", ["127.0.0.1"], { ca: `# x\n${other.cert}\n# y\n${CA.cert}` }, undefined],
    ["a name in the certificate, asked for", ["only.test"], { ca: CA.cert, tlsServerName: "only.test" }, undefined],
    ["skip-verify", ["only.test"], { insecureSkipTlsVerify: true }, undefined],
    ["another CA", ["127.0.0.1"], { ca: other.cert }, "UnknownIssuer"],
    ["no CA", ["127.0.0.1"], {}, "UnknownIssuer"],
    ["a certificate for another name", ["only.test"], { ca: CA.cert }, "not valid for name"],
    ["another name asked for", ["only.test"], { ca: CA.cert, tlsServerName: "wrong.test" }, "does not match"],
    [
      "another CA, with a name asked for",
      ["only.test"],
      { ca: other.cert, tlsServerName: "only.test" },
      "the request failed",
    ],
  ];
  for (const [what, hosts, options, failure] of cases) {
    await t.step(what, async () => {
      await using server = await listening(tlsServer(CA.server(hosts)));
      await using client = new Client({ server: `https://127.0.0.1:${server.port}`, retries: 0, ...options });
      const work = client.api(ConfigMap).get("a");
      if (failure === undefined) assertEquals((await work).metadata.uid, "GET");
      else assertStringIncludes((await assertRejects(() => work, TransportError)).message, failure);
    });
  }
});

Deno.test("Client reaches a server at an IPv6 address (B60, B63)", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${dir}/config`,
      "[req]\ndistinguished_name=dn\nx509_extensions=v3\n[dn]\n[v3]\nbasicConstraints=critical,CA:FALSE\nsubjectAltName=IP:::1\n",
    );
    const make = "req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=v6 -config config";
    await openssl(dir, ...make.split(" "));
    const [cert, key] = await Promise.all(["cert", "key"].map((name) => Deno.readTextFile(`${dir}/${name}`)));
    // a self-signed certificate that is its own CA
    await using server = await listening(tlsServer({ cert: cert!, key: key! }), "::1");
    await using client = new Client({ server: `https://[::1]:${server.port}`, ca: cert!, retries: 0 });
    assertEquals((await client.api(ConfigMap).get("a")).metadata.uid, "GET");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Over node:https, streams, bodies, errors, deadlines and closing work alike (B63)", async () => {
  const events: ServerResponse[] = [];
  const pair = CA.server(["only.test"]);
  const server = https.createServer(pair, (request, response) => {
    let body = "";
    request.on("data", (chunk) => body += chunk);
    request.on("end", () => {
      if (request.url!.includes("hang")) return;
      if (request.url!.includes("watch")) {
        response.writeHead(200);
        response.write('{"type":"ADDED","object":{"metadata":{"name":"é€😀"}}}\n');
        events.push(response);
        return;
      }
      response.writeHead(request.url!.includes("nope") ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: {}, data: { body } }));
    });
  });
  await using at = await listening(server);
  const client = new Client({
    server: `https://127.0.0.1:${at.port}`,
    ca: CA.cert,
    tlsServerName: "only.test",
    retries: 0,
  });
  const api = client.api(ConfigMap);
  assertEquals(JSON.parse((await api.patch("a", { data: { x: "é€😀" } })).data!.body!), { data: { x: "é€😀" } });
  assertEquals(await api.find("nope"), undefined);
  await assertRejects(() => api.get("hang", { timeout: 100 }), TransportError, "no answer came within 100 ms");

  const broken = api.watch();
  assertEquals((await broken.next()).value?.object.metadata.name, "é€😀");
  events.pop()!.socket!.destroy();
  await assertRejects(() => broken.next(), TransportError, "the stream broke");

  const stop = new AbortController();
  const aborted = api.watch({ signal: stop.signal });
  await aborted.next();
  const ends = assertRejects(() => aborted.next(), Error, "enough");
  stop.abort(new Error("enough"));
  await ends;

  const left = api.watch();
  await left.next();
  await left.return(undefined);
  await client.close();
  while (at.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

Deno.test("Client impersonates several groups, each in its own header", async () => {
  await using server = await listening(tlsServer(CA.server(["127.0.0.1"])));
  const config = kubeconfig(`https://127.0.0.1:${server.port}`, { as: "bob", "as-groups": ["a", "b,c"] }, {
    "certificate-authority-data": btoa(CA.cert),
  });
  await using client = new Client({ kubeconfig: "/config", readFile: () => Promise.resolve(config) });
  assertEquals((await client.api(ConfigMap).get("a")).data?.groups, "a|b,c");
});

Deno.test("Client opens new connections when CA or certificate change, and closes the old ones after their last request (B62, B71)", async () => {
  await using server = await listening(tlsServer(CA.server(["127.0.0.1"]), CA));
  const files = new Map<string, string>();
  const rotate = (user: string): void => {
    const { cert, key } = CA.client(user);
    files.set("/ca", new Authority(user).cert + CA.cert).set("/cert", cert).set("/key", key);
  };
  const user = { "client-certificate": "/cert", "client-key": "/key" };
  files.set("/config", kubeconfig(`https://127.0.0.1:${server.port}`, user, { "certificate-authority": "/ca" }));
  let now = 0;
  const client = new Client({
    kubeconfig: "/config",
    readFile: (path) => Promise.resolve(files.get(path)!),
    now: () => now,
  });
  for (let round = 0; round < 50; round++) {
    rotate(`user-${round}`);
    now += 60_000;
    assertEquals((await client.api(ConfigMap).get("a")).metadata.name, `user-${round}`);
    assertEquals((await client.api(ConfigMap).get("a")).metadata.name, `user-${round}`);
  }
  // Deno puts a connection back into its pool after the answer was read, now and then too late for the very next request.
  const opened = server.opened();
  assert(opened >= 50 && opened < 60, `${opened} connections for 50 rotations and 100 requests`);
  while (server.open.size > 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await client.close();
  while (server.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

/** A server that reads whole requests and does with each socket as told. */
function rawServer(
  answer: (request: string, socket: net.Socket, nth: number) => void,
): { server: net.Server; requests: string[] } {
  const requests: string[] = [];
  const server = net.createServer((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      const chunked = /transfer-encoding: chunked/i.test(text);
      if (chunked ? !text.endsWith("\r\n0\r\n\r\n") : text.length < end + 4 + length) return;
      const request = text;
      text = "";
      requests.push(request);
      answer(request, socket, requests.length);
    });
  });
  return { server, requests };
}

const OK = (() => {
  const body = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}';
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
})();

for (const reused of [false, true]) {
  Deno.test(`A write whose connection is reset is sent once on a ${reused ? "reused" : "fresh"} connection (B68)`, async () => {
    const { server, requests } = rawServer((request, socket) => {
      if (request.startsWith("GET")) socket.write(OK);
      else socket.resetAndDestroy();
    });
    await using at = await listening(server);
    for (const impersonating of [false, true]) {
      // two groups to impersonate make it go over node:http
      const user = impersonating ? { as: "a", "as-groups": ["a", "b"] } : {};
      await using client = new Client({
        kubeconfig: "/config",
        readFile: () => Promise.resolve(kubeconfig(`http://127.0.0.1:${at.port}`, user)),
      });
      const api = client.api(ConfigMap);
      const writes = [
        () => api.create({ metadata: { name: "a" } }),
        () => api.apply({ metadata: { name: "a" } }),
        () => api.patch("a", { data: {} }),
        () => api.delete("a"),
        () => client.request({ method: "POST", path: "/bodyless" }),
      ];
      for (const write of writes) {
        if (reused) await api.get("a");
        requests.length = 0;
        await assertRejects(write, TransportError, "the request failed");
        await new Promise((resolve) => setTimeout(resolve, 20));
        assertEquals(requests.length, 1, requests[0]);
      }
    }
  });
}

Deno.test("A read or conditional write on a stale pooled connection succeeds on a new one (B69)", async () => {
  const { server, requests } = rawServer((_, socket, nth) => {
    // every second request finds its connection reset, as when the server had closed it
    if (nth % 2 === 0) socket.resetAndDestroy();
    else socket.write(OK);
  });
  await using at = await listening(server);
  await using client = new Client({ server: `http://127.0.0.1:${at.port}` });
  const api = client.api(ConfigMap);
  await api.get("a");
  await api.get("a");
  await api.patch("a", { metadata: { uid: "u" } });
  await api.replace({ metadata: { name: "a", resourceVersion: "1" } });
  assertEquals(requests.map((request) => request.split(" ")[0]), ["GET", "GET", "GET", "PATCH", "PATCH", "PUT", "PUT"]);
});

Deno.test("A server that closes idle connections, or comes back on its port, costs no error (B69)", async () => {
  let { server } = rawServer((_, socket) => socket.write(OK));
  let at = await listening(server);
  const { port } = at;
  await using client = new Client({ server: `http://127.0.0.1:${port}` });
  const api = client.api(ConfigMap);
  try {
    await api.get("a");
    for (const socket of at.open) socket.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await api.create({ metadata: { name: "a" } });
    await at[Symbol.asyncDispose]();
    ({ server } = rawServer((_, socket) => socket.write(OK)));
    const restarted = listening(Object.assign(server, { listen: server.listen.bind(server, port) }) as net.Server);
    at = await Promise.race([
      restarted,
      new Promise<never>((_, reject) => setTimeout(() => reject(new Error("no listen")), 5000)),
    ]);
    await api.get("a");
  } finally {
    await at[Symbol.asyncDispose]();
  }
});

/** A TCP proxy whose connections of before can be made to swallow bytes, as after the loss of a node. */
async function proxyTo(port: number): Promise<Listening & { blackHole(): void }> {
  const swallow: (() => void)[] = [];
  const server = net.createServer((socket) => {
    const onward = net.connect(port, "127.0.0.1");
    let dead = false;
    swallow.push(() => dead = true);
    socket.on("data", (chunk) => dead || onward.write(chunk));
    onward.on("data", (chunk) => dead || socket.write(chunk));
    socket.on("close", () => onward.destroy());
    onward.on("error", () => {});
  });
  return { ...await listening(server), blackHole: () => swallow.splice(0).forEach((stop) => stop()) };
}

Deno.test("After a timeout on a dead connection the next request goes over a new one, the watch's own too (B02)", async () => {
  const backend = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) =>
      request.url.includes("watch=true")
        ? new Response(
          new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode('{"type":"ADDED","object":{}}\n')) }),
        )
        : Response.json({ kind: "ConfigMap", metadata: { name: "a" } }),
  );
  const proxy = await proxyTo(backend.addr.port);
  const client = new Client({ server: `http://127.0.0.1:${proxy.port}`, timeout: 300 });
  try {
    const api = client.api(ConfigMap);
    const stop = new AbortController();
    const watch = api.watch({ signal: stop.signal });
    assertEquals((await watch.next()).value?.type, "ADDED");
    await api.get("a");
    proxy.blackHole();
    const dead = proxy.opened();
    await assertRejects(() => api.patch("a", {}), TransportError, "no answer came within 300 ms");
    // the very next ones work, and many at a time
    await Promise.all([api.patch("a", {}), api.get("a"), api.create({ metadata: { name: "b" } })]);
    assert(proxy.opened() > dead);
    // the watch is silent, until whoever reads it ends it and asks again: also over a new connection
    const silent = watch.next();
    stop.abort(new Error("silent"));
    await assertRejects(() => silent, Error, "silent");
    const again = api.watch();
    assertEquals((await again.next()).value?.type, "ADDED");
    await again.return(undefined);
  } finally {
    await client.close();
    await proxy[Symbol.asyncDispose]();
    await backend.shutdown();
  }
});

Deno.test("A watch whose connection breaks fails; a client's credentials do not follow a redirect elsewhere", async () => {
  const leaked: string[] = [];
  await using thief = await listening(
    rawServer((request, socket) => {
      leaked.push(request);
      socket.write(OK);
    }).server,
  );
  const { server } = rawServer((request, socket) => {
    if (request.includes("watch")) {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1d\r\n{"type":"ADDED","object":{}}\n\r\n');
      setTimeout(() => socket.resetAndDestroy(), 20);
    } else {
      socket.write(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${thief.port}/x\r\ncontent-length: 0\r\n\r\n`);
    }
  });
  await using at = await listening(server);
  await using client = new Client({ server: `http://127.0.0.1:${at.port}`, token: "secret" });
  const watch = client.api(ConfigMap).watch();
  assertEquals((await watch.next()).value?.type, "ADDED");
  await assertRejects(() => watch.next(), TransportError, "the stream broke");
  await assertRejects(() => client.api(ConfigMap).get("a"), ApiError, "not followed");
  assertEquals(leaked, []);
});

Deno.test("Client sees a truncated answer as none, and repeats a read", async () => {
  const { server, requests } = rawServer((_, socket, nth) => {
    if (nth === 1) {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"kind":');
    } else socket.write(OK);
  });
  await using at = await listening(server);
  await using client = new Client({ server: `http://127.0.0.1:${at.port}` });
  assertEquals((await client.api(ConfigMap).get("a")).metadata.name, "a");
  assertEquals(requests.length, 2);
});

Deno.test("Client says that a server is not there", async () => {
  const gone = await listening(net.createServer());
  await gone[Symbol.asyncDispose]();
  await using client = new Client({ server: `http://127.0.0.1:${gone.port}` });
  const error = await assertRejects(() => client.api(ConfigMap).get("a"), TransportError, "Connection refused");
  assertEquals(error.timedOut, false);
});

Deno.test("A process ends by itself right after its client is closed, whatever deadlines and streams there were (B71)", async () => {
  const dir = await Deno.makeTempDir();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) =>
      request.url.includes("watch=true") ? new Response(new ReadableStream()) : Response.json({ kind: "ConfigMap" }),
  );
  try {
    await Deno.writeTextFile(
      `${dir}/program.ts`,
      `
      import { Client } from "${ROOT}/client.ts";
      const client = new Client({ server: "http://127.0.0.1:${server.addr.port}", timeout: { minutes: 10 } });
      const { signal } = new AbortController();
      for (let n = 0; n < 500; n++) await client.request({ path: "/x", signal });
      const { body } = await client.stream({ path: "/x?watch=true", signal });
      body.getReader().read().catch(() => {});
      client.request({ path: "/y" }).catch(() => {});
      await client.close();
      const start = performance.now();
      addEventListener("unload", () => console.log(Math.round(performance.now() - start)));
      `,
    );
    const { stdout } = await denoOk(["run", "--no-check", "-A", `--config=${ROOT}/deno.json`, `${dir}/program.ts`]);
    assert(Number(stdout.trim()) < 1000, `took ${stdout} ms`);
  } finally {
    await server.shutdown();
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Over HTTP/2, as many watches as a connection takes hold up no write, and those beyond get a connection of their own (B02)", async () => {
  const { cert, key } = CA.server(["127.0.0.1"]);
  const bodies: string[] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", cert, key, onListen() {} }, async (request) => {
    if (request.method !== "GET") bodies.push(await request.text());
    return request.url.includes("watch=true")
      ? new Response(
        new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode('{"type":"ADDED","object":{}}\n')) }),
      )
      : Response.json({ kind: "ConfigMap", metadata: { name: "a" } });
  });
  await using client = new Client({ server: `https://127.0.0.1:${server.addr.port}`, ca: CA.cert });
  const api = client.api(ConfigMap);
  // hyper, and so Deno.serve, takes 200 streams per connection
  const watches = Array.from({ length: 210 }, () => api.watch({ timeout: 5000 }));
  const first = Promise.allSettled(watches.map((watch) => watch.next()));
  await api.create({ metadata: { name: "a" } }, { timeout: 4500 });
  assertEquals(JSON.parse(bodies[0]!).metadata, { name: "a" });
  const beyond = (await first).filter(({ status }) => status === "rejected").length;
  assertEquals(beyond, 10);
  const again = api.watch({ timeout: 5000 });
  assertEquals((await again.next()).value?.type, "ADDED");
  await client.close();
});

Deno.test("Client goes through the proxy that its kubeconfig names, or says why it cannot", async () => {
  const { server, requests } = rawServer((_, socket) => socket.write(OK));
  await using proxy = await listening(server);
  const config = (cluster: Record<string, unknown>) => () =>
    Promise.resolve(kubeconfig("http://api.test", {}, { "proxy-url": `http://127.0.0.1:${proxy.port}`, ...cluster }));
  await using client = new Client({ kubeconfig: "/config", readFile: config({}) });
  await client.api(ConfigMap).get("a");
  assertStringIncludes(requests[0]!, "GET http://api.test/api/v1/namespaces/default/configmaps/a HTTP/1.1");
  await using both = new Client({ kubeconfig: "/config", readFile: config({ "tls-server-name": "x" }) });
  await assertRejects(() => both.api(ConfigMap).get("a"), TypeError, "a proxy cannot be combined with");
});
