/**
 * Serves OpenAPI: version 3 by group and version, and the little of version 2 that clients look at.
 *
 * ```ts
 * import { openApi } from "./_openapi.ts";
 * import { Registry } from "./_registry.ts";
 *
 * console.assert(openApi(new Registry(), "/openapi/v3")?.code === 200);
 * ```
 *
 * @module
 */
import type { Answer } from "./_call.ts";
import type { Fields } from "./_objects.ts";
import metadataSchemas from "./_openapi_metadata.json" with { type: "json" };
import { builtinComponents, componentName } from "./_openapi_builtin.ts";
import { customNames, customPaths, deleteOptionsKinds, scaleSchemas } from "./_openapi_paths.ts";
import type { Registry, ResourceInfo, VersionInfo } from "./_registry.ts";
import type { Schema } from "./_schema.ts";

/** The document of a group and version, as its path names it. */
function documentPath(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** The name of a kind's schema: the group backwards, for custom resources; the real server's for built-in ones. */
export function schemaName({ group, version, kind, custom }: ResourceInfo): string {
  if (custom) return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
  return componentName(`${group.split(".")[0] || "core"}.${version}.${kind}`);
}

/** A schema without references; what refers to itself is cut off. */
function plain(schema: Schema, above: readonly Schema[]): Fields {
  if (above.includes(schema) || above.length > 24) return { type: "object" };
  const inside = [...above, schema];
  const copy: Fields = {};
  for (const key in schema) {
    const value = (schema as Fields)[key];
    if (key === "properties") {
      copy.properties = Object.fromEntries(
        Object.entries(value as Record<string, Schema>).map(([name, each]) => [name, plain(each, inside)]),
      );
    } else if (key === "items" || (key === "additionalProperties" && typeof value === "object")) {
      copy[key] = plain(value, inside);
    } else copy[key] = value;
  }
  if (copy["x-kubernetes-int-or-string"] && !copy.anyOf) copy.anyOf = [{ type: "integer" }, { type: "string" }];
  if (copy.format === "int-or-string" || copy.format === "quantity") {
    copy.type = "string";
  }
  return copy;
}

const DRY_RUN = ["dryRun", "fieldManager", "fieldValidation"]
  .map((name) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } }));

function operation(info: ResourceInfo, action: string): Fields {
  const { group, version, kind } = info;
  return {
    operationId: `${action}${kind}`,
    parameters: ["post", "put", "patch"].includes(action) ? DRY_RUN : [],
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, version, kind },
  };
}

function pathsOf(info: ResourceInfo, root: string): Fields {
  const where = info.namespaced ? "/namespaces/{namespace}" : "";
  const collection = `/${root}${where}/${info.plural}`;
  const operations = (names: readonly string[]): Fields =>
    Object.fromEntries(names.map((name) => [name, operation(info, name)]));
  return {
    [collection]: operations(["get", "post", "delete"]),
    [`${collection}/{name}`]: operations(["get", "put", "patch", "delete"]),
  };
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/** The descriptions that every kind's first members have. */
function typeMeta(): Fields {
  const { apiVersion, kind } = (metadataSchemas as Fields)[`${META}DeleteOptions`].properties;
  return { apiVersion, kind };
}

const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

function metadata(kind: "ObjectMeta" | "ListMeta"): Fields {
  return {
    allOf: [{ $ref: `#/components/schemas/${META}${kind}` }],
    description: kind === "ObjectMeta"
      ? `Standard object's metadata. More info: ${CONVENTIONS}#metadata`
      : `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
  };
}

function listSchema(info: ResourceInfo): Fields {
  const { group, version, kind, listKind, plural } = info;
  return {
    description: `${listKind} is a list of ${kind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...typeMeta(),
      metadata: metadata("ListMeta"),
      items: {
        description: `List of ${plural}. More info: ${CONVENTIONS}`,
        type: "array",
        items: { $ref: `#/components/schemas/${schemaName(info)}` },
      },
    },
    "x-kubernetes-group-version-kind": [{ group, version, kind: listKind }],
  };
}

function schemasOf(info: ResourceInfo): Fields {
  const { group, version, kind } = info;
  const name = schemaName(info);
  const parts = info.custom ? {} : builtinComponents(group, version, kind);
  const object: Fields | undefined = info.custom ? plain(info.custom.schema, []) : parts[name];
  if (!object) return {};
  const own = {
    ...object,
    properties: { ...object.properties, ...typeMeta(), metadata: metadata("ObjectMeta") },
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
  };
  return { ...parts, [name]: own, [name.slice(0, -kind.length) + info.listKind]: listSchema(info) };
}

/** The schemas that the documents of custom resources have beside their own. */
function sharedByCustom(infos: readonly ResourceInfo[]): Fields {
  const scalable = infos.some((info) => info.subresources.has("scale"));
  const known: Fields = { ...metadataSchemas, ...scaleSchemas() };
  const kept = Object.fromEntries(customNames(scalable).map((name) => [name, known[name]]));
  const name = `${META}DeleteOptions`;
  return { ...kept, [name]: { ...kept[name], "x-kubernetes-group-version-kind": deleteOptionsKinds() } };
}

function document(version: VersionInfo, root: string): Fields {
  const infos = [...version.resources.values()];
  const custom = infos.some((info) => info.custom);
  const paths = infos.map((info) => info.custom ? customPaths(info) : pathsOf(info, root));
  const shared = custom ? sharedByCustom(infos) : metadataSchemas;
  return {
    openapi: "3.0.0",
    info: { title: custom ? "Kubernetes CRD Swagger" : "Kubernetes", version: custom ? "v0.1.0" : "v1.37.2" },
    paths: Object.assign({}, ...paths),
    // What is shared has descriptions, which the parts of built-in kinds have not.
    components: { schemas: Object.assign({}, ...infos.map(schemasOf), shared) },
  };
}

/** The document of a path that only says what there is. */
function indexDocument(path: string): Fields {
  const paths = { [`/${path}/`]: { get: { responses: { "200": { description: "OK" } } } } };
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "1.37" }, paths };
}

/** The kinds and paths in the shape of version 2. */
function version2(registry: Registry): Fields {
  const definitions: Fields = {}, paths: Fields = {};
  for (const { name, versions } of registry.groups()) {
    for (const version of versions) {
      const root = documentPath(name, version.version);
      for (const info of version.resources.values()) {
        const { group, version: served, kind } = info;
        const gvk = { "x-kubernetes-group-version-kind": [{ group, version: served, kind }] };
        definitions[schemaName(info)] = { type: "object", ...gvk };
        Object.assign(paths, pathsOf(info, root));
      }
    }
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version: "v1.37.2" }, paths, definitions };
}

/**
 * The head of version 2 in protocol buffers: which version, of what. kubectl reads it where version 3 does not help, which is
 * for lists of kinds; without definitions it checks nothing.
 */
export function openApiHead(): Uint8Array<ArrayBuffer> {
  const field = (number: number, bytes: readonly number[]): number[] => [number << 3 | 2, bytes.length, ...bytes];
  const text = (value: string): number[] => [...new TextEncoder().encode(value)];
  const info = [...field(1, text("Kubernetes")), ...field(2, text("v1.37.2"))];
  return new Uint8Array([...field(1, text("2.0")), ...field(2, info)]);
}

/** Answers a path of OpenAPI; undefined if there is nothing. */
export function openApi(registry: Registry, path: string): Answer | undefined {
  if (path === "/openapi/v2") return { code: 200, body: version2(registry) };
  const served = registry.groups().flatMap(({ name, versions }) =>
    versions.map((version) => ({ root: documentPath(name, version.version), version }))
  );
  if (path === "/openapi/v3" || path === "/openapi/v3/") {
    const paths = Object.fromEntries(served.map(({ root, version }) => {
      const hash = [...version.resources.values()].map(({ encoding }) => encoding).join();
      return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${encodeURIComponent(hash).slice(0, 64)}` }];
    }));
    return { code: 200, body: { paths }, headers: { "content-type": "text/plain; charset=utf-8" } };
  }
  const found = served.find(({ root }) => path === `/openapi/v3/${root}`);
  if (found) return { code: 200, body: document(found.version, found.root) };
  const named = [
    "api",
    "apis",
    "version",
    ...registry.groups().filter(({ name, versions }) =>
      name !== "" && [...versions[0]!.resources.values()].every(({ custom }) => !custom)
    ).map(({ name }) => `apis/${name}`),
  ];
  const index = named.find((each) => path === `/openapi/v3/${each}`);
  return index === undefined ? undefined : { code: 200, body: indexDocument(index) };
}
