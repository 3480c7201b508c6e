/**
 * Measures from the start of a process to its first reconcile and to its readiness, and what it takes when there is nothing to do.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, limitFor, must, type Sample } from "./_case.ts";
import { epoch } from "./_clock.ts";

/** How long a process is left alone before its idle time is measured, in ms. */
const SETTLE = 2000;
/** How often it is asked whether it is ready, and for how long, in ms. */
const POLL = 2, READY = 20_000;

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** True if what listens on a port says that it is ready; by a bare connection, which costs this process little. */
async function isReady(port: number): Promise<boolean> {
  try {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    await connection.write(new TextEncoder().encode(request));
    const answer = new Uint8Array(64);
    const length = await connection.read(answer) ?? 0;
    return /^HTTP\/1\.[01] 200 /.test(new TextDecoder().decode(answer.subarray(0, length)));
  } catch {
    return false; // Nothing listens there yet.
  }
}

/** When a peer is ready by what listens on its port, in ms since 1970; undefined if that takes too long, or it is gone. */
async function readyAt(port: number, limit: number): Promise<number | undefined> {
  const deadline = epoch() + limit;
  while (epoch() < deadline) {
    if (await isReady(port)) return epoch();
    await delay(POLL);
  }
  return undefined;
}

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
      const ready = peer.probes ? await readyAt(port, READY) : undefined;
      const first = await subject.hear("first", limitFor(1));
      const { usage } = await subject.hear("done", limitFor(1));
      must(!peer.probes || ready !== undefined, () => `${peer.name} did not say 200 at /readyz within ${READY} ms`);
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
