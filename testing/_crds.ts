/**
 * Serves custom resources: turns CustomResourceDefinitions into resources, and keeps their conditions.
 *
 * ```ts
 * import { customGroups } from "./_crds.ts";
 *
 * console.assert(customGroups([]).length === 0);
 * ```
 *
 * @module
 */
import { checkRules, hasRules } from "./_cel_rules.ts";
import { withDefaults } from "./_defaults.ts";
import { type FieldError, invalid, noField } from "./_field_error.ts";
import type { Behaviour } from "./_kind.ts";
import { bareFinalizers } from "./_metadata.ts";
import { equal, type Fields, type Kube } from "./_objects.ts";
import { prune } from "./_prune.ts";
import { scaleErrors } from "./_scale_rules.ts";
import { validate } from "./_validate.ts";
import type { GroupInfo, ResourceInfo, ScalePaths, SubresourceInfo, VersionInfo } from "./_resource_info.ts";
import type { Schema } from "./_schema.ts";

export type { CustomVersion, PrinterColumn, ScalePaths } from "./_resource_info.ts";

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUB_VERBS = ["get", "patch", "update"];

/** Orders versions as Kubernetes prefers them: v2, v1, v1beta2, v1alpha1, then others by name. */
export function compareKubeVersions(a: string, b: string): number {
  const parse = (text: string) => /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
  const left = parse(a), right = parse(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (match: RegExpExecArray) => match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return rank(right) - rank(left) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}

/** What keeps rules from being run: they might meet values that they are not made for. */
const BLOCKING = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

function refusedByRules(
  object: Fields,
  schema: Schema,
  previous: Fields | undefined,
  found: readonly FieldError[],
  warn: (text: string) => void = () => {},
): FieldError[] {
  if (!hasRules(schema)) return [];
  if (found.some(({ reason }) => BLOCKING.has(reason))) {
    const why =
      "some validation rules were not checked because the object was invalid; correct the existing errors to " +
      "complete validation";
    return [invalid(noField, null, why)];
  }
  const { errors, warnings } = checkRules(object, schema, { previous, resource: true });
  for (const each of warnings) warn(each);
  return errors;
}

/** Shows stored objects in a version as if they were written now: what schemas have changed since is taken in. */
function reader(
  schema: Schema,
  stored: Schema,
): Required<Behaviour>["fromStorage"] {
  const views = new WeakMap<Fields, Fields>();
  return (object, apiVersion) => {
    let view = views.get(object);
    if (!view) {
      view = prune({ ...withDefaults(object, stored), apiVersion }, schema).object as Fields;
      views.set(object, equal(view, object) ? view = object : view);
    }
    return view;
  };
}

function behaviour(version: Fields, schema: Schema, storage: Fields, group: string): Behaviour {
  const storedSchema: Schema = storage.schema?.openAPIV3Schema ?? schema;
  const status = version.subresources?.status !== undefined;
  const scale: ScalePaths | undefined = version.subresources?.scale;
  const selectable: string[] = (version.selectableFields ?? []).map((each: Fields) => String(each.jsonPath).slice(1));
  return {
    status,
    conditionalUpdate: true,
    bareFinalizers: true,
    warnings: (object, old) => bareFinalizers(object.metadata?.finalizers, old?.metadata?.finalizers),
    desired: ({ metadata: _metadata, status: given, ...rest }) => status ? rest : { ...rest, status: given },
    validate: (object, _apiVersion, subresource, old, warn) => {
      const whole = subresource !== "status" || !status;
      const errors = whole
        ? validate(object, schema, { previous: old })
        : object.status === undefined
        ? []
        : validate(object.status, schema.properties?.status ?? {}, { field: "status", previous: old?.status });
      const scaled = scale ? scaleErrors(object, scale, !whole) : [];
      return [...errors, ...scaled, ...refusedByRules(object, schema, old, errors, warn)];
    },
    statusKeepsMetadata: true,
    ...(selectable.length > 0 ? { selectable } : {}),
    toStorage: (object) => {
      const moved = { ...object, apiVersion: `${group}/${storage.name}` };
      return version === storage ? moved : prune(moved, storedSchema, { nulls: true }).object as Fields;
    },
    fromStorage: reader(schema, storedSchema),
  };
}

function subresources(version: Fields, names: Fields): Map<string, SubresourceInfo> {
  const found = new Map<string, SubresourceInfo>();
  const { status, scale } = version.subresources ?? {};
  if (status) found.set("status", { name: "status", kind: names.kind, verbs: SUB_VERBS });
  if (scale) {
    found.set("scale", { name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs: SUB_VERBS });
  }
  return found;
}

/** The version to use instead of a deprecated one: the most preferred that is served and not deprecated. */
function instead({ group, versions }: Fields, version: Fields, kind: string): string {
  const [better] = versions.filter((each: Fields) => each.served && !each.deprecated)
    .map((each: Fields) => each.name as string).sort(compareKubeVersions);
  if (better === undefined || compareKubeVersions(better, version.name) > 0) return "";
  return `; use ${group}/${better} ${kind}`;
}

const ANYTHING: Schema = { "x-kubernetes-preserve-unknown-fields": true };

function schemaOf(version: Fields): Schema {
  return version.schema?.openAPIV3Schema ?? ANYTHING;
}

/** The schemas of all versions, by which managers that wrote in another one are told of a write. */
function schemasOf({ spec }: Kube): ReadonlyMap<string, Schema> {
  return new Map(spec.versions.map((each: Fields) => [`${spec.group}/${each.name}`, schemaOf(each)]));
}

function resourceOf(definition: Kube, version: Fields): ResourceInfo {
  const { spec, metadata } = definition;
  const names: Fields = definition.status?.acceptedNames?.kind ? definition.status.acceptedNames : spec.names;
  const storage = spec.versions.find((each: Fields) => each.storage) ?? version;
  const schema = schemaOf(version);
  const apiVersion = `${spec.group}/${version.name}`;
  const warning = version.deprecationWarning ??
    `${apiVersion} ${names.kind} is deprecated${instead(spec, version, names.kind)}`;
  return {
    group: spec.group,
    version: version.name,
    apiVersion,
    kind: names.kind,
    listKind: names.listKind || `${names.kind}List`,
    plural: spec.names.plural,
    singular: names.singular || String(names.kind).toLowerCase(),
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: VERBS,
    subresources: subresources(version, names),
    storage: String(metadata.name),
    encoding: `${apiVersion}@${metadata.uid}.${metadata.generation}`,
    custom: {
      definition: String(metadata.name),
      schema,
      versions: schemasOf(definition),
      behaviour: behaviour(version, schema, storage, spec.group),
      columns: version.additionalPrinterColumns,
      scale: version.subresources?.scale,
      terminating: metadata.deletionTimestamp !== undefined,
      storageVersion: storage.name,
      deprecation: version.deprecated ? warning : undefined,
    },
  };
}

/** True if the definition's names are accepted and it is served. */
export function isEstablished(definition: Kube): boolean {
  return (definition.status?.conditions ?? []).some((each: Fields) =>
    each.type === "Established" && each.status === "True"
  );
}

/** The groups of the definitions that are established. */
export function customGroups(definitions: Iterable<Kube>): GroupInfo[] {
  const groups = new Map<string, Map<string, Map<string, ResourceInfo>>>();
  for (const definition of definitions) {
    if (!isEstablished(definition)) continue;
    const { group } = definition.spec;
    if (!groups.has(group)) groups.set(group, new Map());
    const versions = groups.get(group)!;
    for (const version of definition.spec.versions) {
      if (!version.served) continue;
      if (!versions.has(version.name)) versions.set(version.name, new Map());
      const info = resourceOf(definition, version);
      versions.get(version.name)!.set(info.plural, info);
    }
  }
  const found: GroupInfo[] = [];
  for (const [name, versions] of [...groups].sort(([a], [b]) => a < b ? -1 : 1)) {
    const sorted = [...versions].sort(([a], [b]) => compareKubeVersions(a, b));
    const infos: VersionInfo[] = sorted.map(([version, resources]) => ({ version, resources }));
    if (infos.length > 0) found.push({ name, versions: infos });
  }
  return found;
}
