/**
 * Tracks who owns which field of an object: server-side apply, and updates by everybody else.
 *
 * ```ts
 * import { applyPatch } from "./_managed_fields.ts";
 *
 * const result = applyPatch({
 *   applied: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } },
 *   manager: "tester",
 *   apiVersion: "v1",
 *   time: "2030-01-01T00:00:00Z",
 * });
 * console.assert("object" in result);
 * ```
 *
 * Objects are never changed; results share what did not change.
 *
 * @module
 */
import { emptyObject } from "./_builtin.ts";
import { type Conflict, conflictsOf, withoutAllowed } from "./_conflicts.ts";
import {
  asMember,
  difference,
  type Fields,
  intersection,
  isEmpty,
  LEAF,
  recursiveDifference,
  union,
} from "./_field_set.ts";
import { equalBut, equalJson, isObject, type JsonObject } from "./_json.ts";
import { PatchError } from "./_json_patch.ts";
import { capManagers, type Manager, managerId, type Managers, readManagers, writeManagers } from "./_managers.ts";
import { versionProblem, type VersionSchemas } from "./_manager_versions.ts";
import { resetSet, restored } from "./_reset_fields.ts";
import { rootType } from "./_root_type.ts";
import type { Schema } from "./_schema.ts";
import type { FieldType } from "./_typed.ts";
import { checkTyped, errorText, fits } from "./_typed_check.ts";
import { merge, removeFields } from "./_typed_merge.ts";
import { compare, type Comparison, fieldSet, withNamedFields } from "./_typed_set.ts";

/** What both kinds of writes are told. */
export interface WriteOptions {
  /** The stored object; absent when one is created. */
  live?: object | undefined;
  /** The field manager. */
  manager: string;
  /** The kind's schema; without it maps are granular and lists atomic. */
  schema?: Schema | undefined;
  /** The version that the request names fields in. */
  apiVersion: string;
  /** The schemas of all versions, if the kind has several. */
  versions?: VersionSchemas | undefined;
  /** The subresource that is written, such as `status`. */
  subresource?: string | undefined;
  /** Now (RFC 3339, whole seconds). */
  time: string;
  /**
   * Fields that this write cannot change, as dotted paths such as `status`.
   *
   * @default ["spec"] for the subresource `status`, else none
   */
  reset?: readonly string[] | undefined;
}

/** What {@linkcode applyPatch} is told. */
export interface ApplyOptions extends WriteOptions {
  /** What is applied. */
  applied: object;
  /**
   * Whether to take fields from other managers.
   *
   * @default false
   */
  force?: boolean | undefined;
}

/** What {@linkcode trackUpdate} is told. */
export interface TrackOptions extends WriteOptions {
  /** The object as it is going to be stored. */
  updated: object;
}

const SELF = "current-operation";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The fields that nobody owns. */
const SERVER_FIELDS: Fields = {
  "f:apiVersion": LEAF,
  "f:kind": LEAF,
  "f:metadata": asMember(Object.fromEntries(
    [
      "name",
      "namespace",
      "creationTimestamp",
      "selfLink",
      "uid",
      "clusterName",
      "generation",
      "managedFields",
      "resourceVersion",
    ].map((name) => [`f:${name}`, LEAF]),
  )),
};

function metadataOf(object: object | undefined): JsonObject {
  const metadata = (object as JsonObject | undefined)?.metadata;
  return isObject(metadata) ? metadata : {};
}

function withManagers(object: object, managers: Managers): object {
  const { managedFields: _, ...metadata } = metadataOf(object);
  const written = writeManagers(managers);
  return { ...object, metadata: written === undefined ? metadata : { ...metadata, managedFields: written } };
}

function filtered(comparison: Comparison, reset: Fields): Comparison {
  if (isEmpty(reset)) return comparison;
  return {
    added: recursiveDifference(comparison.added, reset),
    removed: recursiveDifference(comparison.removed, reset),
    modified: recursiveDifference(comparison.modified, reset),
  };
}

/** Takes what changed away from all managers but one; returns what they would lose if it is not forced. */
function takeAway(managers: Managers, self: string, { added, removed, modified }: Comparison, force: boolean) {
  const changed = union(modified, added);
  const conflicts = new Map<string, Fields>();
  for (const [id, manager] of managers) {
    if (id === self) continue;
    const lost = intersection(manager.fields, changed);
    if (!isEmpty(lost)) conflicts.set(id, lost);
  }
  if (!force && conflicts.size > 0) return conflicts;
  for (const [id, manager] of managers) {
    const lost = conflicts.get(id);
    let { fields } = manager;
    if (lost !== undefined) fields = difference(fields, lost);
    if (id !== self) fields = difference(fields, removed);
    if (isEmpty(fields)) managers.delete(id);
    else if (fields !== manager.fields) managers.set(id, { ...manager, fields });
  }
  return undefined;
}

/** Tells whether two lists of entries differ in their times only. */
function sameButTimes(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return (a ?? undefined) === (b ?? undefined);
  const strip = (entries: unknown[]) => entries.map((entry) => ({ ...(entry as JsonObject), time: undefined }));
  return a.length === b.length && equalJson(sortEntries(strip(a)), sortEntries(strip(b)));
}

function sortEntries(entries: JsonObject[]): JsonObject[] {
  const key = (entry: JsonObject) =>
    [entry.operation, entry.manager, entry.apiVersion, entry.subresource].map(String).join("\n");
  return entries.sort((a, b) => key(a) < key(b) ? -1 : 1);
}

/** Returns the stored object itself if nothing but times would change. */
function unlessSame(live: object | undefined, object: object): object {
  if (live === undefined) return object;
  if (!equalBut(live as JsonObject, object as JsonObject, "metadata")) return object;
  const before = metadataOf(live), after = metadataOf(object);
  if (!equalBut(before, after, "managedFields")) return object;
  return sameButTimes(before.managedFields, after.managedFields) ? live : object;
}

function updateManagers(options: TrackOptions, managers: Managers, type: FieldType): void {
  const { live, updated, schema, manager: name, apiVersion, subresource = "", time } = options;
  const reset = resetSet(options);
  const before = live ?? (schema === undefined ? {} : emptyObject(schema));
  const changes = filtered(compare(type, before, updated), reset);
  takeAway(managers, SELF, changes, true);
  let own = union(changes.modified, changes.added);
  if (!isEmpty(reset)) own = recursiveDifference(own, reset);
  own = difference(own, SERVER_FIELDS);
  if (!isEmpty(own)) {
    const self: Omit<Manager, "fields" | "time"> = {
      name: name || "unknown",
      operation: "Update",
      apiVersion,
      subresource,
    };
    const id = managerId(self);
    const previous = managers.get(id);
    const fields = previous ? union(own, previous.fields) : own;
    const same = previous && previous.time === time && previous.fields === fields;
    managers.set(id, same ? previous : { ...self, time, fields });
  }
  capManagers(managers);
}

function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  return entries.length === 0 || entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0;
}

/** Returns the managers that an update starts from: the request may set them, but not through a subresource. */
function startingManagers({ live, updated, subresource }: TrackOptions): Managers {
  const stored = () => readManagers(metadataOf(live).managedFields) ?? new Map();
  if (subresource !== undefined && subresource !== "") return stored();
  const given = metadataOf(updated).managedFields;
  if (isReset(given)) return new Map();
  // An informed client gives back what it read.
  const managers = readManagers(given);
  return managers === undefined || managers.size === 0 ? stored() : managers;
}

/**
 * Returns the object with the managed fields that a create, update or patch by a manager leads to.
 *
 * Once an object has no managed fields (they were reset), updates do not track until the next apply. If nothing but times would
 * change, the stored object itself is returned.
 */
export function trackUpdate(options: TrackOptions): object {
  const { live, updated, schema } = options;
  const managers = startingManagers(options);
  if (managers.size > 0 || live === undefined) {
    const type = rootType(schema);
    const problem = versionProblem(writtenIn(managers), options.apiVersion, options.versions, live, updated);
    // A write is not refused for its managers: they stay as they were.
    if (problem === undefined && !isOutdated(type, options)) updateManagers(options, managers, type);
  }
  return unlessSame(live, withManagers(updated, managers));
}

/** Tells whether a stored object does not fit its schema any more: what it changes to cannot be told then. */
function isOutdated(type: FieldType, { live, versions }: TrackOptions): boolean {
  if (versions === undefined || live === undefined) return false;
  return !fits(type, live);
}

function writtenIn(managers: Managers): string[] {
  return [...managers.values()].map(({ apiVersion }) => apiVersion);
}

/** Names the object that a request applies, as error messages do. */
export function describe(applied: object): string {
  const { apiVersion, kind } = applied as { apiVersion?: unknown; kind?: unknown };
  const { namespace = "", name = "" } = metadataOf(applied) as { namespace?: string; name?: string };
  const version = String(apiVersion ?? "");
  return `${namespace}/${name}; ${version.includes("/") ? version : `/${version}`}, Kind=${String(kind ?? "")}`;
}

/** Takes out what the manager applied before and does not any more, unless somebody else owns it. */
function pruned(type: FieldType, merged: unknown, managers: Managers, last: Fields): unknown {
  const lastFields = withNamedFields(type, last);
  const before = withNamedFields(type, fieldSet(type, merged));
  let owned: Fields = LEAF;
  for (const { fields } of managers.values()) owned = union(owned, fields);
  const cut = withNamedFields(type, fieldSet(type, removeFields(type, merged, lastFields)));
  const keep = union(cut, withNamedFields(type, owned));
  const kept = removeFields(type, merged, difference(before, keep));
  // What the manager never applied comes back.
  const keptFields = withNamedFields(type, fieldSet(type, kept));
  return removeFields(type, merged, intersection(difference(before, keptFields), lastFields));
}

/** What an apply leads to. */
export type ApplyResult = { object: object } | { conflicts: Conflict[] };

/**
 * Applies a configuration.
 *
 * The object is the stored one with what is applied merged in and what the manager no longer applies taken out, not yet defaulted.
 * If nothing would change, the stored object itself is returned.
 *
 * @throws {PatchError} If what is applied sets managed fields (400), or does not fit the schema (500).
 */
export function applyPatch(options: ApplyOptions): ApplyResult {
  const { live, applied, manager: name, force = false, schema, apiVersion, subresource = "", time } = options;
  const type = rootType(schema);
  const managers = readManagers(metadataOf(live).managedFields) ?? new Map<string, Manager>();
  const base = live ?? { ...(schema === undefined ? {} : emptyObject(schema)), ...typeMeta(applied) };
  if (managers.size === 0) {
    updateManagers({ ...options, live: undefined, updated: base, manager: "before-first-apply" }, managers, type);
  }
  if (Array.isArray(metadataOf(applied).managedFields)) {
    throw new PatchError("metadata.managedFields must be nil", 400, "BadRequest");
  }
  const errors = checkTyped(type, applied);
  if (errors.length > 0) {
    throw new PatchError(`failed to create typed patch object (${describe(applied)}): ${errorText(errors)}`, 500, "");
  }
  const { managedFields: _, ...metadata } = metadataOf(base);
  const stored = "metadata" in base ? { ...base, metadata } : base;
  const self: Omit<Manager, "fields" | "time"> = {
    name: name || "unknown",
    operation: "Apply",
    apiVersion,
    subresource,
  };
  const id = managerId(self);
  const attempt = (forced: boolean) => applyTo(new Map(managers), forced);

  function applyTo(managers: Managers, forced: boolean): ApplyResult {
    const last = managers.get(id);
    const reset = resetSet(options);
    let fields = fieldSet(type, applied);
    if (!isEmpty(reset)) fields = recursiveDifference(fields, reset);
    managers.set(id, { ...self, time: last?.time, fields });
    let object = merge(type, stored, applied);
    // Nothing is taken out where all that was applied before is applied again, as mostly.
    if (last !== undefined && !isEmpty(difference(last.fields, fields))) {
      object = pruned(type, object, managers, last.fields);
    }
    const problem = versionProblem(writtenIn(managers), apiVersion, options.versions, stored, object as object);
    if (problem !== undefined) throw new PatchError(problem, 500, "");
    const changes = filtered(compare(type, stored, object), reset);
    const lost = takeAway(managers, id, changes, forced);
    if (lost !== undefined) return { conflicts: conflictsOf(managers, lost) };
    object = restored(object, stored, options);
    const changed = !equalJson(stored, object);
    const own = difference(fields, SERVER_FIELDS);
    if (isEmpty(own)) managers.delete(id);
    else managers.set(id, { ...self, time: changed ? time : last?.time, fields: own });
    return { object: unlessSame(live, withManagers(changed ? object as object : stored, managers)) };
  }

  let result = attempt(force);
  // kubectl may take what its own client-side apply has set.
  if (name === "kubectl" && "conflicts" in result) {
    const left = withoutAllowed(type, stored, apiVersion, result.conflicts, metadata.annotations, LAST_APPLIED);
    result = left.length > 0 ? { conflicts: left } : attempt(true);
  }
  return result;
}

function typeMeta(applied: object): JsonObject {
  const { apiVersion, kind } = applied as JsonObject;
  return { apiVersion, kind };
}

export { type Conflict } from "./_conflicts.ts";
