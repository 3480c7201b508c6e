/**
 * Decodes custom resources by their structural schema: drops what it does not name, and fills in defaults.
 *
 * ```ts
 * import { decodeCustom } from "./_decode_custom.ts";
 *
 * console.assert(typeof decodeCustom === "function");
 * ```
 *
 * @module
 */
import { groupOf } from "../resource.ts";
import type { Decoded } from "./_decode_builtin.ts";
import { withDefaults } from "./_defaults.ts";
import { DecodeError, decodeGo } from "./_go_decode.ts";
import type { Fields, Kube } from "./_objects.ts";
import { prune } from "./_prune.ts";
import { metadataSchema } from "./_root_type.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { StatusError } from "./_status.ts";

/** How an object is decoded. */
export interface CustomOptions {
  /** True if it was applied: nulls that may not be stay. */
  readonly applied?: boolean | undefined;
  /** What is stored, as the schema wants it: what the object shares with that is not looked at again. */
  readonly live?: Kube | undefined;
}

/** The members of an object that it does not share with another. */
function own(object: Fields, other: Fields = {}): Fields {
  const out: Fields = {};
  for (const key in object) if (object[key] !== other[key]) out[key] = object[key];
  return out;
}

/** An object with members in place of some of its own; those that are not among them go. */
function replaced(object: Fields, members: Fields, by: Fields): Fields {
  if (by === members) return object;
  const out = { ...object, ...by };
  for (const key in members) if (!Object.hasOwn(by, key)) delete out[key];
  return out;
}

function unknownField(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

/** What is said of fields that are not known: of those in the metadata, and of all others. */
function problemsOf(inMetadata: readonly string[], others: readonly string[]): string[] {
  return [...inMetadata.map((path) => `metadata.${path}`), ...others].sort(ownFirst).map(unknownField);
}

/** Orders unknown fields: those of the object's own metadata first, by name; the others stay in order. */
function ownFirst(a: string, b: string): number {
  const left = a.startsWith("metadata."), right = b.startsWith("metadata.");
  return left && right ? a < b ? -1 : 1 : Number(right) - Number(left);
}

/** What another version of a kind does not know of an object that says it is of that version. */
export function misplacedFields({ custom, group, kind }: ResourceInfo, object: Fields): string[] {
  const apiVersion: string = object.apiVersion ?? "";
  if (!custom || object.kind !== kind || groupOf(apiVersion) !== group) return [];
  return prune(object, custom.versions.get(apiVersion) ?? { type: "object" }).unknown.map(unknownField);
}

/** Decodes an object. */
export function decodeCustom(
  info: ResourceInfo,
  object: Kube,
  refuse: (why: string) => StatusError,
  { applied = false, live }: CustomOptions = {},
): Decoded {
  const { schema } = info.custom!;
  try {
    const members = live ? own(object, live) : object;
    const pruned = prune(members, schema, { nulls: applied });
    const decoded = withDefaults(replaced(object, members, pruned.object), schema) as Kube;
    const given = decoded.metadata ?? {};
    const known = live !== undefined && Object.keys(own(given, live.metadata)).length === 0;
    const { object: metadata, unknown } = known ? { object: given, unknown: [] } : decodeGo(given, metadataSchema());
    const problems = unknown.length + pruned.unknown.length === 0 ? [] : problemsOf(unknown, pruned.unknown);
    return { object: metadata === decoded.metadata ? decoded : { ...decoded, metadata }, problems };
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}
