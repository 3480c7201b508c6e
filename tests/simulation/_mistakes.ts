/**
 * Has five small operators, each with a mistake that is easily made, and each mended.
 *
 * The mistakes are of the kinds that were found in well-known operators by perturbing them (Sieve, OSDI 2022).
 *
 * @module
 */
import { z } from "zod";
import { ConfigMap, Deployment } from "../../kinds.ts";
import { Controller, customResource, type ObjectOf, Operator } from "../../mod.ts";
import type { SimulatedWorld, SimulateOptions } from "../../testing/mod.ts";

/** The kind that all of them are about. */
export const Database = customResource({
  group: "example.com",
  version: "v1",
  kind: "Database",
  spec: z.object({ image: z.string().default("one"), volumes: z.int().default(1) }),
  status: z.object({ phase: z.string(), child: z.string() }).partial(),
});
type Database = ObjectOf<typeof Database>;

const Volume = customResource({
  group: "example.com",
  version: "v1",
  kind: "Volume",
  spec: z.object({ gigabytes: z.int().default(1) }),
});

/** An operator, with its mistake or mended, and how it is simulated. */
export interface Mistake {
  /** The mistake, as a sentence. */
  readonly what: string;
  /** Makes the operator as a process that starts would. */
  operator(mended: boolean): Operator;
  /** The world, the user and what must hold. */
  readonly options: SimulateOptions;
}

const namespace = "default";
const database = (name: string, spec: Partial<Database["spec"]> = {}) =>
  Database.draft({ metadata: { name, namespace }, spec });
const remove = (name: string) => ({ client }: SimulatedWorld) => client.api(Database).delete(name, { namespace });
const change = (name: string, spec: Partial<Database["spec"]>) => ({ client }: SimulatedWorld) =>
  client.api(Database).patch({ name, namespace }, { spec });

function volume(owner: string, index = 0) {
  return Volume.draft({ metadata: { name: `${owner}-${index}`, namespace, labels: { database: owner } }, spec: {} });
}

const noVolumeIsLeft = async ({ client }: SimulatedWorld): Promise<void> => {
  const names = (await client.api(Database).list({ namespace })).items.map(({ metadata }) => metadata.name);
  for (const { metadata } of (await client.api(Volume).list({ namespace })).items) {
    if (!names.includes(metadata.labels!.database!)) throw new Error(`volume ${metadata.name} is left behind`);
  }
};

/** Remembers which objects there were, and removes what belonged to those that are there no more. */
const unobservedDeletion: Mistake = {
  what: "A volume is left behind because a deletion was never observed",
  operator(mended) {
    const known = new Set<string>();
    const controller = new Controller(Database)
      .watches(Volume, () => [])
      .reconcile(async (object, ctx) => {
        const volumes = ctx.client.api(Volume);
        await volumes.apply(volume(object.metadata.name));
        if (mended) return;
        known.add(object.metadata.name);
        const there = new Set((await ctx.list(Database)).map(({ metadata }) => metadata.name));
        for (const name of known) {
          if (!there.has(name)) await volumes.delete({ name: `${name}-0`, namespace }).then(() => known.delete(name));
        }
      });
    if (mended) {
      controller.finalizer("example.com/volume", async (object, ctx) => {
        const volumes = ctx.client.api(Volume);
        const name = `${object.metadata.name}-0`;
        if (await volumes.find({ name, namespace })) await volumes.delete({ name, namespace });
      });
    }
    return new Operator("databases").controller(controller);
  },
  options: {
    world: [database("a"), database("b")],
    actions: { "delete a": remove("a"), "change b": change("b", { image: "two" }) },
    invariants: { noVolumeIsLeft },
  },
};

/** Takes the size of its child from the cache, to leave it to an autoscaler, and so applies an old one. */
const staleSize: Mistake = {
  what: "A child is scaled to a stale size",
  operator(mended) {
    return new Operator("databases").controller(
      new Controller(Database).owns(Deployment).reconcile(async (object, ctx) => {
        const { name } = object.metadata;
        const there = await ctx.get(Deployment, name);
        const replicas = mended ? {} : { replicas: there?.spec?.replicas ?? 1 };
        const labels = { database: name };
        await ctx.applyOwned(
          object,
          Deployment.draft({
            metadata: { name },
            spec: {
              ...replicas,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers: [{ name: "db", image: object.spec.image }] } },
            },
          }),
        );
      }),
    );
  },
  options: {
    world: database("a"),
    actions: {
      "the autoscaler wants 5 replicas": ({ client }) =>
        client.api(Deployment).patch({ name: "a", namespace }, {
          metadata: { annotations: { wanted: "5" } },
          spec: { replicas: 5 },
        }),
      "change the image": change("a", { image: "two" }),
    },
    invariants: {
      "the size is what the autoscaler wants": async ({ client }) => {
        const { spec, metadata } = await client.api(Deployment).get({ name: "a", namespace });
        const wanted = metadata.annotations?.wanted ?? "1";
        if (String(spec?.replicas) !== wanted) throw new Error(`there are ${spec?.replicas}, wanted are ${wanted}`);
      },
    },
  },
};

/** Writes that it has begun before it begins, and believes that later. */
const stuckHalfway: Mistake = {
  what: "A crash between two writes leaves the object stuck",
  operator(mended) {
    return new Operator("databases").controller(
      new Controller(Database).owns(ConfigMap).reconcile(async (object, ctx) => {
        if (!mended && object.status?.phase === "Started") return;
        if (!mended) await ctx.patchStatus(object, { phase: "Started" });
        await ctx.applyOwned(object, ConfigMap.draft({ metadata: { name: object.metadata.name } }));
        await ctx.patchStatus(object, { phase: "Started" });
      }),
    );
  },
  options: {
    world: database("a"),
    invariants: {
      "what has started has its config": async ({ client }) => {
        if (!await client.api(ConfigMap).find({ name: "a", namespace })) throw new Error("there is no config");
      },
    },
  },
};

/** Names its child at random, and remembers it too late. */
const twoChildren: Mistake = {
  what: "Two children are created because an earlier attempt is not looked for",
  operator(mended) {
    return new Operator("databases").controller(
      new Controller(Database).owns(ConfigMap).reconcile(async (object, ctx) => {
        if (mended) {
          const metadata = { name: `${object.metadata.name}-config`, labels: { database: object.metadata.name } };
          await ctx.applyOwned(object, ConfigMap.draft({ metadata }));
          return;
        }
        if (object.status?.child) return;
        const labels = { database: object.metadata.name };
        const created = await ctx.client.api(ConfigMap).create({
          metadata: { generateName: `${object.metadata.name}-`, namespace, labels },
        });
        await ctx.patchStatus(object, { child: created.metadata.name });
      }),
    );
  },
  options: {
    world: database("a"),
    invariants: {
      "there is one child": async ({ client }) => {
        const { items } = await client.api(ConfigMap).list({ namespace, labelSelector: "database=a" });
        if (items.length !== 1) throw new Error(`there are ${items.length}`);
      },
    },
  },
};

/** Cleans up what its cache has, which may not be all. */
const trustingCleanup: Mistake = {
  what: "A cleanup trusts its cache, and leaves behind what that does not have yet",
  operator(mended) {
    return new Operator("databases").controller(
      new Controller(Database)
        .watches(Volume, ({ metadata }) => [{ name: metadata.labels?.database ?? "none" }])
        .reconcile(async (object, ctx) => {
          for (let index = 0; index < object.spec.volumes; index++) {
            await ctx.client.api(Volume).apply(volume(object.metadata.name, index));
          }
        })
        .finalizer("example.com/volumes", async (object, ctx) => {
          const labelSelector = `database=${object.metadata.name}`;
          const volumes = await ctx.list(Volume, {
            namespace,
            labelSelector,
            live: mended,
          });
          for (const { metadata } of volumes) {
            await ctx.client.api(Volume).delete({ name: metadata.name, namespace });
          }
        }),
    );
  },
  options: {
    world: database("a"),
    actions: {
      "a backup makes a volume of its own": async ({ client }) => {
        await client.api(Volume).create(volume("a", 7));
      },
      "delete a": remove("a"),
    },
    invariants: { noVolumeIsLeft },
  },
};

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [
  unobservedDeletion,
  staleSize,
  stuckHalfway,
  twoChildren,
  trustingCleanup,
];
