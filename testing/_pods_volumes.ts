/**
 * Checks the volumes of pods: their names, and where what is in them comes from.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { volumes } from "./_pods_volumes.ts";
 *
 * console.assert(causesOf(volumes, [{ name: "a", hostPath: {} }], "volumes")[0]?.field === "volumes[0].hostPath.path");
 * ```
 *
 * @module
 */
import {
  all,
  between,
  type Check,
  each,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  such,
} from "./_checks.ts";
import { validateName } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { downwardItems, fileMode, keyToPaths, localPath } from "./_pods_env.ts";
import { nanosOf } from "./_pods_resources.ts";
import { type Cause, cause } from "./_status.ts";
import { claimTemplate } from "./_volume_claims.ts";

/** The path of a member beside the last one: of a source that is named otherwise in errors. */
function instead(at: string, name: string): string {
  return at.replace(/[^.]+$/, name);
}

const HOST_PATHS = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const IQN = /^(iqn\.\d{4}-\d{2}\.([a-z0-9-]+\.?)+(:.+)?|eui\.[0-9A-Fa-f]{16}|naa\.[0-9A-Fa-f]{32})$/;
const MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** Takes the path of a file or folder of a node. */
export const hostPath: Check = members({ path: neededAnd(localPath(false)), type: given(oneOf(HOST_PATHS)) });

/** Takes a share of an NFS server. */
export const nfs: Check = members({
  server: needed(),
  path: all(needed(), such((path = "") => path.startsWith("/") ? undefined : "must be an absolute path")),
});

/** Takes a device of an iSCSI target. */
export const iscsi: Check = (value, at, causes) => {
  members({
    targetPortal: needed(),
    iqn: neededAnd(such((iqn) => IQN.test(iqn) ? undefined : "must be valid format starting with iqn, eui, or naa")),
    lun: between(0, 255),
  })(value, at, causes);
  if ((value.chapAuthDiscovery || value.chapAuthSession) && !value.secretRef) {
    causes.push(cause.required(`${at}.secretRef`));
  }
};

const driver: Check = (value, at, causes) => {
  if (isEmpty(value)) return void causes.push(cause.required(at));
  if (value.length > 63) causes.push(cause.tooLong(at, 63));
  for (const why of validateName(value.toLowerCase(), "subdomain")) causes.push(cause.invalid(at, value, why));
};

const conflicting: Check = (projected, at, causes) => {
  const paths = new Set<string>();
  const add = (path: string | undefined, name: string) => {
    if (!path) return;
    if (paths.has(path)) causes.push(cause.invalid(at, name, "conflicting duplicate paths"));
    paths.add(path);
  };
  for (const [index, source] of (projected.sources ?? []).entries()) projection(source, index, at, causes, add);
};

const TEN_MINUTES = 600;

function projection(
  source: Fields,
  index: number,
  at: string,
  causes: Cause[],
  add: (path: string | undefined, name: string) => void,
): void {
  const path = `${at}.sources[${index}]`;
  let found = 0;
  const once = (): boolean => {
    if (found++ === 0) return true;
    causes.push(cause.forbidden(path, "may not specify more than 1 volume type per source"));
    return false;
  };
  for (const kind of ["secret", "configMap"]) {
    const value = source[kind];
    if (!value || !once()) continue;
    needed()(value.name, `${path}.${kind}.name`, causes);
    keyToPaths(value.items, `${path}.${kind}.items`, causes);
    for (const item of value.items ?? []) add(item.path, value.name);
  }
  const { downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  if (downwardAPI && once()) {
    downwardItems(downwardAPI.items, `${path}.downwardAPI`, causes);
    for (const item of downwardAPI.items ?? []) add(item.path, "downwardAPI");
  }
  if (token && once()) {
    const field = `${path}.serviceAccountToken.expirationSeconds`, seconds = token.expirationSeconds ?? 0;
    const refuse = (why: string) => causes.push(cause.invalid(field, seconds, why));
    if (seconds < TEN_MINUTES) refuse("may not specify a duration less than 10 minutes");
    if (seconds > 2 ** 32) refuse("may not specify a duration larger than 2^32 seconds");
    needed()(token.path, `${at}.path`, causes);
    add(token.path, "token");
  }
  if (bundle && once()) {
    const field = `${path}.clusterTrustBundle`;
    if (!bundle.name && !bundle.signerName) {
      causes.push(cause.required(field, "either name or signerName must be specified"));
    } else if (bundle.name && bundle.signerName) {
      causes.push(cause.invalid(field, bundle, "only one of name and signerName may be specified"));
    }
    add(bundle.path, "clusterTrustBundle");
  }
}

/** The sources of volumes, in the order in which they are looked at. */
const SOURCES: Readonly<Record<string, Check>> = {
  emptyDir: (value, at, causes) => {
    if (nanosOf(value.sizeLimit) < 0n) {
      causes.push(cause.forbidden(`${at}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
    }
  },
  hostPath,
  gitRepo: members({
    repository: needed(),
    directory: (value, at, causes) => localPath(true)(value ?? "", at, causes),
  }),
  gcePersistentDisk: (value, at, causes) =>
    members({ pdName: needed(), partition: (value, at, causes) => between(0, 255)(value ?? 0, at, causes) })(
      value,
      instead(at, "persistentDisk"),
      causes,
    ),
  awsElasticBlockStore: members({
    volumeID: needed(),
    partition: such((value = 0) => value < 0 || value > 255 ? "must be between 1 and 255, inclusive" : undefined),
  }),
  secret: members({ secretName: needed(), defaultMode: fileMode, items: keyToPaths }),
  nfs,
  iscsi,
  glusterfs: members({ endpoints: needed(), path: needed() }),
  flocker: (value, at, causes) => {
    if (!value.datasetName && !value.datasetUUID) {
      causes.push(cause.required(at, "one of datasetName and datasetUUID is required"));
    }
  },
  rbd: members({ monitors: needed(), image: needed() }),
  cinder: members({ volumeID: needed() }),
  cephfs: members({ monitors: needed() }),
  quobyte: members({
    registry: needed("must be a host:port pair or multiple pairs separated by commas"),
    volume: needed(),
  }),
  downwardAPI: (value, at, causes) => {
    fileMode(value.defaultMode, `${at}.defaultMode`, causes);
    downwardItems(value.items, at, causes);
  },
  fc: (value, at, causes) => {
    if (isEmpty(value.targetWWNs) === isEmpty(value.wwids)) {
      causes.push(cause.required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
    }
  },
  flexVolume: members({ driver: needed() }),
  configMap: members({ name: needed(), defaultMode: fileMode, items: keyToPaths }),
  azureFile: members({ secretName: needed(), shareName: needed() }),
  vsphereVolume: members({ volumePath: needed() }),
  photonPersistentDisk: members({ pdID: needed() }),
  portworxVolume: members({ volumeID: needed() }),
  azureDisk: (value, at, causes) => {
    members({ diskName: needed(), diskURI: needed() })(value, at, causes);
    const { diskURI = "", kind } = value;
    const managed = kind === "Managed";
    if (diskURI.startsWith(managed ? "/subscriptions" : "https:")) return;
    causes.push(cause.unsupported(`${at}.diskURI`, diskURI, [managed ? MANAGED_DISK : BLOB]));
  },
  storageos: members({ volumeName: needed() }),
  projected: (value, at, causes) => {
    fileMode(value.defaultMode, `${at}.defaultMode`, causes);
    conflicting(value, at, causes);
  },
  scaleIO: members({ gateway: needed(), system: needed(), volumeName: needed() }),
  csi: members({ driver, nodePublishSecretRef: given(members({ name: needed() })) }),
  ephemeral: members({
    volumeClaimTemplate: (value, at, causes) => {
      if (value) claimTemplate(value, at, causes);
      else causes.push(cause.required(at));
    },
  }),
  image: members({ reference: needed(), pullPolicy: given(oneOf(["Always", "IfNotPresent", "Never"])) }),
  persistentVolumeClaim: members({ claimName: needed() }),
};

const source: Check = (volume, at, causes) => {
  let found = 0;
  for (const kind in SOURCES) {
    const value = volume[kind];
    if (value === undefined || value === null) continue;
    if (found++ > 0) causes.push(cause.forbidden(`${at}.${kind}`, "may not specify more than 1 volume type"));
    else SOURCES[kind]!(value, `${at}.${kind}`, causes);
  }
  if (found === 0) causes.push(cause.required(at, "must specify a volume type"));
};

/** Takes a label without dots. */
export const dotless: Check = (value, at, causes) => {
  if (value.includes(".")) causes.push(cause.invalid(at, value, "must not contain dots"));
  else named("label")(value, at, causes);
};

/** Takes the volumes of a pod. */
export const volumes: Check = (value, at, causes) => {
  const seen = new Set<string>();
  each((volume, path) => {
    source(volume, path, causes);
    const { name } = volume;
    if (!name) causes.push(cause.required(`${path}.name`));
    else {
      dotless(name, `${path}.name`, causes);
      if (seen.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
      seen.add(name);
    }
  })(value, at, causes);
};
