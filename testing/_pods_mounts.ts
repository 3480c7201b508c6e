/**
 * Checks where containers mount the volumes of their pod, and which they take as devices.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { mounts } from "./_pods_mounts.ts";
 *
 * const container = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
 * console.assert(causesOf(mounts(new Map()), container, "containers[0]").length === 1);
 * ```
 *
 * @module
 */
import type { Check } from "./_checks.ts";
import type { Fields } from "./_objects.ts";
import { localPath } from "./_pods_env.ts";
import { type Cause, cause } from "./_status.ts";

/** The volumes of a pod by name. */
export type Volumes = ReadonlyMap<string, Fields>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

function propagation(mount: Fields, privileged: boolean, at: string, causes: Cause[]): void {
  const { mountPropagation } = mount;
  if (mountPropagation === undefined) return;
  if (!PROPAGATIONS.includes(mountPropagation)) causes.push(cause.unsupported(at, mountPropagation, PROPAGATIONS));
  if (mountPropagation === "Bidirectional" && !privileged) {
    causes.push(cause.forbidden(at, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

function recursive(mount: Fields, at: string, causes: Cause[]): void {
  const { recursiveReadOnly, readOnly, mountPropagation = "None" } = mount;
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  if (!READ_ONLY.includes(recursiveReadOnly)) {
    causes.push(cause.unsupported(at, recursiveReadOnly, READ_ONLY));
    return;
  }
  if (readOnly !== true) causes.push(cause.forbidden(at, "may only be specified when readOnly is true"));
  if (mountPropagation !== "None") {
    causes.push(cause.forbidden(at, "may only be specified when mountPropagation is None or not specified"));
  }
}

function mount(value: Fields, volumes: Volumes, container: Fields, at: string, list: string, causes: Cause[]): void {
  const { name = "", mountPath = "", subPath = "", subPathExpr = "" } = value;
  const devices: Fields[] = container.volumeDevices ?? [];
  if (name === "") causes.push(cause.required(`${at}.name`));
  if (!volumes.has(name)) causes.push(cause.notFound(`${at}.name`, name));
  if (mountPath === "") causes.push(cause.required(`${at}.mountPath`));
  const refuse = (member: string, shown: unknown, why: string) =>
    void causes.push(cause.invalid(`${at}.${member}`, shown, why));
  const before = (container.volumeMounts as Fields[]).slice(0, (container.volumeMounts as Fields[]).indexOf(value));
  if (before.some((each) => each.mountPath === mountPath)) refuse("mountPath", mountPath, "must be unique");
  const taken = devices.some((each) => each.name === name);
  if (taken) refuse("name", name, "must not already exist in volumeDevices");
  if (!taken && devices.some((each) => each.devicePath === mountPath)) {
    refuse("mountPath", mountPath, "must not already exist as a path in volumeDevices");
  }
  if (subPath !== "") localPath(true)(subPath, `${list}.subPath`, causes);
  if (subPathExpr !== "") {
    if (subPath !== "") refuse("subPathExpr", subPathExpr, "subPathExpr and subPath are mutually exclusive");
    localPath(true)(subPathExpr, `${list}.subPathExpr`, causes);
  }
  const privileged = container.securityContext?.privileged === true;
  propagation(value, privileged, `${list}.mountPropagation`, causes);
  recursive(value, `${list}.recursiveReadOnly`, causes);
}

function device(value: Fields, volumes: Volumes, container: Fields, at: string, causes: Cause[]): void {
  const { name = "", devicePath = "" } = value;
  const all: Fields[] = container.volumeDevices;
  const before = all.slice(0, all.indexOf(value));
  const mounted: Fields[] = container.volumeMounts ?? [];
  const refuse = (member: string, why: string) =>
    void causes.push(cause.invalid(`${at}.${member}`, value[member] ?? "", why));
  if (name === "") causes.push(cause.required(`${at}.name`));
  if (before.some((each) => each.name === name)) refuse("name", "must be unique");
  const volume = volumes.get(name);
  if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
    refuse("name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
  }
  if (!volume) causes.push(cause.notFound(`${at}.name`, name));
  if (devicePath === "") causes.push(cause.required(`${at}.devicePath`));
  if (devicePath !== "" && before.some((each) => each.devicePath === devicePath)) {
    refuse("devicePath", "must be unique");
  }
  if (devicePath.split("/").includes("..")) refuse("devicePath", "can not contain backsteps ('..')");
  if (mounted.some((each) => each.name === name)) refuse("name", "must not already exist in volumeMounts");
  if (devicePath !== "" && mounted.some((each) => each.mountPath === devicePath)) {
    refuse("devicePath", "must not already exist as a path in volumeMounts");
  }
}

/** Takes the mounts and devices of a container; the value is the container. */
export function mounts(volumes: Volumes): Check {
  return (container, at, causes) => {
    const list = `${at}.volumeMounts`;
    for (const [index, each] of (container.volumeMounts ?? []).entries()) {
      mount(each, volumes, container, `${list}[${index}]`, list, causes);
    }
    for (const [index, each] of (container.volumeDevices ?? []).entries()) {
      device(each, volumes, container, `${at}.volumeDevices[${index}]`, causes);
    }
  };
}
