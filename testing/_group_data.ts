/**
 * Describes how the built-in groups and resources are written down as data.
 *
 * ```ts
 * import type { GroupData } from "./_group_data.ts";
 *
 * const group: GroupData = { name: "apps", versions: [{ version: "v1", resources: [] }] };
 * console.assert(group.versions.length === 1);
 * ```
 *
 * @module
 */

/** A resource in {@linkcode GroupData}. */
export interface ResourceData {
  readonly name: string;
  readonly singularName?: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly version?: string;
  readonly hash?: string;
}

/** A version of a group in {@linkcode GroupData}. */
export interface VersionData {
  readonly version: string;
  /** Those of the group and of the version, as the APIService says that is there from the start; absent if there is none. */
  readonly priority?: readonly [group: number, version: number];
  readonly resources: readonly ResourceData[];
}

/** A group of built-in resources. */
export interface GroupData {
  readonly name: string;
  readonly versions: readonly VersionData[];
}
