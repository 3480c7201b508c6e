/**
 * Tells whether something holds anywhere in a schema; found out once for each schema.
 *
 * ```ts
 * import { anywhere } from "./_schema_facts.ts";
 *
 * const hasDefaults = anywhere((schema) => schema.default !== undefined);
 * console.assert(hasDefaults({ type: "object", properties: { size: { type: "integer", default: 1 } } }));
 * ```
 *
 * @module
 */
import type { Schema } from "./_schema.ts";

/** Makes a test of a schema and all schemas below it, of members and items. */
export function anywhere(test: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const known = new WeakMap<Schema, boolean>();
  const holds = (schema: Schema): boolean => {
    let found = known.get(schema);
    if (found === undefined) {
      // A schema within itself adds nothing.
      known.set(schema, false);
      const children = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
      found = test(schema) || children.some((child) => typeof child === "object" && holds(child));
      known.set(schema, found);
    }
    return found;
  };
  return holds;
}
