/**
 * Checks metadata: names, labels, annotations, finalizers, owners, and what an update may not change.
 *
 * ```ts
 * import { validateName } from "./_metadata.ts";
 *
 * console.assert(validateName("Bad", "subdomain").length === 1);
 * ```
 *
 * @module
 */
import type { DraftMeta } from "../resource.ts";
import { equal } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const LABEL_RULE = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must " +
  "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_RULE = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
  "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for " +
  "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " +
  "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used " +
  "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** The rules for names. */
export type NameRule = "subdomain" | "label" | "label1035" | "path";

/** What is wrong with a name, in words. */
export function validateName(name: string, rule: NameRule): string[] {
  switch (rule) {
    case "subdomain":
      if (name.length <= 253 && SUBDOMAIN.test(name)) return [];
      return [
        ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
        ...(SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_RULE]),
      ];
    case "label":
      return [
        ...(name.length > 63 ? ["must be no more than 63 characters"] : []),
        ...(LABEL.test(name) ? [] : [SUBDOMAIN.test(name) ? "must not contain dots" : LABEL_RULE]),
      ];
    case "label1035":
      return [
        ...(name.length > 63 ? ["must be no more than 63 characters"] : []),
        ...(LABEL_1035.test(name) ? [] : [LABEL_1035_RULE]),
      ];
    case "path":
      if (name === "." || name === "..") return [`may not be '${name}'`];
      return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
  }
}

/** What is wrong with a qualified name such as a label's key, in words. */
export function validateQualified(name: string): string[] {
  if (name.length <= 63 && QUALIFIED.test(name)) return [];
  const parts = name.split("/");
  const wrong: string[] = [];
  if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' ` +
      "(e.g. 'example.com/MyName')",
    ];
  }
  const last = parts.pop()!;
  const [prefix] = parts;
  if (prefix !== undefined) {
    if (prefix === "") wrong.push("prefix part must be non-empty");
    else {
      const part = validateName(prefix, "subdomain").map((each) =>
        each.replace(/^(must be .*) characters$/, "$1 bytes")
      );
      wrong.push(...part.map((each) => `prefix part ${each}`));
    }
  }
  if (last === "") wrong.push("name part must be non-empty");
  else if (last.length > 63) wrong.push("name part must be no more than 63 bytes");
  if (!QUALIFIED.test(last)) wrong.push(`name part ${QUALIFIED_RULE}`);
  return wrong;
}

/** What is wrong with a label's value, in words. */
export function validateLabelValue(value: string): string[] {
  if (value.length <= 63 && QUALIFIED.test(value)) return [];
  return [
    ...(value.length > 63 ? ["must be no more than 63 bytes"] : []),
    ...(value === "" || QUALIFIED.test(value) ? [] : [VALUE_RULE]),
  ];
}

/** What is wrong with labels. */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): Cause[] {
  const causes: Cause[] = [];
  for (const key in labels) {
    const value = labels[key]!;
    for (const why of validateQualified(key)) causes.push(cause.invalid(path, key, why));
    for (const why of validateLabelValue(value)) causes.push(cause.invalid(path, value, why));
  }
  return causes;
}

const MAX_ANNOTATIONS = 262_144;
const RESERVED_OWNERS = new Set(["v1/Event"]);
const GC_FINALIZERS = new Set(["orphan", "foregroundDeletion"]);
const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined): Cause[] {
  const path = "metadata.annotations";
  const causes: Cause[] = [];
  let size = 0;
  for (const key in annotations) {
    for (const why of validateQualified(key.toLowerCase())) causes.push(cause.invalid(path, key, why));
    size += key.length + annotations[key]!.length;
  }
  if (size > MAX_ANNOTATIONS) causes.push(cause.tooLong(path, MAX_ANNOTATIONS));
  return causes;
}

function validateOwners(meta: DraftMeta): Cause[] {
  const causes: Cause[] = [];
  const path = "metadata.ownerReferences";
  const owners = meta.ownerReferences;
  if (!owners || owners.length === 0) return causes;
  let controller: string | undefined;
  for (const [index, owner] of owners.entries()) {
    const { apiVersion, kind, name, uid } = owner;
    const at = `${path}[${index}]`;
    if ((apiVersion ?? "").split("/").length > 2) {
      causes.push(cause.invalid(`${at}.apiVersion`, apiVersion, "must be <group>/<version> or <version>"));
    }
    for (const [member, value] of Object.entries({ apiVersion, kind, name, uid })) {
      if (!value) causes.push(cause.required(`${at}.${member}`, "must not be empty"));
    }
    if (RESERVED_OWNERS.has(`${apiVersion}/${kind}`)) {
      const gvk = `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;
      causes.push(cause.invalid(at, owner, `${gvk} is disallowed from being an owner`));
    }
    if (owner.controller === true) {
      if (controller !== undefined) {
        causes.push(
          cause.invalid(
            path,
            owners,
            "Only one reference can have Controller set to true. " +
              `Found "true" in references for ${controller} and ${kind}/${name}`,
          ),
        );
      } else controller = `${kind}/${name}`;
    }
  }
  return causes;
}

function isBare(finalizer: string): boolean {
  return !finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer);
}

/** What is said of finalizers without a domain where they may be: only of those that were not there before. */
export function bareFinalizers(finalizers: readonly string[] = [], before: readonly string[] = []): string[] {
  const added = new Set(finalizers.filter((each) => isBare(each) && !before.includes(each)));
  return [...added].sort().map((each) =>
    `metadata.finalizers: ${JSON.stringify(each)}: prefer a domain-qualified finalizer name to avoid accidental ` +
    "conflicts with other finalizer writers"
  );
}

/** What is wrong with the finalizers of a built-in kind: they need a domain. */
function validateDomains(finalizers: readonly string[]): Cause[] {
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return [...finalizers.entries()].filter(([, each]) => isBare(each))
    .map(([index, each]) => cause.invalid(`metadata.finalizers[${index}]`, each, why));
}

function validateFinalizers(finalizers: readonly string[]): Cause[] {
  const path = "metadata.finalizers";
  const causes: Cause[] = finalizers.flatMap((each) =>
    validateQualified(each).map((why) => cause.invalid(path, each, why))
  );
  if (finalizers.filter((each) => GC_FINALIZERS.has(each)).length > 1) {
    causes.push(
      cause.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set"),
    );
  }
  return causes;
}

/** What is wrong with the beginning of names: a dash at its end, with what is before it, counts as a letter. */
export function validatePrefix(prefix: string, rule: NameRule): Cause[] {
  return validateName(prefix.replace(/.-$/s, "a"), rule)
    .map((why) => cause.invalid("metadata.generateName", prefix, why));
}

/** What is wrong with the metadata of an object; finalizers of those who are not `lenient` need a domain. */
export function validateMetadata(meta: DraftMeta, namespaced: boolean, rule: NameRule, lenient = false): Cause[] {
  const causes: Cause[] = [];
  if (meta.generateName) causes.push(...validatePrefix(meta.generateName, rule));
  if (!meta.name) causes.push(cause.required("metadata.name", "name or generateName is required"));
  else for (const why of validateName(meta.name, rule)) causes.push(cause.invalid("metadata.name", meta.name, why));
  if (namespaced && !meta.namespace) causes.push(cause.required("metadata.namespace"));
  causes.push(...validateLabels(meta.labels, "metadata.labels"));
  causes.push(...validateAnnotations(meta.annotations));
  causes.push(...validateOwners(meta));
  const { finalizers } = meta;
  if (!finalizers || finalizers.length === 0) return causes;
  causes.push(...validateFinalizers(finalizers));
  if (!lenient) causes.push(...validateDomains(finalizers));
  return causes;
}

/** What is wrong with a change of metadata. */
export function validateMetadataUpdate(meta: DraftMeta, old: DraftMeta): Cause[] {
  const causes: Cause[] = [];
  const fixed = (name: keyof DraftMeta): void => {
    if (!equal(meta[name], old[name])) {
      causes.push(cause.invalid(`metadata.${name}`, meta[name], "field is immutable"));
    }
  };
  if (old.deletionTimestamp !== undefined) {
    const added = (meta.finalizers ?? []).filter((each) => !old.finalizers?.includes(each));
    if (added.length > 0) {
      const found = `[]string{${added.map((each) => JSON.stringify(each)).join(", ")}}`;
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`;
      causes.push(cause.forbidden("metadata.finalizers", why));
    }
  }
  for (const name of ["name", "namespace", "uid", "creationTimestamp"] as const) fixed(name);
  for (const name of ["deletionTimestamp", "deletionGracePeriodSeconds"] as const) fixed(name);
  return causes;
}
