/**
 * Measures many updates as fast as the server takes them: what each costs the peer, and how far behind it is at the end.
 *
 * @module
 */
import { type Case, conclude, count, limitFor, must, type Sample, serverTime } from "./_case.ts";
import { epoch } from "./_clock.ts";
import { each } from "./_each.ts";
import type { Ground } from "./_ground.ts";
import { running, sync } from "./_mode_sync.ts";

/** How often each object is updated. */
const ROUNDS = 2;
/** Objects are not updated in the order in which they were made: each is this far from the one before. */
const STRIDE = 7919;

/** Updates all objects, round by round; how long that took, in ms, and when the last was answered. */
async function churn(ground: Ground, revision: number): Promise<{ took: number; ended: number }> {
  const began = epoch(), { size } = ground;
  for (let round = 1; round <= ROUNDS; round++) {
    await each(size, (index) => ground.update(index * STRIDE % size, revision + round));
  }
  const ended = epoch();
  return { took: ended - began, ended };
}

/** One case for each number of objects. */
export function churnCases(sizes: readonly number[]): Case[] {
  return sizes.map((size): Case => {
    let revision = 1;
    return {
      mode: "churn",
      title: `${count(size * ROUNDS)} updates of ${count(size)} objects`,
      prepare: (ground) => ground.seed(size),
      run: async (ground, peer): Promise<Sample> => {
        must(size % STRIDE !== 0, () => `${size} objects cannot be updated in steps of ${STRIDE}`);
        await using run = await running(sync(ground, peer, { BENCH_REVISION: revision }));
        const { subject } = run;
        const [before, serverBefore] = [subject.usage().cpu, ground.server.time()];
        await subject.expect(size, revision + ROUNDS);
        // Both at once: a peer that dies is not waited for.
        const [{ took, ended }, { at, usage }] = await Promise.all([
          churn(ground, revision),
          subject.hear("done", limitFor(size * ROUNDS)),
        ]);
        revision += ROUNDS;
        const time = serverTime(serverBefore, ground.server.time());
        const reconciles = await conclude(subject, 2 * size);
        return {
          cpuPerWrite: (usage.cpu - before) * 1e6 / (size * ROUNDS),
          cpu: usage.cpu - before,
          lag: at - ended,
          rss: usage.rss,
          peak: usage.peak,
          reconciles: (reconciles - size) / size,
          writesPerSecond: size * ROUNDS * 1000 / took,
          ...time,
        };
      },
    };
  });
}
