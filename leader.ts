/**
 * Elects one leader among replicas through a Lease, in client-go's way.
 *
 * ```ts
 * import { Client, LeaderElector } from "@tend/operator";
 *
 * const elector = new LeaderElector(new Client(), { namespace: "default", name: "backup-operator" });
 * const stop = new AbortController();
 *
 * async function lead(): Promise<void> {
 *   await elector.run(async (term) => {
 *     while (!stop.signal.aborted && !term.signal.aborted) {
 *       term.check(); // before each write
 *       await new Promise((resolve) => setTimeout(resolve, 1000));
 *     }
 *   }, stop.signal);
 * }
 * console.assert(typeof lead === "function" && !elector.leading);
 * ```
 *
 * ## Guarantees
 *
 * - No two replicas pass {@linkcode Term.check} at one time: a term lasts for the renew deadline, counted from before
 *   its last successful write was sent, and nobody takes a lease that has not stood still for the holder's whole lease
 *   duration on their own monotonic clock. What wall clocks say, or jump to, does not matter.
 * - A leader that dies is replaced within the lease duration and one retry period; one that stops, after one retry period.
 * - The lease is released only after the work has ended, and never over another holder.
 * - A Lease that only looks like this replica's, from a former life or from a twin of the same identity, is not its own.
 *
 * ## Caveats
 *
 * - Monotonic clocks must not drift apart by more than the ratio of `leaseDuration` to `renewDeadline` (1.5 by default).
 *   A machine that is suspended as a whole, clock and all, can't know it; check writes by their resource version too.
 * - A request that was sent before the term ended may still take effect after.
 * - Do not delete or empty a Lease by hand while it is held: a replica that starts that very moment takes it at once,
 *   and the old leader learns of it at its next renewal.
 *
 * ## RBAC
 *
 * `get`, `create` and `update` on `leases` of `coordination.k8s.io`, in the Lease's namespace.
 *
 * The algorithm is that of `k8s.io/client-go/tools/leaderelection`.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { LeaderTerm, type Term } from "./_leader_term.ts";
import { LeaseError, LeaseLock } from "./_lease_lock.ts";
import type { Client } from "./client.ts";
import { delay } from "./delay.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import type { Logger } from "./logger.ts";
import { assertDnsLabel, assertDnsSubdomain } from "./names.ts";

export type { Term } from "./_leader_term.ts";

/** How an election stands. */
export interface LeaderState {
  /** True while this replica leads. */
  readonly leading: boolean;
  /** Who holds the lease, as last seen. */
  readonly holder: string | undefined;
  /** Why the lease could not be read or written; absent when it could. */
  readonly problem?: Error;
}

/** Options of {@linkcode LeaderElector}. */
export interface LeaderOptions {
  /** The Lease's namespace. */
  readonly namespace: string;
  /** The Lease's name: one per operator, not shared with others. */
  readonly name: string;
  /** Tells this process from all others. @default {the host's name and a random part} */
  readonly identity?: string | undefined;
  /** How long others wait after the last renewal they saw, in whole seconds (rounded up). @default {15 s} */
  readonly leaseDuration?: Duration | undefined;
  /** How long after its last renewal a leader goes on; less than `leaseDuration`. @default {10 s} */
  readonly renewDeadline?: Duration | undefined;
  /** Time between two tries, and up to 20 % more; with that less than `renewDeadline`. @default {2 s} */
  readonly retryPeriod?: Duration | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the logger of the category "tend", "leader"} */
  readonly log?: Logger | undefined;
  /** Called when the state has changed; what it throws is logged. @default {undefined} */
  readonly onChange?: ((state: LeaderState) => void) | undefined;
}

/** Up to this share is added to the retry period, so that replicas do not retry in step. */
const JITTER = 0.2;
/** How long the same problem is not logged again, in ms. */
const REPEAT_LOG = 60_000;

/** Stands for election, and leads when elected. */
export class LeaderElector {
  /** What the Lease names as its holder while this replica leads. */
  readonly identity: string;
  readonly #describe: string;
  readonly #renewDeadline: number;
  readonly #retryPeriod: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #log: Logger;
  readonly #onChange: ((state: LeaderState) => void) | undefined;
  readonly #lock: LeaseLock;
  #term: LeaderTerm | undefined;
  #problem: Error | undefined;
  #running = false;
  #reported: string;
  readonly #logged = new Map<string, number>();

  /**
   * Checks the options; sends nothing.
   *
   * @throws {TypeError} If the namespace, name or identity is not valid
   * @throws {RangeError} If it does not hold that leaseDuration > renewDeadline > retryPeriod × 1.2 > 0
   */
  constructor(client: Client, options: LeaderOptions) {
    const { namespace, name, identity = defaultIdentity(), log = getLogger(["tend", "leader"]) } = options;
    const { now = () => performance.now(), random = Math.random, onChange } = options;
    const { lease, renew, retry } = checkElection(options);
    this.identity = identity;
    this.#describe = `Lease "${namespace}/${name}"`;
    this.#renewDeadline = renew;
    this.#retryPeriod = retry;
    this.#now = now;
    this.#random = random;
    this.#log = log.with({ lease: `${namespace}/${name}`, identity });
    this.#onChange = onChange;
    const onSeen = (): void => this.#changed();
    const lock = { namespace, name, identity, leaseDuration: lease, timeout: renew / 2, now, random, onSeen };
    this.#lock = new LeaseLock(client, lock);
    this.#reported = this.#state();
  }

  /** True while this replica leads, by the clock. */
  get leading(): boolean {
    return this.#term?.current ?? false;
  }

  /** Who holds the lease, as last seen; `undefined` before the first look, and when nobody does. */
  get holder(): string | undefined {
    return this.#lock.view.holder;
  }

  /** Why the lease could not be read or written at the last try. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /**
   * Stands for election until the signal aborts, and does the work in each term that it wins.
   *
   * When a term is lost its signal aborts, the work is awaited, and the replica stands again. When `signal` aborts, the
   * lease goes on being renewed until the work has ended, and is then released. Work that ends by itself steps down:
   * the lease is released, and the replica stands again after a retry period.
   *
   * @param work Watches both `signal` and its term; resolves with `false` when something may still be running, so that
   * the lease is not released but left to expire
   * @throws {TypeError} If the election is already running
   * @throws What the work throws; the lease is then left to expire
   */
  async run(work: (term: Term) => Promise<boolean | void>, signal: AbortSignal): Promise<void> {
    if (this.#running) throw new TypeError(`Cannot run the election by ${this.#describe}: it is already running`);
    this.#running = true;
    try {
      while (!signal.aborted) {
        const since = await this.#win(signal);
        if (since === undefined || signal.aborted) break;
        await this.#lead(work, since, signal);
      }
      await this.#release();
    } finally {
      this.#running = false;
    }
  }

  /** Tries until the lease is won; answers with when the winning write began, or `undefined` when the signal aborts. */
  async #win(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const start = this.#now();
      const since = await this.#try(start + this.#renewDeadline, signal, false);
      if (typeof since === "number" && this.#now() < since + this.#renewDeadline) return since;
      const pause = start + this.#pause() - this.#now();
      const free = this.#lock.view.freeIn(this.#now());
      await delay(free > 0 ? Math.min(free, pause) : pause, signal).catch(() => {});
    }
  }

  /** Does the work of one term. */
  async #lead(work: (term: Term) => Promise<boolean | void>, since: number, signal: AbortSignal): Promise<void> {
    const halt = new AbortController();
    const onEnd = (): void => {
      halt.abort();
      this.#changed();
    };
    const length = this.#renewDeadline;
    const term = new LeaderTerm({ since, length, now: this.#now, describe: this.#describe, onEnd });
    this.#term = term;
    this.#log.info("Became the leader");
    this.#changed();
    const keeping = this.#keep(term, since, halt.signal);
    let kept = false;
    let over: boolean | void = false;
    try {
      over = await work(term);
    } finally {
      kept = term.current;
      halt.abort();
      await keeping;
      term[Symbol.dispose]();
      this.#term = undefined;
      this.#changed();
      if (!kept) this.#log.warn("Stopped leading: {reason}", { reason: term.signal.reason.message });
      if (over === false) this.#lock.disown();
    }
    if (!kept || signal.aborted) return;
    await this.#release();
    await delay(this.#pause(), signal).catch(() => {});
  }

  /** Renews the lease until the term or its work has ended. */
  async #keep(term: LeaderTerm, since: number, halt: AbortSignal): Promise<void> {
    let start = since;
    while (!halt.aborted) {
      await delay(start + this.#pause() - this.#now(), halt).catch(() => {});
      if (halt.aborted) return;
      start = this.#now();
      const renewed = await this.#try(term.deadline, halt, true);
      if (renewed === "held") term.end(`it went to ${Deno.inspect(this.holder ?? "nobody")}`);
      else if (renewed !== undefined) term.extend(renewed);
    }
  }

  #pause(): number {
    return this.#retryPeriod * (1 + JITTER * this.#random());
  }

  /** As {@linkcode LeaseLock.take}, but a failure becomes the problem, and a success ends it. */
  async #try(until: number, signal: AbortSignal, holding: boolean): Promise<number | "held" | undefined> {
    try {
      const outcome = await this.#lock.take({ until, signal, holding });
      if (outcome !== undefined) this.#solved();
      return outcome;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  async #release(): Promise<void> {
    if (!this.#lock.mayHold) return;
    try {
      if (await this.#lock.release(this.#now() + this.#renewDeadline / 2)) this.#log.info("Released the lease");
    } catch (error) {
      this.#failed(error);
    }
  }

  #solved(): void {
    if (this.#problem) this.#log.info("The lease can be read and written again");
    this.#problem = undefined;
    this.#logged.clear();
    this.#changed();
  }

  #failed(error: unknown): void {
    const problem = this.#problem = error instanceof Error ? error : new Error(String(error));
    const { verb = "", code = 0 } = error instanceof LeaseError ? error : {};
    const key = `${verb} ${code}`;
    const now = this.#now();
    if (now >= (this.#logged.get(key) ?? -Infinity) + REPEAT_LOG) {
      this.#logged.set(key, now);
      const level = code >= 400 && code < 500 ? "error" : "warn";
      this.#log[level]("The lease is out of reach: {problem}", { problem: problem.message, verb, code });
    }
    this.#changed();
  }

  #state(): string {
    return JSON.stringify([this.leading, this.holder, this.#problem?.message]);
  }

  #changed(): void {
    const state = this.#state();
    if (state === this.#reported) return;
    this.#reported = state;
    const { leading, holder, problem } = this;
    try {
      this.#onChange?.({ leading, holder, ...(problem && { problem }) });
    } catch (error) {
      this.#log.error("'onChange' threw: {error}", { error });
    }
  }
}

/**
 * Checks what an election goes by, and answers with its times in ms.
 *
 * @throws {TypeError} If the namespace, name or identity is not valid
 * @throws {RangeError} If it does not hold that leaseDuration > renewDeadline > retryPeriod × 1.2 > 0
 */
export function checkElection(options: LeaderOptions): { lease: number; renew: number; retry: number } {
  const { namespace, name, identity, leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
  const what = `leader election by Lease "${namespace}/${name}"`;
  assertDnsLabel(namespace, what, "namespace");
  assertDnsSubdomain(name, what, "name");
  if (identity !== undefined && (typeof identity !== "string" || !/^[\x21-\x7e]{1,253}$/.test(identity))) {
    const rule = "1 to 253 printable ASCII characters without spaces";
    throw new TypeError(
      `Cannot define ${what}: 'identity' must be ${rule}: current value is ${Deno.inspect(identity)}`,
    );
  }
  const lease = toMilliseconds(leaseDuration, "leaseDuration");
  const renew = toMilliseconds(renewDeadline, "renewDeadline");
  const retry = toMilliseconds(retryPeriod, "retryPeriod");
  const slowest = retry * (1 + JITTER);
  if (retry <= 0) refuse(what, "retryPeriod", "more than 0 ms", retry);
  if (renew <= slowest) refuse(what, "renewDeadline", `more than 'retryPeriod' with its jitter, ${slowest} ms`, renew);
  if (lease <= renew) refuse(what, "leaseDuration", `more than 'renewDeadline', ${renew} ms`, lease);
  return { lease, renew, retry };
}

function refuse(what: string, field: string, rule: string, value: number): never {
  throw new RangeError(`Cannot define ${what}: '${field}' must be ${rule}: current value is ${value} ms`);
}

/** The host's name, as far as it may be read without asking, and a random part. */
function defaultIdentity(): string {
  const may = (descriptor: Deno.PermissionDescriptor): boolean =>
    Deno.permissions.querySync(descriptor).state === "granted";
  let host: string | undefined;
  if (may({ name: "sys", kind: "hostname" })) host = Deno.hostname();
  else if (may({ name: "env", variable: "HOSTNAME" })) host = Deno.env.get("HOSTNAME");
  const safe = (host || "tend").replace(/[^\x21-\x7e]/g, "-").slice(0, 200);
  return `${safe}_${crypto.randomUUID()}`;
}
