/**
 * Runs an operator through everything that can go wrong, in virtual time, and tells the shortest way to break it.
 *
 * ```ts
 * import { Controller, Operator } from "@tend/operator";
 * import { ConfigMap, Secret } from "@tend/operator/kinds";
 * import { simulate } from "@tend/operator/testing";
 *
 * const copies = new Controller(ConfigMap, { labelSelector: "copy" }).owns(Secret).reconcile(async (config, ctx) => {
 *   await ctx.applyOwned(config, Secret.draft({ metadata: { name: config.metadata.name }, stringData: config.data ?? {} }));
 * });
 * const report = await simulate(new Operator("copier").controller(copies), {
 *   world: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default", labels: { copy: "" } } },
 *   actions: {
 *     "change a": ({ client }) => client.api(ConfigMap).patch("a", { data: { k: "v" } }),
 *     "delete a": ({ client }) => client.api(ConfigMap).delete("a"),
 *   },
 *   invariants: {
 *     "a secret has its config": async ({ client }) => {
 *       const configs = (await client.api(ConfigMap).list({ labelSelector: "copy" })).items.length;
 *       const secrets = (await client.api(Secret).list()).items.length;
 *       if (configs !== secrets) throw new Error(`${configs} configs have ${secrets} secrets`);
 *     },
 *   },
 *   seeds: 5,
 * });
 * console.assert(report.runs > 5);
 * ```
 *
 * The operator runs as it is, with its real controllers, caches, queues and election, against an API server in memory. First
 * everything goes well; then it is killed before and after each of its requests, and started anew; then it sees nothing of
 * what happens between two actions, and nothing of one kind; then many things go wrong at random. After each run it is left alone, until all is as it
 * should be or the patience is over.
 *
 * # Caveats
 *
 * `setTimeout`, `Date`, `performance.now()` and `Math.random` are virtual while it runs: run nothing else meanwhile. State
 * that the operator's module keeps outlives a crash, unless a function is given that makes the operator anew.
 *
 * @module
 */
import { type Duration, toMilliseconds } from "../../duration.ts";
import { definitionOf, type Operator } from "../../operator.ts";
import { type InvariantName, INVARIANTS } from "./_invariants.ts";
import { type PerturbationKind, PERTURBATIONS } from "./_perturbations.ts";
import { storyOf, textOfSchedule } from "./_report.ts";
import { blindSchedules, crashSchedules, drawSchedule, shorten, spread, staleSchedules } from "./_search.ts";
import type { Outcome, Plan, Schedule, SimulatedWorld } from "./_plan.ts";
import { simulateOnce } from "./_simulation.ts";

export type { InvariantName } from "./_invariants.ts";
export type { Perturbation, PerturbationKind } from "./_perturbations.ts";
export type { CrashPoint, PlannedAction, Schedule, SimulatedWorld } from "./_plan.ts";

/** A function of the user's that acts on the world or judges it. */
export type WorldFunction = (world: SimulatedWorld) => unknown;

/** Options of {@linkcode simulate}. */
export interface SimulateOptions {
  /**
   * What is there before the operator starts: objects, YAML, or a function, which is also where fakes of what lies outside the
   * cluster begin anew. The operator's CRDs are there already.
   *
   * @default {nothing}
   */
  readonly world?: string | object | readonly object[] | WorldFunction | undefined;
  /** What a user does, in this order, by what the story calls it; what the API refuses is let pass. @default {nothing} */
  readonly actions?: Readonly<Record<string, WorldFunction>> | undefined;
  /** What must hold in the end, by name: they throw when it does not. @default {nothing} */
  readonly invariants?: Readonly<Record<string, WorldFunction>> | undefined;
  /** Built-in invariants that do not hold of this operator, such as `aQuietWorldIsLeftAlone` for one that writes the time. @default {none} */
  readonly except?: readonly InvariantName[] | undefined;
  /** How many replicas run. @default {2 with a leader election, else 1} */
  readonly replicas?: number | undefined;
  /** Whether Deployments, StatefulSets, DaemonSets and Jobs get pods, which become ready or complete. @default {false} */
  readonly workloads?: boolean | undefined;
  /** How many runs are made at random. @default {50} */
  readonly seeds?: number | undefined;
  /** The first seed. @default {1} */
  readonly from?: number | undefined;
  /** What may go wrong in them. @default {everything} */
  readonly faults?: readonly PerturbationKind[] | undefined;
  /** How many of the points at which it can be killed are tried; the rest is left out evenly. @default {300} */
  readonly crashes?: number | undefined;
  /** How long things happen. @default {1 min} */
  readonly duration?: Duration | undefined;
  /** How long it may take until everything is right again: longer than the longest back-off, and than a watch. @default {25 min} */
  readonly patience?: Duration | undefined;
  /** Runs this schedule alone, as an error told it. @default {undefined} */
  readonly replay?: Schedule | undefined;
}

/** What {@linkcode simulate} did. */
export interface SimulationReport {
  /** How many runs were made. */
  readonly runs: number;
  /** How many of them killed the operator at a point between two of its requests. */
  readonly crashes: number;
  /** How many such points there are. */
  readonly crashPoints: number;
  /** How many requests were sent. */
  readonly requests: number;
}

/** What {@linkcode simulate} throws: the message has the shortest story that was found. */
export class SimulationError extends Error {
  /** The name of the class. */
  override readonly name: string = "SimulationError";
  /** The name of the invariant that does not hold. */
  readonly invariant: string;
  /** The schedule, for `replay`. */
  readonly schedule: Schedule;

  /** Takes the story, and what is needed to see it again. */
  constructor(message: string, invariant: string, schedule: Schedule) {
    super(message);
    this.invariant = invariant;
    this.schedule = schedule;
  }
}

/**
 * Simulates an operator, or what a function makes for every process that starts.
 *
 * @throws {SimulationError} If an invariant does not hold
 * @throws {TypeError} If an option is none
 * @throws {Error} If the world cannot be made
 */
export async function simulate(
  operator: Operator | (() => Operator | Promise<Operator>),
  options: SimulateOptions = {},
): Promise<SimulationReport> {
  const make = typeof operator === "function" ? operator : () => operator;
  const first = await make();
  const { name, election } = definitionOf(first);
  const resources = first.kinds().map(({ plural }) => plural);
  const { seeds = 50, from = 1, crashes = 300, faults = PERTURBATIONS, replay } = options;
  const plan = planOf(make, options, election !== undefined, resources);
  checkNumbers(name, { seeds, from, crashes, replicas: plan.replicas });
  checkFaults(name, faults);
  let runs = 0, requests = 0;
  const run = async (schedule: Schedule, why: string): Promise<Outcome> => {
    runs++;
    const outcome = await simulateOnce(plan, schedule);
    requests += outcome.requests;
    const [violation] = outcome.violations;
    if (violation) throw await failure(name, plan, schedule, violation.invariant, why);
    return outcome;
  };
  if (replay) {
    await run(replay, "the replay");
    return { runs, crashes: 0, crashPoints: 0, requests };
  }
  const calm = { seed: from, actions: spread(plan), perturbations: [] };
  const { firstRequests } = await run(calm, "a run in which nothing goes wrong");
  for (const schedule of faults.includes("blind") ? blindSchedules(plan, from) : []) {
    await run(schedule, "a run that sees nothing of what happens between two actions");
  }
  for (const schedule of faults.includes("stall") ? staleSchedules(plan, from) : []) {
    await run(schedule, "a run that sees nothing of one kind from before an action until after the next");
  }
  const points = faults.includes("crash") ? [...crashSchedules(plan, from, firstRequests)] : [];
  const every = Math.max(1, points.length / crashes);
  let killed = 0;
  for (let index = 0; Math.floor(index) < points.length && killed < crashes; index += every) {
    const schedule = points[Math.floor(index)]!;
    const { replica, request, when } = schedule.crash!;
    killed++;
    await run(schedule, `a run that kills replica ${replica + 1} ${when} its request ${request}`);
  }
  for (let seed = from; seed < from + seeds; seed++) await run(drawSchedule(seed, plan, faults), `seed ${seed}`);
  return { runs, crashes: killed, crashPoints: points.length, requests };
}

function planOf(operator: Plan["operator"], options: SimulateOptions, leads: boolean, resources: string[]): Plan {
  const { world, actions = {}, invariants = {}, except = [], replicas = leads ? 2 : 1 } = options;
  const { duration = 60_000, patience = 1_500_000, workloads = false } = options;
  const apply: Plan["world"] = ({ server }) => world === undefined ? undefined : server.apply(world as object);
  return {
    operator,
    replicas,
    workloads,
    resources,
    actions: Object.entries(actions).map(([name, run]) => ({ name, run })),
    world: typeof world === "function" ? world as WorldFunction : apply,
    horizon: toMilliseconds(duration, "duration"),
    patience: toMilliseconds(patience, "patience"),
    invariants: Object.fromEntries(
      Object.entries(INVARIANTS).filter(([name]) => !except.includes(name as InvariantName)),
    ),
    expectations: invariants,
  };
}

function checkNumbers(name: string, numbers: Record<string, number>): void {
  for (const [field, value] of Object.entries(numbers)) {
    const least = field === "replicas" ? 1 : 0;
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(
        `Cannot simulate operator "${name}": '${field}' must be a whole number of at least ${least}: current value is ${value}`,
      );
    }
  }
}

function checkFaults(name: string, faults: readonly string[]): void {
  const unknown = faults.find((fault) => !(PERTURBATIONS as readonly string[]).includes(fault));
  if (unknown === undefined) return;
  throw new TypeError(
    `Cannot simulate operator "${name}": 'faults' must be of ${PERTURBATIONS.join(", ")}: current value is ${
      Deno.inspect(unknown)
    }`,
  );
}

async function failure(
  name: string,
  plan: Plan,
  found: Schedule,
  invariant: string,
  why: string,
): Promise<SimulationError> {
  const { schedule, outcome } = await shorten(() => plan, found, invariant);
  const text = outcome.violations.find((violation) => violation.invariant === invariant)?.text ??
    "it does not fail any more";
  const message = [
    `Operator "${name}" does not keep "${invariant}": ${text}`,
    "",
    `Found by ${why}; the shortest story of it:`,
    "",
    ...storyOf(outcome.trace),
    "",
    `Again: simulate(operator, { ...options, replay: ${textOfSchedule(schedule)} })`,
  ];
  return new SimulationError(message.join("\n"), invariant, schedule);
}
