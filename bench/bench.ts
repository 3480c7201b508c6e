/**
 * Measures the same operator written with Tend, with others and without a framework, side by side on a real API server.
 *
 * Each run asserts that its work was done. The exit code is 1 when that fails, or when all peers have run and a goal is missed.
 *
 * ```sh
 * deno run -A bench/bench.ts --mode sync --n 10000 --runs 5 --peers tend,limit
 * ```
 *
 * @module
 */
import { controlPlaneAssets } from "../tools/build_control_plane.ts";
import type { Case } from "./_case.ts";
import { casesOf } from "./_cases.ts";
import { isMet, table } from "./_figures.ts";
import { judged } from "./_goals.ts";
import { Ground, type GroundOptions } from "./_ground.ts";
import { type BenchOptions, benchOptions, HELP } from "./_options.ts";
import { type Peer, PEERS, type ReadyPeer } from "./_peers.ts";
import { type Measured, type Result, tableOf, valuesOf } from "./_report.ts";

/** The peers that take part, ready to run. */
async function readyPeers({ peers, quick }: BenchOptions): Promise<ReadyPeer[]> {
  const ready: ReadyPeer[] = [];
  for (const name of peers) {
    const peer: Peer = PEERS[name];
    if (quick && !await peer.isBuilt()) console.error(`${name} is left out: it is not built`);
    else ready.push({ ...peer, command: await peer.prepare() });
  }
  return ready;
}

/** The ground of the case that is measured, for who ends before it does. */
class Grounds implements AsyncDisposable {
  #open: Ground | undefined;

  /** A fresh ground, or the last one without its objects. */
  async next(options: GroundOptions, again: boolean): Promise<Ground> {
    if (again && this.#open !== undefined) await this.#open.clear();
    else {
      await this[Symbol.asyncDispose]();
      this.#open = await Ground.start(options);
    }
    return this.#open;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.[Symbol.asyncDispose]();
  }
}

/** Runs the peers of a case in turns, each time another one first. */
async function measure(each: Case, ground: Ground, peers: readonly ReadyPeer[], runs: number): Promise<Result> {
  await each.prepare(ground);
  const samples: Measured[] = [];
  for (let run = 0; run < runs; run++) {
    for (let turn = 0; turn < peers.length; turn++) {
      const peer = peers[(turn + run) % peers.length]!;
      console.error(`${each.mode}: ${each.title}: run ${run + 1} of ${peer.name}`);
      samples.push({ peer: peer.name, sample: await each.run(ground, peer) });
    }
  }
  samples.sort((a, b) => Object.keys(PEERS).indexOf(a.peer) - Object.keys(PEERS).indexOf(b.peer));
  return { mode: each.mode, title: each.title, samples };
}

/** Measures in process what needs no server. Deno prints the table; for machines, the answer is what it says. */
async function micro(json: boolean): Promise<unknown> {
  const program = `${import.meta.dirname}/micro_bench.ts`;
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["bench", "--quiet", "--no-check", "--allow-all", ...(json ? ["--json"] : []), program],
    stdout: json ? "piped" : "inherit",
    stderr: "inherit",
  }).output();
  if (!output.success) throw new Error("Cannot measure micro: a benchmark failed");
  return json ? JSON.parse(new TextDecoder().decode(output.stdout)) : undefined;
}

/** Measures all cases, and prints the table of each as soon as it is there. */
async function measureAll(cases: readonly Case[], options: BenchOptions, grounds: Grounds): Promise<Result[]> {
  const { runs, json, quick, profile } = options;
  const assets = await controlPlaneAssets();
  const peers = await readyPeers(options);
  const definer = await PEERS.tend.prepare();
  const results: Result[] = [];
  for (const each of cases) {
    const taking = peers.filter((peer) => each.takes?.(peer) ?? true);
    if (taking.length === 0) continue;
    const ground = await grounds.next({ assets, definer, profile }, quick);
    const result = await measure(each, ground, taking, runs);
    results.push(result);
    if (!json) console.log(`${tableOf(result)}\n`);
    if (!ground.pod.inCluster) {
      console.error("Peers read a kubeconfig: no mount namespace for a pod's files can be had");
    }
  }
  return results;
}

/** Does what the command line asks for; false if a goal is missed though all peers have run. */
async function main(options: BenchOptions, grounds: Grounds): Promise<boolean> {
  const { modes, peers, sizes, json, quick } = options;
  const cases = modes.flatMap((mode) => casesOf(mode, sizes, quick));
  const results = cases.length === 0 ? [] : await measureAll(cases, options, grounds);
  const goals = quick ? [] : judged(results);
  if (!json && goals.length > 0) console.log(`${table(goals)}\n`);
  const inProcess = modes.includes("micro") ? await micro(json) : undefined;
  const all = { results: results.map(valuesOf), goals, micro: inProcess };
  if (json) console.log(JSON.stringify(all, null, 2));
  const [load = 0] = Deno.loadavg(), cores = navigator.hardwareConcurrency;
  if (load > 2 * cores) console.error(`The machine was busy: ${load.toFixed(1)} programs wanted its ${cores} cores`);
  const done = results.reduce((sum, { samples }) => sum + samples.length, 0);
  console.error(`ok | ${done} passed | 0 failed (runs that did their work)`);
  return peers.length < Object.keys(PEERS).length || goals.every(isMet);
}

/** The command line's options; ends the process where it asks for help, or cannot be understood. */
function optionsOrExit(): BenchOptions {
  try {
    const options = benchOptions(Deno.args);
    if (options !== undefined) return options;
    console.log(HELP);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
  Deno.exit(0);
}

if (import.meta.main) {
  const options = optionsOrExit();
  const grounds = new Grounds();
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, async () => {
      interrupted = true;
      await grounds[Symbol.asyncDispose]();
      Deno.exit(130);
    });
  }
  try {
    Deno.exitCode = await main(options, grounds) ? 0 : 1;
  } catch (error) {
    Deno.exitCode = interrupted ? 130 : 1;
    if (!interrupted) console.error(`FAILED: ${error instanceof Error ? error.message : error}`);
  } finally {
    await grounds[Symbol.asyncDispose]();
  }
  Deno.exit(); // Signals are listened for.
}
