import { assertEquals } from "@std/assert";
import { knownDifferences, problems } from "../tools/test_fidelity.ts";

const DOCUMENT = await Deno.readTextFile(`${import.meta.dirname}/../docs/fidelity.md`);

Deno.test("knownDifferences() reads the scenarios of the first column", () => {
  const table = "| Scenario | Why |\n| --- | --- |\n| `watch-a` | `not-this` |\n| `cr-b`  | x |\n| plain | y |\n";
  assertEquals([...knownDifferences(table)], ["watch-a", "cr-b"]);
});

Deno.test("problems() names what differs unexpectedly and what differs no more", () => {
  const scenarios = [
    { name: "a", result: "differ" },
    { name: "b", result: "same" },
    { name: "c", result: "differ" },
    { name: "d", result: "same" },
    { name: "e", result: "skip" },
  ] as const;
  assertEquals(problems(scenarios, new Set(["c", "d", "e"])), [
    "a differs and is not in docs/fidelity.md",
    "d is in docs/fidelity.md and does not differ",
  ]);
});

Deno.test("docs/fidelity.md gives a reason for each scenario that may differ", () => {
  for (const name of knownDifferences(DOCUMENT)) {
    const row = DOCUMENT.split("\n").find((line) => line.startsWith(`| \`${name}\``))!;
    const cells = row.split("|").slice(1, -1).map((cell) => cell.trim());
    assertEquals([cells.length, cells.every((cell) => cell !== "")], [3, true], name);
  }
});
