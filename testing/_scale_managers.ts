/**
 * Carries managers between an object and its scale: who owns the replicas of the one owns those of the other.
 *
 * ```ts
 * import { managersOfScale } from "./_scale_managers.ts";
 *
 * const entry = { manager: "m", operation: "Apply", apiVersion: "apps/v1", fieldsType: "FieldsV1" };
 * managersOfScale([{ ...entry, fieldsV1: { "f:spec": { "f:replicas": {} } } }], "spec.replicas"); // m, as of autoscaling/v1
 * ```
 *
 * @module
 */
import { difference, type Fields, insert, intersection, isEmpty, type MutableFields } from "./_field_set.ts";
import { type Manager, type ManagerEntry, managerId, type Managers, readManagers, writeManagers } from "./_managers.ts";

/** The version that the fields of a scale are named in. */
export const SCALE_VERSION = "autoscaling/v1";

const REPLICAS: Fields = setOf("spec.replicas");

function setOf(path: string): Fields {
  const set: MutableFields = {};
  insert(set, path.split(".").map((part) => `f:${part}`));
  return set;
}

function owns({ fields }: Manager, set: Fields): boolean {
  return !isEmpty(intersection(fields, set));
}

/** The managers of a scale, by those of the object whose replicas are at a path. */
export function managersOfScale(entries: unknown, path: string): readonly ManagerEntry[] | undefined {
  const replicas = setOf(path);
  const found: Managers = new Map();
  for (const manager of readManagers(entries)?.values() ?? []) {
    if (!owns(manager, replicas)) continue;
    const scaled = { ...manager, apiVersion: SCALE_VERSION, fields: REPLICAS };
    found.set(managerId(scaled), scaled);
  }
  return writeManagers(found);
}

/**
 * The managers of an object after a write of its scale.
 *
 * Who updated the object is another manager to the scale, as it names fields in another version: it owns what it had apart from
 * its replicas, and those in an entry of its own, which has no time.
 */
export function managersOfObject(
  entries: unknown,
  scale: unknown,
  path: string,
  apiVersion: string,
): readonly ManagerEntry[] | undefined {
  const replicas = setOf(path);
  const scaled: Managers = readManagers(scale) ?? new Map();
  const found: Managers = new Map();
  for (const [id, manager] of readManagers(entries) ?? []) {
    if (!owns(manager, replicas)) found.set(id, manager);
    else if (scaled.delete(id)) found.set(id, manager);
    else {
      const fields = difference(manager.fields, replicas);
      if (!isEmpty(fields)) found.set(id, { ...manager, fields });
    }
  }
  for (const [id, manager] of scaled) {
    if (owns(manager, REPLICAS)) found.set(id, { ...manager, apiVersion, time: undefined, fields: replicas });
  }
  return writeManagers(found);
}
