/**
 * Prints the cells of volumes, claims and classes of storage.
 *
 * ```ts
 * import { STORAGE_CELLS } from "./_cells_storage.ts";
 *
 * console.assert("v1 persistentvolumes" in STORAGE_CELLS);
 * ```
 *
 * @module
 */
import { type Cells, UNSET } from "./_cells_kit.ts";
import type { Fields } from "./_objects.ts";

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(list: string[] | undefined): string {
  return Object.entries(MODES).filter(([mode]) => list?.includes(mode)).map(([, short]) => short).join(",");
}

function phase({ metadata, status }: Fields): string {
  return metadata.deletionTimestamp ? "Terminating" : status?.phase ?? "";
}

function storageClass({ metadata, spec = {} }: Fields): string {
  return metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec.storageClassName ?? "";
}

const DEFAULT_CLASS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

/** The cells by apiVersion and plural. */
export const STORAGE_CELLS: Readonly<Record<string, Cells>> = {
  "v1 persistentvolumeclaims": (object, { age }) => {
    const { metadata, spec = {}, status = {} } = object;
    const bound = Boolean(spec.volumeName);
    return [
      metadata.name,
      phase(object),
      spec.volumeName ?? "",
      bound ? status.capacity?.storage ?? "0" : "",
      bound ? modes(status.accessModes) : "",
      storageClass(object),
      spec.volumeAttributesClassName || UNSET,
      age,
      spec.volumeMode ?? UNSET,
    ];
  },
  "v1 persistentvolumes": (object, { age }) => {
    const { metadata, spec = {}, status = {} } = object;
    return [
      metadata.name,
      spec.capacity?.storage ?? "0",
      modes(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? "",
      phase(object),
      spec.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : "",
      storageClass(object),
      spec.volumeAttributesClassName || UNSET,
      status.reason ?? "",
      age,
      spec.volumeMode ?? UNSET,
    ];
  },
  "storage.k8s.io/v1 storageclasses": (object, { age, listed }) => {
    const { metadata, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion } = object;
    const chosen = DEFAULT_CLASS.some((key) => metadata.annotations?.[key] === "true");
    return [
      chosen && listed ? `${metadata.name} (default)` : metadata.name,
      provisioner ?? "",
      reclaimPolicy ?? "Delete",
      volumeBindingMode ?? "Immediate",
      allowVolumeExpansion ?? false,
      age,
    ];
  },
  "storage.k8s.io/v1 csidrivers": ({ metadata, spec = {} }, { age }) => [
    metadata.name,
    spec.attachRequired ?? true,
    spec.podInfoOnMount ?? false,
    spec.storageCapacity ?? false,
    (spec.tokenRequests ?? []).map(({ audience }: Fields) => audience).join(",") || UNSET,
    spec.requiresRepublish ?? false,
    (spec.volumeLifecycleModes ?? []).join(",") || "<none>",
    age,
  ],
  "storage.k8s.io/v1 csinodes": ({ metadata, spec }, { age }) => [metadata.name, spec?.drivers?.length ?? 0, age],
  "storage.k8s.io/v1 volumeattachments": ({ metadata, spec = {}, status }, { age }) => [
    metadata.name,
    spec.attacher ?? "",
    spec.source?.persistentVolumeName ?? "",
    spec.nodeName ?? "",
    status?.attached ?? false,
    age,
  ],
  "storage.k8s.io/v1 volumeattributesclasses": ({ metadata, driverName }, { age }) => [
    metadata.name,
    driverName ?? "",
    age,
  ],
};
