/**
 * Reads, writes, compares and copies JSON values safely, whatever their keys are called.
 *
 * ```ts
 * import { equalJson, putMember } from "./_json.ts";
 *
 * const object = {};
 * putMember(object, "__proto__", 1);
 * console.assert(equalJson(object, JSON.parse('{"__proto__": 1}')));
 * ```
 *
 * @module
 */

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Tells whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an object's own member, or undefined. */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an object's own member, also one called `__proto__`. */
export function putMember(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}

/** Tells whether two JSON values are the same; members in any order. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as JsonObject, right = b as JsonObject;
  let size = 0;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || !equalJson(left[key], right[key])) return false;
    size++;
  }
  for (const _ in right) size--;
  return size === 0;
}

/** Tells whether two JSON objects are the same but for one member. */
export function equalBut(a: JsonObject, b: JsonObject, but: string): boolean {
  let size = 0;
  for (const key in a) {
    if (key === but) continue;
    if (!Object.hasOwn(b, key) || !equalJson(a[key], b[key])) return false;
    size++;
  }
  for (const key in b) if (key !== but) size--;
  return size === 0;
}

/** A JSON value with the members of its objects in order, as Go writes maps. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) putMember(sorted, key, sortedKeys(value[key]));
  return sorted;
}

/** Copies a JSON value, all the way down. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: JsonObject = {};
  for (const key in value) putMember(copy, key, cloneJson((value as JsonObject)[key]));
  return copy as T;
}

/** Writes the way to a member or an item, such as `spec.list[0].name`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}
