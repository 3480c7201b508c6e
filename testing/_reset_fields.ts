/**
 * Knows the fields that a write cannot change: they are nobody's by it, and stay as they are.
 *
 * ```ts
 * import { restored } from "./_reset_fields.ts";
 *
 * restored({ spec: 1, status: 1 }, { spec: 2 }, { reset: ["status"] }); // { spec: 1 }
 * ```
 *
 * @module
 */
import { type Fields, insert, LEAF, type MutableFields } from "./_field_set.ts";
import type { JsonObject } from "./_json.ts";

/** What is written, and what is not by it. */
export interface ResetOptions {
  /** Fields that the write cannot change, as dotted paths such as `status`. @default {["spec"] for the subresource status} */
  readonly reset?: readonly string[] | undefined;
  /** The subresource that is written. */
  readonly subresource?: string | undefined;
}

const NO_FIELDS: Fields = LEAF;
const resetSets = new Map<string, Fields>();

function resetNames(reset: readonly string[] | undefined, subresource: string | undefined): readonly string[] {
  return reset ?? (subresource === "status" ? ["spec"] : []);
}

/** The fields as a set. */
export function resetSet({ reset, subresource }: ResetOptions): Fields {
  const names = resetNames(reset, subresource);
  if (names.length === 0) return NO_FIELDS;
  const key = names.join(" ");
  let set = resetSets.get(key);
  if (set === undefined) {
    const fields: MutableFields = {};
    for (const name of names) insert(fields, name.split(".").map((part) => `f:${part}`));
    resetSets.set(key, set = fields);
  }
  return set;
}

/** Puts back what a write cannot change, so that a try to is no change. */
export function restored(object: unknown, stored: object, { reset, subresource }: ResetOptions): unknown {
  let out = object as JsonObject;
  for (const name of resetNames(reset, subresource)) {
    const [member = "", inner] = name.split(".");
    if (inner !== undefined) continue;
    out = { ...out };
    const before = (stored as JsonObject)[member];
    if (before === undefined) delete out[member];
    else out[member] = before;
  }
  return out;
}
