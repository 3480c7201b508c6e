/**
 * Checks the paths that a CustomResourceDefinition names: printer columns, the scale subresource, selectable fields.
 *
 * ```ts
 * import { assertSelectable } from "./_crd_paths.ts";
 * import { Place } from "./_structural.ts";
 *
 * const schema = { type: "object", properties: { spec: { type: "object", properties: { color: { type: "string" } } } } };
 * assertSelectable([".spec.color"], schema, new Place('resource "Shirt"', "selectableFields"));
 * ```
 *
 * @module
 */
import type { JsonSchema, Place } from "./_structural.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  /** The heading. */
  readonly name: string;
  /** How values are shown; a `date` as an age. */
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** Where the value is, such as `.spec.schedule` or `.status.conditions[?(@.type=="Ready")].status`. */
  readonly jsonPath: string;
  /** How the value is to be read, such as `int32` or `date-time`. @default {"none"} */
  readonly format?: string;
  /** What the column says. @default {"none"} */
  readonly description?: string;
  /** Above 0: shown with `-o wide` only. @default {0} */
  readonly priority?: number;
}

/** Where a kind has its replicas. */
export interface ScalePaths {
  /** The wanted replicas, such as `.spec.replicas`. */
  readonly specReplicasPath: string;
  /** The found replicas, such as `.status.replicas`. */
  readonly statusReplicasPath: string;
  /** A label selector in text form, such as `.status.selector`; autoscalers need it. @default {"none"} */
  readonly labelSelectorPath?: string;
}

const COLUMN_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "number", "boolean", "date"]);
const COLUMN_FORMATS: ReadonlySet<unknown> = new Set([
  ...[undefined, "int32", "int64", "float", "double", "byte", "date", "date-time", "password"],
]);
/** A server takes no more. */
const MAX_SELECTABLE = 8;
const SIMPLE_PATH = /^(\.[A-Za-z_$][\w$-]*)+$/;
const ANYTHING: JsonSchema = { "x-kubernetes-preserve-unknown-fields": true };

/** Walks into the schema as far as the path is made of plain fields; undefined if a field is not there. */
function resolve(path: string, root: JsonSchema): JsonSchema | undefined {
  let schema: JsonSchema = root;
  const plain = /^(\.[A-Za-z_$][\w$-]*)+/.exec(path)?.[0] ?? "";
  for (const [index, name] of plain.slice(1).split(".").entries()) {
    if (index === 0 && name === "metadata") return ANYTHING;
    const property = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties![name] : undefined;
    const value = property ??
      (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
    if (!value) {
      return schema["x-kubernetes-preserve-unknown-fields"] || schema.additionalProperties ? ANYTHING : undefined;
    }
    schema = value;
  }
  return plain === path ? schema : ANYTHING;
}

/** @throws {TypeError} If a column has no name, a wrong type, or a path that leads nowhere */
export function assertColumns(columns: readonly PrinterColumn[], root: JsonSchema, place: Place): void {
  const names = new Set<string>();
  for (const column of columns) {
    const { name, type, jsonPath, format, priority } = column;
    if (typeof name !== "string" || name === "" || names.has(name)) {
      place.refuse(`must have names, each of its own: current value is ${Deno.inspect(name)}`);
    }
    names.add(name);
    const at = place.field(name);
    if (!COLUMN_TYPES.has(type)) {
      at.refuse(`must have a type of ${[...COLUMN_TYPES].join(", ")}: current value is ${Deno.inspect(type)}`);
    }
    if (!COLUMN_FORMATS.has(format)) {
      at.refuse(`must have a known format, or none: current value is ${Deno.inspect(format)}`);
    }
    if (priority !== undefined && (!Number.isInteger(priority) || priority < 0)) {
      at.refuse(`must have a priority of 0 or more: current value is ${Deno.inspect(priority)}`);
    }
    if (typeof jsonPath !== "string" || !/^\.[A-Za-z_$]/.test(jsonPath) || !resolve(jsonPath, root)) {
      at.refuse(
        `must have a 'jsonPath' of a field in the schema, such as .spec.size: current value is ${
          Deno.inspect(jsonPath)
        }`,
      );
    }
  }
}

/** @throws {TypeError} If a path is not one of a string, an integer or a boolean in the schema, or there are too many */
export function assertSelectable(paths: readonly string[], root: JsonSchema, place: Place): void {
  if (paths.length > MAX_SELECTABLE) {
    place.refuse(`must be at most ${MAX_SELECTABLE}: current value is ${paths.length}`);
  }
  for (const [index, path] of paths.entries()) {
    const simple = typeof path === "string" && SIMPLE_PATH.test(path) && !path.startsWith(".metadata");
    const type = simple ? resolve(path, root)?.type : undefined;
    if (type === undefined || !["string", "integer", "boolean"].includes(type)) {
      place.refuse(
        "must be paths of strings, integers or booleans in the schema, such as .spec.color: " +
          `current value is ${Deno.inspect(path)}`,
      );
    }
    if (paths.indexOf(path) !== index) place.refuse(`must not repeat a path: current value is "${path}"`);
  }
}

/** @throws {TypeError} If a path is not one of replicas, or of a selector, in the schema */
export function assertScale(scale: ScalePaths, root: JsonSchema, place: Place): void {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const check = (field: string, path: unknown, under: RegExp, type: string): void => {
    const found = typeof path === "string" && SIMPLE_PATH.test(path) && under.test(path)
      ? resolve(path, root)
      : undefined;
    if (!found || (found !== ANYTHING && found.type !== type)) {
      place.field(field).refuse(
        `must be the path of a field of type ${type} under ${
          under.source.replace(/[\\^()]/g, "").replace("|", " or ")
        }: ` +
          `current value is ${Deno.inspect(path)}`,
      );
    }
  };
  check("specReplicasPath", specReplicasPath, /^\.spec\./, "integer");
  check("statusReplicasPath", statusReplicasPath, /^\.status\./, "integer");
  if (labelSelectorPath !== undefined) check("labelSelectorPath", labelSelectorPath, /^\.(status|spec)\./, "string");
}
