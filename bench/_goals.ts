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
const HUGE = "100,000 objects", LARGE = "50,000 objects", MIDDLE = "10,000 objects";

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
];

/** How much more time an object may take where there are twice as many, for growth to be linear. */
const LINEAR = 1.15;
/** How much memory one more cached object may take, by its size as JSON. */
const PER_BYTE = 1.3;

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

/** How Tend grows: the time for each object of 100,000 and of half as many; the memory for each above 10,000. */
function growth(results: readonly Result[]): Figure[] {
  const of = (title: string, figure: FigureName): number => {
    const result = results.find((result) => result.mode === "scale" && result.title === title);
    return result === undefined ? NaN : summaries(result).get(figure)?.get("tend")?.median ?? NaN;
  };
  const times = (["wall", "cpu"] as const).map((figure): Figure => ({
    figure: `scale: ${FIGURES[figure].title} for each of 100,000 objects, of that for each of 50,000`,
    measured: of(HUGE, figure) / of(LARGE, figure) / 2,
    unit: "",
    atMost: LINEAR,
  }));
  const size = of(HUGE, "perObject") / of(HUGE, "perByte");
  const memory: Figure = {
    figure: "scale: RSS for each object from 10,000 to 100,000, of its JSON",
    measured: (of(HUGE, "idleRss") - of(MIDDLE, "idleRss")) * 1024 * 1024 / 90_000 / size,
    unit: "",
    atMost: PER_BYTE,
  };
  return [...times, memory].filter(({ measured }) => !Number.isNaN(measured));
}

/** All goals that can be judged by what was measured: those whose peers have run. */
export function judged(results: readonly Result[]): Figure[] {
  const relative = GOALS.flatMap(spread).flatMap((goal) =>
    results.filter(({ mode, title }) => mode === goal.mode && (goal.title ?? title) === title)
      .flatMap((result) => judge(goal, result))
  );
  return [...relative, ...growth(results)];
}
