/**
 * Runs several electors against one Lease server in fake time, each with its own clocks, its own network and its own
 * pauses, and watches that no two of them may write at one time.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { FakeTime } from "@std/testing/time";
import { parseMicroTime } from "../_micro_time.ts";
import { Client } from "../client.ts";
import type { Lease } from "../kinds.ts";
import { LeaderElector, type LeaderOptions, type LeaderState, type Term } from "../leader.ts";
import { play } from "./_play.ts";

/** A request as the server saw it. */
export interface Seen {
  /** True time since the world began, in ms. */
  at: number;
  /** Which replica sent it. */
  from: string;
  method: string;
  /** The answer's status code. */
  code: number;
  /** The holder that the request asks for. */
  holder: string | undefined;
}

/** What the network does to a request. */
export interface Network {
  /** Ms on the way there. */
  there?: number;
  /** Ms on the way back. */
  back?: number;
  /** True if the request never arrives. */
  lost?: boolean;
  /** True if the answer never arrives. */
  deaf?: boolean;
}

type Context = { wall: number; pausedUntil: number };

const contexts = new AsyncLocalStorage<Context>();

/** A server of Leases in which every write is one step. */
export class LeaseServer {
  readonly leases = new Map<string, Lease>();
  readonly seen: Seen[] = [];
  /** Answers in the server's place; `undefined` lets it answer itself. */
  fault: (from: string, request: Request) => Response | undefined = () => undefined;
  #version = 100;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The only lease there is. */
  get lease(): Lease | undefined {
    return this.leases.values().next().value;
  }

  /** Writes as if somebody with full rights did. */
  put(spec: Record<string, unknown>, metadata: Record<string, unknown> = {}, path = PATH): void {
    const old = this.leases.get(path);
    const uid = old?.metadata.uid ?? `uid-${++this.#version}`;
    const resourceVersion = String(++this.#version);
    const name = path.slice(path.lastIndexOf("/") + 1);
    this.leases.set(
      path,
      { ...LEASE, metadata: { ...old?.metadata, name, uid, resourceVersion, ...metadata }, spec } as Lease,
    );
  }

  async handle(from: string, request: Request): Promise<Response> {
    const { method } = request;
    const text = await request.text();
    const body = text ? JSON.parse(text) as Lease : undefined;
    const response = this.fault(from, request) ?? this.#answer(request, body);
    const holder = body?.spec?.holderIdentity;
    this.seen.push({ at: this.#now(), from, method, code: response.status, holder });
    return response;
  }

  #answer(request: Request, body: Lease | undefined): Response {
    const { pathname } = new URL(request.url);
    const path = request.method === "POST" ? `${pathname}/${body?.metadata.name}` : pathname;
    const old = this.leases.get(path);
    if (request.method === "GET") return old ? Response.json(old) : status(404, "NotFound");
    for (const field of ["acquireTime", "renewTime"] as const) {
      const time = body?.spec?.[field];
      if (time !== undefined && !/\.\d{6}Z$/.test(String(time))) return status(400, "BadRequest");
    }
    if (request.method === "POST") {
      if (old) return status(409, "AlreadyExists");
      this.put({ ...body?.spec }, {}, path);
    } else {
      // a real server makes a Lease that is put and missing, unless the request names the one it means
      if (!old && body?.metadata.uid) return status(409, "Conflict");
      const version = body?.metadata.resourceVersion;
      if (old && version !== undefined && version !== old.metadata.resourceVersion) return status(409, "Conflict");
      this.put({ ...body?.spec }, { ...body?.metadata, resourceVersion: String(++this.#version) }, path);
    }
    return Response.json(this.leases.get(path), { status: request.method === "POST" ? 201 : 200 });
  }
}

const PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/backup-operator";
const LEASE = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };

/** An answer with a `Status`. */
export function status(code: number, reason: string, message = reason, details = {}): Response {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
  return Response.json(body, { status: code });
}

/** Options of {@linkcode World.replica}. */
export interface ReplicaOptions extends Partial<LeaderOptions> {
  /** What its wall clock is ahead, in ms. */
  wall?: number;
  /** How fast its monotonic clock runs. */
  rate?: number;
  /** What its work does; by default it waits for the end of the term or of the run. */
  work?: (term: Term, replica: Replica) => Promise<boolean | void>;
}

/** One replica: its elector, its client and what came of it. */
export class Replica {
  readonly name: string;
  readonly elector: LeaderElector;
  readonly client: Client;
  readonly states: LeaderState[] = [];
  /** Begin and end of each term's work, in true ms. */
  readonly terms: { from: number; to: number | undefined; term: Term }[] = [];
  readonly stop = new AbortController();
  /** What the network does to this replica's requests. */
  network: (request: Request) => Network = () => ({});
  /** Resolves when `run` has ended. */
  ended: Promise<void> = Promise.resolve();
  readonly #world: World;
  readonly #context: Context;
  readonly #work: NonNullable<ReplicaOptions["work"]>;
  #dead = false;

  constructor(world: World, name: string, options: ReplicaOptions) {
    const { wall = 0, rate = 1, work = () => this.leave(), ...rest } = options;
    this.#world = world;
    this.name = name;
    this.#work = work;
    this.#context = { wall, pausedUntil: 0 };
    const base = 1e6 * (1 + name.length);
    const now = (): number => base + world.now() * rate;
    const fetch = (request: Request): Promise<Response> => this.#fetch(request);
    this.client = new Client({ server: "http://lease.test", namespace: "default", fetch, now, random: world.random });
    this.elector = new LeaderElector(this.client, {
      namespace: "default",
      name: "backup-operator",
      identity: name,
      now,
      random: world.random,
      onChange: (state) => this.states.push(state),
      ...rest,
    });
  }

  /** Runs the elector. */
  start(): void {
    this.ended = contexts.run(this.#context, () =>
      this.elector.run(async (term) => {
        const entry: Replica["terms"][number] = { from: this.#world.now(), to: undefined, term };
        this.terms.push(entry);
        try {
          return await this.#work(term, this);
        } finally {
          entry.to = this.#world.now();
        }
      }, this.stop.signal));
    this.ended.catch(() => {});
  }

  /** Resolves when the last term, or the run, is to end. */
  leave(): Promise<void> {
    const { term } = this.terms.at(-1)!;
    if (term.signal.aborted || this.stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      term.signal.addEventListener("abort", () => resolve(), { once: true });
      this.stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Stops everything in the process for a time: timers, answers, all of it. */
  pause(ms: number): void {
    this.#context.pausedUntil = Math.max(this.#context.pausedUntil, this.#world.now() + ms);
  }

  /** Ends the process as kill -9 does: nothing of it is heard again. */
  kill(): void {
    this.#dead = true;
  }

  /** True if a write of this replica would go out now. */
  get writes(): boolean {
    if (this.#dead || this.#context.pausedUntil > this.#world.now()) return false;
    return this.terms.some(({ term, to }) => {
      if (to !== undefined) return false;
      try {
        term.check();
        return true;
      } catch {
        return false;
      }
    });
  }

  async #fetch(request: Request): Promise<Response> {
    const { there = 0, back = 0, lost, deaf } = this.network(request);
    if (this.#dead || lost) return await never();
    await this.#world.delay(there);
    const response = await this.#world.server.handle(this.name, request);
    if (deaf) return await never();
    await this.#world.delay(back);
    while (this.#context.pausedUntil > this.#world.now()) {
      await this.#world.delay(this.#context.pausedUntil - this.#world.now());
    }
    return this.#dead ? await never() : response;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** Fake time, a server and its replicas. */
export class World implements Disposable {
  readonly time = new FakeTime(Date.UTC(2026, 0, 1));
  readonly server: LeaseServer = new LeaseServer(() => this.now());
  readonly replicas: Replica[] = [];
  /** Moments, in true ms, at which two replicas could write. */
  readonly splits: number[] = [];
  /** What all wall clocks jumped by, in ms. */
  wall = 0;
  readonly random: () => number;
  readonly #fake = { Date, set: globalThis.setTimeout, clear: globalThis.clearTimeout };

  constructor(random: () => number = () => 0) {
    this.random = random;
    const timers = new Map<number, ReturnType<typeof setTimeout>>();
    const { set, clear } = this.#fake;
    let next = 1e9;
    const wall = (): number => this.time.now + this.wall + (contexts.getStore()?.wall ?? 0);
    const get = (target: DateConstructor, name: string): unknown => name === "now" ? wall : Reflect.get(target, name);
    // a timer of a replica fires in its context, and not while it is paused
    const setTimer = (run: () => void, ms?: number): number => {
      const context = contexts.getStore();
      const id = ++next;
      const fire = (): void => {
        const wait = (context?.pausedUntil ?? 0) - this.now();
        if (wait > 0) return void timers.set(id, set(fire, wait));
        timers.delete(id);
        contexts.run(context as Context, run);
      };
      timers.set(id, set(fire, ms));
      return id;
    };
    const clearTimer = (id?: number): void => {
      clear(timers.get(id ?? 0));
      timers.delete(id ?? 0);
    };
    Object.assign(globalThis, { Date: new Proxy(Date, { get }), setTimeout: setTimer, clearTimeout: clearTimer });
  }

  /** True time since the world began, in ms. */
  now(): number {
    return this.time.now - this.time.start;
  }

  /** Resolves after that much true time, whoever is paused. */
  delay(ms: number): Promise<void> {
    return ms > 0 ? new Promise((resolve) => this.#fake.set(resolve, ms)) : Promise.resolve();
  }

  /** Adds a replica and runs it. */
  replica(name: string, options: ReplicaOptions = {}): Replica {
    const replica = new Replica(this, name, options);
    this.replicas.push(replica);
    replica.start();
    return replica;
  }

  /** Moves time on from event to event, watching for splits after each. */
  advance(ms: number): Promise<void> {
    return play(this.time, ms, this.#fake.set, () => {
      if (this.replicas.filter((replica) => replica.writes).length > 1) this.splits.push(this.now());
    });
  }

  /** Stops all replicas and sees them end. */
  async stop(ms = 20_000): Promise<void> {
    for (const replica of this.replicas) replica.stop.abort(new Error("stop"));
    const ended = Promise.allSettled(this.replicas.map((replica) => replica.ended)).then(() => true);
    await this.advance(ms);
    if (await Promise.race([ended, this.time.delay(5)]) !== true) throw new Error("a replica did not end");
  }

  [Symbol.dispose](): void {
    const { Date, set, clear } = this.#fake;
    Object.assign(globalThis, { Date, setTimeout: set, clearTimeout: clear });
    this.time.restore();
  }
}

/** Numbers from 0 up to 1 that a seed determines. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Microseconds between two times that the Lease names. */
export function micros(from: unknown, to: unknown): number {
  return parseMicroTime(to)! - parseMicroTime(from)!;
}
