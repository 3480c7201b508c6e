/**
 * Describes the paths of custom resources in OpenAPI, as a real server does: from its description of one such resource.
 *
 * ```ts
 * import { customNames } from "./_openapi_paths.ts";
 *
 * console.assert(customNames(false).some((name) => name.endsWith(".ObjectMeta")));
 * ```
 *
 * @module
 */
import type { Fields } from "./_objects.ts";
import template from "./_openapi_paths.json" with { type: "json" };
import type { ResourceInfo } from "./_registry.ts";

const { parameters, deleteOptions, names, scale } = template as unknown as {
  parameters: Fields[];
  deleteOptions: [group: string, version: string][];
  names: string[];
  scale: Record<string, Fields>;
};
const TEXT = JSON.stringify(template.paths);

/** The names of the schemas in a document of custom resources that are not their own. */
export function customNames(scalable: boolean): string[] {
  return scalable ? names : names.filter((name) => !Object.hasOwn(scale, name));
}

/** The schemas of scales. */
export function scaleSchemas(): Record<string, Fields> {
  return scale;
}

/** The groups and versions that the options of a deletion may come in. */
export function deleteOptionsKinds(): Fields[] {
  return deleteOptions.map(([group, version]) => ({ group, kind: "DeleteOptions", version }));
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The paths of a custom resource. */
export function customPaths(info: ResourceInfo): Fields {
  const { group, version, kind, listKind, plural, namespaced, subresources } = info;
  const camel = group.split(/[.-]/).map(capital).join("");
  const reversed = group.split(".").reverse().join(".");
  const text = TEXT
    .replaceAll("com.example.template.v1.WidgetList", `${reversed}.${version}.${listKind}`)
    .replaceAll("com.example.template.v1.", `${reversed}.${version}.`)
    .replaceAll("templateExampleCom_v1", `${camel.slice(0, 1).toLowerCase()}${camel.slice(1)}_${version}`)
    .replaceAll("TemplateExampleComV1", camel + capital(version))
    .replaceAll("/template.example.com/v1/", `/${group}/${version}/`)
    .replaceAll(
      '"template.example.com","version":"v1"',
      `${JSON.stringify(group)},"version":${JSON.stringify(version)}`,
    )
    .replaceAll("/widgets", `/${plural}`)
    .replaceAll("Widget", kind);
  const paths: Fields = {};
  for (const [path, item] of Object.entries<Fields>(JSON.parse(text))) {
    const subresource = path.split("/{name}/")[1];
    if (subresource !== undefined && !subresources.has(subresource)) continue;
    const scoped = path.includes("{namespace}");
    if (!namespaced && !scoped) continue;
    const own: Fields = {};
    for (const [name, value] of Object.entries(item)) {
      own[name] = Array.isArray(value) ? expand(value, info) : { ...value, parameters: expand(value.parameters, info) };
      if (!namespaced && !Array.isArray(value)) own[name].operationId = value.operationId.replace("Namespaced", "");
    }
    paths[namespaced ? path : path.replace("/namespaces/{namespace}", "")] = own;
  }
  return paths;
}

function expand(indices: readonly number[] | undefined, { kind, namespaced }: ResourceInfo): Fields[] | undefined {
  return indices?.map((index) => parameters[index]!)
    .filter(({ name, in: place }) => namespaced || name !== "namespace" || place !== "path")
    .map((each) => each.name === "name" ? { ...each, description: `name of the ${kind}` } : each);
}
