/**
 * Checks CustomResourceDefinitions: names, versions and schemas.
 *
 * ```ts
 * import { validateDefinition } from "./_definition_rules.ts";
 *
 * console.assert(validateDefinition({ metadata: { name: "a" }, spec: {} }).length > 0);
 * ```
 *
 * @module
 */
import { hasDefaults } from "./_defaults.ts";
import { checkSchemaRules } from "./_cel_definition.ts";
import { validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import type { Schema } from "./_schema.ts";
import { type Cause, cause } from "./_status.ts";
import { checkSchema } from "./_structural.ts";

const SCOPES = ["Cluster", "Namespaced"];

function label(path: string, value: string, mixed = false): Cause[] {
  const rule = mixed ? "may have mixed case, but should otherwise match: " : "";
  return validateName(mixed ? value.toLowerCase() : value, "label1035")
    .map((why) => cause.invalid(path, value, rule + why));
}

function checkNames(names: Fields): Cause[] {
  const causes: Cause[] = [];
  if (!names.plural) causes.push(cause.required("spec.names.plural"));
  else causes.push(...label("spec.names.plural", names.plural));
  if (!names.singular) causes.push(cause.required("spec.names.singular"));
  else causes.push(...label("spec.names.singular", names.singular));
  if (!names.kind) causes.push(cause.required("spec.names.kind"));
  else causes.push(...label("spec.names.kind", names.kind, true));
  for (const [index, each] of (names.shortNames ?? []).entries()) {
    causes.push(...label(`spec.names.shortNames[${index}]`, each));
  }
  if (names.kind && !names.listKind) causes.push(cause.required("spec.names.listKind"));
  else if (names.listKind) {
    causes.push(...label("spec.names.listKind", names.listKind, true));
    if (names.listKind === names.kind) {
      causes.push(cause.invalid("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
    }
  }
  for (const [index, each] of (names.categories ?? []).entries()) {
    causes.push(...label(`spec.names.categories[${index}]`, each));
  }
  return causes;
}

/** Versions as the internal type prints them: what all have alike is kept elsewhere. */
function printed(versions: readonly Fields[]): Fields[] {
  const alike = (read: (version: Fields) => unknown): boolean =>
    versions.every((each) => equal(read(each), read(versions[0]!)));
  const part = (member: string, version: Fields): unknown =>
    alike((each) => each[member] ?? null) ? null : version[member] ?? null;
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: part("schema", version),
    Subresources: part("subresources", version),
    AdditionalPrinterColumns: part("additionalPrinterColumns", version),
    SelectableFields: part("selectableFields", version),
  }));
}

/** What is wrong with a schema; rules are looked at once it is structural. */
function checkWhole(schema: Schema, path: string): Cause[] {
  const errors = checkSchema(schema, path);
  return errors.length > 0 ? errors : checkSchemaRules(schema, path);
}

function checkVersions(versions: readonly Fields[]): Cause[] {
  const causes: Cause[] = [];
  const hoisted = versions.every((each) => equal(each.schema, versions[0]?.schema));
  for (const [index, { name, schema }] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    const wrong = validateName(name ?? "", "label1035");
    if (index === 0) causes.push(...wrong.map((why) => cause.invalid("spec.version", name, why)));
    causes.push(...wrong.map((why) => cause.invalid(`${at}.name`, name, why)));
    if (!schema?.openAPIV3Schema) causes.push(cause.required(`${at}.schema.openAPIV3Schema`));
    else if (!hoisted) causes.push(...checkWhole(schema.openAPIV3Schema, `${at}.schema.openAPIV3Schema`));
  }
  const first = versions[0]?.schema?.openAPIV3Schema;
  if (hoisted && first) causes.push(...checkWhole(first, "spec.validation.openAPIV3Schema"));
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    causes.push(cause.invalid("spec.versions", printed(versions), "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const why = "must have exactly one version marked as storage version";
    causes.push(cause.invalid("spec.versions", printed(versions), why));
  }
  return causes;
}

function missingVersion(name: string): string {
  return `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until ` +
    `a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
}

/** The versions that were ever stored must be there, the one that is stored among them. */
function checkStored(versions: readonly Fields[], stored: readonly string[] | null): Cause[] {
  const field = "status.storedVersions";
  if (!stored?.length) return [cause.invalid(field, null, "must have at least one stored version")];
  const names = versions.map(({ name }) => name);
  const storage = versions.findLast((each) => each.storage)?.name;
  const causes = [...stored.entries()].filter(([, name]) => !names.includes(name))
    .map(([index, name]) => cause.invalid(`${field}[${index}]`, name, missingVersion(name)));
  if (storage !== undefined && !stored.includes(storage)) {
    causes.push(cause.invalid(field, stored, `must have the storage version ${storage}`));
  }
  return causes;
}

/** What is wrong with a definition. */
export function validateDefinition(
  { metadata, spec = {}, status }: Fields,
  _apiVersion?: string,
  _subresource?: string,
  old?: Fields,
): Cause[] {
  const { group, scope, names = {}, versions = [] } = spec;
  const causes: Cause[] = [];
  // The name cannot change, so an update says what else did.
  if (!old && metadata.name !== `${names.plural}.${group}`) {
    causes.push(cause.invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (!group) causes.push(cause.required("spec.group"));
  else {
    const wrong = validateName(group, "subdomain");
    causes.push(...wrong.map((why) => cause.invalid("spec.group", group, why)));
    if (wrong.length === 0 && !group.includes(".")) {
      causes.push(cause.invalid("spec.group", group, "should be a domain with at least one dot"));
    }
  }
  if (!scope) causes.push(cause.required("spec.scope"));
  else if (!SCOPES.includes(scope)) causes.push(cause.unsupported("spec.scope", scope, SCOPES));
  causes.push(...checkNames(names), ...checkVersions(versions ?? []));
  causes.push(...checkStored(versions ?? [], status?.storedVersions ?? null));
  if (spec.preserveUnknownFields === true) causes.push(...checkPreserved(versions ?? [], old));
  return causes;
}

/** That all unknown fields stay cannot be said any more, only that it was. */
function checkPreserved(versions: readonly Fields[], old: Fields | undefined): Cause[] {
  const refuse = (why: string): Cause => cause.invalid("spec.preserveUnknownFields", true, why);
  const causes: Cause[] = [];
  if (versions.some(({ schema }) => hasDefaults(schema?.openAPIV3Schema ?? {}))) {
    causes.push(refuse("must be false in order to use defaults in the schema"));
  }
  if (old?.spec?.preserveUnknownFields !== true) {
    const instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    causes.push(refuse(`cannot set to true, ${instead}`));
  }
  return causes;
}

/** What is wrong with a change of a definition. */
export function validateDefinitionUpdate({ spec }: Fields, old: Fields): Cause[] {
  const fixed = (path: string, value: unknown, before: unknown): Cause[] =>
    equal(value, before) ? [] : [cause.invalid(path, value, "field is immutable")];
  const established = (old.status?.conditions ?? []).some((each: Fields) =>
    each.type === "Established" && each.status === "True"
  );
  return [
    ...fixed("spec.group", spec.group, old.spec.group),
    ...fixed("spec.names.plural", spec.names.plural, old.spec.names.plural),
    ...(established ? fixed("spec.scope", spec.scope, old.spec.scope) : []),
    ...(established ? fixed("spec.names.kind", spec.names.kind, old.spec.names.kind) : []),
  ];
}
