/**
 * Works out sets of fields: of an object, and of what differs between two.
 *
 * ```ts
 * import { compare, fieldSet } from "./_typed_set.ts";
 * import { DEDUCED } from "./_typed.ts";
 *
 * fieldSet(DEDUCED, { data: { k: "v" } }); // { "f:data": { ".": {}, "f:k": {} } }
 * compare(DEDUCED, { a: 1 }, { a: 2 }).modified; // { "f:a": {} }
 * ```
 *
 * @module
 */
import {
  asMember,
  compareElements,
  fieldElement,
  type Fields,
  insert,
  insertNode,
  isEmpty,
  LEAF,
  type MutableFields,
} from "./_field_set.ts";
import { equalJson, isObject, type JsonObject } from "./_json.ts";
import { type FieldType, itemElement, kindOf, type ListFieldType, type MapFieldType, typeOfField } from "./_typed.ts";

/** Returns the fields that an object has. */
export function fieldSet(type: FieldType, value: unknown): Fields {
  return nodeOf(type, value) ?? LEAF;
}

function nodeOf(type: FieldType, value: unknown): Fields | undefined {
  switch (kindOf(type, value)) {
    case "map":
      if (type.map!.atomic) return LEAF;
      return isObject(value) ? mapNode(type.map!, value) : undefined;
    case "list":
      if (type.list!.atomic) return LEAF;
      return Array.isArray(value) ? listNode(type.list!, value) : undefined;
    default:
      return LEAF;
  }
}

function mapNode(map: MapFieldType, value: JsonObject): Fields | undefined {
  const out: MutableFields = {};
  for (const key in value) {
    const item = value[key];
    let node = nodeOf(typeOfField(map, key), item);
    const hollow = item === null || isObject(item) && isEmptyObject(item);
    if (hollow || !map.fields.has(key)) node = asMember(node);
    if (node !== undefined) out[fieldElement(key)] = node as MutableFields;
  }
  return isEmpty(out) ? undefined : out;
}

function listNode(list: ListFieldType, value: readonly unknown[]): Fields | undefined {
  const out: MutableFields = {};
  for (const item of value) {
    const { element } = itemElement(list, item);
    if (element === undefined) continue;
    // Items that come more than once are owned as one.
    out[element] = (element in out ? LEAF : asMember(nodeOf(list.item, item))) as MutableFields;
  }
  return isEmpty(out) ? undefined : out;
}

function isEmptyObject(value: JsonObject): boolean {
  for (const _ in value) return false;
  return true;
}

/** Returns the set with the declared fields that have members below them as members too. */
export function withNamedFields(type: FieldType, set: Fields): Fields {
  const out: MutableFields = {};
  for (const element in set) {
    if (element === ".") {
      out["."] = {};
      continue;
    }
    const name = element[0] === "f" ? element.slice(2) : undefined;
    let below: FieldType | undefined;
    if (name !== undefined && type.map) below = type.map.fields.get(name) ?? type.map.element;
    else if (element[0] === "k" && type.list) below = type.list.item;
    let node = set[element]!;
    if (!isEmpty(node)) {
      if (below !== undefined) node = withNamedFields(below, node);
      if (name !== undefined && type.map?.fields.has(name)) node = asMember(node);
    }
    out[element] = node as MutableFields;
  }
  return out;
}

/** What differs between two objects. */
export interface Comparison {
  /** Fields that only the second has. */
  added: Fields;
  /** Fields that only the first has. */
  removed: Fields;
  /** Fields that both have, with different values. */
  modified: Fields;
}

/** Compares two objects. */
export function compare(type: FieldType, before: unknown, after: unknown): Comparison {
  const comparer = new Comparer();
  comparer.visit(type, before, after);
  return comparer;
}

class Comparer implements Comparison {
  readonly added: MutableFields = {};
  readonly removed: MutableFields = {};
  readonly modified: MutableFields = {};
  readonly #path: string[] = [];

  visit(type: FieldType, left: unknown, right: unknown): void {
    // What is shared by both is the same all the way down.
    if (left === right) return;
    if (left === undefined && this.#path.length > 0) return insertNode(this.added, this.#path, newNode(type, right));
    const leftKind = kindOf(type, left), rightKind = kindOf(type, right);
    let leaf: boolean;
    if (right === undefined) leaf = this.#visitAs(leftKind, type, left, right);
    else if (left === undefined || leftKind === rightKind) leaf = this.#visitAs(rightKind, type, left, right);
    else {
      this.#visitAs(leftKind, type, left, right);
      leaf = this.#visitAs(rightKind, type, left, right);
    }
    if (leaf) return;
    if (left === undefined) insert(this.added, this.#path);
    else if (right === undefined) insert(this.removed, this.#path);
  }

  #visitAs(kind: Kind, type: FieldType, left: unknown, right: unknown): boolean {
    if (kind === "map") {
      const map = type.map!;
      const before = isObject(left) ? left : undefined, after = isObject(right) ? right : undefined;
      const hollow = (!before || isEmptyObject(before)) && (!after || isEmptyObject(after));
      if (map.atomic || hollow) return this.#leaf(left, right);
      this.#members(map, before, after);
      return false;
    }
    if (kind === "list") {
      const list = type.list!;
      const before = Array.isArray(left) ? left : [], after = Array.isArray(right) ? right : [];
      if (list.atomic || before.length === 0 && after.length === 0) return this.#leaf(left, right);
      this.#items(list, before, after);
      return false;
    }
    return this.#leaf(left, right);
  }

  #leaf(left: unknown, right: unknown): boolean {
    if (left === undefined) insert(this.added, this.#path);
    else if (right === undefined) insert(this.removed, this.#path);
    else if (!equalJson(left, right)) insert(this.modified, this.#path);
    return true;
  }

  #members(map: MapFieldType, left: JsonObject | undefined, right: JsonObject | undefined): void {
    for (const key in left) {
      const other = right !== undefined && Object.hasOwn(right, key) ? right[key] : undefined;
      if (left[key] !== other) this.#descend(fieldElement(key), typeOfField(map, key), left[key], other);
    }
    for (const key in right) {
      if (left === undefined || !Object.hasOwn(left, key)) {
        this.#descend(fieldElement(key), typeOfField(map, key), undefined, right[key]);
      }
    }
  }

  #items(list: ListFieldType, left: readonly unknown[], right: readonly unknown[]): void {
    const before = group(list, left), after = group(list, right);
    for (const [element, items] of before) this.#item(list, element, items, after.get(element) ?? []);
    for (const [element, items] of after) if (!before.has(element)) this.#item(list, element, [], items);
  }

  #item(list: ListFieldType, element: string, left: unknown[], right: unknown[]): void {
    if (left.length <= 1 && right.length <= 1) return this.#descend(element, list.item, left[0], right[0]);
    // Items that come more than once are taken as one value.
    const path = [...this.#path, element];
    if (left.length > 1 && right.length > 1) {
      if (!equalJson(left, right)) insert(this.modified, path);
    } else if (left.length > 1) {
      if (right.length > 0) this.#descend(element, list.item, undefined, right[0]);
      insert(this.removed, path);
    } else {
      if (left.length > 0) this.#descend(element, list.item, left[0], undefined);
      insert(this.added, path);
    }
  }

  #descend(element: string, type: FieldType, left: unknown, right: unknown): void {
    this.#path.push(element);
    this.visit(type, left, right);
    this.#path.pop();
  }
}

/** The fields of a value where there was none: itself, and all that is below it, in order. */
function newNode(type: FieldType, value: unknown): Fields {
  switch (kindOf(type, value)) {
    case "map":
      return type.map!.atomic || !isObject(value) ? LEAF : newMap(type.map!, value);
    case "list":
      return type.list!.atomic || !Array.isArray(value) ? LEAF : newList(type.list!, value);
  }
  return LEAF;
}

function newMap(map: MapFieldType, value: JsonObject): Fields {
  let node: Record<string, Fields> | undefined;
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue;
    (node ??= { ".": LEAF })[fieldElement(key)] = newNode(typeOfField(map, key), value[key]);
  }
  return node ?? LEAF;
}

function newList(list: ListFieldType, value: readonly unknown[]): Fields {
  const groups = group(list, value);
  if (groups.size === 0) return LEAF;
  const node: Record<string, Fields> = { ".": LEAF };
  for (const element of [...groups.keys()].sort(compareElements)) {
    const items = groups.get(element)!;
    // Items that come more than once are taken as one value.
    node[element] = items.length > 1 ? LEAF : newNode(list.item, items[0]);
  }
  return node;
}

type Kind = ReturnType<typeof kindOf>;

function group(list: ListFieldType, items: readonly unknown[]): Map<string, unknown[]> {
  const out = new Map<string, unknown[]>();
  for (const item of items) {
    const { element } = itemElement(list, item);
    if (element === undefined) continue;
    const same = out.get(element);
    if (same === undefined) out.set(element, [item]);
    else same.push(item);
  }
  return out;
}
