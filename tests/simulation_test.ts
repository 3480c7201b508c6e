import { assertEquals, assertNotEquals } from "@std/assert";
import type { Outcome } from "../testing/simulation/_plan.ts";
import { simulateOnce } from "../testing/simulation/_simulation.ts";
import { planOf, SCENARIOS, scheduleOf } from "./simulation/scenarios.ts";

const SEEDS = 200;

function simulateSeed(scenario: string, seed: number, trace = false): Promise<Outcome> {
  return simulateOnce(planOf(scenario, seed), scheduleOf(scenario, seed), { trace });
}

for (const [index, scenario] of Object.keys(SCENARIOS).entries()) {
  const count = Math.ceil(SEEDS / Object.keys(SCENARIOS).length);
  Deno.test(`An operator survives ${count} seeds of the scenario "${scenario}"`, async () => {
    for (let seed = 1 + index * count; seed <= (index + 1) * count; seed++) {
      const { violations } = await simulateSeed(scenario, seed);
      const again = `deno task simulate --scenario ${scenario} --from ${seed} --seeds 1`;
      assertEquals(violations, [], `seed ${seed}; for its story: ${again}`);
    }
  });
}

Deno.test("A simulation is the same for the same seed, to the last line of its story, and another for another", async () => {
  const [one, same, other] = [
    await simulateSeed("anything", 4, true),
    await simulateSeed("anything", 4, true),
    await simulateSeed("anything", 5, true),
  ];
  assertEquals(same.trace, one.trace);
  assertEquals(one.trace.length > 100, true);
  assertNotEquals(other.trace, one.trace);
});
