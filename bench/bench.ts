/**
 * Measures the same operator written with the framework, with others and without one, side by side on a real API server.
 *
 * ```sh
 * deno run -A bench/bench.ts --mode sync --n 10000 --runs 5 --peers tend,limit
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { controlPlaneAssets } from "../tools/build_control_plane.ts";
import type { Case } from "./_case.ts";
import { Ground } from "./_ground.ts";
import { churnCases } from "./_mode_churn.ts";
import { syncCases } from "./_mode_sync.ts";
import { writeCases } from "./_mode_writes.ts";
import { type PeerName, PEERS, type ReadyPeer } from "./_peers.ts";
import { type Measured, type Result, tableOf } from "./_report.ts";

/** The modes: each with its sizes, and the one for a quick run. */
const MODES: Readonly<Record<string, { cases(sizes: readonly number[]): Case[]; sizes: number[]; quick: number[] }>> = {
  sync: { cases: syncCases, sizes: [1000, 10_000, 50_000], quick: [1000] },
  churn: { cases: churnCases, sizes: [10_000], quick: [500] },
  status: { cases: (sizes) => writeCases("status", sizes), sizes: [5000], quick: [300] },
  owned: { cases: (sizes) => writeCases("owned", sizes), sizes: [2000], quick: [200] },
};

const { values } = parseArgs({
  options: {
    mode: { type: "string" },
    n: { type: "string" },
    runs: { type: "string" },
    peers: { type: "string" },
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    "cpu-prof": { type: "string" },
  },
});
const { quick } = values;
const names = (values.peers?.split(",") ?? Object.keys(PEERS)) as PeerName[];
const runs = Number(values.runs ?? (quick ? 1 : 3));
const modes = values.mode?.split(",") ?? Object.keys(MODES);
const assets = await controlPlaneAssets();
const peers: ReadyPeer[] = [];
for (const name of names) peers.push({ ...PEERS[name], command: await PEERS[name].prepare() });
const definer = await PEERS.tend.prepare();

let ground: Ground | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, async () => {
    await ground?.[Symbol.asyncDispose]();
    Deno.exit(130);
  });
}
for (const name of modes) {
  const mode = MODES[name]!;
  const sizes = values.n === undefined ? mode[quick ? "quick" : "sizes"] : values.n.split(",").map(Number);
  for (const each of mode.cases(sizes)) {
    console.error(`${each.mode}: ${each.title}`);
    ground = await Ground.start({ assets, definer, profile: values["cpu-prof"] });
    try {
      await each.prepare(ground);
      const samples: Measured[] = [];
      for (let run = 0; run < runs; run++) {
        for (let turn = 0; turn < peers.length; turn++) {
          const peer = peers[(turn + run) % peers.length]!;
          const sample = await each.run(ground, peer);
          console.error(`  ${peer.name}`, sample);
          samples.push({ peer: peer.name, sample });
        }
      }
      const result: Result = { mode: each.mode, title: each.title, samples };
      console.log(tableOf(result));
    } finally {
      await ground[Symbol.asyncDispose]();
    }
  }
}
