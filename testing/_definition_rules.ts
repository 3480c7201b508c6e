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
import { checkApproval, checkConversion, checkDeprecation, checkPart, PARTS } from "./_definition_parts.ts";
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

/** What is wrong with names; those of a definition must be there, those of its status need not. */
function checkNames(names: Fields, at: string): Cause[] {
  const causes: Cause[] = [];
  for (const member of ["plural", "singular"] as const) {
    if (names[member]) causes.push(...label(`${at}.${member}`, names[member]));
  }
  for (const member of ["kind", "listKind"] as const) {
    if (names[member]) causes.push(...label(`${at}.${member}`, names[member], true));
  }
  for (const [index, each] of (names.shortNames ?? []).entries()) {
    causes.push(...label(`${at}.shortNames[${index}]`, each));
  }
  if (names.kind && names.kind === names.listKind) {
    causes.push(cause.invalid(`${at}.listKind`, names.listKind, "kind and listKind may not be the same"));
  }
  for (const [index, each] of (names.categories ?? []).entries()) {
    causes.push(...label(`${at}.categories[${index}]`, each));
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

/** What is wrong with versions, and with what they say; what all say alike is told of the definition. */
function checkVersions(given: readonly Fields[] | undefined, names: Fields): Cause[] {
  const causes: Cause[] = [];
  const versions = given ?? [];
  const first = versions[0] ?? {};
  const alike = (member: string): boolean => versions.every((each) => equal(each[member], first[member]));
  const schemas = alike("schema"), shared = PARTS.filter(alike);
  for (const [index, { schema }] of versions.entries()) {
    if (!schema?.openAPIV3Schema) causes.push(cause.required(`spec.versions[${index}].schema.openAPIV3Schema`));
  }
  for (const [index, version] of versions.entries()) {
    const at = `spec.versions[${index}]`, { name = "", schema } = version;
    causes.push(...validateName(name, "label1035").map((why) => cause.invalid(`${at}.name`, name, why)));
    causes.push(...checkDeprecation(version, `${at}.deprecationWarning`));
    if (!schemas && schema?.openAPIV3Schema) {
      causes.push(...checkWhole(schema.openAPIV3Schema, `${at}.schema.openAPIV3Schema`));
    }
    for (const part of PARTS) if (!shared.includes(part)) causes.push(...checkPart(version, part, at));
  }
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    causes.push(cause.invalid("spec.versions", printed(versions), "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const why = "must have exactly one version marked as storage version";
    causes.push(cause.invalid("spec.versions", given ? printed(versions) : null, why));
  }
  if (first.name) {
    causes.push(...validateName(first.name, "label1035").map((why) => cause.invalid("spec.version", first.name, why)));
  }
  for (const member of ["plural", "singular", "kind", "listKind"]) {
    if (!names[member]) causes.push(cause.required(`spec.names.${member}`));
  }
  causes.push(...checkNames(names, "spec.names"));
  const schema = first.schema?.openAPIV3Schema;
  if (schemas && schema) causes.push(...checkWhole(schema, "spec.validation.openAPIV3Schema"));
  for (const part of shared) causes.push(...checkPart(first, part, "spec"));
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
  subresource?: string,
  old?: Fields,
): Cause[] {
  if (subresource === "status") return checkNames(status?.acceptedNames ?? {}, "status.acceptedNames");
  const { group, scope, names = {}, versions = [] } = spec;
  const causes: Cause[] = [];
  // The name cannot change, so an update says what else did.
  if (!old && metadata.name && metadata.name !== `${names.plural}.${group}`) {
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
  const preserves = spec.preserveUnknownFields === true;
  causes.push(...checkVersions(spec.versions ?? undefined, names), ...checkConversion(spec.conversion, preserves));
  causes.push(...checkStored(versions ?? [], status?.storedVersions ?? null));
  causes.push(...checkApproval({ metadata, spec }, old));
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
