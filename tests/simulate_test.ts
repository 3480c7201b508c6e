import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import { simulate, SimulationError } from "../testing/mod.ts";
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
