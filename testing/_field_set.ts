/**
 * Holds sets of fields as `managedFields` does: trees of path elements, in the very form that is written (`FieldsV1`).
 *
 * ```ts
 * import { difference, union } from "./_field_set.ts";
 *
 * const both = union({ "f:data": { "f:k": {} } }, { "f:data": { "f:l": {} } });
 * difference(both, { "f:data": { "f:k": {} } }); // { "f:data": { "f:l": {} } }
 * ```
 *
 * A path element is `f:NAME`, `k:{KEYS}` (an item of a list map), `v:VALUE` (an item of a set) or `i:INDEX`. A node without
 * elements is a member; one with elements is a member if it has the element `.`. The root stands for no field: `{}` is the
 * empty set. Sets are never changed, so they may share parts.
 *
 * @module
 */
import { remembered } from "./_remembered.ts";

/** A set of fields. */
export interface Fields {
  /** What is below a path element. */
  readonly [element: string]: Fields;
}

/** A set under construction. */
export interface MutableFields {
  /** What is below a path element. */
  [element: string]: MutableFields;
}

/** The node that is a member and has no elements; also the empty set. */
export const LEAF: Fields = Object.freeze({});

/** Tells whether a set has no members. */
export function isEmpty(set: Fields): boolean {
  for (const _ in set) return false;
  return true;
}

function isMember(node: Fields): boolean {
  return "." in node || isEmpty(node);
}

/** Returns a node that is a member. */
export function asMember(node: Fields | undefined): Fields {
  if (node === undefined) return LEAF;
  return isMember(node) ? node : { ".": LEAF, ...node };
}

function make(member: boolean, kids: MutableFields): Fields {
  return member && !isEmpty(kids) ? { ".": LEAF, ...kids } : kids;
}

/** Adds a path, with all that is below it, to a set under construction that has nothing there. */
export function insertNode(set: MutableFields, path: readonly string[], node: Fields): void {
  let at = set;
  for (let i = 0; i < path.length - 1; i++) {
    const next = at[path[i]!];
    if (next !== undefined && isEmpty(next)) next["."] = {};
    at = next ?? (at[path[i]!] = {});
  }
  at[path.at(-1)!] = node as MutableFields;
}

/** Adds a path to a set under construction. */
export function insert(set: MutableFields, path: readonly string[]): void {
  const last = path.length - 1;
  if (last < 0) return;
  let node = set;
  for (let i = 0; i < last; i++) {
    const element = path[i]!;
    const next = node[element];
    if (next === undefined) node = node[element] = {};
    else {
      // What was a member by having nothing below it stays one.
      if (isEmpty(next)) next["."] = {};
      node = next;
    }
  }
  const element = path[last]!;
  const next = node[element];
  if (next === undefined) node[element] = {};
  else if (!isMember(next)) next["."] = {};
}

/** Returns what is in either set: the second itself where that has it all. */
export function union(a: Fields, b: Fields): Fields {
  if (a === b || isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  let out: MutableFields | undefined, shared = 0, isSecond = true;
  for (const element in b) {
    const left = a[element], right = b[element]!;
    if (left !== undefined) shared++;
    const both = left === undefined || element === "." ? right : unionNode(left, right);
    if (both !== right) isSecond = false;
    if (both !== left) (out ??= { ...a } as MutableFields)[element] = both as MutableFields;
  }
  return isSecond && shared === sizeOf(a) ? b : out ?? a;
}

function sizeOf(set: Fields): number {
  let size = 0;
  for (const _ in set) size++;
  return size;
}

function unionNode(a: Fields, b: Fields): Fields {
  if (isEmpty(a)) return asMember(b);
  if (isEmpty(b)) return asMember(a);
  return union(a, b);
}

/** Returns what is in the first set and not in the second; what is below a field of the second stays. */
export function difference(a: Fields, b: Fields): Fields {
  return subtract(a, b, false);
}

/** Returns what is in the first set and neither in the second nor below a field of it. */
export function recursiveDifference(a: Fields, b: Fields): Fields {
  return subtract(a, b, true);
}

function subtract(a: Fields, b: Fields, recursive: boolean): Fields {
  if (isEmpty(a) || isEmpty(b)) return a;
  const out: MutableFields = {};
  let changed = false;
  for (const element in a) {
    if (element === ".") continue;
    const left = a[element]!, right = b[element];
    if (right === undefined) {
      out[element] = left as MutableFields;
      continue;
    }
    if (recursive && isMember(right)) {
      changed = true;
      continue;
    }
    const kids = subtract(left, right, recursive);
    const below = kids === left ? withoutSelf(left) : kids;
    const member = isMember(left) && !isMember(right);
    if (member || !isEmpty(below)) {
      const node = make(member, below as MutableFields);
      if (kids === left && member === isMember(left)) out[element] = left as MutableFields;
      else {
        out[element] = node as MutableFields;
        changed = true;
      }
    } else changed = true;
  }
  return changed ? out : a;
}

function withoutSelf(node: Fields): Fields {
  if (!("." in node)) return node;
  const { ".": _, ...rest } = node;
  return rest;
}

/** Returns what is in both sets. */
export function intersection(a: Fields, b: Fields): Fields {
  const out: MutableFields = {};
  for (const element in a) {
    if (element === ".") continue;
    const left = a[element]!, right = b[element];
    if (right === undefined) continue;
    const member = isMember(left) && isMember(right);
    const kids = intersection(left, right);
    if (member || !isEmpty(kids)) out[element] = make(member, kids as MutableFields) as MutableFields;
  }
  return out;
}

/** Tells whether an element is a member of a set. */
export function hasElement(set: Fields, element: string): boolean {
  const node = set[element];
  return node !== undefined && isMember(node);
}

/** Returns what is below an element, the element itself left out; undefined if there is nothing. */
export function below(set: Fields, element: string): Fields | undefined {
  const node = set[element];
  if (node === undefined) return undefined;
  const kids = withoutSelf(node);
  return isEmpty(kids) ? undefined : kids;
}

/** Lists the members of a set, each as its path elements, in order. */
export function* paths(set: Fields, prefix: readonly string[] = []): Generator<string[]> {
  const elements = Object.keys(set).filter((element) => element !== ".").sort(compareElements);
  for (const element of elements) if (isMember(set[element]!)) yield [...prefix, element];
  for (const element of elements) yield* paths(set[element]!, [...prefix, element]);
}

/** Writes a path as error messages show it, such as `.spec.list[name="a"].port`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join("");
}

/** Writes a path element as error messages show it. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k":
      return `[${
        Object.entries(JSON.parse(rest) as Record<string, unknown>).map(([k, v]) => `${k}=${JSON.stringify(v)}`)
          .join(",")
      }]`;
    case "v":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

const KIND_ORDER = ".fkvi";

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareValues(a: unknown, b: unknown): number {
  const order = (value: unknown) => ["number", "string", "boolean"].indexOf(typeof value);
  if (order(a) !== order(b)) return order(a) - order(b);
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

/** The keys of an item, with their values. */
const keysOf = remembered((element) => Object.entries(JSON.parse(element.slice(2)) as object), 1000);

/** The path element of a member. */
export const fieldElement: (name: string) => string = remembered((name) => `f:${name}`, 5000);

/** Orders path elements as a server writes them. */
export function compareElements(a: string, b: string): number {
  if (a[0] !== b[0]) return KIND_ORDER.indexOf(a[0]!) - KIND_ORDER.indexOf(b[0]!);
  switch (a[0]) {
    case "f":
      return compareText(a, b);
    case "k": {
      const left = keysOf(a), right = keysOf(b);
      for (let i = 0; i < left.length && i < right.length; i++) {
        const order = compareText(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1]);
        if (order) return order;
      }
      return left.length - right.length;
    }
    case ".":
      return 0;
    default:
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
  }
}

/** Returns the set with its elements in the order in which a server writes them. */
export function sorted(set: Fields): Fields {
  if (isSorted(set)) return set;
  const out: MutableFields = {};
  for (const element of Object.keys(set).sort(compareElements)) out[element] = sorted(set[element]!) as MutableFields;
  return out;
}

function isSorted(set: Fields): boolean {
  let previous: string | undefined;
  for (const element in set) {
    if (previous !== undefined && compareElements(previous, element) > 0) return false;
    if (!isSorted(set[element]!)) return false;
    previous = element;
  }
  return true;
}

const COLON = 58;

function isKnownElement(element: string): boolean {
  if (element === ".") return true;
  const kind = element[0];
  return element.charCodeAt(1) === COLON && (kind === "f" || kind === "k" || kind === "v" || kind === "i");
}

/** Reads a set from `fieldsV1`; path elements of unknown kinds are dropped. Undefined if it is not one. */
export function readFields(value: unknown): Fields | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  for (const element in value) {
    const node = (value as Record<string, unknown>)[element];
    if (!isKnownElement(element)) return dropUnknown(value as Fields);
    if (readFields(node) !== node) return dropUnknown(value as Fields);
  }
  return value as Fields;
}

function dropUnknown(value: Fields): Fields | undefined {
  const out: MutableFields = {};
  for (const element in value) {
    if (!isKnownElement(element)) {
      if (!/^[a-z]:/.test(element)) return undefined;
      continue;
    }
    const node = readFields(value[element]);
    if (node === undefined) return undefined;
    out[element] = node as MutableFields;
  }
  return out;
}
