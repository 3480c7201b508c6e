/**
 * Makes the tables that `kubectl get` shows: the columns of built-in kinds, and those that definitions print.
 *
 * ```ts
 * import { jsonPath } from "./_table.ts";
 *
 * console.assert(jsonPath({ spec: { list: [{ a: 1 }] } }, ".spec.list[0].a") === 1);
 * ```
 *
 * @module
 */
import { age } from "./_ages.ts";
import { view } from "./_behaviour.ts";
import { BUILTIN_COLUMNS, DESCRIPTIONS } from "./_builtin_columns.ts";
import type { Call } from "./_call.ts";
import { negotiate } from "./_codec.ts";
import type { PrinterColumn } from "./_crds.ts";
import { partial } from "./_encode.ts";
import { type Fields, isObject, type Kube } from "./_objects.ts";
import type { State } from "./_revision.ts";
import { CELLS } from "./_table_cells.ts";

const NAME_TEXT = DESCRIPTIONS[0]!;
const NAME: Fields = { name: "Name", type: "string", format: "name", description: NAME_TEXT, priority: 0 };
const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  description: DESCRIPTIONS.find((each) => each.startsWith("CreationTimestamp is a timestamp")) ?? "",
  jsonPath: ".metadata.creationTimestamp",
};

/** The value at a simple JSONPath: names, indexes, quoted names and `[?(@.a=="b")]`. */
export function jsonPath(object: unknown, path: string): unknown {
  let value: unknown = object;
  const parts = path.match(/\[\?\(@\.[^)]*\)\]|\['[^']*'\]|\[\d+\]|\[\*\]|(\\.|[^.[\]])+/g) ?? [];
  for (const part of parts) {
    const filter = /^\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]$/.exec(part);
    if (filter) {
      const list = Array.isArray(value) ? value : [];
      value = list.find((each) => String(jsonPath(each, `.${filter[1]}`)) === filter[2]);
    } else if (/^\[\d+\]$/.test(part)) value = Array.isArray(value) ? value[Number(part.slice(1, -1))] : undefined;
    else if (part === "[*]") value = Array.isArray(value) ? value[0] : undefined;
    else {
      const name = part.startsWith("['") ? part.slice(2, -2) : part.replace(/\\(.)/g, "$1");
      value = isObject(value) ? value[name] : undefined;
    }
    if (value === undefined || value === null) return undefined;
  }
  return value;
}

function printed(value: unknown, type: string, now: Date): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "date":
      return typeof value === "string" ? age(value, now) : null;
    case "string":
      return typeof value === "string" ? value : JSON.stringify(value);
    case "integer":
      return Number.isInteger(value) ? value : Number.isFinite(Number(value)) ? Math.trunc(Number(value)) : null;
    case "number":
      return Number.isFinite(Number(value)) ? Number(value) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return null;
  }
}

function customColumns(columns: readonly PrinterColumn[]): Fields[] {
  const described = columns.map(({ name, type, format = "", description, priority = 0, jsonPath: path }) => ({
    name,
    type,
    format,
    description: description ?? `Custom resource definition column (in JSONPath format): ${path}`,
    priority,
  }));
  return [NAME, ...described];
}

function builtinColumns(key: string): Fields[] {
  const columns = BUILTIN_COLUMNS[key] ?? [["Name", "string", "name", 0, 0], ["Created At", "date", "", 0, 5]] as const;
  return columns.map(([name, type, format, priority, text]) => ({
    name,
    type,
    format,
    description: DESCRIPTIONS[text] ?? "",
    priority,
  }));
}

/** Cells of a kind that nobody prints: its name, its age, and nothing else. */
function plainCells(columns: readonly Fields[], { metadata }: Kube, now: Date): unknown[] {
  return columns.map(({ name, type }) => {
    if (name === "Name") return metadata.name;
    if (name === "Age") return age(metadata.creationTimestamp, now);
    if (name === "Created At") return metadata.creationTimestamp;
    return type === "integer" ? 0 : type === "boolean" ? false : "<none>";
  });
}

/** The table of these objects. */
export function tableOf(call: Call, revisions: readonly State[], metadata: Fields, now: Date): Fields {
  const { info, query } = call;
  const custom = info.custom && (info.custom.columns?.length ? info.custom.columns : [AGE]);
  const key = `${info.apiVersion} ${info.plural}`;
  const columnDefinitions = custom ? customColumns(custom) : builtinColumns(key);
  const print = CELLS[key];
  const version = negotiate(call.headers.get("accept"))?.version || "v1";
  const include = query.get("includeObject") ?? "Metadata";
  const rows = revisions.map((revision) => {
    const object = view(info, revision);
    const cells = custom
      ? [object.metadata.name, ...custom.map((each) => printed(jsonPath(object, each.jsonPath), each.type, now))]
      : print
      ? print(object, { age: age(object.metadata.creationTimestamp, now), now })
      : plainCells(columnDefinitions, object, now);
    return {
      cells,
      ...(include === "None"
        ? { object: null }
        : { object: include === "Object" ? object : { ...partial(object), apiVersion: `meta.k8s.io/${version}` } }),
    };
  });
  const { resourceVersion } = revisions.length === 1 ? revisions[0]!.object.metadata : {};
  const meta = Object.keys(metadata).length > 0 ? metadata : resourceVersion ? { resourceVersion } : {};
  const apiVersion = `meta.k8s.io/${version}`;
  return { kind: "Table", apiVersion, metadata: meta, columnDefinitions, rows };
}
