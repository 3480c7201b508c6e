/**
 * Adds and removes one finalizer of an object without ever touching those of others.
 *
 * ```ts
 * import type { Api, KubernetesObject } from "@tend/operator";
 * import { addFinalizer, removeFinalizer } from "./finalizer.ts";
 *
 * export async function hold(api: Api<KubernetesObject>, object: KubernetesObject): Promise<void> {
 *   const held = await addFinalizer(api, object, "example.com/cleanup");
 *   if (held) await removeFinalizer(api, held, "example.com/cleanup");
 * }
 * ```
 *
 * # Guarantees
 *
 * Every write is a JSON patch that tests the object's uid and the finalizers that it was made from, so it lands on that very
 * object and on nothing newer; when the tests fail the object is read again.
 *
 * # RBAC
 *
 * `get` and `patch` on the kind.
 *
 * @module
 */
import type { Api } from "./client.ts";
import { patchCurrent } from "./patch.ts";
import type { KubernetesObject } from "./resource.ts";

/** True if the finalizer is among the object's. */
export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds the finalizer to a living object.
 *
 * @returns The object with it; undefined if the object is gone or being deleted, when none may be added
 */
export async function addFinalizer<T extends KubernetesObject>(
  api: Api<T>,
  object: T,
  finalizer: string,
): Promise<T | undefined> {
  const result = await patchCurrent(api, object, ({ metadata: { deletionTimestamp, finalizers } }) => {
    if (deletionTimestamp || finalizers?.includes(finalizer)) return undefined;
    const path = "/metadata/finalizers";
    // A test for null passes only where there is no such member.
    return finalizers?.length
      ? [{ op: "test", path, value: finalizers }, { op: "add", path: `${path}/-`, value: finalizer }]
      : [{ op: "test", path, value: finalizers ?? null }, { op: "add", path, value: [finalizer] }];
  });
  return result && hasFinalizer(result, finalizer) ? result : undefined;
}

/**
 * Removes the finalizer, and only it.
 *
 * @returns The object without it; undefined if the object is gone
 */
export function removeFinalizer<T extends KubernetesObject>(
  api: Api<T>,
  object: T,
  finalizer: string,
): Promise<T | undefined> {
  return patchCurrent(api, object, ({ metadata: { finalizers = [] } }) => {
    const index = finalizers.indexOf(finalizer);
    if (index < 0) return undefined;
    const path = `/metadata/finalizers/${index}`;
    return [{ op: "test", path, value: finalizer }, { op: "remove", path }];
  });
}
