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
import type { Kube } from "./_objects.ts";
import { prune } from "./_prune.ts";
import { metadataSchema } from "./_root_type.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { StatusError } from "./_status.ts";

/** Decodes an object; of what was applied nulls that may not be stay. */
export function decodeCustom(
  info: ResourceInfo,
  object: Kube,
  refuse: (why: string) => StatusError,
  applied = false,
): Decoded {
  const { schema } = info.custom!;
  try {
    const pruned = prune(object, schema, { nulls: applied });
    const problems = pruned.unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
    const decoded = withDefaults(pruned.object, schema) as Kube;
    const metadata = decodeGo(decoded.metadata ?? {}, metadataSchema()).object;
    return { object: { ...decoded, metadata }, problems };
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}
