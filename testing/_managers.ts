/**
 * Reads and writes `metadata.managedFields`: one entry for each manager, operation, version and subresource.
 *
 * ```ts
 * import { readManagers, writeManagers } from "./_managers.ts";
 *
 * const managers = readManagers([{ manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }]);
 * writeManagers(managers!); // the same entry
 * ```
 *
 * @module
 */
import { readFields, union } from "./_field_set.ts";
import { isObject } from "./_json.ts";
import { entriesOf, type Manager, type ManagerEntry, managerOfEntry } from "./_manager_entries.ts";

export type { Manager, ManagerEntry } from "./_manager_entries.ts";

/** Managers by identifier. */
export type Managers = Map<string, Manager>;

/** The most entries of updates that are kept apart. */
const MAX_UPDATE_MANAGERS = 10;

/** Returns the identifier of a manager: entries with the same one are one. */
export function managerId(manager: Omit<Manager, "fields" | "time">): string {
  const { name, operation, apiVersion, subresource } = manager;
  return JSON.stringify({
    ...(name === "" ? {} : { manager: name }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Reads managed fields; undefined if any entry is not valid. */
export function readManagers(entries: unknown): Managers | undefined {
  const managers: Managers = new Map();
  if (entries === undefined || entries === null) return managers;
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    if (!isObject(entry)) return undefined;
    const known = managerOfEntry(entry);
    if (known) {
      managers.set(managerId(known), known);
      continue;
    }
    const { operation, fieldsType } = entry;
    if (operation !== "Apply" && operation !== "Update" || fieldsType !== "FieldsV1") return undefined;
    const fields = readFields(entry.fieldsV1 ?? {});
    if (fields === undefined || text(entry.apiVersion) === "") return undefined;
    const manager: Manager = {
      name: text(entry.manager),
      operation,
      apiVersion: text(entry.apiVersion),
      subresource: text(entry.subresource),
      time: typeof entry.time === "string" ? entry.time : undefined,
      fields,
    };
    managers.set(managerId(manager), manager);
  }
  return managers;
}

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Writes managed fields: appliers first, then by time and name; undefined if there are none. */
export function writeManagers(managers: Managers): readonly ManagerEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const all = [...managers.values()];
  return entriesOf(all.length === 1 ? all : all.sort(inOrder));
}

function inOrder(a: Manager, b: Manager): number {
  return byText(a.operation, b.operation) || seconds(a.time) - seconds(b.time) || byText(a.name, b.name) ||
    byText(a.apiVersion, b.apiVersion) || byText(a.subresource, b.subresource);
}

/** Puts the oldest entries of updates into one for each version, so that there are never too many. */
export function capManagers(managers: Managers): void {
  if (managers.size <= MAX_UPDATE_MANAGERS) return;
  const updaters = [...managers].filter(([, manager]) => manager.operation === "Update");
  let excess = updaters.length - MAX_UPDATE_MANAGERS;
  if (excess <= 0) return;
  updaters.sort(([a, left], [b, right]) => seconds(left.time) - seconds(right.time) || byText(a, b));
  const first = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (excess <= 0) return;
    const { apiVersion } = manager;
    const bucket: Omit<Manager, "fields" | "time"> = {
      name: "ancient-changes",
      operation: "Update",
      apiVersion,
      subresource: "",
    };
    const bucketId = managerId(bucket);
    const firstId = first.get(apiVersion);
    if (firstId === undefined) {
      first.set(apiVersion, id);
      continue;
    }
    let kept = managers.get(bucketId);
    if (kept === undefined) {
      kept = managers.get(firstId)!;
      managers.delete(firstId);
    }
    managers.delete(id);
    managers.set(bucketId, { ...bucket, time: manager.time, fields: union(manager.fields, kept.fields) });
    excess--;
  }
}
