/**
 * Compares, merges and diffs plain JSON values.
 *
 * ```ts
 * import { diff, equal, merge } from "./json.ts";
 *
 * console.assert(equal({ a: 1, b: [2] }, { b: [2], a: 1 }));
 * console.assert(equal(merge({ a: 1, b: 2 }, { b: null }), { a: 1 }));
 * console.assert(equal(diff({ a: 1 }, { a: 2 }), [{ op: "replace", path: "/a", value: 2 }]));
 * ```
 *
 * @module
 */

/** One operation of a JSON patch (RFC 6902); paths are JSON pointers (RFC 6901). */
export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; path: string; from: string };

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True if both are the same JSON, whatever the order of their keys; a key that is undefined counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  for (const key in a) if (!equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  for (const key in b) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false;
  return true;
}

/** Sets a member even when it is called `__proto__`. */
function put(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Answers with the target after a JSON merge patch (RFC 7386); neither argument is changed. */
export function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else put(result, key, merge(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}

/** Escapes one segment of a JSON pointer. */
export function pointer(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Makes the JSON patch that turns one value into the other.
 *
 * Members of objects are compared one by one; lists are replaced whole.
 */
export function diff(from: unknown, to: unknown, path = ""): JsonPatchOperation[] {
  if (equal(from, to)) return [];
  if (!isObject(from) || !isObject(to)) return [{ op: "replace", path, value: to }];
  const operations: JsonPatchOperation[] = [];
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key) || to[key] === undefined) {
      operations.push({ op: "remove", path: `${path}/${pointer(key)}` });
    }
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const at = `${path}/${pointer(key)}`;
    if (Object.hasOwn(from, key) && from[key] !== undefined) operations.push(...diff(from[key], value, at));
    else operations.push({ op: "add", path: at, value });
  }
  return operations;
}
