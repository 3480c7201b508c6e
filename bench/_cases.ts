/**
 * Lists the cases of each mode, by the sizes that are asked for.
 *
 * @module
 */
import type { Case } from "./_case.ts";
import { churnCases } from "./_mode_churn.ts";
import { electionCases } from "./_mode_election.ts";
import { latencyCases } from "./_mode_latency.ts";
import { SCALE, scaleCases } from "./_mode_scale.ts";
import { startCases } from "./_mode_start.ts";
import { syncCases } from "./_mode_sync.ts";
import { writeCases } from "./_mode_writes.ts";
import type { Mode } from "./_options.ts";

/** How one mode makes its cases of sizes, and which sizes it has by itself. */
interface ModeCases {
  readonly cases: (sizes: readonly number[], quick: boolean) => Case[];
  readonly full: readonly number[];
  readonly quick: readonly number[];
}

const CASES: Readonly<Record<Exclude<Mode, "micro" | "scale">, ModeCases>> = {
  sync: { cases: syncCases, full: [1000, 10_000, 50_000], quick: [1000] },
  churn: { cases: churnCases, full: [10_000], quick: [250] },
  status: { cases: (sizes) => writeCases("status", sizes), full: [5000], quick: [250] },
  owned: { cases: (sizes) => writeCases("owned", sizes), full: [2000], quick: [100] },
  latency: { cases: latencyCases, full: [1000], quick: [100] },
  start: { cases: startCases, full: [10], quick: [3] },
  election: {
    // A leader that is killed is missed for as long as its lease lasts: too long for a quick run.
    cases: (sizes, quick) => electionCases(sizes, quick ? ["SIGTERM"] : ["SIGKILL", "SIGTERM"]),
    full: [10],
    quick: [10],
  },
};

/** The cases of a mode on the server; `micro` has none there. */
export function casesOf(mode: Mode, sizes: readonly number[] | undefined, quick: boolean): Case[] {
  if (mode === "micro") return [];
  if (mode === "scale") return scaleCases(SCALE[quick ? "quick" : "full"]);
  const { cases, full, quick: few } = CASES[mode];
  return cases(sizes ?? (quick ? few : full), quick);
}
