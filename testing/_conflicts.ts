/**
 * Describes the conflicts of an apply in the words of a Kubernetes API server.
 *
 * ```ts
 * import { conflictMessage } from "./_conflicts.ts";
 *
 * conflictMessage([{ manager: "m", id: "m", text: '"m" using v1', field: ".data.k", path: ["f:data", "f:k"] }]);
 * // Apply failed with 1 conflict: conflict with "m" using v1: .data.k
 * ```
 *
 * @module
 */
import { difference, type Fields, hasElement, paths, pathText } from "./_field_set.ts";
import { isObject } from "./_json.ts";
import type { Manager, Managers } from "./_managers.ts";
import type { FieldType } from "./_typed.ts";
import { checkTyped } from "./_typed_check.ts";
import { compare, fieldSet } from "./_typed_set.ts";

/** A field that another manager owns with another value. */
export interface Conflict {
  /** The other manager's name. */
  readonly manager: string;
  /** The other manager's identifier. */
  readonly id: string;
  /** The other manager, as messages name it. */
  readonly text: string;
  /** The field, as messages name it, such as `.data.k`. */
  readonly field: string;
  /** The field, as path elements. */
  readonly path: readonly string[];
}

function managerText({ name, subresource, operation, apiVersion }: Manager): string {
  const quoted = JSON.stringify(name) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${quoted} using ${apiVersion}` : quoted;
}

/** Lists the conflicts with each manager, by identifier and path. */
export function conflictsOf(managers: Managers, lost: ReadonlyMap<string, Fields>): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const id of [...lost.keys()].sort()) {
    const manager = managers.get(id)!;
    const text = managerText(manager);
    for (const path of paths(lost.get(id)!)) {
      conflicts.push({ manager: manager.name, id, text, field: pathText(path), path });
    }
  }
  return conflicts;
}

/** Returns the `Status` message for conflicts. */
export function conflictMessage(conflicts: readonly Conflict[]): string {
  if (conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${conflicts[0]!.text}: ${conflicts[0]!.field}`;
  }
  const groups = Map.groupBy(conflicts, ({ id }) => id);
  const lines = [...groups.keys()].sort().flatMap((id) => {
    const group = groups.get(id)!;
    return [`conflicts with ${group[0]!.text}:`, ...group.map(({ field }) => `- ${field}`)];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

/** Returns the `Status` causes for conflicts. */
export function conflictCauses(conflicts: readonly Conflict[]): { reason: string; message: string; field: string }[] {
  return conflicts.map(({ text, field }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${text}`,
    field,
  }));
}

function has(set: Fields, path: readonly string[]): boolean {
  let node: Fields | undefined = set;
  for (const element of path.slice(0, -1)) {
    node = node[element];
    if (node === undefined) return false;
  }
  return hasElement(node, path.at(-1)!);
}

/**
 * Returns the conflicts that are not about what the annotation of a client-side apply says and the object still has.
 */
export function withoutAllowed(
  type: FieldType,
  live: object,
  apiVersion: string,
  conflicts: Conflict[],
  annotations: unknown,
  annotation: string,
): Conflict[] {
  const text = isObject(annotations) ? annotations[annotation] : undefined;
  if (typeof text !== "string" || text === "") return conflicts;
  let last: unknown;
  try {
    last = JSON.parse(text);
  } catch {
    return conflicts;
  }
  if (!isObject(last) || last.apiVersion !== apiVersion || checkTyped(type, last).length > 0) return conflicts;
  const { added, removed, modified } = compare(type, last, live);
  const allowed = difference(difference(difference(fieldSet(type, last), modified), added), removed);
  return conflicts.filter(({ path }) => !has(allowed, path));
}
