/**
 * Deletes objects: preconditions, finalizers, grace, and what becomes of dependents.
 *
 * ```ts
 * import { finalizersAfter } from "./_delete.ts";
 *
 * console.assert(finalizersAfter([], "Foreground", false).includes("foregroundDeletion"));
 * ```
 *
 * @module
 */
import { admitDelete } from "./_admission.ts";
import { behaviourOf, view } from "./_behaviour.ts";
import type { Answer, Call } from "./_call.ts";
import { type DeleteOptions, readDeleteOptions } from "./_delete_options.ts";
import { storageConflict } from "./_identity.ts";
import { equal, type Fields, type Kube, ordered, timestamp } from "./_objects.ts";
import { admitByPolicies } from "./_policies.ts";
import { conflict, type StatusError } from "./_status.ts";
import type { Revision } from "./_store.ts";
import { collectionOf, isGone, liveOf, mustExist } from "./_write.ts";

const ORPHAN = "orphan", FOREGROUND = "foregroundDeletion";

/** The finalizers after a deletion was asked for, with the policy given or the kind's own. */
export function finalizersAfter(
  finalizers: readonly string[],
  policy: DeleteOptions["propagationPolicy"],
  orphans: boolean,
): string[] {
  const has = (name: string) => finalizers.includes(name);
  let wanted: string | undefined;
  if (policy === "Orphan") wanted = ORPHAN;
  else if (policy === "Foreground") wanted = FOREGROUND;
  else if (policy === undefined) {
    if (has(ORPHAN)) wanted = ORPHAN;
    else if (has(FOREGROUND)) wanted = FOREGROUND;
    else if (orphans) wanted = ORPHAN;
  }
  const kept = finalizers.filter((each) => (each !== ORPHAN && each !== FOREGROUND) || each === wanted);
  return wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted];
}

function policyOf({ propagationPolicy, orphanDependents }: DeleteOptions): DeleteOptions["propagationPolicy"] {
  if (orphanDependents === undefined) return propagationPolicy;
  return orphanDependents ? "Orphan" : "Background";
}

/** Kinds that look at preconditions themselves, and say so in words of their own. */
const SELF_CHECKED: ReadonlyMap<string, string> = new Map([
  ["namespaces", "Precondition failed"],
  ["customresourcedefinitions.apiextensions.k8s.io", "precondition failed"],
]);

function checkPreconditions(call: Call, old: Kube, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const subject = { group: call.info.group, plural: call.info.kind };
  const { metadata } = old;
  const failed = SELF_CHECKED.get(call.info.storage);
  if (failed !== undefined) {
    const own = { group: call.info.group, plural: call.info.plural };
    const refuse = (what: string, wanted: string, found: string): StatusError => {
      const why = `${failed}: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
      return conflict(own, metadata.name!, why);
    };
    if (typeof uid === "string" && uid !== metadata.uid) throw refuse("UID", uid, metadata.uid!);
    if (typeof resourceVersion === "string" && resourceVersion !== metadata.resourceVersion) {
      throw refuse("ResourceVersion", resourceVersion, metadata.resourceVersion!);
    }
  }
  if (typeof uid === "string" && uid !== metadata.uid) {
    throw conflict(
      subject,
      metadata.name!,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). ` +
        "The object might have been deleted and then recreated",
    );
  }
  if (typeof resourceVersion === "string" && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      subject,
      metadata.name!,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
        `(${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

const PODS_STAY =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set " +
  "propagationPolicy=Orphan to suppress this warning";

/** What a deletion did. */
interface Deleted {
  /** The object as it is, or was. */
  readonly object: Kube;
  /** True if it is gone. */
  readonly gone: boolean;
}

/** Deletes one object. */
export function deleteObject(call: Call, live: Revision, options: DeleteOptions): Deleted {
  const { info, server } = call;
  const behaviour = behaviourOf(info);
  const collection = collectionOf(call);
  const { object } = live;
  const { metadata } = object;
  const namespace = metadata.namespace ?? "", name = metadata.name!;
  checkPreconditions(call, object, options);
  if (options.unsafe) {
    throw storageConflict(
      info,
      metadata,
      "unsafe deletion is not allowed because the object is decodable from storage",
    );
  }
  const grace = behaviour.grace?.(object, options.gracePeriodSeconds) ?? 0;
  const before: readonly string[] = metadata.finalizers ?? [];
  const finalizers = behaviour.marksItself && metadata.deletionTimestamp === undefined
    ? before
    : finalizersAfter(before, policyOf(options), behaviour.orphans ?? false);
  const meta: Fields = { ...metadata };
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;
  if (meta.deletionTimestamp === undefined) {
    meta.deletionTimestamp = timestamp(new Date(server.now().getTime() + grace * 1000));
    if (info.storage !== "namespaces") meta.deletionGracePeriodSeconds = grace;
    if (meta.generation) meta.generation++;
  } else if (grace < (meta.deletionGracePeriodSeconds ?? 0)) {
    meta.deletionGracePeriodSeconds = grace;
    meta.deletionTimestamp = timestamp(new Date(server.now().getTime() + grace * 1000));
  }
  const marked = behaviour.prepareDelete?.({ ...object, metadata: meta }) as Kube ?? { ...object, metadata: meta };
  // A namespace is never gone with the first deletion.
  if (isGone(info.storage, marked) && (info.storage !== "namespaces" || metadata.deletionTimestamp !== undefined)) {
    if (options.dryRun) return { object: marked, gone: true };
    // What could be given grace is marked first, even if it is given none: a watch sees it MODIFIED, then DELETED.
    if (behaviour.grace && !equal(marked, object)) {
      collection.put(namespace, name, ordered(marked, object.apiVersion, object.kind), live.writtenAs);
    }
    return { object: collection.remove(namespace, name)!.object, gone: true };
  }
  if (equal(marked, object) || options.dryRun) return { object: marked, gone: false };
  const ready = ordered(marked, object.apiVersion, object.kind);
  return { object: collection.put(namespace, name, ready, live.writtenAs).object, gone: false };
}

/** Answers a DELETE of one object. */
export function remove(call: Call): Answer {
  const { info } = call;
  const options = readDeleteOptions(call);
  const live = mustExist(call, liveOf(call));
  admitDelete(call);
  if (info.storage === "jobs.batch" && policyOf(options) === undefined) call.warnings.push(PODS_STAY);
  admitByPolicies(call, "DELETE", undefined, view(info, live));
  const { object, gone } = deleteObject(call, live, options);
  const { uid, name } = object.metadata;
  if (gone && !behaviourOf(info).returnsDeleted) {
    const group = info.group === "" ? {} : { group: info.group };
    const details = { name, ...group, kind: info.plural, uid };
    return { code: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
  }
  const code = !gone && options.orphanDependents === false ? 202 : 200;
  return { code, body: view(info, { object, version: 0, writtenAs: live.writtenAs }) };
}

/** Deletes what a list found; answers with it as it was. */
export function removeAll(call: Call, found: readonly Revision[]): void {
  const options = readDeleteOptions(call);
  const collection = collectionOf(call);
  for (const { object: { metadata } } of found) {
    const live = collection.get(metadata.namespace ?? "", metadata.name!);
    if (live) deleteObject(call, live, options);
  }
}
