import { assert, assertEquals, assertMatch } from "@std/assert";
import { denoOk, ROOT } from "./_deno.ts";
import { modulePaths, source } from "./_sources.ts";

interface Locked {
  readonly integrity?: string;
  readonly dependencies?: readonly string[];
  readonly scripts?: boolean;
}

const DOCUMENT = await Deno.readTextFile(`${ROOT}/docs/dependencies.md`);
const LOCK = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`)) as {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, Locked>>;
  readonly jsr?: Readonly<Record<string, Locked>>;
};

/** The name in `@scope/name@1.2.3`, or in the name itself. */
function nameOf(specifier: string): string {
  return /^(@?[^@]+)/.exec(specifier)![1]!;
}

/** The packages that are imported here by their names, and how. */
async function imported(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of ["deno.json", "std/testing/deno.json", "std/yaml/deno.json", "std/assert/deno.json"]) {
    const { imports = {} } = JSON.parse(await Deno.readTextFile(`${ROOT}/${file}`));
    for (const [name, target] of Object.entries(imports as Record<string, string>)) {
      if (!target.startsWith("./")) found.set(name, target);
    }
  }
  return found;
}

/** The rows of the tables: the package, and its other columns. */
const ROWS = new Map(
  DOCUMENT.split("\n").filter((line) => line.startsWith("| `")).map((line) => {
    const [name, ...columns] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    return [name!.replaceAll("`", ""), columns] as const;
  }),
);

/** The modules of the repository, without tests, that import a package. */
async function importersOf(name: string): Promise<string[]> {
  const importers: string[] = [];
  for (const path of [...await modulePaths(), "std/assert/mod.ts", "std/testing/time.ts", "std/yaml/mod.ts"]) {
    if (/^(tests|tools|bench|examples|testing)\//.test(path)) continue;
    const text = await source(path);
    if (new RegExp(`(from |import\\()"${name}"`).test(text.replaceAll(/^ \*.*$/gm, ""))) importers.push(path);
  }
  return importers.sort();
}

Deno.test("docs/dependencies.md tells of every package that is imported, and of no other", async () => {
  assertEquals([...ROWS.keys()].sort(), [...(await imported()).keys()].sort());
  for (const [name, columns] of ROWS) {
    assertEquals(columns.length, 3, name);
    for (const column of columns) assert(column !== "", name);
  }
});

Deno.test("docs/dependencies.md names the modules that import a package", async () => {
  for (const [name, [, where]] of ROWS) {
    const named = [...where!.matchAll(/`([^`]+\.ts)`/g)].map(([, path]) => path!).sort();
    if (named.length > 0) assertEquals(await importersOf(name), named, name);
  }
});

Deno.test("docs/dependencies.md lists every package of the lock file under the one that brings it", () => {
  const direct = new Set([...ROWS.keys()]);
  const byName = new Map(Object.entries(LOCK.npm).map(([key, locked]) => [nameOf(key), locked]));
  const brought = (name: string, seen = new Set<string>()): Set<string> => {
    for (const dependency of byName.get(name)?.dependencies ?? []) {
      const next = nameOf(dependency);
      if (!seen.has(next)) brought(next, seen.add(next));
    }
    return seen;
  };
  const listed = new Map(
    DOCUMENT.replaceAll(/\n {2,}/g, " ").split("\n").filter((line) => line.startsWith("- `")).map((line) => {
      const [first, ...others] = [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
      return [first!, others.sort()] as const;
    }),
  );
  const expected = new Map(
    [...direct].map((name) => [name, [...brought(name)].filter((other) => !direct.has(other)).sort()] as const)
      .filter(([, others]) => others.length > 0),
  );
  assertEquals(Object.fromEntries([...listed].sort()), Object.fromEntries([...expected].sort()));
  const all = new Set([...direct, ...[...listed.values()].flat()]);
  assertEquals([...byName.keys()].filter((name) => !all.has(name)), [], "every locked package is told of");
});

Deno.test("Every dependency is pinned with its integrity, comes from a registry, and runs no script when installed", async () => {
  for (const [key, { integrity = "", scripts = false }] of Object.entries(LOCK.npm)) {
    assertMatch(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, key);
    assertEquals(scripts, false, `${key} has an install script`);
  }
  for (const [key, { integrity = "" }] of Object.entries(LOCK.jsr ?? {})) assertMatch(integrity, /^[0-9a-f]{64}$/, key);
  for (const [name, target] of await imported()) {
    assertMatch(target, /^(npm|jsr):@?[a-z-]+(\/[a-z-]+)?@\^\d+\.\d+\.\d+$/, name);
    if (target.startsWith("npm:")) assert(Object.hasOwn(LOCK.specifiers, target), `${target} is locked`);
  }
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  assertMatch(tasks.check, /--frozen/);
  await denoOk(["check", "--quiet", "--frozen", "mod.ts"]);
});

Deno.test("What docs/dependencies.md says to need no permission makes use of none when it is loaded and used", async () => {
  const harmless = [...ROWS].filter(([, [, , may]]) => may!.startsWith("nothing: it needs no permission")).map((
    [name],
  ) => name);
  assert(harmless.includes("zod") && harmless.includes("@logtape/logtape") && harmless.includes("@std/yaml"));
  const folder = await Deno.makeTempDir({ dir: ROOT, prefix: ".tend-dependencies-" });
  try {
    const names = harmless.filter((name) => name.startsWith("@std/") || !/yaml/.test(name));
    await Deno.writeTextFile(
      `${folder}/program.ts`,
      `import { z } from "zod";
       import { configure, getLogger } from "@logtape/logtape";
       import { parse, stringify } from "@std/yaml";
       z.toJSONSchema(z.object({ a: z.string().regex(/a/) }));
       parse(stringify({ a: [1, "x"] }), { schema: "core" });
       await configure({ sinks: { none: () => {} }, loggers: [{ category: [], sinks: ["none"] }] });
       getLogger(["a"]).info("x");`,
    );
    for (const name of names) assert((await Deno.readTextFile(`${folder}/program.ts`)).includes(`"${name}"`), name);
    await denoOk(["run", "--quiet", "--no-prompt", "--cached-only", `${folder}/program.ts`], {
      env: { DENO_AUDIT_PERMISSIONS: `${folder}/audit` },
    });
    assertEquals(await Deno.readTextFile(`${folder}/audit`).catch(() => ""), "");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
