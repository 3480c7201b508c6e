/** An operator for tests of failover: while it leads, it writes into each thing's status again and again. */
import { Action } from "../../action.ts";
import { Operator } from "../../operator.ts";
import { things } from "../_operator.ts";

let beats = 0;

const operator = new Operator("replica")
  .leaderElection("default", "replica", { leaseDuration: 4000, renewDeadline: 3000, retryPeriod: 400 })
  .controller(
    things().reconcile(async (object, ctx) => {
      await ctx.patchStatus(object, { beat: ++beats });
      return Action.requeue(250);
    }),
  );

if (import.meta.main) await operator.main();
