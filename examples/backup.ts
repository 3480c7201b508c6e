/**
 * Keeps a copy of a ConfigMap, renewed on a schedule; marks what it copies, and takes the mark off when the Backup goes.
 *
 *     deno run --allow-net --allow-env --allow-read --allow-sys=hostname examples/backup.ts
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
    const { source: before, version } = backup.status ?? {};
    const source = await ctx.get(ConfigMap, configMap);
    if (!source) throw new Error(`ConfigMap "${configMap}" does not exist`); // tried again after 5, 10, 20, ... s

    if (before && before !== configMap) await mark(before, backup, ctx, null);
    await mark(configMap, backup, ctx, backup.metadata.name);
    const name = childName(backup.metadata.name, "copy");
    const copy = await ctx.applyOwned(backup, ConfigMap.draft({ metadata: { name }, data: source.data ?? {} }));

    if (copy.metadata.resourceVersion !== version) {
      const lastRun = new Date().toISOString();
      await ctx.patchStatus(backup, { source: configMap, copy: name, version: copy.metadata.resourceVersion, lastRun });
      ctx.event(backup, { type: "Normal", reason: "Copied", note: `Copied ${configMap} to ${name}` });
    }
    return Action.requeue({ minutes: everyMinutes });
  })
  .finalizer("example.com/cleanup", async (backup, ctx) => {
    await mark(backup.spec.configMap, backup, ctx, null);
  });

/** Says on a ConfigMap who copies it; null takes that off. One that is gone, or says so already, is left alone. */
async function mark(name: string, backup: Backup, ctx: Context, by: string | null): Promise<void> {
  const source = await ctx.get(ConfigMap, name);
  if (!source || (source.metadata.annotations?.[MARK] ?? null) === by) return;
  await ctx.client.api(ConfigMap).patch(source, { metadata: { annotations: { [MARK]: by } } });
  ctx.log.info("Marked {configMap}", { configMap: name, by, backup: backup.metadata.name });
}

/** The operator. */
export const operator = new Operator("backup-operator")
  .leaderElection("default", "backup-operator")
  .controller(backups);

if (import.meta.main) await operator.main(); // run (default) | manifests | crds | rbac | --help
