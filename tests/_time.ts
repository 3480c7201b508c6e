/** Moves fake time over asynchronous code, in steps with room for its microtasks. */
import type { FakeTime } from "@std/testing/time";

/** Lets everything that is not waiting for time run on. */
export async function settle(time: FakeTime, rounds = 5): Promise<void> {
  for (let round = 0; round < rounds; round++) await time.runMicrotasks();
}

/** Moves fake time on by `ms` in steps of at most `step`, settling after each. */
export async function advance(time: FakeTime, ms: number, step = 1000): Promise<void> {
  await settle(time);
  for (let left = ms; left > 0; left -= step) {
    time.tick(Math.min(step, left));
    await settle(time);
  }
}

/**
 * Moves fake time on by `ms`, from timer to timer, settling after each: as exact as steps of 1 ms, and quick over long
 * times in which little happens.
 */
export async function leap(time: FakeTime, ms: number): Promise<void> {
  let over = false;
  setTimeout(() => over = true, ms);
  await settle(time);
  while (!over) {
    time.next();
    await settle(time);
  }
  time.tick(0);
  await settle(time);
}
