/**
 * Keeps a copy of a ConfigMap, renewed on a schedule; marks what it copies, and takes the mark off when the Backup goes.
 *
 *     deno run --allow-net --allow-env=HOME,KUBECONFIG --allow-read examples/backup.ts
 *
 * With `--kubeconfig FILE`, `--allow-net --allow-read=FILE` are enough; in a cluster, the flags that `manifests` writes; to
 * print `manifests`, `crds`, `rbac` or `--help`, none. `--allow-sys=hostname` puts the host's name into the lease.
 *
 * @module
 */
import { z } from "zod";
import { Action, childName, type Context, Controller, customResource, type ObjectOf, Operator } from "@tend/operator";
import { ConfigMap } from "@tend/operator/kinds";

/** The kind Backup. */
export const Backup = customResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  spec: z.object({
    configMap: z.string().min(1).describe("Name of the ConfigMap to copy."),
    everyMinutes: z.int().min(1).default(5).describe("Minutes between two copies."),
  }),
  status: z.object({ source: z.string(), copy: z.string(), version: z.string(), lastRun: z.iso.datetime() }).partial(),
  printerColumns: [{ name: "Last run", type: "date", jsonPath: ".status.lastRun" }],
});

/** A Backup as the API server returns it. */
export type Backup = ObjectOf<typeof Backup>;

const MARK = "example.com/backed-up-by";

const backups = new Controller(Backup)
  .owns(ConfigMap)
  .reconcile(async (backup, ctx) => {
    const { configMap, everyMinutes } = backup.spec;
    const source = await ctx.get(ConfigMap, configMap);
    if (!source) throw new Error(`ConfigMap "${configMap}" does not exist`); // tried again after 5, 10, 20, ... s

    await unmark(backup, ctx, configMap);
    await mark(source, backup, ctx);
    const name = childName(backup.metadata.name, "copy");
    const copy = await ctx.applyOwned(backup, ConfigMap.draft({ metadata: { name }, data: source.data ?? {} }));

    if (copy.metadata.resourceVersion !== backup.status?.version) {
      const lastRun = new Date().toISOString();
      await ctx.patchStatus(backup, { source: configMap, copy: name, version: copy.metadata.resourceVersion, lastRun });
      ctx.event(backup, { type: "Normal", reason: "Copied", note: `Copied ${configMap} to ${name}` });
    }
    return Action.requeue({ minutes: everyMinutes });
  })
  .finalizer("example.com/cleanup", async (backup, ctx) => {
    await unmark(backup, ctx);
  });

/** Says on a ConfigMap who copies it. */
async function mark(source: ConfigMap, { metadata: { name } }: Backup, ctx: Context): Promise<void> {
  if (source.metadata.annotations?.[MARK] === name) return;
  await ctx.client.api(ConfigMap).patch(source, { metadata: { annotations: { [MARK]: name } } });
  ctx.log.info("Marked {configMap}", { configMap: source.metadata.name });
}

/** Takes a Backup's mark off every ConfigMap but one; those of other Backups stay. */
async function unmark({ metadata: { name, namespace } }: Backup, ctx: Context, except?: string): Promise<void> {
  for (const { metadata } of await ctx.list(ConfigMap, { namespace })) {
    if (metadata.annotations?.[MARK] !== name || metadata.name === except) continue;
    await ctx.client.api(ConfigMap).patch({ metadata }, { metadata: { annotations: { [MARK]: null } } });
    ctx.log.info("Took the mark off {configMap}", { configMap: metadata.name });
  }
}

/** The operator. */
export const operator = new Operator("backup-operator")
  .leaderElection("default", "backup-operator")
  .controller(backups);

if (import.meta.main) await operator.main(); // run (default) | manifests | crds | rbac | --help
