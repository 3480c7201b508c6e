import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { operator as websiteOperator } from "../examples/website.ts";
import { ApiServer, type ApiServerOptions } from "../testing/mod.ts";
import { spans } from "../testing/_workloads_jobs.ts";
import { hashOf, resolve } from "../testing/_workloads_kit.ts";
import { type Body, send } from "./_api.ts";
import { leap } from "./_time.ts";

const APPS = "/apis/apps/v1/namespaces/default";
const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const PODS = "/api/v1/namespaces/default/pods";
const START = "2026-01-01T00:00:00Z";

function template(image = "web:1", more: Body = {}): Body {
  return { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }], ...more } };
}

function spec(replicas: number, more: Body = {}): Body {
  return { replicas, selector: { matchLabels: { app: "web" } }, template: template(), ...more };
}

/** A server with workloads, which meets changes after 100 ms. */
function start(options: ApiServerOptions = {}): ApiServer {
  let seed = 1;
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
  return new ApiServer({
    random,
    controllers: ["garbage-collector", "workloads"],
    controllerDelay: 100,
    ...options,
  });
}

async function get(server: ApiServer, path: string): Promise<Body> {
  const { code, body } = await send(server, `GET ${path}`);
  assertEquals(code, 200, JSON.stringify(body));
  return body;
}

async function pods(server: ApiServer): Promise<Body[]> {
  return (await get(server, PODS)).items;
}

async function names(server: ApiServer, path = PODS): Promise<string[]> {
  return (await get(server, path)).items.map(({ metadata }: Body) => metadata.name);
}

async function post(server: ApiServer, path: string, name: string, body: Body): Promise<Body> {
  const answer = await send(server, `POST ${path}`, { metadata: { name }, ...body });
  assertEquals(answer.code, 201, JSON.stringify(answer.body));
  return answer.body;
}

function conditions({ status }: Body): Record<string, string> {
  const all: Body[] = status.conditions ?? [];
  return Object.fromEntries(all.map(({ type, status, reason }) => [type, [status, reason].filter(Boolean).join(" ")]));
}

Deno.test("ApiServer leaves workloads alone unless it is asked to run them", async () => {
  using time = new FakeTime(START);
  await using server = new ApiServer({ controllers: ["garbage-collector", "namespaces"] });
  await post(server, `${APPS}/deployments`, "web", { spec: spec(1) });
  await post(server, PODS, "alone", { spec: template().spec });
  time.tick(60_000);
  assertEquals((await get(server, `${APPS}/deployments/web`)).status, {});
  assertEquals((await pods(server)).map(({ status }) => status.phase), ["Pending"]);
});

Deno.test("Workloads make a Deployment ready after four delays: ReplicaSet, pods, their start, the status", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", { spec: spec(2) });
  time.tick(100);
  const [set] = (await get(server, `${APPS}/replicasets`)).items;
  assertEquals(set.metadata.name, `web-${set.metadata.labels["pod-template-hash"]}`);
  assertEquals(set.spec.selector.matchLabels, { app: "web", "pod-template-hash": set.metadata.name.slice(4) });
  assertEquals(set.metadata.annotations, {
    "deployment.kubernetes.io/desired-replicas": "2",
    "deployment.kubernetes.io/max-replicas": "3",
    "deployment.kubernetes.io/revision": "1",
  });
  assertEquals(set.metadata.ownerReferences[0].name, "web");
  const created = await get(server, `${APPS}/deployments/web`);
  assertEquals(conditions(created), {
    Available: "False MinimumReplicasUnavailable",
    Progressing: "True NewReplicaSetCreated",
  });
  assertEquals(created.status.observedGeneration, 1);
  time.tick(100);
  assertEquals((await pods(server)).map(({ status }) => status.phase), ["Pending", "Pending"]);
  time.tick(100);
  for (const pod of await pods(server)) {
    assertEquals([pod.status.phase, conditions(pod).Ready], ["Running", "True"]);
    assertMatch(pod.status.podIP, /^10\.244\.0\.[12]$/);
    assertEquals(pod.spec.nodeName, "node");
    assertMatch(pod.metadata.name, new RegExp(`^${set.metadata.name}-[a-z0-9]{5}$`));
  }
  time.tick(100);
  const ready = await get(server, `${APPS}/deployments/web`);
  const { conditions: _, ...status } = ready.status;
  assertEquals(status, {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    terminatingReplicas: 0,
  });
  assertEquals(conditions(ready), {
    Available: "True MinimumReplicasAvailable",
    Progressing: "True NewReplicaSetAvailable",
  });
  assertEquals([ready.metadata.generation, ready.metadata.annotations], [1, {
    "deployment.kubernetes.io/revision": "1",
  }]);
  const managers = ready.metadata.managedFields.map(({ manager, subresource }: Body) => [manager, subresource]);
  assertEquals(managers, [["kube-controller-manager", "status"], ["tester", undefined]]);
  const version = server.resourceVersion;
  time.tick(3600_000);
  assertEquals(server.resourceVersion, version, "nothing is written when nothing changes");
});

Deno.test("Workloads scale a Deployment up, down and to nothing", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", { spec: spec(1) });
  for (const replicas of [3, 2, 0, 1]) {
    time.tick(5000);
    await send(server, `merge ${APPS}/deployments/web/scale`, { spec: { replicas } });
    time.tick(5000);
    const { status, metadata } = await get(server, `${APPS}/deployments/web`);
    assertEquals([status.replicas ?? 0, status.readyReplicas ?? 0], [replicas, replicas]);
    assertEquals(status.observedGeneration, metadata.generation);
    assertEquals((await pods(server)).length, replicas);
    assertEquals((await names(server, `${APPS}/replicasets`)).length, 1);
  }
});

Deno.test("Workloads roll a new template out within maxSurge and maxUnavailable, and back to the old ReplicaSet", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", {
    spec: spec(4, { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } } }),
  });
  time.tick(2000);
  const [first] = await names(server, `${APPS}/replicasets`);
  for (const [image, revision] of [["web:2", "2"], ["web:1", "3"]] as const) {
    await send(server, `strategic ${APPS}/deployments/web`, {
      spec: { template: { spec: { containers: [{ name: "web", image }] } } },
    });
    for (let step = 0; step < 60; step++) {
      time.tick(50);
      const all = await pods(server);
      const live = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      assert(live.length <= 5, `${live.length} pods`);
      assert(live.filter((pod) => conditions(pod).Ready === "True").length >= 3, "too few are ready");
    }
    const { status, metadata } = await get(server, `${APPS}/deployments/web`);
    assertEquals([status.replicas, status.updatedReplicas, status.availableReplicas], [4, 4, 4]);
    assertEquals(metadata.annotations["deployment.kubernetes.io/revision"], revision);
    assertEquals(status.conditions[1].reason, "NewReplicaSetAvailable");
    assertEquals((await pods(server)).map((pod) => pod.spec.containers[0].image), [image, image, image, image]);
  }
  const sets = (await get(server, `${APPS}/replicasets`)).items;
  assertEquals(sets.length, 2);
  assertEquals(sets.find(({ spec }: Body) => spec.replicas === 4).metadata.name, first);
});

Deno.test("Workloads recreate the pods of a Deployment only when the old ones are gone, and keep few old ReplicaSets", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", {
    spec: spec(2, { strategy: { type: "Recreate" }, revisionHistoryLimit: 1 }),
  });
  time.tick(2000);
  for (const image of ["web:2", "web:3", "web:4"]) {
    await send(server, `strategic ${APPS}/deployments/web`, {
      spec: { template: { spec: { containers: [{ name: "web", image }] } } },
    });
    for (let step = 0; step < 30; step++) {
      time.tick(100);
      assert(new Set((await pods(server)).map((pod) => pod.spec.containers[0].image)).size <= 1);
    }
    const { status } = await get(server, `${APPS}/deployments/web`);
    assertEquals([status.replicas, status.updatedReplicas, status.readyReplicas], [2, 2, 2]);
  }
  assertEquals((await names(server, `${APPS}/replicasets`)).length, 2);
});

Deno.test("Workloads replace pods that failed or were deleted, and adopt those that nobody controls", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, PODS, "orphan", { metadata: { name: "orphan", labels: { app: "web" } }, spec: template().spec });
  await post(server, `${APPS}/replicasets`, "web", { spec: spec(2) });
  time.tick(2000);
  const before = await names(server);
  assertEquals([before.length, before.includes("orphan")], [2, true]);
  await send(server, `merge ${PODS}/orphan/status`, { status: { phase: "Failed" } });
  await send(server, `DELETE ${PODS}/${before.find((name) => name !== "orphan")}`);
  time.tick(2000);
  const after = await pods(server);
  assertEquals(after.map(({ status }) => status.phase).sort(), ["Failed", "Running", "Running"]);
  assertEquals((await get(server, `${APPS}/replicasets/web`)).status, {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    terminatingReplicas: 0,
    observedGeneration: 1,
  });
});

Deno.test("Workloads count pods as available after minReadySeconds", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", { spec: spec(1, { minReadySeconds: 30 }) });
  time.tick(29_000);
  const early = await get(server, `${APPS}/deployments/web`);
  assertEquals([early.status.readyReplicas, early.status.availableReplicas], [1, undefined]);
  time.tick(3000);
  assertEquals((await get(server, `${APPS}/deployments/web`)).status.availableReplicas, 1);
});

Deno.test("Workloads say that a rollout without progress exceeded its deadline", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", {
    spec: spec(1, {
      progressDeadlineSeconds: 60,
      template: template("web:1", { schedulingGates: [{ name: "a.b/c" }] }),
    }),
  });
  time.tick(50_000);
  assertEquals(conditions(await get(server, `${APPS}/deployments/web`)).Progressing, "True ReplicaSetUpdated");
  time.tick(15_000);
  assertEquals(conditions(await get(server, `${APPS}/deployments/web`)).Progressing, "False ProgressDeadlineExceeded");
});

Deno.test("Workloads change nothing but the size of a paused Deployment", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, `${APPS}/deployments`, "web", { spec: spec(1) });
  time.tick(2000);
  await send(server, `strategic ${APPS}/deployments/web`, {
    spec: { paused: true, replicas: 2, template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  });
  time.tick(2000);
  assertEquals((await pods(server)).map((pod) => pod.spec.containers[0].image), ["web:1", "web:1"]);
  const paused = await get(server, `${APPS}/deployments/web`);
  assertEquals([conditions(paused).Progressing, paused.status.updatedReplicas], ["False DeploymentPaused", undefined]);
  await send(server, `merge ${APPS}/deployments/web`, { spec: { paused: false } });
  time.tick(3000);
  const resumed = await get(server, `${APPS}/deployments/web`);
  assertEquals([conditions(resumed).Progressing, resumed.status.updatedReplicas], ["True NewReplicaSetAvailable", 2]);
});

Deno.test("Workloads go with their owner when garbage is collected, in the background and in the foreground", async () => {
  using time = new FakeTime(START);
  await using server = start();
  for (const propagationPolicy of ["Background", "Foreground"]) {
    await post(server, `${APPS}/deployments`, "web", { spec: spec(2) });
    time.tick(2000);
    await send(server, `DELETE ${APPS}/deployments/web`, { propagationPolicy });
    time.tick(3000);
    assertEquals(await names(server, `${APPS}/deployments`), []);
    assertEquals(await names(server, `${APPS}/replicasets`), []);
    assertEquals(await names(server), []);
  }
});

Deno.test("Workloads start the pods of a StatefulSet in order, with claims, and update them from the last", async () => {
  using time = new FakeTime(START);
  await using server = start();
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  await post(server, `${APPS}/statefulsets`, "db", {
    spec: spec(3, { serviceName: "db", volumeClaimTemplates: [claim] }),
  });
  const seen: string[] = [];
  for (let step = 0; step < 30; step++) {
    time.tick(100);
    const now = (await pods(server)).map((pod) => `${pod.metadata.name} ${pod.status.phase}`).join();
    if (now !== seen.at(-1)) seen.push(now);
  }
  assertEquals(seen, [
    "db-0 Pending",
    "db-0 Running,db-1 Pending",
    "db-0 Running,db-1 Running,db-2 Pending",
    "db-0 Running,db-1 Running,db-2 Running",
  ]);
  const { status } = await get(server, `${APPS}/statefulsets/db`);
  const revision = status.currentRevision;
  assertEquals(status, {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    availableReplicas: 3,
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
  });
  assertEquals(await names(server, "/api/v1/namespaces/default/persistentvolumeclaims"), [
    "data-db-0",
    "data-db-1",
    "data-db-2",
  ]);
  const [first] = await pods(server);
  assertEquals([first.spec.hostname, first.spec.subdomain], ["db-0", "db"]);
  assertEquals(first.metadata.labels["apps.kubernetes.io/pod-index"], "0");

  await send(server, `strategic ${APPS}/statefulsets/db`, {
    spec: {
      updateStrategy: { rollingUpdate: { partition: 1 } },
      template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
    },
  });
  const order = new Set<string>();
  for (let step = 0; step < 40; step++) {
    time.tick(100);
    for (const pod of await pods(server)) if (pod.spec.containers[0].image === "web:2") order.add(pod.metadata.name);
  }
  assertEquals([...order], ["db-2", "db-1"]);
  const half = (await get(server, `${APPS}/statefulsets/db`)).status;
  assertEquals([half.updatedReplicas, half.currentReplicas, half.readyReplicas], [2, 1, 3]);
  await send(server, `merge ${APPS}/statefulsets/db`, {
    spec: { updateStrategy: { rollingUpdate: { partition: 0 } } },
  });
  time.tick(3000);
  const whole = (await get(server, `${APPS}/statefulsets/db`)).status;
  assertEquals([whole.updatedReplicas, whole.currentRevision === whole.updateRevision], [3, true]);
  await send(server, `merge ${APPS}/statefulsets/db/scale`, { spec: { replicas: 1 } });
  time.tick(3000);
  assertEquals(await names(server), ["db-0"]);
});

Deno.test("Workloads give a DaemonSet one pod for each node that it selects, and replace them one by one", async () => {
  using time = new FakeTime(START);
  await using server = start();
  const { replicas: _, ...daemon } = spec(0, { template: template("web:1", { nodeSelector: { disk: "ssd" } }) });
  await post(server, `${APPS}/daemonsets`, "agent", { spec: daemon });
  time.tick(1000);
  assertEquals((await get(server, `${APPS}/daemonsets/agent`)).status, {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
    observedGeneration: 1,
  });
  for (const [name, disk] of [["a", "ssd"], ["b", "ssd"], ["c", "hdd"]]) {
    await post(server, "/api/v1/nodes", name!, { metadata: { name, labels: { disk } } });
  }
  time.tick(2000);
  assertEquals((await pods(server)).map((pod) => pod.spec.nodeName).sort(), ["a", "b"]);
  assertEquals((await get(server, `${APPS}/daemonsets/agent`)).status, {
    currentNumberScheduled: 2,
    numberMisscheduled: 0,
    desiredNumberScheduled: 2,
    numberReady: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
  });
  await send(server, `strategic ${APPS}/daemonsets/agent`, {
    spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  });
  for (let step = 0; step < 30; step++) {
    time.tick(100);
    assert((await pods(server)).filter((pod) => conditions(pod).Ready === "True").length >= 1);
  }
  assertEquals((await pods(server)).map((pod) => pod.spec.containers[0].image), ["web:2", "web:2"]);
  await send(server, "DELETE /api/v1/nodes/b");
  time.tick(1000);
  assertEquals((await pods(server)).map((pod) => pod.spec.nodeName), ["a"]);
});

Deno.test("Workloads complete a Job when its pods have succeeded, with no more at once than its parallelism", async () => {
  using time = new FakeTime(START);
  await using server = start();
  const job = { completions: 5, parallelism: 2, template: { spec: { ...template().spec, restartPolicy: "Never" } } };
  await post(server, JOBS, "sum", { spec: { ...job, completionMode: "Indexed", ttlSecondsAfterFinished: 60 } });
  let most = 0;
  for (let step = 0; step < 30; step++) {
    time.tick(100);
    most = Math.max(most, (await pods(server)).filter(({ status }) => status.phase !== "Succeeded").length);
  }
  assertEquals(most, 2);
  const { status } = await get(server, `${JOBS}/sum`);
  assertEquals([status.succeeded, status.active, status.ready, status.completedIndexes], [5, undefined, 0, "0-4"]);
  assertEquals(conditions({ status }), {
    SuccessCriteriaMet: "True CompletionsReached",
    Complete: "True CompletionsReached",
  });
  assertEquals(status.startTime, START);
  assertEquals(status.completionTime, "2026-01-01T00:00:00Z");
  time.tick(65_000);
  assertEquals(await names(server, JOBS), []);
  assertEquals(await names(server), []);
});

Deno.test("Workloads fail a Job whose pods failed too often, and hold one that is suspended", async () => {
  using time = new FakeTime(START);
  await using server = start();
  const job = { template: { spec: { ...template().spec, restartPolicy: "Never" } } };
  await post(server, JOBS, "bad", { spec: { ...job, backoffLimit: 1 } });
  for (let attempt = 0; attempt < 2; attempt++) {
    time.tick(100);
    const pending = (await pods(server)).find(({ status }) => status.phase === "Pending");
    await send(server, `merge ${PODS}/${pending.metadata.name}/status`, { status: { phase: "Failed" } });
  }
  time.tick(1000);
  const { status } = await get(server, `${JOBS}/bad`);
  assertEquals([status.failed, conditions({ status }).Failed], [2, "True BackoffLimitExceeded"]);

  await post(server, JOBS, "held", { spec: { ...job, suspend: true } });
  time.tick(1000);
  const held = await get(server, `${JOBS}/held`);
  assertEquals([conditions(held).Suspended, held.status.startTime], ["True JobSuspended", undefined]);
  await send(server, `merge ${JOBS}/held`, { spec: { suspend: false } });
  time.tick(2000);
  assertEquals(conditions(await get(server, `${JOBS}/held`)).Complete, "True CompletionsReached");
});

Deno.test("Workloads hold a pod that no node takes, and its readiness until its gates pass", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await post(server, "/api/v1/nodes", "full", { spec: { unschedulable: true } });
  const readinessGates = [{ conditionType: "example.com/ready" }];
  await post(server, PODS, "a", { spec: { ...template().spec, readinessGates } });
  time.tick(1000);
  const held = await get(server, `${PODS}/a`);
  assertEquals([held.status.phase, conditions(held).PodScheduled], ["Pending", "False Unschedulable"]);
  await send(server, "merge /api/v1/nodes/full", { spec: { unschedulable: null } });
  time.tick(1000);
  const gated = await get(server, `${PODS}/a`);
  assertEquals([gated.status.phase, conditions(gated).Ready, gated.spec.nodeName], ["Running", "False", "full"]);
  const condition = { type: "example.com/ready", status: "True" };
  await send(server, `strategic ${PODS}/a/status`, { status: { conditions: [condition] } });
  time.tick(1000);
  assertEquals(conditions(await get(server, `${PODS}/a`)).Ready, "True");
});

Deno.test("The same seed gives the same workloads, byte for byte", async () => {
  const run = async (): Promise<string> => {
    using time = new FakeTime(START);
    await using server = start();
    await post(server, `${APPS}/deployments`, "web", { spec: spec(3) });
    await post(server, `${APPS}/statefulsets`, "db", { spec: spec(2, { serviceName: "db" }) });
    time.tick(3000);
    return JSON.stringify([await pods(server), await get(server, `${APPS}/deployments`)]);
  };
  assertEquals(await run(), await run());
});

Deno.test("The Website example becomes ready on a server that runs workloads, and follows its scale, under fake time", async () => {
  using time = new FakeTime(START);
  await using server = start();
  await server.apply(websiteOperator.crds());
  const stop = new AbortController();
  const ended = websiteOperator.run({ client: server.client(), signal: stop.signal, now: () => Date.now() });
  const path = "/apis/example.com/v1/namespaces/default/websites";
  await post(server, path, "home", {
    apiVersion: "example.com/v1",
    kind: "Website",
    spec: { html: "<h1>Hi</h1>", replicas: 2 },
  });
  for (const replicas of [2, 3]) {
    await send(server, `merge ${path}/home`, { spec: { replicas } });
    await leap(time, 10_000);
    const home = await get(server, `${path}/home`);
    assertEquals([conditions(home).Ready, home.status.readyReplicas], ["True AllServersReady", replicas]);
  }
  stop.abort();
  await leap(time, 1000);
  await ended;
});

Deno.test("Workloads round percentages, spell indexes and hash templates as the real controllers mean it", () => {
  assertEquals([resolve("25%", 3, "up"), resolve("25%", 3, "down"), resolve(2, 3, "up")], [1, 0, 2]);
  assertEquals(spans([0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
  assertEquals(hashOf({ a: 1, b: [2] }), hashOf({ b: [2], a: 1 }));
  assert(hashOf({ a: 1 }) !== hashOf({ a: 1 }, 1));
  assertMatch(hashOf({}), /^[bcdfghjklmnpqrstvwxz2456789]+$/);
});
