import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { formatNumber } from "../_exposition.ts";
import type { Logger } from "../logger.ts";
import { type HistogramOptions, Registry } from "../registry.ts";
import { parseMetrics, type Scrape } from "./_prometheus.ts";

const scrape = async (registry: Registry): Promise<Scrape> => parseMetrics(await registry.text());
const broken = (): never => {
  throw new Error("broken");
};

/** A logger that keeps what it is told. */
function keepingLog(): { log: Logger; said: unknown[] } {
  const said: unknown[] = [];
  const log = { error: (_: string, { what, error }: Record<string, unknown>) => said.push([what, `${error}`]) };
  return { log: log as unknown as Logger, said };
}

Deno.test("Registry.text() writes metrics by name and series by labels, whatever came first", async () => {
  const registry = new Registry();
  const jobs = registry.gauge({ name: "jobs", help: "Jobs\nand a \\.", labelNames: ["queue", "state"] });
  const errors = registry.counter({ name: "errors_total", help: "Errors." });
  const took = registry.histogram({
    name: "took_seconds",
    help: "Time.",
    labelNames: ["of"],
    buckets: [1e-8, 0.5, 1e6],
  });
  jobs.set({ state: "new", queue: "b" }, -1.5);
  jobs.set({ queue: 'a"\\\n', state: "" }, NaN);
  errors.inc();
  errors.inc(2.5);
  took.zero({ of: "b" });
  for (const value of [0.5, 1e-9, 2e6, 7]) took.observe({ of: "a" }, value);
  assertEquals(
    await registry.text(),
    `# HELP errors_total Errors.
# TYPE errors_total counter
errors_total 3.5
# HELP jobs Jobs\\nand a \\\\.
# TYPE jobs gauge
jobs{queue="a\\"\\\\\\n",state=""} NaN
jobs{queue="b",state="new"} -1.5
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{of="a",le="1e-08"} 1
took_seconds_bucket{of="a",le="0.5"} 2
took_seconds_bucket{of="a",le="1e+06"} 3
took_seconds_bucket{of="a",le="+Inf"} 4
took_seconds_sum{of="a"} 2.000007500000001e+06
took_seconds_count{of="a"} 4
took_seconds_bucket{of="b",le="1e-08"} 0
took_seconds_bucket{of="b",le="0.5"} 0
took_seconds_bucket{of="b",le="1e+06"} 0
took_seconds_bucket{of="b",le="+Inf"} 0
took_seconds_sum{of="b"} 0
took_seconds_count{of="b"} 0
`,
  );
  assertEquals(await new Registry().text(), "");
});

Deno.test("Numbers are written as Go writes them", () => {
  for (
    const [value, text] of [
      [0, "0"],
      [1, "1"],
      [0.1, "0.1"],
      [2.5, "2.5"],
      [-3, "-3"],
      [0.001, "0.001"],
      [0.0001, "0.0001"],
      [0.00012345, "0.00012345"],
      [0.00001, "1e-05"],
      [9.999999999999999e-6, "9.999999999999999e-06"],
      [9.999999999999999e-5, "9.999999999999999e-05"],
      [1e-8, "1e-08"],
      [1.5e-7, "1.5e-07"],
      [100_000, "100000"],
      [123_456.789, "123456.789"],
      [999_999.5, "999999.5"],
      [1_000_000, "1e+06"],
      [1_234_567, "1.234567e+06"],
      [2 ** 64 - 1, "1.8446744073709552e+19"],
      [-1e21, "-1e+21"],
      [1e100, "1e+100"],
      [5e-324, "5e-324"],
      [Number.MAX_VALUE, "1.7976931348623157e+308"],
      [Infinity, "+Inf"],
      [-Infinity, "-Inf"],
      [NaN, "NaN"],
    ] as const
  ) {
    assertEquals(formatNumber(value), text);
  }
});

Deno.test("Counters, gauges and histograms without labels start at 0, those with labels when they are recorded", async () => {
  const registry = new Registry();
  const help = "Help.";
  registry.counter({ name: "a_total", help });
  registry.gauge({ name: "b", help });
  registry.histogram({ name: "c", help, buckets: [] });
  const counter = registry.counter({ name: "d_total", help, labelNames: ["x"] });
  registry.gauge({ name: "e", help, labelNames: ["x"] });
  const histogram = registry.histogram({ name: "f", help, labelNames: ["x"] });
  counter.inc({ x: "1" }, 0);
  histogram.zero({ x: "1" });
  const { families } = await scrape(registry);
  const counts = [...families.values()].map(({ name, samples }) => [name, samples.length, samples[0]?.value]);
  assertEquals(counts, [
    ["a_total", 1, 0],
    ["b", 1, 0],
    ["c", 3, 0],
    ["d_total", 1, 0],
    ["e", 0, undefined],
    ["f", 14, 0],
  ]);
});

Deno.test("Gauge goes up and down, and takes infinities and NaN", async () => {
  const registry = new Registry();
  const plain = registry.gauge({ name: "plain", help: "Plain." });
  const named = registry.gauge({ name: "named", help: "Named.", labelNames: ["name"] });
  plain.set(5);
  plain.inc();
  plain.dec(3);
  named.inc({ name: "a" });
  named.dec({ name: "a" }, 0.5);
  named.set({ name: "b" }, -Infinity);
  const after = await scrape(registry);
  assertEquals([after.value("plain"), after.value("named", { name: "a" })], [3, 0.5]);
  assertEquals(after.value("named", { name: "b" }), -Infinity);
});

Deno.test("Histogram.observe() counts a value that is a bound under it, and NaN under no bound", async () => {
  const registry = new Registry();
  const histogram = registry.histogram({ name: "h", help: "H.", buckets: [-1, 0, 2.5, Infinity] });
  const counts = async (): Promise<(number | undefined)[]> => {
    const now = await scrape(registry);
    return [..."-1 0 2.5 +Inf".split(" ").map((le) => now.value("h_bucket", { le })), now.value("h_sum")];
  };
  for (const value of [-1, 0, 2.5, 2.6, Infinity, -5]) histogram.observe(value);
  assertEquals(await counts(), [2, 3, 4, 6, Infinity]);
  histogram.observe(NaN);
  assertEquals(await counts(), [2, 3, 4, 7, NaN]);
});

Deno.test("Series are told apart by all their labels, whatever the values are and the order they come in", async () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: "g", help: "G.", labelNames: ["a", "b"] });
  const pairs = [["x,", "y"], ["x", ",y"], ["x\0", "y"], ["x", "\0y"], ["\uD800", ""], ["", "\uD800"], [
    "",
    "\uDC00\uD800",
  ]];
  for (const [index, [a, b]] of pairs.entries()) gauge.set({ a: a!, b: b! }, index);
  for (const [index, [a, b]] of pairs.entries()) gauge.inc({ b: b!, a: a! }, index);
  const after = await scrape(registry);
  assertEquals(after.size, pairs.length);
  for (const [index, [a, b]] of pairs.entries()) {
    assertEquals(after.value("g", { a: a!.toWellFormed(), b: b!.toWellFormed() }), 2 * index);
  }
});

Deno.test("Any help text, label value and number comes back from the text as it was", async () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom("\\", '"', "\n", "n", "\r", "{", "}", ",", "=", " ", "#", "\u2028", "\0", "\uD800"),
    }),
  );
  const series = fc.record({ a: hostile, b: hostile, value: fc.double() });
  await fc.assert(fc.asyncProperty(hostile, fc.array(series), fc.context(), async (help, all, context) => {
    const registry = new Registry();
    const gauge = registry.gauge({ name: "g", help, labelNames: ["a", "b"] });
    const histogram = registry.histogram({ name: "h", help, labelNames: ["a", "b"] });
    const expected = new Map<string, readonly [values: number[], last: number]>();
    for (const { a, b, value } of all) {
      gauge.set({ a, b }, value);
      histogram.observe({ b, a }, value);
      const key = JSON.stringify([a.toWellFormed(), b.toWellFormed()]);
      expected.set(key, [[...expected.get(key)?.[0] ?? [], value], value]);
    }
    const text = await registry.text();
    context.log(text);
    const after = parseMetrics(text);
    assertEquals(after.families.get("g")?.help, help.toWellFormed());
    assertEquals(after.samples("g").length, expected.size);
    for (const [key, [values, last]] of expected) {
      const [a, b] = JSON.parse(key);
      assertEquals(after.value("g", { a, b })! + 0, last + 0);
      assertEquals(after.value("h_count", { a, b }), values.length);
      assertEquals(after.value("h_bucket", { a, b, le: "0.5" }), values.filter((value) => value <= 0.5).length);
    }
  }));
});

Deno.test("remove() drops the series with these labels and keeps the others", async () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: "g", help: "G.", labelNames: ["namespace", "name", "phase"] });
  for (const name of ["web", "db"]) {
    for (const phase of ["new", "done"]) gauge.set({ namespace: "shop", name, phase }, 1);
  }
  const left = async (): Promise<string[]> =>
    (await scrape(registry)).samples("g").map(({ labels }) => `${labels["name"]} ${labels["phase"]}`);
  gauge.remove({ phase: "new", name: "web", namespace: "shop" });
  assertEquals(await left(), ["db done", "db new", "web done"]);
  gauge.remove({ phase: "new", name: "web", namespace: "elsewhere" });
  gauge.remove({ namespace: "elsewhere" });
  assertEquals((await left()).length, 3);
  gauge.remove({ name: "db", namespace: "shop" });
  assertEquals(await left(), ["web done"]);
  assertThrows(() => gauge.remove({ name: undefined } as never), TypeError, "'name' must be a string");
  assertThrows(() => gauge.remove({ nam: "web" } as never), TypeError, "current value is 'nam'");
  assertEquals(await left(), ["web done"]);
  gauge.remove();
  assertEquals(await left(), []);
});

Deno.test("remove() and reset() of a metric without labels: the one leaves no sample, the other one at 0", async () => {
  const registry = new Registry();
  const counter = registry.counter({ name: "c_total", help: "C." });
  counter.inc(7);
  counter.remove();
  assertEquals((await scrape(registry)).value("c_total"), undefined);
  counter.inc(2);
  assertEquals((await scrape(registry)).value("c_total"), 2);
  counter.reset();
  assertEquals((await scrape(registry)).value("c_total"), 0);
});

Deno.test("B55: A registry is as before when the series of 10,000 objects that came and went are removed", async () => {
  const registry = new Registry();
  const options = { help: "Help.", labelNames: ["namespace", "name"] } as const;
  const metrics = {
    runs: registry.counter({ name: "runs_total", ...options }),
    size: registry.gauge({ name: "size_bytes", ...options }),
    took: registry.histogram({ name: "took_seconds", buckets: [1], ...options }),
  };
  metrics.size.set({ namespace: "shop", name: "stays" }, 1);
  const before = await registry.text();
  for (let object = 0; object < 10_000; object++) {
    const labels = { namespace: "shop", name: `web-${object}` };
    metrics.runs.inc(labels);
    metrics.size.set(labels, object);
    metrics.took.observe(labels, 0.1);
  }
  assertEquals((await scrape(registry)).size, 10_000 * (1 + 1 + 4) + 1);
  for (let object = 0; object < 10_000; object++) {
    for (const metric of Object.values(metrics)) metric.remove({ namespace: "shop", name: `web-${object}` });
  }
  assertEquals(await registry.text(), before);
});

Deno.test("Registry refuses metrics that Prometheus would not read", () => {
  const registry = new Registry();
  registry.histogram({ name: "taken", help: "Taken." });
  registry.counter({ name: "other_sum", help: "Taken." });
  const names = "must be letters, digits, _ and :, no digit first: current value is";
  for (
    const [changes, kind, reason] of [
      [{ name: "" }, TypeError, `Cannot add metric "": 'name' ${names} ""`],
      [{ name: "1st" }, TypeError, `${names} "1st"`],
      [{ name: "a-b" }, TypeError, `${names} "a-b"`],
      [{ name: "a\n" }, TypeError, names],
      [{ name: "é" }, TypeError, names],
      [{ name: undefined }, TypeError, `${names} undefined`],
      [{ name: "taken" }, TypeError, 'its names must be free in the registry: current value is "taken"'],
      [{ name: "taken_sum" }, TypeError, 'current value is "taken_sum"'],
      [{ name: "other" }, TypeError, 'current value is "other_sum"'],
      [{ help: undefined }, TypeError, "'help' must be a string: current value is undefined"],
      [{ labelNames: ["a", "a"] }, TypeError, `current value is [ "a", "a" ]`],
      [{ labelNames: ["a:b"] }, TypeError, "'labelNames' must be"],
      [{ labelNames: ["0"] }, TypeError, "'labelNames' must be"],
      [{ labelNames: [""] }, TypeError, "'labelNames' must be"],
      [{ labelNames: ["__name__"] }, TypeError, "'labelNames' must be"],
      [{ labelNames: ["le"] }, TypeError, "'labelNames' must be"],
      [{ labelNames: [1] }, TypeError, "'labelNames' must be"],
      [{ buckets: [2, 1] }, RangeError, "'buckets' must be finite numbers that ascend: current value is [ 2, 1 ]"],
      [{ buckets: [1, 1] }, RangeError, "'buckets' must be"],
      [{ buckets: [NaN] }, RangeError, "'buckets' must be"],
      [{ buckets: [1, NaN, 2] }, RangeError, "'buckets' must be"],
      [{ buckets: [-Infinity, 1] }, RangeError, "'buckets' must be"],
      [{ buckets: [1, Infinity, Infinity] }, RangeError, "'buckets' must be"],
      [{ buckets: ["1", "2"] }, RangeError, "'buckets' must be"],
    ] as const
  ) {
    const options = { name: "new", help: "New.", ...changes } as unknown as HistogramOptions<string>;
    // Nothing of a refused metric is left behind.
    for (let time = 0; time < 2; time++) {
      assertThrows(() => registry.histogram(options), kind, reason);
    }
  }
  registry.gauge({ name: "new", help: "New.", labelNames: ["le", "constructor"] });
  assertThrows(() => registry.counter({ name: "taken_count", help: "Taken." }), TypeError, '"taken_count"');
});

/** A metric as a program without types sees it. */
type Untyped = Readonly<Record<"inc" | "set" | "observe" | "zero", (...args: readonly unknown[]) => void>>;

Deno.test("Metrics refuse values and labels that are not theirs, and record nothing then", async () => {
  const registry = new Registry();
  const help = "Help.";
  const counter = registry.counter({ name: "c_total", help, labelNames: ["a", "b"] }) as unknown as Untyped;
  const plain = registry.counter({ name: "plain_total", help }) as unknown as Untyped;
  const gauge = registry.gauge({ name: "g", help, labelNames: ["a"] }) as unknown as Untyped;
  const histogram = registry.histogram({ name: "h", help, labelNames: ["constructor"] }) as unknown as Untyped;
  const labels = { a: "1", b: "2" };
  const before = await registry.text();
  const negative = 'Cannot record "c_total": a counter must grow by at least 0: current value is -1';
  for (
    const [call, kind, reason] of [
      [() => counter.inc(labels, -1), RangeError, negative],
      [() => counter.inc(labels, NaN), RangeError, "current value is NaN"],
      [() => counter.inc(labels, "1"), TypeError, 'the value must be a number: current value is "1"'],
      [() => counter.inc({ a: "1" }), TypeError, "label 'b' must be a string: current value is undefined"],
      [() => counter.inc({ a: "1", b: 2 }), TypeError, "label 'b' must be a string: current value is 2"],
      [() => counter.inc({ ...labels, c: "3" }), TypeError, "labels must be a, b: current value is 'c'"],
      [() => counter.inc(), TypeError, "label 'a' must be a string"],
      [() => counter.inc(5), TypeError, "label 'a' must be a string"],
      [() => plain.inc(labels), TypeError, "there must be no labels: current value is 'a'"],
      [() => gauge.set({ a: "1" }), TypeError, "the value must be a number: current value is undefined"],
      [() => histogram.observe({}, 1), TypeError, "label 'constructor' must be a string"],
      [() => histogram.zero({ constructor: "1", le: "2" }), TypeError, "current value is 'le'"],
    ] as const
  ) {
    assertThrows(call, kind, reason);
  }
  assertEquals(await registry.text(), before);
});

Deno.test("The types of a metric know its labels", () => {
  const registry = new Registry();
  const plain = registry.gauge({ name: "plain", help: "Plain." });
  const named = registry.counter({ name: "named_total", help: "Named.", labelNames: ["name"] });
  plain.set(1);
  named.inc({ name: "a" });
  // @ts-expect-error There is a label.
  assertThrows(() => named.inc(), TypeError);
  // @ts-expect-error It has another name.
  assertThrows(() => named.inc({ nam: "a" }), TypeError);
  // @ts-expect-error There is none.
  assertThrows(() => plain.set({ name: "a" }, 1), TypeError);
  // @ts-expect-error A value is missing.
  assertThrows(() => plain.set(), TypeError);
});

Deno.test("Registry.text() asks what is only known at the scrape, all at once", async () => {
  const registry = new Registry();
  const gates = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  let asked = 0;
  for (const [index, { promise }] of gates.entries()) {
    const collect = async (gauge: { set(value: number): void }): Promise<void> => {
      asked++;
      gauge.set(await promise);
    };
    registry.gauge({ name: `gauge_${index}`, help: "Gauge.", collect });
  }
  const text = registry.text();
  assertEquals(asked, 2);
  gates[1]!.resolve(2);
  gates[0]!.resolve(1);
  const after = parseMetrics(await text);
  assertEquals([after.value("gauge_0"), after.value("gauge_1")], [1, 2]);
});

Deno.test("Registry.text() writes the last values of what cannot be collected, and says so once until it can", async () => {
  const { log, said } = keepingLog();
  const registry = new Registry({ log });
  let failing = false;
  registry.gauge({ name: "throws", help: "Throws.", collect: (gauge) => failing ? broken() : gauge.set(1) });
  registry.gauge({
    name: "rejects",
    help: "Rejects.",
    collect: (gauge) => failing ? Promise.reject(new Error("rejected")) : gauge.set(2),
  });
  const before = await registry.text();
  for (let time = 1; time <= 2; time++) {
    failing = true;
    for (let scrape = 0; scrape < 3; scrape++) assertEquals(await registry.text(), before);
    assertEquals(said.splice(0), [["throws", "Error: broken"], ["rejects", "Error: rejected"]]);
    failing = false;
    await registry.text();
  }
  assertStringIncludes(before, "throws 1\n");
});

Deno.test("Registry.include() appends what another registry writes, but for what is here already", async () => {
  const registry = new Registry();
  registry.gauge({ name: "size", help: "Ours." });
  registry.histogram({ name: "took", help: "Ours.", buckets: [] });
  const theirs = `# A comment.
# HELP size Theirs.
# TYPE size gauge
size{a="b"} 5

# HELP their_size Theirs.
# TYPE their_size gauge
their_size{a="b"} 6
# HELP took_count Theirs.
# TYPE took_count gauge
took_count 7`;
  registry.include(() => theirs);
  const other = new Registry();
  other.gauge({ name: "their_size", help: "Another's." });
  other.gauge({ name: "other_size", help: "Another's." });
  registry.include(() => other.text());
  registry.include(() => "");
  const text = await registry.text();
  const { families } = parseMetrics(text);
  assertEquals([...families].map(([name, { help, samples }]) => `${name} ${help} ${samples.length}`), [
    "size Ours. 1",
    "took Ours. 3",
    "their_size Theirs. 1",
    "other_size Another's. 1",
  ]);
  assertEquals(await registry.text(), text);
});

Deno.test("Registry.text() goes on without an included source that fails, and says so once", async () => {
  const { log, said } = keepingLog();
  const registry = new Registry({ log });
  registry.gauge({ name: "size", help: "Ours." });
  const before = await registry.text();
  registry.include(broken);
  registry.include(() => Promise.reject(new Error("rejected")));
  registry.include(() => undefined as never);
  for (let time = 0; time < 3; time++) assertEquals(await registry.text(), before);
  assertEquals(said, [
    ["source 1", "Error: broken"],
    ["source 2", "Error: rejected"],
    ["source 3", "TypeError: Cannot include metrics: a source must answer with text: current value is undefined"],
  ]);
});

Deno.test("Registries share nothing, and have the content type of their text", async () => {
  const [one, other] = [new Registry(), new Registry()];
  one.counter({ name: "c_total", help: "C." }).inc();
  other.counter({ name: "c_total", help: "C." });
  assertEquals((await scrape(other)).value("c_total"), 0);
  assertEquals(one.contentType, "text/plain; version=0.0.4; charset=utf-8");
});
