import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ConfigMap } from "../kinds.ts";
import { Authority } from "../testing/_certificates.ts";
import { ApiServer } from "../testing/mod.ts";
import { deno, denoOk, moduleGraph, ROOT } from "./_deno.ts";
import { isPublished, modulePaths, source, withoutComments } from "./_sources.ts";

const EXPORTS = ["mod.ts", "kinds.ts", "testing/mod.ts"];
const HEAVY = "npm:@kubernetes/client-node";

/** Runs a program of one file outside the checkout, with the checkout's import map. */
async function runProgram(
  program: string,
  flags: readonly string[],
  args: readonly string[] = [],
): Promise<{ stdout: string; stderr: string }> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, program);
    const config = `${await Deno.realPath(ROOT)}/deno.json`;
    return await denoOk(["run", "--quiet", "--no-prompt", "--config", config, ...flags, file, ...args]);
  } finally {
    await Deno.remove(file);
  }
}

async function url(path: string): Promise<string> {
  return JSON.stringify(new URL(`file://${await Deno.realPath(`${ROOT}/${path}`)}`).href);
}

/** The scripts that a program has loaded, asked of its own engine. */
const LOADED = `
import { Session } from "node:inspector";
async function loaded(): Promise<string[]> {
  const session = new Session();
  const urls: string[] = [];
  session.connect();
  session.on("Debugger.scriptParsed", ({ params }: { params: { url: string } }) => urls.push(params.url));
  await new Promise<void>((resolve) => session.post("Debugger.enable", {}, () => resolve()));
  session.disconnect();
  return urls;
}
`;

/** Globals that Deno adds for npm packages, and that zod and LogTape add. */
const GLOBALS_OF_OTHERS = /^(nodeBootstrap|__zod_\w+|Symbol\(logtape\.\w+\))$/;

for (const path of EXPORTS) {
  Deno.test(`Importing ${path} needs no permission, prints nothing, adds no global and leaves nothing running`, async () => {
    const program = `
      const globals = () => Reflect.ownKeys(globalThis).map(String);
      const before = new Set(globals());
      await import(${await url(path)});
      const added = globals().filter((name) => !before.has(name) && !${GLOBALS_OF_OTHERS}.test(name));
      if (added.length > 0) throw new Error("There are new globals: " + added);
    `;
    const { stdout, stderr } = await runProgram(program, []);
    assertEquals([stdout, stderr], ["", ""]);
  });
}

Deno.test("Importing the package never loads client-node", async () => {
  const program = `${LOADED}
    await import(${await url("mod.ts")});
    await import(${await url("kinds.ts")});
    console.log(JSON.stringify(await loaded()));
  `;
  const urls: string[] = JSON.parse((await runProgram(program, ["-A"])).stdout);
  assert(urls.some((each) => each.endsWith("/mod.ts")), "the modules of this checkout are not seen");
  assertEquals(urls.filter((each) => each.includes("@kubernetes/client-node")), []);
});

/** What the operator in a cluster may load beside the modules at the top, and not of those. */
const SELDOM =
  /\/npm\/(?!.*\/@logtape\/)|\/std\/|^node:(_?http|https|crypto|tls)|\/_(node_line|kubeconfig|credential_plugins)\.ts$/;

Deno.test("An operator that starts in a cluster loads LogTape and nothing else beside its own, and no module that it does not need", async () => {
  const program = `${LOADED}
    import { Client, Controller, Operator } from "@tend/operator";
    import { ConfigMap } from "@tend/operator/kinds";

    const [port = "", folder = ""] = Deno.args;
    const values = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: port };
    await using client = new Client({ env: (name) => values[name], serviceAccountDir: folder });
    const stop = new AbortController();
    const configs = new Controller(ConfigMap).reconcile(async (config, ctx) => {
      await ctx.client.api(ConfigMap).patch(config, { data: { seen: "yes" } });
      stop.abort();
    });
    const operator = new Operator("config-operator").leaderElection("default").controller(configs);
    await operator.run({ client, signal: stop.signal, address: "127.0.0.1:0" });
    console.log(JSON.stringify(await loaded()));
  `;
  await using api = new ApiServer({ users: { t: { name: "operator", groups: ["system:masters"] } } });
  await api.client().api(ConfigMap).create({ metadata: { name: "settings", namespace: "default" } });
  const authority = new Authority("cluster");
  const tls = authority.server(["127.0.0.1"]);
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, ...tls, onListen() {} }, (request) => {
    return api.fetch(new Request(request, { signal: new AbortController().signal }));
  });
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries({ token: "t", "ca.crt": authority.cert, namespace: "default" })) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const { stdout } = await runProgram(program, ["-A", "--no-check"], [`${server.addr.port}`, folder]);
    await api.close();
    const urls: string[] = JSON.parse(stdout);
    assert(urls.some((each) => each.endsWith("/operator.ts")) && urls.some((each) => each.includes("/@logtape/")));
    assertEquals(urls.filter((each) => SELDOM.test(each)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("The way to see what is seldom loaded sees it when it is", async () => {
  const program = `${LOADED}
    await import(${await url("_node_line.ts")});
    await import(${await url("_kubeconfig.ts")});
    await import("@std/yaml");
    await import("zod");
    console.log(JSON.stringify(await loaded()));
  `;
  const urls: string[] = JSON.parse((await runProgram(program, ["-A", "--no-check"])).stdout);
  const seen = urls.filter((each) => SELDOM.test(each)).join(" ");
  for (
    const each of ["node:http ", "node:https ", "/_node_line.ts", "/_kubeconfig.ts", "/std/yaml/", "/npm/", "/zod/"]
  ) {
    assertStringIncludes(`${seen} `, each);
  }
});

Deno.test("The package imports no package but LogTape, and of Node what costs nothing beyond that", async () => {
  const modules = new Map((await moduleGraph(["mod.ts", "kinds.ts"])).map((each) => [each.specifier, each]));
  const root = `file://${await Deno.realPath(ROOT)}/`;
  const reached = new Set<string>();
  const reach = (specifier: string): void => {
    if (reached.has(specifier)) return;
    reached.add(specifier);
    for (const { code, isDynamic } of modules.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined && !isDynamic) reach(code.specifier);
    }
  };
  for (const path of ["mod.ts", "kinds.ts"]) reach(`${root}${path}`);
  const others = [...reached].filter((each) => !each.startsWith(root) || each.startsWith(`${root}std/`));
  assertEquals(others.map((each) => each.replace(/@[^@/]*$/, "")).sort(), ["node:util", "npm:@logtape/logtape"]);
});

Deno.test("The way to see what is loaded sees client-node when a program imports it", async () => {
  const program = `${LOADED}
    await import("${HEAVY}@^2.0.1");
    console.log(JSON.stringify(await loaded()));
  `;
  const urls: string[] = JSON.parse((await runProgram(program, ["-A"])).stdout);
  assert(urls.some((each) => each.includes("@kubernetes/client-node")));
});

Deno.test("Dynamic imports are literal, so that deno compile embeds what they load", async () => {
  for (const path of (await modulePaths()).filter(isPublished)) {
    const calls = withoutComments(await source(path)).matchAll(/\bimport\s*\((?<argument>[^)]*)\)/g);
    for (const { groups } of calls) {
      assert(/^"[^"]+"$/.test(groups!["argument"]!.trim()), `${path} imports ${groups!["argument"]}`);
    }
  }
});

Deno.test("Published modules know nothing of the place they are loaded from", async () => {
  const wrong: string[] = [];
  for (const path of (await modulePaths()).filter(isPublished)) {
    const uses = withoutComments(await source(path)).match(/\bimport\.meta\.(?!main\b)\w+|\b__dirname\b|\bexecPath\b/g);
    for (const use of uses ?? []) wrong.push(`${path} uses ${use}`);
  }
  assertEquals(wrong, []);
});

Deno.test("The module graph of the package is complete, with client-node for when a kubeconfig is read", async () => {
  const modules = await moduleGraph(EXPORTS);
  for (const { specifier, error, dependencies = [] } of modules) {
    assertEquals(error, undefined, specifier);
    for (const { code, type } of dependencies) {
      assertEquals([code?.error, type?.error], [undefined, undefined], specifier);
    }
  }
  const importers = modules.filter(({ dependencies = [] }) =>
    dependencies.some((each) => each.isDynamic && each.code?.specifier?.startsWith(HEAVY))
  );
  assert(importers.length > 0, "nothing imports client-node");
});

Deno.test("deno compile embeds all modules of an operator, and client-node", async () => {
  const folder = await Deno.makeTempDir();
  try {
    // The runtime that compile puts in front of the modules cannot be downloaded everywhere. This Deno takes its place: what comes
    // out cannot start, but all that is embedded was found.
    const { code, stderr } = await deno(
      ["compile", "--no-check", "-A", "--output", `${folder}/operator`, "examples/backup.ts"],
      { env: { DENORT_BIN: Deno.execPath() } },
    );
    assertEquals(code, 0, stderr);
    for (const name of ["client-node", "logtape", "zod", "backup.ts", "operator.ts", "credentials.ts"]) {
      assertStringIncludes(stderr, name);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
