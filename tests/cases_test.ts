/** Holds the table of cases complete: each case has its tests, each test that names a case is there. */
import { assert, assertEquals } from "@std/assert";
import { ROOT } from "./_deno.ts";

/** The cases: their numbers stand for good, also where one that was dropped leaves a gap. */
const CASES = [
  ...["B01", "B02", "B03", "B04", "B06", "B07", "B08", "B10", "B12", "B13", "B14", "B16", "B17", "B18", "B19", "B20"],
  ...["B22", "B23", "B24", "B25", "B26", "B27", "B28", "B30", "B31", "B32", "B34", "B35", "B37", "B38", "B39", "B40"],
  ...["B42", "B43", "B45", "B46", "B47", "B48", "B49", "B51", "B52", "B53", "B55", "B56", "B57", "B59", "B60", "B62"],
  ...["B63", "B64", "B65", "B66", "B68", "B69", "B71"],
];

interface Row {
  readonly id: string;
  readonly problem: string;
  readonly file: string;
  readonly test: string;
}

/** The rows of the table. */
async function readTable(): Promise<Row[]> {
  const text = await Deno.readTextFile(`${ROOT}/docs/cases.md`);
  return text.split("\n").filter((line) => /^\| B\d/.test(line)).map((line) => {
    const [id = "", problem = "", file = "", test = ""] = line.slice(1, -1).split(/(?<!\\)\|/).map((cell) =>
      cell.trim()
    );
    const plain = (code: string) => code.replace(/^`+|`+$/g, "").replaceAll("\\|", "|");
    return { id, problem, file: plain(file), test: plain(test) };
  });
}

/** The names of the tests in a file, with `…` for what is put into them. */
function testNames(source: string): string[] {
  const calls = source.matchAll(/Deno\.test\(\s*(?:\{\s*name:\s*)?(["'`])((?:\\.|(?!\1)[\s\S])*)\1/g);
  return Array.from(calls, ([, , name]) => name!.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…").replace(/\\(.)/g, "$1"));
}

/** The names of all tests, by file. */
async function readTests(folder = "tests"): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for await (const { name, isDirectory, isFile } of Deno.readDir(`${ROOT}/${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) { for (const [file, more] of await readTests(path)) names.set(file, more); }
    if (isFile && name.endsWith("_test.ts")) names.set(path, testNames(await Deno.readTextFile(`${ROOT}/${path}`)));
  }
  return names;
}

Deno.test("testNames() finds names of every kind", () => {
  const source = [
    'Deno.test("plain", () => {});',
    "Deno.test(`a ${b ? `c` : d} and ${{ e: 1 }.e}`, () => {});".replaceAll("`c`", '"c"'),
    'Deno.test(\n  "with \\"quotes\\"",\n  () => {});',
    "Deno.test({ name: `${full} (x)`, ignore: true, fn: () => {} });",
  ].join("\n");
  assertEquals(testNames(source), ["plain", "a … and …", 'with "quotes"', "… (x)"]);
});

Deno.test("docs/cases.md has every case, with what goes wrong, in order", async () => {
  const rows = await readTable();
  assertEquals([...new Set(rows.map(({ id }) => id))], CASES);
  const first = CASES.map((id) => rows.find((row) => row.id === id)!);
  for (const { id, problem } of first) assert(problem !== "", `${id} must say what goes wrong`);
});

Deno.test("docs/cases.md names tests that exist, for each case at least one with its number", async () => {
  const rows = await readTable();
  const tests = await readTests();
  assertEquals(rows.filter(({ file, test }) => !tests.get(file)?.includes(test)), []);
  const numbered = (id: string) => rows.some((row) => row.id === id && row.test.includes(id));
  assertEquals(CASES.filter((id) => !numbered(id)), []);
});

Deno.test("docs/cases.md has every test that names a case", async () => {
  const lines = (rows: Iterable<Pick<Row, "id" | "file" | "test">>) =>
    new Set(
      Array.from(rows, ({ id, file, test }) => `| ${id} |  | \`${file}\` | \`${test.replaceAll("|", "\\|")}\` |`),
    );
  const named = [...await readTests()].flatMap(([file, names]) =>
    names.flatMap((test) => [...test.matchAll(/\bB\d\d\b/g)].map(([id]) => ({ id, file, test })))
  );
  const missing = lines(named).difference(lines(await readTable()));
  assertEquals([...missing], [], "these rows are missing");
});
