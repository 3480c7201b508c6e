/**
 * Applies strategic merge patches: lists of built-in kinds merge by key, and directives replace, delete and order.
 *
 * ```ts
 * import { builtinSchema } from "./_builtin.ts";
 * import { strategicMerge } from "./_strategic.ts";
 *
 * const schema = builtinSchema("", "v1", "ConfigMap")!;
 * const live = { metadata: { finalizers: ["example.com/a"] } };
 * strategicMerge(live, { metadata: { finalizers: ["example.com/b"] } }, schema); // b, then a
 * ```
 *
 * Neither object is changed; the result shares what did not change.
 *
 * @module
 */
import { equalJson, isObject, type JsonObject, member, putMember } from "./_json.ts";
import { PatchError } from "./_json_patch.ts";
import { fieldSchema, type Schema } from "./_schema.ts";
import { goPrint, goType } from "./_typed_check.ts";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_PREFIX = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder";
const ORDER_PREFIX = `${ORDER}/`;
const NOTHING: Schema = {};

function fail(message: string): never {
  throw new PatchError(message, 500, "");
}

function malformed(message: string): never {
  throw new PatchError(message, 400, "BadRequest");
}

/**
 * Applies a strategic merge patch to an object.
 *
 * @throws {PatchError} If an item has no merge key, or a directive is wrong (500); if keys to retain are not told right (400).
 */
export function strategicMerge(live: object, patch: object, schema: Schema): object {
  return mergeObject(live as JsonObject, patch as JsonObject, schema);
}

function hasStrategy(schema: Schema, strategy: string): boolean {
  return schema["x-kubernetes-patch-strategy"]?.split(",").includes(strategy) === true;
}

function missingKey(item: unknown, key: string): never {
  fail(`map: ${goPrint(item)} does not contain declared merge key: ${key}`);
}

function badDirective(directive: unknown, item: JsonObject): never {
  fail(`unknown patch type: ${goPrint(directive)} in map: ${goPrint(item)}`);
}

function mergeObject(live: JsonObject | undefined, given: JsonObject, schema: Schema): JsonObject {
  if (Object.hasOwn(given, DIRECTIVE)) {
    const { [DIRECTIVE]: directive, ...rest } = given;
    if (directive === "replace") return rest;
    if (directive === "delete") return {};
    badDirective(directive, given);
  }
  const { [RETAIN_KEYS]: retain, ...patch } = given;
  const out: JsonObject = { ...live };
  if (retain !== undefined) retainKeys(out, patch, retain);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(ORDER_PREFIX)) orderList(out, patch, key, schema);
    else if (key === ORDER) checkOrderType(patch[key]);
  }
  for (const key in patch) {
    if (key.startsWith(ORDER_PREFIX)) continue;
    if (key.startsWith(DELETE_PREFIX)) deleteFrom(out, key.slice(DELETE_PREFIX.length), patch[key]);
    else mergeMember(out, key, patch[key], schema);
  }
  return out;
}

function retainKeys(out: JsonObject, patch: JsonObject, retain: unknown): void {
  const wrong = "invalid patch format of retainKeys";
  if (!Array.isArray(retain)) malformed(wrong);
  const keys = new Set(retain);
  for (const key in patch) {
    if (patch[key] === null || key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX)) continue;
    if (!keys.has(key)) malformed(wrong);
  }
  for (const key of Object.keys(out)) if (!keys.has(key)) delete out[key];
}

function deleteFrom(out: JsonObject, key: string, values: unknown): void {
  const list = member(out, key);
  if (!Array.isArray(list) || !Array.isArray(values)) return;
  putMember(out, key, list.filter((item) => !values.some((value) => equalJson(item, value))));
}

function mergeMember(out: JsonObject, key: string, value: unknown, schema: Schema): void {
  if (value === null) {
    delete out[key];
    return;
  }
  const before = member(out, key);
  const below = fieldSchema(schema, key) ?? NOTHING;
  if (isObject(before) && isObject(value)) {
    putMember(out, key, hasStrategy(below, "replace") ? value : mergeObject(before, value, below));
    return;
  }
  if (Array.isArray(before) && Array.isArray(value)) {
    putMember(out, key, hasStrategy(below, "merge") ? mergeList(before, value, below) : value);
    return;
  }
  const taken = withoutDirectives(withoutNulls(value));
  if (taken === undefined) delete out[key];
  else putMember(out, key, taken);
}

/** Takes out nulls, which delete nothing where nothing is. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key in value) if (value[key] !== null) putMember(out, key, withoutNulls(value[key]));
  return out;
}

/** Takes out whatever has a directive; undefined if the value itself has one. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const out: JsonObject = {};
  for (const key in value) {
    const item = withoutDirectives(value[key]);
    if (item !== undefined) putMember(out, key, item);
  }
  return out;
}

function assertAlike(live: readonly unknown[], patch: readonly unknown[]): boolean {
  const items = [...live, ...patch];
  const maps = items.filter(isObject).length;
  if (items.some(Array.isArray)) fail("not supporting lists of lists");
  if (maps > 0 && maps < items.length) fail(`list element types are not identical: ${goPrint([live, patch])}`);
  return maps > 0;
}

function mergeList(live: unknown[], patch: unknown[], schema: Schema): unknown[] {
  if (live.length === 0 && patch.length === 0) return live;
  const key = schema["x-kubernetes-patch-merge-key"];
  if (!assertAlike(live, patch)) return inOrder([...new Set([...live, ...patch])], patch, live, undefined);
  if (key === undefined) fail("cannot merge lists without merge key for type");
  const { kept, added } = withoutSpecial(live as JsonObject[], patch as JsonObject[], key);
  const merged = [...kept];
  for (const item of added) {
    if (!Object.hasOwn(item, key)) missingKey(item, key);
    const index = merged.findIndex((old) => equalJson(keyOf(old, key), item[key]));
    if (index >= 0) merged[index] = mergeObject(merged[index], item, schema.items ?? NOTHING);
    else merged.push(item);
  }
  return inOrder(merged, added, kept, key);
}

function keyOf(item: unknown, key: string): unknown {
  if (!isObject(item) || !Object.hasOwn(item, key)) missingKey(item, key);
  return item[key];
}

/** Carries out the directives among a patch's items. */
function withoutSpecial(live: JsonObject[], patch: JsonObject[], key: string) {
  let kept = live;
  let replace = false;
  const added: JsonObject[] = [];
  for (const item of patch) {
    const directive = member(item, DIRECTIVE);
    if (!Object.hasOwn(item, DIRECTIVE)) added.push(item);
    else if (directive === "delete") {
      if (!Object.hasOwn(item, key)) missingKey(item, key);
      kept = kept.filter((old) => !equalJson(keyOf(old, key), item[key]));
    } else if (directive === "replace") replace = true;
    else if (directive === "merge") fail("merging lists cannot yet be specified in the patch");
    else badDirective(directive, item);
  }
  return replace ? { kept: added, added: [] } : { kept, added };
}

/** Finds where an item is in a list, by its key or by itself. */
function positions(list: readonly unknown[], key: string | undefined): (item: unknown) => number {
  const idOf = (item: unknown) => JSON.stringify(key === undefined ? item : isObject(item) ? item[key] : null);
  const index = new Map<string | undefined, number>();
  for (const [position, item] of list.entries()) if (!index.has(idOf(item))) index.set(idOf(item), position);
  return (item) => index.get(idOf(item)) ?? -1;
}

/**
 * Orders a merged list: items of the patch in its order, the others in the order they were in, and where both are known to the
 * stored list, as there; new items come first.
 */
function inOrder(merged: unknown[], order: readonly unknown[], live: readonly unknown[], key: string | undefined) {
  const inPatch = positions(order, key), inLive = positions(live, key);
  const ours = merged.filter((item) => inPatch(item) >= 0).sort((a, b) => inPatch(a) - inPatch(b));
  const theirs = merged.filter((item) => inPatch(item) < 0).sort((a, b) => inLive(a) - inLive(b));
  const out: unknown[] = [];
  let l = 0, r = 0;
  while (l < theirs.length || r < ours.length) {
    const left = l < theirs.length ? inLive(theirs[l]) : -1, right = r < ours.length ? inLive(ours[r]) : -1;
    if (r >= ours.length || left >= 0 && right >= 0 && left < right) out.push(theirs[l++]);
    else out.push(ours[r++]);
  }
  return out;
}

function checkOrderType(order: unknown): asserts order is unknown[] {
  if (Array.isArray(order)) return;
  const whole = typeof order === "number" && Number.isInteger(order);
  const type = order === null ? "%!s(<nil>)" : whole ? "int64" : goType(order);
  fail(`expected a []interface {}, but received a ${type}`);
}

/** Merges and orders the list that a `$setElementOrder` directive is about, and takes both out of the patch. */
function orderList(out: JsonObject, patch: JsonObject, directive: string, schema: Schema): void {
  const name = directive.slice(ORDER_PREFIX.length);
  const order = patch[directive];
  delete patch[directive];
  checkOrderType(order);
  const below = fieldSchema(schema, name) ?? NOTHING;
  const key = below["x-kubernetes-patch-merge-key"];
  const live = member(out, name), given = member(patch, name);
  checkOrder(given, order, key);
  delete patch[name];
  let merged: unknown[];
  if (Array.isArray(given)) {
    if (Array.isArray(live)) merged = hasStrategy(below, "merge") ? mergeList(live, given, below) : given;
    else merged = withoutDirectives(given) as unknown[];
  } else if (Array.isArray(live)) merged = live;
  else return;
  putMember(out, name, inOrder(merged, order, Array.isArray(live) ? live : [], key));
}

function checkOrder(given: unknown, order: readonly unknown[], key: string | undefined): void {
  if (!Array.isArray(given) || given.length === 0 || order.length === 0) return;
  const items = given.filter((item) => !isObject(item) || !Object.hasOwn(item, DIRECTIVE));
  let next = 0;
  for (const wanted of order) {
    if (next >= items.length) return;
    const item = items[next];
    const same = key === undefined ? equalJson(item, wanted) : equalJson(keyOf(item, key), keyOf(wanted, key));
    if (same) next++;
  }
  if (next < items.length) {
    fail(`The order in patch list:\n${goPrint(given)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`);
  }
}
