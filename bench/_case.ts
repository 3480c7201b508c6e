/**
 * Says what a case of the benchmark is: what is prepared once, and what one run of one peer measures.
 *
 * ```ts
 * import { FIGURES, type Sample } from "./_case.ts";
 *
 * const sample: Sample = { wall: 1.5 };
 * console.assert(sample.wall !== undefined && FIGURES.wall.unit === "s");
 * ```
 *
 * @module
 */
import type { Ground } from "./_ground.ts";
import type { Peer, ReadyPeer } from "./_peers.ts";
import type { ServerTime } from "./_server.ts";
import type { Subject } from "./_subject.ts";

/** What can be measured: how it is called in tables, and in what. Less is better in all. */
export const FIGURES = {
  wall: { title: "time", unit: "s" },
  first: { title: "first reconcile", unit: "ms" },
  ready: { title: "/readyz says 200", unit: "ms" },
  p50: { title: "latency p50", unit: "ms" },
  p90: { title: "latency p90", unit: "ms" },
  p99: { title: "latency p99", unit: "ms" },
  killed: { title: "takes over from one killed", unit: "s" },
  stopped: { title: "takes over from one stopped", unit: "s" },
  lag: { title: "lag after the last write", unit: "ms" },
  cpu: { title: "CPU", unit: "s" },
  cpuQuiet: { title: "CPU until all is quiet", unit: "s" },
  cpuPerWrite: { title: "CPU per write", unit: "us" },
  idleCpu: { title: "idle CPU", unit: "%" },
  rss: { title: "RSS", unit: "MiB" },
  peak: { title: "peak RSS", unit: "MiB" },
  idleRss: { title: "idle RSS", unit: "MiB" },
  perObject: { title: "RSS per object", unit: "bytes" },
  perByte: { title: "RSS per byte of JSON", unit: "" },
  writes: { title: "writes per object", unit: "" },
  reads: { title: "reads per object", unit: "" },
  reconciles: { title: "reconciles per object", unit: "" },
  writesPerSecond: { title: "the harness' writes per second", unit: "" },
  apiCpu: { title: "kube-apiserver's CPU", unit: "s" },
  etcdCpu: { title: "etcd's CPU", unit: "s" },
} as const;

/** The name of something that can be measured. */
export type FigureName = keyof typeof FIGURES;

/** What one run has measured. */
export type Sample = Readonly<Partial<Record<FigureName, number>>>;

/** One thing to measure on one server. */
export interface Case {
  /** The mode that it belongs to. */
  readonly mode: string;
  /** What it is, such as `10,000 objects`. */
  readonly title: string;
  /** True for peers that can take part. @default {all} */
  readonly takes?: (peer: Peer) => boolean;
  /** Prepares the server, once. */
  prepare(ground: Ground): Promise<void>;
  /** One run of one peer. @throws {Error} If its work was not done */
  run(ground: Ground, peer: ReadyPeer): Promise<Sample>;
}

/** A number as it is read, such as `10,000`. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

/** How long a peer may take for so many objects, in ms: far longer than any does. */
export function limitFor(objects: number): number {
  return 60_000 + objects * 10;
}

/** The server's processor time between two moments. */
export function serverTime(before: ServerTime, after: ServerTime): Sample {
  return { apiCpu: after.api - before.api, etcdCpu: after.etcd - before.etcd };
}

/** Fails unless something holds. */
export function must(holds: boolean, what: () => string): void {
  if (!holds) throw new Error(`The work was not done: ${what()}`);
}

/** Ends a peer in order; fails if reconciles have failed, or too few have run. Answers with how many there were. */
export async function conclude(subject: Subject, atLeast: number): Promise<number> {
  const { errors, reconciles } = await subject.totals();
  must(errors === 0, () => `${subject.name} had ${errors} failed reconciles`);
  must(reconciles >= atLeast, () => `${subject.name} reconciled ${reconciles} times, not ${atLeast}`);
  await subject.stop();
  return reconciles;
}
