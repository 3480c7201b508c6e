/**
 * Keeps the faults, lags and partitions of a server, and says which of them a request meets.
 *
 * ```ts
 * import { FaultBoard } from "./_fault_board.ts";
 * import { Store } from "./_store.ts";
 *
 * const board = new FaultBoard(new Store(), () => 0);
 * board.add({ verb: "create", times: 1 }, { code: 503 });
 * const request = { user: "ada", client: "kubectl", verb: "create" };
 * console.assert(board.take(request)?.code === 503);
 * console.assert(board.take(request) === undefined);
 * ```
 *
 * @module
 */
import {
  checkCount,
  checkFault,
  connectionReset,
  type Fault,
  type FaultMatch,
  type Faults,
  type PartitionOptions,
  type TimedMatch,
} from "./_faults.ts";
import { Lag, type LagBy } from "./_lag.ts";
import { checkMatch, matches, type RequestMatch, type RequestSubject } from "./_match.ts";
import type { Outlet } from "./_outlet.ts";
import type { Store } from "./_store.ts";

/** Something that requests meet, some number of times or for a time. */
interface Active<T> {
  readonly match: FaultMatch;
  readonly what: T;
  readonly until: number;
  left: number;
  readonly end: () => void;
}

/** One client cut off. */
export interface Partition {
  readonly lost: "requests" | "answers" | "refused";
  /** Resolves when it ends. */
  readonly over: Promise<void>;
}

/** The faults of one server. */
export class FaultBoard implements Faults {
  /** The watches that are open. */
  readonly outlets = new Set<Outlet>();
  readonly #store: Store;
  readonly #now: () => number;
  readonly #faults: Active<Fault>[] = [];
  readonly #lags: Active<Lag>[] = [];
  readonly #partitions: Active<Partition>[] = [];
  #skew = 0;
  #broken = new AbortController();

  /** Takes what lagging replicas are behind of, and the clock, in ms. */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** True while nothing goes wrong. */
  get idle(): boolean {
    return this.#faults.length === 0 && this.#lags.length === 0 && this.#partitions.length === 0;
  }

  /** Aborts when the server breaks all its connections. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  get skew(): number {
    return this.#skew;
  }

  set skew(ms: number) {
    if (!Number.isFinite(ms)) {
      throw new RangeError(`Cannot set 'skew': it must be a finite number of ms: current value is ${String(ms)}`);
    }
    this.#skew = ms;
  }

  add(match: FaultMatch, fault: Fault): Disposable {
    this.#check("add a fault", match, ["times"]);
    checkCount("add a fault", "times", match.times);
    checkFault(fault);
    return this.#activate(this.#faults, match, fault, () => {});
  }

  lag(match: TimedMatch, by: LagBy = {}): Disposable {
    this.#check("add a lag", match);
    const { ms, versions } = by;
    checkCount("add a lag", "ms", ms);
    checkCount("add a lag", "versions", versions);
    const lag = new Lag(this.#store, by);
    return this.#activate(this.#lags, match, lag, () => lag[Symbol.dispose]());
  }

  partition(match: TimedMatch, options: PartitionOptions = {}): Disposable {
    this.#check("add a partition", match);
    const { lost = "requests" } = options;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const partition = this.#activate(this.#partitions, match, { lost, over }, () => {
      for (const outlet of this.outlets) if (!this.#cutOff(outlet)) outlet.release();
      resolve();
    });
    for (const outlet of this.outlets) if (this.#cutOff(outlet)) outlet.hold();
    return partition;
  }

  breakWatches(match: RequestMatch = {}): number {
    checkMatch("break watches", match);
    const met = [...this.outlets].filter(({ subject }) => subject && matches(match, subject));
    for (const outlet of met) outlet.break();
    return met.length;
  }

  /** Breaks all connections. */
  breakAll(): void {
    for (const outlet of [...this.outlets]) outlet.break();
    this.#broken.abort(connectionReset());
    this.#broken = new AbortController();
  }

  clear(): void {
    this.#skew = 0;
    for (const active of [...this.#faults, ...this.#lags, ...this.#partitions]) active.end();
  }

  /** The fault that a request meets, if any; it counts. */
  take(subject: RequestSubject): Fault | undefined {
    const active = this.#find(this.#faults, subject);
    if (active && --active.left <= 0) active.end();
    return active?.what;
  }

  /** The replica behind that a request is sent to, if any. */
  lagOf(subject: RequestSubject): Lag | undefined {
    return this.#find(this.#lags, subject)?.what;
  }

  /** What cuts a client off, if anything. */
  partitionOf(subject: RequestSubject): Partition | undefined {
    return this.#find(this.#partitions, subject)?.what;
  }

  #cutOff({ subject }: Outlet): boolean {
    return subject !== undefined && this.partitionOf(subject) !== undefined;
  }

  #check(what: string, match: FaultMatch, more: readonly string[] = []): void {
    checkMatch(what, match, ["for", ...more]);
    checkCount(what, "for", match.for);
  }

  #activate<T>(list: Active<T>[], match: FaultMatch, what: T, ended: () => void): Disposable {
    const { times = Infinity, for: lasts = Infinity } = match;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (): void => {
      const index = list.indexOf(active);
      if (index < 0) return;
      list.splice(index, 1);
      clearTimeout(timer);
      ended();
    };
    const active: Active<T> = { match, what, until: this.#now() + lasts, left: times, end };
    list.push(active);
    // A lag or a partition ends although nobody asks.
    if (lasts < 2 ** 31 && list as unknown !== this.#faults) timer = setTimeout(end, lasts);
    return { [Symbol.dispose]: end };
  }

  #find<T>(list: Active<T>[], subject: RequestSubject): Active<T> | undefined {
    for (const active of [...list]) {
      if (active.until <= this.#now()) active.end();
      else if (matches(active.match, subject)) return active;
    }
    return undefined;
  }
}
