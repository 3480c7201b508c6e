/**
 * Shows that the simulation finds faults: plants each of a list in a copy of the framework, and simulates until it fails.
 *
 *     deno task simulate:planted [--seeds N] [--only WORD]
 *
 * Ends with how many were found. A fault that is not found within the seeds (500 by default), or cannot be planted because
 * the framework has changed, is a failure.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { PLANTED, type PlantedFault } from "../tests/simulation/_planted.ts";

const ROOT = `${import.meta.dirname}/..`;
const COPIED = ["testing", "tests/simulation", "tools", "std", "deno.json", "deno.lock"];
/** How many are looked for at once. */
const JOBS = 2;
/** How long one may take, in ms. */
const LIMIT = 300_000;

const { values } = parseArgs({
  args: Deno.args,
  options: { seeds: { type: "string", default: "500" }, only: { type: "string", default: "" } },
});

async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  if (!isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to, { recursive: true });
  for await (const { name } of Deno.readDir(from)) await copy(`${from}/${name}`, `${to}/${name}`);
}

/** Copies what a simulation needs, with a fault in it. */
async function plant({ file, right, wrong, what }: PlantedFault, folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/tests`);
  for await (const { name, isFile } of Deno.readDir(ROOT)) {
    if (isFile && name.endsWith(".ts")) await Deno.copyFile(`${ROOT}/${name}`, `${folder}/${name}`);
  }
  for (const path of COPIED) await copy(`${ROOT}/${path}`, `${folder}/${path}`);
  const text = await Deno.readTextFile(`${folder}/${file}`);
  const pieces = text.split(right);
  if (pieces.length !== 2) {
    throw new Error(`Cannot plant "${what}": ${file} must have the piece once: it is there ${pieces.length - 1} times`);
  }
  await Deno.writeTextFile(`${folder}/${file}`, pieces.join(wrong));
}

/** What the simulation says of a fault; undefined if it passes. */
async function find(fault: PlantedFault): Promise<string | undefined> {
  const folder = await Deno.makeTempDir({ prefix: "tend-planted-" });
  try {
    await plant(fault, folder);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", "--no-lock", "tools/simulate.ts", "--seeds", values.seeds, "--first", "--brief"],
        ...(fault.scenario === undefined ? [] : ["--scenario", fault.scenario]),
      ],
      cwd: folder,
      signal: AbortSignal.timeout(LIMIT),
    }).output();
    const text = new TextDecoder().decode(stdout);
    const failed = text.split("\n").find((line) => line.startsWith("FAILED: "));
    if (failed === undefined && !text.includes("ok |")) throw new Error(new TextDecoder().decode(stderr));
    return failed?.slice("FAILED: ".length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const waiting = PLANTED.filter(({ what }) => what.includes(values.only));
const total = waiting.length;
let found = 0;
await Promise.all(Array.from({ length: JOBS }, async () => {
  for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
    const started = performance.now();
    try {
      const how = await find(fault);
      if (how !== undefined) found++;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(
        `${how === undefined ? "NOT FOUND" : "found"} in ${seconds} s: ${fault.what}${how ? `\n    ${how}` : ""}`,
      );
    } catch (error) {
      console.log(`NOT FOUND: ${fault.what}: ${error}`);
    }
  }
}));
console.log(`${found === total ? "ok" : "FAILED"} | ${found} passed | ${total - found} failed`);
Deno.exit(found === total ? 0 : 1);
