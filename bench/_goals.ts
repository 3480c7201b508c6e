/**
 * Holds what the framework's peer has measured against its goals, most of which are relative to another peer of the same run.
 *
 * ```ts
 * import { judged } from "./_goals.ts";
 *
 * const run = (peer: "tend" | "kube-rs", cpuPerWrite: number) => ({ peer, sample: { cpuPerWrite } });
 * const [goal] = judged([{ mode: "churn", title: "", samples: [run("tend", 90), run("kube-rs", 100)] }]);
 * console.assert(goal?.measured === 0.9);
 * ```
 *
 * @module
 */
import { type FigureName, FIGURES } from "./_case.ts";
import type { Figure } from "./_figures.ts";
import type { PeerName } from "./_peers.ts";
import { type Result, summaries } from "./_report.ts";

/** What is to hold of a figure in the middle of all runs. */
interface Goal {
  readonly mode: string;
  /** The case; every one of the mode if there is none. */
  readonly title?: string;
  readonly figure: FigureName;
  /** The most that it may be: of the other peer's, or as such. */
  readonly atMost: number;
  /** The other peers; none for goals that are absolute. */
  readonly of?: readonly PeerName[];
  /** Which of several other peers counts. @default {"each"} */
  readonly which?: "each" | "best" | "worst";
}

const BOTH: readonly PeerName[] = ["controller-runtime", "kube-rs"];
const LARGE = "50,000 objects", MIDDLE = "10,000 objects";

const GOALS: readonly Goal[] = [
  { mode: "sync", title: LARGE, figure: "wall", atMost: 0.7, of: ["kube-rs"] },
  { mode: "sync", title: LARGE, figure: "wall", atMost: 0.35, of: ["controller-runtime"] },
  { mode: "sync", title: LARGE, figure: "cpu", atMost: 0.7, of: ["kube-rs"] },
  { mode: "sync", title: LARGE, figure: "cpu", atMost: 0.35, of: ["controller-runtime"] },
  { mode: "sync", title: LARGE, figure: "rss", atMost: 1, of: ["kube-rs"] },
  { mode: "sync", title: LARGE, figure: "peak", atMost: 1, of: ["kube-rs"] },
  { mode: "sync", title: MIDDLE, figure: "wall", atMost: 1, of: ["kube-rs"] },
  { mode: "sync", title: MIDDLE, figure: "cpu", atMost: 1.2, of: ["kube-rs"] },
  { mode: "sync", title: MIDDLE, figure: "rss", atMost: 1, of: ["controller-runtime"] },
  { mode: "churn", figure: "cpuPerWrite", atMost: 1, of: ["kube-rs"] },
  { mode: "status", figure: "writes", atMost: 1 },
  { mode: "status", figure: "reads", atMost: 0 },
  { mode: "status", figure: "reconciles", atMost: 1 },
  { mode: "status", figure: "wall", atMost: 1, of: ["kube-rs"] },
  { mode: "status", figure: "cpu", atMost: 0.6, of: ["controller-runtime"] },
  { mode: "owned", figure: "writes", atMost: 1 },
  { mode: "owned", figure: "wall", atMost: 0.5, of: BOTH },
  { mode: "owned", figure: "cpu", atMost: 1, of: ["kube-rs"] },
  { mode: "latency", figure: "p50", atMost: 1.05, of: BOTH, which: "best" },
  { mode: "latency", figure: "p99", atMost: 1, of: BOTH, which: "worst" },
  { mode: "start", figure: "first", atMost: 0.8, of: ["controller-runtime"] },
  { mode: "start", figure: "idleRss", atMost: 60 },
  { mode: "start", figure: "idleCpu", atMost: 0.5 },
  { mode: "scale", title: LARGE, figure: "perByte", atMost: 1.3 },
  { mode: "scale", title: "100,000 objects", figure: "perByte", atMost: 1.3 },
];

/** How much more of a figure there may be for each of ten times as many objects, for growth to be linear. */
const LINEAR = 1.15;

function inWords(title: string, { mode, figure, of = [], which = "each" }: Goal): string {
  const other = which === "each" ? of[0] : `the ${which} of ${of.join(" and ")}`;
  return `${mode}, ${title}: ${FIGURES[figure].title}${other === undefined ? "" : `, of ${other}'s`}`;
}

/** One goal for each peer that counts by itself. */
function spread(goal: Goal): Goal[] {
  const { of = [], which = "each" } = goal;
  return which === "each" && of.length > 1 ? of.map((peer) => ({ ...goal, of: [peer] })) : [goal];
}

function judge(goal: Goal, result: Result): Figure[] {
  const { figure, atMost, of, which } = goal;
  const peers = summaries(result).get(figure);
  const own = peers?.get("tend")?.median;
  if (own === undefined) return [];
  const named = { figure: inWords(result.title, goal), atMost };
  if (of === undefined) return [{ ...named, measured: own, unit: FIGURES[figure].unit }];
  const others = of.map((peer) => peers?.get(peer)?.median).filter((median) => median !== undefined);
  if (others.length < of.length) return [];
  const other = which === "worst" ? Math.max(...others) : Math.min(...others);
  return [{ ...named, measured: own / other, unit: "" }];
}

/** Whether ten times as many objects take ten times as long and as much: of 100,000 objects, by those of 10,000. */
function linear(results: readonly Result[]): Figure[] {
  const scaled = (title: string): Result | undefined =>
    results.find((result) => result.mode === "scale" && result.title === title);
  const [few, many] = [scaled(MIDDLE), scaled("100,000 objects")];
  if (few === undefined || many === undefined) return [];
  return (["wall", "cpu", "perObject"] as const).flatMap((figure) => {
    const of = (result: Result): number => summaries(result).get(figure)?.get("tend")?.median ?? NaN;
    const measured = of(many) / of(few) / (figure === "perObject" ? 1 : 10);
    const words = `scale: ${FIGURES[figure].title} for each of 100,000 objects, of that for each of 10,000`;
    return [{ figure: words, measured, unit: "", atMost: LINEAR }];
  });
}

/** All goals that can be judged by what was measured: those whose peers have run. */
export function judged(results: readonly Result[]): Figure[] {
  const relative = GOALS.flatMap(spread).flatMap((goal) =>
    results.filter(({ mode, title }) => mode === goal.mode && (goal.title ?? title) === title)
      .flatMap((result) => judge(goal, result))
  );
  return [...relative, ...linear(results)];
}
