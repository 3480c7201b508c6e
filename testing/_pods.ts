/**
 * Fills in and checks pod specs, in pods and in the templates of what makes pods.
 *
 * ```ts
 * import { defaultPodSpec } from "./_pods.ts";
 *
 * const spec = { containers: [{ name: "main", image: "nginx" }] };
 * defaultPodSpec(spec);
 * console.assert("restartPolicy" in spec);
 * ```
 *
 * @module
 */
import { type Fields, isObject } from "./_objects.ts";
import { validateLabels, validateName } from "./_metadata.ts";
import { type Cause, cause } from "./_status.ts";

const MODE = 420;

function defaultHandler(handler: Fields | undefined): void {
  const http = handler?.httpGet;
  if (!isObject(http)) return;
  http.path ||= "/";
  http.scheme ||= "HTTP";
}

function defaultProbe(probe: Fields | undefined): void {
  if (!isObject(probe)) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHandler(probe);
  if (isObject(probe.grpc)) probe.grpc.service ??= "";
}

function pullPolicy(image: string): string {
  const [name = ""] = image.split("@");
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag === "latest" || (tag === undefined && !image.includes("@")) ? "Always" : "IfNotPresent";
}

function defaultContainer(container: Fields): void {
  container.imagePullPolicy ||= pullPolicy(String(container.image ?? ""));
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  container.resources ??= {};
  for (const port of container.ports ?? []) port.protocol ||= "TCP";
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) defaultProbe(container[probe]);
  defaultHandler(container.lifecycle?.postStart);
  defaultHandler(container.lifecycle?.preStop);
  for (const { valueFrom } of container.env ?? []) if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= "v1";
}

function defaultItems(items: Fields[] | undefined): void {
  for (const item of items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= "v1";
}

function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).length === 1 && volume.name !== undefined) volume.emptyDir = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (isObject(volume[source])) volume[source].defaultMode ??= MODE;
  }
  defaultItems(volume.downwardAPI?.items);
  if (isObject(volume.hostPath)) volume.hostPath.type ??= "";
  for (const each of volume.projected?.sources ?? []) {
    if (each.serviceAccountToken) each.serviceAccountToken.expirationSeconds ??= 3600;
    defaultItems(each.downwardAPI?.items);
  }
}

/** Fills in a pod spec. */
export function defaultPodSpec(spec: Fields | undefined): void {
  if (!isObject(spec)) return;
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= "default-scheduler";
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount;
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) spec[list]?.forEach(defaultContainer);
  if (spec.hostNetwork) {
    for (const { ports = [] } of [...spec.containers ?? [], ...spec.initContainers ?? []]) {
      for (const port of ports) port.hostPort ||= port.containerPort;
    }
  }
  spec.volumes?.forEach(defaultVolume);
}

/** Fills in a pod. */
export function defaultPod(pod: Fields): void {
  const { spec } = pod;
  defaultPodSpec(spec);
  if (!isObject(spec)) return;
  spec.enableServiceLinks ??= true;
  for (const container of [...spec.containers ?? [], ...spec.initContainers ?? []]) {
    const { limits } = container.resources;
    if (!limits) continue;
    container.resources.requests = { ...limits, ...container.resources.requests };
  }
}

const NOT_READY = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Sets what admission and the server set in a new pod. */
export function preparePod(pod: Fields): void {
  const { spec } = pod;
  if (!isObject(spec)) return;
  spec.priority ??= 0;
  spec.preemptionPolicy ??= "PreemptLowerPriority";
  const tolerations: Fields[] = spec.tolerations ?? [];
  for (const key of NOT_READY) {
    const tolerated = tolerations.some((each) =>
      (each.key === undefined || each.key === key) && (each.effect === undefined || each.effect === "NoExecute")
    );
    if (!tolerated) tolerations.push({ effect: "NoExecute", key, operator: "Exists", tolerationSeconds: 300 });
  }
  spec.tolerations = tolerations;
  pod.status = { phase: "Pending", qosClass: qosClass(spec) };
}

function qosClass(spec: Fields): string {
  const containers: Fields[] = [...spec.containers ?? [], ...spec.initContainers ?? []];
  const pick = (resources: Fields | undefined) => ({ cpu: resources?.cpu, memory: resources?.memory });
  const all = containers.map(({ resources = {} }) => ({ requests: pick(resources.requests), limits: pick(resources.limits) }));
  if (all.every(({ requests, limits }) => !requests.cpu && !requests.memory && !limits.cpu && !limits.memory)) {
    return "BestEffort";
  }
  const guaranteed = all.every(({ requests, limits }) =>
    limits.cpu && limits.memory && requests.cpu === limits.cpu && requests.memory === limits.memory
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];

function validateContainer(container: Fields, path: string, volumes: ReadonlySet<string>, names: Set<string>): Cause[] {
  const causes: Cause[] = [];
  const { name, image, imagePullPolicy } = container;
  if (!name) causes.push(cause.required(`${path}.name`));
  else {
    causes.push(...validateName(name, "label").map((why) => cause.invalid(`${path}.name`, name, why)));
    if (names.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
    names.add(name);
  }
  if (!image) causes.push(cause.required(`${path}.image`));
  else if (image.trim() !== image) {
    causes.push(cause.invalid(`${path}.image`, image, "must not have leading or trailing whitespace"));
  }
  if (!PULL_POLICIES.includes(imagePullPolicy)) {
    causes.push(cause.unsupported(`${path}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES));
  }
  for (const [index, port] of (container.ports ?? []).entries()) {
    const at = `${path}.ports[${index}].containerPort`;
    if (!port.containerPort) causes.push(cause.required(at));
    else if (port.containerPort < 1 || port.containerPort > 65535) {
      causes.push(cause.invalid(at, port.containerPort, "must be between 1 and 65535, inclusive"));
    }
  }
  for (const [index, env] of (container.env ?? []).entries()) {
    if (!env.name) causes.push(cause.required(`${path}.env[${index}].name`));
  }
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    if (!mount.name) causes.push(cause.required(`${at}.name`));
    else if (!volumes.has(mount.name)) {
      causes.push({ reason: "FieldValueNotFound", message: `Not found: ${JSON.stringify(mount.name)}`, field: `${at}.name` });
    }
    if (!mount.mountPath) causes.push(cause.required(`${at}.mountPath`));
  }
  return causes;
}

/** What is wrong with a pod spec. */
export function validatePodSpec(spec: Fields | undefined, path: string): Cause[] {
  const causes: Cause[] = [];
  const { containers = [], initContainers = [], volumes = [], restartPolicy } = spec ?? {};
  const volumeNames = new Set<string>();
  for (const [index, { name }] of volumes.entries()) {
    const at = `${path}.volumes[${index}].name`;
    if (!name) causes.push(cause.required(at));
    else {
      causes.push(...validateName(name, "label").map((why) => cause.invalid(at, name, why)));
      if (volumeNames.has(name)) causes.push(cause.duplicate(at, name));
      volumeNames.add(name);
    }
  }
  const names = new Set<string>();
  if (containers.length === 0) causes.push(cause.required(`${path}.containers`));
  for (const [list, items] of [["containers", containers], ["initContainers", initContainers]] as const) {
    for (const [index, item] of (items as Fields[]).entries()) {
      causes.push(...validateContainer(item, `${path}.${list}[${index}]`, volumeNames, names));
    }
  }
  if (restartPolicy && !RESTART_POLICIES.includes(restartPolicy)) {
    causes.push(cause.unsupported(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  }
  return causes;
}

/** What is wrong with a pod template. */
export function validateTemplate(template: Fields | undefined, path: string): Cause[] {
  return [
    ...validateLabels(template?.metadata?.labels, `${path}.labels`),
    ...validatePodSpec(template?.spec, `${path}.spec`),
  ];
}
