import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { JsrRegistry } from "../tools/jsr_registry.ts";
import { deno, denoOk, ownDenoDir, ROOT, type RunOptions } from "./_deno.ts";

const PACKAGE = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
const STAND_INS = ["assert", "testing", "yaml"];

/** The specifier of an import, a re-export or a dynamic import, in formatted code. */
const IMPORTED =
  /(?:^(?:import|export) (?:type )?(?:\{[^}]*\}|\* as \w+|\w+)(?:, \{[^}]*\})? from |^import |\bimport\()"([^"]+)"/gm;

/** What somebody who uses the package writes in a project of their own. */
const PROGRAM = `
import { z } from "zod";
import { Controller, customResource, Operator } from "@tend/operator";
import { ConfigMap } from "@tend/operator/kinds";
import { ApiServer } from "@tend/operator/testing";

const Site = customResource({
  group: "example.com", version: "v1", kind: "Site",
  spec: z.object({ title: z.string(), pages: z.number().int().default(1) }),
});
const sites = new Controller(Site).owns(ConfigMap).reconcile(async (site, ctx) => {
  const title: string = site.spec.title;
  const pages: number = site.spec.pages;
  // @ts-expect-error A field that the schema does not have
  site.spec.nothing;
  await ctx.applyOwned(site, {
    apiVersion: "v1", kind: "ConfigMap", metadata: { name: site.metadata.name }, data: { title, pages: \`\${pages}\` },
  });
});
const operator = new Operator("site-operator").controller(sites);
await using server = new ApiServer();
console.log(JSON.stringify({ rules: operator.rules(), server: typeof server.fetch }));
`;

async function publishStandIns(env: Readonly<Record<string, string>>): Promise<void> {
  for (const name of STAND_INS) {
    const folder = await Deno.makeTempDir({ prefix: "tend-stand-in-" });
    try {
      for await (const { name: file } of Deno.readDir(`${ROOT}/std/${name}`)) {
        await Deno.copyFile(`${ROOT}/std/${name}/${file}`, `${folder}/${file}`);
      }
      const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
      await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ ...config, publish: {}, license: "MIT" }));
      await publish({ cwd: folder, env });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
}

async function publish(options: RunOptions): Promise<void> {
  await denoOk(["publish", "--quiet", "--token", "any", "--allow-dirty", "--allow-slow-types", "--no-lock"], options);
}

Deno.test("The package can be published to a JSR registry and used from it by an outside project", async (t) => {
  await using registry = new JsrRegistry();
  await using denoDir = await ownDenoDir();
  const env = { JSR_URL: registry.url, DENO_DIR: denoDir.path };
  await publishStandIns(env);
  await publish({ env });
  const published = registry.published(PACKAGE.name, PACKAGE.version);
  assert(published !== undefined, "nothing was published");

  await t.step("The registry has the modules and the texts for users, and nothing else", () => {
    const paths = [...published.files.keys()].sort();
    const others = paths.filter((path) =>
      !/^\/(testing\/(simulation\/)?)?[a-z0-9_]+\.(ts|json)$/.test(path) || path.endsWith("_test.ts")
    );
    assertEquals(others, ["/CHANGELOG.md", "/LICENSE", "/README.md"]);
    assertEquals(published.exports, PACKAGE.exports);
    for (const file of Object.values(published.exports)) assert(paths.includes(file.slice(1)), `${file} is missing`);
  });

  await t.step("Published modules import published modules, JSR and npm packages with versions, and built-ins", () => {
    for (const [path, bytes] of published.files) {
      if (!path.endsWith(".ts")) continue;
      const code = new TextDecoder().decode(bytes).replace(/\/\*\*[^]*?\*\//g, "");
      for (const [, specifier = ""] of code.matchAll(IMPORTED)) {
        if (specifier.startsWith(".")) {
          const target = new URL(specifier, `file://${path}`).pathname;
          assert(published.files.has(target), `${path} imports ${specifier}, which is not published`);
        } else {
          assertMatch(specifier, /^(node:[a-z_/]+|(jsr|npm):@?[a-z0-9-]+(\/[a-z0-9-]+)?@[\^~]?\d.*)$/, path);
        }
      }
    }
  });

  const project = await Deno.makeTempDir({ prefix: "tend-outside-" });
  try {
    const own = `jsr:${PACKAGE.name}@${PACKAGE.version}`;
    const imports = { zod: PACKAGE.imports.zod, [PACKAGE.name]: own };
    await Deno.writeTextFile(`${project}/deno.json`, JSON.stringify({ imports }));
    await Deno.writeTextFile(`${project}/main.ts`, PROGRAM);

    await t.step("The outside project type-checks", async () => {
      await denoOk(["check", "main.ts"], { cwd: project, env });
    });

    await t.step("The outside project runs", async () => {
      const { stdout } = await denoOk(["run", "-A", "main.ts"], { cwd: project, env });
      const { rules, server } = JSON.parse(stdout);
      assertEquals(server, "function");
      assert(
        rules.some((rule: { resources: string[]; verbs: string[] }) => {
          return rule.resources.includes("sites") && rule.verbs.includes("watch");
        }),
        stdout,
      );
    });

    await t.step("The outside project has everything from the registry", async () => {
      const { stdout } = await denoOk(["info", "--json", "main.ts"], { cwd: project, env });
      const schemes = JSON.parse(stdout).modules.map(({ specifier }: { specifier: string }) =>
        specifier.startsWith(registry.url) ? "registry" : specifier.replace(/:.*$/, "")
      );
      assertEquals([...new Set(schemes)].sort(), ["file", "node", "npm", "registry"]);
      assertEquals(schemes.filter((scheme: string) => scheme === "file").length, 1);
    });
  } finally {
    await Deno.remove(project, { recursive: true });
  }

  await t.step("test:jsr runs the tests on the packages of the registry, not on the stand-ins", async () => {
    const asked = registry.requests.length;
    const { stdout } = await denoOk(["run", "-A", "tools/test_jsr.ts", "tests/duration_test.ts"], { env });
    assertMatch(stdout, /ok \| \d+ passed/);
    assertStringIncludes(registry.requests.slice(asked).join("\n"), "GET /@std/assert/");
  });
});

Deno.test("test:jsr says that nothing was tested when JSR cannot be reached, and fails", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const { code, stderr } = await deno(["run", "-A", "tools/test_jsr.ts"], {
    env: { JSR_URL: `http://127.0.0.1:${port}/` },
  });
  assertEquals(code, 69);
  assertMatch(stderr, /^JSR cannot be reached at http:\/\/127\.0\.0\.1:\d+\/: .*\nNothing was tested/);
});
