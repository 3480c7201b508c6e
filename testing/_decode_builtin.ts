/**
 * Decodes built-in kinds by their schema: refuses wrong types, drops what the kind does not have, and says so.
 *
 * ```ts
 * import { decodeBuiltin } from "./_decode_builtin.ts";
 *
 * console.assert(typeof decodeBuiltin === "function");
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import { DecodeError, decodeGo } from "./_go_decode.ts";
import { type Kube, ordered } from "./_objects.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { StatusError } from "./_status.ts";

/** What decoding leads to. */
export interface Decoded {
  readonly object: Kube;
  /** What is wrong but can be dropped, in words. */
  readonly problems: string[];
}

/** Decodes an object that was read from a text, or made from others. */
export function decodeBuiltin(
  info: ResourceInfo,
  object: Kube,
  refuse: (why: string) => StatusError,
  converted = false,
): Decoded {
  const schema = builtinSchema(info.group, info.version, info.kind);
  if (!schema) return { object, problems: [] };
  try {
    const { object: decoded, unknown } = decodeGo(object, schema, converted ? "converted" : "read");
    const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
    const result = ordered(decoded, info.apiVersion, info.kind);
    // No managers are not the same as managers that were not said.
    if ((object.metadata?.managedFields as unknown[] | undefined)?.length === 0) result.metadata.managedFields = [];
    return { object: result, problems };
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}
