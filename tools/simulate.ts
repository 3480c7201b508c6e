/**
 * Simulates a whole operator with many seeds, and tells the shortest story of what it does not survive.
 *
 *     deno task simulate [--seeds N] [--from S] [--scenario NAME] [--first] [--trace] [--brief]
 *
 * A seed draws a scenario's operator, what its user does and what goes wrong. `--first` stops at the first seed that fails;
 * `--trace` tells the whole story of the seed `--from`; `--brief` tells none. Ends with the number of seeds that passed and failed.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { storyOf } from "../testing/simulation/_report.ts";
import { shorten } from "../testing/simulation/_search.ts";
import { simulateOnce } from "../testing/simulation/_simulation.ts";
import { planOf, SCENARIOS, scheduleOf } from "../tests/simulation/scenarios.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    first: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
  },
});
const count = Number(values.seeds), from = Number(values.from);
const names = values.scenario === undefined ? Object.keys(SCENARIOS) : [values.scenario];
const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown !== undefined || !(count > 0) || !Number.isInteger(from)) {
  console.error(
    `Cannot simulate: --scenario must be one of ${Object.keys(SCENARIOS).join(", ")}, --seeds and --from numbers`,
  );
  Deno.exit(2);
}

const started = performance.now();
let passed = 0, failed = 0, requests = 0, virtual = 0;
for (let seed = from; seed < from + count; seed++) {
  const scenario = names[seed % names.length]!;
  const schedule = scheduleOf(scenario, seed);
  const outcome = await simulateOnce(planOf(scenario, seed), schedule, { trace: values.trace });
  requests += outcome.requests;
  virtual += outcome.took;
  if (values.trace) console.log(storyOf(outcome.trace).join("\n"));
  const [violation] = outcome.violations;
  if (!violation) {
    passed++;
    continue;
  }
  failed++;
  console.log(`FAILED: scenario ${scenario}, seed ${seed}: ${violation.invariant}: ${violation.text}`);
  if (failed <= 3 && !values.brief) {
    const { outcome } = await shorten(() => planOf(scenario, seed), schedule, violation.invariant);
    console.log(`The shortest story of it:\n${storyOf(outcome.trace).join("\n")}`);
  }
  console.log(`Again: deno task simulate --scenario ${scenario} --from ${seed} --seeds 1 --trace`);
  if (values.first) break;
}
const seconds = (performance.now() - started) / 1000;
const speed = `${((passed + failed) / seconds).toFixed(1)} seeds a second, ${
  (requests / (passed + failed)).toFixed(0)
} requests each`;
console.log(`${(virtual / 3_600_000).toFixed(1)} hours of virtual time in ${seconds.toFixed(0)} s: ${speed}`);
console.log(`${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
