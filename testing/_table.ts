/**
 * Makes the tables that `kubectl get` shows: the columns of built-in kinds, and those that definitions print.
 *
 * ```ts
 * import { tableOf } from "./_table.ts";
 *
 * console.assert(typeof tableOf === "function");
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
import { podConditions } from "./_cells_pods.ts";
import { jsonPath } from "./_json_path.ts";
import { type Fields, isObject, type Kube } from "./_objects.ts";
import type { State } from "./_revision.ts";
import { badRequest } from "./_status.ts";
import { CELLS } from "./_table_cells.ts";

const NAME_TEXT = DESCRIPTIONS[0]!;
const NAME: Fields = { name: "Name", type: "string", format: "name", description: NAME_TEXT, priority: 0 };
const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  description: DESCRIPTIONS.find((each) => each.startsWith("CreationTimestamp is a timestamp")) ?? "",
  jsonPath: ".metadata.creationTimestamp",
};

/** A value as a column of texts shows it: what is no text as JSON, its members sorted. */
function text(value: unknown): string {
  if (value === null) return "<no value>";
  return typeof value === "string" ? value : JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function printed(object: Fields, { type, jsonPath: path }: PrinterColumn, now: Date): unknown {
  const found = jsonPath(object, path);
  if (found === undefined || found.length === 0) return null;
  const [value] = found;
  switch (type) {
    case "string":
      return text(value);
    case "date":
      if (typeof value !== "string") return null;
      return value === "" ? "<unknown>" : RFC3339.test(value) ? age(value, now) : "<invalid>";
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
  }
  return null;
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

/** The columns of scales, which are no resource of their own. */
function scaleColumns(): Fields[] {
  const column = (name: string, type: string, description: string): Fields => ({
    name,
    type,
    format: "",
    description,
    priority: 0,
  });
  return [
    NAME,
    column("Desired", "integer", "replicas is the desired number of instances for the scaled object."),
    column("Available", "integer", "replicas is the actual number of observed instances of the scaled object."),
    column("Age", "string", AGE.description ?? ""),
  ];
}

function builtinColumns(key: string): Fields[] {
  if (key === "autoscaling/v1 scales") return scaleColumns();
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

const INCLUDES = ["Object", "Metadata", "None", ""];

/** Refuses to show of objects what cannot be shown beside their cells. */
export function checkInclude(query: URLSearchParams): void {
  const include = query.get("includeObject") ?? "";
  if (INCLUDES.includes(include)) return;
  const why = `Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`);
}

/** The table of these objects. */
export function tableOf(
  call: Call,
  revisions: readonly State[],
  metadata: Fields,
  now: Date,
  options: { readonly bookmark?: boolean } = {},
): Fields {
  const { info, query } = call;
  const custom = info.custom && (info.custom.columns?.length ? info.custom.columns : [AGE]);
  const key = `${info.apiVersion} ${info.plural}`;
  const columnDefinitions = custom ? customColumns(custom) : builtinColumns(key);
  const print = CELLS[key];
  const version = negotiate(call.headers.get("accept"))?.version || "v1";
  checkInclude(query);
  const include = options.bookmark ? "Metadata" : query.get("includeObject") || "Metadata";
  const listed = call.asked.verb === "list";
  const rows = revisions.map((revision) => {
    const object = view(info, revision);
    const name = object.metadata.name ?? "";
    // Built-in kinds are printed as they are stored, in whatever version they are shown.
    const stored = { ...revision.object, metadata: { ...revision.object.metadata, name } };
    const cells = custom
      ? [name, ...custom.map((each) => printed(object, each, now))]
      : print
      ? print(stored, { age: age(object.metadata.creationTimestamp, now), now, listed })
      : plainCells(columnDefinitions, object, now);
    const conditions = key === "v1 pods" ? podConditions(stored) : undefined;
    return {
      cells,
      ...(conditions ? { conditions } : {}),
      ...(include === "None"
        ? { object: null }
        : { object: include === "Object" ? object : { ...partial(object), apiVersion: `meta.k8s.io/${version}` } }),
    };
  });
  const { resourceVersion } = revisions.length === 1 ? revisions[0]!.object.metadata : {};
  const meta = Object.keys(metadata).length > 0 ? metadata : resourceVersion ? { resourceVersion } : {};
  const apiVersion = `meta.k8s.io/${version}`;
  // Kinds that only their metadata is printed of have no rows at all where there is nothing.
  const none = rows.length === 0 && columnDefinitions.length === 2 && columnDefinitions[1]!.name === "Created At";
  return { kind: "Table", apiVersion, metadata: meta, columnDefinitions, rows: none ? null : rows };
}
