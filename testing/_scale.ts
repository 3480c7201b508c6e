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
import type { Answer, Call } from "./_call.ts";
import { readBody } from "./_codec.ts";
import { jsonPatch, mergePatch } from "./_json_patch.ts";
import { clone, field, type Fields, type Kube, setField } from "./_objects.ts";
import { checkWriteOptions } from "./_options.ts";
import { asStatus, patchType } from "./_patch.ts";
import { badRequest, cause, invalid, modified, StatusError } from "./_status.ts";
import { liveOf, mustExist, update } from "./_write.ts";

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

function scaleOf(call: Call, object: Kube): Fields {
  const paths = pathsOf(call);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = field(object, paths.spec);
  if (call.info.custom && replicas === undefined) {
    const message = `the spec replicas field "${call.info.custom.scale!.specReplicasPath}" does not exist`;
    throw new StatusError({
      code: 500,
      reason: "InternalError",
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    });
  }
  const selector = call.info.custom
    ? paths.selector && selectorText(field(object, paths.selector))
    : selectorText(object.spec?.selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: field(object, paths.status) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** Answers a request for a scale. */
export function scale(call: Call): Answer {
  const live = mustExist(call, liveOf(call));
  const object = view(call.info, live);
  const now = scaleOf(call, object);
  if (call.asked.verb === "get") return { code: 200, body: now };
  let wanted: Fields;
  if (call.asked.verb === "update") {
    wanted = readBody(call.body, call.headers.get("content-type"), "Scale").value;
    checkWriteOptions(call.query, "UpdateOptions");
  } else wanted = patched(call, now);
  const { resourceVersion } = wanted.metadata ?? {};
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    throw modified(call.info, call.asked.name);
  }
  const replicas = wanted.spec?.replicas ?? 0;
  if (replicas < 0) {
    const { custom } = call.info;
    throw custom
      ? invalid(call.info, call.asked.name, [
        cause.invalid(custom.scale!.specReplicasPath, replicas, "should be a non-negative integer"),
      ])
      : invalid({ group: "autoscaling", kind: "Scale" }, call.asked.name, [
        cause.invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
      ]);
  }
  const copy = clone(object) as Kube;
  setField(copy, pathsOf(call).spec.split("."), replicas);
  return { code: 200, body: scaleOf(call, view(call.info, update(call, live, copy, { subresource: "scale" }))) };
}

function patched(call: Call, now: Fields): Fields {
  const type = patchType(call.headers.get("content-type"));
  checkWriteOptions(call.query, "PatchOptions", type === "apply");
  try {
    const patch = JSON.parse(call.body);
    return (type === "json" ? jsonPatch(now, patch) : mergePatch(now, patch)) as Fields;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(error.message);
    throw asStatus(error);
  }
}
