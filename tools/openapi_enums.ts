/**
 * Writes `testing/_openapi_enums.json`: which values the fields of built-in kinds may have, as a real server's OpenAPI lists them.
 *
 * ```sh
 * deno run -A tools/openapi_enums.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";
import schemas from "../testing/_builtin_schemas.json" with { type: "json" };
import { componentName } from "../testing/_openapi_builtin.ts";

const [server = "", token = ""] = Deno.args;

interface Property {
  enum?: string[];
  items?: Property;
}

interface Document {
  paths?: Record<string, unknown>;
  components?: { schemas: Record<string, { properties?: Record<string, Property> }> };
}

function get(path: string): Promise<Document> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    https.get(`${server}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve(JSON.parse(text)));
    }).on("error", reject);
  });
}

const names = new Map(Object.keys(schemas.definitions).map((name) => [componentName(name), name]));
const found: Record<string, Record<string, string[]>> = {};
const { paths = {} } = await get("/openapi/v3");
for (const path of Object.keys(paths).filter((each) => /^(api|apis\/[^/]+)\/v\d\w*$/.test(each))) {
  const { components } = await get(`/openapi/v3/${path}`);
  for (const [component, { properties = {} }] of Object.entries(components?.schemas ?? {})) {
    const name = names.get(component);
    if (name === undefined) continue;
    for (const [field, property] of Object.entries(properties)) {
      const values = property.enum ?? property.items?.enum;
      if (values) (found[name] ??= {})[field] = values;
    }
  }
}
const sorted = Object.fromEntries(Object.entries(found).sort(([a], [b]) => a < b ? -1 : 1));
await Deno.writeTextFile(new URL("../testing/_openapi_enums.json", import.meta.url), `${JSON.stringify(sorted)}\n`);
