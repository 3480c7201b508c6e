/**
 * Reads and writes the scale of what has replicas.
 *
 * ```ts
 * import type { Call } from "./_call.ts";
 * import { scale } from "./_scale.ts";
 *
 * export const answer = (call: Call): unknown => scale(call);
 * ```
 *
 * @module
 */
import { view } from "./_behaviour.ts";
import { builtinSchema } from "./_builtin.ts";
import type { Answer, Call } from "./_call.ts";
import { readBody } from "./_codec.ts";
import { decodeAs } from "./_decode.ts";
import { checkName, checkUid } from "./_identity.ts";
import { jsonPatch, mergePatch } from "./_json_patch.ts";
import { applyPatch, trackUpdate } from "./_managed_fields.ts";
import { clone, equal, field, type Fields, isObject, type Kube, setField, timestamp } from "./_objects.ts";
import { checkWriteOptions, parseFlag } from "./_options.ts";
import { applyConflict, asStatus, checkApplied, type PatchType, readApplied, typeOf, unprocessable } from "./_patch.ts";
import { readPatch } from "./_patch_body.ts";
import { goPrint } from "./_typed_check.ts";
import { SCALE } from "./_registered.ts";
import { rootType } from "./_root_type.ts";
import { managersOfObject, managersOfScale, SCALE_VERSION } from "./_scale_managers.ts";
import { badRequest, cause, internal, internalError, invalid, modified } from "./_status.ts";
import { strategicMerge } from "./_strategic.ts";
import type { Revision } from "./_store.ts";
import { checkTyped, errorText } from "./_typed_check.ts";
import { liveOf, matchNamespace, mustExist, update, writerOf } from "./_write.ts";

interface Paths {
  readonly spec: string;
  readonly status: string;
  readonly selector: string | undefined;
}

function pathsOf(call: Call): Paths {
  const custom = call.info.custom?.scale;
  if (!custom) return { spec: "spec.replicas", status: "status.replicas", selector: undefined };
  return {
    spec: custom.specReplicasPath.slice(1),
    status: custom.statusReplicasPath.slice(1),
    selector: custom.labelSelectorPath?.slice(1),
  };
}

function selectorText(selector: unknown): string | undefined {
  if (typeof selector === "string") return selector;
  const { matchLabels = {}, matchExpressions = [] } = (selector ?? {}) as Fields;
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of matchExpressions as Fields[]) {
    if (operator === "Exists") parts.push(key);
    else if (operator === "DoesNotExist") parts.push(`!${key}`);
    else parts.push(`${key} ${operator.toLowerCase()} (${values.join(",")})`);
  }
  return parts.length > 0 ? parts.sort().join(",") : undefined;
}

function schema() {
  return builtinSchema("autoscaling", "v1", "Scale")!;
}

function scaleOf(call: Call, object: Kube): Fields {
  const paths = pathsOf(call);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = field(object, paths.spec);
  const selector = call.info.custom ? paths.selector && selectorText(field(object, paths.selector)) : selectorText(
    call.info.kind === "ReplicationController" ? { matchLabels: object.spec?.selector } : object.spec?.selector,
  );
  return {
    kind: "Scale",
    apiVersion: SCALE_VERSION,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: field(object, paths.status) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** Answers a request for a scale. */
export function scale(call: Call): Answer {
  switch (call.asked.verb) {
    case "get":
      return read(call);
    case "update":
      return replace(call);
  }
  const type = typeOf(call);
  checkWriteOptions(call.query, "PatchOptions", type === "apply");
  return type === "apply" ? apply(call) : patch(call, type);
}

function read(call: Call): Answer {
  const { info } = call;
  const object = view(info, mustExist(call, liveOf(call)));
  if (info.custom && field(object, pathsOf(call).spec) === undefined) {
    throw internalError(`the spec replicas field "${info.custom.scale!.specReplicasPath}" does not exist`);
  }
  return { code: 200, body: scaleOf(call, object) };
}

function replace(call: Call): Answer {
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), "Scale");
  checkWriteOptions(call.query, "UpdateOptions");
  const { apiVersion, kind } = value;
  if (call.info.custom && ((apiVersion && apiVersion !== SCALE_VERSION) || (kind && kind !== "Scale"))) {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
  const wanted = decodeAs(call, SCALE, value, { duplicates });
  checkName(call, wanted);
  const live = mustExist(call, liveOf(call));
  matchNamespace(call, wanted);
  checkUid(call.info, wanted.metadata.uid, view(call.info, live));
  return write(call, wanted);
}

function patch(call: Call, type: Exclude<PatchType, "apply">): Answer {
  const now = scaleOf(call, view(call.info, mustExist(call, liveOf(call))));
  const { value, problems } = readPatch(call.body, type);
  let patched: unknown;
  try {
    if (type === "json") patched = jsonPatch(now, value);
    else if (type === "merge") patched = mergePatch(now, value);
    else patched = strategicMerge(now, value as Fields, schema());
  } catch (error) {
    throw asStatus(error);
  }
  const shown = type === "strategic" ? goPrint(value) : JSON.stringify(patched);
  if (!isObject(patched)) throw unprocessable(shown, "the patched document must be an object");
  const refuse = (why: string) => unprocessable(shown, why);
  const wanted = decodeAs(call, SCALE, clone(patched) as Fields, { refuse, duplicates: problems, sorted: true });
  checkName(call, wanted);
  matchNamespace(call, wanted);
  return write(call, wanted);
}

function checkReplicas(call: Call, replicas: number): void {
  if (replicas >= 0) return;
  const { info, asked } = call;
  const { custom } = info;
  throw custom
    ? invalid(info, asked.name, [
      cause.invalid(custom.scale!.specReplicasPath, replicas, "should be a non-negative integer"),
    ])
    : invalid({ group: "autoscaling", kind: "Scale" }, asked.name, [
      cause.invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
    ]);
}

/** A scale with its managers. */
function owned(call: Call, object: Kube): Fields {
  const scale = scaleOf(call, object);
  const managedFields = managersOfScale(object.metadata.managedFields, pathsOf(call).spec);
  return { ...scale, metadata: { ...scale.metadata, ...(managedFields ? { managedFields } : {}) } };
}

/** Stores the replicas and the managers that a scale has. */
function store(call: Call, live: Revision, scale: Fields): Answer {
  const { info } = call;
  const object = clone(view(info, live)) as Kube;
  const replicas: number = scale.spec?.replicas ?? 0;
  checkReplicas(call, replicas);
  const { spec } = pathsOf(call);
  setField(object, spec.split("."), replicas);
  const { managedFields: before } = object.metadata;
  const managedFields = managersOfObject(before, scale.metadata?.managedFields, spec, info.apiVersion);
  const metadata: Fields = object.metadata;
  if (managedFields) metadata.managedFields = managedFields;
  else delete metadata.managedFields;
  const stored = update(call, live, object, { subresource: "scale", tracked: true });
  return { code: 200, body: scaleOf(call, view(info, stored)) };
}

/** How the fields of a scale are told apart. */
function tracking(call: Call) {
  return {
    manager: writerOf(call),
    schema: schema(),
    apiVersion: SCALE_VERSION,
    subresource: "scale",
    time: timestamp(call.server.now()),
    reset: [],
  };
}

/** Writes the replicas that a scale has. */
function write(call: Call, wanted: Kube): Answer {
  const live = mustExist(call, liveOf(call));
  const object = view(call.info, live);
  const { resourceVersion } = wanted.metadata;
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    throw modified(call.info, call.asked.name);
  }
  const now = owned(call, object);
  const replicas: number = wanted.spec?.replicas ?? 0;
  const updated = { ...now, spec: replicas === 0 ? {} : { replicas } };
  return store(call, live, trackUpdate({ ...tracking(call), live: now, updated }));
}

/** Applies a scale: who owns the replicas of the object owns those of the scale. */
function apply(call: Call): Answer {
  const { info, query } = call;
  const applied = readApplied(call);
  checkApplied(applied, SCALE_VERSION, "Scale");
  const live = mustExist(call, liveOf(call));
  const now = owned(call, view(info, live));
  // Nothing converts the scale of a custom resource: what neither conflicts nor is as before fails.
  const unconverted = (what: string): string =>
    `failed to convert ${what}; ${SCALE_VERSION}, Kind=Scale) to proper version: ` +
    `request to convert CR to an invalid group/version: ${SCALE_VERSION}`;
  if (info.custom && now.metadata.managedFields === undefined) {
    throw internal(`failed to create manager for existing fields: ${unconverted("live object (/")}`);
  }
  const { namespace = "", name = "" } = applied.metadata ?? {};
  const errors = checkTyped(rootType(schema()), applied);
  if (errors.length > 0) {
    const which = `${namespace}/${name}; ${SCALE_VERSION}, Kind=Scale`;
    throw internal(`failed to create typed patch object (${which}): ${errorText(errors)}`);
  }
  const force = parseFlag(query.get("force"));
  const result = applyPatch({ ...tracking(call), live: now, applied, force });
  if ("conflicts" in result) throw applyConflict(result.conflicts);
  if (info.custom && !equal(now.spec, (result.object as Fields).spec)) {
    throw internal(unconverted(`new object (${namespace}/${name}`));
  }
  checkName(call, applied);
  return store(call, live, result.object);
}
