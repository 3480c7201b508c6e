/**
 * Measures how soon a server answers: the import, and from the constructor to the first answer.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Figure } from "./_figures.ts";

/** Starts one in a process that has loaded nothing of it. */
export async function startUp(): Promise<Figure[]> {
  const begin = performance.now();
  const { ApiServer } = await import("../testing/mod.ts");
  const imported = performance.now();
  await using server = new ApiServer();
  const response = await server.fetch(new Request("http://kubernetes/api/v1/namespaces/default"));
  assertEquals((await response.json()).metadata.name, "default");
  const answered = performance.now();
  return [
    { figure: "import", measured: imported - begin, unit: "ms" },
    { figure: "from the constructor to the first answer", measured: answered - imported, unit: "ms", atMost: 50 },
  ];
}
