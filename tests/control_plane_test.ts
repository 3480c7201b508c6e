import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { parse } from "@std/yaml";
import { delay } from "../delay.ts";
import { Authority } from "../testing/_certificates.ts";
import { kubeconfigOf } from "../testing/_kubeconfig.ts";
import { apiServerFlags, etcdFlags, tokenLine } from "../testing/_plane_flags.ts";
import { Supervisor } from "../testing/_supervisor.ts";
import { ControlPlane } from "../testing/control_plane.ts";
import { runs } from "./_processes.ts";
import { cacheFolder, linkerFlags, moduleVersion } from "../tools/build_control_plane.ts";

const LAYOUT = { folder: "/run/plane", etcdPort: 1001, peerPort: 1002, port: 1003 };

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A folder with programs that only print and end, in place of the real ones. */
async function fakeAssets(etcd: string, apiServer: string): Promise<string> {
  const folder = await Deno.makeTempDir();
  for (const [name, script] of [["etcd", etcd], ["kube-apiserver", apiServer]] as const) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return folder;
}

Deno.test("etcdFlags() keeps to loopback, the given ports and the given folder", () => {
  assertEquals(etcdFlags(LAYOUT), [
    "--data-dir=/run/plane/etcd-data",
    "--unsafe-no-fsync=true",
    "--listen-client-urls=http://127.0.0.1:1001",
    "--advertise-client-urls=http://127.0.0.1:1001",
    "--listen-peer-urls=http://127.0.0.1:1002",
    "--initial-advertise-peer-urls=http://127.0.0.1:1002",
    "--initial-cluster=default=http://127.0.0.1:1002",
    "--log-level=warn",
  ]);
});

Deno.test("apiServerFlags() turns on RBAC, anonymous requests and the check of owner references", () => {
  const flags = apiServerFlags(LAYOUT);
  for (
    const flag of [
      "--etcd-servers=http://127.0.0.1:1001",
      "--bind-address=127.0.0.1",
      "--secure-port=1003",
      "--token-auth-file=/run/plane/tokens.csv",
      "--anonymous-auth=true",
      "--authorization-mode=RBAC",
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ]
  ) assert(flags.includes(flag), `${flag} is not among ${flags}`);
});

Deno.test("apiServerFlags() lets extra flags replace, add to and take away its own", () => {
  const flags = apiServerFlags(LAYOUT, {
    "anonymous-auth": "false",
    "allow-privileged": undefined,
    "feature-gates": "ShardedListAndWatch=true",
  });
  assertEquals(flags.filter((flag) => flag.startsWith("--anonymous-auth")), ["--anonymous-auth=false"]);
  assertEquals(flags.filter((flag) => flag.startsWith("--allow-privileged")), []);
  assertEquals(flags.at(-1), "--feature-gates=ShardedListAndWatch=true");
});

Deno.test("apiServerFlags() refuses a flag that is not a bare name", () => {
  for (const name of ["--v", "v=1", "", "a b"]) {
    assertThrows(() => apiServerFlags(LAYOUT, { [name]: "1" }), TypeError, "must be named without dashes in front");
  }
});

Deno.test("tokenLine() spells a user with its groups, and refuses names that would break the line", () => {
  assertEquals(tokenLine("carol", "t0ken", ["a", "b:c"]), 't0ken,carol,carol,"a,b:c"\n');
  assertEquals(tokenLine("carol", "t0ken", []), 't0ken,carol,carol,""\n');
  for (const name of ["", "a,b", 'a"b', "a b", "a\nb"]) {
    assertThrows(() => tokenLine(name, "t0ken", []), TypeError, "must have names without");
    assertThrows(() => tokenLine("carol", "t0ken", [name]), TypeError, "must have names without");
  }
});

Deno.test("kubeconfigOf() writes one cluster, one user and the context of both", () => {
  const config = parse(kubeconfigOf({ server: "https://[::1]:1", ca: "CA", user: "a", namespace: "n", token: "t" }), {
    schema: "core",
  });
  assertEquals(config, {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "tend", cluster: { server: "https://[::1]:1", "certificate-authority-data": btoa("CA") } }],
    users: [{ name: "a", user: { token: "t" } }],
    contexts: [{ name: "a", context: { cluster: "tend", user: "a", namespace: "n" } }],
    "current-context": "a",
  });
});

Deno.test("Authority makes server certificates that Deno's fetch accepts for their names only", async () => {
  const authority = new Authority("test");
  const { cert, key } = authority.server(["127.0.0.1", "localhost"]);
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} }, () => {
    return new Response("hello");
  });
  const { port } = server.addr;
  using trusting = Deno.createHttpClient({ caCerts: [authority.cert] });
  for (const host of ["127.0.0.1", "localhost"]) {
    assertEquals(await (await fetch(`https://${host}:${port}`, { client: trusting })).text(), "hello");
  }
  using stranger = Deno.createHttpClient({ caCerts: [new Authority("test").cert] });
  await assertRejects(() => fetch(`https://127.0.0.1:${port}`, { client: stranger }), TypeError);

  const other = authority.server(["10.0.0.1", "example.com"]);
  await using wrong = Deno.serve({ hostname: "127.0.0.1", port: 0, ...other, onListen: () => {} }, () => {
    return new Response("never");
  });
  await assertRejects(() => fetch(`https://127.0.0.1:${wrong.addr.port}`, { client: trusting }), TypeError);
});

Deno.test("Supervisor.run() starts programs with their arguments as they are and keeps what they print", async () => {
  await using supervisor = await Supervisor.start();
  await supervisor.run("printer", ["printf", "%s|", "a b", "it's", '$HOME "x"', "\\"]);
  while (supervisor.exitCode("printer") === undefined) await delay(5);
  assertEquals(supervisor.log("printer"), `a b|it's|$HOME "x"|\\|`);
  assertEquals(supervisor.exitCode("printer"), 0);
});

Deno.test("Supervisor.end() ends a program by the signal, and by SIGKILL after the grace", async () => {
  await using supervisor = await Supervisor.start();
  await supervisor.run("sleeper", ["sleep", "60"]);
  assertEquals(supervisor.exitCode("sleeper"), undefined);
  await supervisor.end("sleeper", "SIGTERM");
  assertEquals(supervisor.exitCode("sleeper"), 128 + 15);

  await supervisor.run("stubborn", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done"]);
  while (supervisor.log("stubborn") === "") await delay(5);
  await supervisor.end("stubborn", "SIGTERM", 50);
  assertEquals(supervisor.exitCode("stubborn"), 128 + 9);
  await supervisor.end("never started");
});

Deno.test("Supervisor.run() starts a program again under the same name", async () => {
  await using supervisor = await Supervisor.start();
  for (const word of ["one", "two"]) {
    await supervisor.run("again", ["echo", word]);
    while (supervisor.exitCode("again") === undefined) await delay(5);
  }
  assertEquals(supervisor.log("again"), "one\ntwo\n");
});

Deno.test("Supervisor's programs and folder are gone after disposal, which may be repeated", async () => {
  const supervisor = await Supervisor.start();
  await supervisor.run("sleeper", ["sleep", "60"]);
  const pid = Number(await Deno.readTextFile(supervisor.path("sleeper.pid")));
  assert(await runs(pid));
  await supervisor[Symbol.asyncDispose]();
  await supervisor[Symbol.asyncDispose]();
  assertEquals([await runs(pid), await exists(supervisor.folder)], [false, false]);
});

Deno.test("Supervisor's programs and folder are gone soon after its process was killed", async () => {
  const program = `
    import { Supervisor } from ${JSON.stringify(import.meta.resolve("../testing/_supervisor.ts"))};
    const supervisor = await Supervisor.start();
    await supervisor.run("sleeper", ["sleep", "60"]);
    console.log(supervisor.folder);
    setInterval(() => {}, 1000);
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", program],
    cwd: import.meta.dirname!,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const folder = ((await reader.read()).value ?? "").trim();
  const pid = Number(await Deno.readTextFile(`${folder}/sleeper.pid`));
  assert(await runs(pid));
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  for (let attempt = 0; await exists(folder); attempt++) {
    assert(attempt < 200, `${folder} is still there`);
    await delay(25);
  }
  assertEquals(await runs(pid), false);
});

Deno.test("Supervisor's programs and folder are gone soon after the worker that ran them was ended, as a test module is", async () => {
  const program = `
    import { Supervisor } from ${JSON.stringify(import.meta.resolve("../testing/_supervisor.ts"))};
    const supervisor = await Supervisor.start();
    for (let index = 0; index < 9; index++) await supervisor.run("sleeper" + index, ["sleep", "60"]);
    postMessage(supervisor.folder);
  `;
  const worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })), { type: "module" });
  const { promise, resolve } = Promise.withResolvers<string>();
  worker.onmessage = ({ data }) => resolve(data);
  const folder = await promise;
  const pids = Array.from({ length: 9 }, (_, index) => Number(Deno.readTextFileSync(`${folder}/sleeper${index}.pid`)));
  worker.terminate();
  for (let attempt = 0; await exists(folder); attempt++) {
    assert(attempt < 1000, `${folder} is still there`);
    await delay(25);
  }
  for (const pid of pids) assertEquals(await runs(pid), false);
});

Deno.test("ControlPlane.start() tries other ports when a port is taken, but not for ever", async () => {
  const counter = await Deno.makeTempFile();
  const assets = await fakeAssets("sleep 60", `echo x >>${counter}; echo 'bind: address already in use'; exit 1`);
  try {
    await assertRejects(() => ControlPlane.start({ assets }), Error, "address already in use");
    assertEquals((await Deno.readTextFile(counter)).trim().split("\n").length, 5);
  } finally {
    await Deno.remove(assets, { recursive: true });
    await Deno.remove(counter);
  }
});

Deno.test("ControlPlane.start() does not try again when a program ends for another reason", async () => {
  const counter = await Deno.makeTempFile();
  const assets = await fakeAssets(`echo x >>${counter}; echo 'no space left'; exit 3`, "sleep 60");
  try {
    const error = await assertRejects(() => ControlPlane.start({ assets }), Error);
    assertMatch(error.message, /etcd ended[^]*no space left/);
    assertEquals(await Deno.readTextFile(counter), "x\n");
  } finally {
    await Deno.remove(assets, { recursive: true });
    await Deno.remove(counter);
  }
});

Deno.test("The cache of built programs is outside the checkout, by version", () => {
  const versions = { kubernetes: "v1.37.2", etcd: "v3.7.3" };
  const env = (values: Record<string, string>) => (name: string) => values[name];
  assertEquals(
    cacheFolder(versions, env({ HOME: "/home/me" })),
    "/home/me/.cache/tend/control-plane/v1.37.2-etcd3.7.3",
  );
  assertEquals(
    cacheFolder(versions, env({ HOME: "/home/me", XDG_CACHE_HOME: "/c" })),
    "/c/tend/control-plane/v1.37.2-etcd3.7.3",
  );
});

Deno.test("The versions of the control plane come from its go.mod files", async () => {
  const goMod = (name: string) => Deno.readTextFile(`${import.meta.dirname}/../tools/control_plane/${name}/go.mod`);
  assertMatch(moduleVersion(await goMod("kube-apiserver"), "k8s.io/kubernetes"), /^v1\.\d+\.\d+$/);
  assertMatch(moduleVersion(await goMod("etcd"), "go.etcd.io/etcd/server/v3"), /^v3\.\d+\.\d+$/);
  assertThrows(() => moduleVersion("module x\n", "k8s.io/kubernetes"), Error, "go.mod must require k8s.io/kubernetes");
});

Deno.test("linkerFlags() gives kube-apiserver the version that it reports", () => {
  assertEquals(linkerFlags(), "-s -w");
  assertMatch(linkerFlags("v1.37.2"), /gitVersion=v1\.37\.2 .*gitMajor=1 .*gitMinor=37$/);
});
