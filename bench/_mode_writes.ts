/**
 * Measures reconciles that write: a status, or a child that is owned.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { type Case, conclude, count, must, type Sample } from "./_case.ts";
import type { Ground } from "./_ground.ts";
import { running, sync } from "./_mode_sync.ts";
import { NAMESPACE } from "./_objects.ts";
import { countOf, since } from "./_server_requests.ts";
import type { Subject } from "./_subject.ts";

/** How long no further reconcile may come until all is quiet, and how long that may take, in ms. */
const STILL = 1000, PATIENCE = 60_000;
const RESOURCES: readonly string[] = ["widgets", "configmaps", "events"];

interface Widget {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly index: number; readonly revision: number; readonly title: string };
  readonly status?: { readonly observed?: number };
}

interface ConfigMap {
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** Waits until a peer has nothing more to do. */
async function quiet(subject: Subject): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (let last = -1;;) {
    const { reconciles } = await subject.totals();
    if (reconciles === last) return;
    must(performance.now() < deadline, () => `${subject.name} still reconciles ${PATIENCE} ms after it was done`);
    last = reconciles;
    await delay(STILL);
  }
}

/** Fails unless each object has the status that it should. */
async function assertStatuses(ground: Ground): Promise<void> {
  const widgets = await ground.list<Widget>();
  const right = widgets.filter(({ spec, status }) => status?.observed === spec.revision);
  must(right.length === ground.size, () => `${right.length} statuses are right, of ${ground.size}`);
}

/** Fails unless each object has the child that it should. */
async function assertChildren(ground: Ground): Promise<void> {
  const owners = new Map((await ground.list<Widget>()).map((widget) => [widget.metadata.name, widget]));
  const children = await ground.list<ConfigMap>(`/api/v1/namespaces/${NAMESPACE}/configmaps`);
  const right = children.filter(({ metadata: { name, ownerReferences = [] }, data }) => {
    const owner = owners.get(name);
    const owned = ownerReferences.some(({ uid, controller }) => controller && uid === owner?.metadata.uid);
    return owned && data?.revision === `${owner?.spec.revision}` && data.title === owner?.spec.title;
  });
  must(right.length === ground.size, () => `${right.length} config maps are right, of ${ground.size}`);
}

const LOOKS = { status: assertStatuses, owned: assertChildren };

/** One case for each number of objects. */
export function writeCases(mode: "status" | "owned", sizes: readonly number[]): Case[] {
  return sizes.map((size): Case => ({
    mode,
    title: `${count(size)} objects`,
    takes: ({ works }) => works.includes(mode),
    prepare: async () => {},
    run: async (ground, peer): Promise<Sample> => {
      // Each run has objects of its own, which nobody has written to.
      await ground.clear();
      await ground.seed(size);
      const before = await ground.server.requests();
      await using run = await running(sync(ground, peer, { BENCH_RECONCILE: mode }));
      const { subject } = run;
      await quiet(subject);
      const { cpu } = subject.usage();
      const { writes: called } = await subject.totals();
      const counts = since(before, await ground.server.requests());
      const writes = countOf(counts, RESOURCES, "writes");
      must(called >= size && writes >= size, () => `${called} writes were called and ${writes} came, for ${size}`);
      await LOOKS[mode](ground);
      const reconciles = await conclude(subject, size);
      return {
        ...run.sample,
        cpuQuiet: cpu,
        writes: writes / size,
        reads: countOf(counts, RESOURCES, "reads") / size,
        reconciles: reconciles / size,
      };
    },
  }));
}
