/**
 * Measures the API server in memory against its goals of speed and size, and prints a table, or JSON with `--json`.
 *
 * Each part runs in a fresh process and asserts its own work before it reports. The exit code is 1 if a goal is missed.
 *
 * ```sh
 * deno run -A bench/api_server.ts --json writes memory
 * ```
 *
 * @module
 */
import { type Figure, isMet, table } from "./_figures.ts";

const PARTS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  startup: async () => (await import("./_startup.ts")).startUp(),
  writes: async () => (await import("./_writes.ts")).inProcess(),
  scale: async () => (await import("./_writes.ts")).atScale(),
  http: async () => (await import("./_http.ts")).overHttp(),
  watchers: async () => (await import("./_reads.ts")).watched(),
  memory: async () => (await import("./_reads.ts")).held(),
};

async function measured(part: string): Promise<Figure[]> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.filename!, "--part", part],
    stdout: "piped",
    stderr: "inherit",
  });
  const { stdout, success } = await command.output();
  if (!success) throw new Error(`Cannot measure ${part}: its process failed`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

if (import.meta.main) {
  const [first, second] = Deno.args;
  if (first === "--part") console.log(JSON.stringify(await PARTS[second!]!()));
  else if (first === "--client") {
    const { fromOutside } = await import("./_http.ts");
    console.log(JSON.stringify(await fromOutside(second!)));
  } else {
    const named = Deno.args.filter((each) => each !== "--json");
    const unknown = named.find((each) => !Object.hasOwn(PARTS, each));
    if (unknown !== undefined) {
      throw new TypeError(`Cannot measure ${unknown}: parts are ${Object.keys(PARTS).join(", ")}`);
    }
    const figures: Figure[] = [];
    for (const part of named.length > 0 ? named : Object.keys(PARTS)) figures.push(...await measured(part));
    console.log(Deno.args.includes("--json") ? JSON.stringify(figures, null, 2) : table(figures));
    const [load = 0] = Deno.loadavg(), cores = navigator.hardwareConcurrency;
    if (load > cores) console.error(`The machine was busy: ${load.toFixed(1)} programs wanted its ${cores} cores`);
    if (!figures.every(isMet)) Deno.exitCode = 1;
  }
}
