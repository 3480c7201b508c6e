/**
 * Accepts CustomResourceDefinitions: checks their names against the others, sets their conditions, and serves them.
 *
 * ```ts
 * import { DEFINITIONS } from "./_definitions.ts";
 *
 * console.assert(DEFINITIONS === "customresourcedefinitions.apiextensions.k8s.io");
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import type { ServerState } from "./_call.ts";
import { customGroups, isEstablished } from "./_crds.ts";
import { trackUpdate } from "./_managed_fields.ts";
import { equal, type Fields, type Kube, timestamp } from "./_objects.ts";
import type { StoredEvent } from "./_store.ts";

/** Where definitions are stored. */
export const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";

/** The finalizer that holds a definition until its objects are gone. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Sets a condition among others; its time stays while its status does. */
export function setCondition(conditions: Fields[], condition: Fields): void {
  const old = conditions.find((each) => each.type === condition.type);
  if (!old) conditions.push(condition);
  else if (old.status !== condition.status || old.reason !== condition.reason || old.message !== condition.message) {
    const { lastTransitionTime } = old;
    Object.assign(old, condition, old.status === condition.status ? { lastTransitionTime } : {});
  }
}

/** Keeps the served resources in step with the stored definitions, until disposed. */
export function serveDefinitions(server: ServerState): Disposable {
  const collection = server.store.collection(DEFINITIONS);
  const refresh = (): void => {
    server.registry.setCustom(customGroups(collection.list().map(({ object }) => object)));
  };
  const listener = collection.listen((event) => {
    if (event.type !== "DELETED") accept(server, event);
    refresh();
  });
  refresh();
  return listener;
}

function accept(server: ServerState, { name }: StoredEvent): void {
  const collection = server.store.collection(DEFINITIONS);
  const current = collection.get("", name)?.object;
  if (!current) return;
  if (current.metadata.deletionTimestamp !== undefined) return finalize(server, current);
  const { names, group, versions } = current.spec;
  const others = collection.list().map(({ object }) => object)
    .filter((each) => each.metadata.name !== name && each.spec.group === group);
  const taken = (test: (accepted: Fields) => boolean): boolean =>
    others.some((each) => each.status?.acceptedNames?.kind && test(each.status.acceptedNames));
  const old: Fields = current.status ?? {};
  const accepted: Fields = { ...old.acceptedNames };
  const time = timestamp(server.now());
  let refusal: { reason: string; message: string } | undefined;
  const plurals = (each: Fields): string[] => [each.plural, each.singular, ...each.shortNames ?? []];
  const kinds = (each: Fields): string[] => [each.kind, each.listKind];
  const check = (member: string, value: string, inUse: (value: string) => boolean, reason: string): void => {
    if (value === undefined || value === accepted[member] || !inUse(value)) {
      if (value !== undefined) accepted[member] = value;
      return;
    }
    refusal = { reason, message: `${JSON.stringify(value)} is already in use` };
  };
  const namesInUse = (value: string): boolean => taken((each) => plurals(each).includes(value));
  const kindsInUse = (value: string): boolean => taken((each) => kinds(each).includes(value));
  check("plural", names.plural, namesInUse, "PluralConflict");
  check("singular", names.singular, namesInUse, "SingularConflict");
  if ((names.shortNames ?? []).some(namesInUse)) {
    refusal = {
      reason: "ShortNamesConflict",
      message: `${JSON.stringify(names.shortNames.find(namesInUse))} is already in use`,
    };
  } else if (names.shortNames) accepted.shortNames = names.shortNames;
  else delete accepted.shortNames;
  check("kind", names.kind, kindsInUse, "KindConflict");
  check("listKind", names.listKind, kindsInUse, "ListKindConflict");
  if (names.categories) accepted.categories = names.categories;
  else delete accepted.categories;

  const conditions: Fields[] = (old.conditions ?? []).map((each: Fields) => ({ ...each }));
  setCondition(conditions, {
    type: "NamesAccepted",
    status: refusal ? "False" : "True",
    lastTransitionTime: time,
    reason: refusal?.reason ?? "NoConflicts",
    message: refusal?.message ?? "no conflicts found",
  });
  const established = isEstablished(current);
  if (!refusal || !established) {
    setCondition(conditions, {
      type: "Established",
      status: refusal ? "False" : "True",
      lastTransitionTime: time,
      reason: refusal ? "NotAccepted" : "InitialNamesAccepted",
      message: refusal ? "not all names are accepted" : "the initial names have been accepted",
    });
  }
  const storedVersions: string[] = [...old.storedVersions ?? []];
  const storage = versions.find((each: Fields) => each.storage)?.name;
  if (storage && !storedVersions.includes(storage)) storedVersions.push(storage);
  const status = { conditions, acceptedNames: accepted, storedVersions };
  if (equal(status, old)) return;
  writeStatus(server, current, status, time);
}

/** Stores a definition with another status. */
function writeStatus(server: ServerState, current: Kube, status: Fields, time: string): void {
  const tracked = trackUpdate({
    live: current,
    updated: { ...current, status },
    manager: "kube-apiserver",
    schema: builtinSchema("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    apiVersion: "apiextensions.k8s.io/v1",
    subresource: "status",
    time,
  });
  server.store.collection(DEFINITIONS).put("", current.metadata.name!, tracked as Kube);
}

const IN_PROGRESS = "InstanceDeletionInProgress";

/** Says that the objects of a definition are being deleted; false if it was said before. */
function setTerminating(server: ServerState, definition: Kube): boolean {
  const conditions: Fields[] = (definition.status?.conditions ?? []).map((each: Fields) => ({ ...each }));
  if (conditions.some(({ type, reason }) => type === "Terminating" && reason === IN_PROGRESS)) return false;
  const time = timestamp(server.now());
  setCondition(conditions, {
    type: "Terminating",
    status: "True",
    lastTransitionTime: time,
    reason: IN_PROGRESS,
    message: "CustomResource deletion is in progress",
  });
  writeStatus(server, definition, { ...definition.status, conditions }, time);
  return true;
}

/** Deletes the objects of a definition that is being deleted, and lets it go when they are gone. */
function finalize(server: ServerState, definition: Kube): void {
  const { metadata } = definition;
  if (!metadata.finalizers?.includes(CLEANUP)) return;
  const definitions = server.store.collection(DEFINITIONS);
  const objects = server.store.collection(metadata.name!);
  const time = timestamp(server.now());
  const before = objects.list();
  if (!setTerminating(server, definition)) return;
  for (const { object, writtenAs } of before) {
    const { namespace = "", name, finalizers, deletionTimestamp } = object.metadata;
    if ((finalizers ?? []).length === 0) objects.remove(namespace, name!);
    else if (deletionTimestamp === undefined) {
      const generation = object.metadata.generation === undefined ? {} : { generation: object.metadata.generation + 1 };
      const marked = { ...object.metadata, ...generation, deletionTimestamp: time, deletionGracePeriodSeconds: 0 };
      objects.put(namespace, name!, { ...object, metadata: marked }, writtenAs);
    }
  }
  const letGo = (): void => {
    const current = definitions.get("", metadata.name!)?.object;
    if (!current || current.metadata.uid !== metadata.uid) return;
    const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== CLEANUP);
    if (finalizers.length === 0) definitions.remove("", metadata.name!);
    else definitions.put("", metadata.name!, { ...current, metadata: { ...current.metadata, finalizers } });
  };
  if (objects.size === 0) return letGo();
  const listener = objects.listen(() => {
    if (objects.size > 0) return;
    listener[Symbol.dispose]();
    letGo();
  });
}
