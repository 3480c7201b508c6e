/**
 * Binds pods to nodes, as a scheduler asks for.
 *
 * ```ts
 * import { bind } from "./_pods_binding.ts";
 *
 * console.assert(typeof bind === "function");
 * ```
 *
 * @module
 */
import type { Answer, Call } from "./_call.ts";
import { readBody } from "./_codec.ts";
import { decodeAs } from "./_decode.ts";
import { checkUid, storageConflict } from "./_identity.ts";
import { type Fields, type Kube, timestamp } from "./_objects.ts";
import { checkWriteOptions, isDryRun } from "./_options.ts";
import { BINDING } from "./_registered.ts";
import { badRequest, type Cause, cause, conflict, internal } from "./_status.ts";
import { collectionOf, liveOf, matchNamespace, mustExist, namespaceOf } from "./_write.ts";

/** Answers a POST of a binding, to a pod's path or to the collection of bindings. */
export function bind(call: Call): Answer {
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), "Binding");
  checkWriteOptions(call.query, "CreateOptions");
  const binding = decodeAs(call, BINDING, value, { duplicates });
  const { name } = binding.metadata;
  if (call.asked.subresource === "") {
    if (!name) throw badRequest("Name parameter required.");
    const info = call.server.registry.find("", "v1", "pods")!;
    return bindPod({ ...call, info, asked: { ...call.asked, plural: "pods", name, subresource: "binding" } }, binding);
  }
  if (name !== call.asked.name) throw badRequest("name in URL does not match name in Binding object");
  return bindPod(call, binding);
}

function check({ target = {} }: Fields): void {
  const causes: Cause[] = [];
  if (target.kind && target.kind !== "Node") {
    causes.push(cause.unsupported("target.kind", target.kind, ["Node", "<empty>"]));
  }
  if (!target.name) causes.push(cause.required("target.name"));
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  if (texts.length > 0) throw internal(texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`);
}

function bindPod(call: Call, binding: Kube): Answer {
  const { info, server, asked } = call;
  matchNamespace(call, binding);
  check(binding);
  const { object } = mustExist(call, liveOf(call));
  const { uid, resourceVersion, annotations, labels } = binding.metadata;
  checkUid(info, uid, object);
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    const found = `${resourceVersion}, ResourceVersion in object meta: ${object.metadata.resourceVersion}`;
    throw storageConflict(info, object.metadata, `Precondition failed: ResourceVersion in precondition: ${found}`);
  }
  const subject = { group: "", plural: "pods/binding" };
  if (object.metadata.deletionTimestamp !== undefined) {
    throw conflict(subject, asked.name, `pod ${asked.name} is being deleted, cannot be assigned to a host`);
  }
  if (object.spec?.schedulingGates?.length > 0) {
    throw conflict(subject, asked.name, `pod ${asked.name} has non-empty .spec.schedulingGates`);
  }
  if (object.spec?.nodeName) {
    throw conflict(subject, asked.name, `pod ${asked.name} is already assigned to node "${object.spec.nodeName}"`);
  }
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(server.now()),
  };
  const others = (object.status?.conditions ?? []).filter(({ type }: Fields) => type !== "PodScheduled");
  const bound = {
    ...object,
    metadata: {
      ...object.metadata,
      ...(annotations ? { annotations: { ...object.metadata.annotations, ...annotations } } : {}),
      ...(labels ? { labels: { ...object.metadata.labels, ...labels } } : {}),
    },
    spec: { ...object.spec, nodeName: binding.target.name },
    status: { ...object.status, conditions: [...others, scheduled] },
  };
  if (!isDryRun(call)) collectionOf(call).put(namespaceOf(call), asked.name, bound);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}
