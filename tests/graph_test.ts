import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { deno, denoOk, moduleGraph, ROOT } from "./_deno.ts";
import { isPublished, modulePaths, source, withoutComments } from "./_sources.ts";

const EXPORTS = ["mod.ts", "kinds.ts", "testing/mod.ts"];
const HEAVY = "npm:@kubernetes/client-node";

/** Runs a program of one file outside the checkout, with the checkout's import map. */
async function runProgram(program: string, flags: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, program);
    const config = `${await Deno.realPath(ROOT)}/deno.json`;
    return await denoOk(["run", "--quiet", "--no-prompt", "--config", config, ...flags, file]);
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

Deno.test("An operator that starts in a cluster never loads client-node", async () => {
  const program = `${LOADED}
    import { z } from "zod";
    import { Client, Controller, customResource, Operator } from "@tend/operator";
    import { CustomResourceDefinition } from "@tend/operator/kinds";
    import { ApiServer } from "@tend/operator/testing";
    import { Authority } from ${await url("testing/_certificates.ts")};

    const Site = customResource({ group: "example.com", version: "v1", kind: "Site", spec: z.object({}) });
    await using api = new ApiServer({ users: { t: { name: "operator", groups: ["system:masters"] } } });
    await api.client().api(CustomResourceDefinition).create(Site.crd());
    await api.client().api(Site).create({ metadata: { name: "home", namespace: "default" }, spec: {} });

    const authority = new Authority("cluster");
    const tls = authority.server(["127.0.0.1"]);
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, ...tls, onListen() {} }, api.fetch);
    const folder = await Deno.makeTempDir();
    for (const [name, text] of [["token", "t"], ["ca.crt", authority.cert], ["namespace", "default"]]) {
      await Deno.writeTextFile(folder + "/" + name, text);
    }
    const values = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.addr.port) };
    await using client = new Client({ env: (name) => values[name], serviceAccountDir: folder });

    const stop = new AbortController();
    const sites = new Controller(Site).reconcile(() => stop.abort());
    await new Operator("site-operator").controller(sites).run({ client, signal: stop.signal });
    await Deno.remove(folder, { recursive: true });
    console.log(JSON.stringify(await loaded()));
  `;
  const urls: string[] = JSON.parse((await runProgram(program, ["-A", "--no-check"])).stdout);
  assert(urls.some((each) => each.endsWith("/operator.ts")));
  assertEquals(urls.filter((each) => each.includes("@kubernetes/client-node")), []);
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
