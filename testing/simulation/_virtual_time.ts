/**
 * Runs timers in virtual time, each in the process that set it; a process may be paused, killed, or have a clock of its own.
 *
 * ```ts
 * import { VirtualTime } from "./_virtual_time.ts";
 *
 * using time = new VirtualTime({ random: () => 0.5 });
 * time.install();
 * let rang = false;
 * setTimeout(() => rang = true, 3_600_000);
 * await time.advance(3_600_000);
 * console.assert(rang && performance.now() === 3_600_000);
 * ```
 *
 * The event loop is turned with `setImmediate` of `node:timers`, which takes microseconds where a timer of 0 ms takes two
 * milliseconds. Which process a timer belongs to is known from the asynchronous context in which it is set.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { Heap } from "./_heap.ts";

/** Who sets timers. */
export class Process {
  /** Its name, such as `replica-1`. */
  readonly name: string;
  /** How far its wall clock is ahead, in ms. */
  skew = 0;
  /** Timers that it has set and that have not rung. */
  timers = 0;
  #state: "running" | "paused" | "dead" = "running";
  #held: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** True after {@linkcode kill}. */
  get dead(): boolean {
    return this.#state === "dead";
  }

  /** True between {@linkcode pause} and {@linkcode resume}. */
  get paused(): boolean {
    return this.#state === "paused";
  }

  /** Lets nothing ring and nothing come in, until it is resumed. */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  /** Lets everything ring that was held, in order. */
  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    const held = this.#held;
    this.#held = [];
    for (const run of held) this.enter(run);
  }

  /** Forgets it: nothing of it ever goes on. */
  kill(): void {
    this.#state = "dead";
    this.#held = [];
  }

  /** Runs something as the process: at once, when it is resumed, or never. */
  enter(run: () => void): void {
    if (this.#state === "dead") return;
    if (this.#state === "paused") this.#held.push(run);
    else current.run(this, run);
  }
}

const current = new AsyncLocalStorage<Process | undefined>();

/** Runs something as no process. */
export function outside<T>(run: () => T): T {
  return current.run(undefined, run);
}

/** The process that is running; undefined for the rest of the world. */
export function running(): Process | undefined {
  return current.getStore();
}

/** Something that is to happen. */
interface Happening {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Options of {@linkcode VirtualTime}. */
export interface VirtualTimeOptions {
  /** Wall time at the beginning, in ms since 1970. @default {2026-01-01} */
  readonly epoch?: number | undefined;
  /** Where `Math.random` and uids come from once installed. */
  readonly random: () => number;
}

const REAL = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  Date: globalThis.Date,
  now: performance.now,
  random: Math.random,
  uuid: crypto.randomUUID,
  values: crypto.getRandomValues,
  timeout: AbortSignal.timeout,
};

/** A clock, and what is to happen. */
export class VirtualTime implements Disposable {
  /** Wall time at the beginning, in ms since 1970. */
  readonly epoch: number;
  readonly #random: () => number;
  readonly #happenings = new Heap<Happening>((one, other) => one.at - other.at || one.order - other.order);
  readonly #timers = new Map<number, () => void>();
  #now = 0;
  #order = 0;
  #busy = 0;
  #steps = 0;
  #installed = false;

  constructor({ epoch = Date.UTC(2026, 0, 1), random }: VirtualTimeOptions) {
    this.epoch = epoch;
    this.#random = random;
  }

  /** Ms since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** How many things have happened. */
  get steps(): number {
    return this.#steps;
  }

  /** Lets something happen after some ms, as no process; answers with how to call it off. */
  after(ms: number, run: () => void): () => void {
    const happening: Happening = { at: this.#now + Math.max(0, ms), order: this.#order++, run };
    this.#happenings.push(happening);
    return () => {
      happening.run = undefined;
    };
  }

  /** Resolves after some ms. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Counts work that goes on without timers, such as a request that is being served; time stands still meanwhile. */
  async busy<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work;
    } finally {
      this.#busy--;
    }
  }

  /** Lets time go by. */
  async advance(ms: number): Promise<void> {
    await this.run(() => false, ms);
  }

  /** Lets time go by until something holds, looked at after everything that happens, or for at most so many ms. */
  async run(until: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms;
    await this.#settle();
    while (!until()) {
      const next = this.#happenings.peek();
      if (next === undefined || next.at > end) {
        this.#now = end;
        return until();
      }
      this.#happenings.pop();
      if (next.run === undefined) continue;
      this.#now = next.at;
      this.#steps++;
      next.run();
      await this.#settle();
    }
    return true;
  }

  /** Lets everything go on that needs no time. */
  async #settle(): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#busy === 0) return;
    }
  }

  /** Puts its timers, clocks and random numbers in place of the real ones, until it is disposed. */
  install(): void {
    if (this.#installed) throw new TypeError("Cannot install virtual time: it is installed already");
    this.#installed = true;
    const wall = (): number => this.epoch + Math.floor(this.#now) + (running()?.skew ?? 0);
    class VirtualDate extends REAL.Date {
      constructor(...args: [] | [string | number | Date]) {
        super(...(args.length === 0 ? [wall()] : args) as [number]);
      }
      static override now(): number {
        return wall();
      }
    }
    const clear = (id?: number): void => {
      if (id !== undefined) this.#timers.get(id)?.();
    };
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#timer(() => run(...args), Number(ms) || 0, false),
      setInterval: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#timer(() => run(...args), Math.max(1, Number(ms) || 0), true),
      clearTimeout: clear,
      clearInterval: clear,
      Date: VirtualDate,
    });
    performance.now = () => this.#now;
    Math.random = this.#random;
    crypto.randomUUID = () => this.uuid() as ReturnType<typeof crypto.randomUUID>;
    crypto.getRandomValues = ((array: Uint8Array) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let index = 0; index < bytes.length; index++) bytes[index] = Math.floor(this.#random() * 256);
      return array;
    }) as typeof crypto.getRandomValues;
    AbortSignal.timeout = (ms: number) => {
      const controller = new AbortController();
      this.#timer(() => controller.abort(new DOMException("Signal timed out.", "TimeoutError")), ms, false);
      return controller.signal;
    };
  }

  /** Makes a uid. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16));
    hex[12] = "4";
    hex[16] = "89ab"[Math.floor(this.#random() * 4)]!;
    return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  /** Puts the real timers, clocks and random numbers back. */
  [Symbol.dispose](): void {
    if (!this.#installed) return;
    this.#installed = false;
    const { setTimeout, clearTimeout, setInterval, clearInterval, Date } = REAL;
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, Date });
    performance.now = REAL.now;
    Math.random = REAL.random;
    crypto.randomUUID = REAL.uuid;
    crypto.getRandomValues = REAL.values;
    AbortSignal.timeout = REAL.timeout;
  }

  /** Sets a timer of the process that runs. */
  #timer(run: () => void, ms: number, repeats: boolean): number {
    const process = running();
    const id = ++this.#order;
    let callOff = (): void => {};
    const end = (): void => {
      callOff();
      if (this.#timers.delete(id) && process) process.timers--;
    };
    const ring = (): void => {
      if (!this.#timers.has(id)) return; // cleared while the process was paused
      if (repeats) arm();
      else end();
      run();
    };
    const arm = (): void => {
      callOff = this.after(ms, () => process ? process.enter(ring) : outside(ring));
    };
    this.#timers.set(id, end);
    if (process) process.timers++;
    arm();
    return id;
  }
}

/** Requests that wait for a timer of the server keep it busy: time has to go on for them. */
const MOST_TURNS = 4;
