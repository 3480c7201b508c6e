/** Moves fake time on from timer to timer: each at its exact instant, with all its microtasks before the next. */
import type { FakeTime } from "@std/testing/time";

/** How many turns the longest chain of promises between two timers may take. */
const TURNS = 300;

/** Lets everything run that waits for promises alone. */
export async function microtasks(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await null;
}

/** Moves fake time on by `ms`; `setTimeout` is the fake one. */
export async function play(
  time: FakeTime,
  ms: number,
  setTimer = setTimeout,
  afterEach = (): void => {},
): Promise<void> {
  let over = false;
  setTimer(() => over = true, ms);
  do {
    await microtasks();
    afterEach();
  } while (!over && time.next());
  await microtasks();
  afterEach();
}
