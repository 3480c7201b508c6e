/** An operator to send signals to: what its reconciles do is said by the objects' spec. */
import { delay } from "../delay.ts";
import { Operator } from "../operator.ts";
import { things } from "./_operator.ts";

const worker = things().concurrency(10).reconcile(async (object, ctx) => {
  const { mode, ms = 0 } = object.spec as { mode?: string; ms?: number };
  await ctx.patchStatus(object, { started: true });
  if (mode === "forget") void Promise.reject(new Error("forgotten"));
  if (mode === "never") await new Promise(() => {});
  if (mode === "obey") await delay(600_000, ctx.signal);
  await delay(ms);
  await ctx.patchStatus(object, { done: true });
});

if (import.meta.main) {
  await new Operator("worker")
    .leaderElection("default", "worker", { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 500 })
    .controller(worker)
    .main();
}
