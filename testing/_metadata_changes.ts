/**
 * Checks the metadata of an update.
 *
 * ```ts
 * import { metadataChanges } from "./_metadata_changes.ts";
 *
 * console.assert(typeof metadataChanges === "function");
 * ```
 *
 * @module
 */
import { behaviourOf } from "./_behaviour.ts";
import type { Call } from "./_call.ts";
import { validateMetadata, validateMetadataUpdate } from "./_metadata.ts";
import { equal, type Kube } from "./_objects.ts";
import type { Cause } from "./_status.ts";

/** What is wrong with the metadata of an update; the real server says of a custom resource most of it several times. */
export function metadataChanges({ info }: Call, { metadata }: Kube, old: Kube, subresource: string): Cause[] {
  const { names = "subdomain", bareFinalizers } = behaviourOf(info);
  const changes = validateMetadataUpdate(metadata, old.metadata);
  if (subresource !== "" && equal(metadata.labels, old.metadata.labels)) {
    return info.custom ? [...changes, ...changes] : changes;
  }
  const fresh = validateMetadata(metadata, info.namespaced, names, bareFinalizers)
    .filter(({ field }) => !field.startsWith("metadata.name"));
  if (!info.custom) return [...changes, ...fresh];
  const again = [...changes, ...fresh.filter(({ field }) => !field.startsWith("metadata.finalizers"))];
  return [...fresh, ...again, ...again];
}
