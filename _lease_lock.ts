/**
 * Takes, keeps and gives back one Lease, each by a write that fails if anybody else wrote meanwhile.
 *
 * ```ts
 * import { LeaseLock } from "./_lease_lock.ts";
 * import { Client } from "./client.ts";
 *
 * const client = new Client({ server: "http://localhost" });
 * const where = { namespace: "default", name: "backup-operator", identity: "host_1" };
 * const lock = new LeaseLock(client, {
 *   ...where, leaseDuration: 15_000, timeout: 5_000, now: () => 0, random: () => 0, onSeen: () => {},
 * });
 * console.assert(!lock.mayHold && lock.view.holder === undefined);
 * ```
 *
 * @module
 */
import { type LeaseSpec, LeaseView } from "./_lease_view.ts";
import { formatMicroTime, parseMicroTime } from "./_micro_time.ts";
import type { Api, CallOptions, Client } from "./client.ts";
import { after, delay, race } from "./delay.ts";
import { ApiError, isAlreadyExists, isConflict, isNotFound, messageOf } from "./errors.ts";
import { Lease } from "./kinds.ts";

/** How often one try reads again after it lost a race. */
const ROUNDS = 3;
/** How often a release is tried. */
const RELEASE_TRIES = 10;
/** How many writes of unknown outcome are remembered. */
const MAX_SENT = 32;

/** Thrown when the Lease could not be read or written; what it says is for people. */
export class LeaseError extends Error {
  override name = "LeaseError";
  /** The RBAC verb that failed. */
  readonly verb: string;
  /** The HTTP status code; 0 if no answer came. */
  readonly code: number;

  /** Takes the verb, where the Lease is, and what happened. */
  constructor(verb: string, namespace: string, lease: string, cause: unknown) {
    const code = cause instanceof ApiError ? cause.code : 0;
    const what = `Cannot ${verb} leases.coordination.k8s.io "${lease}" in namespace "${namespace}"`;
    super(`${what}: ${hintFor(verb, code, namespace)}${messageOf(cause)}`, { cause });
    this.verb = verb;
    this.code = code;
  }
}

/** What {@linkcode LeaseLock} goes by; times in ms. */
export interface LeaseLockOptions {
  /** The Lease's namespace. */
  namespace: string;
  /** The Lease's name. */
  name: string;
  /** Who holds it when this lock does. */
  identity: string;
  /** How long others wait. */
  leaseDuration: number;
  /** How long one request may take. */
  timeout: number;
  /** The monotonic clock. */
  now: () => number;
  /** Source of numbers from 0 up to 1. */
  random: () => number;
  /** Called when the Lease was seen. */
  onSeen: () => void;
}

/** What bounds a try: `until` a reading of the monotonic clock, and a signal that gives it up. */
export interface TryOptions {
  /** When the try is over. */
  until: number;
  /** Gives up what may be given up: reads always, writes only when the lease is held anyway. */
  signal: AbortSignal;
  /** True to keep a lease that is held, false to get one. */
  holding: boolean;
}

/** One Lease, as one process sees and writes it. */
export class LeaseLock {
  /** What has been seen of the Lease. */
  readonly view: LeaseView;
  readonly #api: Api<Lease>;
  readonly #options: LeaseLockOptions;
  /** Renew times, in µs, of the last successful write and of those of unknown outcome: what makes a Lease ours. */
  readonly #sent = new Set<number>();
  /** The Lease as our last write left it: the next one needs no read before. */
  #lease: Lease | undefined;
  #spec: LeaseSpec | undefined;

  /** Sends nothing. */
  constructor(client: Client, options: LeaseLockOptions) {
    this.#api = client.api(Lease);
    this.#options = options;
    this.view = new LeaseView(options.leaseDuration);
  }

  /** False if the Lease cannot be, nor become, ours by anything sent so far. */
  get mayHold(): boolean {
    return this.#sent.size > 0;
  }

  /**
   * Tries to get the lease, or to keep it.
   *
   * Answers with when the write that did it began; with `"held"` if the lease is another's; with `undefined` if there
   * was no telling: it was given up, or lost one race after the other.
   *
   * @throws {LeaseError} If a request failed
   */
  async take({ until, signal, holding }: TryOptions): Promise<number | "held" | undefined> {
    for (let round = 0; round < ROUNDS && !signal.aborted; round++) {
      const lease = this.#lease ?? await this.#read(until, signal);
      if (signal.aborted) return;
      const ours = lease !== undefined && this.#owns(lease);
      // a lease that vanished while it is held is made anew; one that is held by nobody may have been held since
      const free = holding ? !lease : this.view.freeIn(this.#options.now()) <= 0;
      if (!ours && !free) return "held";
      const since = this.#options.now();
      if (await this.#write(this.#claim(lease, ours, holding), until, holding ? signal : undefined)) return since;
    }
  }

  /**
   * Gives the lease back if it is ours, with a few tries; true if it did.
   *
   * @throws {LeaseError} If that failed
   */
  async release(until: number): Promise<boolean> {
    const { now, timeout, namespace } = this.#options;
    try {
      for (let left = RELEASE_TRIES; this.mayHold; left--) {
        try {
          const lease = this.#lease ?? await this.#read(until);
          if (!lease || !this.#owns(lease)) return false;
          const time = this.#time();
          const free = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
          const released = { ...lease, spec: { ...lease.spec, ...free } };
          const replace = (options: CallOptions) => this.#api.replace(released, { namespace, ...options });
          this.#seen(await this.#request("update", until, undefined, replace));
          return true;
        } catch (error) {
          this.#lease = undefined;
          if (!(error instanceof LeaseError) || left <= 1 || now() >= until) throw error;
          if (isRace(error)) continue;
          if (error.code >= 400 && error.code < 500) throw error;
          await delay(timeout / 10);
        }
      }
      return false;
    } finally {
      this.disown();
    }
  }

  /** Counts the Lease as somebody else's from here on, even if it names this process. */
  disown(): void {
    this.#sent.clear();
    this.#lease = undefined;
  }

  /** True if the Lease is as a write of ours left it: a namesake's is not. */
  #owns(lease: Lease): boolean {
    const renewed = parseMicroTime(lease.spec?.renewTime);
    return lease.spec?.holderIdentity === this.#options.identity && renewed !== undefined && this.#sent.has(renewed);
  }

  /** Answers with the Lease, or a draft of it, as it is when it is ours. */
  #claim(lease: Lease | undefined, ours: boolean, holding: boolean): Lease {
    const { namespace, name, identity, leaseDuration } = this.#options;
    const old = lease ? lease.spec : holding ? this.#spec : undefined;
    const time = this.#time();
    const transitions = old?.leaseTransitions ?? 0;
    const spec: LeaseSpec = {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      acquireTime: (ours || holding) && old?.acquireTime ? old.acquireTime : time,
      renewTime: time,
      leaseTransitions: !lease || old?.holderIdentity === identity ? transitions : transitions + 1,
    };
    return { ...lease, metadata: lease?.metadata ?? { namespace, name }, spec } as Lease;
  }

  /** The wall clock's time, its microseconds drawn by lot: so that a write can be told from a namesake's. */
  #time(): string {
    return formatMicroTime(Date.now(), Math.floor(this.#options.random() * 1000));
  }

  async #read(until: number, signal?: AbortSignal): Promise<Lease | undefined> {
    const { namespace, name } = this.#options;
    const lease = await this.#request(
      "get",
      until,
      signal,
      (options) => this.#api.find(name, { namespace, ...options }),
    );
    this.#seen(lease);
    return lease;
  }

  /** Answers with whether it was written; false if somebody else wrote first. */
  async #write(lease: Lease, until: number, signal?: AbortSignal): Promise<boolean> {
    const { namespace } = this.#options;
    const sent = parseMicroTime(lease.spec?.renewTime)!;
    this.#sent.add(sent);
    if (this.#sent.size > MAX_SENT) this.#sent.delete(this.#sent.values().next().value!);
    this.#lease = undefined;
    try {
      this.#lease = await (lease.metadata.resourceVersion === undefined
        ? this.#request("create", until, signal, (options) =>
          this.#api.create(lease, { namespace, ...options }))
        : this.#request("update", until, signal, (options) => this.#api.replace(lease, { namespace, ...options })));
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      if (isRace(error)) return false;
      // refused for good, so that it cannot have taken effect
      if (error.code >= 400 && error.code < 500) this.#sent.delete(sent);
      throw error;
    }
    this.#spec = this.#lease.spec;
    // earlier writes can't take effect any more: they ask for an older version
    this.#sent.clear();
    this.#sent.add(sent);
    this.#seen(this.#lease);
    return true;
  }

  /** Sends a request that ends, one way or the other, by `until`; one that hangs leaves time for another. */
  async #request<T>(
    verb: string,
    until: number,
    parent: AbortSignal | undefined,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { now, timeout, namespace, name } = this.#options;
    const left = Math.max(1, until - now());
    const limit = new AbortController();
    const cancel = after(left, () => limit.abort(new DOMException("The time for it ran out", "TimeoutError")));
    const abort = (): void => limit.abort(parent?.reason);
    if (parent?.aborted) abort();
    parent?.addEventListener("abort", abort, { once: true });
    try {
      return await race(send({ signal: limit.signal, timeout: Math.min(left, timeout) }), limit.signal);
    } catch (error) {
      throw new LeaseError(verb, namespace, name, error);
    } finally {
      cancel();
      parent?.removeEventListener("abort", abort);
    }
  }

  #seen(lease: Lease | undefined): void {
    this.view.observe(lease, this.#options.now());
    this.#options.onSeen();
  }
}

/** True when a write came too late: the next thing to do is to read again. */
function isRace({ verb, cause }: LeaseError): boolean {
  return isConflict(cause) || isAlreadyExists(cause) || (verb === "update" && isNotFound(cause));
}

function hintFor(verb: string, code: number, namespace: string): string {
  if (code === 403) return `a Role in "${namespace}" must allow "${verb}" on leases of coordination.k8s.io: `;
  if (code === 404 && verb === "create") return `does the namespace "${namespace}" exist? `;
  return code === 400 || code === 422 ? "retrying will not mend this: " : "";
}
