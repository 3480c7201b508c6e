/**
 * Measures how long nobody reconciles when the leader of two replicas dies, and when it is stopped.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, type Sample } from "./_case.ts";
import { epoch } from "./_clock.ts";
import type { Ground } from "./_ground.ts";
import type { ReadyPeer } from "./_peers.ts";

/** How long a replica stands by before the leader goes, in ms: long enough for its caches. */
const STANDBY = 3000;
/** How long a replica may take to lead, in ms: twice the duration of a lease and more. */
const LIMIT = 60_000;
const LEASE = "default/bench-operator";

/** Seconds until a standby reconciles for the first time, from the moment in which its leader gets a signal. */
async function takeover(
  leader: ReturnType<Ground["start"]>,
  standby: ReturnType<Ground["start"]>,
  signal: "SIGKILL" | "SIGTERM",
): Promise<number> {
  await delay(STANDBY);
  const first = standby.hear("first", LIMIT);
  first.catch(() => {}); // It is awaited below, unless the leader does not stop.
  const sent = epoch();
  await leader.stop(signal);
  return ((await first).at - sent) / 1000;
}

/** One case for each number of objects. */
export function electionCases(sizes: readonly number[], signals: readonly ("SIGKILL" | "SIGTERM")[]): Case[] {
  return sizes.map((size): Case => ({
    mode: "election",
    title: `${count(size)} objects, two replicas`,
    takes: ({ elects }) => elects,
    prepare: (ground) => ground.seed(size),
    run: async (ground, peer: ReadyPeer): Promise<Sample> => {
      await ground.server.etcd.clear("/registry/leases/default/");
      await using replicas = new AsyncDisposableStack();
      const start = () => replicas.use(ground.start(peer, { BENCH_LEASE: LEASE }));
      let leader = start();
      await leader.hear("done", LIMIT);
      const taken: { killed?: number; stopped?: number } = {};
      for (const signal of signals) {
        const standby = start();
        taken[signal === "SIGKILL" ? "killed" : "stopped"] = await takeover(leader, standby, signal);
        await standby.hear("done", LIMIT);
        leader = standby;
      }
      await conclude(leader, size);
      return taken;
    },
  }));
}
