/**
 * Hands out keys to work on: each once at a time, changes before delays, live ones before the initial list.
 *
 * ```ts
 * import { WorkQueue } from "./queue.ts";
 *
 * using queue = new WorkQueue();
 * queue.add("shop/web");
 * queue.add("shop/web"); // no second run: it is still waiting for the first
 * const key = await queue.next(AbortSignal.timeout(1000));
 * console.assert(key === "shop/web");
 * queue.done(key);
 * ```
 *
 * ## Guarantees
 *
 * - A key never runs twice at once. However often it is added while it runs, it runs once more after.
 * - Of two delays the earlier stands. A change (an add without delay) beats a delay and cancels it.
 * - Keys of one priority run in the order in which they became ready. While both kinds wait, at least one run in ten
 *   goes to an initial key, so that neither starves.
 * - Adds made together, with no `await` between them, are all seen before a waiting worker gets a key.
 * - No timer runs while nothing is delayed.
 *
 * ## Caveats
 *
 * - A delay of 0 is a delay: the key becomes ready on a later turn of the event loop, so a reconcile that always asks
 *   for it lets everything else run in between.
 * - The queue knows keys, not objects: whoever sees an object deleted calls {@linkcode WorkQueue.remove}.
 *
 * @module
 */
import { type QueuePriority, Schedule } from "./_schedule.ts";
import { after } from "./delay.ts";

export type { QueuePriority } from "./_schedule.ts";

/** What a metric can read from a queue at any time. */
export interface QueueState {
  /** Keys of that priority that want a run now. */
  depth(priority: QueuePriority): number;
  /** Seconds that each run now going on has taken so far. */
  running(): Iterable<number>;
}

/** What a queue tells of its work. */
export interface QueueMetrics {
  /** Called once with what to read at each scrape; the queue disposes the answer when it is disposed itself. */
  observe(state: QueueState): Disposable;
  /** A key wants a run that did not want one before. */
  added(): void;
  /** A live key was added with a delay: a retry or a requeue, not a resync. */
  retried(): void;
  /** A key was handed out that had waited that many seconds. */
  taken(seconds: number): void;
  /** A run ended that took that many seconds. */
  ended(seconds: number): void;
}

/** Options of {@linkcode WorkQueue}. */
export interface WorkQueueOptions {
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Where to count. @default {undefined} */
  readonly metrics?: QueueMetrics | undefined;
}

/** Options of {@linkcode WorkQueue.add}. */
export interface AddOptions {
  /** Ms until the key is ready. None means that something changed: it is ready at once. @default {undefined} */
  readonly delay?: number | undefined;
  /** Whether it goes before or behind the initial list; of several the higher one stands. @default {"live"} */
  readonly priority?: QueuePriority | undefined;
}

interface Waiter {
  readonly resolve: (key: string) => void;
  readonly reject: (reason: unknown) => void;
}

/** A queue of keys with at most one run per key at a time. */
export class WorkQueue implements Disposable {
  readonly #schedule = new Schedule();
  readonly #waiters = new Set<Waiter>();
  readonly #now: () => number;
  readonly #metrics: QueueMetrics | undefined;
  readonly #observed: Disposable | undefined;
  #disposed = false;
  #handingOut = false;
  #armedFor: number | undefined;
  #disarm: (() => void) | undefined;

  /** Starts empty, with no timer. */
  constructor(options: WorkQueueOptions = {}) {
    const { now = () => performance.now(), metrics } = options;
    const schedule = this.#schedule;
    this.#now = now;
    this.#metrics = metrics;
    this.#observed = metrics?.observe({
      depth: (priority) => schedule.depth(priority),
      *running() {
        const instant = now();
        for (const started of schedule.startTimes()) yield (instant - started) / 1000;
      },
    });
  }

  /** Keys that want a run now, those included whose earlier run is still going on. */
  get depth(): number {
    return this.#schedule.depth("live") + this.#schedule.depth("initial");
  }

  /** Keys handed out and not yet done. */
  get running(): number {
    return this.#schedule.running;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#schedule.delayed;
  }

  /**
   * Asks for a run of the key: now, or after a delay.
   *
   * Nothing happens once the queue is disposed, nor for a delay asked by a run whose key was removed meanwhile.
   *
   * @throws {RangeError} If the delay is negative or not finite
   * @throws {TypeError} If the priority is unknown
   */
  add(key: string, options: AddOptions = {}): void {
    const { delay, priority = "live" } = options;
    if (delay !== undefined && !(Number.isFinite(delay) && delay >= 0)) {
      throw new RangeError(
        `Cannot add "${key}" to the queue: 'delay' must be a finite time of at least 0 ms: current value is ${delay}`,
      );
    }
    if (priority !== "live" && priority !== "initial") {
      throw new TypeError(
        `Cannot add "${key}" to the queue: 'priority' must be "live" or "initial": current value is ${
          Deno.inspect(priority)
        }`,
      );
    }
    if (this.#disposed) return;
    if (delay !== undefined && priority === "live") this.#metrics?.retried();
    if (this.#schedule.add(key, this.#now(), { delay, priority })) this.#metrics?.added();
    this.#arm();
    this.#wake();
  }

  /**
   * Waits for a key whose turn it is; from then on it is running, until {@linkcode WorkQueue.done}.
   *
   * Those who wait are served in the order in which they came.
   *
   * @throws The signal's reason, as soon as it aborts
   * @throws {Error} If the queue is, or gets, disposed
   */
  next(signal: AbortSignal): Promise<string> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#disposed) return Promise.reject(disposedError());
    const key = this.#waiters.size === 0 ? this.#take() : undefined;
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      };
      const settle = (): void => signal.removeEventListener("abort", abort);
      const waiter: Waiter = {
        resolve: (key) => (settle(), resolve(key)),
        reject: (reason) => (settle(), reject(reason)),
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /**
   * Ends the key's run; if it was added meanwhile it becomes ready.
   *
   * @throws {Error} If the key is not running
   */
  done(key: string): void {
    const took = this.#schedule.done(key, this.#now());
    if (took === undefined) throw new Error(`Cannot end the run of "${key}": it is not running`);
    this.#metrics?.ended(took / 1000);
    this.#wake();
  }

  /** Counts a failed run and answers with the failures in a row; to be called before the run is done. */
  fail(key: string): number {
    return this.#disposed ? 1 : this.#schedule.fail(key);
  }

  /** Forgets the key's failures, as after a success. */
  forget(key: string): void {
    this.#schedule.forget(key);
  }

  /** Failures in a row so far. */
  failures(key: string): number {
    return this.#schedule.failures(key);
  }

  /**
   * Forgets the key, as when its object is gone: its place, its timer and its failures.
   *
   * A run that is going on stays running until it is done, but how it ends leaves no trace: its failure is not counted
   * and a delay that it asks for is dropped, so a successor of the same name starts afresh. An add without delay
   * counts as ever.
   */
  remove(key: string): void {
    this.#schedule.remove(key);
    this.#arm();
  }

  /** Forgets every key, stops the timer and rejects those who wait. Runs that are going on can still be done. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#schedule.clear();
    this.#arm();
    this.#observed?.[Symbol.dispose]();
    for (const waiter of this.#waiters) waiter.reject(disposedError());
    this.#waiters.clear();
  }

  /** The same as {@linkcode WorkQueue.dispose}. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #take(): string | undefined {
    const taken = this.#schedule.take(this.#now());
    if (taken) this.#metrics?.taken(taken.waited / 1000);
    return taken?.key;
  }

  /** Serves those who wait, but only after all adds of this turn, so that a burst collapses and priorities hold. */
  #wake(): void {
    if (this.#handingOut || this.#waiters.size === 0) return;
    this.#handingOut = true;
    queueMicrotask(() => {
      this.#handingOut = false;
      for (const waiter of this.#waiters) {
        const key = this.#take();
        if (key === undefined) return;
        this.#waiters.delete(waiter);
        waiter.resolve(key);
      }
    });
  }

  #arm(): void {
    const due = this.#schedule.nextDue;
    if (due === this.#armedFor) return;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = due;
    if (due !== undefined) this.#disarm = after(Math.ceil(due - this.#now()), () => this.#onDue());
  }

  #onDue(): void {
    this.#armedFor = undefined;
    const count = this.#schedule.promote(this.#now());
    for (let added = 0; added < count; added++) this.#metrics?.added();
    this.#arm();
    this.#wake();
  }
}

function disposedError(): Error {
  return new Error("Cannot take a key: the queue is disposed");
}
