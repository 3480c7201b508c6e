/** Holds what the benchmark calculates and reads; what it measures, it asserts itself. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { epoch } from "../bench/_clock.ts";
import { each } from "../bench/_each.ts";
import { isMet, table } from "../bench/_figures.ts";
import { judged } from "../bench/_goals.ts";
import { widget } from "../bench/_objects.ts";
import { benchOptions, MODES } from "../bench/_options.ts";
import { PEERS } from "../bench/_peers.ts";
import { cpuOf, mebibytesOf, usage } from "../bench/_process.ts";
import { digits, type Measured, type Result, tableOf, valuesOf } from "../bench/_report.ts";
import { countOf, requestCounts, since } from "../bench/_server_requests.ts";
import { percentile, summary } from "../bench/_statistics.ts";
import { assignment, type PeerEvent, Tally } from "../bench/peers/_kit.ts";

function assertNear(actual: number, expected: number, within: number): void {
  assert(Math.abs(actual - expected) <= within, `${actual} is not near ${expected}`);
}

Deno.test("summary() takes the one in the middle, and of two the mean", () => {
  assertEquals(summary([5, 1, 3]), { min: 1, median: 3, max: 5 });
  assertEquals(summary([4, 1, 10, 2]), { min: 1, median: 3, max: 10 });
  assertEquals(summary([7]), { min: 7, median: 7, max: 7 });
  assertThrows(() => summary([]), RangeError);
});

Deno.test("percentile() is the least number that so many per cent are not above", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assertEquals([50, 90, 99, 100].map((percent) => percentile(hundred, percent)), [50, 90, 99, 100]);
  assertEquals([50, 99].map((percent) => percentile([1, 2, 3], percent)), [2, 3]);
  assertEquals(percentile([4], 1), 4);
  assertThrows(() => percentile([], 50), RangeError);
});

Deno.test("Processor time and memory are read from what Linux tells, also of a program with a strange name", () => {
  const stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 3 0 100 1000 200";
  assertEquals(cpuOf(stat), 3);
  assertEquals(mebibytesOf("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n", "VmRSS"), 1);
  assertThrows(() => mebibytesOf("Name:\tx\nState:\tZ (zombie)\n", "VmRSS"), Deno.errors.NotFound);
});

Deno.test({
  name: "The usage of a process is in seconds and MiB",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const { cpu, rss, peak } = usage(Deno.pid);
    assert(cpu > 0.01 && cpu < 3600, `${cpu} s`);
    assertNear(rss, Deno.memoryUsage().rss / 1024 / 1024, 50);
    assert(peak >= rss, `${peak} MiB`);
  },
});

Deno.test("epoch() goes as the system's clock", () => {
  assertNear(epoch(), Date.now(), 100);
});

const METRICS = `# HELP apiserver_request_total [STABLE] Counter
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",group="bench.example.com",resource="widgets",scope="resource",subresource="status",verb="PATCH",version="v1"} 7
apiserver_request_total{code="409",component="apiserver",group="bench.example.com",resource="widgets",scope="resource",subresource="status",verb="PATCH",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="APPLY",version="v1"} 5
apiserver_request_total{code="200",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 3
apiserver_request_total{code="200",component="apiserver",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",version="v1"} 1e+06
apiserver_request_duration_seconds_count{resource="widgets",verb="PATCH"} 99
`;

Deno.test("Requests are counted by verb and resource, whatever their answer", () => {
  const counts = requestCounts(METRICS);
  assertEquals(Object.fromEntries(counts), {
    "PATCH widgets/status": 9,
    "APPLY configmaps": 5,
    "GET configmaps": 3,
    "LIST configmaps": 1e6,
  });
  assertEquals(countOf(counts, ["widgets", "configmaps"], "writes"), 14);
  assertEquals(countOf(counts, ["widgets", "configmaps"], "reads"), 3);
  assertEquals(countOf(counts, ["widgets"], "writes"), 9);
});

Deno.test("Requests between two looks are those that were not there before", () => {
  const later = requestCounts(METRICS.replace("} 7", "} 10"));
  assertEquals(Object.fromEntries(since(requestCounts(METRICS), later)), { "PATCH widgets/status": 3 });
});

Deno.test("Objects have a spec of about 700 bytes, and of 100 kB when they are to be large", () => {
  for (const index of [0, 999, 99_999]) {
    const { length } = JSON.stringify(widget(index).spec);
    assert(length > 650 && length < 750, `${length} bytes`);
  }
  const { length } = JSON.stringify(widget(7, { variables: 950 }));
  assert(length > 95_000 && length < 105_000, `${length} bytes`);
});

Deno.test("each() calls for each number once, not too many at a time", async () => {
  const seen: number[] = [];
  let running = 0, most = 0;
  await each(10, async (index) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    seen.push(index);
    running--;
  }, 3);
  assertEquals(seen.toSorted((a, b) => a - b), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assertEquals(most, 3);
});

function tallied(
  objects: number,
  revision: number,
): { tally: Tally; told: PeerEvent[]; run: typeof Tally.prototype.finish } {
  const told: PeerEvent[] = [];
  const tally = new Tally({ objects, revision }, (event) => told.push(event));
  const run = (counted: Parameters<typeof tally.finish>[0]) => {
    tally.begin(counted);
    tally.finish(counted);
  };
  return { tally, told, run };
}

Deno.test("A tally tells once that all objects are done, each counted once and at its revision or a later one", () => {
  const { tally, told, run } = tallied(2, 3);
  run({ index: 0, revision: 2, sent: 0 });
  run({ index: 0, revision: 3, sent: 0 });
  run({ index: 0, revision: 4, sent: 0 });
  assertEquals(told.map(({ event }) => event), ["first"]);
  run({ index: 5000, revision: 9, sent: 0 });
  run({ index: 5000, revision: 10, sent: 0 });
  assertEquals(told.map(({ event }) => event), ["first", "done"]);
  assertEquals([told[1]!.objects, told[1]!.revision], [2, 3]);
  tally.command("totals");
  assertEquals(told.at(-1), { event: "totals", reconciles: 5, errors: 0, writes: 0 });
});

Deno.test("A tally begins to count again when something else is expected, and tells at once what holds already", () => {
  const { tally, told, run } = tallied(2, 1);
  run({ index: 0, revision: 1, sent: 0 });
  run({ index: 1, revision: 1, sent: 0 });
  tally.command("expect 2 1");
  assertEquals(told.map(({ event }) => event), ["first", "done", "done"]);
  tally.command("expect 2 2");
  run({ index: 1, revision: 2, sent: 0 });
  assertEquals(told.length, 3);
  run({ index: 0, revision: 2, sent: 0 });
  assertEquals(told.map(({ event }) => event), ["first", "done", "done", "done"]);
});

Deno.test("A tally has a latency for each revision that was sent at a time, until it is asked for them", () => {
  const { tally, told, run } = tallied(9, 1);
  run({ index: 0, revision: 1, sent: 0 });
  run({ index: 0, revision: 2, sent: epoch() - 50 });
  run({ index: 0, revision: 2, sent: epoch() - 5000 });
  tally.command("latencies");
  const { ms } = told.at(-1) as PeerEvent & { ms: number[] };
  assertEquals(ms.length, 1);
  assertNear(ms[0]!, 50, 45);
  tally.command("latencies");
  assertEquals(told.at(-1), { event: "latencies", ms: [] });
});

Deno.test("An assignment is read from the environment, with a meaning for what is absent", () => {
  const env: Record<string, string> = { BENCH_OBJECTS: "7", BENCH_LEASE: "a/b", BENCH_RECONCILE: "owned" };
  assertEquals(assignment((name) => env[name]), {
    work: "owned",
    objects: 7,
    revision: 1,
    workers: 16,
    namespace: "",
    port: 0,
    lease: ["a", "b"],
    kinds: 1,
  });
  assertEquals(assignment(() => undefined).lease, undefined);
});

const ran = (peer: Measured["peer"], sample: Measured["sample"]): Measured => ({ peer, sample });
const result = (mode: string, title: string, ...samples: Measured[]): Result => ({ mode, title, samples });

Deno.test("A goal is relative to the median of the other peer, and tells by how much it is missed", () => {
  const goals = judged([
    result(
      "churn",
      "any",
      ...[1, 110, 999].map((cpuPerWrite) => ran("tend", { cpuPerWrite })),
      ...[100, 100, 7].map((cpuPerWrite) => ran("kube-rs", { cpuPerWrite })),
    ),
  ]);
  assertEquals(goals, [{ figure: "churn, any: CPU per write, of kube-rs's", measured: 1.1, unit: "", atMost: 1 }]);
  assert(!isMet(goals[0]!));
  assert(table(goals).includes("MISSED by 10 %"), table(goals));
});

Deno.test("A goal is judged only where its peers have run", () => {
  assertEquals(judged([result("churn", "any", ran("tend", { cpuPerWrite: 1 }))]), []);
  assertEquals(judged([result("churn", "any", ran("kube-rs", { cpuPerWrite: 1 }))]), []);
  assertEquals(judged([result("sync", "1,000 objects", ran("tend", { wall: 1 }), ran("kube-rs", { wall: 1 }))]), []);
});

Deno.test("A goal may be relative to the best of two peers, to the worst, to each, or to none", () => {
  const peers = (sample: Measured["sample"], one: Measured["sample"], other: Measured["sample"]) => [
    ran("tend", sample),
    ran("controller-runtime", one),
    ran("kube-rs", other),
  ];
  const latency = judged([
    result("latency", "any", ...peers({ p50: 6, p99: 9 }, { p50: 4, p99: 9 }, { p50: 8, p99: 18 })),
  ]);
  assertEquals(latency.map(({ measured }) => measured), [1.5, 0.5]);
  const owned = judged([result("owned", "any", ...peers({ wall: 2, writes: 1 }, { wall: 8 }, { wall: 4 }))]);
  assertEquals(owned.map(({ measured, atMost }) => [measured, atMost]), [[1, 1], [0.25, 0.5], [0.5, 0.5]]);
});

Deno.test("Growth is judged by the time for each object, and by the memory for each further one", () => {
  const scaled = (title: string, wall: number, cpu: number, idleRss: number): Result =>
    result("scale", title, ran("tend", { wall, cpu, idleRss, perObject: 3000, perByte: 3 }));
  const goals = judged([
    scaled("10,000 objects", 9, 9, 100),
    scaled("50,000 objects", 5, 2, 150),
    scaled("100,000 objects", 10, 8, 100 + 90_000 * 1250 / 1024 / 1024),
  ]);
  assertEquals(goals.map(({ measured }) => Math.round(measured * 1000) / 1000), [1, 2, 1.25]);
  assertEquals(goals.map(isMet), [true, false, true]);
  assertEquals(judged([scaled("10,000 objects", 9, 9, 100)]), []);
});

Deno.test("A table has the figures in their order, each with its peers and what Tend takes of theirs", () => {
  const text = tableOf(result(
    "sync",
    "10 objects",
    ran("tend", { cpu: 0.5, wall: 1 }),
    ran("limit", { wall: 4, cpu: 0.25 }),
    ran("tend", { cpu: 1.5, wall: 3 }),
    ran("limit", { wall: 4, cpu: 0 }),
  ));
  assertEquals(text.split("\n"), [
    "sync: 10 objects, 2 runs",
    "  figure   peer    min  median   max  tend/peer",
    "  time, s  tend   1.00    2.00  3.00",
    "           limit  4.00    4.00  4.00       0.50",
    "  CPU, s   tend   0.50    1.00  1.50",
    "           limit  0.00    0.13  0.25       8.00",
  ]);
});

Deno.test("What machines get has all runs of each peer", () => {
  const { peers } = valuesOf(
    result("sync", "x", ran("tend", { wall: 1 }), ran("limit", { wall: 2 }), ran("tend", { wall: 3 })),
  );
  assertEquals(peers, { tend: [{ wall: 1 }, { wall: 3 }], limit: [{ wall: 2 }] });
});

Deno.test("Numbers in tables have three digits that tell", () => {
  assertEquals([0, 0.004, 1.234, 12.34, 123.4, 12345.6, -0.5].map(digits), [
    "0.00",
    "0.00",
    "1.23",
    "12.3",
    "123",
    "12,346",
    "-0.50",
  ]);
});

Deno.test("The command line chooses modes and peers in their order, and refuses what it does not know", () => {
  const { modes, peers, runs, sizes, quick } = benchOptions(["--mode", "churn,sync", "--n", "5,10", "--quick"])!;
  assertEquals([modes, peers, runs, sizes, quick], [["sync", "churn"], Object.keys(PEERS), 1, [5, 10], true]);
  assertEquals(benchOptions([])!.modes, MODES);
  assertEquals(benchOptions([])!.runs, 3);
  assertEquals(benchOptions(["--help"]), undefined);
  for (const args of [["--mode", "sing"], ["--peers", "tend,"], ["--n", "0"], ["--runs", "1.5"], ["--bogus"]]) {
    assertThrows(() => benchOptions(args), TypeError);
  }
});
