/**
 * Prints what was measured: a table for each case, with what the framework takes relative to each peer.
 *
 * ```ts
 * import { tableOf } from "./_report.ts";
 *
 * console.log(tableOf({ mode: "sync", title: "10 objects", samples: [{ peer: "tend", sample: { wall: 1.5 } }] }));
 * ```
 *
 * @module
 */
import { type FigureName, FIGURES, type Sample } from "./_case.ts";
import type { PeerName } from "./_peers.ts";
import { type Summary, summary } from "./_statistics.ts";

/** One run of one peer. */
export interface Measured {
  readonly peer: PeerName;
  readonly sample: Sample;
}

/** All runs of a case. */
export interface Result {
  readonly mode: string;
  readonly title: string;
  readonly samples: readonly Measured[];
}

/** The figures of a case in the order of {@linkcode FIGURES}, each for the peers that have it. */
export function summaries({ samples }: Result): Map<FigureName, Map<PeerName, Summary>> {
  const figures = new Map<FigureName, Map<PeerName, Summary>>();
  const peers = Map.groupBy(samples, ({ peer }) => peer);
  for (const figure of Object.keys(FIGURES) as FigureName[]) {
    const each = [...peers].flatMap(([peer, runs]): [PeerName, Summary][] => {
      const values = runs.map(({ sample }) => sample[figure]).filter((value) => value !== undefined);
      return values.length === 0 ? [] : [[peer, summary(values)]];
    });
    if (each.length > 0) figures.set(figure, new Map(each));
  }
  return figures;
}

/** The same for machines: all values of each figure, by peer. */
export function valuesOf(result: Result): Record<string, unknown> {
  const { mode, title, samples } = result;
  const peers = Object.groupBy(samples, ({ peer }) => peer);
  const runs = Object.entries(peers).map(([peer, each]) => [peer, each.map(({ sample }) => sample)]);
  return { mode, title, peers: Object.fromEntries(runs) };
}

/** A number with three digits that tell, or all before the point. */
export function digits(value: number): string {
  const size = Math.abs(value);
  const after = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: after, maximumFractionDigits: after });
}

/** The table of a case. */
export function tableOf(result: Result): string {
  const runs = Math.max(...Map.groupBy(result.samples, ({ peer }) => peer).values().map((each) => each.length));
  const rows = [["figure", "peer", "min", "median", "max", "tend/peer"]];
  for (const [figure, peers] of summaries(result)) {
    const { title, unit } = FIGURES[figure];
    const own = peers.get("tend");
    let name: string = unit === "" ? title : `${title}, ${unit}`;
    for (const [peer, { min, median, max }] of peers) {
      const ratio = peer === "tend" || own === undefined || median <= 0 ? "" : digits(own.median / median);
      rows.push([name, peer, digits(min), digits(median), digits(max), ratio]);
      name = "";
    }
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)).join("  ")
  );
  const title = `${result.mode}: ${result.title}, ${runs} ${runs === 1 ? "run" : "runs"}`;
  return [title, ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}
