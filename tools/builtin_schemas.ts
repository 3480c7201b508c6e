/**
 * Writes `testing/_builtin_schemas.json`: what a real Kubernetes API server's OpenAPI says of the built-in kinds, as far as
 * ownership, merging, decoding and unknown fields need it.
 *
 *     deno run -A tools/builtin_schemas.ts --server https://127.0.0.1:6443 --token TOKEN --go-source DIR [--output FILE]
 *
 * `--go-source` names a folder with the modules `api`, `apimachinery`, `apiextensions-apiserver` and `kube-aggregator` of the server's
 * version (such as `$(go env GOMODCACHE)/k8s.io`): the OpenAPI does not say which fields Go leaves out when they are zero.
 * The server's certificate is not checked.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { presenceOf } from "./_go_fields.ts";

type Node = Record<string, unknown>;

const GROUPS = [
  "api/v1",
  ...[
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
  ].map((group) => `apis/${group}/v1`),
  "apis/autoscaling/v2",
];

/** What is kept of a schema. */
const KEPT = [
  "type",
  "required",
  "default",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-preserve-unknown-fields",
];

/** Kinds that decide for themselves how they are written. */
const SPECIAL: Record<string, Node> = {
  "api.resource.Quantity": { format: "quantity" },
  "intstr.IntOrString": { format: "int-or-string" },
  "runtime.RawExtension": { "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" },
  "meta.v1.MicroTime": { type: "string", format: "micro-time" },
};

function shortName(ref: string): string {
  return ref.split("/").at(-1)!.replace(/^.*?\.(?:pkg\.apis|pkg\.api|pkg\.util|pkg|api)\./, (prefix) => {
    return prefix.includes("pkg.api.") ? "api." : "";
  });
}

function get(url: string, token: string): Promise<Node> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      response.on("end", () => {
        const text = new TextDecoder().decode(Buffer.concat(chunks));
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`Cannot get ${url}: the server answered ${response.statusCode}: ${text}`));
      });
    }).on("error", reject).end();
  });
}

function reduce(schema: Node): Node {
  const out: Node = {};
  const [reference] = (schema.allOf as Node[] | undefined) ?? [schema];
  if (typeof reference?.$ref === "string") out.$ref = shortName(reference.$ref);
  for (const key of KEPT) if (schema[key] !== undefined) out[key] = schema[key];
  if (schema.format !== undefined) out.format = schema.format;
  if (schema.items) out.items = reduce(schema.items as Node);
  if (schema.additionalProperties) out.additionalProperties = reduce(schema.additionalProperties as Node);
  if (schema.properties) {
    out.properties = Object.fromEntries(
      Object.entries(schema.properties as Node).map(([name, property]) => [name, reduce(property as Node)]),
    );
  }
  return out;
}

/** Marks each field with when Go writes it, where the schema alone would say otherwise. */
function mark(name: string, definition: Node, structs: ReturnType<typeof presenceOf>): void {
  const fields = structs(name);
  if (fields === undefined) return;
  const required = new Set(definition.required as string[] | undefined);
  for (const [field, property] of Object.entries((definition.properties ?? {}) as Record<string, Node>)) {
    const presence = fields.get(field);
    const guess = required.has(field) || property.default !== undefined && typeof property.default === "object"
      ? "always"
      : "nonzero";
    if (presence !== undefined && presence !== guess) property.presence = presence;
  }
}

const { values: options } = parseArgs({
  options: {
    server: { type: "string" },
    token: { type: "string" },
    "go-source": { type: "string" },
    output: { type: "string", default: "testing/_builtin_schemas.json" },
  },
});
const { server, token = "", "go-source": source, output } = options;
if (server === undefined || source === undefined) {
  throw new TypeError("Cannot run: '--server' and '--go-source' are required");
}

const structs = presenceOf(source, { readdirSync, readFileSync });
const all = new Map<string, Node>();
const kinds: Record<string, string> = {};
for (const group of GROUPS) {
  const document = await get(`${server}/openapi/v3/${group}`, token);
  const schemas = (document.components as { schemas: Record<string, Node> }).schemas;
  for (const [long, schema] of Object.entries(schemas)) {
    const name = shortName(long);
    if (!all.has(name)) all.set(name, SPECIAL[name] ?? reduce(schema));
    for (const gvk of (schema["x-kubernetes-group-version-kind"] ?? []) as Record<string, string>[]) {
      const version = gvk.group === "" ? gvk.version! : `${gvk.group}/${gvk.version}`;
      const isObject = (schema.properties as Node | undefined)?.apiVersion !== undefined;
      const internal = gvk.kind === "DeleteOptions" || gvk.kind === "WatchEvent" || version.match(/v\d(alpha|beta)/);
      if (isObject && !internal && !gvk.kind!.endsWith("List")) kinds[`${version} ${gvk.kind}`] = name;
    }
  }
}
const needed: Record<string, Node> = {};
function need(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { $ref } = value as Node;
  if (typeof $ref === "string" && !($ref in needed)) {
    const definition = all.get($ref)!;
    needed[$ref] = definition;
    mark($ref, definition, structs);
    need(definition);
  }
  for (const part of Object.values(value)) need(part);
}
for (const name of Object.values(kinds)) need({ $ref: name });
const sort = (record: Node): Node => Object.fromEntries(Object.entries(record).sort(([a], [b]) => a < b ? -1 : 1));
const text = JSON.stringify({ kinds: sort(kinds), definitions: sort(needed) });
await Deno.writeTextFile(output, text.replaceAll(/("[^"]+":\{"(?:type|format|x-kub))/g, "\n$1") + "\n");
console.log(`${Object.keys(kinds).length} kinds, ${Object.keys(needed).length} definitions, ${text.length} characters`);
