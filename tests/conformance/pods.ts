/**
 * States what is refused of pods, of what makes pods, and of what sets bounds to them, and what may change of them.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Place, Suite } from "./_suite.ts";
import { deployment, pod } from "./_widget.ts";

const causes = ({ details }: Body): [string, string][] =>
  details.causes.map(({ field, reason }: Body) => [field, reason]);
const fields = (body: Body): string[] => causes(body).map(([field]) => field);

const jobSpec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "nginx" }] } } };
const container = (more: Body = {}): Body => ({ name: "main", image: "nginx", ...more });
const withSpec = (spec: Body): Body => ({ metadata: { name: "a" }, spec: { containers: [container()], ...spec } });

/** Has the server refuse objects, each for the fields beside it. */
async function refusals(
  at: Place,
  path: string,
  cases: readonly (readonly [Body, readonly string[]])[],
): Promise<void> {
  for (const [object, expected] of cases) {
    const { code, body } = await at.send(`POST ${path}`, object);
    assertEquals([code, code === 422 ? fields(body) : body], [422, expected]);
  }
}

/** Registers the behaviours. */
export function pods(suite: Suite): void {
  suite.test("A Job is done only with the conditions and times of one that is", async (at) => {
    await at.ok("POST jobs", { metadata: { name: "a" }, spec: jobSpec });
    const conditions = [{ type: "Complete", status: "True" }];
    const { code, body } = await at.send("merge jobs/a/status", { status: { conditions } });
    assertEquals([code, causes(body).map(([field]) => field).sort()], [422, [
      "status.completionTime",
      "status.conditions",
      "status.startTime",
    ]]);
  });

  suite.test("The parallelism of a Job changes, its completions and template do not", async (at) => {
    const made = await at.ok("POST jobs", { metadata: { name: "a" }, spec: jobSpec });
    assertEquals([made.spec.completions, made.spec.parallelism, made.spec.backoffLimit], [1, 1, 6]);
    assertEquals((await at.ok("merge jobs/a", { spec: { parallelism: 3 } })).metadata.generation, 2);
    assertEquals((await at.refused("merge jobs/a", { spec: { completions: 3 } }))[0], 422);
    const template = { spec: { restartPolicy: "OnFailure" } };
    assertEquals((await at.refused("merge jobs/a", { spec: { template } }))[0], 422);
  });

  suite.test("The time zone of a CronJob is one that there is", async (at) => {
    const cronJobs = `/apis/batch/v1/namespaces/${at.namespace}/cronjobs`;
    const cronJob = (spec: Body) => ({ metadata: { name: "a" }, spec: { jobTemplate: { spec: jobSpec }, ...spec } });
    const zoned = await at.send(`POST ${cronJobs}`, cronJob({ schedule: "@hourly", timeZone: "Nope/Zone" }));
    assertEquals([zoned.code, causes(zoned.body)], [422, [["spec.timeZone", "FieldValueInvalid"]]]);
    assertEquals((await at.send(`POST ${cronJobs}`, cronJob({ schedule: "@hourly", timeZone: "Etc/UTC" }))).code, 201);
  });

  suite.test("A disruption budget is of what must be there, or of what may go, not of both", async (at) => {
    const path = `/apis/policy/v1/namespaces/${at.namespace}/poddisruptionbudgets`;
    const spec = { minAvailable: 1, maxUnavailable: 1 };
    assertEquals((await at.refused(`POST ${path}`, { metadata: { name: "a" }, spec }))[0], 422);
  });

  suite.test("The target of an autoscaler names its group", async (at) => {
    const path = `/apis/autoscaling/v2/namespaces/${at.namespace}/horizontalpodautoscalers`;
    const spec = { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "a" } };
    const { code, body } = await at.send(`POST ${path}`, { metadata: { name: "a" }, spec });
    assertEquals([code, causes(body)], [422, [["spec.scaleTargetRef.apiVersion", "FieldValueInvalid"]]]);
  });

  suite.test("The modes of a volume claim do not change", async (at) => {
    const path = `/api/v1/namespaces/${at.namespace}/persistentvolumeclaims`;
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const made = await at.ok(`POST ${path}`, { metadata: { name: "a" }, spec });
    assertEquals([made.status, made.spec.volumeMode], [{ phase: "Pending" }, "Filesystem"]);
    const { code, body } = await at.send(`merge ${path}/a`, { spec: { accessModes: ["ReadWriteMany"] } });
    assertEquals([code, causes(body)], [422, [["spec", "FieldValueForbidden"]]]);
  });

  suite.test("A container asks for no more than its limit, which is what it asks for by default", async (at) => {
    const limited = (requests?: Body) => {
      const resources = { limits: { cpu: "1" }, ...(requests ? { requests } : {}) };
      return { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "nginx", resources }] } };
    };
    const { code, body } = await at.send("POST pods", limited({ cpu: "2" }));
    assertEquals([code, causes(body)], [422, [["spec.containers[0].resources.requests", "FieldValueInvalid"]]]);
    const made = await at.ok("POST pods", limited());
    assertEquals(made.spec.containers[0].resources.requests, { cpu: "1" });
  });

  suite.test("The numbers and strategies of a Deployment are checked", async (at) => {
    const none = { maxSurge: 0, maxUnavailable: 0 };
    const cases = [
      [{ minReadySeconds: -1 }, "spec.minReadySeconds"],
      [{ replicas: -1 }, "spec.replicas"],
      [{ strategy: { type: "RollingUpdate", rollingUpdate: none } }, "spec.strategy.rollingUpdate.maxUnavailable"],
      [{ strategy: { type: "Nope" } }, "spec.strategy"],
    ] as const;
    for (const [spec, field] of cases) {
      const { code, body } = await at.send("POST deployments", deployment("a", spec));
      assertEquals([code, body.details?.causes?.[0]?.field], [422, field]);
    }
  });

  suite.test("A container has a name, an image, and ports and variables with names of theirs", async (at) => {
    const one = "spec.containers[0]";
    await refusals(at, "pods", [
      [withSpec({ containers: [] }), ["spec.containers"]],
      [withSpec({ containers: [{ name: "A" }] }), [`${one}.name`, `${one}.image`]],
      [withSpec({ containers: [container(), container()] }), ["spec.containers[1].name"]],
      [withSpec({ containers: [container({ ports: [{ containerPort: 0 }, { containerPort: 1, name: "1" }] })] }), [
        `${one}.ports[0].containerPort`,
        `${one}.ports[1].name`,
      ]],
      [withSpec({ containers: [container({ env: [{ name: "a=b" }, { name: "b", valueFrom: {} }] })] }), [
        `${one}.env[0].name`,
        `${one}.env[1].valueFrom`,
      ]],
      [withSpec({ restartPolicy: "Maybe", dnsPolicy: "Maybe" }), ["spec.restartPolicy", "spec.dnsPolicy"]],
    ]);
  });

  suite.test("A container mounts volumes that its pod has, at paths of their own", async (at) => {
    const volumes = [{ name: "data", emptyDir: {} }];
    const mounted = (volumeMounts: Body[]) => withSpec({ volumes, containers: [container({ volumeMounts })] });
    const mount = "spec.containers[0].volumeMounts";
    await refusals(at, "pods", [
      [mounted([{ name: "other", mountPath: "/a" }]), [`${mount}[0].name`]],
      [mounted([{ name: "data", mountPath: "/a" }, { name: "data", mountPath: "/a" }]), [`${mount}[1].mountPath`]],
      [mounted([{ name: "data", mountPath: "/a", subPath: "../b" }]), [`${mount}.subPath`]],
      [withSpec({ volumes: [{ name: "a", emptyDir: {}, secret: { secretName: "b" } }] }), ["spec.volumes[0].secret"]],
      [withSpec({ volumes: [{ name: "a", configMap: {} }] }), ["spec.volumes[0].configMap.name"]],
    ]);
  });

  suite.test("A probe acts in one way, and its numbers fit", async (at) => {
    const probed = (livenessProbe: Body) => withSpec({ containers: [container({ livenessProbe })] });
    const probe = "spec.containers[0].livenessProbe";
    const exec = { command: ["true"] };
    await refusals(at, "pods", [
      [probed({}), [probe]],
      [probed({ exec, httpGet: { port: 80 } }), [`${probe}.httpGet`]],
      [probed({ httpGet: { port: 0 } }), [`${probe}.httpGet.port`]],
      [probed({ exec, periodSeconds: -1 }), [`${probe}.periodSeconds`]],
      [probed({ exec, successThreshold: 2 }), [`${probe}.successThreshold`]],
    ]);
  });

  suite.test("Where a pod may be placed is told in valid rules", async (at) => {
    const spread = { maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Maybe" };
    const at0 = "spec.topologySpreadConstraints[0]";
    await refusals(at, "pods", [
      [withSpec({ topologySpreadConstraints: [spread] }), [
        `${at0}.maxSkew`,
        `${at0}.topologyKey`,
        `${at0}.whenUnsatisfiable`,
      ]],
      [withSpec({ tolerations: [{ key: "a", operator: "Exists", value: "b" }] }), ["spec.tolerations[0].operator"]],
      [withSpec({ nodeSelector: { "a b": "c" } }), ["spec.nodeSelector"]],
    ]);
  });

  suite.test("A pod has the priority of its class, which must be there", async (at) => {
    assertEquals(await at.refused("POST pods", withSpec({ priorityClassName: "nope" })), [403, "Forbidden"]);
    assertEquals(await at.refused("POST pods", withSpec({ priority: 5 })), [403, "Forbidden"]);
    const { spec } = await at.ok("POST pods", withSpec({ priorityClassName: "system-node-critical" }));
    assertEquals([spec.priority, spec.preemptionPolicy], [2_000_001_000, "PreemptLowerPriority"]);
  });

  suite.test("Of a pod's spec only images, the deadline, tolerations and gates change", async (at) => {
    const tolerations = [{ key: "a", operator: "Exists" }];
    await at.ok("POST pods", withSpec({ activeDeadlineSeconds: 100, tolerations }));
    const image = [{ op: "replace", path: "/spec/containers/0/image", value: "nginx:2" }];
    assertEquals((await at.ok("json pods/a", image)).metadata.generation, 2);
    await at.ok("merge pods/a", { spec: { activeDeadlineSeconds: 50 } });
    const cases = [
      [{ activeDeadlineSeconds: 80 }, "spec.activeDeadlineSeconds"],
      [{ restartPolicy: "Never" }, "spec"],
      [{ containers: [container(), container({ name: "b" })] }, "spec.containers"],
      [{ tolerations: [] }, "spec.tolerations"],
      [{ schedulingGates: [{ name: "x" }] }, "spec.schedulingGates[0].name"],
    ] as const;
    for (const [spec, field] of cases) {
      const { code, body } = await at.send("merge pods/a", { spec });
      assertEquals([code, fields(body)], [422, [field]]);
    }
  });

  suite.test("Containers for debugging are put beside those that run, and stay", async (at) => {
    await at.ok("POST pods", pod("a"));
    const line = "strategic pods/a/ephemeralcontainers";
    const added = await at.ok(line, { spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] } });
    assertEquals([added.spec.ephemeralContainers[0].name, added.metadata.generation], ["debug", 2]);
    const again = await at.send(line, { spec: { ephemeralContainers: [{ name: "main", image: "busybox" }] } });
    assertEquals([again.code, causes(again.body)], [422, [[
      "spec.ephemeralContainers[0].name",
      "FieldValueDuplicate",
    ]]]);
    const gone = await at.send("merge pods/a/ephemeralcontainers", { spec: { ephemeralContainers: null } });
    assertEquals([gone.code, fields(gone.body)], [422, ["spec.ephemeralContainers"]]);
  });

  suite.test("What a pod asks for is changed by /resize, how it is served is not", async (at) => {
    const resources = { requests: { cpu: "1" }, limits: { cpu: "2" } };
    await at.ok("POST pods", withSpec({ containers: [container({ resources })] }));
    const resize = (cpu: string, more: Body = {}) =>
      at.send("strategic pods/a/resize", {
        spec: { containers: [{ name: "main", resources: { requests: { cpu } }, ...more }] },
      });
    const { code, body } = await resize("1500m", { image: "other" });
    const [{ image, resources: { requests } }] = body.spec.containers;
    assertEquals([code, image, requests], [200, "nginx", { cpu: "1500m" }]);
    assertEquals((await resize("3")).code, 422);
    const removed = await at.send("json pods/a/resize", [{ op: "remove", path: "/spec/containers/0/resources" }]);
    assertEquals([removed.code, fields(removed.body)[0]], [422, "spec"]);
  });

  suite.test("An eviction is refused where the budget of the pod has no disruption left", async (at) => {
    const labels = { app: "a" };
    const budgets = `/apis/policy/v1/namespaces/${at.namespace}/poddisruptionbudgets`;
    const spec = { minAvailable: 1, selector: { matchLabels: labels } };
    await at.ok(`POST ${budgets}`, { metadata: { name: "b" }, spec });
    await at.ok("POST pods", { ...pod("a"), metadata: { name: "a", labels } });
    const conditions = [{ type: "Ready", status: "True" }];
    await at.ok("merge pods/a/status", { status: { phase: "Running", conditions } });
    const evict = () =>
      at.send("POST pods/a/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } });
    const status = { observedGeneration: 1, expectedPods: 1, desiredHealthy: 1, currentHealthy: 1 };
    await at.ok(`merge ${budgets}/b/status`, { status: { ...status, disruptionsAllowed: 0 } });
    const refused = await evict();
    assertEquals([refused.code, refused.body.details.causes[0].reason], [429, "DisruptionBudget"]);
    await at.ok(`merge ${budgets}/b/status`, { status: { ...status, currentHealthy: 2, disruptionsAllowed: 1 } });
    assertEquals((await evict()).code, 201);
    assertEquals((await at.ok(`GET ${budgets}/b`)).status.disruptionsAllowed, 0);
    assertEquals((await at.send("GET pods/a")).code, 404);
  });

  suite.test("A LimitRange gives pods what they do not ask for, and refuses what is beyond it", async (at) => {
    const limits = [{ type: "Container", max: { cpu: "2" }, default: { cpu: "1" }, defaultRequest: { cpu: "500m" } }];
    await at.ok(`POST /api/v1/namespaces/${at.namespace}/limitranges`, { metadata: { name: "l" }, spec: { limits } });
    const { spec, metadata } = await at.ok("POST pods", pod("a"));
    assertEquals(spec.containers[0].resources, { limits: { cpu: "1" }, requests: { cpu: "500m" } });
    assertEquals(Object.keys(metadata.annotations), ["kubernetes.io/limit-ranger"]);
    const resources = { limits: { cpu: "5" } };
    const { code, body } = await at.send("POST pods?dryRun=All", {
      ...withSpec({ containers: [container({ resources })] }),
      metadata: { name: "b" },
    });
    const message = 'pods "b" is forbidden: maximum cpu usage per Container is 2, but limit is 5';
    assertEquals([code, body.message], [403, message]);
  });

  suite.test("A ResourceQuota counts what is made, and refuses more", async (at) => {
    const quotas = `/api/v1/namespaces/${at.namespace}/resourcequotas`;
    const hard = { pods: "1", "requests.cpu": "1" };
    await at.ok(`POST ${quotas}`, { metadata: { name: "q" }, spec: { hard } });
    await at.ok(`merge ${quotas}/q/status`, { status: { hard, used: { pods: "0", "requests.cpu": "0" } } });
    const asking = (name: string, cpu: string) => ({
      metadata: { name },
      spec: { containers: [container({ resources: { requests: { cpu } } })] },
    });
    assertEquals(await at.refused("POST pods", pod("a")), [403, "Forbidden"]);
    assertEquals(await at.refused("POST pods", asking("a", "2")), [403, "Forbidden"]);
    await at.ok("POST pods", asking("a", "500m"));
    assertEquals((await at.ok(`GET ${quotas}/q`)).status.used, { pods: "1", "requests.cpu": "500m" });
    const { code, body } = await at.send("POST pods", asking("b", "100m"));
    const message = 'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1';
    assertEquals([code, body.message], [403, message]);
  });

  suite.test("A status counts no more parts than the whole", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const status = { replicas: 1, readyReplicas: 2, availableReplicas: 3 };
    const { code, body } = await at.send("merge deployments/a/status", { status });
    const available = "status.availableReplicas";
    assertEquals([code, fields(body)], [422, ["status.readyReplicas", available, available]]);
  });

  suite.test("The service, order and claims of a StatefulSet do not change", async (at) => {
    const sets = `/apis/apps/v1/namespaces/${at.namespace}/statefulsets`;
    const { spec } = deployment("a");
    await at.ok(`POST ${sets}`, { metadata: { name: "a" }, spec: { ...spec, serviceName: "s" } });
    await at.ok(`merge ${sets}/a`, { spec: { replicas: 3, revisionHistoryLimit: 3 } });
    const change = { serviceName: "t", podManagementPolicy: "Parallel" };
    const { code, body } = await at.send(`merge ${sets}/a`, { spec: change });
    assertEquals([code, fields(body)], [422, ["spec.serviceName", "spec.podManagementPolicy"]]);
  });

  suite.test("The policies of a Job ask for what they need of it", async (at) => {
    const job = (more: Body) => ({ metadata: { name: "a" }, spec: { ...jobSpec, ...more } });
    const rules = [{ action: "FailJob", onExitCodes: { operator: "In", values: [0] } }, { action: "FailIndex" }];
    const rule = "spec.podFailurePolicy.rules";
    await refusals(at, "jobs", [
      [job({ podFailurePolicy: { rules } }), [`${rule}[0].onExitCodes.values[0]`, `${rule}[1].action`, `${rule}[1]`]],
      [job({ successPolicy: { rules: [{ succeededCount: 1 }] } }), ["spec.successPolicy"]],
      [job({ backoffLimitPerIndex: 1 }), ["spec.backoffLimitPerIndex"]],
      [job({ completionMode: "Indexed", completions: 2, parallelism: 100_001 }), ["spec.parallelism"]],
    ]);
  });

  suite.test("The pods of a suspended Job may still be placed otherwise", async (at) => {
    await at.ok("POST jobs", { metadata: { name: "a" }, spec: { ...jobSpec, suspend: true } });
    const placed = await at.ok("merge jobs/a", { spec: { template: { spec: { nodeSelector: { disk: "fast" } } } } });
    assertEquals(placed.spec.template.spec.nodeSelector, { disk: "fast" });
    const other = await at.send("merge jobs/a", {
      spec: { template: { spec: { containers: [container({ image: "b" })] } } },
    });
    assertEquals([other.code, fields(other.body)], [422, ["spec.template.spec"]]);
  });

  suite.test("The schedule of a CronJob is read field by field", async (at) => {
    const cronJobs = `/apis/batch/v1/namespaces/${at.namespace}/cronjobs`;
    const send = (schedule: string) =>
      at.send(`POST ${cronJobs}?dryRun=All`, {
        metadata: { name: "a" },
        spec: { jobTemplate: { spec: jobSpec }, schedule },
      });
    for (const schedule of ["0 0 * JAN MON-FRI", "1,2,3-5/2 * * * *", "? * * * *", "@daily", "@every 1h"]) {
      assertEquals((await send(schedule)).code, 201);
    }
    const wrong = ["60 * * * *", "0 0 0 * *", "*/0 * * * *", "5-1 * * * *", "* * * *", "@often", "TZ=UTC * * * * *"];
    for (const schedule of wrong) {
      const { code, body } = await send(schedule);
      assertEquals([schedule, code, causes(body)], [schedule, 422, [["spec.schedule", "FieldValueInvalid"]]]);
    }
  });

  suite.test("A variable that hides another is warned of, in pods and templates", async (at) => {
    const env = [{ name: "A", value: "1" }, { name: "A", value: "2" }];
    const spec = { containers: [container({ env })] };
    const { headers } = await at.send("POST pods", { metadata: { name: "a" }, spec });
    assertEquals(headers.get("warning")!.includes("spec.containers[0].env[1]: hides previous definition"), true);
    const template = { metadata: { labels: { app: "a" } }, spec };
    const made = await at.send("POST deployments", deployment("a", { template }));
    assertEquals(made.headers.get("warning")!.includes("spec.template.spec.containers[0].env[1]: hides"), true);
  });
}
