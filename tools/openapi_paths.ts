/**
 * Writes `testing/_openapi_paths.json`: the OpenAPI paths that a real kube-apiserver serves for a custom resource, and the schemas
 * beside those of the resource. Makes a CustomResourceDefinition there for a moment.
 *
 * ```sh
 * deno run -A tools/openapi_paths.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";

const [server = "", token = ""] = Deno.args;
const GROUP = "template.example.com";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// deno-lint-ignore no-explicit-any
type Json = any;

function send(method: string, path: string, body?: unknown): Promise<Json> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: "application/json",
      "content-type": "application/json",
    };
    const request = https.request(`${server}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve(text.startsWith("{") ? JSON.parse(text) : {}));
    });
    request.on("error", reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function documentOf(): Promise<Json> {
  for (let tries = 0; tries < 100; tries++) {
    const document = await send("GET", `/openapi/v3/apis/${GROUP}/v1`);
    if (document.paths) return document;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error("Cannot write the paths: the server must serve the definition's OpenAPI: it did not in 30 s");
}

const replicas = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" };
const count = { type: "object", properties: { n: { type: "integer" } } };
const schema = { openAPIV3Schema: { type: "object", properties: { spec: count, status: count } } };
await send("POST", DEFINITIONS, {
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {}, scale: replicas } }],
  },
});
const { paths, components } = await documentOf();
await send("DELETE", `${DEFINITIONS}/widgets.${GROUP}`);

/** Parameters and schemas' names are written once. */
const parameters: string[] = [];
function index(parameter: unknown): number {
  const text = JSON.stringify(parameter);
  if (!parameters.includes(text)) parameters.push(text);
  return parameters.indexOf(text);
}
for (const item of Object.values<Json>(paths)) {
  if (item.parameters) item.parameters = item.parameters.map(index);
  for (const operation of Object.values<Json>(item)) {
    if (operation.parameters) operation.parameters = operation.parameters.map(index);
  }
}
const own = new Set(["com.example.template.v1.Widget", "com.example.template.v1.WidgetList"]);
const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const others = Object.entries<Json>(components.schemas).filter(([name]) => !own.has(name));
const out = {
  parameters: parameters.map((text) => JSON.parse(text)),
  paths,
  names: others.map(([name]) => name),
  deleteOptions: components.schemas[`${META}DeleteOptions`]["x-kubernetes-group-version-kind"]
    .map(({ group, version }: Json) => [group, version]),
  scale: Object.fromEntries(others.filter(([name]) => name.startsWith("io.k8s.api.autoscaling"))),
};
await Deno.writeTextFile(new URL("../testing/_openapi_paths.json", import.meta.url), `${JSON.stringify(out)}\n`);
