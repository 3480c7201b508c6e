/**
 * Writes stored objects as JSON, once for each version and representation, and for each item of a list.
 *
 * ```ts
 * import { encodeObject } from "./_encode.ts";
 *
 * console.assert(typeof encodeObject === "function");
 * ```
 *
 * @module
 */
import { view } from "./_behaviour.ts";
import type { Fields } from "./_objects.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { Revision } from "./_store.ts";

/** How an object is shown. */
export type Representation = "object" | "partial";

/** The object with its metadata alone. */
export function partial(object: { metadata: unknown }): Fields {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

/** The JSON of a stored object in a version; made once. */
export function encodeObject(info: ResourceInfo, revision: Revision, as: Representation = "object"): string {
  const key = as === "partial" ? "partial" : info.encoding;
  const encodings = revision.encodings ??= new Map();
  let text = encodings.get(key);
  if (text === undefined) {
    text = JSON.stringify(as === "partial" ? partial(revision.object) : view(info, revision));
    encodings.set(key, text);
  }
  return text;
}

/** The JSON of a stored object as an item of a list: built-in kinds leave apiVersion and kind out. */
export function encodeItem(info: ResourceInfo, revision: Revision, as: Representation = "object"): string {
  const text = encodeObject(info, revision, as);
  if (as === "partial" || info.custom) return text;
  const prefix = `{"apiVersion":${JSON.stringify(info.apiVersion)},"kind":${JSON.stringify(info.kind)},`;
  return text.startsWith(prefix) ? `{${text.slice(prefix.length)}` : text;
}
