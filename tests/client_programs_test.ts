import { assertEquals } from "@std/assert";
import { checkResults } from "../tools/client_programs.ts";

Deno.test("checkResults() reads what held and what did not", () => {
  const output = "ok a watch ends\nFAILED a patch: must be 2: is 3\nnoise\n1 passed, 1 failed\n";
  assertEquals(checkResults(output), [
    { name: "a watch ends", problem: undefined },
    { name: "a patch", problem: "must be 2: is 3" },
  ]);
});

Deno.test("checkResults() counts a program that does not come to its end as failed", () => {
  assertEquals(checkResults("ok a\npanic: oh no"), [
    { name: "a", problem: undefined },
    { name: "the program comes to its end", problem: "ok a\npanic: oh no" },
  ]);
});
