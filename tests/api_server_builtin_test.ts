import { assertEquals } from "@std/assert";
import * as kinds from "../kinds.ts";
import { Resource } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { type Body, send } from "./_api.ts";

const CORE = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";
const INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
const AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

const metadata = { name: "a" };
const selector = { matchLabels: { app: "a" } };
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "nginx" }] } };
const job = (restartPolicy?: string) => ({
  template: { spec: { ...(restartPolicy ? { restartPolicy } : {}), containers: template.spec.containers } },
});
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };

Deno.test("ApiServer serves every kind of kinds.ts", async () => {
  await using server = new ApiServer();
  const resources = Object.values(kinds).filter((each) => each instanceof Resource);
  const answers: [string, number, string][] = [];
  for (const { apiVersion, kind, plural } of resources) {
    const { code, body } = await send(
      server,
      `GET /${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}/${plural}`,
    );
    answers.push([`${apiVersion} ${kind}`, code, body.kind]);
  }
  assertEquals(answers, resources.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, 200, `${kind}List`]));
});

Deno.test("ApiServer refuses built-in objects in the real server's words", async () => {
  const path = (pathType?: string) => ({
    path: "/",
    ...(pathType ? { pathType } : {}),
    backend: { service: { name: "s", port: { number: 80 } } },
  });
  const cases: [string, Body, string[]][] = [
    [`${APPS}/deployments`, { spec: { template } }, [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ]],
    [`${APPS}/deployments`, { spec: { selector, template, strategy: { type: "Recreate", rollingUpdate: {} } } }, [
      "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ]],
    [`${BATCH}/jobs`, { spec: job() }, [
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ]],
    [`${BATCH}/cronjobs`, { spec: { schedule: "x", jobTemplate: { spec: job("Never") } } }, [
      'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]',
    ]],
    [INGRESSES, { spec: {} }, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
    [INGRESSES, { spec: { rules: [{ http: { paths: [path()] } }] } }, [
      "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified",
    ]],
    [AUTOSCALERS, { spec: { scaleTargetRef, maxReplicas: 0 } }, [
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
      "spec.maxReplicas: Required value",
    ]],
    [`${CORE}/secrets`, { type: "kubernetes.io/basic-auth" }, [
      "data[username]: Required value",
      "data[password]: Required value",
    ]],
    [`${CORE}/secrets`, { type: "kubernetes.io/service-account-token" }, [
      "metadata.annotations[kubernetes.io/service-account.name]: Required value",
    ]],
    [`${CORE}/configmaps`, { data: { "..": "x" } }, ["data[..]: Invalid value: \"..\": must not be '..'"]],
    [`${CORE}/configmaps`, { metadata: { name: "a", finalizers: ["x"] } }, [
      'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ]],
  ];
  await using server = new ApiServer();
  for (const [at, object, causes] of cases) {
    const { code, body } = await send(server, `POST ${at}`, { metadata, ...object });
    const found = body.details.causes.map(({ field, message }: Body) => `${field}: ${message}`);
    assertEquals([code, ...found], [422, ...causes], at);
  }
});

Deno.test("ApiServer refuses counts in the status of a Deployment that cannot be", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${APPS}/deployments`, { metadata, spec: { selector, template } });
  const { code, body } = await send(server, `merge ${APPS}/deployments/a/status`, { status: { readyReplicas: 1 } });
  assertEquals([code, body.details.causes[0].message], [
    422,
    "Invalid value: 1: cannot be greater than status.replicas",
  ]);
});

Deno.test("ApiServer labels a Job as its pods, for whom nobody is noted as owner", async () => {
  await using server = new ApiServer();
  const { body } = await send(server, `POST ${BATCH}/jobs`, { metadata, spec: job("Never") });
  assertEquals(body.metadata.labels, body.spec.template.metadata.labels);
  assertEquals(body.metadata.labels["batch.kubernetes.io/job-name"], "a");
  assertEquals(body.metadata.managedFields[0].fieldsV1["f:metadata"], undefined);
});

Deno.test("ApiServer counts the templates of a DaemonSet", async () => {
  await using server = new ApiServer();
  const generation = ({ body }: { body: Body }) =>
    body.metadata.annotations["deprecated.daemonset.template.generation"];
  assertEquals(
    generation(await send(server, `POST ${APPS}/daemonsets`, { metadata, spec: { selector, template } })),
    "1",
  );
  assertEquals(generation(await send(server, `merge ${APPS}/daemonsets/a`, { spec: { minReadySeconds: 3 } })), "1");
  const spec = { template: { spec: { terminationGracePeriodSeconds: 5 } } };
  assertEquals(generation(await send(server, `merge ${APPS}/daemonsets/a`, { spec })), "2");
});

Deno.test("ApiServer shows an autoscaler in both versions", async () => {
  await using server = new ApiServer();
  const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 };
  const path = AUTOSCALERS.replace("v2", "v1");
  const created = await send(server, `POST ${path}`, { metadata, spec });
  assertEquals([created.code, created.body.status], [201, { currentReplicas: 0, desiredReplicas: 0 }]);
  const { body } = await send(server, `GET ${AUTOSCALERS}/a`);
  assertEquals(body.spec.metrics, [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
  ]);
  assertEquals(body.status, { currentMetrics: null, desiredReplicas: 0 });
  const again = await send(server, `GET ${path}/a`);
  assertEquals(again.body.spec.targetCPUUtilizationPercentage, 50);
});

Deno.test("ApiServer takes back the node ports of a service that is no more reached from outside", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CORE}/services`, { metadata, spec: { type: "NodePort", ports: [{ port: 80 }] } });
  const { body } = await send(server, `merge ${CORE}/services/a`, { spec: { type: "ClusterIP" } });
  assertEquals([body.spec.ports[0].nodePort, body.spec.externalTrafficPolicy], [undefined, undefined]);
});

Deno.test("ApiServer binds a pod to a node, once", async () => {
  await using server = new ApiServer();
  await send(server, `POST ${CORE}/pods`, { metadata, spec: template.spec });
  const binding = { metadata, target: { kind: "Node", name: "n" } };
  assertEquals((await send(server, `POST ${CORE}/pods/a/binding`, binding)).code, 201);
  const { body } = await send(server, `GET ${CORE}/pods/a`);
  assertEquals([body.spec.nodeName, body.status.conditions[0].type], ["n", "PodScheduled"]);
  assertEquals((await send(server, `POST ${CORE}/pods/a/binding`, binding)).code, 409);
});

Deno.test("ApiServer warns of deprecated built-in resources", async () => {
  await using server = new ApiServer();
  const { headers } = await send(server, `GET ${CORE}/endpoints`);
  const text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  assertEquals(headers.get("warning"), `299 - "${text}"`);
});
