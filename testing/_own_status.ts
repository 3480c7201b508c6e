/**
 * Writes the status that the server itself keeps of an object: as a manager of its own.
 *
 * ```ts
 * import { writeOwnStatus } from "./_own_status.ts";
 *
 * console.assert(typeof writeOwnStatus === "function");
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import type { Ground } from "./_kind.ts";
import { trackUpdate } from "./_managed_fields.ts";
import { type Fields, type Kube, timestamp } from "./_objects.ts";

const MANAGER = "kube-apiserver";

/** Stores an object of a built-in kind with another status. */
export function writeOwnStatus(
  server: Pick<Ground, "store" | "now">,
  storage: string,
  object: Kube,
  status: Fields,
): void {
  const { apiVersion, kind, metadata } = object;
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const tracked = trackUpdate({
    live: object,
    updated: { ...object, status },
    manager: MANAGER,
    schema: builtinSchema(group, version, kind),
    apiVersion,
    versions: undefined,
    subresource: "status",
    time: timestamp(server.now()),
    reset: ["spec"],
  }) as Kube;
  server.store.collection(storage).put(metadata.namespace ?? "", metadata.name!, tracked);
}
