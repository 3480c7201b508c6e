import { assert, assertEquals, assertExists, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Action } from "../action.ts";
import { Controller } from "../controller.ts";
import { LeadershipLostError } from "../errors.ts";
import { ConfigMap, Lease } from "../kinds.ts";
import { Operator } from "../operator.ts";
import { ApiServer } from "../testing/mod.ts";
import { start, Thing, thing, things, writes } from "./_operator.ts";
import { leap } from "./_time.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

async function serverOfThings(): Promise<ApiServer> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), thing("a")]);
  return server;
}

/** The status code of a path of an operator's HTTP server. */
async function probe(port: number, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.body?.cancel();
  return response.status;
}

Deno.test("a stopped operator starts nothing new, lets running reconciles finish and write, then releases the lease (B49, B64)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  await server.apply([thing("b"), thing("c")]);
  const log: string[] = [];
  const operator = new Operator("tester").leaderElection("default", "tester").controller(
    things().concurrency(1).reconcile(async (object, ctx) => {
      log.push(`start ${object.metadata.name}`);
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      await ctx.patchStatus(object, { done: true });
      log.push(`end ${object.metadata.name}`);
    }),
  );
  const running = start(operator, server.client(), time);
  await leap(time, 5_000);
  await running.stop();
  assertEquals(log, ["start a", "end a"]);
  const last = writes(server).at(-1);
  assertEquals(last, `PUT ${LEASE}/tester`, "the release is the last write");
  assertEquals((await server.client().api(Lease).get("tester")).spec?.holderIdentity, "");
});

Deno.test("what still runs when the grace ends is aborted; what ignores that keeps the lease from being released (B49)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  let aborted = 0;
  const stubborn = { is: false };
  const operator = new Operator("tester").leaderElection("default", "tester").controller(
    things().reconcile(async (_object, ctx) => {
      await new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          aborted++;
          if (!stubborn.is) reject(ctx.signal.reason);
        });
      });
    }),
  );
  const first = start(operator, server.client(), time, { shutdownGrace: { seconds: 5 } });
  await leap(time, 3_000);
  const began = Date.now();
  await first.stop();
  assertEquals(aborted, 1);
  assert(Date.now() - began >= 5_000);
  assertEquals((await server.client().api(Lease).get("tester")).spec?.holderIdentity, "");
  assertStringIncludes(
    await operator.metrics.text(),
    `controller_runtime_reconcile_errors_total{controller="thing"} 0`,
  );

  stubborn.is = true;
  const second = start(operator, server.client(), time, { shutdownGrace: { seconds: 5 }, identity: "stubborn" });
  await leap(time, 3_000);
  await assertRejects(() => second.stop(), Error, "ignored their abort");
  assertEquals((await server.client().api(Lease).get("tester")).spec?.holderIdentity, "stubborn");
});

Deno.test("of two replicas one works; the other takes over at once when that is stopped", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const seen: string[] = [];
  const replica = (name: string) => {
    const operator = new Operator("tester").leaderElection("default", "tester")
      .controller(
        things().reconcile(() => {
          seen.push(name);
          return Action.requeue({ seconds: 1 });
        }),
      );
    return start(operator, server.client(), time, { identity: name });
  };
  await using one = replica("one");
  await leap(time, 1_000);
  await using _two = replica("two");
  await leap(time, 30_000);
  assertEquals(new Set(seen), new Set(["one"]));
  await one.stop();
  const stopped = Date.now();
  seen.length = 0;
  await leap(time, 3_000);
  assertEquals(new Set(seen), new Set(["two"]));
  assert(Date.now() - stopped < 4_000, "within a retry period");
});

Deno.test("a replica cut off from the server stops working in time, writes nothing more, and stands again (B48)", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  let cut = false;
  const late: string[] = [];
  const client = server.client();
  const { Client } = await import("../client.ts");
  const cutOff = new Client({
    server: "http://kubernetes",
    fetch: async (request) => {
      if (!cut) return await server.fetch(request);
      late.push(`${Date.now()} ${request.method}`);
      return await new Promise((_resolve, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true })
      );
    },
  });
  const seen: [string, number][] = [];
  const replica = (name: string, of: typeof client) => {
    const operator = new Operator("tester").leaderElection("default", "tester")
      .controller(
        things().reconcile(async (object, ctx) => {
          seen.push([name, Date.now()]);
          await ctx.patchStatus(object, { by: name, at: Date.now() }).catch(() => {});
          return Action.requeue({ seconds: 1 });
        }),
      );
    return start(operator, of, time, { identity: name });
  };
  await using one = replica("one", cutOff);
  await leap(time, 5_000);
  await using two = replica("two", client);
  await leap(time, 5_000);
  cut = true;
  const cutAt = Date.now();
  await leap(time, 40_000);
  const lastOfOne = Math.max(...seen.filter(([name]) => name === "one").map(([, at]) => at));
  const firstOfTwo = Math.min(...seen.filter(([name]) => name === "two").map(([, at]) => at));
  assert(lastOfOne - cutAt <= 10_000, `one worked until ${lastOfOne - cutAt} ms after the cut`);
  assert(firstOfTwo > lastOfOne, "two began after one had ended");
  assert(firstOfTwo - cutAt <= 17_400 + 2_400, `two began ${firstOfTwo - cutAt} ms after the cut`);
  const writesAfter = late.filter((line) => /PATCH|POST/.test(line)).map((line) => Number(line.split(" ")[0]) - cutAt);
  assert(writesAfter.every((at) => at <= 10_000), `writes were sent ${writesAfter} ms after the cut`);

  cut = false;
  seen.length = 0;
  await two.stop();
  await leap(time, 60_000);
  assert(seen.some(([name]) => name === "one"), "one leads again, in the same process");
  await one.stop();
  await cutOff.close();
});

Deno.test("exitOnLoss ends the run with an error instead of standing again", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const operator = new Operator("tester").leaderElection("default", "tester", { exitOnLoss: true })
    .controller(things().reconcile(() => {}));
  await using running = start(operator, server.client(), time);
  await leap(time, 3_000);
  const leases = server.client().api(Lease);
  const lease = await leases.get("tester");
  await leases.replace({ ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
  await leap(time, 20_000);
  await assertRejects(() => running.ended, LeadershipLostError);
});

Deno.test("probes and metrics tell the truth during sync, work and drain (B65)", async () => {
  await using server = await serverOfThings();
  const port = Promise.withResolvers<number>();
  const stop = new AbortController();
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const operator = new Operator("tester").controller(
    things().reconcile(async () => {
      started.resolve();
      await release.promise;
    }),
  );
  const ended = operator.run({
    client: server.client(),
    signals: false,
    signal: stop.signal,
    address: "127.0.0.1:0",
    onListen: (address) => port.resolve(address.port),
  });
  const at = await port.promise;
  await started.promise;
  assertEquals(await probe(at, "/readyz"), 200);
  assertEquals(await probe(at, "/healthz"), 200);
  stop.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(await probe(at, "/readyz"), 503);
  assertEquals(await probe(at, "/healthz"), 200);
  const metrics = await (await fetch(`http://127.0.0.1:${at}/metrics`)).text();
  assertStringIncludes(metrics, `controller_runtime_active_workers{controller="thing"} 1`);
  assertStringIncludes(metrics, "rest_client_requests_total{");
  const verbose = await (await fetch(`http://127.0.0.1:${at}/readyz?verbose`)).text();
  assertStringIncludes(verbose, "[-]shutdown");
  assertStringIncludes(verbose, "[+]watch-things.example.com");
  release.resolve();
  await ended;
  await assertRejects(() => probe(at, "/healthz"), TypeError);
});

Deno.test("readiness names a missing kind, a lost permission and a refused lease (B17, B53, B56)", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ authorization: true });
  const checks = new Map<string, () => unknown>();
  const operator = new Operator("tester").leaderElection("default", "tester")
    .controller(things().reconcile(() => {}))
    .controller(new Controller(ConfigMap).reconcile(() => {}));
  const { HealthServer } = await import("../health.ts");
  const listen = HealthServer.prototype.listen;
  let ready: (() => Promise<string>) | undefined;
  HealthServer.prototype.listen = function () {
    ready = async () => await (await this.handle(new Request("http://x/readyz?verbose"))).text();
    return { hostname: "127.0.0.1", port: 1 };
  };
  try {
    await using _running = start(operator, server.client({ user: "nobody" }), time, { address: "127.0.0.1:1" });
    await leap(time, 10_000);
    const text = await ready!();
    assertStringIncludes(text, "[-]watch-configmaps");
    assertStringIncludes(text, "[-]watch-things.example.com");
    assertStringIncludes(text, "[-]leader-election");
    assertStringIncludes(text, "configmaps");
    assertStringIncludes(text, "list");
    assertEquals(checks.size, 0);
  } finally {
    HealthServer.prototype.listen = listen;
  }
});

Deno.test("two operators in one process share nothing", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const make = (name: string) => new Operator(name).controller(things().reconcile(() => {}));
  const [one, two] = [make("one"), make("two")];
  await using _one = start(one, server.client(), time);
  await leap(time, 1000);
  assertStringIncludes(
    await one.metrics.text(),
    `controller_runtime_reconcile_total{controller="thing",result="success"} 1`,
  );
  assert(
    !(await two.metrics.text()).includes(`controller_runtime_reconcile_total{controller="thing",result="success"} 1`),
  );
});

Deno.test("rules(), kinds() and manifests() need no cluster and ask for the least (B57)", () => {
  const operator = new Operator("tester").leaderElection("lease-space", "tester")
    .controller(things().owns(ConfigMap).finalizer("example.com/x", () => {}).reconcile(() => {}));
  assertEquals(operator.kinds().map((kind) => kind.id), ["things.example.com", "configmaps"]);
  const lines = operator.rules().flatMap(({ apiGroups, resources, verbs, namespace, resourceNames }) =>
    resources.map((resource) =>
      `${namespace ?? "*"} ${apiGroups}/${resource}${resourceNames ? `:${resourceNames}` : ""} ${verbs}`
    )
  );
  assertEquals(lines.sort(), [
    "* /configmaps get,list,watch,create,patch,delete",
    "* events.k8s.io/events create,patch",
    "* example.com/things get,list,watch,patch",
    "* example.com/things/finalizers update",
    "* example.com/things/status patch",
    "lease-space coordination.k8s.io/leases create",
    "lease-space coordination.k8s.io/leases:tester get,update",
  ]);
  const kinds = operator.manifests({ image: "x", namespaces: ["a", "b"], namespace: "a" }).map((object) => object.kind);
  assert(!kinds.includes("ClusterRole"), `a namespaced operator needs no ClusterRole: ${kinds}`);
  assertExists(operator.manifests().find((object) => object.kind === "ClusterRole"));
});

Deno.test("an operator whose credentials cannot be read says so at once instead of trying for ever", async () => {
  const operator = new Operator("tester").controller(things().reconcile(() => {}));
  const connection = { kubeconfig: "/nowhere/kubeconfig" };
  await assertRejects(() => operator.run({ connection, signals: false }), Error, "/nowhere/kubeconfig");
});

Deno.test("a standby's metrics are there at 0", async () => {
  using time = new FakeTime();
  await using server = await serverOfThings();
  const make = () =>
    new Operator("tester").leaderElection("default", "tester").controller(things().reconcile(() => {}));
  await using _leader = start(make(), server.client(), time);
  await leap(time, 3000);
  const standby = make();
  await using _standby = start(standby, server.client(), time);
  await leap(time, 3000);
  const text = await standby.metrics.text();
  assertStringIncludes(text, `controller_runtime_reconcile_total{controller="thing",result="success"} 0`);
  assertStringIncludes(text, `leader_election_master_status{name="tester"} 0`);
  assertStringIncludes(text, `workqueue_adds_total{name="thing",controller="thing"} 0`);
});
