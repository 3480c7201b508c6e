/**
 * Warns the author of a CustomResourceDefinition of what its schemas ask for in vain.
 *
 * ```ts
 * import { definitionWarnings } from "./_definition_warnings.ts";
 *
 * const schema = { openAPIV3Schema: { type: "string", format: "poem" } };
 * console.assert(definitionWarnings({ spec: { versions: [{ schema }] } }).length === 1);
 * ```
 *
 * @module
 */
import { knowsFormat } from "./_formats.ts";
import { equal, type Fields } from "./_objects.ts";
import type { Schema } from "./_schema.ts";

/** A schema and all below it. */
function* within(schema: Schema): Generator<Schema> {
  yield schema;
  const { items, properties = {}, additionalProperties: rest, not } = schema;
  const lists = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((each) => each ?? []);
  for (const each of [...lists, ...Object.values(properties), items, not, rest]) {
    if (typeof each === "object" && each !== null && !Array.isArray(each)) yield* within(each);
  }
}

/** The schemas of a definition: one for all versions, if they are alike. */
function schemasOf({ spec }: Fields): Schema[] {
  const schemas: Schema[] = (spec?.versions ?? []).map((each: Fields) => each.schema?.openAPIV3Schema)
    .filter((each: unknown) => each !== undefined && each !== null);
  return schemas.every((each) => equal(each, schemas[0])) ? schemas.slice(0, 1) : schemas;
}

function formats(schemas: readonly Schema[]): string[] {
  const found: string[] = [];
  for (const schema of schemas) {
    for (const { type = "", format = "" } of within(schema)) {
      if (format !== "" && !knowsFormat(type, format)) found.push(`unrecognized format ${JSON.stringify(format)}`);
    }
  }
  return found;
}

function sets(schemas: readonly Schema[]): string[] {
  const found = new Set<string>();
  for (const schema of schemas) {
    for (const each of within(schema)) {
      const type = each.items?.type ?? "";
      if (each["x-kubernetes-list-type"] !== "set" || !["array", "object"].includes(type)) continue;
      const why = "is not supported by server-side apply or CEL validation rules";
      found.add(`x-kubernetes-list-type: set for items of type "${type}" ${why}`);
    }
  }
  return [...found].sort();
}

/** What the author is warned of; what was so before is not told again. */
export function definitionWarnings(object: Fields, old?: Fields): string[] {
  const schemas = schemasOf(object), before = old ? schemasOf(old) : [];
  const known = new Set([...formats(before), ...sets(before)]);
  return [...formats(schemas), ...sets(schemas)].filter((each) => !known.has(each));
}
