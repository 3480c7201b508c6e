/**
 * Fills in what a Kubernetes API server fills in for Pods and pod templates.
 *
 * ```ts
 * import { defaultPodSpec } from "./_pod_defaults.ts";
 *
 * const spec = { containers: [{ name: "main", image: "nginx" }] };
 * defaultPodSpec(spec); // spec.restartPolicy is "Always", the container's imagePullPolicy too
 * ```
 *
 * The objects are changed: the caller must own them all the way down.
 *
 * @module
 */
import { isObject, type JsonObject } from "./_json.ts";
import { thousandths } from "./_quantity.ts";

/** Sets members that are missing or empty. */
export function preset(object: JsonObject, values: Readonly<JsonObject>): void {
  for (const key in values) {
    const value = object[key];
    if (value === undefined || value === null || value === "") object[key] = structuredClone(values[key]);
  }
}

/** Returns the objects of a list member. */
export function objectsOf(object: JsonObject, key: string): JsonObject[] {
  const list = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Calls a function with a member, if that is an object. */
export function within(object: JsonObject, key: string, change: (value: JsonObject) => void): void {
  const value = object[key];
  if (isObject(value)) change(value);
}

/** Returns an object member, which is made if it is missing. */
export function made(object: JsonObject, key: string): JsonObject {
  if (!isObject(object[key])) object[key] = {};
  return object[key] as JsonObject;
}

const MODE = 0o644;

/** Returns an image reference's tag; `latest` if it has neither tag nor digest, nothing if it is no reference. */
function tagOf(image: string): string {
  if (image.includes("@") || /\s/.test(image)) return "";
  const [, tag] = /:([^/:]+)$/.exec(image) ?? [];
  return tag ?? "latest";
}

function pullPolicy(image: unknown): string {
  return tagOf(typeof image === "string" ? image : "") === "latest" ? "Always" : "IfNotPresent";
}

function defaultHttpGet(handler: JsonObject): void {
  within(handler, "httpGet", (action) => preset(action, { path: "/", scheme: "HTTP" }));
}

function defaultProbe(probe: JsonObject): void {
  const values = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  for (const key of Object.keys(values)) if (probe[key] === 0) delete probe[key];
  preset(probe, values);
  defaultHttpGet(probe);
  within(probe, "grpc", (action) => action.service ??= "");
}

function defaultFieldRefs(source: JsonObject): void {
  within(source, "fieldRef", (reference) => preset(reference, { apiVersion: "v1" }));
}

/** Rounds what is asked for up to thousandths. */
function roundResources(resources: JsonObject): void {
  for (const side of ["requests", "limits"]) {
    within(resources, side, (amounts) => {
      for (const [name, amount] of Object.entries(amounts)) {
        if (typeof amount === "string" && /[nu]$/.test(amount)) amounts[name] = thousandths(amount);
      }
    });
  }
}

function defaultContainer(container: JsonObject): void {
  preset(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(container.image),
    resources: {},
  });
  within(container, "resources", roundResources);
  for (const port of objectsOf(container, "ports")) preset(port, { protocol: "TCP" });
  for (const entry of objectsOf(container, "env")) within(entry, "valueFrom", defaultFieldRefs);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) within(container, probe, defaultProbe);
  within(container, "lifecycle", (lifecycle) => {
    // The feature that this field belongs to is off.
    if (lifecycle.stopSignal !== undefined) {
      delete lifecycle.stopSignal;
      if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
    }
    within(lifecycle, "postStart", defaultHttpGet);
    within(lifecycle, "preStop", defaultHttpGet);
  });
}

function defaultItems(source: JsonObject): void {
  for (const item of objectsOf(source, "items")) defaultFieldRefs(item);
}

function defaultVolume(volume: JsonObject): void {
  if (!Object.keys(volume).some((key) => key !== "name" && volume[key] !== null)) volume.emptyDir = {};
  for (const kind of ["secret", "configMap", "downwardAPI", "projected"]) {
    within(volume, kind, (source) => preset(source, { defaultMode: MODE }));
  }
  within(volume, "downwardAPI", defaultItems);
  within(volume, "projected", (projected) => {
    for (const source of objectsOf(projected, "sources")) {
      within(source, "serviceAccountToken", (token) => preset(token, { expirationSeconds: 3600 }));
      within(source, "downwardAPI", defaultItems);
    }
  });
  within(volume, "hostPath", (path) => path.type ??= "");
  within(volume, "iscsi", (iscsi) => preset(iscsi, { iscsiInterface: "default" }));
  within(volume, "rbd", (rbd) => {
    preset(rbd, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
  });
  within(volume, "azureDisk", (disk) => {
    preset(disk, { cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false });
  });
  within(volume, "scaleIO", (io) => preset(io, { storageMode: "ThinProvisioned", fsType: "xfs" }));
  within(volume, "image", (image) => preset(image, { pullPolicy: pullPolicy(image.reference) }));
  within(volume, "ephemeral", (ephemeral) => {
    within(
      ephemeral,
      "volumeClaimTemplate",
      (template) => preset(made(template, "spec"), { volumeMode: "Filesystem" }),
    );
  });
}

function containersOf(spec: JsonObject): JsonObject[] {
  return [...objectsOf(spec, "initContainers"), ...objectsOf(spec, "containers")];
}

/** Fills in a Pod's or pod template's `spec`. */
export function defaultPodSpec(spec: JsonObject): void {
  preset(spec, {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: "default-scheduler",
  });
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) spec.serviceAccountName = spec.serviceAccount = account;
  for (const container of [...containersOf(spec), ...objectsOf(spec, "ephemeralContainers")]) {
    defaultContainer(container);
  }
  for (const volume of objectsOf(spec, "volumes")) defaultVolume(volume);
}

/** Fills in what only a Pod itself gets, not a template. */
export function defaultPod(pod: JsonObject): void {
  const spec = made(pod, "spec");
  defaultPodSpec(spec);
  preset(spec, { enableServiceLinks: true });
  if (spec.hostNetwork === true) {
    for (const port of containersOf(spec).flatMap((container) => objectsOf(container, "ports"))) {
      if (!port.hostPort) port.hostPort = port.containerPort;
    }
  }
  if (typeof spec.terminationGracePeriodSeconds === "number" && spec.terminationGracePeriodSeconds < 0) {
    spec.terminationGracePeriodSeconds = 1;
  }
  for (const container of containersOf(spec)) {
    within(container, "resources", (resources) => {
      within(resources, "limits", (limits) => preset(made(resources, "requests"), limits));
    });
  }
}
