/**
 * Patches objects: JSON, merge, strategic merge and apply.
 *
 * ```ts
 * import { patchType } from "./_patch.ts";
 *
 * console.assert(patchType("application/merge-patch+json") === "merge");
 * ```
 *
 * @module
 */
import { isAsStored, view } from "./_behaviour.ts";
import type { Answer, Call } from "./_call.ts";
import { checkSize, goKind, mediaType, notAnObject, parseYaml, wrongTypeMeta } from "./_codec.ts";
import { decode, unknownFields, unmarshalErrors } from "./_decode.ts";
import { misplacedFields } from "./_decode_custom.ts";
import { type Conflict, conflictCauses, conflictMessage } from "./_conflicts.ts";
import { answerOf } from "./_encode.ts";
import { jsonPatch, mergePatch, PatchError } from "./_json_patch.ts";
import { checkName } from "./_identity.ts";
import { sortedKeys } from "./_json.ts";
import { duplicateKeys } from "./_json_text.ts";
import { applyPatch, describe } from "./_managed_fields.ts";
import { entriesText } from "./_manager_entries.ts";
import { clone, type Fields, isObject, type Kube, timestamp } from "./_objects.ts";
import { checkWriteOptions, fieldValidation, parseFlag } from "./_options.ts";
import { resetBy, schemaOf } from "./_ownership.ts";
import { readPatch } from "./_patch_body.ts";
import { remembered } from "./_remembered.ts";
import { strategicMerge } from "./_strategic.ts";
import { groupOf } from "../resource.ts";
import { badRequest, cause, conflict, internal, internalError, invalid, StatusError } from "./_status.ts";
import { goPrint } from "./_typed_check.ts";
import { yamlError } from "./_yaml_error.ts";
import { repeatedKeys } from "./_yaml_keys.ts";
import { create, liveOf, mayCreate, mustExist, update, writerOf } from "./_write.ts";

/** The ways to patch. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** The type of a patch by its media type, if it is one. */
export const patchType: (contentType: string) => PatchType | undefined = remembered((contentType) =>
  TYPES[mediaType(contentType).type]
);

/** The type of a call's patch; refuses others. */
export function typeOf(call: Call): PatchType {
  const found = patchType(call.headers.get("content-type") ?? "");
  const { custom } = call.info;
  if (found === undefined || (found === "strategic" && custom)) {
    const served = Object.keys(TYPES).filter((each) => TYPES[each] !== "strategic");
    throw new StatusError({
      code: 415,
      reason: "UnsupportedMediaType",
      message: custom
        ? `the body of the request was in an unknown format - accepted media types include: ${served.join(", ")}`
        : "415: Unsupported Media Type",
      ...(custom ? {} : { details: {} }),
    });
  }
  return found;
}

/** Answers a PATCH of an object or of its status. */
export function patch(call: Call): Answer {
  const { query, body } = call;
  const type = typeOf(call);
  checkSize(body);
  checkWriteOptions(query, "PatchOptions", type === "apply");
  const { subresource } = call.asked;
  const live = liveOf(call);
  if (type === "apply") return apply(call, subresource);
  const old = view(call.info, mustExist(call, live));
  const { value, problems } = readPatch(body, type);
  const patched = patchedObject(call, type, old, value);
  const given = { ...patched };
  const shown = (): string => type === "strategic" ? goPrint(value) : inGoOrder(given, call.info.custom !== undefined);
  const refuse = (why: string): StatusError => unprocessable(shown(), why);
  matchKind(call, type, patched, old, refuse);
  const known = isAsStored(call.info, live!) ? old : undefined;
  const object = decode(call, patched, {
    refuse,
    duplicates: problems,
    sorted: true,
    live: known,
    converted: type === "strategic",
  });
  return answerOf(call.info, 200, update(call, live!, object, { subresource }));
}

/** The error for a patch whose result is no object of the kind. */
export function unprocessable(shown: string, why: string): StatusError {
  const causes = [{
    field: "patch",
    message: `Invalid value: ${JSON.stringify(shown)}: ${why}`,
    reason: "FieldValueInvalid",
  }];
  const { status } = invalid({ group: "", kind: "" }, "", causes);
  return new StatusError({ ...status, details: { causes } });
}

function patchedObject(call: Call, type: Exclude<PatchType, "apply">, old: Kube, patch: unknown): Fields {
  let patched: unknown;
  try {
    if (type === "json") patched = jsonPatch(old, patch);
    else if (type === "merge") patched = mergePatch(old, patch);
    else patched = strategicMerge(old, patch as Fields, schemaOf(call.info) ?? {});
  } catch (error) {
    throw asStatus(error);
  }
  if (!isObject(patched)) {
    throw unprocessable(
      JSON.stringify(patched),
      `couldn't get version/kind; json parse error: ${notAnObject(patched)}`,
    );
  }
  // What a patch left alone is shared with what is stored, unless defaults are filled in on the spot.
  return call.info.custom ? { ...patched, metadata: ownMetadata(patched.metadata) } : copied(patched);
}

/** A copy, but of managers: those are never changed. */
function copied(object: Fields): Fields {
  const managedFields = object.metadata?.managedFields;
  if (entriesText(managedFields) === undefined) return clone(object);
  const copy = clone({ ...object, metadata: { ...object.metadata, managedFields: null } });
  copy.metadata.managedFields = managedFields;
  return copy;
}

function ownMetadata(metadata: unknown): unknown {
  return isObject(metadata) ? { ...metadata } : metadata;
}

/** Refuses a patch that makes another kind of an object; a kind that was taken away stays. */
function matchKind(
  call: Call,
  type: PatchType,
  patched: Fields,
  old: Kube,
  refuse: (why: string) => StatusError,
): void {
  const { info, query, warnings } = call;
  if (info.custom) checkTypeMeta(patched, refuse);
  else if (type !== "strategic" && !patched.apiVersion) {
    // Without its version the text of a built-in kind is read as nothing, which has neither members nor a name.
    const members = Object.keys(patched).filter((name) => name !== "apiVersion" && name !== "kind").sort();
    const problems = members.map((name) => `unknown field ${JSON.stringify(name)}`);
    unknownFields(problems, fieldValidation(query), warnings, refuse);
    checkName(call, {});
  }
  patched.kind ||= old.kind;
  patched.apiVersion ||= old.apiVersion;
  if (patched.apiVersion === old.apiVersion && (patched.kind === old.kind || info.custom)) return;
  if (!info.custom) throw refuse(`no kind "${patched.kind}" is registered for version "${patched.apiVersion}"`);
  unknownFields(misplacedFields(info, patched), fieldValidation(query), warnings, refuse);
  const subject = { group: groupOf(patched.apiVersion), kind: patched.kind };
  throw invalid(subject, old.metadata.name!, [
    ...patched.kind === info.kind ? [] : [cause.invalid("kind", patched.kind, `must be ${info.kind}`)],
    cause.invalid("apiVersion", patched.apiVersion, `must be ${old.apiVersion}`),
  ]);
}

/** Refuses a patch that takes the kind or the version of a custom resource away. */
function checkTypeMeta(patched: Fields, refuse: (why: string) => StatusError): void {
  const wrong = wrongTypeMeta(patched);
  if (wrong !== undefined) throw refuse(`couldn't get version/kind; json parse error: ${wrong}`);
  if (!patched.kind) throw refuse(`Object 'Kind' is missing in '${inGoOrder(patched, true)}'`);
  if (!patched.apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/** What the pure parts threw, as the server says it. */
export function asStatus(error: unknown): unknown {
  if (!(error instanceof PatchError)) return error;
  const { code, reason, message } = error;
  return new StatusError({
    code,
    message,
    ...(reason === "" ? {} : { reason }),
    ...(reason === "Invalid" ? { details: {} } : {}),
  });
}

export function readApplied(call: Call): Fields {
  let value: unknown;
  const json = call.body.trimStart().startsWith("{");
  try {
    value = json ? JSON.parse(call.body) : parseYaml(call.body);
  } catch (error) {
    throw badRequest(`error encoding patch: ${yamlError(call.body, error as Error)}`);
  }
  if (value === null) value = {};
  if (!isObject(value)) {
    const why = `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding patch: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const repeated = json && duplicateKeys(call.body, value).length === 0 ? [] : repeatedKeys(call.body);
  unknownFields(
    repeated,
    fieldValidation(call.query),
    call.warnings,
    (_, lines) => badRequest(`error strict decoding patch: error converting YAML to JSON: ${unmarshalErrors(lines)}`),
  );
  return value;
}

/** Refuses what is applied as another kind. */
export function checkApplied(applied: Fields, apiVersion: string, kind: string): void {
  if (applied.apiVersion === apiVersion && applied.kind === kind) return;
  const text = (value: unknown): string => typeof value === "string" ? value : "";
  const version = text(applied.apiVersion);
  throw badRequest(`invalid object type: ${version.includes("/") ? "" : "/"}${version}, Kind=${text(applied.kind)}`);
}

function apply(call: Call, subresource: string): Answer {
  const { info, query, server } = call;
  const applied = readApplied(call);
  checkApplied(applied, info.apiVersion, info.kind);
  const given: Fields = isObject(applied.metadata) ? applied.metadata : {};
  if (given.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  const live = liveOf(call);
  const old = live && view(info, live);
  if (!live && subresource !== "") mustExist(call, live);
  const { uid, resourceVersion } = given;
  if (!live && uid) {
    throw conflict(
      info,
      call.asked.name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  const { resourceVersion: _version, uid: _uid, ...metadata } = given;
  const mine: Fields = { ...applied, metadata: given === applied.metadata ? metadata : applied.metadata ?? {} };
  let result;
  try {
    result = applyPatch({
      ...(old ? { live: old } : {}),
      applied: mine,
      manager: writerOf(call),
      force: parseFlag(query.get("force")),
      schema: schemaOf(info),
      apiVersion: info.apiVersion,
      versions: info.custom?.versions,
      subresource,
      time: timestamp(server.now()),
      reset: resetBy(info, subresource),
    });
  } catch (error) {
    throw asStatus(error);
  }
  if ("conflicts" in result) throw applyConflict(result.conflicts);
  // What is there has its name.
  if (!live || given.name) checkName(call, applied);
  const { object: outcome } = result as { object: Fields };
  const merged: Fields = info.custom ? { ...outcome, metadata: ownMetadata(outcome.metadata) } : clone(outcome);
  if (uid) merged.metadata.uid = uid;
  if (resourceVersion !== undefined && live) merged.metadata.resourceVersion = resourceVersion;
  if (writerOf(call) === "kubectl") syncLastApplied(merged, applied);
  const object = decode(call, merged, { applied: true, converted: true, refuse: (why) => inconvertible(applied, why) });
  if (!live) {
    mayCreate(call);
    return answerOf(info, 201, create(call, object, { tracked: true }));
  }
  return answerOf(info, 200, update(call, live, object, { subresource, tracked: true }));
}

/** The error for what fits the schema, but cannot be read. */
function inconvertible(applied: Fields, why: string): StatusError {
  const which = describe(applied);
  const [, kind] = which.split("; ");
  const reason = why.replace(/^illegal base64/, "error decoding from json: $&");
  const how = `unable to convert unstructured object to ${kind}: ${reason}`;
  return internal(`failed to convert new object (${which}) to proper version: ${how}`);
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Keeps what kubectl noted when it applied by itself in step with what it applies through the server. */
function syncLastApplied(merged: Fields, applied: Fields): void {
  const annotations = merged.metadata?.annotations;
  if (!annotations?.[LAST_APPLIED]) return;
  const copy = clone(applied);
  const own: Fields = { ...copy.metadata.annotations };
  delete own[LAST_APPLIED];
  if (applied.metadata?.annotations) copy.metadata.annotations = own;
  else delete copy.metadata.annotations;
  merged.metadata.annotations = { ...annotations, [LAST_APPLIED]: `${JSON.stringify(sortedKeys(copy))}\n` };
}

/** A patched object as the real server has it: built-in kinds keep the order of their members' members. */
function inGoOrder(patched: Fields, deep: boolean): string {
  const members = Object.keys(patched).sort().map((key) => [key, deep ? sortedKeys(patched[key]) : patched[key]]);
  return JSON.stringify(Object.fromEntries(members));
}

export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const details = { causes: conflictCauses(conflicts) };
  return new StatusError({ code: 409, reason: "Conflict", message: conflictMessage(conflicts), details });
}
