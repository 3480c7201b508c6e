/**
 * Checks what is asked for of a persistent volume, in claims and in the templates of claims.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { claimSpec } from "./_volume_claims.ts";
 *
 * console.assert(causesOf(claimSpec, { accessModes: [] }, "spec").length === 2);
 * ```
 *
 * @module
 */
import { all, type Check, filled, given, isEmpty, members, named, needed, oneOf } from "./_checks.ts";
import { labels, labelSelector } from "./_label_selectors.ts";
import { nanosOf, written } from "./_pods_resources.ts";
import { cause } from "./_status.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** Takes the modes of access to a volume. */
export const accessModes: Check = (value, at, causes) => {
  if (isEmpty(value)) return void causes.push(cause.required(at, "at least 1 access mode is required"));
  for (const mode of value) oneOf(ACCESS_MODES)(mode, at, causes);
  if (value.includes("ReadWriteOncePod") && value.length > 1) {
    causes.push(cause.forbidden(at, "may not use ReadWriteOncePod with other access modes"));
  }
};

/** Takes a size that is more than nothing. */
export const storage: Check = (value, at, causes) => {
  const size = value?.storage, path = `${at}[storage]`;
  if (size === undefined) causes.push(cause.required(path));
  else if (nanosOf(size) <= 0n) causes.push(cause.invalid(path, written(size), "must be greater than zero"));
};

/** Takes whether a volume has files, or blocks. */
export const volumeMode: Check = given(oneOf(["Block", "Filesystem"]));

const SNAPSHOTS = "snapshot.storage.k8s.io";

const dataSource: Check = given(all(members({ name: needed(), kind: needed() }), (value, at, causes) => {
  if (!value.apiGroup && value.kind !== "PersistentVolumeClaim") {
    const why = `must be 'PersistentVolumeClaim' when referencing the default apiGroup`;
    causes.push(cause.invalid(at, value.kind ?? "", why));
  }
}));

/** True for a source of data that the field for the older kinds of it may be. */
function isOldSource({ apiGroup, kind }: { apiGroup?: string | null; kind?: string }): boolean {
  return !apiGroup && kind === "PersistentVolumeClaim" || apiGroup === SNAPSHOTS && kind === "VolumeSnapshot";
}

/** Drops a source of data that the server does not know to read. */
export function dropSources(spec: Record<string, unknown> | undefined): void {
  const source = spec?.dataSource as { apiGroup?: string; kind?: string } | undefined;
  if (source && !isOldSource(source)) delete spec!.dataSource;
}

/** Takes the spec of a claim. */
export const claimSpec: Check = members({
  accessModes,
  selector: given(labelSelector),
  resources: (value, at, causes) => storage(value?.requests, at, causes),
  storageClassName: filled(named("subdomain")),
  volumeMode,
  dataSource,
  dataSourceRef: dataSource,
  volumeAttributesClassName: filled(named("subdomain")),
});

/** Takes the template of a claim that a pod's volume has. */
export const claimTemplate: Check = (value, at, causes) => {
  const { metadata = {}, spec } = value;
  templateMetadata(metadata, `${at}.metadata`, causes);
  claimSpec(spec, `${at}.spec`, causes);
};

const templateMetadata: Check = (value, at, causes) => {
  labels(value.labels, `${at}.labels`, causes);
  for (const name in value) {
    if (name === "labels" || name === "annotations" || isEmpty(value[name])) continue;
    causes.push(cause.forbidden(`${at}.${name}`, "cannot be set"));
  }
};
