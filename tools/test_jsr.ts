/**
 * Runs the tests on the real `@std` packages from JSR in place of the stand-ins under `std/`.
 *
 * The stand-ins are members of this checkout's workspace, and Deno takes a member for the package of the same name. So the tests run
 * in a copy of the checkout whose `deno.json` has no workspace. Arguments name the tests to run; all but those of the control plane
 * when there are none. Where JSR cannot be reached nothing is tested, and the exit code is 69.
 *
 * ```sh
 * deno run -A tools/test_jsr.ts tests/duration_test.ts
 * ```
 *
 * @module
 */

const JSR_URL = Deno.env.get("JSR_URL") ?? "https://jsr.io/";
const UNAVAILABLE = 69;
const PATIENCE = 10_000;
const LEFT_OUT: ReadonlySet<string> = new Set([".git", "deno.lock", "node_modules"]);
const ROOT = `${import.meta.dirname}/..`;

/** Why JSR cannot be reached; `undefined` when it can. */
async function problem(): Promise<string | undefined> {
  try {
    const response = await fetch(new URL("@std/assert/meta.json", JSR_URL), { signal: AbortSignal.timeout(PATIENCE) });
    await response.body?.cancel();
    return response.ok ? undefined : `it answers ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  }
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory, isFile } of Deno.readDir(from)) {
    if (LEFT_OUT.has(name)) continue;
    if (isDirectory) await copy(`${from}/${name}`, `${to}/${name}`);
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Runs the tests in a copy of the checkout; answers with their exit code. */
async function test(args: readonly string[]): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "tend-jsr-" });
  try {
    await copy(ROOT, folder);
    const { workspace: _, ...config } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "-A", "--ignore=tests/control_plane/", ...(args.length === 0 ? ["tests/"] : args)],
      cwd: folder,
    }).spawn().status;
    return code;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const unreachable = await problem();
if (unreachable === undefined) Deno.exit(await test(Deno.args));
console.error(`JSR cannot be reached at ${JSR_URL}: ${unreachable}`);
console.error("Nothing was tested: this task is about the real @std packages, which come from JSR alone");
Deno.exit(UNAVAILABLE);
