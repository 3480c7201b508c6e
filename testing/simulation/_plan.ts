/**
 * Says what is simulated, by which schedule, and what comes of it.
 *
 * ```ts
 * import type { Schedule } from "./_plan.ts";
 *
 * export const nothing: Schedule = { seed: 1, actions: [], perturbations: [] };
 * ```
 *
 * @module
 */
import type { Client } from "../../client.ts";
import type { Operator } from "../../operator.ts";
import type { ApiServer } from "../api_server.ts";
import type { Invariant } from "./_events.ts";
import type { Perturbation } from "./_perturbations.ts";

/** What an action and an own invariant are given. */
export interface SimulatedWorld {
  /** A client of a cluster admin, that nothing goes wrong with. */
  readonly client: Client;
  /** The server. */
  readonly server: ApiServer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Ms since the beginning. */
  readonly now: () => number;
}

/** Something that a user does. */
export interface Action {
  /** What, in words. */
  readonly name: string;
  /** Does it; an error of the API is taken for a refusal. */
  readonly run: (world: SimulatedWorld) => Promise<unknown> | unknown;
}

/** When an action is done. */
export interface PlannedAction {
  /** In ms since the beginning. */
  readonly at: number;
  /** Which. */
  readonly index: number;
}

/** A point between two requests of a process at which it is killed. */
export interface CrashPoint {
  /** Which replica. */
  readonly replica: number;
  /** Which of its first process' requests, from 1. */
  readonly request: number;
  /** Before it is sent, or after it took effect and before its answer comes. */
  readonly when: "before" | "after";
}

/** All that is to happen in a simulation: with the same one the same happens. */
export interface Schedule {
  /** Latencies and uids come from it. */
  readonly seed: number;
  /** What the user does. */
  readonly actions: readonly PlannedAction[];
  /** What goes wrong. */
  readonly perturbations: readonly Perturbation[];
  /** Where the first process of a replica is killed. */
  readonly crash?: CrashPoint | undefined;
}

/** What is simulated. */
export interface Plan {
  /** Makes the operator; called for every process that starts. */
  readonly operator: () => Operator | Promise<Operator>;
  /** How many replicas there are. */
  readonly replicas: number;
  /** True if Deployments and the like get pods that become ready. */
  readonly workloads: boolean;
  /** The plurals of the kinds that it watches. */
  readonly resources: readonly string[];
  /** What the user may do. */
  readonly actions: readonly Action[];
  /** Makes the world before the operator starts. */
  readonly world: (world: SimulatedWorld) => Promise<unknown> | unknown;
  /** How long things happen, in ms. */
  readonly horizon: number;
  /** How long the operator may take until everything is right again, in ms. */
  readonly patience: number;
  /** What is to hold. */
  readonly invariants: Readonly<Record<string, Invariant>>;
  /** What is to hold at the end, by the user. */
  readonly expectations: Readonly<Record<string, (world: SimulatedWorld) => Promise<unknown> | unknown>>;
}

/** A line of the story. */
export interface TraceLine {
  /** When, in ms. */
  readonly at: number;
  /** Who. */
  readonly actor: string;
  /** What. */
  readonly text: string;
}

/** What came of a simulation. */
export interface Outcome {
  /** What did not hold, by the names of invariants. */
  readonly violations: readonly { readonly invariant: string; readonly text: string; readonly at: number }[];
  /** The story; empty unless asked for. */
  readonly trace: readonly TraceLine[];
  /** How many requests were sent by replicas. */
  readonly requests: number;
  /** How many requests the first process of each replica sent. */
  readonly firstRequests: readonly number[];
  /** How long it took in virtual time, in ms. */
  readonly took: number;
}
