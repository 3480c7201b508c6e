import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { delay } from "../../delay.ts";
import { Informer } from "../../informer.ts";
import { ConfigMap } from "../../kinds.ts";
import { Thing } from "../_operator.ts";
import { applyAll, makeNamespace } from "./_cluster.ts";
import { Churn, leads, lease, Noting, proxyTo, QUICK, throughProxy } from "./_faults.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

// Watches of ConfigMaps go to etcd itself, where a compaction is felt.
const plane = sharedControlPlane({ flags: { "watch-cache-sizes": "configmaps#0" } });

Deno.test.beforeAll(async () => {
  await using client = plane().client();
  await applyAll(client, [Thing.crd()]);
});

/** What a busy machine may add, in ms. */
const SLACK = 5000;
/** How long a request may take here, in ms. */
const TIMEOUT = 2000;

Deno.test("A leader whose connections stall stops writing, another replica takes over within the lease, and nothing is lost", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await churn.settled("The work of the first leader");
  await using two = new Noting(admin, namespace, "two");

  const stalled = performance.now();
  proxy.stall();
  await churn.round("second");
  const took = await leads(admin, namespace, "two");
  assertGreater(took, QUICK.leaseDuration - QUICK.retryPeriod * 2);
  assertLess(took, QUICK.leaseDuration + SLACK);
  await churn.settled("The work of the second leader");
  const taken = performance.now();
  proxy.flow();
  await churn.round("third");
  await churn.settled("The work after the stall");
  await delay(1500); // In which the first one finds its connections again.
  assertEquals(await lease(admin, namespace), { holder: "two", changes: 1 });
  // What was sent before the stall may have been answered after it; after its term, the first one sends nothing.
  assertEquals(one.written.filter(({ at }) => at > stalled + QUICK.renewDeadline), []);
  assert(two.written.some(({ at }) => at > taken));
});

Deno.test("A frozen connection that comes back before the lease is over costs nothing but time", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using _one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await using _two = new Noting(admin, namespace, "two");
  proxy.stall();
  await churn.round("second");
  await delay(1200);
  proxy.flow();
  assertLess(await churn.settled("The work after the stall"), SLACK);
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });
});

Deno.test("An operator keeps its lease through connections that are reset again and again, and loses nothing", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using _one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await using _two = new Noting(admin, namespace, "two");
  await churn.settled("The work before");
  for (const name of ["second", "third", "fourth"]) {
    const before = proxy.opened;
    proxy.reset();
    await churn.round(name);
    await until("A new connection", () => Promise.resolve(proxy.opened > before));
    await delay(300);
  }
  // The pause before a watch is taken up again: 0.8 s, doubling, with up to as much again.
  assertLess(await churn.settled("The work after the resets"), 2 * 3200 + SLACK);
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });
});

Deno.test("An operator works on, and keeps its lease, over a connection that is slow", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  proxy.delay(150);
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await using _two = new Noting(admin, namespace, "two");
  for (const name of ["second", "third"]) {
    await churn.round(name);
    assertGreater(await churn.settled("The work"), 300); // The event, the write, each way.
  }
  await delay(QUICK.leaseDuration / 2);
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });
  assertEquals(one.codes.filter((code) => code === "<error>"), []);
});

Deno.test("A leader on connections that are half open renews its lease over new ones in time (B02)", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await churn.settled("The work before");
  await using _two = new Noting(admin, namespace, "two");
  const before = proxy.opened;
  proxy.cut();
  await churn.round("second");
  await until("A request that goes unanswered", () => Promise.resolve(one.codes.includes("<error>")));
  await until("Another connection", () => Promise.resolve(proxy.opened > before));
  await delay(QUICK.leaseDuration);
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });
});

Deno.test("A watch on a connection that is half open is taken up on another one within its documented bound (B01, B02)", async () => {
  using time = new FakeTime();
  await using admin = plane().client(undefined, { now: () => Date.now() });
  const namespace = await makeNamespace(admin);
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT, now: () => Date.now() });
  const maps = admin.api(ConfigMap);
  const stop = new AbortController();
  const informer = new Informer(client, ConfigMap, { namespaces: [namespace], now: () => Date.now(), random: () => 0 });
  const run = informer.run(stop.signal);
  /** Moves the clock on until something is so; at most ten ms of real time for each quarter of a second. */
  const moveUntil = async (check: () => boolean, limit: number): Promise<number> => {
    const began = time.now;
    while (!check()) {
      assertLess(time.now - began, limit);
      time.tick(250);
      await time.delay(10);
    }
    return time.now - began;
  };
  try {
    await moveUntil(() => informer.synced, 60_000);
    await maps.create({ metadata: { name: "before", namespace } });
    await moveUntil(() => informer.size === 1, 60_000);
    proxy.cut();
    await maps.delete({ name: "before", namespace });
    await maps.create({ metadata: { name: "after", namespace } });
    // 300 s by the smallest timeoutSeconds, 30 s of slack, one timeout on the dead connection, the first back-off.
    const took = await moveUntil(() => informer.get(`${namespace}/after`) !== undefined, 345_000);
    assertGreater(took, 320_000);
    await moveUntil(() => informer.size === 1, 10_000);
  } finally {
    stop.abort();
    await run;
  }
});

Deno.test("An operator and its lease survive an API server that freezes, and one whose etcd does", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  await using client = plane().client(undefined, { timeout: TIMEOUT });
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await using two = new Noting(client, namespace, "two");
  await churn.settled("The work before");
  for (const etcd of [false, true]) {
    await churn.round(`thing-${etcd}`);
    const paused = performance.now();
    await plane().pause({ etcd });
    // Longer than the lease: nobody can renew it, so nobody may write.
    await delay(QUICK.leaseDuration + 1500);
    const over = performance.now();
    plane().resume();
    assertLess(await churn.settled(`The work after ${etcd ? "etcd" : "kube-apiserver"} froze`), 15_000);
    const sent = [...one.written, ...two.written].filter(({ at }) => at > paused + 3500 && at < over);
    assertEquals(sent, []);
  }
});

Deno.test("A watch that was cut off while etcd was compacted lists again, and tells of what was deleted meanwhile", async () => {
  await using admin = plane().client();
  const namespace = await makeNamespace(admin);
  const maps = admin.api(ConfigMap);
  const draft = (name: string, value: string) => ({ metadata: { name, namespace }, data: { value } });
  await maps.create(draft("stays", "1"));
  await maps.create(draft("goes", "1"));
  await using proxy = await proxyTo(plane());
  await using client = await throughProxy(plane(), proxy, { timeout: TIMEOUT });
  const requests: string[] = [];
  const observed = client.with({ onRequest: ({ code }) => void requests.push(`${code}`) });
  const informer = new Informer(observed, ConfigMap, { namespaces: [namespace] });
  const told: string[] = [];
  using _ = informer.subscribe(({ type, object, initial }) => {
    if (!initial) told.push(`${type} ${object.metadata.name}`);
  });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await informer.whenSynced(AbortSignal.timeout(20_000));
  await until("The watch", () => Promise.resolve(requests.length === 2)); // After the list.

  // Without a compaction the watch goes on where it was cut off: another watch, and no list.
  proxy.reset();
  await maps.create(draft("between", "1"));
  await until("The news", () => Promise.resolve(told.includes("added between")));
  const resumed = requests.filter((code) => code === "200").length;
  assertEquals(resumed, 3);

  proxy.stall();
  proxy.reset();
  await maps.delete({ name: "goes", namespace });
  await maps.patch({ name: "stays", namespace }, { data: { value: "2" } });
  await maps.create(draft("comes", "1"));
  await compact(plane().etcd);
  proxy.flow();
  await until("The deletion", () => Promise.resolve(told.includes("deleted goes")), {
    explain: () => Deno.inspect({ told, requests, problem: informer.problem }),
  });
  await until("The rest", () => Promise.resolve(told.length === 4));
  assertEquals(told.toSorted(), ["added between", "added comes", "deleted goes", "updated stays"]);
  // The watch from a version that is gone, the list, and the watch after it.
  await until("The watch", () => Promise.resolve(requests.filter((code) => code === "200").length > resumed + 1));
  assertEquals(informer.get(`${namespace}/stays`)?.data, { value: "2" });
  stop.abort();
  await run;
});

/** Has etcd forget all revisions before its newest, through its own HTTP gateway. */
async function compact(etcd: string): Promise<void> {
  const call = async (method: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${etcd}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
    const answer = await response.json();
    assert(response.ok, JSON.stringify(answer));
    return answer;
  };
  const { header } = await call("range", { key: btoa("/"), limit: 1 }) as { header: { revision: string } };
  await call("compaction", { revision: header.revision, physical: true });
}
