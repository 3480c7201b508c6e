/**
 * Describes built-in kinds in OpenAPI, by the names that a real server gives to their parts, without descriptions.
 *
 * ```ts
 * import { builtinComponents, componentName } from "./_openapi_builtin.ts";
 *
 * console.assert(componentName("core.v1.Container") in builtinComponents("", "v1", "Pod"));
 * ```
 *
 * @module
 */
import data from "./_builtin_schemas.json" with { type: "json" };
import type { Fields } from "./_objects.ts";
import enumerations from "./_openapi_enums.json" with { type: "json" };

const { kinds, definitions } = data as unknown as {
  kinds: Record<string, string>;
  definitions: Record<string, Fields>;
};

const enums: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = enumerations;

const PLACES: readonly (readonly [prefix: string, place: string])[] = [
  ["meta.", "io.k8s.apimachinery.pkg.apis."],
  ["api.", "io.k8s.apimachinery.pkg."],
  ["intstr.", "io.k8s.apimachinery.pkg.util."],
  ["runtime.", "io.k8s.apimachinery.pkg."],
  ["apiextensions.", "io.k8s.apiextensions-apiserver.pkg.apis."],
  ["apiregistration.", "io.k8s.kube-aggregator.pkg.apis."],
];

/** The name that a document has for a definition such as `core.v1.Container`. */
export function componentName(name: string): string {
  const place = PLACES.find(([prefix]) => name.startsWith(prefix))?.[1] ?? "io.k8s.api.";
  return place + name;
}

/** What may be one of several types, by the format that stands for it. */
const ONE_OF: Readonly<Record<string, Fields>> = {
  "int-or-string": { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
};

class Describer {
  readonly found: Record<string, Fields> = {};

  /** Describes a definition and all that it refers to; answers with its reference. */
  refer(name: string): Fields {
    const component = componentName(name);
    if (!Object.hasOwn(this.found, component)) {
      // Known before it is described, as definitions may refer to themselves.
      this.found[component] = {};
      const schema = this.#schema(definitions[name]!);
      for (const [field, values] of Object.entries(enums[name] ?? {})) {
        const property: Fields = schema.properties?.[field] ?? {};
        (property.items ?? property).enum = values;
      }
      Object.assign(this.found[component]!, schema);
    }
    return { $ref: `#/components/schemas/${component}` };
  }

  #schema({ $ref, presence: _, properties, items, additionalProperties, ...rest }: Fields): Fields {
    const schema: Fields = { ...rest, ...ONE_OF[rest.format] };
    if ($ref !== undefined) return { ...schema, allOf: [this.refer($ref)] };
    if (properties !== undefined) {
      schema.properties = {};
      for (const [name, each] of Object.entries<Fields>(properties)) schema.properties[name] = this.#schema(each);
    }
    if (items !== undefined) schema.items = this.#part(items);
    if (additionalProperties !== undefined) schema.additionalProperties = this.#part(additionalProperties);
    return schema;
  }

  #part(schema: Fields): Fields {
    return schema.$ref === undefined ? this.#schema(schema) : this.refer(schema.$ref);
  }
}

/** The schemas that describe a kind, its own among them; none if it is not known. */
export function builtinComponents(group: string, version: string, kind: string): Record<string, Fields> {
  const key = `${group === "" ? version : `${group}/${version}`} ${kind}`;
  const describer = new Describer();
  if (Object.hasOwn(kinds, key)) describer.refer(kinds[key]!);
  return describer.found;
}
