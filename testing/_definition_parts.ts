/**
 * Checks what a CustomResourceDefinition says beside names and schemas: conversion, subresources, columns, fields for
 * selectors, deprecation and approval.
 *
 * ```ts
 * import { checkConversion } from "./_definition_parts.ts";
 *
 * console.assert(checkConversion({ strategy: "Webhook" }, false).length === 2);
 * ```
 *
 * @module
 */
import { causesOf, type Check, each, filled, members, named, needed, neededAnd, oneOf, such } from "./_checks.ts";
import type { Fields } from "./_objects.ts";
import type { Schema } from "./_schema.ts";
import { type Cause, cause } from "./_status.ts";
import { clientConfig } from "./_webhook_client.ts";

const VERSIONS = ["v1", "v1beta1"];
const MAX_SELECTABLE = 8;

const reviewVersions: Check = neededAnd((value, at, causes) => {
  for (const [index, version] of value.entries()) {
    const path = `${at}[${index}]`;
    if (value.indexOf(version) < index) causes.push(cause.invalid(path, version, "duplicate version"));
    else named("label1035")(version, path, causes);
  }
  if (!VERSIONS.some((each) => value.includes(each))) {
    causes.push(cause.invalid(at, value, `must include at least one of ${VERSIONS.join(", ")}`));
  }
});

/** What is wrong with how versions are converted. */
export function checkConversion(conversion: Fields | undefined, preserves: boolean): Cause[] {
  if (!conversion) return [];
  const at = "spec.conversion";
  const { strategy = "", webhook = {} } = conversion;
  const causes: Cause[] = [];
  if (preserves && strategy !== "None") {
    const why = "must be None if spec.preserveUnknownFields is true";
    causes.push(cause.invalid(`${at}.strategy`, strategy, why));
  }
  neededAnd(oneOf(["None", "Webhook"]))(strategy, `${at}.strategy`, causes);
  const { clientConfig: client, conversionReviewVersions: versions } = webhook;
  const path = `${at}.webhookClientConfig`, reviews = `${at}.conversionReviewVersions`;
  if (strategy === "Webhook") {
    if (client === undefined) causes.push(cause.required(path, "required when strategy is set to Webhook"));
    else clientConfig(client, path, causes);
    reviewVersions(versions ?? [], reviews, causes);
    return causes;
  }
  const why = "should not be set when strategy is not set to Webhook";
  if (client !== undefined) causes.push(cause.forbidden(path, why));
  if (versions?.length > 0) causes.push(cause.forbidden(reviews, why));
  return causes;
}

/** Takes a path below one of some members. */
function pathBelow(...roots: readonly string[]): Check {
  const where = roots.length === 1 ? `under ${roots[0]}` : `under either ${roots.join(" or ")}`;
  return such((path: string) => {
    if (!path.startsWith(".")) return "must be a simple json path starting with .";
    return roots.some((root) => path.startsWith(`${root}.`)) ? undefined : `should be a json path ${where}`;
  });
}

const subresources: Check = (value, at, causes) => {
  if (!value?.scale) return;
  members({
    specReplicasPath: neededAnd(pathBelow(".spec")),
    statusReplicasPath: neededAnd(pathBelow(".status")),
    labelSelectorPath: filled(pathBelow(".spec", ".status")),
  })(value.scale, `${at}.scale`, causes);
};

const TYPES = ["boolean", "date", "integer", "number", "string"];
const FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

const column: Check = (value, at, causes) => {
  members({
    name: needed(),
    type: neededAnd(
      such((type) => TYPES.includes(type) ? undefined : `must be one of ${TYPES.join(",")}`),
      `must be one of ${TYPES.join(",")}`,
    ),
    format: filled(such((format) => FORMATS.includes(format) ? undefined : `must be one of ${FORMATS.join(",")}`)),
  })(value, at, causes);
  const path: string = value?.jsonPath ?? "";
  if (path === "") causes.push(cause.required(`${at}.JSONPath`));
  else if (!path.startsWith(".")) {
    causes.push(cause.invalid(`${at}.JSONPath`, path, "must be a simple json path starting with ."));
  }
};

/** Follows a path of names into a schema; answers with what it leads to, or with why it leads nowhere. */
function follow(path: string, schema: Schema): Schema | string {
  const start = /^[^.[]+/.exec(path);
  if (start) return `expected [ or . but got: ${start[0]}`;
  let at: Schema = schema;
  for (const step of path.match(/\.[^.[]*|\[[^\]]*\]?/g) ?? []) {
    if (step.startsWith("[")) return "array notation is not allowed";
    const next = at.properties?.[step.slice(1)];
    if (next === undefined) return "does not refer to a valid field";
    at = next;
  }
  return at;
}

function selectable(schema: Schema | undefined): Check {
  return (value, at, causes) => {
    const seen = new Set<string>();
    for (const [index, { jsonPath = "" }] of (value as Fields[] ?? []).entries()) {
      const field = `${at}[${index}].jsonPath`;
      if (jsonPath === "") {
        causes.push(cause.required(field));
        continue;
      }
      const found = follow(jsonPath, schema ?? {});
      if (typeof found === "string") {
        causes.push(cause.invalid(field, jsonPath, `is an invalid path: ${found}`));
        continue;
      }
      if (jsonPath.startsWith(".metadata.")) {
        causes.push(cause.invalid(field, jsonPath, "must not point to fields in metadata"));
      }
      if (!["string", "boolean", "integer"].includes(found.type ?? "")) {
        const why = "must point to a field of type string, boolean or integer. Enum string fields and strings with " +
          "formats are allowed.";
        causes.push(cause.invalid(field, jsonPath, why));
      }
      if (seen.has(jsonPath)) causes.push(cause.duplicate(field, jsonPath));
      seen.add(jsonPath);
    }
    if (seen.size > MAX_SELECTABLE) causes.push(cause.tooMany(at, seen.size, MAX_SELECTABLE));
  };
}

/** What of a version is said of all versions at once, if they are alike in it. */
export type Part = "subresources" | "additionalPrinterColumns" | "selectableFields";

/** The parts, in the order in which they are checked. */
export const PARTS: readonly Part[] = ["subresources", "additionalPrinterColumns", "selectableFields"];

/** What is wrong with a part of a version. */
export function checkPart(version: Fields, part: Part, at: string): Cause[] {
  const checks: Record<Part, Check> = {
    subresources,
    additionalPrinterColumns: each(column),
    selectableFields: selectable(version.schema?.openAPIV3Schema),
  };
  return causesOf(checks[part], version[part], `${at}.${part}`);
}

/** What is wrong with the warning of a version that is going to go. */
export function checkDeprecation({ deprecated, deprecationWarning: warning }: Fields, at: string): Cause[] {
  if (warning === undefined || warning === null) return [];
  const tell = (...rules: string[]): Cause[] => rules.map((why) => cause.invalid(at, warning, why));
  if (deprecated !== true) return tell("can only be set for deprecated versions");
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  const index = odd ? new TextEncoder().encode(warning.slice(0, odd.index)).length : 0;
  const why = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
  return tell(
    ...(warning.length > 256 ? ["must be <= 256 characters long"] : []),
    ...(warning === "" ? ["must not be an empty string"] : []),
    ...(odd ? [why] : []),
  );
}

const APPROVED = "api-approved.kubernetes.io";
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

type Approval = "approved" | "bypassed" | "invalid" | "missing";

function approvalOf({ metadata }: Fields): Approval {
  const text: string = metadata.annotations?.[APPROVED] ?? "";
  if (text === "") return "missing";
  if (text.startsWith("unapproved")) return "bypassed";
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]+/.test(text) ? "approved" : "invalid";
}

/** What is wrong with who approved a kind in a group of the community's. */
export function checkApproval(object: Fields, old?: Fields): Cause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(object.spec?.group ?? "")) return [];
  const approval = approvalOf(object);
  if (old && approvalOf(old) === approval) return [];
  const at = `metadata.annotations[${APPROVED}]`;
  const must = `protected groups must have approval annotation "${APPROVED}"`;
  if (approval === "missing") return [cause.required(at, `${must}, ${SEE}`)];
  if (approval !== "invalid") return [];
  const why = `${must} with either a URL or a reason starting with "unapproved", ${SEE}`;
  return [cause.invalid(at, object.metadata.annotations[APPROVED], why)];
}
