/**
 * Measures from the start of a process to the first reconcile of the last of many objects.
 *
 * @module
 */
import { type Case, conclude, count, limitFor, must, type Sample, serverTime } from "./_case.ts";
import type { Ground } from "./_ground.ts";
import type { ReadyPeer } from "./_peers.ts";
import type { Subject } from "./_subject.ts";

/** Starts a peer and measures until it has reconciled all there is. It still runs then. */
export async function sync(
  ground: Ground,
  peer: ReadyPeer,
  assigned: Readonly<Record<`BENCH_${string}`, string | number>> = {},
): Promise<{ subject: Subject; sample: Sample }> {
  const before = ground.server.time();
  const subject = ground.start(peer, assigned);
  const { at, objects, usage } = await subject.hear("done", limitFor(ground.size));
  must(objects === ground.size, () => `${peer.name} is done with ${objects} objects of ${ground.size}`);
  const sample = { wall: (at - subject.started) / 1000, ...usage, ...serverTime(before, ground.server.time()) };
  return { subject, sample };
}

/** One case for each number of objects. */
export function syncCases(sizes: readonly number[]): Case[] {
  return sizes.map((size) => ({
    mode: "sync",
    title: `${count(size)} objects`,
    prepare: (ground) => ground.seed(size),
    run: async (ground, peer) => {
      await using run = await running(sync(ground, peer));
      const reconciles = await conclude(run.subject, size);
      return { ...run.sample, reconciles: reconciles / size };
    },
  }));
}

/** What {@linkcode sync} answers, with the peer killed at the end unless it was stopped. */
export async function running(
  started: ReturnType<typeof sync>,
): Promise<Awaited<ReturnType<typeof sync>> & AsyncDisposable> {
  const { subject, sample } = await started;
  return { subject, sample, [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose]() };
}
