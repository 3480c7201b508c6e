/**
 * Says what can go wrong in a simulation, draws it at random, and makes it happen.
 *
 * ```ts
 * import { drawPerturbation } from "./_perturbations.ts";
 * import { Random } from "./_random.ts";
 *
 * const drawn = drawPerturbation(new Random(7), { horizon: 60_000, replicas: 2 });
 * console.assert(drawn.at < 60_000);
 * ```
 *
 * A perturbation is plain data, so that a schedule of them can be printed, shortened and replayed.
 *
 * @module
 */
import type { Cut, Delay, Effect, Network, Trouble } from "./_network.ts";
import type { Random } from "./_random.ts";
import type { Process, VirtualTime } from "./_virtual_time.ts";

/** The kinds of what can go wrong. */
export type PerturbationKind =
  | "crash"
  | "stop"
  | "pause"
  | "cut off"
  | "black hole"
  | "half open"
  | "lost request"
  | "lost answer"
  | "unanswered"
  | "status"
  | "expired"
  | "forbidden"
  | "slow"
  | "cut"
  | "stall"
  | "lag"
  | "stale"
  | "blind"
  | "compaction"
  | "restart"
  | "clock step";

/** Something that goes wrong. */
export interface Perturbation {
  /** When, in ms since the beginning. */
  readonly at: number;
  /** What. */
  readonly kind: PerturbationKind;
  /** For how long, in ms. */
  readonly for: number;
  /** For which replica, from 0; the others do not notice. */
  readonly replica: number;
  /** How much: requests, ms, or an index, as the kind takes it. */
  readonly amount: number;
  /** The plural of the one kind whose watches are meant, where that matters. @default {all} */
  readonly resource?: string | undefined;
}

/** What perturbations act on. */
export interface Perturbed {
  /** The clock. */
  readonly time: VirtualTime;
  /** The wires. */
  readonly network: Network;
  /** The process that is a replica now; undefined while there is none. */
  process(replica: number): Process | undefined;
  /** Kills a replica, and starts another in its place after some ms. */
  crash(replica: number, restart: number): void;
  /** Lets a replica end in order, and starts another in its place some ms after its end. */
  stop(replica: number, restart: number): void;
  /** Forgets the server's history. */
  compact(): void;
  /** Sends a replica to a server that is some ms behind, until it is disposed. */
  lag(replica: number, ms: number): Disposable;
}

interface Kind {
  /** How often it is drawn, relative to the others. */
  readonly weight: number;
  /** How long it lasts at most, in ms. */
  readonly longest: number;
  /** The largest amount. */
  readonly most: number;
  /** What happens, in words. */
  text(it: Perturbation): string;
  /** Makes it happen. */
  apply(world: Perturbed, it: Perturbation): void;
}

const CODES = [500, 503, 504, 429, 409, 502] as const;
const CUTS: readonly Cut[] = ["closed", "reset", "truncated"];
const TROUBLED = ["all", "reads", "writes", "watches"] as const;

function trouble(world: Perturbed, it: Perturbation, effect: Effect, left: number, of: Trouble["of"] = "all"): void {
  const process = world.process(it.replica);
  if (process) world.network.troubles.add({ process, of, effect, left, until: world.time.now + it.for });
}

function delayed(world: Perturbed, it: Perturbation, how: Pick<Delay, "by" | "until">, resource?: string): void {
  const process = world.process(it.replica);
  if (!process) return;
  const delay = { process, resource, ...how };
  world.network.delays.add(delay);
  world.time.after(it.for, () => world.network.delays.delete(delay));
}

const ofKind = ({ resource }: Perturbation): string => resource === undefined ? "" : ` of ${resource}`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** What can go wrong. */
const KINDS: Readonly<Record<PerturbationKind, Kind>> = {
  crash: {
    weight: 3,
    longest: 20_000,
    most: 0,
    text: (it) => `is killed, and started anew after ${seconds(it.for)}`,
    apply: (world, it) => world.crash(it.replica, it.for),
  },
  stop: {
    weight: 2,
    longest: 5_000,
    most: 0,
    text: (it) => `gets SIGTERM, and is started anew ${seconds(it.for)} after its end`,
    apply: (world, it) => world.stop(it.replica, it.for),
  },
  pause: {
    weight: 2,
    longest: 40_000,
    most: 0,
    text: (it) => `stands still for ${seconds(it.for)}`,
    apply(world, it) {
      const process = world.process(it.replica);
      process?.pause();
      world.time.after(it.for, () => process?.resume());
    },
  },
  "cut off": {
    weight: 2,
    longest: 30_000,
    most: 0,
    text: (it) => `reaches nobody for ${seconds(it.for)}: its connections are refused`,
    apply(world, it) {
      trouble(world, it, { kind: "refused" }, Infinity);
      world.network.cut("reset", world.process(it.replica));
    },
  },
  "black hole": {
    weight: 2,
    longest: 30_000,
    most: 0,
    text: (it) => `gets no answers and no events for ${seconds(it.for)}: what it sends is lost`,
    apply(world, it) {
      trouble(world, it, { kind: "lost" }, Infinity);
      delayed(world, it, { until: world.time.now + it.for });
    },
  },
  "half open": {
    weight: 1,
    longest: 1,
    most: 0,
    text: () => "hears nothing more of its watches, which stay open",
    apply: (world, it) => world.network.freeze(world.process(it.replica)),
  },
  "lost request": {
    weight: 2,
    longest: 30_000,
    most: 3,
    text: (it) => `loses its next ${it.amount + 1} requests: the connection breaks before they arrive`,
    apply: (world, it) => trouble(world, it, { kind: "reset-before" }, it.amount + 1, TROUBLED[it.amount % 4]),
  },
  "lost answer": {
    weight: 4,
    longest: 30_000,
    most: 3,
    text: (it) => `gets no answer to its next ${it.amount + 1} writes: the connection breaks after they took effect`,
    apply: (world, it) => trouble(world, it, { kind: "reset-after" }, it.amount + 1, "writes"),
  },
  unanswered: {
    weight: 1,
    longest: 30_000,
    most: 1,
    text: (it) => `waits in vain for the answers to its next ${it.amount + 1} writes, which took effect`,
    apply: (world, it) => trouble(world, it, { kind: "unanswered" }, it.amount + 1, "writes"),
  },
  status: {
    weight: 3,
    longest: 20_000,
    most: 23,
    text: (it) => `is answered ${CODES[it.amount % 6]} to its next ${1 + it.amount % 4} ${TROUBLED[it.amount % 4]}`,
    apply(world, it) {
      const code = CODES[it.amount % 6]!;
      const retryAfter = code === 429 ? 1 + it.amount % 3 : undefined;
      trouble(world, it, { kind: "status", code, retryAfter }, 1 + it.amount % 4, TROUBLED[it.amount % 4]);
    },
  },
  expired: {
    weight: 1,
    longest: 20_000,
    most: 2,
    text: (it) => `is answered 410 to its next ${it.amount + 1} watches`,
    apply: (world, it) => trouble(world, it, { kind: "status", code: 410 }, it.amount + 1, "watches"),
  },
  forbidden: {
    weight: 1,
    longest: 20_000,
    most: 3,
    text: (it) => `is forbidden all ${TROUBLED[it.amount % 4]} for ${seconds(it.for)}`,
    apply: (world, it) => trouble(world, it, { kind: "status", code: 403 }, Infinity, TROUBLED[it.amount % 4]),
  },
  slow: {
    weight: 2,
    longest: 20_000,
    most: 5_000,
    text: (it) => `waits ${it.amount} ms longer for each answer, for ${seconds(it.for)}`,
    apply: (world, it) => trouble(world, it, { kind: "delayed", ms: it.amount }, Infinity),
  },
  cut: {
    weight: 3,
    longest: 1,
    most: 2,
    text: (it) => `has its watches ${CUTS[it.amount]}`,
    apply: (world, it) => world.network.cut(CUTS[it.amount]!, world.process(it.replica)),
  },
  stall: {
    weight: 2,
    longest: 60_000,
    most: 0,
    text: (it) => `reads nothing of its watches${ofKind(it)} for ${seconds(it.for)}`,
    apply: (world, it) => delayed(world, it, { until: world.time.now + it.for }, it.resource),
  },
  lag: {
    weight: 3,
    longest: 40_000,
    most: 8_000,
    text: (it) => `sees everything ${it.amount} ms late in its watches${ofKind(it)}, for ${seconds(it.for)}`,
    apply: (world, it) => delayed(world, it, { by: it.amount }, it.resource),
  },
  stale: {
    weight: 3,
    longest: 40_000,
    most: 20_000,
    text: (it) => `is served by an API server that is ${it.amount} ms behind, for ${seconds(it.for)}`,
    apply(world, it) {
      const lag = world.lag(it.replica, it.amount);
      // its connections go to the other server from now on
      world.network.cut("closed", world.process(it.replica));
      world.time.after(it.for, () => lag[Symbol.dispose]());
    },
  },
  blind: {
    weight: 2,
    longest: 30_000,
    most: 0,
    text: (it) => `sees nothing for ${seconds(it.for)}, and then only what is left`,
    apply(world, it) {
      trouble(world, it, { kind: "refused" }, Infinity, "watches");
      world.network.cut("reset", world.process(it.replica));
      world.time.after(it.for, () => world.compact());
    },
  },
  compaction: {
    weight: 1,
    longest: 1,
    most: 0,
    text: () => "the API server forgets its history",
    apply: (world) => world.compact(),
  },
  restart: {
    weight: 2,
    longest: 20_000,
    most: 0,
    text: (it) => `the API server is away for ${seconds(it.for)}`,
    apply(world, it) {
      world.compact();
      world.network.troubles.add({
        of: "all",
        effect: { kind: "refused" },
        left: Infinity,
        until: world.time.now + it.for,
      });
      world.network.cut("reset");
    },
  },
  "clock step": {
    weight: 1,
    longest: 1,
    most: 240_000,
    text: (it) => `has its wall clock set ${seconds(it.amount - 120_000)} ahead`,
    apply(world, it) {
      const process = world.process(it.replica);
      if (process) process.skew += it.amount - 120_000;
    },
  },
};

/** The names of all kinds. */
export const PERTURBATIONS: readonly PerturbationKind[] = Object.keys(KINDS) as PerturbationKind[];

/** Draws one at random; it is over when the horizon is. */
export function drawPerturbation(
  random: Random,
  { horizon, replicas, kinds = PERTURBATIONS, resources = [] }: {
    readonly horizon: number;
    readonly replicas: number;
    readonly kinds?: readonly PerturbationKind[];
    readonly resources?: readonly string[];
  },
): Perturbation {
  let ticket = random.next() * kinds.reduce((sum, kind) => sum + KINDS[kind].weight, 0);
  const kind = kinds.find((each) => (ticket -= KINDS[each].weight) < 0) ?? kinds[0]!;
  const { longest, most } = KINDS[kind];
  const at = random.below(horizon);
  const lasts = random.between(1, Math.max(1, Math.min(longest, horizon - at)));
  const drawn = { at, kind, for: lasts, replica: random.below(replicas), amount: random.between(0, most) };
  const one = (kind === "stall" || kind === "lag") && resources.length > 1 && random.chance(0.5);
  return one ? { ...drawn, resource: random.pick(resources) } : drawn;
}

/** Makes one happen. */
export function applyPerturbation(world: Perturbed, it: Perturbation): void {
  KINDS[it.kind].apply(world, it);
}

/** What happens, in words. */
export function textOfPerturbation(it: Perturbation): string {
  const text = KINDS[it.kind].text(it);
  return text.startsWith("the ") ? text : `replica ${it.replica + 1} ${text}`;
}
