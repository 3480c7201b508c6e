/**
 * Measures how the framework's own peer grows: with objects, with their size, with namespaces, kinds and delays.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, type Sample } from "./_case.ts";
import type { Ground } from "./_ground.ts";
import { running, sync } from "./_mode_sync.ts";
import type { WidgetOptions } from "./_objects.ts";
import type { ReadyPeer } from "./_peers.ts";
import { freePort, readyAt } from "./_probe.ts";

/** Objects of a kB that are there even where their number is not what is measured. */
const BASE = 10_000;
/** The variables that make an object 100 kB. */
const LARGE = 950;

/** How large a case is. */
export interface ScaleSizes {
  readonly objects: readonly number[];
  readonly namespaces: number;
  readonly kinds: number;
  readonly delays: number;
  readonly large: number;
  /** How long a peer is left alone before its memory counts, in ms. */
  readonly settle: number;
}

/** The sizes of the issue, and those of a quick run. */
export const SCALE: Readonly<Record<"full" | "quick", ScaleSizes>> = {
  full: {
    objects: [1000, 10_000, 25_000, 50_000, 100_000],
    namespaces: 1000,
    kinds: 50,
    delays: 10_000,
    large: 1000,
    settle: 5000,
  },
  quick: { objects: [1000], namespaces: 50, kinds: 5, delays: 500, large: 20, settle: 500 },
};

interface Scaled {
  readonly title: string;
  readonly size: number;
  readonly settle: number;
  readonly options?: (index: number) => WidgetOptions;
  readonly kinds?: number;
  readonly namespaces?: number;
  readonly delays?: boolean;
}

/** The resident memory of a peer that has nothing to cache. */
async function empty(ground: Ground, peer: ReadyPeer, kinds: number, settle: number): Promise<number> {
  const port = freePort();
  const nothing = { BENCH_OBJECTS: 0, BENCH_KINDS: kinds, BENCH_NAMESPACE: "default", BENCH_PORT: port };
  await using subject = ground.start(peer, nothing);
  await readyAt(port); // One that is stopped while it starts does not stop in order.
  await delay(settle);
  const { rss } = subject.usage();
  await subject.stop();
  return rss;
}

function scaled({ title, size, settle, options, kinds = 1, namespaces = 0, delays = false }: Scaled): Case {
  let bytes = 0;
  return {
    mode: "scale",
    title,
    takes: ({ name }) => name === "tend",
    prepare: async (ground) => {
      await ground.define(kinds);
      for (let each = 0; each < namespaces; each++) await ground.makeNamespace(`bench-${each}`);
      await ground.seed(size, options);
      bytes = await ground.bytes();
    },
    run: async (ground, peer): Promise<Sample> => {
      const base = await empty(ground, peer, kinds, settle);
      const work = delays ? "delay" : "noop";
      await using run = await running(sync(ground, peer, { BENCH_KINDS: kinds, BENCH_RECONCILE: work }));
      const before = run.subject.usage().cpu;
      await delay(settle);
      const { cpu, rss } = run.subject.usage();
      const reconciles = await conclude(run.subject, size);
      const more = (rss - base) * 1024 * 1024;
      return {
        ...run.sample,
        idleRss: rss,
        idleCpu: (cpu - before) * 1000 / settle * 100,
        perObject: more / size,
        perByte: more / bytes,
        reconciles: reconciles / size,
      };
    },
  };
}

/** All cases. */
export function scaleCases({ objects, namespaces, kinds, delays, large, settle }: ScaleSizes): Case[] {
  const most = Math.min(BASE, Math.max(...objects));
  return [
    ...objects.map((size) => scaled({ title: `${count(size)} objects`, size, settle })),
    scaled({
      title: `${count(most)} objects in ${count(namespaces)} namespaces`,
      size: most,
      settle,
      namespaces,
      options: (index) => ({ namespace: `bench-${index % namespaces}` }),
    }),
    scaled({
      title: `${count(most)} objects of ${count(kinds)} kinds`,
      size: most,
      settle,
      kinds,
      options: (index) => ({ kind: index % kinds === 0 ? "" : index % kinds + 1 }),
    }),
    scaled({ title: `${count(delays)} pending delays`, size: delays, settle, delays: true }),
    scaled({ title: `${count(large)} objects of 100 kB`, size: large, settle, options: () => ({ variables: LARGE }) }),
  ];
}
