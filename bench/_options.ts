/**
 * Reads the command line of the benchmark.
 *
 * ```ts
 * import { benchOptions } from "./_options.ts";
 *
 * const { modes, runs } = benchOptions(["--mode", "sync,churn", "--runs", "5"]);
 * console.assert(modes.length === 2 && runs === 5);
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { type PeerName, PEERS } from "./_peers.ts";

/** The names of the modes, in their order. */
export const MODES = ["sync", "churn", "status", "owned", "latency", "start", "election", "scale", "micro"] as const;

/** The name of a mode. */
export type Mode = typeof MODES[number];

/** What is to be measured, and how. */
export interface BenchOptions {
  readonly modes: readonly Mode[];
  readonly peers: readonly PeerName[];
  /** Sizes that take the place of a mode's own. */
  readonly sizes: readonly number[] | undefined;
  /** How often each peer runs. */
  readonly runs: number;
  /** Prints JSON in place of tables. */
  readonly json: boolean;
  /** Measures little, to see that all work is done. */
  readonly quick: boolean;
  /** Where the profiles of the framework's peer are written. */
  readonly profile: string | undefined;
}

/** What `--help` prints. */
export const HELP = `Usage: deno task bench [flags]

  --mode A,B      ${MODES.join(", ")}: all by default
  --peers A,B     ${Object.keys(PEERS).join(", ")}: all by default
  --n N,M         other sizes than those of the mode; not for scale and micro
  --runs K        how often each peer runs in each case (default 3, with --quick 1)
  --quick         small sizes; peers that would have to be built are left out
  --json          JSON in place of tables
  --cpu-prof DIR  writes a profile of each run of Tend's peer into a folder
  --help          this`;

function oneOf<T extends string>(flag: string, value: string | undefined, known: readonly T[]): readonly T[] {
  if (value === undefined) return known;
  const chosen = value.split(",");
  const unknown = chosen.find((each) => !known.includes(each as T));
  if (unknown === undefined) return known.filter((each) => chosen.includes(each));
  throw new TypeError(`Cannot measure: '--${flag}' must be of ${known.join(", ")}: current value is ${value}`);
}

function whole(flag: string, value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new TypeError(`Cannot measure: '--${flag}' must be a positive whole number: current value is ${value}`);
}

/**
 * Reads the command line; undefined when help is asked for.
 *
 * @throws {TypeError} If it cannot be understood
 */
export function benchOptions(args: readonly string[]): BenchOptions | undefined {
  const text = { type: "string" } as const, flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { mode: text, peers: text, n: text, runs: text, "cpu-prof": text, json: flag, quick: flag, help: flag },
  });
  if (values.help) return undefined;
  return {
    modes: oneOf("mode", values.mode, MODES),
    peers: oneOf("peers", values.peers, Object.keys(PEERS) as PeerName[]),
    sizes: values.n?.split(",").map((each) => whole("n", each)),
    runs: values.runs === undefined ? (values.quick ? 1 : 3) : whole("runs", values.runs),
    json: values.json,
    quick: values.quick,
    profile: values["cpu-prof"],
  };
}
