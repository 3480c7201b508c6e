/**
 * Says how persistent volumes and the claims to them behave.
 *
 * ```ts
 * import { VOLUMES } from "./_kinds_volumes.ts";
 *
 * console.assert(VOLUMES.persistentvolumes?.status);
 * ```
 *
 * @module
 */
import { type Check, filled, given, isEmpty, members, named, needed, oneOf } from "./_checks.ts";
import type { Behaviour, Ground } from "./_kind.ts";
import { clone, equal, type Fields, timestamp } from "./_objects.ts";
import { nanosOf, written } from "./_pods_resources.ts";
import { nodeSelector } from "./_pods_scheduling.ts";
import { hostPath, iscsi, nfs } from "./_pods_volumes.ts";
import { type Cause, cause, forbidden } from "./_status.ts";
import { accessModes, claimSpec, dropSources, volumeMode } from "./_volume_claims.ts";

function addFinalizer({ metadata }: Fields, name: string): void {
  const finalizers: string[] = metadata.finalizers ?? [];
  if (!finalizers.includes(name)) metadata.finalizers = [...finalizers, name];
}

const FIXED =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/** What of a claim may not change. */
function fixedClaim(spec: Fields, old: Fields, bound: boolean): Fields {
  const { volumeName, storageClassName, ...rest } = clone(spec);
  if (bound) {
    delete rest.volumeAttributesClassName;
    rest.resources = { ...rest.resources, requests: { ...rest.resources?.requests, storage: "" } };
  }
  return {
    ...rest,
    ...(old.volumeName ? { volumeName } : {}),
    ...(old.storageClassName === undefined ? {} : { storageClassName }),
  };
}

function validateClaimUpdate({ spec }: Fields, old: Fields): Cause[] {
  const causes: Cause[] = [];
  const bound = old.status?.phase === "Bound";
  if (!equal(fixedClaim(spec, old.spec, bound), fixedClaim(old.spec, old.spec, bound))) {
    causes.push(cause.forbidden("spec", FIXED));
  } else if (bound && nanosOf(spec.resources?.requests?.storage) < nanosOf(old.spec.resources?.requests?.storage)) {
    const capacity = nanosOf(old.status?.capacity?.storage);
    const size = nanosOf(spec.resources?.requests?.storage);
    if (size < capacity) {
      const why = "field can not be less than status.capacity";
      causes.push(cause.forbidden("spec.resources.requests.storage", why));
    }
  }
  if (spec.volumeMode !== old.spec.volumeMode) {
    causes.push(cause.invalid("volumeMode", spec.volumeMode, "field is immutable"));
  }
  return causes;
}

/** Refuses to let a claim grow that is of no class, or of one whose volumes do not. */
function admitGrowth(claim: Fields, old: Fields, { store }: Ground): void {
  const size = nanosOf(claim.spec?.resources?.requests?.storage);
  if (old.status?.phase !== "Bound" || size <= nanosOf(old.spec?.resources?.requests?.storage)) return;
  const name = old.spec?.storageClassName;
  const found = name ? store.collection("storageclasses.storage.k8s.io").get("", name)?.object : undefined;
  if ((found as Fields | undefined)?.allowVolumeExpansion === true) return;
  const why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must " +
    "support resize";
  throw forbidden({ group: "", plural: "persistentvolumeclaims" }, claim.metadata.name, why);
}

function capacities(map: Fields | undefined, at: string): Cause[] {
  return Object.entries(map ?? {}).flatMap(([name, quantity]) =>
    nanosOf(quantity) < 0n
      ? [{ ...cause.invalid(at, "", ""), field: `${at}[${name}]`, message: invalidQuantity(quantity) }]
      : []
  );
}

function invalidQuantity(quantity: unknown): string {
  return `Invalid value: ${written(quantity)}: must be a valid resource quantity`;
}

/** Has a claim say twice where its data comes from: for the server that knows one field, and for the one that knows both. */
function defaultSources(spec: Fields | undefined): void {
  if (!spec) return;
  dropSources(spec);
  const { dataSource, dataSourceRef } = spec;
  for (const source of [dataSource, dataSourceRef]) if (source?.apiGroup === "") source.apiGroup = null;
  if (dataSourceRef?.namespace) delete spec.dataSourceRef;
  else if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (!dataSource && dataSourceRef) spec.dataSource = { ...dataSourceRef };
}

/** Gives a claim that says no class the one that is the default. */
function defaultClass(spec: Fields | undefined, { store }: Ground): void {
  if (!spec || spec.storageClassName !== undefined) return;
  const marks = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
  const classes = store.collection("storageclasses.storage.k8s.io").list({}).map(({ object }) => object)
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"))
    .sort((a, b) => a.metadata.creationTimestamp! < b.metadata.creationTimestamp! ? 1 : -1);
  const [newest] = classes;
  if (newest) spec.storageClassName = newest.metadata.name;
}

const WHOLE = 1_000_000_000n;

function claimWarnings({ spec }: Fields, old?: Fields): string[] {
  const size = spec?.resources?.requests?.storage;
  if (old || size === undefined || nanosOf(size) % WHOLE === 0n) return [];
  const shown = JSON.stringify(written(size));
  return [`spec.resources.requests[storage]: fractional byte value ${shown} is invalid, must be an integer`];
}

const SOURCES: Readonly<Record<string, Check>> = {
  hostPath,
  nfs,
  iscsi,
  csi: members({ driver: needed(), volumeHandle: needed() }),
  local: members({ path: needed() }),
};

/** Sources of volumes that are looked at no closer. */
const OTHERS = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "rbd",
  "quobyte",
  "cephfs",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
  "photonPersistentDisk",
];

function sources(spec: Fields): Cause[] {
  const causes: Cause[] = [];
  const named = [...Object.keys(SOURCES), ...OTHERS].filter((name) => spec[name]);
  if (named.length === 0) return [cause.required("spec", "must specify a volume type")];
  for (const [index, name] of named.entries()) {
    if (index > 0) causes.push(cause.forbidden(`spec.${name}`, "may not specify more than 1 volume type"));
    else SOURCES[name]?.(spec[name], `spec.${name}`, causes);
  }
  if (spec.local && !spec.nodeAffinity) {
    causes.push(cause.required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  return causes;
}

const modes: Check = (value, at, causes) =>
  isEmpty(value) ? void causes.push(cause.required(at)) : accessModes(value, at, causes);

const capacity: Check = (value, at, causes) => {
  if (isEmpty(value)) causes.push(cause.required(at));
  if (Object.keys(value ?? {}).join() !== "storage") causes.push(cause.unsupported(at, value, ["storage"]));
  for (const [name, quantity] of Object.entries(value ?? {})) {
    if (nanosOf(quantity) > 0n) continue;
    causes.push(cause.invalid(`${at}[${name}]`, written(quantity), "must be greater than zero"));
  }
};

const affinity: Check = given((value, at, causes) => {
  if (value.required) nodeSelector(value.required, `${at}.required`, causes);
  else causes.push(cause.required(`${at}.required`, "must specify required node constraints"));
});

function validateVolume({ spec = {} }: Fields, subresource: string): Cause[] {
  if (subresource === "status") return [];
  const causes: Cause[] = [];
  members({ accessModes: modes, capacity })(spec, "spec", causes);
  oneOf(["Delete", "Recycle", "Retain"])(
    spec.persistentVolumeReclaimPolicy,
    "spec.persistentVolumeReclaimPolicy",
    causes,
  );
  affinity(spec.nodeAffinity, "spec.nodeAffinity", causes);
  causes.push(...sources(spec));
  if (spec.hostPath?.path === "/" && spec.persistentVolumeReclaimPolicy === "Recycle") {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    causes.push(cause.forbidden("spec.persistentVolumeReclaimPolicy", why));
  }
  members({ storageClassName: filled(named("subdomain")), volumeMode })(spec, "spec", causes);
  if (spec.volumeAttributesClassName && !spec.csi) {
    causes.push(cause.required("spec.csi", "has to be specified when using volumeAttributesClassName"));
  }
  return causes;
}

function validateVolumeUpdate({ spec }: Fields, old: Fields): Cause[] {
  const causes: Cause[] = [];
  if ([...Object.keys(SOURCES), ...OTHERS].some((name) => !equal(spec[name], old.spec[name]))) {
    const why = "spec.persistentvolumesource is immutable after creation";
    causes.push(cause.forbidden("spec.persistentvolumesource", why));
  }
  if (spec.volumeMode !== old.spec.volumeMode) {
    causes.push(cause.invalid("volumeMode", spec.volumeMode, "field is immutable"));
  }
  if (old.spec.nodeAffinity && !equal(spec.nodeAffinity, old.spec.nodeAffinity)) {
    const why = "field is immutable, except for updating from beta label to GA";
    causes.push(cause.invalid("nodeAffinity", spec.nodeAffinity, why));
  }
  return causes;
}

function validateClaim(claim: Fields, subresource: string, old?: Fields): Cause[] {
  if (subresource === "status") return capacities(claim.status?.capacity, "status.capacity");
  const causes: Cause[] = [];
  claimSpec(claim.spec, "spec", causes);
  const { dataSource, dataSourceRef } = claim.spec ?? {};
  if (!old && dataSource && dataSourceRef && !equal(dataSource, dataSourceRef)) {
    causes.push(cause.invalid("spec", {}, "must match dataSourceRef"));
  }
  return causes;
}

/** The behaviours by storage. */
export const VOLUMES: Readonly<Record<string, Behaviour>> = {
  persistentvolumeclaims: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object, server) => {
      object.status = { phase: "Pending" };
      defaultSources(object.spec);
      defaultClass(object.spec, server);
      addFinalizer(object, "kubernetes.io/pvc-protection");
    },
    prepareUpdate: admitGrowth,
    warnings: claimWarnings,
    validate: (object, _apiVersion, subresource, old) => validateClaim(object, subresource, old),
    validateUpdate: validateClaimUpdate,
  },
  persistentvolumes: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object, server) => {
      object.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(server.now()) };
      addFinalizer(object, "kubernetes.io/pv-protection");
    },
    validate: (object, _apiVersion, subresource) => validateVolume(object, subresource),
    validateUpdate: validateVolumeUpdate,
  },
};
