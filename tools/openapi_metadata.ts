/**
 * Writes `testing/_openapi_metadata.json`: the OpenAPI schemas of metadata that every document of a real kube-apiserver carries.
 *
 * ```sh
 * deno run -A tools/openapi_metadata.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";

const [server = "", token = ""] = Deno.args;
const PREFIX = "io.k8s.apimachinery.pkg.apis.meta.v1.";

interface Document {
  components: { schemas: Record<string, unknown> };
}

const { components: { schemas } } = await new Promise<Document>((resolve, reject) => {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  https.get(`${server}/openapi/v3/apis/coordination.k8s.io/v1`, { headers, rejectUnauthorized: false }, (response) => {
    let text = "";
    response.on("data", (chunk) => text += chunk);
    response.on("end", () => resolve(JSON.parse(text)));
  }).on("error", reject);
});
const kept = Object.fromEntries(
  Object.entries(schemas).filter(([name]) => name.startsWith(PREFIX) && !name.endsWith(".WatchEvent")),
);
const out = new URL("../testing/_openapi_metadata.json", import.meta.url);
await Deno.writeTextFile(out, `${JSON.stringify(kept, null, 1)}\n`);
