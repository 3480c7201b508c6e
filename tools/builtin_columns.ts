/**
 * Writes `testing/_builtin_columns.ts`: the columns of the tables that a real kube-apiserver shows for built-in kinds.
 *
 * ```sh
 * deno run -A tools/builtin_columns.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";
import { Registry } from "../testing/_registry.ts";

const [server = "", token = ""] = Deno.args;
const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";

interface Column {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

function get(path: string): Promise<{ columnDefinitions?: Column[] }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept };
    https.get(`${server}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve(JSON.parse(text)));
    }).on("error", reject);
  });
}

const texts: string[] = [];
const columns: Record<string, [name: string, type: string, format: string, priority: number, description: number][]> =
  {};
for (const { name: group, versions } of new Registry().groups()) {
  for (const { resources } of versions) {
    for (const info of resources.values()) {
      if (!info.verbs.includes("list")) continue;
      const root = group === "" ? `/api/${info.version}` : `/apis/${info.apiVersion}`;
      const { columnDefinitions = [] } = await get(`${root}/${info.plural}?limit=1`);
      columns[`${info.apiVersion} ${info.plural}`] = columnDefinitions.map((column) => {
        if (!texts.includes(column.description)) texts.push(column.description);
        return [column.name, column.type, column.format, column.priority, texts.indexOf(column.description)];
      });
    }
  }
}

const text = `/**
 * Lists the columns of the tables of built-in kinds: written by tools/builtin_columns.ts from a real kube-apiserver, not to be edited.
 *
 * \`\`\`ts
 * import { DESCRIPTIONS } from "./_builtin_columns.ts";
 *
 * console.assert(DESCRIPTIONS.length > 0);
 * \`\`\`
 *
 * @module
 */

/** The descriptions of columns. */
export const DESCRIPTIONS: readonly string[] = ${JSON.stringify(texts, null, 1)};

/** By apiVersion and plural: name, type, format, priority and description (its index) of each column. */
export const BUILTIN_COLUMNS: Readonly<
  Record<string, readonly (readonly [name: string, type: string, format: string, priority: number, text: number])[]>
> = {
${Object.entries(columns).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`).join("\n")}
};
`;
await Deno.writeTextFile(new URL("../testing/_builtin_columns.ts", import.meta.url), text);
