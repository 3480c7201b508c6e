import { assert, assertEquals, assertMatch } from "@std/assert";
import { moduleGraph, ROOT } from "./_deno.ts";
import { isPrivate, isPublished, modulePaths, source, withoutComments } from "./_sources.ts";

const FOLDERS_ABOVE_TESTING = ["testing/", "tests/", "examples/", "tools/", "bench/"];

const BROKEN: string[] = [];
const PATHS = await modulePaths();
const IMPORTS = await importsOf(PATHS);

/** The modules of this checkout that each module imports, types and dynamic imports included. */
async function importsOf(paths: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const root = new URL(`file://${await Deno.realPath(ROOT)}/`).href;
  const imports = new Map<string, readonly string[]>();
  for (const { specifier, dependencies = [], error } of await moduleGraph(paths)) {
    if (!specifier.startsWith(root)) continue;
    if (error !== undefined) BROKEN.push(error);
    const targets = dependencies.flatMap(({ code, type }) => [code?.specifier, type?.specifier]);
    const local = targets.filter((target) => target?.startsWith(root)).map((target) => target!.slice(root.length));
    imports.set(specifier.slice(root.length), [...new Set(local)]);
  }
  return imports;
}

/** The modules that a module imports, looking through the private ones. */
function importsThroughPrivate(path: string, seen = new Set<string>()): ReadonlySet<string> {
  const found = new Set<string>();
  for (const target of IMPORTS.get(path) ?? []) {
    if (!isPrivate(target)) found.add(target);
    else if (!seen.has(target)) {
      for (const each of importsThroughPrivate(target, seen.add(target))) found.add(each);
    }
  }
  return found;
}

/** One cycle among the imports, as the modules in it; `undefined` when there is none. */
function cycleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of imports.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of imports.keys()) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** The public modules at the top in the order of the map in CONTRIBUTING.md. */
function layersIn(contributing: string): readonly string[] {
  return contributing.split("\n").filter((line) => line.startsWith("| `")).flatMap((row) =>
    [...row.split("|")[1]!.matchAll(/`([a-z_]+\.ts)`/g)].map(([, name]) => name!)
  );
}

Deno.test("Every module at the top has its place in the map of CONTRIBUTING.md, and the map has no others", async () => {
  const layers = layersIn(await source("CONTRIBUTING.md"));
  const modules = PATHS.filter((path) => !path.includes("/") && !isPrivate(path));
  assertEquals([...layers].sort(), modules);
});

Deno.test("Modules import only from those above them in the map", async () => {
  const layers = layersIn(await source("CONTRIBUTING.md"));
  const wrong = layers.flatMap((path, place) =>
    [...importsThroughPrivate(path)].filter((target) => layers.indexOf(target) >= place)
      .map((target) => `${path} imports ${target}`)
  );
  assertEquals(wrong, []);
});

Deno.test("There are no import cycles", () => {
  assertEquals(cycleIn(IMPORTS), undefined);
});

Deno.test("The search for import cycles finds one", () => {
  const imports = new Map([["a", ["b", "c"]], ["b", ["c"]], ["c", ["d"]], ["d", ["b"]]]);
  assertEquals(cycleIn(imports), ["b", "c", "d", "b"]);
});

Deno.test("Only tests, examples and tools import testing/", () => {
  const wrong = [...IMPORTS].filter(([path, targets]) =>
    targets.some((target) => target.startsWith("testing/")) &&
    !FOLDERS_ABOVE_TESTING.some((folder) => path.startsWith(folder))
  );
  assertEquals(wrong, []);
});

Deno.test("Modules named with a leading underscore are imported by their own folder, tests and tools only", () => {
  const folder = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
  const wrong = [...IMPORTS].filter(([path]) => !/^(tests|tools|bench)\//.test(path)).flatMap(([path, targets]) =>
    targets.filter((target) => isPrivate(target) && folder(target) !== folder(path))
      .map((target) => `${path} imports ${target}`)
  );
  assertEquals(wrong, []);
});

Deno.test("Published modules import no module that is not published", () => {
  const wrong = [...IMPORTS].filter(([path]) => isPublished(path)).flatMap(([path, targets]) =>
    targets.filter((target) => !isPublished(target) && !target.startsWith("std/"))
      .map((target) => `${path} imports ${target}`)
  );
  assertEquals(wrong, []);
});

Deno.test("mod.ts and testing/mod.ts have nothing but re-exports by name", async () => {
  for (const path of ["mod.ts", "testing/mod.ts"]) {
    const statements = withoutComments(await source(path)).split(";").map((statement) => statement.trim());
    for (const statement of statements.filter((each) => each !== "")) {
      assertMatch(statement, /^export (type )?\{[^{}]*\} from "[^"]+"$/, path);
    }
  }
});

Deno.test("Every published module begins with its one job, verb first, a snippet and @module", async () => {
  const wrong: string[] = [];
  for (const path of PATHS.filter(isPublished)) {
    const [header = ""] = /^\/\*\*\n[^]*?\*\//.exec(await source(path)) ?? [];
    if (!/^\/\*\*\n \* [A-Z][a-z-]*s\b/.test(header)) wrong.push(`${path}: the first word is no verb with an s`);
    if (!/^ \* ```(ts|sh)\b/m.test(header)) wrong.push(`${path}: there is no snippet`);
    if (!/^ \* @module$/m.test(header)) wrong.push(`${path}: there is no @module`);
  }
  assertEquals(wrong, []);
});

Deno.test("Snippets of private modules import them by path, those of public ones import the package", async () => {
  const wrong: string[] = [];
  for (const path of PATHS.filter(isPublished)) {
    const [header = ""] = /^\/\*\*\n[^]*?\*\//.exec(await source(path)) ?? [];
    if (isPrivate(path) && header.includes('from "@tend/operator')) wrong.push(`${path} imports the package`);
  }
  assertEquals(wrong, []);
});

Deno.test("File names are in snake case", () => {
  assertEquals(PATHS.filter((path) => !/^([a-z0-9_]+\/)*[a-z0-9_]+\.ts$/.test(path)), []);
});

Deno.test("Every module that is imported is there and can be read", () => {
  assertEquals(BROKEN, []);
});

Deno.test("No module is left without looking at it", () => {
  for (const path of PATHS) assert(IMPORTS.has(path), `${path} is not in the graph`);
});
