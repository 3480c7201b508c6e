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

/** Each level is compared with all that is in it: deeper ones would take long. */
const MAX_DIFF_DEPTH = 100;

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True if both are the same JSON, however deep, and whatever the order of their keys; a key that is undefined counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  // not by recursion: an object may be deeper than the stack
  const pairs: unknown[] = [a, b];
  while (pairs.length > 0) {
    const [one, other] = [pairs.pop(), pairs.pop()];
    if (one === other) continue;
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
    if (Array.isArray(one)) {
      if (!Array.isArray(other) || one.length !== other.length) return false;
      for (let index = 0; index < one.length; index++) pairs.push(one[index], other[index]);
      continue;
    }
    if (!isObject(one) || !isObject(other)) return false;
    for (const key in one) {
      const [value, counterpart] = [one[key], Object.hasOwn(other, key) ? other[key] : undefined];
      if (value === counterpart) continue;
      if (typeof value !== "object" || typeof counterpart !== "object") return false;
      pairs.push(value, counterpart);
    }
    for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  }
  return true;
}

/** Sets a member even when it is called `__proto__`. */
function put(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A copy of its own, however deep; `structuredClone` and `JSON.stringify` go no deeper than the stack. */
export function clone<T>(value: T): T {
  const copies: { from: unknown; put: (copy: unknown) => void }[] = [];
  let result: unknown = value;
  copies.push({ from: value, put: (copy) => result = copy });
  for (let next = copies.pop(); next; next = copies.pop()) {
    const { from, put: take } = next;
    if (Array.isArray(from)) {
      const list = [...from];
      take(list);
      list.forEach((item, index) => {
        if (isNested(item)) copies.push({ from: item, put: (copy) => list[index] = copy });
      });
    } else if (isObject(from)) {
      const object: JsonObject = { ...from };
      take(object);
      for (const [key, item] of Object.entries(object)) {
        if (isNested(item)) copies.push({ from: item, put: (copy) => put(object, key, copy) });
      }
    }
  }
  return result as T;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Answers with the target after a JSON merge patch (RFC 7386), however deep; neither argument is changed. */
export function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const copy = (value: unknown): JsonObject => isObject(value) ? { ...value } : {};
  const result = copy(target);
  const work: [JsonObject, JsonObject][] = [[result, patch]];
  for (let next = work.pop(); next; next = work.pop()) {
    const [into, from] = next;
    for (const [key, value] of Object.entries(from)) {
      if (value === undefined) continue;
      if (value === null) delete into[key];
      else if (isObject(value)) {
        const inner = copy(Object.hasOwn(into, key) ? into[key] : undefined);
        put(into, key, inner);
        work.push([inner, value]);
      } else put(into, key, value);
    }
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
 * Members of objects are compared one by one; lists are replaced whole, and so is what is more than 100 levels deep.
 */
export function diff(from: unknown, to: unknown, path = ""): JsonPatchOperation[] {
  return diffAt(from, to, path, 0);
}

function diffAt(from: unknown, to: unknown, path: string, depth: number): JsonPatchOperation[] {
  if (equal(from, to)) return [];
  if (!isObject(from) || !isObject(to) || depth >= MAX_DIFF_DEPTH) return [{ op: "replace", path, value: to }];
  const operations: JsonPatchOperation[] = [];
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key) || to[key] === undefined) {
      operations.push({ op: "remove", path: `${path}/${pointer(key)}` });
    }
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const at = `${path}/${pointer(key)}`;
    if (Object.hasOwn(from, key) && from[key] !== undefined) {
      operations.push(...diffAt(from[key], value, at, depth + 1));
    } else operations.push({ op: "add", path: at, value });
  }
  return operations;
}
