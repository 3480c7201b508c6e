/**
 * Runs all gates that a change must pass, one after the other, and names those that fail at the end.
 *
 * ```sh
 * deno task ok
 * ```
 *
 * @module
 */

/** The gates: tasks of `deno.json`. `check` comes before whatever would complete the lock file, so that it sees what is missing. */
const GATES = ["check", "fmt", "lint", "doc", "docs", "snippets", "test", "publish:check"];

const failed: string[] = [];
for (const gate of GATES) {
  const started = performance.now();
  console.log(`--- ${gate}`);
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["task", "--quiet", gate] }).spawn().status;
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`--- ${gate}: ${success ? "ok" : "FAILED"} (${seconds} s)`);
  if (!success) failed.push(gate);
}
console.log(failed.length === 0 ? "All gates are passed" : `Failed gates: ${failed.join(", ")}`);
Deno.exit(failed.length === 0 ? 0 : 1);
