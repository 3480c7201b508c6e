/**
 * Describes resources, versions and groups as they are served.
 *
 * ```ts
 * import type { SubresourceInfo } from "./_resource_info.ts";
 *
 * const status: SubresourceInfo = { name: "status", kind: "Widget", verbs: ["get", "patch", "update"] };
 * console.assert(status.verbs.length === 3);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import type { Schema } from "./_schema.ts";

/** A column that `kubectl get` shows. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** Where a custom resource keeps what its scale shows. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** What a CustomResourceDefinition says of one version. */
export interface CustomVersion {
  /** The definition's name. */
  readonly definition: string;
  readonly schema: Schema;
  /** The schemas of all versions, by `apiVersion`. */
  readonly versions: ReadonlyMap<string, Schema>;
  readonly behaviour: Behaviour;
  readonly columns: readonly PrinterColumn[] | undefined;
  readonly scale: ScalePaths | undefined;
  /** True while the definition is being deleted. */
  readonly terminating: boolean;
  /** The version that objects are stored in. */
  readonly storageVersion: string;
  /** The text of the warning, if the version is deprecated. */
  readonly deprecation: string | undefined;
}

/** A subresource as discovery shows it. */
export interface SubresourceInfo {
  /** The name, such as `status`. */
  readonly name: string;
  /** The kind that is read and written there. */
  readonly kind: string;
  /** The kind's group, if it is not that of the resource. */
  readonly group?: string | undefined;
  /** The kind's version, if it is not that of the resource. */
  readonly version?: string | undefined;
  /** What can be done there. */
  readonly verbs: readonly string[];
}

/** A resource in one version. */
export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: ReadonlyMap<string, SubresourceInfo>;
  /** The collection that holds the objects, whatever version they are written in. */
  readonly storage: string;
  /** Distinguishes encodings of one stored object: another version, another definition. */
  readonly encoding: string;
  /** What discovery shows as hash of the storage version. */
  readonly hash?: string | undefined;
  /** Set for custom resources. */
  readonly custom?: CustomVersion | undefined;
}

/** A group that is served, with its versions, the preferred one first. */
export interface GroupInfo {
  readonly name: string;
  readonly versions: readonly VersionInfo[];
}

/** A version of a group, with its resources by plural. */
export interface VersionInfo {
  readonly version: string;
  readonly resources: ReadonlyMap<string, ResourceInfo>;
}
