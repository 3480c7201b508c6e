/**
 * Measures from the sending of an update to the start of its reconcile, at a rate that nobody finds hard.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, limitFor, must, type Sample, serverTime } from "./_case.ts";
import { epoch } from "./_clock.ts";
import type { Ground } from "./_ground.ts";
import { running, sync } from "./_mode_sync.ts";
import { percentile } from "./_statistics.ts";

/** How many updates there are in a second. */
const RATE = 50;
/** How many objects there are. */
const OBJECTS = 1000;

/** Sends updates at the rate, without waiting for one before the next is due. */
async function updates(ground: Ground, number: number, revision: number): Promise<void> {
  const began = epoch();
  const sent: Promise<void>[] = [];
  for (let index = 0; index < number; index++) {
    const wait = began + index * 1000 / RATE - epoch();
    if (wait > 0) await delay(wait);
    sent.push(ground.update(index, revision, epoch()));
  }
  await Promise.all(sent);
}

/** One case for each number of updates. */
export function latencyCases(sizes: readonly number[]): Case[] {
  return sizes.map((size): Case => {
    let revision = 1;
    return {
      mode: "latency",
      title: `${count(size)} updates of ${count(Math.max(OBJECTS, size))} objects, ${RATE} a second`,
      prepare: (ground) => ground.seed(Math.max(OBJECTS, size)),
      run: async (ground, peer): Promise<Sample> => {
        await using run = await running(sync(ground, peer));
        const { subject } = run;
        await subject.latencies(); // Those of what an earlier run has sent.
        const [before, serverBefore] = [subject.usage(), ground.server.time()];
        await subject.expect(size, ++revision);
        const [{ usage }] = await Promise.all([
          subject.hear("done", limitFor(size)),
          updates(ground, size, revision),
        ]);
        const latencies = await subject.latencies();
        must(latencies.length === size, () => `${latencies.length} latencies were told, of ${size} updates`);
        const time = serverTime(serverBefore, ground.server.time());
        await conclude(subject, ground.size + size);
        return {
          p50: percentile(latencies, 50),
          p90: percentile(latencies, 90),
          p99: percentile(latencies, 99),
          cpuPerWrite: (usage.cpu - before.cpu) * 1e6 / size,
          rss: usage.rss,
          ...time,
        };
      },
    };
  });
}
