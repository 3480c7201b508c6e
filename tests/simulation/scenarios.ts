/**
 * Names what is simulated, and what may go wrong in it.
 *
 * ```ts
 * import { planOf } from "./scenarios.ts";
 *
 * console.assert(planOf("election", 7).replicas === 3);
 * ```
 *
 * @module
 */
import { type PerturbationKind, PERTURBATIONS } from "../../testing/simulation/_perturbations.ts";
import { drawSchedule } from "../../testing/simulation/_search.ts";
import { Random } from "../../testing/simulation/_random.ts";
import type { Plan, Schedule } from "../../testing/simulation/_plan.ts";
import { fleet } from "./_fleet.ts";

interface Scenario {
  /** How many replicas there may be; more than one are led. */
  readonly replicas: readonly number[];
  /** What may go wrong. */
  readonly faults: readonly PerturbationKind[];
  /** How much of it, at most. @default {8} */
  readonly most?: number;
  /** What the user does. @default {everything} */
  readonly actions?: readonly string[];
}

/** The scenarios, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  anything: { replicas: [1, 1, 2, 3], faults: PERTURBATIONS },
  election: {
    replicas: [3],
    faults: [
      "crash",
      "stop",
      "pause",
      "pause",
      "pause",
      "cut off",
      "black hole",
      "slow",
      "restart",
      "clock step",
      "status",
      "lost answer",
    ],
  },
  handover: {
    replicas: [2],
    faults: ["half open", "half open", "blind", "stop", "stop"],
    actions: ["create", "delete", "recreate"],
  },
  frozen: {
    replicas: [2],
    faults: ["pause", "pause", "pause", "slow"],
    most: 12,
    actions: ["create", "change", "change", "recreate", "spoil copy"],
  },
  writes: {
    replicas: [1, 2],
    faults: ["crash", "lost request", "lost answer", "unanswered", "status", "slow", "forbidden"],
  },
  watches: {
    replicas: [1],
    faults: ["cut", "stall", "lag", "stale", "half open", "blind", "expired", "compaction", "restart"],
  },
};

/** What a seed of a scenario does. */
export function scheduleOf(scenario: string, seed: number): Schedule {
  const { faults, most } = SCENARIOS[scenario]!;
  return drawSchedule(seed, planOf(scenario, seed), faults, most);
}

/** What a seed of a scenario simulates. */
export function planOf(scenario: string, seed: number): Plan {
  const random = new Random(seed, `plan of ${scenario}`);
  const { replicas, actions } = SCENARIOS[scenario]!;
  return fleet(random, random.pick(replicas), actions);
}
