import { assert, assertEquals, assertNotStrictEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { createPrivateKey } from "node:crypto";
import { type Connection, type CredentialOptions, Credentials } from "../credentials.ts";
import { clusterServer } from "../_in_cluster.ts";
import { Authority } from "../testing/_certificates.ts";
import { denoOk, moduleGraph, ROOT } from "./_deno.ts";
import { collectLog } from "./_log.ts";

const CA = new Authority("ca");
const OTHER_CA = new Authority("other");
const USER = CA.client("admin");

/** Files and environment of a machine that exists only here. */
class Machine {
  readonly files = new Map<string, string>();
  readonly env = new Map<string, string>();
  readonly reads: string[] = [];
  now = 0;

  credentials(options: CredentialOptions = {}): Credentials {
    return new Credentials({
      env: (name) => this.env.get(name),
      readFile: (path) => {
        this.reads.push(path);
        const text = this.files.get(path);
        return text === undefined
          ? Promise.reject(new Deno.errors.NotFound(`No such file: ${path}`))
          : Promise.resolve(text);
      },
      now: () => this.now,
      ...options,
    });
  }

  inCluster(): this {
    this.env.set("KUBERNETES_SERVICE_HOST", "10.0.0.1").set("KUBERNETES_SERVICE_PORT", "443");
    this.files.set("/sa/token", "t1\n").set("/sa/ca.crt", CA.cert).set("/sa/namespace", "shop\n");
    return this;
  }

  readonly serviceAccount: CredentialOptions = { serviceAccountDir: "/sa" };
}

interface Config {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown> | undefined;
  context?: Record<string, unknown>;
  [field: string]: unknown;
}

function config({ cluster = {}, user = { token: "abc" }, context = {}, ...rest }: Config = {}, name = "c"): string {
  return JSON.stringify({
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
    clusters: [{ name, cluster: { server: `https://${name}.test:6443`, ...cluster } }],
    users: [{ name, user }],
    ...rest,
  });
}

function withConfig(given?: Config): Machine {
  const machine = new Machine();
  machine.files.set("/k/config", config(given));
  machine.env.set("KUBECONFIG", "/k/config");
  return machine;
}

function authorization(connection: Connection): string | undefined {
  return connection.headers().find(([name]) => name === "authorization")?.[1];
}

Deno.test("Credentials takes the explicit server before KUBECONFIG, and reads no file", async () => {
  const machine = withConfig();
  const connection = await machine.credentials({ server: "https://x.test/", token: "t" }).resolve();
  assertEquals([connection.server, connection.namespace, authorization(connection)], [
    "https://x.test",
    "default",
    "Bearer t",
  ]);
  assertEquals(machine.reads, []);
});

Deno.test("Credentials takes KUBECONFIG before the service account, that before ~/.kube/config", async () => {
  const machine = withConfig().inCluster();
  machine.env.set("HOME", "/home/me");
  machine.files.set("/home/me/.kube/config", config({}, "home"));
  const server = async () => (await machine.credentials(machine.serviceAccount).resolve()).server;
  assertEquals(await server(), "https://c.test:6443");
  machine.env.set("KUBECONFIG", "");
  assertEquals(await server(), "https://10.0.0.1");
  machine.env.delete("KUBERNETES_SERVICE_HOST");
  assertEquals(await server(), "https://home.test:6443");
  machine.files.delete("/home/me/.kube/config");
  await assertRejects(server, Error, "Cannot find an API server: there must be a kubeconfig");
});

Deno.test("Credentials lets options stand before what a kubeconfig says", async () => {
  const machine = withConfig();
  const connection = await machine.credentials({
    kubeconfig: "/k/config",
    server: "https://[::1]:1234",
    token: "other",
    namespace: "ns",
    tlsServerName: "name",
    ca: CA.cert,
  }).resolve();
  assertEquals(
    [connection.server, connection.namespace, connection.serverName, authorization(connection), connection.ca?.length],
    ["https://[::1]:1234", "ns", "name", "Bearer other", 1],
  );
});

Deno.test("Credentials shows neither key nor token when it is printed", async () => {
  const credentials = new Credentials({ server: "https://x", token: "secret-token", cert: USER.cert, key: USER.key });
  const connection = await credentials.resolve();
  assertEquals(connection.key, USER.key);
  for (const shown of [Deno.inspect(connection), JSON.stringify(connection), Deno.inspect(credentials)]) {
    assert(!shown.includes("secret-token") && !shown.includes("PRIVATE KEY"), shown);
  }
});

Deno.test("Credentials reads service accounts of any host, port and white space (B60)", async () => {
  for (
    const [host, port, server] of [
      ["fd00:10::1", "443", "https://[fd00:10::1]:443"],
      ["[fd00:10::1]", "6443", "https://[fd00:10::1]:6443"],
      ["10.0.0.1", undefined, "https://10.0.0.1:443"],
      ["kubernetes.default.svc", "", "https://kubernetes.default.svc:443"],
      [" 10.0.0.1\n", " 443 ", "https://10.0.0.1:443"],
    ] as const
  ) {
    assertEquals(clusterServer(host, port), server);
    assert(URL.canParse(clusterServer(host, port)));
  }
  for (const space of ["\n", "\r\n", "  ", ""]) {
    const machine = new Machine().inCluster();
    machine.files.set("/sa/token", `${space}t1${space}`).set("/sa/namespace", `shop${space}`);
    const connection = await machine.credentials(machine.serviceAccount).resolve();
    assertEquals([connection.namespace, authorization(connection)], ["shop", "Bearer t1"]);
  }
});

Deno.test("Credentials takes the namespace default when the service account has none, and says so once (B60)", async () => {
  await using log = await collectLog();
  const machine = new Machine().inCluster();
  const credentials = machine.credentials(machine.serviceAccount);
  for (const none of [undefined, "", " \n"]) {
    if (none === undefined) machine.files.delete("/sa/namespace");
    else machine.files.set("/sa/namespace", none);
    assertEquals((await credentials.resolve()).namespace, "default");
    machine.now += 60_000;
  }
  assertEquals(log.texts("warning"), ['No namespace in "/sa": taking default'].map((text) => text.replaceAll('"', "")));
});

Deno.test("Credentials names the token file that is empty or cannot be read", async () => {
  const machine = new Machine().inCluster();
  machine.files.set("/sa/token", " \n");
  await assertRejects(
    () => machine.credentials(machine.serviceAccount).resolve(),
    Error,
    "/sa/token must not be empty",
  );
  const denied = machine.credentials({
    ...machine.serviceAccount,
    readFile: () => Promise.reject(new Deno.errors.NotCapable("Requires read access")),
  });
  await assertRejects(() => denied.resolve(), Error, "/sa/token could not be read: Requires read access");
});

Deno.test("Credentials reads a token again after a minute, and not before (B59)", async () => {
  const machine = new Machine().inCluster();
  const credentials = machine.credentials(machine.serviceAccount);
  const first = await credentials.resolve();
  machine.files.set("/sa/token", "t2");
  machine.now = 59_999;
  assertStrictEquals(await credentials.resolve(), first);
  machine.now = 60_000;
  const second = await credentials.resolve();
  assertEquals(authorization(second), "Bearer t2");
  assertEquals(second.generation, first.generation, "a token alone needs no new connections");
});

Deno.test("Credentials reads a token again at once when it was refused, once for all who ask (B59)", async () => {
  const machine = new Machine().inCluster();
  const credentials = machine.credentials(machine.serviceAccount);
  const used = await credentials.resolve();
  machine.files.set("/sa/token", "t2");
  machine.reads.length = 0;
  const fresh = await Promise.all(Array.from({ length: 50 }, () => credentials.refresh(used)));
  assertEquals(new Set(fresh).size, 1);
  assertEquals(authorization(fresh[0]!), "Bearer t2");
  assertEquals(machine.reads.filter((path) => path === "/sa/token").length, 1);
  // one that was refused with the token of before gets what is there by now
  assertStrictEquals(await credentials.refresh(used), fresh[0]);
  assertEquals(machine.reads.filter((path) => path === "/sa/token").length, 1);
});

Deno.test("Credentials waits longer and longer when a refused token stays the same (B59)", async () => {
  const machine = new Machine().inCluster();
  const credentials = machine.credentials(machine.serviceAccount);
  const used = await credentials.resolve();
  const readAt: number[] = [];
  for (machine.now = 0; machine.now < 10_000; machine.now += 100) {
    machine.reads.length = 0;
    assertStrictEquals(await credentials.refresh(used), used);
    if (machine.reads.length > 0) readAt.push(machine.now);
  }
  assertEquals(readAt, [0, 1000, 3000, 7000]);
});

Deno.test("Credentials goes on with the token at hand while the file is missing or empty (B59)", async () => {
  const machine = new Machine().inCluster();
  const credentials = machine.credentials(machine.serviceAccount);
  const first = await credentials.resolve();
  machine.now = 60_000;
  machine.files.delete("/sa/token");
  assertStrictEquals(await credentials.resolve(), first);
  machine.now += 1000;
  machine.files.set("/sa/token", "");
  assertStrictEquals(await credentials.resolve(), first);
  machine.now += 2000;
  machine.files.set("/sa/token", "t2");
  assertEquals(authorization(await credentials.resolve()), "Bearer t2");
});

Deno.test("Credentials starts another generation when the CA or the certificate changes (B62, B71)", async () => {
  const machine = withConfig({
    cluster: { "certificate-authority": "ca.crt" },
    user: { "client-certificate": "user.crt", "client-key": "/k/user.key" },
  });
  machine.files.set("/k/ca.crt", CA.cert).set("/k/user.crt", USER.cert).set("/k/user.key", USER.key);
  const credentials = machine.credentials();
  const first = await credentials.resolve();
  assertEquals([first.ca?.length, first.cert, first.key], [1, USER.cert, USER.key]);
  machine.now += 60_000;
  assertStrictEquals(await credentials.resolve(), first);
  machine.files.set("/k/ca.crt", CA.cert + OTHER_CA.cert);
  machine.now += 60_000;
  const second = await credentials.resolve();
  assertEquals([second.ca?.length, second.generation], [2, first.generation + 1]);
  const next = CA.client("admin");
  machine.files.set("/k/user.crt", next.cert).set("/k/user.key", next.key);
  machine.now += 60_000;
  const third = await credentials.resolve();
  assertEquals([third.key, third.generation], [next.key, second.generation + 1]);
});

Deno.test("Credentials goes on with the certificate at hand while its files are half replaced, and asks again soon (B62)", async () => {
  const machine = withConfig({
    cluster: { "certificate-authority": "ca.crt" },
    user: { "client-certificate": "user.crt", "client-key": "user.key" },
  });
  machine.files.set("/k/ca.crt", CA.cert).set("/k/user.crt", USER.cert).set("/k/user.key", USER.key);
  const credentials = machine.credentials();
  const first = await credentials.resolve();
  const next = CA.client("admin");
  machine.files.set("/k/user.crt", next.cert);
  machine.now += 60_000;
  assertStrictEquals(await credentials.resolve(), first);
  machine.now += 1000;
  machine.files.set("/k/user.key", next.key).set("/k/ca.crt", CA.cert.replace(/M[\w+/]{20}/, "M"));
  assertStrictEquals(await credentials.resolve(), first);
  machine.now += 2000;
  machine.files.set("/k/ca.crt", CA.cert);
  const second = await credentials.resolve();
  assertEquals([second.cert, second.key, second.generation], [next.cert, next.key, first.generation + 1]);
});

Deno.test("Credentials re-opens the token's path, so a swapped link is followed (B59)", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const write = async (version: string, token: string): Promise<void> => {
      await Deno.mkdir(`${dir}/${version}`);
      await Deno.writeTextFile(`${dir}/${version}/token`, token);
      await Deno.writeTextFile(`${dir}/${version}/ca.crt`, CA.cert);
      await Deno.symlink(version, `${dir}/..data_tmp`);
      await Deno.rename(`${dir}/..data_tmp`, `${dir}/..data`);
    };
    await write("..1", "t1");
    for (const name of ["token", "ca.crt"]) await Deno.symlink(`..data/${name}`, `${dir}/${name}`);
    let now = 0;
    const credentials = new Credentials({
      serviceAccountDir: dir,
      env: (name) => name === "KUBERNETES_SERVICE_HOST" ? "10.0.0.1" : undefined,
      now: () => now,
    });
    assertEquals(authorization(await credentials.resolve()), "Bearer t1");
    await write("..2", "t2");
    await Deno.remove(`${dir}/..1`, { recursive: true });
    now = 60_000;
    assertEquals(authorization(await credentials.resolve()), "Bearer t2");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Credentials splits a CA bundle with comments into its certificates (B63)", async () => {
  const bundle = `# first\r\n${CA.cert}\n# second\n${OTHER_CA.cert}subject=x\n${new Authority("third").cert}`;
  const { ca } = await new Credentials({ server: "https://x", ca: bundle }).resolve();
  assertEquals(ca?.length, 3);
  for (const one of ca ?? []) assert(/^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----$/.test(one));
});

const BAD_OPTIONS: Record<string, [CredentialOptions, string]> = {
  "a CA that is not PEM": [
    { ca: "MIIB" },
    "'certificate-authority' must hold at least one certificate in PEM: current value is not PEM",
  ],
  "a key as CA": [{ ca: USER.key }, "current value is PRIVATE KEY"],
  "a certificate without key": [{ cert: USER.cert }, "'client-key' must be set with a client-certificate"],
  "a key without certificate": [{ key: USER.key }, "'client-certificate' must be set with a client-key"],
  "a key that is none": [{ cert: USER.cert, key: USER.cert }, "'client-key' must be an unencrypted private key in PEM"],
  "an encrypted key (PKCS#8)": [{
    cert: USER.cert,
    key: createPrivateKey(USER.key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" })
      .toString(),
  }, "current value is ENCRYPTED PRIVATE KEY"],
  "an encrypted key (SEC1)": [{
    cert: USER.cert,
    key:
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n",
  }, "current value is EC PRIVATE KEY, encrypted"],
  "skip-verify with a CA": [
    { ca: CA.cert, insecureSkipTlsVerify: true },
    "'insecure-skip-tls-verify' must not be set together with",
  ],
  "a server that is no URL": [{ server: "https://fd00::1:443" }, "'server' must be an http or https URL"],
  "a server of another protocol": [{ server: "ftp://x" }, "'server' must be an http or https URL"],
  "a token with a line break": [{ token: "a\nb" }, "'authorization' must be one line"],
};

for (const [name, [options, message]] of Object.entries(BAD_OPTIONS)) {
  Deno.test(`Credentials refuses ${name} (B62, B63)`, async () => {
    await assertRejects(() => new Credentials({ server: "https://x", ...options }).resolve(), TypeError, message);
  });
}

Deno.test("Credentials merges several kubeconfigs as kubectl does: the first to name something wins", async () => {
  const machine = new Machine();
  machine.env.set("KUBECONFIG", ":/a/one:/missing:/b/two:");
  machine.files.set("/a/one", config({ cluster: { server: "https://first.test" }, user: { tokenFile: "token" } }));
  machine.files.set("/b/two", config({ "current-context": "other" }));
  machine.files.set("/a/token", " from-file\n");
  const connection = await machine.credentials().resolve();
  assertEquals([connection.server, authorization(connection)], ["https://first.test", "Bearer from-file"]);
});

Deno.test("Credentials reads an empty kubeconfig beside others", async () => {
  const machine = withConfig();
  machine.env.set("KUBECONFIG", "/k/empty:/k/config");
  machine.files.set("/k/empty", "");
  assertEquals((await machine.credentials().resolve()).server, "https://c.test:6443");
});

Deno.test("Credentials takes the context that is asked for, from another file too", async () => {
  const machine = new Machine();
  machine.env.set("KUBECONFIG", "/a:/b");
  machine.files.set("/a", config({}, "a")).set("/b", config({ context: { namespace: "ns" } }, "b"));
  const connection = await machine.credentials({ context: "b" }).resolve();
  assertEquals([connection.server, connection.namespace], ["https://b.test:6443", "ns"]);
});

Deno.test("Credentials notices that the kubeconfig changed", async () => {
  const machine = withConfig();
  const credentials = machine.credentials();
  await credentials.resolve();
  machine.files.set("/k/config", config({ user: { token: "new" } }));
  machine.now = 60_000;
  assertEquals(authorization(await credentials.resolve()), "Bearer new");
});

Deno.test("Credentials reads every way to say who one is", async () => {
  const headers = async (user?: Record<string, unknown>) =>
    (await withConfig({ user }).credentials().resolve()).headers().map((header) => header.join(": "));
  assertEquals(await headers({ token: " t\n" }), ["authorization: Bearer t"]);
  assertEquals(await headers({ username: "me", password: "pässword" }), [`authorization: Basic ${"bWU6cMOkc3N3b3Jk"}`]);
  assertEquals(await headers({}), []);
  assertEquals(
    await headers({
      as: "bob",
      "as-uid": "7",
      "as-groups": ["a", "b"],
      "as-user-extra": { "example.com/Scope": ["x", "y"] },
    }),
    [
      "impersonate-user: bob",
      "impersonate-uid: 7",
      "impersonate-group: a",
      "impersonate-group: b",
      "impersonate-extra-example.com%2Fscope: x",
      "impersonate-extra-example.com%2Fscope: y",
    ],
  );
  const anonymous = withConfig({
    context: { user: undefined },
    cluster: { "certificate-authority-data": btoa(CA.cert) },
  });
  assertEquals((await anonymous.credentials().resolve()).ca?.length, 1);
});

const BAD_CONFIGS: Record<string, [string, string]> = {
  "is not YAML": ["a: [b", "/k/config: it must be YAML"],
  "is a list": ["- a", "/k/config: it must be a mapping: current value is a list"],
  "has no current context": [
    config({ "current-context": "" }),
    `'current-context' must name one of the contexts ("c")`,
  ],
  "names a context that is not there": [config({ "current-context": "x" }), `must be one of "c": current value is "x"`],
  "has clusters that are no list": [config({ clusters: {} }), "'clusters' must be a list: current value is a object"],
  "has a user without name": [config({ users: [{ user: {} }] }), "'users[0].name' must be a text"],
  "has no server": [config({ cluster: { server: undefined } }), `cluster "c": 'server' must be set`],
  "names a cluster that is not there": [
    config({ context: { cluster: "x" } }),
    `context "c": 'cluster' must name a cluster`,
  ],
  "names a user that is not there": [config({ context: { user: "x" } }), `context "c": 'user' must name a user`],
  "has a token that is no text": [
    config({ user: { token: 7 } }),
    `user "c": 'token' must be a text: current value is a number`,
  ],
  "has data that is not base64": [
    config({ user: { "client-certificate-data": "%" } }),
    `user "c": 'client-certificate-data' must be base64`,
  ],
  "has a flag that is none": [
    config({ cluster: { "insecure-skip-tls-verify": "yes" } }),
    `cluster "c": 'insecure-skip-tls-verify' must be true or false`,
  ],
  "names a file that is not there": [
    config({ cluster: { "certificate-authority": "ca.crt" } }),
    `cluster "c": 'certificate-authority' must name a file that can be read: current value is "/k/ca.crt"`,
  ],
  "asks a person for credentials": [
    config({ user: { exec: { command: "x", interactiveMode: "Always" } } }),
    `user "c" in context "c" of /k/config: the exec command "x" asks a person`,
  ],
};

for (const [name, [text, message]] of Object.entries(BAD_CONFIGS)) {
  Deno.test(`Credentials says what is wrong with a kubeconfig that ${name}`, async () => {
    const machine = withConfig();
    machine.files.set("/k/config", text);
    await assertRejects(() => machine.credentials().resolve(), Error, message);
  });
}

Deno.test("Credentials shows no token of a kubeconfig that is not YAML", async () => {
  const machine = withConfig();
  machine.files.set("/k/config", "users: [{ user: { token: secret-token }\n  : :");
  const error = await assertRejects(() => machine.credentials().resolve());
  assert(!Deno.inspect(error).includes("secret-token"));
});

/** An exec plugin that answers its n-th run with the n-th line, or fails with `fail ...`. */
async function plugin(
  answers: readonly string[],
  exec: Record<string, unknown> = {},
): Promise<{ config: string; runs(): Promise<number>; info(): Promise<Record<string, unknown>> } & AsyncDisposable> {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${dir}/answers`, answers.join("\n") + "\n");
  await Deno.writeTextFile(
    `${dir}/plugin.sh`,
    `#!/bin/sh
cd "$(dirname "$0")"
echo run >> runs
printf '%s' "$KUBERNETES_EXEC_INFO" > info
answer=$(sed -n "$(wc -l < runs | tr -d ' ')p" answers)
case "$answer" in fail*) echo "$answer" >&2; exit 1;; esac
printf '%s' "$answer"
`,
    { mode: 0o755 },
  );
  await Deno.writeTextFile(
    `${dir}/config`,
    config({ user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin.sh", ...exec } } }),
  );
  return {
    config: `${dir}/config`,
    runs: async () => (await Deno.readTextFile(`${dir}/runs`)).trim().split("\n").length,
    info: async () => JSON.parse(await Deno.readTextFile(`${dir}/info`)),
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

function credential(status: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });
}

Deno.test("Credentials runs an exec plugin beside its kubeconfig, once, and tells it of the cluster", async () => {
  await using exec = await plugin([credential({ token: "one" })], { provideClusterInfo: true });
  let now = 0;
  const credentials = new Credentials({ kubeconfig: exec.config, now: () => now });
  assertEquals(authorization(await credentials.resolve()), "Bearer one");
  now = 3_600_000;
  assertEquals(authorization(await credentials.resolve()), "Bearer one");
  assertEquals(await exec.runs(), 1);
  assertEquals(await exec.info(), {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server: "https://c.test:6443" } },
  });
});

Deno.test("Credentials renews what an exec plugin gave before it ends, and when it is refused (B59)", async () => {
  const { cert, key } = USER;
  const soon = new Date(Date.now() + 100_000).toISOString();
  await using exec = await plugin([
    credential({ token: "one", expirationTimestamp: soon }),
    "fail for once",
    credential({ token: "two" }),
    credential({ clientCertificateData: cert, clientKeyData: key }),
  ]);
  let now = 0;
  const credentials = new Credentials({ kubeconfig: exec.config, now: () => now });
  const first = await credentials.resolve();
  assertEquals(authorization(first), "Bearer one");
  now = 80_000; // a tenth of its life is left from 90 s on
  assertStrictEquals(await credentials.resolve(), first);
  assertEquals(await exec.runs(), 1);
  now = 91_000; // fails: what is at hand is still valid
  assertStrictEquals(await credentials.resolve(), first);
  assertStrictEquals(await credentials.resolve(), first);
  assertEquals(await exec.runs(), 2);
  now = 92_000;
  const second = await credentials.resolve();
  assertEquals(authorization(second), "Bearer two");
  const third = await credentials.refresh(second);
  assertEquals([authorization(third), third.cert, third.key], [undefined, cert, key]);
  assertEquals(third.generation, second.generation + 1);
  assertEquals(await exec.runs(), 4);
});

Deno.test("Credentials backs off from a failing exec plugin when there is nothing else (B59)", async () => {
  await using exec = await plugin(["fail to reach the identity provider", credential({ token: "one" })]);
  let now = 0;
  const credentials = new Credentials({ kubeconfig: exec.config, now: () => now });
  for (let tries = 0; tries < 3; tries++) {
    await assertRejects(
      () => credentials.resolve(),
      Error,
      `Cannot get credentials for user "c" in context "c" of ${exec.config}: the exec command "./plugin.sh" failed: fail to reach`,
    );
  }
  assertEquals(await exec.runs(), 1);
  now = 1000;
  assertEquals(authorization(await credentials.resolve()), "Bearer one");
});

for (
  const [what, answer] of Object.entries({
    "no JSON": `secret-token`,
    "no status": `{"kind":"ExecCredential"}`,
    "neither token nor certificate": credential({}),
  })
) {
  Deno.test(`Credentials says that an exec plugin answered with ${what}, not with what`, async () => {
    await using exec = await plugin([answer]);
    const error = await assertRejects(
      () => new Credentials({ kubeconfig: exec.config }).resolve(),
      Error,
      'the exec command "./plugin.sh" answered with',
    );
    assert(!Deno.inspect(error).includes("secret-token"));
  });
}

Deno.test("Credentials stops waiting when its signal aborts", async () => {
  const machine = new Machine().inCluster();
  const credentials = machine.credentials({ ...machine.serviceAccount, readFile: () => new Promise(() => {}) });
  const stop = new AbortController();
  const waiting = credentials.resolve(stop.signal);
  stop.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
});

Deno.test("Credentials follows a changed namespace and server", async () => {
  const machine = withConfig();
  const credentials = machine.credentials();
  const first = await credentials.resolve();
  machine.files.set("/k/config", config({ cluster: { server: "https://moved.test" }, context: { namespace: "x" } }));
  machine.now = 60_000;
  const second = await credentials.resolve();
  assertNotStrictEquals(second, first);
  assertEquals([second.server, second.namespace, second.generation], ["https://moved.test", "x", first.generation + 1]);
});

Deno.test("client.ts imports client-node only dynamically, by a literal", async () => {
  const graph = await moduleGraph(["client.ts"]);
  const importers = graph.flatMap(({ specifier, dependencies = [] }) =>
    dependencies.filter((one) => one.specifier.includes("client-node") && !specifier.includes("/node_modules/"))
      .map((one) => ({
        from: specifier.split("/").pop(),
        dynamic: one.isDynamic === true,
        code: one.code !== undefined,
      }))
  );
  // the other one there is the import of types
  assertEquals(importers.filter(({ code }) => code).every(({ dynamic }) => dynamic), true, Deno.inspect(importers));
  assert(importers.some(({ from, dynamic }) => from === "_credential_plugins.ts" && dynamic), Deno.inspect(importers));
});

Deno.test("A client in a cluster never loads client-node, under narrow permissions", async () => {
  const dir = await Deno.makeTempDir();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => Response.json({ major: "1" }));
  try {
    await Deno.writeTextFile(`${dir}/token`, "t1\n");
    await Deno.writeTextFile(`${dir}/namespace`, "shop\n");
    const program = `
      import { Client } from "${ROOT}/client.ts";
      await using client = new Client({ serviceAccountDir: "${dir}" });
      console.log(await client.namespace(), await client.server());
      await using plain = new Client({ serviceAccountDir: "${dir}", server: "http://127.0.0.1:${server.addr.port}", token: "x" });
      console.log((await plain.request({ path: "/version" })).major);
    `;
    await Deno.writeTextFile(`${dir}/program.ts`, program);
    const { stdout, stderr } = await denoOk([
      "run",
      "--log-level=debug",
      "--no-prompt",
      `--config=${ROOT}/deno.json`,
      `--allow-read=${dir}`,
      `--allow-net=127.0.0.1:${server.addr.port}`,
      "--allow-env=KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT",
      `${dir}/program.ts`,
    ], { env: { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" } });
    assertEquals(stdout.trim().split("\n"), ["shop https://[fd00::1]", "1"]);
    const loaded = (log: string) => log.split("\n").filter((line) => /client-node\/[\d.]+\/dist/.test(line)).length;
    assertEquals(loaded(stderr), 0);
    // and that this would have shown it
    await using exec = await plugin([credential({ token: "one" })]);
    await Deno.writeTextFile(
      `${dir}/exec.ts`,
      `import { Credentials } from "${ROOT}/credentials.ts";
      await new Credentials({ kubeconfig: "${exec.config}" }).resolve();`,
    );
    const other = await denoOk(["run", "--log-level=debug", `--config=${ROOT}/deno.json`, "-A", `${dir}/exec.ts`]);
    assert(loaded(other.stderr) > 0);
  } finally {
    await server.shutdown();
    await Deno.remove(dir, { recursive: true });
  }
});
