import { assert, assertEquals } from "@std/assert";
import { indexCount } from "../testing/_jobs_indexes.ts";
import { qosClass } from "../testing/_pods_admission.ts";
import { thousandths } from "../testing/_quantity.ts";
import { isTimeZone, scheduleProblem } from "../testing/_schedules.ts";
import { ApiServer } from "../testing/mod.ts";
import { type Body, send } from "./_api.ts";

const PODS = "/api/v1/namespaces/default/pods";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";

const metadata = { name: "a" };
const container = (more: Body = {}): Body => ({ name: "main", image: "nginx", ...more });
const pod = (spec: Body): Body => ({ metadata, spec: { containers: [container()], ...spec } });
const texts = (body: Body): string[] => body.details.causes.map(({ field, message }: Body) => `${field}: ${message}`);

/** Has a server refuse objects, each in the words beside it. */
async function refusals(path: string, cases: readonly (readonly [Body, readonly string[]])[]): Promise<void> {
  await using server = new ApiServer();
  for (const [object, causes] of cases) {
    const { code, body } = await send(server, `POST ${path}`, object);
    assertEquals([code, texts(body)], [422, causes]);
  }
}

Deno.test("ApiServer refuses pods in the real server's words, with the causes in its order", async () => {
  const of = (more: Body) => pod({ containers: [container(more)] });
  const one = "spec.containers[0]";
  await refusals(PODS, [
    [of({ ports: [{ containerPort: 80, hostPort: 80 }, { containerPort: 81, hostPort: 80 }] }), [
      `${one}.ports[1].hostPort: Duplicate value: "TCP//80"`,
    ]],
    [of({ resources: { requests: { cpu: "1.5", "example.com/gpu": "1" }, limits: { cpu: "1" } } }), [
      `${one}.resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1`,
      `${one}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
    ]],
    [of({ lifecycle: { preStop: { sleep: { seconds: 50 } } } }), [
      `${one}.lifecycle.preStop.sleep: Invalid value: 50: must be non-negative and less than ` +
      "terminationGracePeriodSeconds (30)",
    ]],
    [of({ volumeMounts: [{ name: "x", mountPath: "" }] }), [
      `${one}.volumeMounts[0].name: Not found: "x"`,
      `${one}.volumeMounts[0].mountPath: Required value`,
    ]],
    [of({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.x" } } }] }), [
      `${one}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label ` +
      "not supported: spec.x",
    ]],
    [pod({ initContainers: [container({ name: "first", readinessProbe: { exec: { command: ["x"] } } })] }), [
      "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without " +
      "restartPolicy=Always",
    ]],
    [pod({ volumes: [{ name: "a", projected: { sources: [{ serviceAccountToken: { expirationSeconds: 5 } }] } }] }), [
      "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify " +
      "a duration less than 10 minutes",
      "spec.volumes[0].projected.path: Required value",
      "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when " +
      "serviceAccountName is not set",
    ]],
    [pod({ hostUsers: false, hostNetwork: true }), ["spec.hostNetwork: Forbidden: when `hostUsers` is false"]],
    [pod({ securityContext: { seccompProfile: { type: "Localhost" } } }), [
      "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
    ]],
  ]);
});

Deno.test("ApiServer leaves spaces around an image to templates, and refuses them in pods", async () => {
  await using server = new ApiServer();
  const spec = { containers: [container({ image: " x " })] };
  assertEquals((await send(server, `POST ${PODS}`, { metadata, spec })).code, 422);
  const template = { metadata: { labels: { app: "a" } }, spec };
  const set = { metadata, spec: { selector: { matchLabels: { app: "a" } }, template } };
  assertEquals((await send(server, `POST ${APPS}/replicasets`, set)).code, 201);
});

Deno.test("ApiServer checks the numbers, strategies and claims of workloads", async () => {
  const labels = { app: "a" };
  const base = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod({}).spec } };
  const of = (more: Body) => ({ metadata, spec: { ...base, ...more } });
  await refusals(`${APPS}/deployments`, [
    [of({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } }), [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ]],
    [of({ progressDeadlineSeconds: 5, minReadySeconds: 5 }), [
      "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds",
    ]],
  ]);
  await refusals(`${APPS}/daemonsets`, [
    [of({ updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } }), [
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
    ]],
  ]);
  await refusals(`${APPS}/statefulsets`, [
    [of({ volumeClaimTemplates: [{ metadata: { name: "d" }, spec: {} }] }), [
      "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
      "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
    ]],
  ]);
});

Deno.test("ApiServer lets a Job be done once, with all that belongs to it", async () => {
  await using server = new ApiServer();
  const job = { metadata, spec: { template: { spec: { ...pod({}).spec, restartPolicy: "Never" } } } };
  await send(server, `POST ${BATCH}/jobs`, job);
  const status = (value: Body) => send(server, `merge ${BATCH}/jobs/a/status`, { status: value });
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" }));
  const done = { startTime: "2024-01-01T00:00:00Z", completionTime: "2024-01-01T00:01:00Z", conditions };
  assertEquals(texts((await status({ ...done, completionTime: "2023-01-01T00:00:00Z" })).body), [
    'status.completionTime: Invalid value: "2023-01-01T00:00:00Z": must be equal to or after `startTime`',
  ]);
  assertEquals((await status({ ...done, succeeded: 1 })).code, 200);
  assertEquals(texts((await status({ succeeded: 0 })).body), [
    "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
  ]);
  assertEquals(texts((await status({ completionTime: null, conditions: [] })).body), [
    "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
    "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
  ]);
});

Deno.test("ApiServer counts no pod against a quota that it does not store", async () => {
  await using server = new ApiServer();
  const quotas = "/api/v1/namespaces/default/resourcequotas";
  const hard = { pods: "1" };
  await send(server, `POST ${quotas}`, { metadata: { name: "q" }, spec: { hard } });
  await send(server, `merge ${quotas}/q/status`, { status: { hard, used: { pods: "0" } } });
  assertEquals((await send(server, `POST ${PODS}?dryRun=All`, pod({}))).code, 201);
  assertEquals((await send(server, `POST ${PODS}`, pod({ dnsPolicy: "X" }))).code, 422);
  assertEquals((await send(server, `GET ${quotas}/q`)).body.status.used, { pods: "0" });
  assertEquals((await send(server, `POST ${PODS}`, pod({}))).code, 201);
  const { metadata: { managedFields }, status } = (await send(server, `GET ${quotas}/q`)).body;
  assertEquals(status.used.pods, "1");
  assert(managedFields.some(({ manager }: Body) => manager === "kube-apiserver"));
});

Deno.test("scheduleProblem() reads schedules as the real server does", () => {
  const cases = [
    ["0 0 * JAN MON-FRI", undefined],
    ["@every 1h30m", undefined],
    ["0 24 * * *", "end of range (24) above maximum (23): 24"],
    ["0 0 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["1/2/3 * * * *", "too many slashes: 1/2/3"],
    ["@every x", 'failed to parse duration @every x: time: invalid duration "x"'],
    ["@often", "unrecognized descriptor: @often"],
    ["TZ=Nope/Zone 0 0 * * *", "provided bad location Nope/Zone: unknown time zone Nope/Zone"],
    ["* *", "expected exactly 5 fields, found 2: [* *]"],
  ] as const;
  for (const [schedule, problem] of cases) assertEquals(scheduleProblem(schedule), problem);
});

Deno.test("isTimeZone() knows zones by the names of the database, in their case", () => {
  for (const name of ["Europe/Berlin", "Etc/UTC", "UTC", "America/Argentina/Buenos_Aires", "US/Pacific"]) {
    assert(isTimeZone(name), name);
  }
  for (const name of ["europe/berlin", "Nope/Zone", "+01:00", "../x", ""]) assert(!isTimeZone(name), name);
});

Deno.test("indexCount() counts the indexes of a Job, or says what is wrong with them", () => {
  assertEquals(indexCount("0-2,5", 6), 4);
  assertEquals(indexCount("", 6), 0);
  assertEquals(indexCount("3,1", 6), "non-increasing order, previous: 3, current: 1");
  assertEquals(indexCount("0-6", 6), 'too large index: "6"');
  assertEquals(indexCount("x", 6), 'cannot convert string to integer for index: "x"');
});

Deno.test("qosClass() compares amounts, not texts", () => {
  const of = (requests: Body, limits: Body) => qosClass({ containers: [{ resources: { requests, limits } }] });
  assertEquals(of({ cpu: "1", memory: "1Gi" }, { cpu: "1000m", memory: "1024Mi" }), "Guaranteed");
  assertEquals(of({ cpu: "1" }, { cpu: "1" }), "Burstable");
  assertEquals(of({ cpu: "0" }, {}), "BestEffort");
});

Deno.test("thousandths() rounds a quantity up", () => {
  assertEquals(["100u", "1500001n", "1"].map(thousandths), ["1m", "2m", "1"]);
});
