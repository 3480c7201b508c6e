/**
 * Names how the server's own controllers ask for changes, and the path of an object.
 *
 * ```ts
 * import type { Kube } from "./_objects.ts";
 * import { pathOf } from "./_perform.ts";
 * import { Registry } from "./_registry.ts";
 *
 * const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "n" } } as unknown as Kube;
 * console.assert(pathOf(new Registry().find("", "v1", "pods")!, object).endsWith("/namespaces/n/pods/a"));
 * ```
 *
 * @module
 */
import type { Fields, Kube } from "./_objects.ts";
import type { ResourceInfo } from "./_resource_info.ts";

/** Sends a request as the controller manager, or as another user agent; answers with the code and body. */
export type Perform = (
  method: string,
  path: string,
  body?: Fields,
  contentType?: string,
  agent?: string,
) => { code: number; body: Fields };

/** The path of an object. */
export function pathOf(info: ResourceInfo, { metadata }: Kube): string {
  const root = info.group === "" ? `/api/${info.version}` : `/apis/${info.apiVersion}`;
  const namespace = info.namespaced ? `/namespaces/${metadata.namespace}` : "";
  return `${root}${namespace}/${info.plural}/${encodeURIComponent(metadata.name ?? "")}`;
}
