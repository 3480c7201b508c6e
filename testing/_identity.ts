/**
 * Checks that an object is the one that a request is about: by its name, its uid and its version.
 *
 * ```ts
 * import { storageKey } from "./_identity.ts";
 * import { Registry } from "./_registry.ts";
 *
 * const info = new Registry().find("apps", "v1", "deployments")!;
 * console.assert(storageKey(info, "n", "a") === "/registry/deployments/n/a");
 * ```
 *
 * @module
 */
import { behaviourOf } from "./_behaviour.ts";
import type { Call } from "./_call.ts";
import type { Fields, Kube } from "./_objects.ts";
import type { ResourceInfo } from "./_resource_info.ts";
import { badRequest, cause, conflict, internal, invalid, modified, type StatusError } from "./_status.ts";

/** Refuses an object without the name that the path has. */
export function checkName({ asked }: Call, { metadata }: Fields): void {
  if (!metadata?.name) {
    throw badRequest(`the name of the object (${asked.name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== asked.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${asked.name})`,
    );
  }
}

/** Where an object is kept, as errors name it. */
export function storageKey(info: ResourceInfo, namespace: string | undefined, name: string): string {
  const kept = info.storage.replace(/^([^.]+)\.(.+)$/, info.custom ? "$2/$1" : "$1");
  return `/registry/${kept}${info.namespaced ? `/${namespace}` : ""}/${name}`;
}

/** The error for what the storage does not do. */
export function storageConflict(info: ResourceInfo, { namespace, name }: Kube["metadata"], why: string): StatusError {
  const at = `Key: ${storageKey(info, namespace, name!)}, ResourceVersion: 0`;
  return conflict(
    info,
    name!,
    `StorageError: invalid object, Code: 4, ${at}, AdditionalErrorMsg: ${why}`,
  );
}

/** Refuses a write that was made for an object of another uid. */
export function checkUid(info: ResourceInfo, uid: string | undefined, { metadata }: Kube): void {
  if (!uid || uid === metadata.uid) return;
  throw storageConflict(
    info,
    metadata,
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ""}`,
  );
}

/** Refuses a version that is no number. */
export function checkVersionText(version: string | undefined): void {
  if (!version || /^\d+$/.test(version)) return;
  throw internal(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
}

/** Refuses an update that was made for another version or another object. */
export function checkVersion({ info }: Call, object: Kube, old: Kube, replaces: boolean): void {
  const { uid, resourceVersion } = object.metadata;
  const name = old.metadata.name!;
  if (replaces) checkUid(info, uid, old);
  checkVersionText(resourceVersion);
  if (!resourceVersion || resourceVersion === "0") {
    if (behaviourOf(info).conditionalUpdate) {
      const kind = { group: info.group, kind: info.plural };
      throw invalid(kind, name, [cause.invalid("metadata.resourceVersion", 0, "must be specified for an update")]);
    }
    return;
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw modified(info, name);
}
