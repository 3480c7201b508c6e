/**
 * Searches for a schedule that an operator does not survive, and shortens what it finds.
 *
 * ```ts
 * import { without } from "./_search.ts";
 *
 * console.assert(without([1, 2, 3], 1).join() === "1,3");
 * ```
 *
 * @module
 */
import { drawPerturbation, type Perturbation, type PerturbationKind, PERTURBATIONS } from "./_perturbations.ts";
import { Random } from "./_random.ts";
import type { Outcome, Plan, PlannedAction, Schedule } from "./_plan.ts";
import { simulateOnce } from "./_simulation.ts";

/** A schedule that was not survived. */
export interface Finding {
  /** The shortest one that was found. */
  readonly schedule: Schedule;
  /** What came of it, with the story. */
  readonly outcome: Outcome;
}

/** A list without one of its items. */
export function without<T>(items: readonly T[], index: number): T[] {
  return items.filter((_, each) => each !== index);
}

/** Draws a schedule: actions in order at random times, and up to so many things that go wrong. */
export function drawSchedule(
  seed: number,
  plan: Plan,
  kinds: readonly PerturbationKind[] = PERTURBATIONS,
  most = 8,
): Schedule {
  const random = new Random(seed, "schedule");
  const { horizon, replicas, resources } = plan;
  const times = plan.actions.map(() => random.below(horizon)).sort((one, other) => one - other);
  const count = kinds.length === 0 ? 0 : random.below(most + 1);
  return {
    seed,
    actions: times.map((at, index) => ({ at, index })),
    perturbations: Array.from(
      { length: count },
      () => drawPerturbation(random, { horizon, replicas, kinds, resources }),
    ),
  };
}

/** Actions in order, as far from each other as the horizon lets them be. */
export function spread({ actions, horizon }: Plan): PlannedAction[] {
  return actions.map((_, index) => ({ at: Math.floor(horizon * (index + 1) / (actions.length + 1)), index }));
}

/** The schedules of one who sees nothing between an action and the one after the next, for each replica at once. */
export function* blindSchedules(plan: Plan, seed: number): Generator<Schedule> {
  const actions = spread(plan);
  for (const [index, { at }] of actions.entries()) {
    const end = (actions[index + 1]?.at ?? plan.horizon - 2_000) + 1_000;
    const perturbations = Array.from({ length: plan.replicas }, (_, replica): Perturbation => {
      return { at: at - 500, kind: "blind", for: end - at, replica, amount: 0 };
    });
    yield { seed, actions, perturbations };
  }
}

/** The schedules of one who does not see what happens to one kind from before an action until after the next. */
export function* staleSchedules(plan: Plan, seed: number): Generator<Schedule> {
  const actions = spread(plan);
  for (const resource of plan.resources) {
    for (const [index, { at }] of actions.entries()) {
      const end = (actions[index + 1]?.at ?? at) + 8_000;
      const perturbations = Array.from({ length: plan.replicas }, (_, replica): Perturbation => {
        return { at: at - 500, kind: "stall", for: end - at, replica, amount: 0, resource };
      });
      yield { seed, actions, perturbations };
    }
  }
}

/** The schedules that kill each replica's first process at every one of its requests, before it and after it took effect. */
export function* crashSchedules(plan: Plan, seed: number, requests: readonly number[]): Generator<Schedule> {
  const actions = spread(plan);
  for (const [replica, count] of requests.entries()) {
    for (let request = 1; request <= count; request++) {
      for (const when of ["before", "after"] as const) {
        yield { seed, actions, perturbations: [], crash: { replica, request, when } };
      }
    }
  }
}

/** Takes away what is not needed for a failure of the same kind, and tells the story of what is left. */
export async function shorten(
  make: () => Plan,
  found: Schedule,
  broken: string,
  patience = MOST_TRIES,
): Promise<Finding> {
  let schedule = found;
  let tries = patience;
  const fails = async (candidate: Schedule): Promise<boolean> => {
    if (tries-- <= 0) return false;
    const { violations } = await simulateOnce(make(), candidate);
    return violations.some(({ invariant }) => invariant === broken);
  };
  const attempt = async (candidate: Schedule): Promise<boolean> => {
    if (!await fails(candidate)) return false;
    schedule = candidate;
    return true;
  };
  for (let changed = true; changed && tries > 0;) {
    changed = false;
    for (const list of ["perturbations", "actions"] as const) {
      for (let index = schedule[list].length - 1; index >= 0; index--) {
        if (await attempt({ ...schedule, [list]: without<unknown>(schedule[list], index) })) changed = true;
      }
    }
    if (schedule.crash && await attempt({ ...schedule, crash: undefined })) changed = true;
    for (const [index, each] of schedule.perturbations.entries()) {
      if (each.for < 2_000) continue;
      const shorter = schedule.perturbations.with(index, { ...each, for: Math.floor(each.for / 2) });
      if (await attempt({ ...schedule, perturbations: shorter })) changed = true;
    }
  }
  return { schedule, outcome: await simulateOnce(make(), schedule, { trace: true }) };
}

const MOST_TRIES = 150;
