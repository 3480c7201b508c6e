/**
 * Checks the numbers in the spec and the status of what keeps pods running: none is negative, and parts are no more than the whole.
 *
 * ```ts
 * import { counts, validateNumbers } from "./_kinds_apps_numbers.ts";
 *
 * const check = validateNumbers(counts.deployments);
 * console.assert(check({ status: { replicas: 1, readyReplicas: 2 } }, {}).length === 1);
 * ```
 *
 * @module
 */
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

/** What of some members is negative. */
export function negatives(object: Fields, names: readonly string[], at: string): Cause[] {
  return names.filter((name) => typeof object[name] === "number" && object[name] < 0).map((name) =>
    cause.invalid(at === "" ? name : `${at}.${name}`, object[name], "must be greater than or equal to 0")
  );
}

/** The numbers of a kind's status. */
export interface Numbers {
  /** Those that are not negative, in order. */
  readonly whole: readonly string[];
  /** Those that are no more than another, in order, and how that one is called. */
  readonly parts: readonly (readonly [part: string, of: string, called: string])[];
}

const of = (...names: readonly string[]) => names.map((name) => [name, "replicas", "status.replicas"] as const);
const ready = (called: string) => [["availableReplicas", "readyReplicas", called] as const];

/** The numbers, by kind. */
export const counts = {
  deployments: {
    whole: [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "terminatingReplicas",
      "collisionCount",
    ],
    parts: [...of("updatedReplicas", "readyReplicas", "availableReplicas"), ...ready("readyReplicas")],
  },
  replicaSets: {
    whole: [
      "replicas",
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas",
      "observedGeneration",
      "terminatingReplicas",
    ],
    parts: [...of("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), ...ready("readyReplicas")],
  },
  controllers: {
    whole: ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"],
    parts: [...of("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), ...ready("readyReplicas")],
  },
  daemonSets: {
    whole: [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ],
    parts: [],
  },
  statefulSets: {
    whole: [
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ],
    parts: [
      ...of("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
      ...ready("status.readyReplicas"),
    ],
  },
} as const satisfies Readonly<Record<string, Numbers>>;

/** Returns the check of a status, and of its change. */
export function validateNumbers({ whole, parts }: Numbers): (object: Fields, old: Fields) => Cause[] {
  return ({ status = {} }, old) => {
    const causes = negatives(status, whole, "status");
    for (const [part, all, called] of parts) {
      const count = status[part] ?? 0;
      if (count <= (status[all] ?? 0)) continue;
      causes.push(cause.invalid(`status.${part}`, count, `cannot be greater than ${called}`));
    }
    const before = old.status?.collisionCount;
    if (whole.includes("collisionCount") && before !== undefined && (status.collisionCount ?? -1) < before) {
      causes.push(cause.invalid("status.collisionCount", status.collisionCount ?? 0, "cannot be decremented"));
    }
    return causes;
  };
}
