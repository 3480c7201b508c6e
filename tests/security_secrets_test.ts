import { setTimeout as realTimeout } from "node:timers";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { commandLine } from "../cli.ts";
import { Client, Controller, Credentials, Operator } from "../mod.ts";
import { Event, Secret } from "../kinds.ts";
import { Authority } from "../testing/_certificates.ts";
import { ApiServer } from "../testing/mod.ts";
import { VirtualTime } from "../testing/simulation/_virtual_time.ts";
import { Thing, thing } from "./_operator.ts";

/** A word that stands for a secret; whatever is made of it is one, too. */
const WORD = "hunter2-correct-horse";
const authority = new Authority("secrets");
const { cert: CERT, key: KEY } = authority.server(["127.0.0.1"]);
/** The middle of the key, in one line of its PEM. */
const KEY_LINE = KEY.split("\n")[2]!;

/** Every form in which the secrets may be seen. */
const FORMS: readonly string[] = [
  WORD.slice(0, 10), // as much as a parser's error quotes
  btoa(WORD).slice(0, 10),
  btoa(`me:${WORD}`),
  encodeURIComponent(WORD),
  KEY_LINE,
  btoa(KEY).slice(100, 160),
];

/** Asserts that a text holds no secret. */
function assertNone(text: string, where: string): void {
  for (const form of FORMS) {
    const at = text.indexOf(form);
    assert(at < 0, `${where} shows a secret: ${text.slice(Math.max(0, at - 300), at + 60)}`);
  }
}

/** All that can be seen of a value: inspected, as JSON, as text, and the same of an error's causes. */
function shown(value: unknown): string {
  const texts = [
    Deno.inspect(value, { depth: 50, iterableLimit: 10_000, strAbbreviateSize: 1_000_000 }),
    String(value),
  ];
  try {
    texts.push(JSON.stringify(value) ?? "");
  } catch {
    // not everything is JSON
  }
  for (let error = value; error instanceof Error; error = error.cause) {
    texts.push(error.name, error.message, error.stack ?? "", ...Object.values(error).map((part) => Deno.inspect(part)));
  }
  return texts.join("\n");
}

/** A kubeconfig of one context. */
function config(user: object, cluster: object = {}, more: object = {}): string {
  return JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: "http://127.0.0.1:1", ...cluster } }],
    users: [{ name: "u", user }],
    ...more,
  });
}

/** Credentials from a kubeconfig, beside which there are files. */
function access(text: string, files: Readonly<Record<string, string>> = {}) {
  return {
    kubeconfig: "/k/config",
    env: () => undefined,
    readFile: (path: string) => {
      const found = path === "/k/config" ? text : files[path];
      return found === undefined ? Promise.reject(new Deno.errors.NotFound("there is none")) : Promise.resolve(found);
    },
  };
}

const HTTPS = { server: "https://127.0.0.1:1" };
const MULTILINE = `a\n${WORD}`;
const shell = (script: string, more: object = {}): object => ({
  exec: { command: "sh", args: ["-c", script], ...more },
});
const provider = (name: string, settings: object): object => ({ "auth-provider": { name, config: settings } });

/** Kubeconfigs with a secret in them and something wrong. */
const BROKEN: Record<string, [text: string, files?: Record<string, string>]> = {
  "a token of several lines": [config({ token: MULTILINE })],
  "a token that is not ASCII": [config({ token: `${WORD}☃` })],
  "a token that is a list": [config({ token: [WORD] })],
  "a token file of several lines": [config({ tokenFile: "token" }, {}), { "/k/token": MULTILINE }],
  "a token file that is not there": [config({ tokenFile: "none", token: WORD })],
  "a password that is a number": [config({ username: "me", password: { [WORD]: 1 } })],
  "YAML that ends in a token": [`users:\n- name: u\n  user: {token: "${WORD}`],
  "YAML with a tab before a token": [`users:\n\t- token: ${WORD}\n`],
  "a token where a list should be": [config({}, {}, { users: WORD })],
  "a token where a user should be": [config({}, {}, { users: [{ name: "u", user: WORD }] })],
  "a key that is not base64": [config({ "client-key-data": `${WORD}!`, "client-certificate-data": btoa(CERT) })],
  "a key that is no PEM": [config({ "client-key-data": btoa(WORD), "client-certificate-data": btoa(CERT) })],
  "a key without a certificate": [config({ "client-key-data": btoa(KEY) })],
  "a key in the place of the certificate": [
    config({ "client-certificate-data": btoa(KEY), "client-key-data": btoa(KEY) }, HTTPS),
  ],
  "a key that cannot be read": [
    config({
      "client-certificate-data": btoa(CERT),
      "client-key-data": btoa(`-----BEGIN PRIVATE KEY-----\n${WORD}\n-----END PRIVATE KEY-----`),
    }, HTTPS),
  ],
  "a key in the place of the CA": [config({}, { ...HTTPS, "certificate-authority-data": btoa(KEY) })],
  "a server with a password": [config({}, { server: `https://me:${WORD}@127.0.0.1:1` })],
  "a server with a password alone": [config({}, { server: `https://:${WORD}@127.0.0.1:1` })],
  "a server with a token in its query": [config({}, { server: `https://127.0.0.1:1/?token=${WORD}` })],
  "a server that is no URL": [config({}, { server: `https://me:${WORD}@[` })],
  "a proxy that cannot be used": [config({}, { "proxy-url": `ftp://me:${WORD}@127.0.0.1:1` })],
  "a proxy that is no URL": [config({}, { "proxy-url": `me:${WORD}@proxy:1` })],
  "a proxy that is not there": [config({}, { ...HTTPS, "proxy-url": `http://me:${WORD}@127.0.0.1:1` })],
  "a proxy beside insecure": [
    config({}, { ...HTTPS, "insecure-skip-tls-verify": true, "proxy-url": `http://me:${WORD}@127.0.0.1:1` }),
  ],
  "a plugin that is not there": [
    config({
      exec: { command: "no-such-plugin", args: [`--token=${WORD}`], env: [{ name: "PASSWORD", value: WORD }] },
    }),
  ],
  "a plugin that repeats its variables": [
    config(shell(`echo "no such $WHAT" >&2; exit 1`, { env: [{ name: "WHAT", value: WORD }] })),
  ],
  "a plugin that repeats its arguments": [
    config({ exec: { command: "sh", args: ["-c", 'echo "bad $2" >&2; exit 1', "sh", "--password", WORD] } }),
  ],
  "a plugin that says no JSON": [config(shell(`echo ${WORD}`))],
  "a plugin that says another JSON": [config(shell(`echo '"${WORD}"'`))],
  "a plugin that fails after saying a token": [config(shell(`echo ${WORD}; exit 1`))],
  "a plugin that says a token of two lines": [
    config(shell(`echo '{"kind":"ExecCredential","status":{"token":"a\\n${WORD}"}}'`)),
  ],
  "a plugin with variables that are none": [config(shell("exit 1", { env: [null, WORD, { name: 1, value: WORD }] }))],
  "an OpenID provider that is not there": [
    config(provider("oidc", {
      "idp-issuer-url": "http://127.0.0.1:1",
      "client-id": "c",
      "client-secret": WORD,
      "refresh-token": WORD,
      "id-token": `${btoa("{}")}.${btoa(`{"x":"${WORD}"}`)}.x`,
    })),
  ],
  "a provider that nobody knows": [config(provider("other", { "access-token": WORD }))],
  "a provider whose token has expired": [config(provider("azure", { "access-token": WORD, "expires-on": "1" }))],
};

for (const [name, [text, files]] of Object.entries(BROKEN)) {
  Deno.test(`A kubeconfig with ${name} gives an error that shows no secret`, async () => {
    await using client = new Client({ ...access(text, files), timeout: 2_000 });
    const error = await assertRejects(() => client.request({ path: "/version" }));
    assert(error instanceof Error && error.message.startsWith("Cannot "), `it says what: ${error}`);
    assertNone(shown(error), name);
    assertNone(shown(client), "the client");
    // the program says the same
    const said: string[] = [];
    const operator = new Operator("o").controller(new Controller(Secret).reconcile(() => {}));
    const run = { address: "0", connection: access(text, files), signals: false, signal: AbortSignal.timeout(300) };
    const io = { print: (line: string) => said.push(line), complain: (line: string) => said.push(line), run };
    for (const format of ["text", "json"]) {
      await commandLine(operator, ["--log-level=debug", `--log-format=${format}`], io);
    }
    assert(said.length > 0);
    assertNone(said.join("\n"), "the program");
  });
}

/** Users as they should be, each with a secret. */
const USERS: Record<string, [user: object, files?: Record<string, string>]> = {
  "a token": [{ token: WORD }],
  "a token file": [{ tokenFile: "token" }, { "/k/token": WORD }],
  "a password": [{ username: "me", password: WORD }],
  "a certificate": [{ "client-certificate-data": btoa(CERT), "client-key-data": btoa(KEY) }],
  "a plugin": [shell(`echo '{"kind":"ExecCredential","status":{"token":"${WORD}"}}'`)],
};

Deno.test("What holds credentials shows none when it is inspected", async () => {
  for (const [name, [user, files]] of Object.entries(USERS)) {
    const text = config(user, { ...HTTPS, "proxy-url": `http://me:${WORD}@127.0.0.1:1` });
    const options = access(text, files);
    const credentials = new Credentials({ ...options, token: name === "a token" ? WORD : undefined });
    const connection = await credentials.resolve();
    assertStringIncludes(connection.proxy!, WORD);
    await using client = new Client(options);
    await client.server();
    for (const value of [credentials, connection, client, client.with({}), client.api(Secret)]) {
      assertNone(shown(value), name);
    }
  }
});

/** What goes wrong with a request, however it is asked: servers and proxies that repeat what they were sent, and worse. */
const TROUBLES: readonly ((request: Request) => Response)[] = [
  (request) => {
    throw new TypeError(
      `error sending request for url (http://me:${WORD}@proxy/): ${request.headers.get("authorization")}`,
    );
  },
  (request) => new Response(`invalid token ${request.headers.get("authorization")}`, { status: 401 }),
  (request) => status(401, `the bearer token ${request.headers.get("authorization")} has expired`),
  (request) => status(403, `${request.headers.get("authorization")} may not`),
  (request) => status(500, `decode failed near ${request.headers.get("authorization")}`),
  (request) => new Response(dump(request), { status: 502, headers: { "content-type": "text/html" } }),
  (request) => new Response(dump(request), { status: 503, headers: { "content-type": "text/plain" } }),
  () => new Response(`{"kind":"Secret","data":{"password":"${btoa(WORD)}"`, json()),
  () => new Response(`{"kind":"Secret","data":{"password":"${btoa(WORD)}"}} x`, json()),
  () => new Response(WORD, json()), // which a parser's error would quote
  () => new Response(`password: ${WORD}`, { headers: { "content-type": "application/yaml" } }),
  () => new Response(`{"type":"ADDED","object":{"data":{"password":"${btoa(WORD)}"}}}\n`, json()),
  () => new Response(`{"type":"ADDED","object":{"data":{"password":"${btoa(WORD)}"\n{}\n`, json()),
  (request) =>
    new Response(null, { status: 302, headers: { location: `https://x:${WORD}@other/?t=${dump(request)}` } }),
  (request) =>
    new Response("{}", {
      headers: { ...json().headers, warning: `299 - "token ${request.headers.get("authorization")}"` },
    }),
];

function json(): { headers: Record<string, string> } {
  return { headers: { "content-type": "application/json" } };
}

function status(code: number, message: string): Response {
  return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code, message }, { status: code });
}

/** What a proxy's page for debugging shows. */
function dump(request: Request): string {
  return `<title>${request.headers.get("authorization")}</title>${
    encodeURIComponent(JSON.stringify([...request.headers]))
  }`;
}

for (const format of ["text", "json"]) {
  for (
    const [name, user] of Object.entries({
      "a token": { token: WORD },
      "a password": { username: "me", password: WORD },
    })
  ) {
    Deno.test(`An operator with ${name} that meets every trouble shows no secret in its ${format} log, metrics, events or probes`, async () => {
      using time = new VirtualTime({ random: () => 0.5 });
      const seen: string[] = [];
      const inspected: string[] = [];
      const server = new ApiServer({ now: () => time.epoch + time.now });
      await server.apply([
        Thing.crd(),
        thing("a"),
        { ...Secret.draft({ metadata: { name: "a", namespace: "default" }, data: { password: btoa(WORD) } }) },
      ]);
      time.install();
      const counts = new Map<string, number>();
      let met = 0;
      const client = new Client({
        ...access(config(user)),
        fetch: (request) => {
          // each kind of request meets each trouble, and passes in between
          const { pathname, searchParams } = new URL(request.url);
          const kind = `${request.method} ${pathname.split("/").slice(0, 6).join("/")} ${searchParams.get("watch")}`;
          const count = counts.get(kind) ?? 0;
          counts.set(kind, count + 1);
          const trouble = count % 2 === 0 ? TROUBLES[count / 2] : undefined;
          if (trouble) met++;
          return time.busy(
            trouble ? Promise.try(trouble, request) : server.fetch(
              new Request(request.url, {
                method: request.method,
                headers: [...request.headers].filter(([name]) => name !== "authorization"),
                body: request.body,
                signal: request.signal,
              }),
            ),
          );
        },
        now: () => time.now,
      });
      const things = new Controller(Thing as never)
        .owns(Secret)
        .watches(Secret, () => [])
        .onError(1000)
        .reconcile(async (object, ctx) => {
          inspected.push(shown(ctx), shown(ctx.client), shown(operator));
          ctx.event(object, { type: "Normal", reason: "Began", note: `Began ${time.now}` });
          ctx.log.debug("Seen", { object, context: ctx, client: ctx.client });
          await ctx.get(Secret, "a", { live: true });
          await ctx.applyOwned(object, Secret.draft({ metadata: { name: "b" }, data: { password: btoa(WORD) } }));
          await ctx.patchStatus(object as never, { at: time.now } as never);
        })
        .finalizer("example.com/cleanup", () => {});
      const operator = new Operator("tester").leaderElection("default", "tester").controller(things as never);
      const stop = new AbortController();
      let port = 0;
      const io = {
        print: (line: string) => seen.push(line),
        complain: (line: string) => seen.push(line),
        run: {
          client,
          signals: false,
          signal: stop.signal,
          now: () => time.now,
          address: "127.0.0.1:0",
          onListen: (address: { port: number }) => port = address.port,
        },
      };
      let code: number | undefined;
      void commandLine(operator, ["--log-level=debug", `--log-format=${format}`], io).then((ended) => code = ended);
      for (let round = 0; round < 20; round++) {
        await time.advance(60_000);
        for (const path of ["metrics", "readyz?verbose", "healthz?verbose"]) {
          seen.push(await (await fetch(`http://127.0.0.1:${port}/${path}`)).text());
        }
      }
      stop.abort();
      // sockets do not close in virtual time
      for (let turn = 0; turn < 500 && code === undefined; turn++) {
        await time.run(() => code !== undefined, 1000);
        await new Promise((resolve) => realTimeout(resolve, 10));
      }
      assertEquals(code, 0);
      const events = await server.client().api(Event).list();
      await client.close();
      await server.close();
      assert(met > 60 && inspected.length > 0 && events.items.length > 0, "it has met troubles, and worked");
      assertNone(seen.join("\n"), "what was printed");
      assertNone(inspected.join("\n"), "what is inspected");
      assertNone(JSON.stringify(events), "an event");
    });
  }
}

Deno.test("A request's error shows no secret of the answer that could not be read, nor of what a server repeats", async () => {
  for (const [index, trouble] of TROUBLES.entries()) {
    const fetch = (request: Request): Promise<Response> => Promise.try(trouble, request);
    await using client = new Client({ server: "http://localhost", token: WORD, fetch, retries: 0 });
    const asked = [
      () => client.request({ path: "/x" }),
      () => Array.fromAsync(client.api(Secret).watch()),
    ];
    for (const ask of asked) await ask().catch((error) => assertNone(shown(error), `trouble ${index}`));
  }
});

Deno.test("The command line shows no secret of its environment", async () => {
  const said: string[] = [];
  const operator = new Operator("o").controller(new Controller(Secret).reconcile(() => {}));
  const io = { print: (line: string) => said.push(line), complain: (line: string) => said.push(line) };
  Deno.env.set("TEND_TEST_TOKEN", WORD);
  try {
    for (const args of [["--help"], ["manifests"], ["rbac"], ["crds"], ["--version"], ["--nonsense"]]) {
      await commandLine(operator, args, io);
    }
  } finally {
    Deno.env.delete("TEND_TEST_TOKEN");
  }
  assertNone(said.join("\n"), "the command line");
});
