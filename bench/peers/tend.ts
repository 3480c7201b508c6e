/**
 * The benchmark's operator with Tend: a peer of those that are written with other frameworks, and without one.
 *
 * ```sh
 * deno run -A bench/peers/tend.ts crds
 * ```
 *
 * @module
 */
import { z } from "zod";
import { Action, type Context, Controller, customResource, type ObjectOf, Operator } from "@tend/operator";
import { ConfigMap } from "@tend/operator/kinds";
import { assignment, obey, Tally, tell, type Work } from "./_kit.ts";

const { work, workers, namespace, port, lease, kinds, ...expected } = assignment();
const tally = new Tally(expected, tell);

/** The kind; the number tells it from others like it. */
function widget(number: number | "" = "") {
  return customResource({
    group: "bench.example.com",
    version: "v1",
    kind: `Widget${number}`,
    names: { plural: `widgets${number}` },
    spec: z.object({
      index: z.int(),
      revision: z.int().min(1),
      sent: z.number(),
      title: z.string(),
      image: z.string(),
      replicas: z.int(),
      ports: z.array(z.object({ name: z.string(), port: z.int() })),
      env: z.array(z.object({ name: z.string(), value: z.string() })),
      selector: z.record(z.string(), z.string()),
    }),
    status: z.object({ observed: z.int().optional(), message: z.string().optional() }),
  });
}

const Widget = widget();
type Widget = ObjectOf<typeof Widget>;

const RECONCILES: Readonly<Record<Work, (widget: Widget, ctx: Context) => Promise<Action | void> | Action | void>> = {
  noop: () => {},
  status: async (widget, ctx) => {
    const { revision } = widget.spec;
    if (widget.status?.observed === revision) return;
    tally.writes++;
    await ctx.patchStatus(widget, { observed: revision, message: `Observed revision ${revision}` });
  },
  owned: async (widget, ctx) => {
    const { revision, title } = widget.spec;
    tally.writes++;
    const data = { revision: `${revision}`, title };
    await ctx.applyOwned(widget, ConfigMap.draft({ metadata: { name: widget.metadata.name }, data }));
  },
  delay: () => Action.requeue({ hours: 1 }),
};

function controllerOf(kind: typeof Widget): Controller<Widget> {
  const controller = new Controller(kind).concurrency(workers);
  if (work === "owned") controller.owns(ConfigMap);
  return controller.reconcile(async (widget, ctx) => {
    tally.begin(widget.spec);
    try {
      const action = await RECONCILES[work](widget, ctx);
      tally.finish(widget.spec);
      return action;
    } catch (error) {
      tally.errors++;
      throw error;
    }
  });
}

const operator = new Operator("bench-operator").controller(controllerOf(Widget));
for (let each = 2; each <= kinds; each++) {
  operator.controller(controllerOf(widget(each)));
}
if (lease) operator.leaderElection(...lease);

if (import.meta.main) {
  if (Deno.args.length > 0) await operator.main();
  else {
    let ended = false;
    void obey(tally).then(() => {
      ended = true;
      Deno.kill(Deno.pid, "SIGTERM");
    });
    const address = port === 0 ? "0" : `127.0.0.1:${port}`;
    const only = namespace === "" ? [] : ["--namespaces", namespace];
    await operator.main(["run", "--address", address, "--log-level", "warning", ...only]);
    if (!ended) Deno.exit(); // Who waits for standard input would keep the process.
  }
}
