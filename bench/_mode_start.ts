/**
 * Measures from the start of a process to its first reconcile and to its readiness, and what it takes when there is nothing to do.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, limitFor, type Sample } from "./_case.ts";
import { epoch } from "./_clock.ts";
import { freePort, readyAt } from "./_probe.ts";

/** How long a process is left alone before its idle time is measured, in ms. */
const SETTLE = 2000;
/** One case, of one object, for each number of seconds to be idle. */
export function startCases(seconds: readonly number[]): Case[] {
  return seconds.map((idle): Case => ({
    mode: "start",
    title: `1 object, then ${count(idle)} s without work`,
    prepare: (ground) => ground.seed(1),
    run: async (ground, peer): Promise<Sample> => {
      const port = peer.probes ? freePort() : 0;
      await using subject = ground.start(peer, { BENCH_PORT: port });
      const { started } = subject;
      const ready = peer.probes ? await readyAt(port) : undefined;
      const first = await subject.hear("first", limitFor(1));
      const { usage } = await subject.hear("done", limitFor(1));
      await delay(SETTLE);
      const [before, began] = [subject.usage().cpu, epoch()];
      await delay(started + idle * 1000 - epoch());
      const [{ cpu, rss, peak }, ended] = [subject.usage(), epoch()];
      await conclude(subject, 1);
      return {
        first: first.at - started,
        ...(ready === undefined ? {} : { ready: ready - started }),
        cpu: usage.cpu,
        idleRss: rss,
        peak,
        idleCpu: (cpu - before) * 1000 / (ended - began) * 100,
      };
    },
  }));
}
