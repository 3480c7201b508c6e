/**
 * Makes and runs the programs in `tests/clients/`: real clients that do their work against an API server without knowing which.
 *
 * The one in Go is built into a cache outside the checkout, and the packages of the one for Node are installed there.
 *
 * @module
 */
import { buildGo, cached, linkerFlags } from "./build_control_plane.ts";

const SOURCES = `${import.meta.dirname}/../tests/clients`;

/** A program that is ready to run. */
export interface ClientProgram {
  /** What it is made with. */
  readonly name: string;
  /** Its command line, without the path of a kubeconfig at its end. */
  readonly command: readonly string[];
}

/** What a program says of one check. */
export interface CheckResult {
  readonly name: string;
  /** Why it does not hold; undefined if it does. */
  readonly problem: string | undefined;
}

/**
 * Builds the program on client-go and controller-runtime.
 *
 * @throws {Error} If it cannot be built, or there is no Go
 */
export async function goProgram(): Promise<ClientProgram> {
  const folder = cached("clients");
  await Deno.mkdir(folder, { recursive: true });
  const target = `${folder}/clients`;
  await buildGo({ name: "clients", source: `${SOURCES}/go`, package: ".", target, ldflags: linkerFlags() });
  return { name: "client-go and controller-runtime", command: [target] };
}

/**
 * Installs the program on client-node for Node.
 *
 * @throws {Error} If its packages cannot be installed, or there is no Node
 */
export async function nodeProgram(): Promise<ClientProgram> {
  const lock = await Deno.readFile(`${SOURCES}/node/packages.lock.json`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", lock)).toHex().slice(0, 16);
  const folder = cached(`clients/node-${digest}`);
  await Deno.mkdir(folder, { recursive: true });
  const files = {
    "packages.json": "package.json",
    "packages.lock.json": "package-lock.json",
    "clients.mjs": "clients.mjs",
  };
  for (const [from, to] of Object.entries(files)) await Deno.copyFile(`${SOURCES}/node/${from}`, `${folder}/${to}`);
  const installed = `${folder}/installed`;
  if (!await exists(installed)) {
    await run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
    await Deno.writeTextFile(installed, "");
  }
  return { name: "client-node under Node", command: ["node", `${folder}/clients.mjs`] };
}

/** The same program under Deno, with the version of client-node that the framework uses. */
export function denoProgram(): ClientProgram {
  const config = `${SOURCES}/../../deno.json`;
  const command = [Deno.execPath(), "run", "-A", "--quiet", "--config", config, `${SOURCES}/node/clients.mjs`];
  return { name: "client-node under Deno", command };
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function run([program = "", ...args]: readonly string[], cwd: string): Promise<void> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, { args, cwd, stdout: "null", stderr: "piped" }).output();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Error(`Cannot run ${program}: it must be in PATH`, { cause });
  }
  if (output.success) return;
  const said = new TextDecoder().decode(output.stderr).slice(-2000);
  throw new Error(`Cannot run ${program} ${args.join(" ")}: it ended with exit code ${output.code}\n${said}`);
}

/** Reads what a program has printed; one that did not come to its end has one more failure. */
export function checkResults(output: string): CheckResult[] {
  const results: CheckResult[] = [];
  let ended = false;
  for (const line of output.split("\n")) {
    const [, failed, name = ""] = /^(ok|FAILED) (.+)$/.exec(line) ?? [];
    if (failed === "ok") results.push({ name, problem: undefined });
    else if (failed === "FAILED") {
      const colon = name.indexOf(": ");
      results.push(
        colon < 0 ? { name, problem: "no reason" } : { name: name.slice(0, colon), problem: name.slice(colon + 2) },
      );
    }
    ended ||= /^\d+ passed, \d+ failed$/.test(line);
  }
  if (!ended) results.push({ name: "the program comes to its end", problem: output.slice(-2000) });
  return results;
}

/** Runs a program with a kubeconfig, for four minutes at most. */
export async function runChecks(
  { command: [program = "", ...args] }: ClientProgram,
  kubeconfig: string,
  flags: readonly string[] = [],
): Promise<CheckResult[]> {
  const { stdout, stderr } = await new Deno.Command(program, {
    args: [...args, ...flags, kubeconfig],
    stdin: "null",
    signal: AbortSignal.timeout(240_000),
  }).output();
  const decoder = new TextDecoder();
  return checkResults(decoder.decode(stdout) + decoder.decode(stderr));
}
