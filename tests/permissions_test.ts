import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { lines } from "../_stream.ts";
import { Backup, operator } from "../examples/backup.ts";
import { ConfigMap, type Deployment, Lease } from "../kinds.ts";
import { DENO_FLAGS } from "../manifests.ts";
import { Authority } from "../testing/_certificates.ts";
import { ApiServer } from "../testing/mod.ts";
import { until } from "./control_plane/_wait.ts";
import { denoOk, ROOT } from "./_deno.ts";

const PROGRAM = "examples/backup.ts";
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The base of a command's environment: nothing but where Deno and its cache are. */
const BASE = {
  NO_COLOR: "1",
  PATH: Deno.env.get("PATH")!,
  DENO_DIR: JSON.parse((await denoOk(["info", "--json"])).stdout).denoDir as string,
};

/** How a run went. */
interface Outcome {
  /** True if the operator did its work. */
  readonly worked: boolean;
  /** What it wrote to standard error. */
  readonly log: string;
  /** Who it took itself for. */
  readonly identity: string | undefined;
}

/** An API server with a Backup to be done, that asks who one is. */
async function serverWithWork(): Promise<ApiServer> {
  const user = { name: "system:serviceaccount:default:backup-operator", groups: ["system:serviceaccounts"] };
  const server = new ApiServer({ authorization: true, users: { "the-token": user } });
  await server.apply([...operator.crds(), ...operator.roles()]);
  await server.apply([
    ConfigMap.draft({ metadata: { name: "settings", namespace: "default" }, data: { color: "blue" } }),
    {
      ...Backup.draft({
        metadata: { name: "b", namespace: "default" },
        spec: { configMap: "settings", everyMinutes: 5 },
      }),
    },
  ]);
  return server;
}

/** Runs a command until its operator has done the Backup, has ended, or has written what is awaited. */
async function run(
  server: ApiServer,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  awaited?: RegExp,
): Promise<Outcome> {
  const client = server.client({ user: "you", groups: ["system:masters"] });
  const child = new Deno.Command(program, {
    args,
    cwd: ROOT,
    clearEnv: true,
    env: { ...BASE, ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  let over = false;
  const reading = (async () => {
    for await (const line of lines(child.stderr)) log += `${line}\n`;
    over = true;
  })();
  let worked = false;
  let identity: string | undefined;
  try {
    await until(`The work, or ${awaited}`, async () => {
      worked = (await client.api(Backup).get("b", { namespace: "default" })).status?.lastRun !== undefined;
      return over || worked || awaited?.test(log);
    }, { explain: () => log });
    identity = (await client.api(Lease).find("backup-operator", { namespace: "default" }))?.spec?.holderIdentity;
  } finally {
    if (!over) child.kill("SIGTERM");
    await Promise.all([reading, child.status]);
  }
  return { worked, log, identity };
}

/** A way to run the example, and the flags that it takes. */
interface Mode {
  readonly name: string;
  readonly flags: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is written when a flag is missing. */
  readonly without: readonly RegExp[];
}

const CANNOT_LISTEN = /Cannot listen on 127\.0\.0\.1:0: Requires net access/;
const CANNOT_FIND = /Cannot find an API server: .* and the permission to read them/;
const CANNOT_READ = /Cannot read kubeconfig \S+: Requires read access/;

/** The ways to use the kubeconfig in a folder. */
function kubeconfigModes(folder: string): Mode[] {
  const file = `${folder}/.kube/config`;
  return [
    {
      name: "--kubeconfig",
      flags: ["--allow-net", `--allow-read=${file}`],
      args: ["--kubeconfig", file],
      without: [CANNOT_LISTEN, CANNOT_READ],
    },
    {
      name: "KUBECONFIG",
      flags: ["--allow-net", "--allow-env=KUBECONFIG", `--allow-read=${file}`],
      env: { KUBECONFIG: file },
      without: [CANNOT_LISTEN, CANNOT_FIND, CANNOT_READ],
    },
    {
      name: "~/.kube/config",
      flags: ["--allow-net", "--allow-env=HOME", `--allow-read=${folder}/.kube`],
      env: { HOME: folder },
      without: [CANNOT_LISTEN, CANNOT_FIND, CANNOT_FIND],
    },
  ];
}

for (const [index, name] of ["--kubeconfig", "KUBECONFIG", "~/.kube/config"].entries()) {
  Deno.test(`With ${name} an example needs the flags that its header says, and each of them`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const mode = kubeconfigModes(folder)[index]!;
      assertEquals(mode.name, name);
      for (const missing of [...mode.flags.keys(), undefined]) {
        await using server = await serverWithWork();
        const { kubeconfig } = await server.listen();
        await Deno.mkdir(`${folder}/.kube`, { recursive: true });
        await Deno.writeTextFile(`${folder}/.kube/config`, kubeconfig);
        const flags = mode.flags.filter((_, index) => index !== missing);
        const args = ["run", "--quiet", "--no-prompt", ...flags, PROGRAM, "--address=127.0.0.1:0", ...mode.args ?? []];
        const { worked, log, identity } = await run(server, [Deno.execPath(), ...args], mode.env ?? {});
        assertEquals(worked, missing === undefined, `without ${mode.flags[missing ?? -1]}: ${log}`);
        if (missing !== undefined) assertMatch(log, mode.without[missing]!);
        else assertMatch(identity!, /^tend_/);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("With --allow-sys=hostname the lease says on which host the leader runs", async () => {
  await using server = await serverWithWork();
  const { kubeconfig } = await server.listen();
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, kubeconfig);
    const flags = ["--no-prompt", "--allow-net", `--allow-read=${file}`, "--allow-sys=hostname"];
    const args = ["run", "--quiet", ...flags, PROGRAM, "--address=127.0.0.1:0", "--kubeconfig", file];
    const { worked, identity } = await run(server, [Deno.execPath(), ...args], {});
    assert(worked);
    assert(identity!.startsWith(`${Deno.hostname()}_`), identity);
  } finally {
    await Deno.remove(file);
  }
});

/** What the Deployment of the manifests gives to `deno` in the container. */
function containerArgs(): string[] {
  const objects = operator.manifests({ program: PROGRAM, args: ["--address=127.0.0.1:0"] });
  const deployment = objects.find(({ kind }) => kind === "Deployment") as unknown as Deployment;
  return [...deployment.spec!.template.spec!.containers[0]!.args!];
}

/** Files as the kubelet lays them out: links to a folder that is exchanged as a whole. */
async function serviceAccountFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(`${folder}/..2026_01_02`);
  await Deno.symlink("..2026_01_02", `${folder}/..data`);
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/..2026_01_02/${name}`, text);
    await Deno.symlink(`..data/${name}`, `${folder}/${name}`);
  }
}

/** A command that runs another with a folder in the place of the service account's, for itself alone. */
const MOUNTED = ["unshare", "--map-root-user", "--mount", "sh", "-c"] as const;
const MOUNT = `mount -t tmpfs tmpfs /run && mkdir -p "$(dirname ${SERVICE_ACCOUNT})" && ` +
  `cp -a "$0" ${SERVICE_ACCOUNT} && test -e ${SERVICE_ACCOUNT}/token && exec "$@"`;

/** True where a process may have mounts of its own: on Linux, unless that is forbidden. */
function canMount(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    const [unshare, ...args] = MOUNTED;
    return new Deno.Command(unshare, { args: [...args, "mount -t tmpfs tmpfs /run"], stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

/** Over HTTP a stream is cancelled when the client goes. */
const NEVER = new AbortController().signal;

/** An "in-cluster" API server over TLS, with the files of a service account. */
async function cluster(
  work: (run: (args: string[], awaited?: RegExp) => Promise<Outcome>) => Promise<void>,
): Promise<void> {
  await using server = await serverWithWork();
  const authority = new Authority("cluster");
  await using listener = Deno.serve(
    { hostname: "127.0.0.1", port: 0, ...authority.server(["127.0.0.1"]), onListen() {} },
    (request) => server.fetch(new Request(request, { signal: NEVER })),
  );
  const folder = await Deno.makeTempDir();
  try {
    await serviceAccountFiles(folder, { token: "the-token", "ca.crt": authority.cert, namespace: "default" });
    const env = {
      HOSTNAME: "backup-operator-0",
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: String(listener.addr.port),
    };
    await work((args, awaited) => run(server, [...MOUNTED, MOUNT, folder, Deno.execPath(), ...args], env, awaited));
    await server.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const inCluster = { ignore: !canMount() };

Deno.test(
  "In a cluster an operator works with exactly the flags and roles that its manifests have",
  inCluster,
  async () => {
    await cluster(async (run) => {
      const args = containerArgs();
      assertEquals(args.slice(0, 1 + DENO_FLAGS.length), ["run", ...DENO_FLAGS]);
      const { worked, log, identity } = await run(args);
      assert(worked, log);
      assertEquals(log.split("\n").filter((line) => /"level":"(warning|error|fatal)"/.test(line)), []);
      assertMatch(identity!, /^backup-operator-0_/, "HOSTNAME is the pod's name");
    });
  },
);

Deno.test("In a cluster each permission of the manifests is needed", inCluster, async () => {
  const [, list] = /^--allow-env=(.*)$/.exec(DENO_FLAGS.find((flag) => flag.startsWith("--allow-env="))!)!;
  const variables = list!.split(",");
  const cases: [missing: string, replacement: string | undefined, message: RegExp][] = [
    ["--allow-net", undefined, CANNOT_LISTEN],
    [`--allow-read=${SERVICE_ACCOUNT}`, undefined, /Requires read access to .*\/token/],
    ...variables.filter((name) => name !== "HOSTNAME").map((name): [string, string, RegExp] => [
      `--allow-env=${list}`,
      `--allow-env=${variables.filter((other) => other !== name)}`,
      name === "KUBERNETES_SERVICE_PORT" ? /Connection refused/ : CANNOT_FIND,
    ]),
  ];
  const permissions = DENO_FLAGS.filter((flag) => flag.startsWith("--allow-"));
  assertEquals([...new Set(cases.map(([missing]) => missing))].sort(), [...permissions].sort(), "a case for each");
  for (const [missing, replacement, message] of cases) {
    await cluster(async (run) => {
      const args = containerArgs().flatMap((arg) => arg !== missing ? [arg] : replacement ? [replacement] : []);
      const { worked, log } = await run(args, message);
      assertEquals(worked, false, `${missing} -> ${replacement}`);
      assertMatch(log, message);
    });
  }
});

Deno.test("In a cluster the variable HOSTNAME is what names the pod in the lease", inCluster, async () => {
  await cluster(async (run) => {
    const args = containerArgs().map((arg) => arg.replace("HOSTNAME,", ""));
    const { worked, identity } = await run(args);
    assert(worked);
    assertStringIncludes(identity!, "tend_");
  });
});

/** Each permission that a run made use of, once: the kind and what for, without paths of the API. */
async function used(audit: string): Promise<string[]> {
  const lines = (await Deno.readTextFile(audit)).trim().split("\n");
  const accesses = lines.map((line) => JSON.parse(line) as { permission: string; value: string | null });
  return [
    ...new Set(
      accesses.map(({ permission, value }) => `${permission} ${value?.replace(/^https?:\/\/([^/]+).*/, "$1")}`),
    ),
  ]
    .sort();
}

/** What an operator is told, and what of the network it then needs beside its API server. */
const NETWORKS: Record<string, { args: string[]; listens: string[] }> = {
  "election and probes": { args: ["--address=127.0.0.1:0"], listens: ["127.0.0.1:0"] },
  "election alone": { args: ["--address=0"], listens: [] },
  "neither election nor probes": { args: ["--address=0", "--no-leader-elect"], listens: [] },
  "metrics alone": { args: ["--address=0", "--metrics-address=127.0.0.2:0"], listens: ["127.0.0.2:0"] },
};

for (const [name, { args, listens }] of Object.entries(NETWORKS)) {
  Deno.test(`With ${name} an operator makes use of exactly the network and the files that it must, and fails without any of them`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const file = `${folder}/config`;
      const audit = `${folder}/audit`;
      for (const missing of [undefined, "server", "read", ...listens]) {
        await using server = await serverWithWork();
        const { kubeconfig, url } = await server.listen();
        await Deno.writeTextFile(file, kubeconfig);
        await Deno.writeTextFile(audit, "");
        const api = new URL(url).host;
        const hosts = [...listens, api].filter((host) => host !== (missing === "server" ? api : missing));
        const flags = [
          "--no-prompt",
          ...(hosts.length > 0 ? [`--allow-net=${hosts}`] : []),
          ...(missing === "read" ? [] : [`--allow-read=${file}`]),
        ];
        const command = [Deno.execPath(), "run", "--quiet", ...flags, PROGRAM, "--kubeconfig", file, ...args] as const;
        const awaited = /Requires (net|read) access/;
        const { worked, log } = await run(server, command, { DENO_AUDIT_PERMISSIONS: audit }, awaited);
        assertEquals(worked, missing === undefined, `without ${missing}: ${log}`);
        if (missing === undefined) {
          assertEquals(await used(audit), [...[...listens, api].map((host) => `net ${host}`), `read ${file}`].sort());
        } else assertMatch(log, awaited);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("With an exec plugin in its kubeconfig an operator needs the flags that docs/compile.md says, and each of them", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/config`;
    const flags = ["--allow-net", "--allow-env", "--allow-read", "--allow-run"];
    for (const missing of [undefined, ...flags]) {
      await using server = await serverWithWork();
      const { url } = await server.listen();
      const answer = '{"kind":"ExecCredential","status":{"token":"the-token"}}';
      await Deno.writeTextFile(
        file,
        JSON.stringify({
          "current-context": "c",
          contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
          clusters: [{ name: "k", cluster: { server: url } }],
          users: [{ name: "u", user: { exec: { command: "sh", args: ["-c", `echo '${answer}'`] } } }],
        }),
      );
      const given = flags.filter((flag) => flag !== missing);
      const args = ["run", "--quiet", "--no-prompt", ...given, PROGRAM, "--address=127.0.0.1:0", "--kubeconfig", file];
      const { worked, log } = await run(server, [Deno.execPath(), ...args], {}, /Requires \w+ access/);
      assertEquals(worked, missing === undefined, `without ${missing}: ${log}`);
      if (missing) assertMatch(log, new RegExp(`Requires ${missing.slice("--allow-".length)} access`));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
