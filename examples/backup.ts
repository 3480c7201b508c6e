/**
 * Keeps a copy of a ConfigMap, renewed on a schedule; marks what it copies, and takes the mark off when the Backup goes.
 *
 *     deno run --allow-net --allow-env --allow-read --allow-sys=hostname examples/backup.ts
 *
 * @module
 */
import { z } from "zod";
import { Action, childName, Controller, customResource, isNotFound, type ObjectOf, Operator } from "@tend/operator";
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
  status: z.object({ copy: z.string().optional(), lastRun: z.iso.datetime().optional() }),
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
    if (!source) throw new Error(`ConfigMap "${configMap}" does not exist`);

    const copy = childName(backup.metadata.name, "copy");
    await ctx.applyOwned(backup, ConfigMap.draft({ metadata: { name: copy }, data: source.data ?? {} }));
    await ctx.client.api(ConfigMap).patch(source, { metadata: { annotations: { [MARK]: backup.metadata.name } } });
    await ctx.patchStatus(backup, { copy, lastRun: new Date().toISOString() });
    ctx.event(backup, { type: "Normal", reason: "Copied", note: `Copied ${configMap} to ${copy}` });
    return Action.requeue({ minutes: everyMinutes });
  })
  .finalizer("example.com/cleanup", async (backup, ctx) => {
    const source = { name: backup.spec.configMap, namespace: backup.metadata.namespace! };
    const unmark = { metadata: { annotations: { [MARK]: null } } };
    await ctx.client.api(ConfigMap).patch(source, unmark).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  });

/** The operator. */
export const operator = new Operator("backup-operator")
  .leaderElection("default", "backup-operator")
  .controller(backups);

if (import.meta.main) await operator.main(); // run (default) | manifests | crds | rbac | --help
