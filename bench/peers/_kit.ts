/**
 * Takes a peer's assignment from the environment, counts what it has reconciled, and answers the harness.
 *
 * ```ts
 * import { Tally } from "./_kit.ts";
 *
 * const told: string[] = [];
 * const tally = new Tally({ objects: 1, revision: 1 }, (event) => told.push(event.event));
 * tally.begin({ index: 0, revision: 1, sent: 0 });
 * tally.finish({ index: 0, revision: 1, sent: 0 });
 * console.assert(told.join() === "first,done");
 * ```
 *
 * @module
 */
import { epoch } from "../_clock.ts";

/** What a reconcile does. */
export type Work = "noop" | "status" | "owned" | "delay";

/** When the peer is done: so many objects have been reconciled at this revision, or a later one. */
export interface Expectation {
  readonly objects: number;
  readonly revision: number;
}

/** What the harness asks of a peer, by environment variables. */
export interface Assignment extends Expectation {
  readonly work: Work;
  readonly workers: number;
  /** The only namespace; empty for all. */
  readonly namespace: string;
  /** The port of probes and metrics; 0 for none. */
  readonly port: number;
  /** The namespace and name of the lease to lead under; undefined for none. */
  readonly lease: readonly [namespace: string, name: string] | undefined;
  /** How many kinds are watched. */
  readonly kinds: number;
}

/** What the counting needs to know of an object. */
export interface Counted {
  readonly index: number;
  readonly revision: number;
  readonly sent: number;
}

/** What a peer tells the harness. */
export interface PeerEvent {
  readonly event: "first" | "done" | "totals" | "latencies";
  readonly [detail: string]: unknown;
}

/** Reads the assignment. */
export function assignment(env: (name: string) => string | undefined = (name) => Deno.env.get(name)): Assignment {
  const number = (name: string, or: number): number => Number(env(name) || or);
  const [namespace, name] = env("BENCH_LEASE")?.split("/") ?? [];
  return {
    work: (env("BENCH_RECONCILE") || "noop") as Work,
    objects: number("BENCH_OBJECTS", 1),
    revision: number("BENCH_REVISION", 1),
    workers: number("BENCH_WORKERS", 16),
    namespace: env("BENCH_NAMESPACE") ?? "",
    port: number("BENCH_PORT", 0),
    lease: namespace && name ? [namespace, name] : undefined,
    kinds: number("BENCH_KINDS", 1),
  };
}

/** Numbers by index, 0 where nothing was set. */
class Column {
  #numbers = new Int32Array(1024);

  get(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#numbers.length) {
      const grown = new Int32Array(Math.max(index + 1, 2 * this.#numbers.length));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[index] = value;
  }

  /** How many are at least this, which is above 0. */
  atLeast(value: number): number {
    let count = 0;
    for (const each of this.#numbers) if (each >= value) count++;
    return count;
  }
}

/** Counts reconciles, and tells when what is expected has come. */
export class Tally {
  readonly #tell: (event: PeerEvent) => void;
  readonly #begun = new Column();
  readonly #finished = new Column();
  #expected: Expectation;
  #reached = 0;
  #done = false;
  #latencies: number[] = [];
  #reconciles = 0;
  /** How many reconciles have failed. */
  errors = 0;
  /** How many writes reconciles have sent. */
  writes = 0;

  constructor(expected: Expectation, tell: (event: PeerEvent) => void) {
    this.#expected = expected;
    this.#tell = tell;
  }

  /** A reconcile starts. */
  begin({ index, revision, sent }: Counted): void {
    if (this.#reconciles++ === 0) this.#tell({ event: "first", at: epoch() });
    if (revision <= this.#begun.get(index)) return;
    this.#begun.set(index, revision);
    if (sent > 0) this.#latencies.push(epoch() - sent);
  }

  /** A reconcile has ended, and its writes are answered. */
  finish({ index, revision }: Counted): void {
    const before = this.#finished.get(index);
    if (revision <= before) return;
    this.#finished.set(index, revision);
    const wanted = this.#expected.revision;
    if (before >= wanted || revision < wanted) return;
    this.#reached++;
    this.#look();
  }

  /** True if this revision of the object has been begun. */
  hasBegun({ index, revision }: Counted): boolean {
    return revision <= this.#begun.get(index);
  }

  /** Does what a line of the harness asks for. */
  command(line: string): void {
    const [word, objects, revision] = line.trim().split(" ");
    if (word === "expect") {
      this.#expected = { objects: Number(objects), revision: Number(revision) };
      this.#reached = this.#finished.atLeast(this.#expected.revision);
      this.#done = false;
      this.#look();
    } else if (word === "totals") {
      this.#tell({ event: "totals", reconciles: this.#reconciles, errors: this.errors, writes: this.writes });
    } else if (word === "latencies") {
      this.#tell({ event: "latencies", ms: this.#latencies });
      this.#latencies = [];
    } else {
      console.error(`Unknown command "${line}"`);
    }
  }

  #look(): void {
    if (this.#done || this.#reached < this.#expected.objects) return;
    this.#done = true;
    const { objects, revision } = this.#expected;
    this.#tell({ event: "done", objects, revision, at: epoch() });
  }
}

/** Tells the harness something: a line of standard output, written before this returns. */
export function tell(event: PeerEvent): void {
  const line = new TextEncoder().encode(`${JSON.stringify(event)}\n`);
  for (let at = 0; at < line.length;) at += Deno.stdout.writeSync(line.subarray(at));
}

/** Obeys the lines of standard input; resolves at its end. */
export async function obey(tally: Tally): Promise<void> {
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) tally.command(line);
  }
}
