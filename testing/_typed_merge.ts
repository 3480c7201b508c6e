/**
 * Merges what is applied into an object, and takes fields out of one.
 *
 * ```ts
 * import { merge, removeFields } from "./_typed_merge.ts";
 * import { DEDUCED } from "./_typed.ts";
 *
 * merge(DEDUCED, { data: { k: "v" } }, { data: { l: "w" } }); // { data: { k: "v", l: "w" } }
 * removeFields(DEDUCED, { data: { k: "v", l: "w" } }, { "f:data": { "f:k": {} } }); // { data: { l: "w" } }
 * ```
 *
 * @module
 */
import { below, type Fields, hasElement } from "./_field_set.ts";
import { isObject, type JsonObject, putMember } from "./_json.ts";
import { type FieldType, itemElement, kindOf, type ListFieldType, type MapFieldType, typeOfField } from "./_typed.ts";

/** Merges the second value into the first; undefined stands for nothing. What does not change is shared. */
export function merge(type: FieldType, left: unknown, right: unknown): unknown {
  if (left === right) return left;
  const kind = right === undefined ? kindOf(type, left) : kindOf(type, right);
  const keep = right === undefined ? left : right;
  if (kind === "map") {
    const before = isObject(left) ? left : undefined, after = isObject(right) ? right : undefined;
    if (type.map!.atomic || isHollow(before) && isHollow(after)) return keep;
    return mergeMaps(type.map!, before, after);
  }
  if (kind === "list") {
    const before = Array.isArray(left) ? left : [], after = Array.isArray(right) ? right : [];
    if (type.list!.atomic || before.length === 0 && after.length === 0) return keep;
    return mergeLists(type.list!, before, after);
  }
  return keep;
}

function isHollow(value: JsonObject | undefined): boolean {
  for (const _ in value) return false;
  return true;
}

function mergeMaps(map: MapFieldType, left: JsonObject | undefined, right: JsonObject | undefined): unknown {
  if (right === undefined) return left;
  const out: JsonObject = { ...left };
  let changed = left === undefined;
  for (const key in right) {
    const before = left !== undefined && Object.hasOwn(left, key) ? left[key] : undefined;
    const after = merge(typeOfField(map, key), before, right[key]);
    if (after === before && before !== undefined) continue;
    changed = true;
    if (after === undefined) delete out[key];
    else putMember(out, key, after);
  }
  return changed ? out : left;
}

/** A list by path elements; of those that come more than once only the fact is known. */
interface IndexedList {
  elements: string[];
  items: unknown[];
  byElement: Map<string, unknown>;
}

function indexed(list: ListFieldType, items: readonly unknown[]): IndexedList {
  const out: IndexedList = { elements: [], items: [], byElement: new Map() };
  for (const item of items) {
    const { element } = itemElement(list, item);
    if (element === undefined) continue;
    out.elements.push(element);
    out.items.push(item);
    out.byElement.set(element, out.byElement.has(element) ? null : item);
  }
  return out;
}

/**
 * Merges two lists: the items of the second come in its order, those that only the first has stay where they are in between,
 * ahead of the shared item that they came before.
 */
function mergeLists(list: ListFieldType, leftItems: readonly unknown[], rightItems: readonly unknown[]): unknown[] {
  const left = indexed(list, leftItems), right = indexed(list, rightItems);
  const shared = right.elements.filter((element) => left.byElement.has(element));
  const done = new Set<string>();
  const out: unknown[] = [];
  let next = 0, l = 0, r = 0;
  const put = (element: string) => {
    done.add(element);
    const merged = merge(list.item, left.byElement.get(element), right.byElement.get(element));
    if (merged !== undefined) out.push(merged);
  };
  while (l < left.elements.length || r < right.elements.length) {
    const mine = left.elements[l], theirs = right.elements[r];
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        put(mine);
        l++, r++, next++;
        continue;
      }
      if (right.byElement.has(mine) && next < shared.length && shared[next] !== mine) {
        // Shared, but its turn comes later.
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!right.byElement.has(mine)) {
        out.push(merge(list.item, left.items[l], undefined));
        l++;
        continue;
      }
      if (done.has(mine)) l++;
    }
    if (theirs !== undefined) {
      put(theirs);
      r++;
      if (shared[next] === theirs) next++;
    }
  }
  return out;
}

/** Takes fields out of a value. What does not change is shared; what has nothing left becomes null. */
export function removeFields(type: FieldType, value: unknown, set: Fields): unknown {
  switch (kindOf(type, value)) {
    case "map":
      if (!isObject(value) || type.map!.atomic || isHollow(value)) return null;
      return removeMembers(type.map!, value, set);
    case "list":
      if (!Array.isArray(value) || type.list!.atomic || value.length === 0) return null;
      return removeItems(type.list!, value, set);
    default:
      return value;
  }
}

function removeMembers(map: MapFieldType, value: JsonObject, set: Fields): unknown {
  const out: JsonObject = {};
  for (const key in value) {
    const element = `f:${key}`;
    if (hasElement(set, element)) continue;
    const rest = below(set, element);
    const kept = rest === undefined ? value[key] : removeFields(typeOfField(map, key), value[key], rest);
    putMember(out, key, kept);
  }
  return isHollow(out) ? null : out;
}

function removeItems(list: ListFieldType, value: readonly unknown[], set: Fields): unknown {
  const out: unknown[] = [];
  for (const item of value) {
    const { element } = itemElement(list, item);
    if (element !== undefined) {
      if (hasElement(set, element)) continue;
      const rest = below(set, element);
      out.push(rest === undefined ? item : removeFields(list.item, item, rest));
    } else out.push(item);
  }
  return out.length > 0 ? out : null;
}
