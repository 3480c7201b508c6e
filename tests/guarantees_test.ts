import { assert, assertEquals } from "@std/assert";
import { INVARIANTS } from "../testing/simulation/_invariants.ts";

const ROOT = `${import.meta.dirname}/..`;
const TEXT = await Deno.readTextFile(`${ROOT}/docs/guarantees.md`);
const ROWS = TEXT.split("\n").filter((line) => line.startsWith("| `tests/")).map((line) =>
  line.split("|").slice(1, -1).map((cell) => cell.trim()) as [file: string, test: string]
);

Deno.test("Each guarantee names tests that there are", async () => {
  assert(ROWS.length > 10);
  for (const [file, test] of ROWS) {
    const source = await Deno.readTextFile(`${ROOT}/${file.replaceAll("`", "")}`);
    if (test.startsWith("simulation: ")) continue;
    // A name with "…" is that of a template.
    const [start, end] = test.split("…");
    const there = end === undefined
      ? source.includes(`"${test}"`)
      : source.includes(`\`${start}`) && source.includes(end);
    assert(there, `${file}: ${test}`);
  }
});

Deno.test("Each invariant of the simulation stands for a guarantee, and each that is named is one", () => {
  const named = ROWS.flatMap(([, test]) => test.startsWith("simulation: ") ? [...test.matchAll(/`(\w+)`/g)] : [])
    .map(([, name]) => name!);
  assertEquals([...new Set(named)].sort(), Object.keys(INVARIANTS).sort());
});

Deno.test("Each part of the guarantees has its tests", () => {
  const parts = TEXT.split("\n## ").slice(1).filter((part) => !part.startsWith("What is not guaranteed"));
  for (const part of parts) {
    for (const guarantee of part.split("\n**").slice(1)) {
      assert(guarantee.includes("| `tests/"), `no test for "${guarantee.slice(0, 60)}"`);
    }
  }
});
