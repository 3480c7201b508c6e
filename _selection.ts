/**
 * Checks what part of a kind is watched, and tells whether an object is in it.
 *
 * ```ts
 * import { selector } from "./_selection.ts";
 *
 * const selects = selector({ labelSelector: "app=web" });
 * const metadata = { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "2030-01-01T00:00:00Z" };
 * console.assert(!selects({ apiVersion: "v1", kind: "ConfigMap", metadata }));
 * ```
 *
 * @module
 */
import { assertNamespaces } from "./names.ts";
import type { KubernetesObject } from "./resource.ts";
import { labelSelector as readLabelSelector } from "./selectors.ts";

/** What part of a kind to watch. */
export interface Selection {
  /** Only these namespaces, by one watch for each. @default {all, by one watch} */
  readonly namespaces?: readonly string[] | undefined;
  /** Only what this label selector selects, such as `app=web,tier!=test`. @default {all} */
  readonly labelSelector?: string | undefined;
  /** Only what this field selector selects, such as `metadata.name=web`. @default {all} */
  readonly fieldSelector?: string | undefined;
}

/**
 * Checks a selection; `what` names in errors what is defined by it.
 *
 * @throws {TypeError} If a namespace is not a name, or there is none in the list
 * @throws {SyntaxError} If the label selector is not one
 */
export function assertSelection({ namespaces, labelSelector = "" }: Selection, what: string): void {
  assertNamespaces(namespaces, what);
  readLabelSelector(labelSelector);
}

/**
 * Answers with what tells whether the selectors select an object, by its labels and fields.
 *
 * Which fields can select, and what they hold, only the server knows, but for the name and the namespace. An object that
 * cannot be judged is not selected.
 *
 * @throws {SyntaxError} If the label selector is not one
 */
export function selector({ labelSelector = "", fieldSelector = "" }: Selection): (object: KubernetesObject) => boolean {
  const byLabels = readLabelSelector(labelSelector);
  const byFields = fieldSelector.split(",").filter((part) => part.trim() !== "").map(readField);
  return (object) => byLabels(object.metadata.labels) && byFields.every((selects) => selects(object));
}

function readField(text: string): (object: KubernetesObject) => boolean {
  const [, field, operator, value] = /^\s*metadata\.(name|namespace)\s*(==|=|!=)\s*(.*?)\s*$/.exec(text) ?? [];
  if (field === undefined) return () => false;
  return ({ metadata }) => ((metadata[field as "name" | "namespace"] ?? "") === value) === (operator !== "!=");
}
