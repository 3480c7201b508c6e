/**
 * Says how pods and their templates behave.
 *
 * ```ts
 * import { PODS } from "./_kinds_pods.ts";
 *
 * console.assert(PODS.pods?.returnsDeleted);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { type Fields, isObject } from "./_objects.ts";
import { validatePodSpec, validateTemplate } from "./_pods.ts";
import { preparePod, prepareUpdate } from "./_pods_admission.ts";
import { validateDebugging, validatePodStatus, validatePodUpdate, validateResize } from "./_pods_update.ts";
import { podWarnings } from "./_pods_warnings.ts";
import { type Cause, cause } from "./_status.ts";

const COST = "controller.kubernetes.io/pod-deletion-cost";
const MIRROR = "kubernetes.io/config.mirror";
const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const MAX_INT = 2 ** 31;

function isInteger(text: string): boolean {
  return /^(-?[1-9]\d*|0)$/.test(text) && Number(text) < MAX_INT && Number(text) >= -MAX_INT;
}

/** What is wrong with annotations that mean something for pods. */
function annotationCauses({ metadata, spec }: Fields): Cause[] {
  const causes: Cause[] = [];
  const annotations: Record<string, string> = metadata.annotations ?? {};
  const at = (key: string) => `metadata.annotations[${key}]`;
  if (annotations[MIRROR] !== undefined && !spec?.nodeName) {
    const why = "must set spec.nodeName if mirror pod annotation is set";
    causes.push(cause.invalid(at(MIRROR), annotations[MIRROR], why));
  }
  const seccomp = annotations[SECCOMP];
  if (seccomp !== undefined && !/^(runtime\/default|docker\/default|unconfined|localhost\/.+)$/.test(seccomp)) {
    causes.push(cause.invalid(`metadata.annotations.${SECCOMP}`, seccomp, "must be a valid seccomp profile"));
  }
  for (const [key, profile] of Object.entries(annotations)) {
    if (!key.startsWith(APPARMOR)) continue;
    const name = key.slice(APPARMOR.length);
    const all: Fields[] = [...spec?.containers ?? [], ...spec?.initContainers ?? []];
    if (!all.some((each) => each.name === name)) {
      causes.push(cause.invalid(at(key), name, "container not found"));
    }
    if (profile !== "" && !/^(runtime\/default|unconfined|localhost\/.*)$/.test(profile)) {
      causes.push(cause.invalid(at(key), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
    }
  }
  const cost = annotations[COST];
  if (cost !== undefined && !isInteger(cost)) causes.push(cause.invalid(at(COST), cost, "must be a 32bit integer"));
  return causes;
}

/** What only pods are held to, not templates. */
function podCauses({ spec = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, volume] of ((spec.volumes ?? []) as Fields[]).entries()) {
    for (const [number, source] of ((volume.projected?.sources ?? []) as Fields[]).entries()) {
      if (!source.serviceAccountToken || spec.serviceAccountName) continue;
      const at = `spec.volumes[${index}].projected.sources[${number}].serviceAccountToken`;
      causes.push(cause.forbidden(at, "must not be specified when serviceAccountName is not set"));
    }
  }
  for (const list of ["containers", "initContainers"]) {
    for (const [index, { image }] of ((spec[list] ?? []) as Fields[]).entries()) {
      if (!image || image.trim() === image) continue;
      const why = "must not have leading or trailing whitespace";
      causes.push(cause.invalid(`spec.${list}[${index}].image`, image, why));
    }
  }
  return causes;
}

function validateNewPod(pod: Fields): Cause[] {
  const causes = [...annotationCauses(pod), ...validatePodSpec(pod.spec, "spec"), ...podCauses(pod)];
  const { ephemeralContainers, schedulingGates, nodeName } = pod.spec ?? {};
  if (ephemeralContainers?.length > 0) {
    causes.push(cause.forbidden("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (schedulingGates?.length > 0 && nodeName) {
    causes.push(cause.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return causes;
}

function validatePod(pod: Fields, subresource: string, old?: Fields): Cause[] {
  if (!old) return validateNewPod(pod);
  switch (subresource) {
    case "status":
      return validatePodStatus(pod, old);
    case "ephemeralcontainers":
      return [...validatePodSpec(pod.spec, "spec"), ...validateDebugging(pod, old)];
    case "resize":
      return [...validatePodSpec(pod.spec, "spec"), ...podCauses(pod), ...validateResize(pod, old)];
    default:
      return [
        ...annotationCauses(pod),
        ...validatePodSpec(pod.spec, "spec"),
        ...podCauses(pod),
        ...validatePodUpdate(pod, old),
      ];
  }
}

/** An object as it was, but for its spec and who manages what. */
function withSpec({ metadata }: Fields, old: Fields, spec: Fields): Fields {
  const { managedFields } = metadata;
  return { ...old, metadata: { ...old.metadata, ...(managedFields ? { managedFields } : {}) }, spec };
}

/** The containers of a pod with the resources that others of the same name have. */
function resized(list: string, spec: Fields, old: Fields): Fields {
  const before: Fields[] = old[list] ?? [], now: Fields[] = spec[list] ?? [];
  if (before.length === 0 && now.length === 0) return {};
  if (now.length !== before.length) return { [list]: now };
  const containers = before.map((each) => {
    const found = now.find(({ name }) => name === each.name);
    if (!found) return each;
    const { resources: _resources, resizePolicy: _policy, ...rest } = each;
    const { resources, resizePolicy } = found;
    return { ...rest, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) };
  });
  return { [list]: containers };
}

const PARTS: NonNullable<Behaviour["parts"]> = {
  ephemeralcontainers: (object, old) => {
    const { ephemeralContainers: _, ...spec } = old.spec;
    const added = object.spec?.ephemeralContainers;
    return withSpec(object, old, added ? { ...spec, ephemeralContainers: added } : spec);
  },
  resize: (object, old) =>
    withSpec(object, old, {
      ...old.spec,
      ...resized("containers", object.spec ?? {}, old.spec),
      ...resized("initContainers", object.spec ?? {}, old.spec),
    }),
};

/** Says the address of a pod twice: the single one counts. */
function sameAddresses({ status }: Fields): void {
  if (!isObject(status)) return;
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first;
}

/** Keeps how a pod is served. */
function prepareStatus(pod: Fields, { status: old = {} }: Fields): void {
  const status = pod.status = { ...pod.status };
  if (!status.qosClass && old.qosClass) status.qosClass = old.qosClass;
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
}

/** The behaviours by storage. */
export const PODS: Readonly<Record<string, Behaviour>> = {
  pods: {
    status: true,
    statusKeeps: ["ownerReferences"],
    returnsDeleted: true,
    desired: ({ spec }) => spec,
    defaults: sameAddresses,
    prepareCreate: preparePod,
    prepareUpdate,
    parts: PARTS,
    prepareStatus,
    warnings: podWarnings,
    validate: (pod, _apiVersion, subresource, old) => validatePod(pod, subresource, old),
    grace: ({ spec, status }, asked) => {
      if (!spec?.nodeName || status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
      return asked === undefined ? spec.terminationGracePeriodSeconds ?? 30 : asked < 0 ? 1 : asked;
    },
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
    selectDefaults: { "spec.hostNetwork": "false" },
  },
  podtemplates: {
    desired: ({ template }) => template,
    validate: ({ template }) => validateTemplate(template, "template"),
  },
};
