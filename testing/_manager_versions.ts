/**
 * Holds an object against the versions that its managers wrote it in: each must be able to say what is in it.
 *
 * ```ts
 * import { versionProblem } from "./_manager_versions.ts";
 *
 * console.assert(versionProblem(["v1"], "v1", undefined, {}, {}) === undefined);
 * ```
 *
 * @module
 */
import { rootType } from "./_root_type.ts";
import type { Schema } from "./_schema.ts";
import { checkTyped, errorText } from "./_typed_check.ts";

/** The schema of each version of a kind that has several. */
export type VersionSchemas = ReadonlyMap<string, Schema>;

/**
 * What keeps the managers of other versions from being told of a write; undefined if nothing does.
 *
 * Objects are the same in all versions but for `apiVersion`: a member that a version does not have cannot be said in it.
 */
export function versionProblem(
  managers: Iterable<string>,
  apiVersion: string,
  versions: VersionSchemas | undefined,
  live: object | undefined,
  updated: object,
): string | undefined {
  if (versions === undefined) return undefined;
  const others = new Set(managers);
  others.delete(apiVersion);
  const schema = versions.get(apiVersion);
  for (const other of others) {
    const found = versions.get(other);
    if (found === undefined) return `request to convert CR to an invalid group/version: ${other}`;
    if (found === schema) continue;
    const type = rootType(found);
    const before = live === undefined ? [] : checkTyped(type, live);
    if (before.length > 0) return errorText(before);
    const after = checkTyped(type, updated);
    if (after.length > 0) return `failed to convert new object: ${errorText(after)}`;
  }
  return undefined;
}
