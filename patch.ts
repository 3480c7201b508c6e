/**
 * Patches an object's current version: never its successor under the same name, and again from a fresh read when a race is lost.
 *
 * A merge patch cannot do that: on the status subresource of a custom resource the API server ignores a `metadata.uid` in it.
 *
 * ```ts
 * import type { Api, KubernetesObject } from "@tend/operator";
 * import { patchCurrent } from "./patch.ts";
 *
 * export async function pause(api: Api<KubernetesObject>, object: KubernetesObject): Promise<void> {
 *   await patchCurrent(api, object, () => [{ op: "add", path: "/spec/paused", value: true }]);
 * }
 * ```
 *
 * @module
 */
import type { Api } from "./client.ts";
import { isConflict, isInvalid, isNotFound } from "./errors.ts";
import type { JsonPatchOperation } from "./json.ts";
import type { KubernetesObject } from "./resource.ts";

/** How often a write that lost a race is made again from a fresh read before its error is passed on. */
const ATTEMPTS = 5;

/**
 * Patches the object as `operations` says for its current version, reading it again when a race was lost.
 *
 * @returns The patched object; the current one if `operations` answers with undefined for it; undefined if it is gone
 */
export async function patchCurrent<T extends KubernetesObject>(
  api: Api<T>,
  object: T,
  operations: (current: T) => JsonPatchOperation[] | undefined,
  subresource?: "status",
): Promise<T | undefined> {
  const { uid } = object.metadata;
  let current: T | undefined = object;
  for (let attempt = 1;; attempt++) {
    const patch = operations(current);
    if (patch === undefined) return current;
    const body: JsonPatchOperation[] = [{ op: "test", path: "/metadata/uid", value: uid }, ...patch];
    try {
      const target = subresource ? api[subresource] : api;
      return await target.patch(current, body, { type: "json" });
    } catch (error) {
      if (isNotFound(error)) {
        if (subresource && await isThere(api, object)) throw error;
        return undefined;
      }
      // A patch whose tests fail is answered like one that makes the object invalid; a fresh read tells which it was.
      if (!isConflict(error) && !isInvalid(error)) throw error;
      const fresh: T | undefined = await api.find(object);
      if (!fresh || fresh.metadata.uid !== uid) return undefined;
      // The very version that was read live refuses the patch: this is no race. (The first may be a cut-down cached one.)
      const same = fresh.metadata.resourceVersion === current.metadata.resourceVersion;
      if (attempt >= ATTEMPTS || (same && attempt > 1)) throw error;
      current = fresh;
    }
  }
}

async function isThere<T extends KubernetesObject>(api: Api<T>, object: T): Promise<boolean> {
  return (await api.find(object))?.metadata.uid === object.metadata.uid;
}
