/**
 * Stands in for `jsr:@std/testing/time` in this checkout, over `npm:@sinonjs/fake-timers`, where JSR cannot be reached.
 *
 * As in the real one, timers that fall due in one `tick` run one after the other with no microtask between them.
 *
 * @module
 */
import { createClock } from "@sinonjs/fake-timers";

interface Clock {
  now: number;
  tick(ms: number): number;
  next(): number;
  countTimers(): number;
  // deno-lint-ignore no-explicit-any -- a timer's callback takes whatever it was set with
  setTimeout(run: (...args: any[]) => void, ms?: number, ...args: unknown[]): number | object;
  // deno-lint-ignore no-explicit-any -- a timer's callback takes whatever it was set with
  setInterval(run: (...args: any[]) => void, ms?: number, ...args: unknown[]): number | object;
  clearTimeout(id?: number): void;
  clearInterval(id?: number): void;
  Date: DateConstructor;
}

const real = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  abortTimeout: AbortSignal.timeout,
};

let current: FakeTime | undefined;

const identify = (timer: number | object): number => Number(timer);

/** Puts `Date`, the timers and `AbortSignal.timeout` under the test's control until {@linkcode FakeTime.restore}. */
export class FakeTime {
  #clock: Clock;
  /** When the fake time began, in ms since 1970. */
  readonly start: number;

  /** Starts at the given time, or now. */
  constructor(start?: number | string | Date | null) {
    if (current) throw new Error("Cannot construct FakeTime: time is already faked");
    this.start = start === undefined || start === null ? real.Date.now() : new real.Date(start).valueOf();
    const clock = this.#clock = createClock(this.start) as unknown as Clock;
    const fakeDate = class extends real.Date {
      constructor(...args: unknown[]) {
        super(...((args.length === 0 ? [clock.now] : args) as [number]));
      }
      static override now(): number {
        return clock.now;
      }
    };
    Object.assign(globalThis, {
      Date: fakeDate,
      setTimeout: (run: () => void, ms?: number, ...args: unknown[]) => identify(clock.setTimeout(run, ms, ...args)),
      setInterval: (run: () => void, ms?: number, ...args: unknown[]) => identify(clock.setInterval(run, ms, ...args)),
      clearTimeout: (id?: number) => clock.clearTimeout(id),
      clearInterval: (id?: number) => clock.clearInterval(id),
    });
    AbortSignal.timeout = (ms: number) => {
      const controller = new AbortController();
      clock.setTimeout(() => controller.abort(new DOMException("Signal timed out.", "TimeoutError")), ms);
      return controller.signal;
    };
    current = this;
  }

  /** The fake time, in ms since 1970. */
  get now(): number {
    return this.#clock.now;
  }

  /** Moves time on and runs what falls due. */
  tick(ms = 0): void {
    this.#clock.tick(ms);
  }

  /** Runs pending microtasks, then {@linkcode FakeTime.tick}. */
  async tickAsync(ms = 0): Promise<void> {
    await this.runMicrotasks();
    this.tick(ms);
  }

  /** Moves time to the next timer and runs it; false if there is none. */
  next(): boolean {
    if (this.#clock.countTimers() === 0) return false;
    this.#clock.next();
    return true;
  }

  /** Runs pending microtasks, then {@linkcode FakeTime.next}. */
  async nextAsync(): Promise<boolean> {
    await this.runMicrotasks();
    return this.next();
  }

  /** Lets pending microtasks run; time stands still. */
  async runMicrotasks(): Promise<void> {
    await this.delay(0);
  }

  /** Resolves after that much real time. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => real.setTimeout.call(globalThis, resolve, ms));
  }

  /** Gives time back. */
  restore(): void {
    if (current !== this) throw new Error("Cannot restore time: time is already restored");
    Object.assign(globalThis, {
      Date: real.Date,
      setTimeout: real.setTimeout,
      setInterval: real.setInterval,
      clearTimeout: real.clearTimeout,
      clearInterval: real.clearInterval,
    });
    AbortSignal.timeout = real.abortTimeout;
    current = undefined;
  }

  [Symbol.dispose](): void {
    this.restore();
  }
}
