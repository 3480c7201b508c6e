/**
 * Writes stored objects as JSON: the text that is kept, where they are shown as they are stored.
 *
 * ```ts
 * import { encodeObject } from "./_encode.ts";
 *
 * console.assert(typeof encodeObject === "function");
 * ```
 *
 * @module
 */
import { isAsStored, view } from "./_behaviour.ts";
import type { Answer } from "./_call.ts";
import type { Fields } from "./_objects.ts";
import type { ResourceInfo } from "./_registry.ts";
import { Revision, type State } from "./_revision.ts";

/** How an object is shown. */
export type Representation = "object" | "partial" | "partial v1beta1";

/** The object with its metadata alone. */
export function partial(object: { metadata: unknown }, version = "v1"): Fields {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

/** The version of `meta.k8s.io` that metadata alone is shown in. */
export function partialVersion(as: Representation): string {
  return as === "partial v1beta1" ? "v1beta1" : "v1";
}

/** The JSON of a stored object in a version. */
export function encodeObject(info: ResourceInfo, state: State, as: Representation = "object"): string {
  if (as !== "object") return JSON.stringify(partial(state.object, partialVersion(as)));
  return state instanceof Revision && isAsStored(info, state) ? state.text : JSON.stringify(view(info, state));
}

/** The answer that shows an object. */
export function answerOf(info: ResourceInfo, code: number, state: State): Answer {
  return { code, body: encodeObject(info, state), state };
}

/** The JSON of a stored object as an item of a list: built-in kinds leave apiVersion and kind out. */
export function encodeItem(info: ResourceInfo, state: State, as: Representation = "object"): string {
  const text = encodeObject(info, state, as);
  if (as !== "object" || info.custom) return text;
  const prefix = `{"apiVersion":${JSON.stringify(info.apiVersion)},"kind":${JSON.stringify(info.kind)},`;
  return text.startsWith(prefix) ? `{${text.slice(prefix.length)}` : text;
}
