import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigMap, Secret } from "../kinds.ts";
import { Controller, Operator } from "../mod.ts";
import { simulate, type SimulatedWorld, SimulationError } from "../testing/mod.ts";
import { MISTAKES } from "./simulation/_mistakes.ts";

for (const { what, operator, options } of MISTAKES) {
  Deno.test(`simulate() finds it: ${what.toLowerCase()}`, async () => {
    const error = await assertRejects(() => simulate(() => operator(false), options), SimulationError);
    assert(Object.keys(options.invariants!).includes(error.invariant), error.message);
    assertStringIncludes(error.message, "the shortest story of it");
    const again = await assertRejects(
      () => simulate(() => operator(false), { ...options, replay: error.schedule }),
      SimulationError,
    );
    assert(again.invariant === error.invariant);
  });

  Deno.test(`simulate() finds nothing once it is mended: ${what.toLowerCase()}`, async () => {
    const report = await simulate(() => operator(true), options);
    assert(report.runs > 60 && report.crashes === Math.min(300, report.crashPoints), Deno.inspect(report));
  });
}

Deno.test("simulate() judges writes by the lease duration that the operator has set", async () => {
  const election = { leaseDuration: { seconds: 60 }, renewDeadline: { seconds: 40 }, retryPeriod: { seconds: 2 } };
  const controller = new Controller(ConfigMap, { labelSelector: "copy" }).owns(Secret).reconcile(
    async (config, ctx) => {
      await ctx.applyOwned(
        config,
        Secret.draft({ metadata: { name: config.metadata.name }, stringData: config.data ?? {} }),
      );
    },
  );
  const operator = new Operator("copier").leaderElection("default", "copier", election).controller(controller);
  const change = (value: string) => ({ client }: SimulatedWorld) =>
    client.api(ConfigMap).patch("a", { data: { value } });
  // a leader that is not answered for 25 s still holds this lease, and may write
  const perturbations = Array.from({ length: 40 }, (_, index) => {
    return { at: 20_000 + index * 600, kind: "status", for: 600, replica: 0, amount: 2 } as const;
  });
  const report = await simulate(operator, {
    world: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default", labels: { copy: "" } } },
    actions: { one: change("one"), two: change("two"), three: change("three") },
    replicas: 1,
    replay: {
      seed: 1,
      actions: [{ at: 30_000, index: 0 }, { at: 38_000, index: 1 }, { at: 44_000, index: 2 }],
      perturbations,
    },
  });
  assert(report.runs === 1);
});
