import { assert, assertEquals, assertLess, assertLessOrEqual, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import fc from "fast-check";
import { LIVE_STREAK, type QueuePriority, Schedule } from "../_schedule.ts";
import { backoff } from "../backoff.ts";
import { type QueueMetrics, type QueueState, WorkQueue } from "../queue.ts";
import { advance, settle } from "./_time.ts";

const never = new AbortController().signal;
const DAY = 86_400_000;

/** A queue under fake time whose keys are taken by one worker that notes when. */
function startQueue(metrics?: QueueMetrics): { time: FakeTime; queue: WorkQueue; elapsed: () => number } & Disposable {
  const time = new FakeTime(0);
  const queue = new WorkQueue({ now: () => Date.now(), metrics });
  return {
    time,
    queue,
    elapsed: () => time.now,
    [Symbol.dispose]() {
      queue.dispose();
      time.restore();
    },
  };
}

/** Notes each key with its instant and ends its run after `duration` ms. */
function work(
  queue: WorkQueue,
  signal: AbortSignal,
  duration = 0,
): { log: [string, number][]; stopped: Promise<void> } {
  const log: [string, number][] = [];
  const stopped = (async () => {
    while (true) {
      const key = await queue.next(signal);
      log.push([key, Date.now()]);
      if (duration > 0) await new Promise((resolve) => setTimeout(resolve, duration));
      queue.done(key);
    }
  })().catch((error) => {
    if (error !== signal.reason) throw error;
  });
  stopped.catch(() => {}); // so that a failing test reports its own error
  return { log, stopped };
}

async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = await queue.next(never);
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

Deno.test("Queue.next() hands out keys in the order in which they were added, each once", async () => {
  using queue = new WorkQueue();
  for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);
  assertEquals(queue.depth, 3);
  assertEquals(await takeAll(queue), ["b", "a", "c"]);
});

Deno.test("Queue.next() serves those who wait in the order in which they came", async () => {
  using queue = new WorkQueue();
  const first = queue.next(never);
  const second = queue.next(never);
  queue.add("a");
  const third = queue.next(never);
  queue.add("b");
  queue.add("c");
  assertEquals(await Promise.all([first, second, third]), ["a", "b", "c"]);
});

Deno.test("Queue.next() rejects with the reason of its signal, before and while it waits, and loses no key by it", async () => {
  using queue = new WorkQueue();
  const controller = new AbortController();
  const waiting = queue.next(controller.signal);
  const reason = new Error("stopped");
  controller.abort(reason);
  assertEquals(await assertRejects(() => waiting), reason);
  assertEquals(await assertRejects(() => queue.next(controller.signal)), reason);
  queue.add("a");
  assertEquals(queue.depth, 1);
  assertEquals(await queue.next(never), "a");
  queue.done("a");
});

Deno.test("Queue.next() loses no key when its signal aborts right after an add", async () => {
  using queue = new WorkQueue();
  const controller = new AbortController();
  const waiting = queue.next(controller.signal);
  queue.add("a");
  controller.abort(new Error("stopped"));
  await assertRejects(() => waiting, Error, "stopped");
  assertEquals(queue.running, 0);
  assertEquals(await queue.next(never), "a");
  queue.done("a");
});

Deno.test("Queue.next() leaves no listener on its signal once it has a key", async () => {
  using queue = new WorkQueue();
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  for (let round = 0; round < 3; round++) {
    const waiting = queue.next(signal);
    queue.add("a");
    queue.done(await waiting);
  }
  assertEquals(listeners, 0);
});

Deno.test("B19: Queue.add() during a run makes one further run after it, however often it is called", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const controller = new AbortController();
  const { log, stopped } = work(queue, controller.signal, 2000);
  queue.add("a");
  await advance(time, 1000, 500);
  for (let child = 0; child < 20; child++) queue.add("a");
  await advance(time, 500, 500);
  queue.add("a");
  await advance(time, 10_000, 500);
  assertEquals(log, [["a", 0], ["a", 2000]]);
  controller.abort();
  await stopped;
});

Deno.test("B19: Queue.add() of a burst to an idle worker makes one run", async () => {
  using queue = new WorkQueue();
  const waiting = queue.next(never);
  for (let event = 0; event < 20; event++) queue.add("a");
  queue.done(await waiting);
  assertEquals([queue.depth, queue.running], [0, 0]);
});

Deno.test("B19: Queue.add() beats a long delay at once and leaves no timer of it", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const controller = new AbortController();
  const { log, stopped } = work(queue, controller.signal);
  queue.add("a", { delay: 600_000 });
  await advance(time, 1000);
  queue.add("a");
  await settle(time);
  assertEquals(log, [["a", 1000]]);
  assertEquals(queue.delayed, 0);
  assertEquals(time.next(), false);
  controller.abort();
  await stopped;
});

Deno.test("Queue.add() never lets one key run twice at once, with many workers", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const controller = new AbortController();
  const workers = [1, 2, 3].map(() => work(queue, controller.signal, 1000));
  queue.add("a");
  await advance(time, 500, 100);
  queue.add("a");
  await advance(time, 400, 100);
  assertEquals([queue.running, queue.depth], [1, 1]);
  await advance(time, 1200, 100);
  assertEquals(workers.flatMap(({ log }) => log), [["a", 0], ["a", 1000]]);
  controller.abort();
  await Promise.all(workers.map(({ stopped }) => stopped));
});

Deno.test("Queue.add() keeps the earlier of two delays, whichever comes first", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const controller = new AbortController();
  const { log, stopped } = work(queue, controller.signal);
  queue.add("a", { delay: 5000 });
  queue.add("a", { delay: 9000 });
  queue.add("b", { delay: 9000 });
  queue.add("b", { delay: 7000 });
  assertEquals(queue.delayed, 2);
  await advance(time, 20_000);
  assertEquals(log, [["a", 5000], ["b", 7000]]);
  controller.abort();
  await stopped;
});

Deno.test("Queue.add() with a delay that ends during the key's run makes it run once more after", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const controller = new AbortController();
  const { log, stopped } = work(queue, controller.signal, 3000);
  queue.add("a");
  await settle(time);
  queue.add("a", { delay: 1000 });
  await advance(time, 10_000);
  assertEquals(log, [["a", 0], ["a", 3000]]);
  controller.abort();
  await stopped;
});

Deno.test("B23: Queue.add() takes delays beyond what a timer holds and fires once, at the right time", async () => {
  for (const delay of [2 ** 31 - 1, 2 ** 31, 30 * DAY, 365 * DAY]) {
    using fixture = startQueue();
    const { time, queue } = fixture;
    const controller = new AbortController();
    const { log, stopped } = work(queue, controller.signal);
    queue.add("a", { delay });
    await advance(time, delay - 1, 10 * DAY);
    assertEquals(log, []);
    await advance(time, 1, 1);
    assertEquals(log, [["a", delay]]);
    await advance(time, 30 * DAY, 10 * DAY);
    assertEquals(log.length, 1);
    controller.abort();
    await stopped;
  }
});

Deno.test("B23: Queue.add() refuses a delay that is negative or not finite", () => {
  using queue = new WorkQueue();
  for (const delay of [NaN, Infinity, -Infinity, -1]) {
    assertThrows(
      () => queue.add("shop/web", { delay }),
      RangeError,
      `Cannot add "shop/web" to the queue: 'delay' must be a finite time of at least 0 ms: current value is ${delay}`,
    );
  }
  assertEquals([queue.depth, queue.delayed], [0, 0]);
});

Deno.test("Queue.add() refuses a priority that it does not know", () => {
  using queue = new WorkQueue();
  assertThrows(() => queue.add("a", { priority: "high" as QueuePriority }), TypeError, `current value is "high"`);
});

Deno.test("B23: Queue.add() with a delay of 0 waits for a turn of the event loop, so it cannot spin", async () => {
  using queue = new WorkQueue();
  let runs = 0;
  const controller = new AbortController();
  const worker = (async () => {
    while (true) {
      const key = await queue.next(controller.signal);
      runs++;
      queue.add(key, { delay: 0 });
      queue.done(key);
    }
  })();
  queue.add("a");
  // This timer never comes if the loop above goes round in microtasks alone.
  await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort(new Error("enough"));
  await assertRejects(() => worker, Error, "enough");
  assertLessOrEqual(runs, 3);
});

Deno.test("Queue.add() with a delay that is no whole number of ms is not ready too early", async () => {
  using time = new FakeTime(0);
  using queue = new WorkQueue({ now: () => Date.now() });
  queue.add("a", { delay: 10.25 });
  await advance(time, 10, 1);
  assertEquals([queue.depth, queue.delayed], [0, 1]);
  await advance(time, 1, 1);
  assertEquals([queue.depth, queue.delayed], [1, 0]);
});

Deno.test("Queue.next() lets live keys go before initial ones", async () => {
  using queue = new WorkQueue();
  const waiting = queue.next(never);
  queue.add("i1", { priority: "initial" });
  queue.add("i2", { priority: "initial" });
  queue.add("l1");
  queue.add("i2");
  queue.add("i1", { priority: "initial" });
  const first = await waiting;
  queue.done(first);
  assertEquals([first, ...await takeAll(queue)], ["l1", "i2", "i1"]);
});

Deno.test("Queue.next() gives one turn in ten to initial keys however many live ones there are", async () => {
  using queue = new WorkQueue();
  queue.add("i1", { priority: "initial" });
  queue.add("i2", { priority: "initial" });
  for (let live = 0; live < 30; live++) queue.add(`l${live}`);
  const keys = await takeAll(queue);
  assertEquals([keys.indexOf("i1"), keys.indexOf("i2")], [LIVE_STREAK, 2 * LIVE_STREAK + 1]);
});

Deno.test("B18: Queue.forget() starts the failures afresh, and delays after success do not count as one", () => {
  using queue = new WorkQueue();
  for (let round = 1; round <= 5; round++) assertEquals(queue.fail("a"), round);
  queue.forget("a");
  for (let round = 0; round < 3; round++) queue.add("a", { delay: 60_000 });
  assertEquals(queue.failures("a"), 0);
  assertEquals(queue.fail("a"), 1);
  assertEquals(queue.failures("b"), 0);
});

Deno.test("Queue.fail() counts per key, so that retries come at 5, 15, 35, 75, 155, 315, 615 and 915 s", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  const at: number[] = [];
  const controller = new AbortController();
  const worker = (async () => {
    while (true) {
      const key = await queue.next(controller.signal);
      if (key === "bad") {
        at.push(Date.now() / 1000);
        queue.add(key, { delay: backoff(5000, queue.fail(key)) });
      }
      queue.done(key);
    }
  })();
  queue.add("bad");
  await advance(time, 1_000_000, 2500);
  assertEquals(at, [0, 5, 15, 35, 75, 155, 315, 615, 915]);
  controller.abort(new Error("enough"));
  await assertRejects(() => worker, Error, "enough");
});

Deno.test("Queue.remove() clears place, timer and failures", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  queue.add("ready");
  queue.add("delayed", { delay: 1000 });
  for (const key of ["ready", "delayed"]) {
    queue.fail(key);
    queue.remove(key);
    assertEquals(queue.failures(key), 0);
  }
  queue.remove("unknown");
  assertEquals([queue.depth, queue.delayed, queue.running], [0, 0, 0]);
  assertEquals(time.next(), false);
  await advance(time, 2000);
  assertEquals(queue.depth, 0);
});

Deno.test("Queue.remove() during a run keeps it running but lets its end leave no trace", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  queue.add("a");
  await queue.next(never);
  queue.fail("a");
  queue.add("a");
  queue.remove("a");
  assertEquals([queue.depth, queue.running, queue.failures("a")], [0, 1, 0]);
  assertEquals(queue.fail("a"), 1);
  queue.add("a", { delay: 5000 });
  queue.done("a");
  assertEquals([queue.depth, queue.delayed, queue.running, queue.failures("a")], [0, 0, 0, 0]);
  assertEquals(time.next(), false);
});

Deno.test("Queue.remove() during a run lets a successor wait for its end and start afresh", async () => {
  using queue = new WorkQueue();
  queue.add("a");
  await queue.next(never);
  queue.fail("a");
  queue.remove("a");
  queue.add("a");
  queue.fail("a");
  assertEquals([queue.depth, queue.running], [1, 1]);
  queue.done("a");
  assertEquals(await queue.next(never), "a");
  assertEquals(queue.fail("a"), 1);
  assertEquals(queue.failures("a"), 1);
  queue.done("a");
});

Deno.test("Queue.done() refuses a key that is not running", () => {
  using queue = new WorkQueue();
  queue.add("a");
  assertThrows(() => queue.done("a"), Error, `Cannot end the run of "a": it is not running`);
});

Deno.test("Queue.dispose() rejects those who wait, stops the timer, and lets running keys end", async () => {
  using fixture = startQueue();
  const { time, queue } = fixture;
  queue.add("a");
  assertEquals(await queue.next(never), "a");
  queue.add("b", { delay: 1000 });
  const waiting = queue.next(never);
  queue.dispose();
  queue.dispose();
  await assertRejects(() => waiting, Error, "Cannot take a key: the queue is disposed");
  await assertRejects(() => queue.next(never), Error, "Cannot take a key: the queue is disposed");
  queue.add("c");
  queue.fail("a");
  queue.add("a", { delay: 5 });
  queue.done("a");
  assertEquals([queue.depth, queue.delayed, queue.running, queue.failures("a")], [0, 0, 0, 0]);
  assertEquals(time.next(), false);
});

Deno.test("Queue tells its metrics of adds, retries, waiting and working times, and what is going on", async () => {
  const told: string[] = [];
  let state: QueueState | undefined;
  using fixture = startQueue({
    observe: (given) => {
      state = given;
      return { [Symbol.dispose]: () => told.push("disposed") };
    },
    added: () => told.push("added"),
    retried: () => told.push("retried"),
    taken: (seconds) => told.push(`taken after ${seconds}`),
    ended: (seconds) => told.push(`ended after ${seconds}`),
  });
  const { time, queue } = fixture;
  queue.add("a");
  queue.add("a");
  queue.add("b", { delay: 1000 });
  queue.add("i", { delay: 1500, priority: "initial" });
  time.tick(2000);
  assertEquals([state?.depth("live"), state?.depth("initial")], [2, 1]);
  assertEquals(await queue.next(never), "a");
  time.tick(500);
  assertEquals(await queue.next(never), "b");
  time.tick(250);
  assertEquals([...state!.running()], [0.75, 0.25]);
  queue.done("a");
  assertEquals([...state!.running()], [0.25]);
  queue.dispose();
  assertEquals(told, [
    ...["added", "retried", "added", "added"],
    ...["taken after 2", "taken after 1.5", "ended after 0.75", "disposed"],
  ]);
});

Deno.test("Queue keeps memory only for keys of which something is remembered", () => {
  const schedule = new Schedule();
  for (let key = 0; key < 1000; key++) {
    schedule.add(`k${key}`, 0);
    schedule.add(`d${key}`, 0, { delay: key });
  }
  schedule.promote(1000);
  for (let taken = schedule.take(1000); taken; taken = schedule.take(1000)) {
    schedule.fail(taken.key);
    schedule.forget(taken.key);
    schedule.done(taken.key, 1000);
  }
  assertEquals(schedule.size, 0);
});

Deno.test("Queue takes the middle out of 100,000 delayed keys and hands the rest out by their time", () => {
  const schedule = new Schedule();
  const count = 100_000;
  for (let index = 0; index < count; index++) schedule.add(`k${index}`, 0, { delay: (index * 7919) % count });
  for (let index = 0; index < count; index += 2) schedule.remove(`k${index}`);
  assertEquals(schedule.promote(count), count / 2);
  let last = -1;
  for (let taken = schedule.take(count); taken; taken = schedule.take(count)) {
    const due = count - taken.waited;
    assertLess(last, due);
    last = due;
  }
});

// -- Against a model --------------------------------------------------------------------------------------------------

/** What the queue knows of one key, said as plainly as possible. */
interface ModelKey {
  priority: QueuePriority;
  wantedSince?: number | undefined;
  due?: number | undefined;
  order: number;
  running: boolean;
  stale: boolean;
  failures: number;
}

/**
 * The rules over plain arrays. Invariants that the commands check besides it:
 *
 * 1. a key that runs is not handed out;
 * 2. depth, delayed, running, failures and the next due time are those of the model after every step;
 * 3. what is handed out, and how long it waited, is what the model says;
 * 4. the initial key that is first in line is handed out after at most LIVE_STREAK others;
 * 5. once all is drained nothing is remembered.
 */
class Model {
  now = 0;
  readonly keys = new Map<string, ModelKey>();
  readonly ready: { live: string[]; initial: string[] } = { live: [], initial: [] };
  streak = 0;
  order = 0;

  key(name: string): ModelKey {
    let key = this.keys.get(name);
    if (!key) this.keys.set(name, key = { priority: "initial", order: 0, running: false, stale: false, failures: 0 });
    return key;
  }

  unlist(name: string): void {
    for (const list of [this.ready.live, this.ready.initial]) {
      if (list.includes(name)) list.splice(list.indexOf(name), 1);
    }
  }

  want(name: string, since: number): void {
    const key = this.key(name);
    key.due = undefined;
    if (key.wantedSince !== undefined) return;
    key.wantedSince = since;
    if (!key.running) this.ready[key.priority].push(name);
  }

  add(name: string, delay: number | undefined, priority: QueuePriority): void {
    const key = this.key(name);
    if (delay !== undefined && key.stale) return;
    if (priority === "live" && key.priority === "initial") {
      key.priority = "live";
      if (this.ready.initial.includes(name)) {
        this.unlist(name);
        this.ready.live.push(name);
      }
    }
    if (delay === undefined) return this.want(name, this.now);
    if (key.wantedSince !== undefined) return;
    if (key.due !== undefined && key.due <= this.now + delay) return;
    key.due = this.now + delay;
    key.order = this.order++;
  }

  promote(): void {
    const due = [...this.keys].filter(([, key]) => key.due !== undefined && key.due <= this.now);
    due.sort(([, a], [, b]) => a.due! - b.due! || a.order - b.order);
    for (const [name, key] of due) this.want(name, key.due!);
  }

  take(): { key: string; waited: number } | undefined {
    const { live, initial } = this.ready;
    const turn = live.length > 0 && initial.length > 0 && this.streak < LIVE_STREAK;
    this.streak = turn ? this.streak + 1 : 0;
    const name = (turn || initial.length === 0 ? live : initial).shift();
    if (name === undefined) return undefined;
    const key = this.key(name);
    const waited = this.now - key.wantedSince!;
    Object.assign(key, { running: true, wantedSince: undefined, priority: "initial" });
    return { key: name, waited };
  }

  done(name: string): void {
    const key = this.key(name);
    key.running = key.stale = false;
    if (key.wantedSince !== undefined) this.ready[key.priority].push(name);
  }

  fail(name: string): number {
    const key = this.key(name);
    return key.stale ? 1 : ++key.failures;
  }

  remove(name: string): void {
    const key = this.key(name);
    this.unlist(name);
    Object.assign(key, {
      priority: "initial",
      wantedSince: undefined,
      due: undefined,
      failures: 0,
      stale: key.running,
    });
  }

  count(of: (key: ModelKey) => boolean): number {
    return [...this.keys.values()].filter(of).length;
  }
}

type Command =
  | { type: "add"; key: string; delay: number | undefined; priority: QueuePriority }
  | { type: "pass"; ms: number }
  | { type: "take" }
  | { type: "done" | "fail" | "forget" | "remove"; key: string };

const key = fc.constantFrom(..."abcdefghijkl");
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("add" as const),
      key,
      delay: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
      priority: fc.constantFrom("live" as const, "initial" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 10 }) }) },
  { weight: 4, arbitrary: fc.constant({ type: "take" as const }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("done" as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom("fail" as const, "forget" as const, "remove" as const), key }),
  },
);

function run(commands: readonly Command[]): void {
  const model = new Model();
  const schedule = new Schedule();
  const running = new Set<string>();
  const initialWait = { key: "", turns: 0 };
  const take = (): boolean => {
    const head = model.ready.initial[0] ?? "";
    const taken = schedule.take(model.now);
    assertEquals(taken, model.take());
    if (!taken) return false;
    assert(!running.has(taken.key), `${taken.key} runs twice at once`);
    running.add(taken.key);
    if (head !== initialWait.key) Object.assign(initialWait, { key: head, turns: 0 });
    if (head !== "" && taken.key !== head) assertLessOrEqual(++initialWait.turns, LIVE_STREAK, `${head} starves`);
    else initialWait.key = "";
    return true;
  };
  const done = (name: string): void => {
    assertEquals(schedule.done(name, model.now) !== undefined, running.delete(name));
    if (model.key(name).running) model.done(name);
  };
  const pass = (ms: number): void => {
    model.now += ms;
    model.promote();
    schedule.promote(model.now);
  };
  for (const command of commands) {
    if (command.type === "add") {
      const wanted = model.keys.get(command.key)?.wantedSince !== undefined;
      model.add(command.key, command.delay, command.priority);
      const became = schedule.add(command.key, model.now, { delay: command.delay, priority: command.priority });
      assertEquals(became, command.delay === undefined && !wanted);
    } else if (command.type === "pass") pass(command.ms);
    else if (command.type === "take") take();
    else if (command.type === "done") done(command.key);
    else if (command.type === "fail") assertEquals(schedule.fail(command.key), model.fail(command.key));
    else if (command.type === "forget") {
      schedule.forget(command.key);
      model.key(command.key).failures = 0;
    } else {
      schedule.remove(command.key);
      model.remove(command.key);
    }
    for (const priority of ["live", "initial"] as const) {
      const expected = model.count((key) => key.wantedSince !== undefined && key.priority === priority);
      assertEquals(schedule.depth(priority), expected);
    }
    const dues = [...model.keys.values()].flatMap((key) => key.due ?? []);
    assertEquals(schedule.delayed, dues.length);
    assertEquals(schedule.nextDue, dues.length === 0 ? undefined : Math.min(...dues));
    assertEquals(schedule.running, model.count((key) => key.running));
    for (const [name, { failures }] of model.keys) assertEquals(schedule.failures(name), failures);
  }
  pass(100);
  for (let round = 0; round < 3; round++) {
    while (take());
    for (const name of running) done(name);
  }
  for (const name of model.keys.keys()) schedule.forget(name);
  assertEquals([schedule.size, schedule.running, schedule.delayed], [0, 0, 0]);
}

Deno.test("Queue does what a plain model of its rules does, step for step", () => {
  const seed = Number(Deno.env.get("TEND_SEED") ?? Date.now() & 0x7fffffff);
  console.log(`queue model: TEND_SEED=${seed}`);
  fc.assert(fc.property(fc.array(command, { maxLength: 150, size: "max" }), run), { seed, numRuns: 300 });
});
