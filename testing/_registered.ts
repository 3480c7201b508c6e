/**
 * Knows which kinds there are, beside those that are resources of their own.
 *
 * ```ts
 * import { isRegistered } from "./_registered.ts";
 * import { Registry } from "./_registry.ts";
 *
 * console.assert(isRegistered(new Registry(), "v1", "ConfigMapList"));
 * ```
 *
 * @module
 */
import { isFormer } from "./_former_versions.ts";
import type { Registry } from "./_registry.ts";

/** A kind in a version of its group. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What a Scale is written as. */
export const SCALE: KindName = { group: "autoscaling", version: "v1", kind: "Scale" };
/** What pods are bound by. */
export const BINDING: KindName = { group: "", version: "v1", kind: "Binding" };
/** What pods are evicted by. */
export const EVICTION: KindName = { group: "policy", version: "v1", kind: "Eviction" };
/** What tokens of service accounts are asked for with. */
export const TOKEN_REQUEST: KindName = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };

/** The kinds of the core group that are of every group. */
export const UNVERSIONED = ["Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"];
/** The kinds that each version has. */
const COMMON = [
  "WatchEvent",
  "ListOptions",
  "GetOptions",
  "CreateOptions",
  "UpdateOptions",
  "PatchOptions",
  "DeleteOptions",
];

/** True if there is such a kind. */
export function isRegistered(registry: Registry, apiVersion: string, kind: string): boolean {
  const slash = apiVersion.indexOf("/");
  const group = apiVersion.slice(0, Math.max(0, slash)), version = apiVersion.slice(slash + 1);
  const found = registry.version(group, version);
  if (!found) return isFormer(apiVersion, kind);
  if (COMMON.includes(kind) || (group === "" && [...UNVERSIONED, "List"].includes(kind))) return true;
  for (const info of found.resources.values()) {
    if (info.kind === kind || info.listKind === kind) return true;
    for (const sub of info.subresources.values()) {
      if (sub.kind === kind && (sub.group ?? group) === group && (sub.version ?? version) === version) return true;
    }
  }
  return isFormer(apiVersion, kind) ||
    [SCALE, BINDING, EVICTION, TOKEN_REQUEST].some((each) =>
      each.group === group && each.version === version && each.kind === kind
    );
}
