/**
 * Keeps `managedFields`: who set which field.
 *
 * ```ts
 * import { resetBy } from "./_ownership.ts";
 *
 * console.assert(typeof resetBy === "function");
 * ```
 *
 * @module
 */
import { behaviourOf } from "./_behaviour.ts";
import { builtinSchema } from "./_builtin.ts";
import type { Call } from "./_call.ts";
import { trackUpdate } from "./_managed_fields.ts";
import { type Kube, timestamp } from "./_objects.ts";
import { managerOf } from "./_options.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { Schema } from "./_schema.ts";

/** The schema that a resource's fields are known by. */
export function schemaOf(info: ResourceInfo): Schema | undefined {
  return info.custom?.schema ?? builtinSchema(info.group, info.version, info.kind);
}

/** The fields that a write through a subresource cannot change. */
export function resetBy(info: ResourceInfo, subresource: string): string[] {
  const behaviour = behaviourOf(info);
  if (subresource !== "status") return behaviour.status ? ["status"] : [];
  if (behaviour.statusKeepsMetadata) return ["spec", "metadata"];
  return ["spec", ...(behaviour.statusKeeps ?? []).map((name) => `metadata.${name}`)];
}

/** Notes what an ordinary write changes. */
export function track(call: Call, live: Kube | undefined, updated: Kube, subresource = ""): Kube {
  const { info, server } = call;
  const manager = managerOf(call.query, call.headers.get("user-agent"));
  const tracked = trackUpdate({
    live,
    updated,
    manager,
    schema: schemaOf(info),
    apiVersion: info.apiVersion,
    versions: info.custom?.versions,
    subresource,
    time: timestamp(server.now()),
    reset: resetBy(info, subresource),
  }) as Kube;
  // What comes after may set members, which must not be those of what is stored.
  return tracked === live ? { ...tracked, metadata: { ...tracked.metadata } } : tracked;
}
