import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { addProcessMetrics, type ProcessSource } from "../_process_metrics.ts";
import { Metrics } from "../metrics.ts";
import { WorkQueue } from "../queue.ts";
import { Registry } from "../registry.ts";
import { denoOk, ROOT } from "./_deno.ts";
import { parseMetrics, type Scrape } from "./_prometheus.ts";

const never = new AbortController().signal;
const scrape = async (metrics: Metrics): Promise<Scrape> => parseMetrics(await metrics.text());

/** One operator with one controller "backup" that has done nothing yet. */
function newMetrics(): Metrics {
  const metrics = new Metrics();
  metrics.controller("backup", 16);
  metrics.queue("backup");
  metrics.leader("backup-operator");
  return metrics;
}

Deno.test("Metrics have controller-runtime's names, types and labels, and start at 0", async () => {
  const { families } = await scrape(newMetrics());
  const shape = [...families.values()].filter(({ name }) => !name.startsWith("process_")).map((family) => {
    const labels = family.samples[0] ? Object.keys(family.samples[0].labels).filter((label) => label !== "le") : [];
    return `${family.type} ${family.name}{${labels}} x${new Set(family.samples.map(({ name }) => name)).size}`;
  });
  assertEquals(shape.sort(), [
    "counter controller_runtime_reconcile_errors_total{controller} x1",
    "counter controller_runtime_reconcile_total{controller,result} x1",
    "counter controller_runtime_terminal_reconcile_errors_total{controller} x1",
    "counter rest_client_requests_total{} x0",
    "counter tend_events_dropped_total{} x1",
    "counter workqueue_adds_total{name,controller} x1",
    "counter workqueue_retries_total{name,controller} x1",
    "gauge controller_runtime_active_workers{controller} x1",
    "gauge controller_runtime_max_concurrent_reconciles{controller} x1",
    "gauge leader_election_master_status{name} x1",
    "gauge workqueue_depth{name,controller,priority} x1",
    "gauge workqueue_longest_running_processor_seconds{name,controller} x1",
    "gauge workqueue_unfinished_work_seconds{name,controller} x1",
    "histogram controller_runtime_reconcile_time_seconds{controller} x3",
    "histogram workqueue_queue_duration_seconds{name,controller} x3",
    "histogram workqueue_work_duration_seconds{name,controller} x3",
  ]);
  const other = [...families.values()].flatMap(({ name, samples }) =>
    name.startsWith("process_") ? [] : samples.filter(({ value }) => value !== 0)
  );
  assertEquals(other.map(({ name, value }) => [name, value]), [["controller_runtime_max_concurrent_reconciles", 16]]);
});

Deno.test("Metrics have controller-runtime's label values", async () => {
  const before = await scrape(newMetrics());
  const values = (name: string, label: string): string[] =>
    before.samples(name).map(({ labels }) => labels[label]!).sort();
  assertEquals(values("controller_runtime_reconcile_total", "result"), [
    "error",
    "requeue",
    "requeue_after",
    "success",
  ]);
  assertEquals(values("workqueue_depth", "priority"), ["-100", "0"]);
  assertEquals(before.samples("workqueue_depth", { name: "backup", controller: "backup" }).length, 2);
});

Deno.test("Metrics have controller-runtime's buckets", async () => {
  const before = await scrape(newMetrics());
  const bounds = (name: string): number[] => before.samples(`${name}_bucket`).map(({ labels }) => Number(labels.le));
  // deno-fmt-ignore
  assertEquals(bounds("controller_runtime_reconcile_time_seconds").slice(0, -1), [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
  ]);
  // What Go's ExponentialBuckets(10e-9, 10, 12) makes of them, rounding errors included.
  // deno-fmt-ignore
  const exponential = [
    1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10, 100, 1000,
  ];
  assertEquals(bounds("workqueue_queue_duration_seconds").slice(0, -1), exponential);
  assertEquals(bounds("workqueue_work_duration_seconds").slice(0, -1), exponential);
});

Deno.test("Metrics.controller() counts reconciles, their errors and how long they took", async () => {
  const metrics = new Metrics();
  const controller = metrics.controller("backup", 4);
  controller.active(1);
  controller.active(1);
  controller.active(-1);
  controller.reconciled("success", 0.02);
  controller.reconciled("requeue_after", 0.3);
  controller.reconciled("error", 2);
  controller.reconciled("error", 100, { terminal: true });
  const after = await scrape(metrics);
  const results = ["success", "requeue_after", "error", "requeue"];
  assertEquals(results.map((result) => after.value("controller_runtime_reconcile_total", { result })), [1, 1, 2, 0]);
  assertEquals(after.value("controller_runtime_reconcile_errors_total"), 2);
  assertEquals(after.value("controller_runtime_terminal_reconcile_errors_total"), 1);
  assertEquals(after.value("controller_runtime_active_workers"), 1);
  assertEquals(after.value("controller_runtime_reconcile_time_seconds_count"), 4);
  assertEquals(after.value("controller_runtime_reconcile_time_seconds_sum"), 102.32);
  assertEquals(after.value("controller_runtime_reconcile_time_seconds_bucket", { le: "60" }), 3);
});

Deno.test("Metrics.controller() and queue() of a name that is known go on counting", async () => {
  const metrics = new Metrics();
  metrics.controller("backup", 4).reconciled("success", 1);
  metrics.controller("backup", 8).reconciled("success", 1);
  metrics.queue("backup").added();
  metrics.queue("backup").taken(1);
  metrics.queue("backup").added();
  const after = await scrape(metrics);
  assertEquals(after.value("controller_runtime_reconcile_total", { result: "success" }), 2);
  assertEquals(after.value("controller_runtime_reconcile_time_seconds_count"), 2);
  assertEquals(after.value("controller_runtime_max_concurrent_reconciles"), 8);
  assertEquals(after.value("workqueue_adds_total"), 2);
  assertEquals(after.value("workqueue_queue_duration_seconds_count"), 1);
});

Deno.test("Metrics.queue() shows what a work queue does, computed at the scrape", async () => {
  using time = new FakeTime(0);
  const metrics = new Metrics();
  const queue = new WorkQueue({ now: () => Date.now(), metrics: metrics.queue("backup") });
  for (const key of ["a", "b", "c"]) queue.add(key);
  queue.add("i", { priority: "initial" });
  queue.add("later", { delay: 60_000 });
  time.tick(2000);
  await queue.next(never);
  time.tick(500);
  await queue.next(never);
  time.tick(250);
  const busy = await scrape(metrics);
  assertEquals(busy.value("workqueue_depth", { priority: "0" }), 1);
  assertEquals(busy.value("workqueue_depth", { priority: "-100" }), 1);
  assertEquals(busy.value("workqueue_adds_total"), 4);
  assertEquals(busy.value("workqueue_retries_total"), 1);
  assertEquals(busy.value("workqueue_unfinished_work_seconds"), 1);
  assertEquals(busy.value("workqueue_longest_running_processor_seconds"), 0.75);
  assertEquals(busy.value("workqueue_queue_duration_seconds_sum"), 4.5);
  assertEquals(busy.value("workqueue_work_duration_seconds_count"), 0);
  queue.done("a");
  const then = await scrape(metrics);
  assertEquals(then.value("workqueue_work_duration_seconds_sum"), 0.75);
  assertEquals(then.value("workqueue_unfinished_work_seconds"), 0.25);
  queue.dispose();
});

Deno.test("Metrics.queue() shows nothing of a disposed queue, and the later queue of the same name", async () => {
  const metrics = new Metrics();
  const first = new WorkQueue({ metrics: metrics.queue("backup") });
  first.add("a");
  await first.next(never);
  first.add("b");
  const second = new WorkQueue({ metrics: metrics.queue("backup") });
  for (const key of ["x", "y", "z"]) second.add(key);
  first.dispose();
  assertEquals((await scrape(metrics)).value("workqueue_depth", { priority: "0" }), 3);
  second.dispose();
  const after = await scrape(metrics);
  assertEquals(after.value("workqueue_depth", { priority: "0" }), 0);
  assertEquals(after.value("workqueue_unfinished_work_seconds"), 0);
});

Deno.test("B55: Metrics have no more series after 10,000 objects than after one", async () => {
  const metrics = newMetrics();
  using queue = new WorkQueue({ metrics: metrics.queue("backup") });
  const controller = metrics.controller("backup", 16);
  const base = (await scrape(metrics)).size;
  for (let object = 0; object < 10_000; object++) {
    const key = `shop/web-${object}`;
    queue.add(key);
    await queue.next(never);
    controller.reconciled(object % 2 ? "success" : "error", 0.001);
    queue.fail(key);
    queue.remove(key);
    queue.done(key);
  }
  assertEquals((await scrape(metrics)).size, base);
});

Deno.test("Metrics.request() counts requests by code, method and host", async () => {
  const metrics = new Metrics();
  const host = "10.0.0.1:443";
  metrics.request({ code: 200, method: "GET", host });
  metrics.request({ code: 200, method: "GET", host });
  metrics.request({ code: "<error>", method: "PATCH", host });
  const after = await scrape(metrics);
  assertEquals(after.value("rest_client_requests_total", { code: "200", method: "GET", host }), 2);
  assertEquals(after.value("rest_client_requests_total", { code: "<error>", method: "PATCH" }), 1);
});

Deno.test("Metrics.leader() and events say who leads and what was given up", async () => {
  const metrics = new Metrics();
  const leader = metrics.leader("backup-operator");
  leader.set(true);
  metrics.events.dropped();
  const during = await scrape(metrics);
  assertEquals(during.value("leader_election_master_status", { name: "backup-operator" }), 1);
  assertEquals(during.value("tend_events_dropped_total"), 1);
  leader.set(false);
  assertEquals((await scrape(metrics)).value("leader_election_master_status"), 0);
});

Deno.test("Metrics of two operators share nothing", async () => {
  const [one, other] = [newMetrics(), newMetrics()];
  one.controller("backup", 1).reconciled("success", 1);
  assertEquals((await scrape(other)).value("controller_runtime_reconcile_total", { result: "success" }), 0);
});

Deno.test("Metrics.registry takes metrics of one's own, whose series can be dropped", async () => {
  const metrics = new Metrics();
  const size = metrics.registry.gauge({ name: "backup_bytes", help: "Size.", labelNames: ["name"] });
  metrics.registry.counter({ name: "odd_total", help: "Two\nlines and a \\." }).inc();
  size.set({ name: 'a "quoted"\\\nname' }, 1.5e300);
  const after = await scrape(metrics);
  assertEquals(after.value("backup_bytes", { name: 'a "quoted"\\\nname' }), 1.5e300);
  assertEquals(after.families.get("odd_total")?.help, "Two\nlines and a \\.");
  size.remove({ name: 'a "quoted"\\\nname' });
  assertEquals((await scrape(metrics)).samples("backup_bytes"), []);
});

Deno.test("Metrics.text() has the content type that it is served with", () => {
  assertEquals(new Metrics().contentType, "text/plain; version=0.0.4; charset=utf-8");
});

// -- The process ------------------------------------------------------------------------------------------------------

const PROC: Readonly<Record<string, string>> = {
  "/proc/self/stat": `7 (a (b) c) R ${Array.from({ length: 49 }, (_, index) => index + 4).join(" ")}\n`,
  "/proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
    "Max open files            1024                 4096                 files     \n" +
    "Max address space         unlimited            unlimited            bytes     \n",
};

function fakeProcess(changes: Partial<ProcessSource> = {}): ProcessSource {
  return {
    cpu: () => 1.5,
    resident: () => 50_000,
    startTime: () => 1_700_000_000.25,
    allowed: () => true,
    readFile: (path) => PROC[path] ?? "",
    countEntries: () => 12,
    ...changes,
  };
}

async function scrapeProcess(source: ProcessSource): Promise<Record<string, number>> {
  const registry = new Registry();
  addProcessMetrics(registry, source);
  await registry.text(); // a second scrape must not add to the first
  const { families } = parseMetrics(await registry.text());
  return Object.fromEntries([...families.values()].flatMap(({ samples }) => samples.map((s) => [s.name, s.value])));
}

Deno.test("Process metrics read what the process and /proc say", async () => {
  assertEquals(await scrapeProcess(fakeProcess()), {
    process_cpu_seconds_total: 1.5,
    process_resident_memory_bytes: 50_000,
    process_start_time_seconds: 1_700_000_000.25,
    process_open_fds: 11,
    process_max_fds: 1024,
    process_virtual_memory_bytes: 23,
    process_virtual_memory_max_bytes: 18446744073709552000,
  });
});

Deno.test("Process metrics leave out what may not be read, cannot be read, or makes no sense", async () => {
  const always = ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"];
  const refuse = (): never => {
    throw new Deno.errors.NotCapable("Requires all access");
  };
  let reads = 0;
  const forbidden = fakeProcess({ allowed: () => false, readFile: () => `${reads++}`, countEntries: () => reads++ });
  for (
    const source of [
      forbidden,
      fakeProcess({ readFile: refuse, countEntries: refuse }),
      fakeProcess({ readFile: () => "nonsense", countEntries: refuse }),
    ]
  ) {
    assertEquals(Object.keys(await scrapeProcess(source)), always);
  }
  assertEquals(reads, 0, "what needs a permission is not even tried: on a terminal Deno would ask for it");
});

Deno.test("Process metrics are those of this process", async () => {
  const now = await scrape(new Metrics());
  assertGreater(now.value("process_cpu_seconds_total")!, 0);
  assertGreater(now.value("process_resident_memory_bytes")!, 10_000_000);
  assert(Math.abs(now.value("process_start_time_seconds")! - Date.now() / 1000) < 86_400);
  if (Deno.build.os === "linux") {
    assertGreater(now.value("process_open_fds")!, 2);
    assertGreater(now.value("process_max_fds")!, now.value("process_open_fds")!);
    assertGreater(now.value("process_virtual_memory_bytes")!, now.value("process_resident_memory_bytes")!);
  }
});

Deno.test("Metrics need no Deno permission at all", async () => {
  const program = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const module = new URL("../metrics.ts", import.meta.url).href;
    const source = `import { Metrics } from ${JSON.stringify(module)};\nconsole.log(await new Metrics().text());\n`;
    await Deno.writeTextFile(program, source);
    const { stdout } = await denoOk(["run", "--no-prompt", "--no-check", "--config", `${ROOT}/deno.json`, program]);
    const now = parseMetrics(stdout);
    assertGreater(now.value("process_resident_memory_bytes")!, 10_000_000);
    assertEquals(now.value("process_open_fds"), undefined);
  } finally {
    await Deno.remove(program);
  }
});

// -- The parser that the tests rely on --------------------------------------------------------------------------------

Deno.test("parseMetrics() refuses what a scrape would stumble over", () => {
  const histogram = (lines: string): string => `# HELP h H.\n# TYPE h histogram\n${lines}`;
  const gauge = "# HELP a A.\n# TYPE a gauge\n";
  for (
    const [text, reason] of [
      [`${gauge}a 1`, "the last line does not end"],
      ["# TYPE a gauge\na 1\n", "a has no HELP"],
      ["# HELP a A.\na 1\n", "a has no TYPE"],
      [`${gauge}${gauge}a 1\n`, "there is a second HELP"],
      ["# HELP a A.\n# TYPE a gage\na 1\n", 'there is no type "gage"'],
      [`${gauge}a one\n`, '"one" is no number'],
      [`${gauge}a{b=1} 1\n`, "the labels are malformed"],
      [`${gauge}a{b="1",b="1"} 1\n`, "the label b is there twice"],
      [`${gauge}a{b="\\x"} 1\n`, '"\\x" is no escape'],
      [`${gauge}a 1\na 1\n`, "is there twice"],
      [`${gauge}a 1\n# HELP b B.\n# TYPE b gauge\nb 1\na{c="1"} 1\n`, "the lines of a are not together"],
      ["# HELP a A.\n# TYPE a counter\na -1\n", "the counter a is -1"],
      [histogram('h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n'), "it has no bucket +Inf"],
      [histogram('h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n'), "its buckets do not accumulate"],
      [histogram('h_bucket{le="2"} 1\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n'), "its bounds do not ascend"],
      [histogram('h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n'), "its count is not that of the bucket +Inf"],
      [histogram('h_bucket{le="+Inf"} 1\nh_count 1\n'), "it has no sum"],
    ] as const
  ) {
    assertThrows(() => parseMetrics(text), SyntaxError, reason);
  }
});
