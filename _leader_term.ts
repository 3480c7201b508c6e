/**
 * Keeps one term of a leader: it lasts until its renew deadline has passed on the monotonic clock, or it is ended.
 *
 * ```ts
 * import { LeaderTerm } from "./_leader_term.ts";
 *
 * using term = new LeaderTerm({ since: 0, length: 10_000, now: () => 9_999, describe: "the lease", onEnd: () => {} });
 * term.check();
 * ```
 *
 * @module
 */
import { after } from "./delay.ts";
import { LeadershipLostError } from "./errors.ts";

/** One term of leadership. */
export interface Term {
  /** Aborts when the lease is, or may be, lost; the reason is a {@linkcode LeadershipLostError}. */
  readonly signal: AbortSignal;
  /**
   * Makes sure, by the monotonic clock, that nobody else can hold the lease yet: also when timers were late because the
   * process was paused.
   *
   * @throws {LeadershipLostError} If the term has ended
   */
  check(): void;
}

/** What {@linkcode LeaderTerm} goes by; times in ms of the monotonic clock. */
export interface LeaderTermOptions {
  /** When the write that won the lease began. */
  since: number;
  /** How long after the start of the last successful write the term lasts. */
  length: number;
  /** The monotonic clock. */
  now: () => number;
  /** Names the lease in errors. */
  describe: string;
  /** Called once, when the term ends. */
  onEnd: () => void;
}

/** A {@linkcode Term} that its elector extends and ends. */
export class LeaderTerm implements Term, Disposable {
  readonly #options: LeaderTermOptions;
  readonly #controller = new AbortController();
  #deadline: number;
  #cancel: () => void = () => {};

  /** Begins the term. */
  constructor(options: LeaderTermOptions) {
    this.#options = options;
    this.#deadline = options.since + options.length;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** When the term ends unless it is extended: a reading of the monotonic clock. */
  get deadline(): number {
    return this.#deadline;
  }

  /** True until the term has ended; ends it if its time is up. */
  get current(): boolean {
    if (!this.signal.aborted && this.#options.now() >= this.#deadline) {
      this.end(`it was not renewed within ${this.#options.length} ms, so that another replica may take it`);
    }
    return !this.signal.aborted;
  }

  check(): void {
    if (!this.current) throw this.signal.reason;
  }

  /** Takes note of a successful write that began at `since`; too late once the term has ended. */
  extend(since: number): void {
    if (this.signal.aborted) return;
    this.#deadline = Math.max(this.#deadline, since + this.#options.length);
    this.#cancel();
    this.#arm();
  }

  /** Ends the term for a reason. */
  end(reason: string): void {
    if (this.signal.aborted) return;
    this.#cancel();
    this.#controller.abort(
      new LeadershipLostError(`Cannot go on as the leader by ${this.#options.describe}: ${reason}`),
    );
    this.#options.onEnd();
  }

  [Symbol.dispose](): void {
    this.end("the work of the term has ended");
  }

  #arm(): void {
    // a timer may be early by a fraction of a ms
    this.#cancel = after(Math.max(1, this.#deadline - this.#options.now()), () => this.current && this.#arm());
  }
}
