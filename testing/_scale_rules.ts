/**
 * Checks that a custom resource keeps its scale where its definition says, in the right types.
 *
 * ```ts
 * import { scaleErrors } from "./_scale_rules.ts";
 *
 * const paths = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
 * console.assert(scaleErrors({ spec: { replicas: "x" } }, paths).length === 1);
 * ```
 *
 * @module
 */
import { isObject } from "./_json.ts";
import type { ScalePaths } from "./_resource_info.ts";
import { type Cause, cause } from "./_status.ts";

const MAX = 2 ** 31 - 1;

/** The Go type of a value, and the value as Go prints it. */
function shown(value: unknown): [type: string, text: string] {
  if (value === null) return ["<nil>", "<nil>"];
  if (Array.isArray(value)) return ["[]interface {}", `[${value.map((each) => shown(each)[1]).join(" ")}]`];
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((key) => `${key}:${shown(value[key])[1]}`);
    return ["map[string]interface {}", `map[${members.join(" ")}]`];
  }
  if (typeof value === "number") return [Number.isInteger(value) ? "int64" : "float64", String(value)];
  return [typeof value === "boolean" ? "bool" : typeof value, String(value)];
}

/** Looks up a field: its value, or what is in its way. */
function lookUp(object: unknown, path: string, wanted: string): { value?: unknown; wrong?: string } {
  const wrong = (value: unknown, type: string): { wrong: string } => {
    const [found, text] = shown(value);
    return { wrong: `${path} accessor error: ${text} is of the type ${found}, expected ${type}` };
  };
  let value = object;
  for (const part of path.slice(1).split(".")) {
    if (!isObject(value)) return wrong(value, "map[string]interface{}");
    if (!Object.hasOwn(value, part)) return {};
    value = value[part];
  }
  return shown(value)[0] === wanted ? { value } : wrong(value, wanted);
}

function replicasErrors(object: unknown, path: string): Cause[] {
  const { value = 0, wrong } = lookUp(object, path, "int64");
  const replicas = value as number;
  if (wrong !== undefined) return [cause.invalid(path, 0, wrong)];
  if (replicas < 0) return [cause.invalid(path, replicas, "should be a non-negative integer")];
  if (replicas > MAX) return [cause.invalid(path, replicas, `should be less than or equal to ${MAX}`)];
  return [];
}

/** What is wrong with the fields of a scale; those of the spec are not looked at when only the status is written. */
export function scaleErrors(object: object, paths: ScalePaths, status = false): Cause[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths;
  const causes = [
    ...(status ? [] : replicasErrors(object, specReplicasPath)),
    ...replicasErrors(object, statusReplicasPath),
  ];
  if (labelSelectorPath) {
    const { wrong } = lookUp(object, labelSelectorPath, "string");
    if (wrong !== undefined) causes.push(cause.invalid(labelSelectorPath, "", wrong));
  }
  return causes;
}
