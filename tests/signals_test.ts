import { assert, assertEquals, assertGreater, assertLess, assertRejects } from "@std/assert";
import { Lease } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { type OperatorProcess, ready, startProcess } from "./control_plane/_process.ts";
import { until } from "./control_plane/_wait.ts";
import { ROOT } from "./_deno.ts";
import { Thing, thing } from "./_operator.ts";

/** What a busy machine may add to any time, in ms. */
const SLACK = 2_000;
/** What an operator may take to end once its work has, in ms. */
const ENDING = 1_000 + SLACK;

/** An API server on a port, and how to run workers against it. */
interface World extends AsyncDisposable {
  readonly server: ApiServer;
  /** Starts a worker. */
  worker(...args: string[]): Promise<OperatorProcess>;
  /** Creates a thing that makes its reconcile behave so. */
  create(name: string, spec: Record<string, unknown>): Promise<void>;
  /** Waits until a thing's status has a field. */
  reaches(name: string, field: string): Promise<void>;
  /** The status of a thing. */
  status(name: string): Promise<Record<string, unknown>>;
  /** Who holds the lease. */
  holder(): Promise<string | undefined>;
}

async function world(): Promise<World> {
  const server = new ApiServer();
  const { kubeconfig } = await server.listen();
  await server.apply([Thing.crd()]);
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig);
  const client = server.client();
  const api = client.api<Thing>(Thing as never);
  const status: World["status"] = async (name) => (await api.get(name)).status ?? {};
  return {
    server,
    status,
    worker: (...args) => {
      const flags = ["--no-prompt", "--allow-net=127.0.0.1", `--allow-read=${folder}`];
      const program = { file: `${ROOT}/tests/_worker.ts`, flags };
      return startProcess({ program, kubeconfig: `${folder}/kubeconfig` }, args);
    },
    create: async (name, spec) => void await server.apply([thing(name, spec)]),
    reaches: async (name, field) => void await until(`"${field}" of ${name}`, async () => (await status(name))[field]),
    holder: async () => (await client.api(Lease).find("worker"))?.spec?.holderIdentity,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** How long something takes, in ms, and what it answers with. */
async function timed<T>(work: Promise<T>): Promise<{ ms: number; value: T }> {
  const started = performance.now();
  const value = await work;
  return { ms: performance.now() - started, value };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`B64, B65: ${signal} turns readiness off at once, liveness never, lets a running reconcile finish and write, and ends with code 0`, async () => {
    await using w = await world();
    await using worker = await w.worker("--identity=one");
    await w.create("slow", { ms: 3_000 });
    await w.reaches("slow", "started");
    await ready(worker);

    worker.kill(signal);
    const readiness = await timed(
      until("The end of readiness", async () => (await worker.get("/readyz")).status === 503),
    );
    assertLess(readiness.ms, SLACK, "before the work ends");
    await w.create("late", {});
    while ((await w.status("slow"))["done"] === undefined) {
      const [live, readyz, metrics] = await Promise.all(["/healthz", "/readyz", "/metrics"].map((p) => worker.get(p)));
      assertEquals([live!.status, readyz!.status, metrics!.status], [200, 503, 200]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { ms, value: { code, signal: by } } = await timed(worker.ended());
    assertEquals([code, by], [0, null]);
    assertLess(ms, ENDING, "the process ends by itself once its work has");
    assertEquals(await w.status("late"), {}, "nothing new is started");
    assertEquals(
      worker.log.filter(({ level }) => !["info", "debug"].includes(level)),
      [],
      "an orderly end is no error",
    );
    assertEquals(await w.holder(), "", "the lease is released");
    await assertRejects(() => fetch(`${worker.address}/healthz`), TypeError);
  });
}

Deno.test("B64: A second signal ends the process at once with code 1", async () => {
  await using w = await world();
  for (const [first, second] of [["SIGTERM", "SIGTERM"], ["SIGINT", "SIGTERM"], ["SIGINT", "SIGINT"]] as const) {
    await using worker = await w.worker("--no-leader-elect");
    const name = `never-${first}-${second}`.toLowerCase();
    await w.create(name, { mode: "never" });
    await w.reaches(name, "started");
    worker.kill(first);
    await until("The drain", async () => (await worker.get("/readyz")).status === 503);
    worker.kill(second);
    const { ms, value: { code } } = await timed(worker.ended());
    assertEquals(code, 1);
    assertLess(ms, ENDING);
  }
});

Deno.test("B64: A stop before the first sync ends the process with code 0, if the server does not answer or is not there", async () => {
  for (const trouble of ["stalled", "gone", "refused"]) {
    await using w = await world();
    if (trouble === "stalled") w.server.faults.add({ verb: "list" }, { stall: true });
    if (trouble === "refused") w.server.faults.add({ verb: "list" }, { code: 403, reason: "Forbidden" });
    if (trouble === "gone") await w.server.close();
    for (const args of [[], ["--no-leader-elect"]]) {
      await using worker = await w.worker(...args);
      assertEquals((await worker.get("/readyz")).status, 503, "not before the first sync");
      assertEquals((await worker.get("/healthz")).status, 200);
      worker.kill("SIGTERM");
      const { ms, value: { code } } = await timed(worker.ended());
      assertEquals(code, 0, `${trouble} ${args}`);
      assertLess(ms, ENDING, `${trouble} ${args}`);
    }
  }
});

Deno.test("B64: A reconcile that obeys its abort after the grace lets the process end with code 0, and is no error", async () => {
  await using w = await world();
  await using worker = await w.worker("--shutdown-grace=1");
  await w.create("obeys", { mode: "obey" });
  await w.reaches("obeys", "started");
  worker.kill("SIGTERM");
  const { ms, value: { code } } = await timed(worker.ended());
  assertEquals(code, 0);
  assertGreater(ms, 900);
  assertLess(ms, 1_000 + ENDING);
  assertEquals(worker.log.filter(({ level }) => level !== "info"), []);
  assertEquals(await w.holder(), "");
});

Deno.test("B64: A reconcile that never ends is given up after the grace: code 1, and the lease is kept until it runs out", async () => {
  await using w = await world();
  await using worker = await w.worker("--shutdown-grace=1", "--identity=stubborn");
  await w.create("never", { mode: "never" });
  await w.reaches("never", "started");
  worker.kill("SIGTERM");
  const { ms, value: { code } } = await timed(worker.ended());
  assertEquals(code, 1);
  assertGreater(ms, 900);
  assertLess(ms, 3_000 + ENDING, "grace, and a second for what obeys late");
  assertEquals(worker.log.at(-1)!.level, "fatal");
  assert(
    worker.log.at(-1)!.error!.message.includes("reconciles ignored their abort after the 'shutdownGrace' of 1000 ms"),
  );
  assertEquals(await w.holder(), "stubborn");
});

Deno.test("An idle operator ends within a second of SIGTERM", async () => {
  await using w = await world();
  await using worker = await w.worker();
  await w.create("quick", {});
  await w.reaches("quick", "done");
  worker.kill("SIGTERM");
  const { ms, value: { code } } = await timed(worker.ended());
  assertEquals(code, 0);
  assertLess(ms, ENDING);
});

Deno.test("B22: A promise that nobody awaits is logged, and neither ends the process nor fails its reconcile", async () => {
  await using w = await world();
  await using worker = await w.worker("--no-leader-elect");
  await w.create("forgets", { mode: "forget" });
  await w.reaches("forgets", "done");
  await w.create("next", {});
  await w.reaches("next", "done");
  const errors = worker.log.filter(({ level }) => level === "error");
  assertEquals(errors.map(({ message, error }) => [message, error!.message]), [
    ["A promise that nobody awaits was rejected", "forgotten"],
  ]);
  assertEquals(await worker.stop(), 0);
});

Deno.test("B48: After kill -9 of the leader the second process takes over when the lease has run out, and works on", async () => {
  await using w = await world();
  await using one = await w.worker("--identity=one");
  await w.create("first", {});
  await w.reaches("first", "done");
  await using two = await w.worker("--identity=two");
  await ready(two);
  assertEquals(await w.holder(), "one");

  one.kill("SIGKILL");
  assertEquals((await one.ended()).signal, "SIGKILL");
  await w.create("second", {});
  const { ms } = await timed(w.reaches("second", "done"));
  assertEquals(await w.holder(), "two");
  assertGreater(ms, 2_500, "not while the lease may still be held");
  assertLess(ms, 4_000 + 600 + SLACK, "lease duration and retry period");
  assertEquals(await two.stop(), 0);
  assertEquals(await w.holder(), "");
});
