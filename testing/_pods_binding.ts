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
import { type Fields, timestamp } from "./_objects.ts";
import { isDryRun } from "./_options.ts";
import { cause, conflict, invalid } from "./_status.ts";
import { collectionOf, liveOf, mustExist, namespaceOf } from "./_write.ts";

/** Answers a POST of a binding. */
export function bind(call: Call): Answer {
  const { info, server, asked } = call;
  const { value } = readBody(call.body, call.headers.get("content-type"), "Binding");
  const { object } = mustExist(call, liveOf(call));
  const { name: node } = value.target ?? {};
  if (!node) throw invalid({ group: "", kind: "Binding" }, asked.name, [cause.required("target.name")]);
  if (object.spec?.nodeName) {
    throw conflict(info, asked.name, `pod ${asked.name} is already assigned to node "${object.spec.nodeName}"`);
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
    spec: { ...object.spec, nodeName: node },
    status: { ...object.status, conditions: [...others, scheduled] },
  };
  if (!isDryRun(call)) collectionOf(call).put(namespaceOf(call), asked.name, bound);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}
