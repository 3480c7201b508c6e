/**
 * Writes managers as entries of `managedFields`: those that say the same are the same frozen object, whose JSON is written
 * once.
 *
 * Most objects of a kind have the same fields from the same manager, so that they share their entries.
 *
 * ```ts
 * import { entriesOf } from "./_manager_entries.ts";
 *
 * const who = { name: "m", operation: "Update", apiVersion: "v1", subresource: "", time: undefined } as const;
 * console.assert(entriesOf([{ ...who, fields: { "f:data": {} } }]) === entriesOf([{ ...who, fields: { "f:data": {} } }]));
 * ```
 *
 * @module
 */
import { type Fields, sorted } from "./_field_set.ts";

/** Who owns which fields. */
export interface Manager {
  /** The manager's name. */
  readonly name: string;
  /** How it came to own them. */
  readonly operation: "Apply" | "Update";
  /** The version that the fields are named in. */
  readonly apiVersion: string;
  /** The subresource that was written; empty for the object itself. */
  readonly subresource: string;
  /** When it last changed something (RFC 3339). */
  readonly time: string | undefined;
  /** The fields. */
  readonly fields: Fields;
}

/** An entry of `managedFields`. */
export type ManagerEntry = Readonly<Record<string, unknown>>;

/** Entries, and those that begin with them. */
interface Lists {
  list?: readonly ManagerEntry[];
  longer?: WeakMap<ManagerEntry, Lists>;
}

/** How many sets of fields are kept to be found again, and how many entries of each. */
const SETS = 1000, ENTRIES = 100;

/** Sets of fields that were written, by their JSON. */
const sets = new Map<string, Fields>();
/** The entries of each of these sets, by all else that they say. */
const entriesOfSets = new WeakMap<Fields, Map<string, ManagerEntry>>();
const entriesOfManagers = new WeakMap<Manager, ManagerEntry>();
const managersOfEntries = new WeakMap<ManagerEntry, Manager>();
const lists: Lists = {};
const texts = new WeakMap<readonly ManagerEntry[], string>();

function freeze(set: Fields): Fields {
  for (const element in set) freeze(set[element]!);
  return Object.freeze(set);
}

/** The one set with the same fields, in order. */
function shared(fields: Fields): Fields {
  if (entriesOfSets.has(fields)) return fields;
  const inOrder = sorted(fields), text = JSON.stringify(inOrder);
  let same = sets.get(text);
  if (same === undefined) {
    if (sets.size >= SETS) sets.clear();
    sets.set(text, same = freeze(inOrder));
    entriesOfSets.set(same, new Map());
  }
  return same;
}

function entryOf(manager: Manager): ManagerEntry {
  return entriesOfManagers.get(manager) ?? sharedEntry(manager);
}

function sharedEntry(manager: Manager): ManagerEntry {
  const { name, operation, apiVersion, subresource, time } = manager;
  const fields = shared(manager.fields), known = entriesOfSets.get(fields)!;
  // With the lengths nothing that differs is written alike.
  const lengths = `${time === undefined ? -1 : time.length} ${apiVersion.length} ${subresource.length}`;
  const key = `${lengths} ${operation}${time}${apiVersion}${subresource}${name}`;
  let entry = known.get(key);
  if (entry === undefined) {
    entry = Object.freeze({
      ...(name === "" ? {} : { manager: name }),
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: fields,
      ...(subresource === "" ? {} : { subresource }),
    });
    const owner = { ...manager, fields };
    managersOfEntries.set(entry, owner);
    entriesOfManagers.set(owner, entry);
    if (known.size >= ENTRIES) known.clear();
    known.set(key, entry);
  }
  return entry;
}

/** The entries of managers, in their order: the same list for the same ones. */
export function entriesOf(managers: readonly Manager[]): readonly ManagerEntry[] {
  let at = lists;
  const entries = managers.map(entryOf);
  for (const entry of entries) {
    const longer = at.longer ??= new WeakMap();
    let next = longer.get(entry);
    if (next === undefined) longer.set(entry, next = {});
    at = next;
  }
  if (at.list === undefined) {
    at.list = Object.freeze(entries);
    texts.set(at.list, JSON.stringify(entries));
  }
  return at.list;
}

/** The manager of an entry that was made here. */
export function managerOfEntry(entry: ManagerEntry): Manager | undefined {
  return managersOfEntries.get(entry);
}

/** The JSON of entries that were made here; undefined for all else. */
export function entriesText(entries: unknown): string | undefined {
  return texts.get(entries as readonly ManagerEntry[]);
}
