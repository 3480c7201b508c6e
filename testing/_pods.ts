/**
 * Checks pod specs, in pods and in the templates of what makes pods.
 *
 * ```ts
 * import { validatePodSpec } from "./_pods.ts";
 *
 * console.assert(validatePodSpec({}, "spec").length === 1);
 * ```
 *
 * @module
 */
import { type Fields, isObject } from "./_objects.ts";
import { validateLabels, validateName } from "./_metadata.ts";
import { type Cause, cause } from "./_status.ts";

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
  const all = containers.map(({ resources = {} }) => ({
    requests: pick(resources.requests),
    limits: pick(resources.limits),
  }));
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
      causes.push({
        reason: "FieldValueNotFound",
        message: `Not found: ${JSON.stringify(mount.name)}`,
        field: `${at}.name`,
      });
    }
    if (!mount.mountPath) causes.push(cause.required(`${at}.mountPath`));
  }
  return causes;
}

/** What is wrong with a pod spec. */
export function validatePodSpec(spec: Fields | undefined, path: string): Cause[] {
  const causes: Cause[] = [];
  const { restartPolicy } = spec ?? {};
  const [containers, initContainers, volumes]: Fields[][] = ["containers", "initContainers", "volumes"]
    .map((member) => spec?.[member] ?? []) as [Fields[], Fields[], Fields[]];
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
