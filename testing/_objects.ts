/**
 * Handles objects as the server keeps them: plain JSON that is never changed once it is stored.
 *
 * ```ts
 * import { equal, field } from "./_objects.ts";
 *
 * console.assert(equal({ a: [1] }, { a: [1] }));
 * console.assert(field({ spec: { replicas: 3 } }, "spec.replicas") === 3);
 * ```
 *
 * @module
 */
import type { DraftMeta } from "../resource.ts";

/** The fields of any object; what is in them is checked where they are read. */
// deno-lint-ignore no-explicit-any
export type Fields = Record<string, any>;

/** Any object of any kind. */
export interface Kube {
  /** Group and version. */
  apiVersion: string;
  /** The kind. */
  kind: string;
  /** The metadata. */
  metadata: DraftMeta;
  // deno-lint-ignore no-explicit-any
  [field: string]: any;
}

/** True for a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Copies JSON deeply. */
export function clone<T>(value: T): T {
  if (Array.isArray(value)) return value.map(clone) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy: Fields = {};
  for (const key in value) copy[key] = clone((value as Fields)[key]);
  return copy as T;
}

/** Compares JSON deeply; the order of keys does not count, and a member that is undefined is one that is not there. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!equal(a[index], b[index])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Fields, right = b as Fields;
  for (const key in left) if (!equal(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** Reads the value at a dotted path; undefined where the path leads nowhere. */
export function field(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const segment of path.split(".")) {
    if (!isObject(value)) return undefined;
    value = value[segment];
  }
  return value;
}

/** Sets the value at a path, making the objects on the way. */
export function setField(object: Fields, path: readonly string[], value: unknown): void {
  let at = object;
  for (const segment of path.slice(0, -1)) at = isObject(at[segment]) ? at[segment] : (at[segment] = {});
  at[path.at(-1)!] = value;
}

const FIRST = ["apiVersion", "kind", "metadata"];

/** True if what is to be first is. */
function isOrdered(object: Fields): boolean {
  let index = 0;
  for (const key in object) {
    if (key !== FIRST[index]) return false;
    if (++index === FIRST.length) return true;
  }
  return false;
}

/** Puts apiVersion, kind and metadata first, so that encodings can cut them off; answers with a copy. */
export function ordered(object: Fields, apiVersion: string, kind: string): Kube {
  if (isOrdered(object)) return { ...object, apiVersion, kind, metadata: object.metadata ?? {} };
  const { apiVersion: _a, kind: _k, metadata, ...rest } = object;
  return { apiVersion, kind, metadata: metadata ?? {}, ...rest };
}

/** The second that was written last, and how: the same one is written many times. */
const last = { second: NaN, text: "" };

/** A time as metadata carries it: RFC 3339, whole seconds. */
export function timestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== last.second) {
    last.text = `${date.toISOString().slice(0, -5)}Z`;
    last.second = second;
  }
  return last.text;
}
