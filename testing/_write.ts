/**
 * Creates and updates objects: what the server sets itself, admission, ownership of fields, validation, storage.
 *
 * ```ts
 * import { isGone } from "./_write.ts";
 *
 * console.assert(!isGone("pods", { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }));
 * ```
 *
 * @module
 */
import { admitCreate, admitUpdate, admitValid } from "./_admission.ts";
import { forbiddenAccess } from "./_auth.ts";
import { behaviourOf, view } from "./_behaviour.ts";
import { emptyObject } from "./_builtin.ts";
import type { Call } from "./_call.ts";
import { generateName } from "./_generate_name.ts";
import { checkName, checkUid, checkVersion, checkVersionText } from "./_identity.ts";
import { validateMetadata } from "./_metadata.ts";
import { metadataChanges } from "./_metadata_changes.ts";
import { clone, equal, type Fields, type Kube, ordered, timestamp } from "./_objects.ts";
import { isDryRun, managerOf } from "./_options.ts";
import { schemaOf, track } from "./_ownership.ts";
import { admitByPolicies } from "./_policies.ts";
import { alreadyExists, badRequest, generatedNameTaken, internal, invalid, notFound, StatusError } from "./_status.ts";
import type { Cause, GroupKind } from "./_status.ts";
import type { ResourceInfo } from "./_resource_info.ts";
import type { Collection, Revision, State } from "./_store.ts";

/** The collection that a call works on. */
export function collectionOf(call: Call): Collection {
  return call.server.store.collection(call.info.storage);
}

/** The namespace that a call's objects are in; empty at cluster scope. */
export function namespaceOf({ info, asked }: Call): string {
  return info.namespaced ? asked.namespace : "";
}

/** Refuses an object that says another namespace than the path; fills it in. */
export function matchNamespace(call: Call, object: Kube): void {
  const namespace = namespaceOf(call);
  const given = object.metadata.namespace ?? "";
  if (namespace !== "" && given !== "" && given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (namespace === "") delete object.metadata.namespace;
  else object.metadata.namespace = namespace;
}

function toStorage(call: Call, object: Kube): Kube {
  const convert = behaviourOf(call.info).toStorage;
  return convert ? convert(object, call.info.apiVersion) as Kube : object;
}

/** What an object that is written in the version of a call is shown as without a change. */
function writtenAs({ info }: Call): string | undefined {
  return info.custom?.storageVersion === info.version ? info.encoding : undefined;
}

/** An object that is not stored, shown as it is. */
function unstored({ info }: Call, object: Kube): State {
  return { object, version: 0, writtenAs: info.encoding };
}

/** What a caller may leave to the generic code. */
export interface WriteOptions {
  /** The object carries its managed fields already: it was applied. */
  readonly tracked?: boolean;
  /** A PUT says its uid as a precondition; a POST is given another, and a patch changes it. */
  readonly replaces?: boolean;
}

/** Creates a decoded object; answers with it as stored, or as it would be in a dry run. */
export function create(call: Call, object: Kube, options: WriteOptions = {}): State {
  const { info, server } = call;
  const behaviour = behaviourOf(info);
  matchNamespace(call, object);
  const meta = object.metadata;
  if (options.replaces) {
    checkUid(info, meta.uid, { metadata: { name: meta.name!, namespace: meta.namespace } } as Kube);
    checkVersionText(meta.resourceVersion);
  } else if (meta.resourceVersion && /^[1-9]\d*$/.test(meta.resourceVersion)) {
    throw internal("resourceVersion should not be set on objects to be created");
  }
  delete meta.resourceVersion;
  for (const member of ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"]) delete (meta as Fields)[member];
  const generated = !meta.name && !!meta.generateName;
  if (behaviour.status && !behaviour.keepsStatus) clearStatus(call, object);
  meta.uid = server.uid();
  meta.creationTimestamp = timestamp(server.now());
  dedupeOwners(call, object);
  if (!options.tracked) object = track(call, undefined, object);
  if (generated) object.metadata.name = generateName(object.metadata.generateName!, server.random);
  admitCreate(call, object);
  behaviour.prepareCreate?.(object, server, call.user);
  if (behaviour.desired) object.metadata.generation = 1;
  validateNew(call, object);
  call.warnings.push(...behaviour.warnings?.(object) ?? []);
  admitByPolicies(call, "CREATE", object);
  admitValid(call, object);

  const collection = collectionOf(call);
  const namespace = namespaceOf(call);
  for (let tries = 0;; tries++) {
    const taken = collection.get(namespace, object.metadata.name!);
    if (!taken) break;
    if (!generated || tries === 7) throw nameTaken(info, object, taken.object);
    object.metadata.name = generateName(object.metadata.generateName!, server.random);
  }
  object = tidy(object, info.apiVersion, info.kind);
  if (isDryRun(call)) return unstored(call, object);
  return collection.put(namespace, object.metadata.name!, toStorage(call, object), writtenAs(call));
}

/** The error for a name that another object has. */
function nameTaken(info: ResourceInfo, { metadata }: Kube, other: Kube): StatusError {
  const error = (metadata.generateName ? generatedNameTaken : alreadyExists)(info, metadata.name!);
  if (other.metadata.deletionTimestamp === undefined) return error;
  return new StatusError(
    { ...error.status, message: `object is being deleted: ${error.status.message}` },
    error.headers,
  );
}

/** Gives a new object the status that its kind begins with. */
function clearStatus({ info }: Call, object: Kube): void {
  const schema = info.custom ? undefined : schemaOf(info);
  const { status } = (schema ? emptyObject(schema) : {}) as Fields;
  if (status === undefined) delete object.status;
  else object.status = clone(status);
}

/** Drops owners that come twice, and warns. */
function dedupeOwners(call: Call, object: Kube): void {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept: typeof owners = [];
  const twice = new Set<string>();
  for (const owner of owners) {
    if (kept.some((each) => equal(each, owner))) twice.add(owner.uid);
    else kept.push(owner);
  }
  if (twice.size === 0) return;
  const late = call.asked.verb === "patch" ? " after mutating admission happens" : "";
  call.warnings.push(
    `.metadata.ownerReferences contains duplicate entries${late}; API server dedups owner references in 1.20+, and may reject ` +
      `such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...twice].join(", ")}`,
  );
  object.metadata.ownerReferences = kept;
}

function validateNew(call: Call, object: Kube): void {
  const { info } = call;
  const behaviour = behaviourOf(info);
  const causes: Cause[] = validateMetadata(
    object.metadata,
    info.namespaced,
    behaviour.names ?? "subdomain",
    behaviour.bareFinalizers,
  );
  causes.push(...behaviour.validate?.(object, info.apiVersion, "") ?? []);
  if (causes.length > 0) throw invalid(errorKind(call), object.metadata.name ?? "", causes);
}

/** Drops what the server never shows empty, and puts members in order. */
function tidy(object: Kube, apiVersion: string, kind: string): Kube {
  const meta = object.metadata as Fields;
  for (const member of ["labels", "annotations"]) {
    if (meta[member] && Object.keys(meta[member]).length === 0) delete meta[member];
  }
  for (const member of ["finalizers", "ownerReferences", "managedFields"]) {
    if (Array.isArray(meta[member]) && meta[member].length === 0) delete meta[member];
  }
  for (const member in meta) {
    if (meta[member] === undefined || meta[member] === null || meta[member] === "") delete meta[member];
  }
  if (object.status === undefined) delete object.status;
  return ordered(object, apiVersion, kind);
}

/** How an update comes about. */
export interface UpdateOptions extends WriteOptions {
  /** What is written: the object itself, its status, or its scale. */
  readonly subresource?: string | undefined;
}

/** The live object of a call. */
export function liveOf(call: Call): Revision | undefined {
  return collectionOf(call).get(namespaceOf(call), call.asked.name);
}

/** Updates a live object to a decoded one; answers with it as stored. */
export function update(call: Call, live: Revision, object: Kube, options: UpdateOptions = {}): State {
  const { info, server } = call;
  const { subresource = "", replaces = false } = options;
  const behaviour = behaviourOf(info);
  const old = view(info, live);
  const meta = object.metadata;
  checkName(call, object);
  matchNamespace(call, object);
  checkVersion(call, object, old, replaces);

  meta.name = old.metadata.name!;
  meta.creationTimestamp = old.metadata.creationTimestamp!;
  for (const member of ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const) {
    if (
      (meta as Fields)[member] === undefined || (meta as Fields)[member] === null || (meta as Fields)[member] === ""
    ) {
      if (old.metadata[member] === undefined) delete meta[member];
      else (meta as Fields)[member] = old.metadata[member];
    }
  }
  delete (meta as Fields).selfLink;
  if (old.metadata.generation === undefined) delete meta.generation;
  else meta.generation = old.metadata.generation;
  meta.resourceVersion = old.metadata.resourceVersion!;

  dedupeOwners(call, object);
  const part = behaviour.parts?.[subresource];
  if (!part) object = reset(call, object, old, subresource);
  if (!options.tracked) object = track(call, old, object, subresource);
  // What such a write drops again is noted as its manager's.
  if (part) object = part(object, old, server) as Kube;
  admitUpdate(call, object, old);
  if (subresource === "" || subresource === "scale") behaviour.prepareUpdate?.(object, old as Kube, server);
  if (subresource === "status") behaviour.prepareStatus?.(object, old, server);
  if (subresource !== "status" && behaviour.desired && !equal(behaviour.desired(object), behaviour.desired(old))) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  validateChange(call, object, old, subresource);
  if (subresource === "") call.warnings.push(...behaviour.warnings?.(object, old) ?? []);
  admitByPolicies(call, "UPDATE", object, old);
  object = tidy(object, info.apiVersion, info.kind);
  return store(call, live, old, object);
}

/** Puts back what this write may not touch. */
function reset(call: Call, object: Kube, old: Kube, subresource: string): Kube {
  const behaviour = behaviourOf(call.info);
  if (subresource === "status") {
    const { status } = object;
    const { managedFields } = object.metadata;
    const metadata = behaviour.statusKeepsMetadata
      ? { ...old.metadata, ...(managedFields ? { managedFields } : {}) }
      : keeping(object.metadata, old.metadata, behaviour.statusKeeps);
    const kept: Kube = { ...old, metadata };
    // Of a custom resource a null is left to the validation: what may not be one was dropped when it was read.
    if (status === undefined || (status === null && !call.info.custom)) delete kept.status;
    else kept.status = status;
    return kept;
  }
  if (!behaviour.status) return object;
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
  return object;
}

/** Metadata with some of its members as they were. */
function keeping(metadata: Fields, old: Fields, names: readonly string[] = []): Kube["metadata"] {
  if (names.length === 0) return metadata;
  const kept = { ...metadata };
  for (const name of names) {
    if (old[name] === undefined) delete kept[name];
    else kept[name] = old[name];
  }
  return kept;
}

function validateChange(call: Call, object: Kube, old: Kube, subresource: string): void {
  const { info } = call;
  const behaviour = behaviourOf(info);
  const causes: Cause[] = metadataChanges(call, object, old, subresource);
  const warn = (text: string): void => void call.warnings.push(text);
  causes.push(...behaviour.validate?.(object, info.apiVersion, subresource, old, warn) ?? []);
  if (subresource === "") causes.push(...behaviour.validateUpdate?.(object, old, info.apiVersion) ?? []);
  if (causes.length > 0) throw invalid(errorKind(call), object.metadata.name!, causes);
}

/** The kind as errors name it. */
function errorKind({ info }: Call): GroupKind {
  return { group: behaviourOf(info).errorGroup ?? info.group, kind: info.kind };
}

/** Stores an update, unless it changes nothing or ends the object. */
function store(call: Call, live: Revision, old: Kube, object: Kube): State {
  const { info } = call;
  const collection = collectionOf(call);
  const namespace = namespaceOf(call);
  const name = object.metadata.name!;
  if (isGone(info.storage, object)) {
    if (!isDryRun(call)) collection.remove(namespace, name);
    return unstored(call, object);
  }
  // A version that is not stored may not show all that is.
  const whole = !info.custom || info.custom.storageVersion === info.version;
  if (whole && equal(object, old)) return live;
  if (isDryRun(call)) return unstored(call, object);
  const stored = toStorage(call, object);
  if (equal(stored, live.object)) return live;
  return collection.put(namespace, name, stored, writtenAs(call));
}

/** True for an object that is being deleted and that nothing holds any more. */
export function isGone(storage: string, object: Kube): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers ?? []).length > 0) return false;
  if (storage === "namespaces") return (object.spec?.finalizers ?? []).length === 0;
  return (deletionGracePeriodSeconds ?? 0) === 0;
}

/** Refuses a user who may write what is there, but not create what is not. */
export function mayCreate({ server, user, asked }: Call): void {
  const { group, plural: resource, namespace, name } = asked;
  const attributes = { verb: "create", group, resource, namespace, name };
  if (!server.allows(user, attributes)) throw forbiddenAccess(server, user, attributes);
}

/** The manager of a call's write. */
export function writerOf(call: Call): string {
  return managerOf(call.query, call.headers.get("user-agent"));
}

/** Refuses a call for an object that is not there. */
export function mustExist(call: Call, live: Revision | undefined): Revision {
  if (!live) throw notFound(call.info, call.asked.name);
  return live;
}
