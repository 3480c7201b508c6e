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
import { decode, decodeAs } from "./_decode.ts";
import { checkName, checkUid } from "./_identity.ts";
import { jsonPatch, mergePatch } from "./_json_patch.ts";
import { applyPatch } from "./_managed_fields.ts";
import { clone, field, type Fields, isObject, type Kube, setField, timestamp } from "./_objects.ts";
import { checkWriteOptions } from "./_options.ts";
import { schemaOf, timeless } from "./_ownership.ts";
import { applyConflict, asStatus, type PatchType, readApplied, typeOf, unprocessable } from "./_patch.ts";
import { goText, readPatch } from "./_patch_body.ts";
import { SCALE } from "./_registered.ts";
import { rootType } from "./_root_type.ts";
import { badRequest, cause, internal, internalError, invalid, modified } from "./_status.ts";
import { strategicMerge } from "./_strategic.ts";
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

const API_VERSION = "autoscaling/v1";

function schema() {
  return builtinSchema("autoscaling", "v1", "Scale")!;
}

function scaleOf(call: Call, object: Kube): Fields {
  const paths = pathsOf(call);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = field(object, paths.spec);
  const selector = call.info.custom
    ? paths.selector && selectorText(field(object, paths.selector))
    : selectorText(object.spec?.selector);
  return {
    kind: "Scale",
    apiVersion: API_VERSION,
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
  const shown = type === "strategic" ? goText(value) : JSON.stringify(patched);
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

/** Writes the replicas that a scale has. */
function write(call: Call, wanted: Kube): Answer {
  const live = mustExist(call, liveOf(call));
  const object = view(call.info, live);
  const { resourceVersion } = wanted.metadata;
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    throw modified(call.info, call.asked.name);
  }
  const replicas: number = wanted.spec?.replicas ?? 0;
  checkReplicas(call, replicas);
  const copy = clone(object) as Kube;
  setField(copy, pathsOf(call).spec.split("."), replicas);
  return { code: 200, body: scaleOf(call, view(call.info, update(call, live, copy, { subresource: "scale" }))) };
}

/** Applies a scale: who owns the replicas of the object owns those of the scale. */
function apply(call: Call): Answer {
  const { info, query, server } = call;
  const applied = readApplied(call);
  const { apiVersion = "", kind = "", metadata } = applied;
  if (apiVersion !== API_VERSION || kind !== "Scale") {
    throw badRequest(`invalid object type: ${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`);
  }
  const live = mustExist(call, liveOf(call));
  if (info.custom) {
    const why = `request to convert CR to an invalid group/version: ${API_VERSION}`;
    const what = `failed to convert live object (/; ${API_VERSION}, Kind=Scale) to proper version: ${why}`;
    throw internal(`failed to create manager for existing fields: ${what}`);
  }
  const errors = checkTyped(rootType(schema()), applied);
  if (errors.length > 0) {
    const { namespace = "", name = "" } = metadata ?? {};
    const which = `${namespace}/${name}; ${API_VERSION}, Kind=Scale`;
    throw internal(`failed to create typed patch object (${which}): ${errorText(errors)}`);
  }
  const manager = writerOf(call);
  const replicas = applied.spec?.replicas;
  const result = applyPatch({
    live: view(info, live),
    applied: {
      apiVersion: info.apiVersion,
      kind: info.kind,
      metadata: { name: call.asked.name },
      ...(replicas === undefined ? {} : { spec: { replicas } }),
    },
    manager,
    force: query.get("force") === "true",
    schema: schemaOf(info),
    apiVersion: info.apiVersion,
    subresource: "scale",
    time: timestamp(server.now()),
    reset: [],
  });
  if ("conflicts" in result) {
    const written = ` using ${info.apiVersion}`;
    throw applyConflict(result.conflicts.map((each) => ({
      ...each,
      text: each.text.endsWith(written) ? `${each.text.slice(0, -written.length)} using ${API_VERSION}` : each.text,
    })));
  }
  checkName(call, applied);
  const object = clone(timeless(result.object as Kube, manager)) as Kube;
  object.spec = { ...object.spec, replicas: object.spec?.replicas ?? 0 };
  checkReplicas(call, object.spec.replicas);
  const decoded = decode(call, object, { applied: true });
  const stored = update(call, live, decoded, { subresource: "scale", tracked: true });
  return { code: 200, body: scaleOf(call, view(info, stored)) };
}
