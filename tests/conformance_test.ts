/** Runs the conformance suite over the server in memory, in process and over HTTP, and holds its document complete. */
import { assertEquals } from "@std/assert";
import { conformance } from "./conformance/_areas.ts";
import { InProcess, OverHttp } from "./conformance/_server.ts";
import { Recent } from "../testing/_revision.ts";

/** Freezes a value all the way down. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}

// What is stored is shared by states and answers: whoever changes it fails the suite.
const { add } = Recent.prototype;
Recent.prototype.add = function (revision): void {
  freeze(revision.object);
  add.call(this, revision);
};

const suites = [new InProcess(), new OverHttp()].map(conformance);

Deno.test("docs/conformance.md lists each behaviour that a server skips or shows otherwise, and no other", async () => {
  const text = await Deno.readTextFile(new URL("../docs/conformance.md", import.meta.url));
  const rows = text.split("\n").filter((line) => line.startsWith("| "));
  const listed = rows.slice(2).map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
  const expected = suites[0]!.exceptions.map(({ behaviour, servers, kind, reason }) => [
    behaviour,
    servers.join(", "),
    kind,
    reason,
  ]);
  assertEquals(listed, expected);
});

Deno.test("The behaviours of the conformance suite have names of their own", () => {
  for (const { names } of suites) assertEquals(names.length, new Set(names).size);
});
