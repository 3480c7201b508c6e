import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action, MIN_REQUEUE } from "../action.ts";
import { Backoff, backoff } from "../backoff.ts";
import { after, delay, race } from "../delay.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { advance } from "./_time.ts";

Deno.test("toMilliseconds() reads numbers and parts", () => {
  const cases: [Duration, number][] = [
    [0, 0],
    [1500, 1500],
    [{ minutes: 5 }, 300_000],
    [{ hours: 1, minutes: 1, seconds: 1, milliseconds: 1 }, 3_661_001],
  ];
  for (const [duration, expected] of cases) assertEquals(toMilliseconds(duration), expected);
});

Deno.test("toMilliseconds() refuses what is no duration, naming the setting and the value", () => {
  const cases: [unknown, typeof TypeError | typeof RangeError, string][] = [
    [-1, RangeError, "current value is -1"],
    [NaN, RangeError, "current value is NaN"],
    [Infinity, RangeError, "current value is Infinity"],
    [{ minutes: -5 }, RangeError, "minutes: -5"],
    [{}, TypeError, "current value is {}"],
    [{ days: 1 }, TypeError, "days: 1"],
    [{ seconds: "5" }, TypeError, `seconds: "5"`],
    [{ toString: 1 }, TypeError, "toString"],
    ["5s", TypeError, `"5s"`],
    [null, TypeError, "null"],
    [undefined, TypeError, "undefined"],
    [[5], TypeError, "[ 5 ]"],
  ];
  for (const [value, error, text] of cases) {
    assertThrows(() => toMilliseconds(value as Duration, "resync"), error, text);
    assertThrows(() => toMilliseconds(value as Duration, "resync"), error, "Cannot read 'resync'");
  }
});

Deno.test("backoff() doubles from 5 s to 5 min", () => {
  const delays = Array.from({ length: 8 }, (_, index) => backoff(5_000, index + 1) / 1000);
  assertEquals(delays, [5, 10, 20, 40, 80, 160, 300, 300]);
  assertEquals(backoff(5_000, 0), 0);
  assertEquals(backoff(5_000, 5_000), 300_000);
  assertEquals(backoff(600_000, 3), 600_000, "a first delay beyond the cap stands");
});

Deno.test("Backoff doubles with jitter and starts again after reset()", () => {
  const waits = new Backoff({ random: () => 0.5 });
  assertEquals([waits.next(), waits.next(), waits.next()], [1200, 2400, 4800]);
  for (let times = 0; times < 50; times++) waits.next();
  assertEquals(waits.next(), 45_000);
  waits.reset();
  assertEquals([waits.failures, waits.next()], [0, 1200]);
});

Deno.test("Action.requeue() takes durations, and never less than what keeps an object from spinning (B23)", () => {
  assertEquals(Action.requeue({ minutes: 5 }).after, 300_000);
  assertEquals(Action.requeue(0).after, MIN_REQUEUE);
  assertEquals(Action.requeue({ hours: 24 * 30 }).after, 2_592_000_000);
  assertEquals(Action.awaitChange().after, undefined);
  for (const wrong of [NaN, Infinity, -1]) assertThrows(() => Action.requeue(wrong), RangeError, "'requeue'");
});

Deno.test("after() fires once, at the right time, beyond what a timer can take (B23)", async () => {
  using time = new FakeTime();
  const start = Date.now();
  const fired: number[] = [];
  after(2 ** 31 + 5_000, () => fired.push(Date.now() - start));
  const cancel = after(2 ** 32, () => fired.push(-1));
  time.tick(2 ** 31);
  assertEquals(fired, []);
  time.tick(10_000);
  assertEquals(fired, [2 ** 31 + 5_000]);
  cancel();
  time.tick(2 ** 33);
  await time.runMicrotasks();
  assertEquals(fired.length, 1);
});

Deno.test("delay() ends with its time, or with the signal's reason", async () => {
  using time = new FakeTime();
  const abort = new AbortController();
  const done = delay(1000, abort.signal);
  await advance(time, 1000);
  await done;
  const cut = delay(1000, abort.signal);
  abort.abort(new Error("enough"));
  await assertRejects(() => cut, Error, "enough");
  await assertRejects(() => delay(1000, abort.signal), Error, "enough");
});

Deno.test("race() gives up on a promise when the signal aborts and swallows what becomes of it", async () => {
  const abort = new AbortController();
  const { promise, reject } = Promise.withResolvers<string>();
  const raced = race(promise, abort.signal);
  abort.abort(new Error("enough"));
  await assertRejects(() => raced, Error, "enough");
  reject(new Error("late"));
  await assertRejects(() => race(Promise.reject(new Error("late")), abort.signal), Error, "enough");
  assertEquals(await race(Promise.resolve("early"), new AbortController().signal), "early");
});
