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
    const problems = pruned.unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
    const decoded = withDefaults(replaced(object, members, pruned.object), schema) as Kube;
    const given = decoded.metadata ?? {};
    const known = live !== undefined && Object.keys(own(given, live.metadata)).length === 0;
    const metadata = known ? given : decodeGo(given, metadataSchema()).object;
    return { object: { ...decoded, metadata }, problems };
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}
