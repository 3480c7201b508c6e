/**
 * Tells whether an object is among those that a list or watch with given namespaces and selectors brings.
 *
 * ```ts
 * import { selection } from "./_selection.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const selects = selection(ConfigMap, { fieldSelector: "metadata.name=a" });
 * console.assert(typeof selects === "function");
 * ```
 *
 * @module
 */
import { assertDnsLabel } from "./names.ts";
import type { KubernetesObject, Resource } from "./resource.ts";
import { labelSelector as readLabelSelector } from "./selectors.ts";

/** What selects. */
export interface SelectionOptions {
  /** The namespaces to look in. @default {all namespaces} */
  namespaces?: readonly string[] | undefined;
  /** Selects by labels, on the server. @default {everything} */
  labelSelector?: string | undefined;
  /** Selects by fields, on the server. @default {everything} */
  fieldSelector?: string | undefined;
}

/**
 * Checks the options and answers with what tells whether they select an object, by its labels and fields.
 *
 * Which fields can select, and what they hold, only the server knows, but for the name and the namespace. An object that
 * cannot be judged is not selected.
 *
 * @throws {TypeError} If a namespace is not a name, or there is none in the list
 * @throws {SyntaxError} If the label selector is not one
 */
export function selection(resource: Resource, options: SelectionOptions): (object: KubernetesObject) => boolean {
  const { namespaces, labelSelector = "", fieldSelector = "" } = options;
  if (namespaces?.length === 0) {
    throw new TypeError(
      `Cannot watch ${resource.kind}: 'namespaces' must not be empty, or be left out for all: current value is []`,
    );
  }
  for (const namespace of namespaces ?? []) assertDnsLabel(namespace, `watch of ${resource.kind}`, "namespaces");
  const byLabels = readLabelSelector(labelSelector);
  const byFields = fieldSelector.split(",").filter((part) => part.trim() !== "").map(readField);
  return (object) => byLabels(object.metadata.labels) && byFields.every((selects) => selects(object));
}

function readField(text: string): (object: KubernetesObject) => boolean {
  const [, field, operator, value] = /^\s*metadata\.(name|namespace)\s*(==|=|!=)\s*(.*?)\s*$/.exec(text) ?? [];
  if (field === undefined) return () => false;
  return ({ metadata }) => ((metadata[field as "name" | "namespace"] ?? "") === value) === (operator !== "!=");
}
