/**
 * Checks pod specs, in pods and in the templates of what makes pods.
 *
 * ```ts
 * import { validatePodSpec } from "./_pods.ts";
 *
 * console.assert(validatePodSpec({ restartPolicy: "Always" }, "spec")[0]?.field === "spec.containers");
 * ```
 *
 * @module
 */
import { legacyAddress } from "./_addresses.ts";
import { between, type Check, each, filled, given, members, named, oneOf } from "./_checks.ts";
import { labels } from "./_label_selectors.ts";
import { validateLabels, validateQualified } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { containers } from "./_pods_containers.ts";
import { affinity, spread, tolerations } from "./_pods_scheduling.ts";
import { podResources } from "./_pods_resources.ts";
import { operatingSystem, podSecurity } from "./_pods_security.ts";
import { dotless, volumes } from "./_pods_volumes.ts";
import { type Cause, cause } from "./_status.ts";

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const SEARCH = /^(_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*\.?$/;
const SEARCH_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;

const dnsConfig: Check = (spec, at, causes) => {
  const { dnsPolicy, dnsConfig: config } = spec;
  const path = `${at}.dnsConfig`;
  if (dnsPolicy === "None" && !config) {
    causes.push(cause.required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
  } else if (dnsPolicy === "None" && !config.nameservers?.length) {
    const why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    causes.push(cause.required(`${path}.nameservers`, why));
  }
  if (!config) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (nameservers.length > MOST_NAMESERVERS) {
    const why = `must not have more than ${MOST_NAMESERVERS} nameservers`;
    causes.push(cause.invalid(`${path}.nameservers`, nameservers, why));
  }
  each(legacyAddress())(nameservers, `${path}.nameservers`, causes);
  if (searches.length > MOST_SEARCHES) {
    const why = `must not have more than ${MOST_SEARCHES} search paths`;
    causes.push(cause.invalid(`${path}.searches`, searches, why));
  }
  for (const [index, search] of searches.entries()) {
    if (search === "." || SEARCH.test(search)) continue;
    causes.push(cause.invalid(`${path}.searches[${index}]`, search, SEARCH_RULE));
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) causes.push(cause.required(`${path}.options[${index}]`, "must not be empty"));
  }
};

const resourceClaims: Check = (value, at, causes) => {
  const names = new Set<string>();
  for (const [index, claim] of (value ?? []).entries()) {
    const { name = "", resourceClaimName = null, resourceClaimTemplateName = null } = claim;
    const path = `${at}[${index}]`;
    if (name === "") causes.push(cause.required(`${path}.name`));
    else if (names.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
    else named("label")(name, `${path}.name`, causes);
    names.add(name);
    const shown = {
      Name: name,
      ResourceClaimName: resourceClaimName,
      ResourceClaimTemplateName: resourceClaimTemplateName,
    };
    if (resourceClaimName !== null && resourceClaimTemplateName !== null) {
      const why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      causes.push(cause.invalid(path, shown, why));
    }
    if (resourceClaimName === null && resourceClaimTemplateName === null) {
      const why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
      causes.push(cause.invalid(path, shown, why));
    }
    given(named("subdomain"))(resourceClaimName, `${path}.resourceClaimName`, causes);
    given(named("subdomain"))(resourceClaimTemplateName, `${path}.resourceClaimTemplateName`, causes);
  }
};

const hostPorts: Check = (spec, at, causes) => {
  if (!spec.hostNetwork) return;
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of ((spec[list] ?? []) as Fields[]).entries()) {
      for (const [number, { hostPort, containerPort }] of ((container.ports ?? []) as Fields[]).entries()) {
        if (!hostPort || hostPort === containerPort) continue;
        const path = `${at}.${list}[${index}].ports[${number}].hostPort`;
        causes.push(cause.invalid(path, hostPort, "must match `containerPort` when `hostNetwork` is true"));
      }
    }
  }
};

const gates: Check = (spec, at, causes) => {
  const names = new Set<string>();
  for (const [index, { name = "" }] of ((spec.schedulingGates ?? []) as Fields[]).entries()) {
    const path = `${at}.schedulingGates[${index}]`;
    for (const why of validateQualified(name)) causes.push(cause.invalid(path, name, why));
    if (names.has(name)) causes.push(cause.duplicate(path, name));
    names.add(name);
  }
};

const readinessGates: Check = each((value, at, causes) => {
  const type = value.conditionType ?? "";
  for (const why of validateQualified(type)) causes.push(cause.invalid(`${at}.conditionType`, type, why));
});

function isHostProcess({ securityContext }: Fields): boolean | undefined {
  return securityContext?.windowsOptions?.hostProcess;
}

const hostProcess: Check = (spec, at, causes) => {
  const whole = isHostProcess(spec);
  const all: Fields[] = [...spec.containers ?? [], ...spec.initContainers ?? []];
  if (!all.some((each) => isHostProcess(each) ?? whole)) return;
  if (spec.hostNetwork) return;
  const why = "hostNetwork must be true if pod contains any hostProcess containers";
  causes.push(cause.invalid(`${at}.hostNetwork`, false, why));
};

const hostUsers: Check = (spec, at, causes) => {
  if (spec.hostUsers !== false) return;
  for (const [member, field] of [["hostNetwork", "hostNetwork"], ["hostPID", "HostPID"], ["hostIPC", "HostIPC"]]) {
    if (spec[member!]) causes.push(cause.forbidden(`${at}.${field}`, "when `hostUsers` is false"));
  }
};

const hostAliases: Check = each(members({
  ip: (value, at, causes) => legacyAddress()(value ?? "", at, causes),
  hostnames: each(named("subdomain")),
}));

/** What is looked at after the containers, in order. */
const AFTER: readonly Check[] = [
  podResources,
  members({
    restartPolicy: filled(oneOf(RESTART_POLICIES)),
    dnsPolicy: filled(oneOf(DNS_POLICIES)),
    nodeSelector: labels,
  }),
  hostPorts,
  podSecurity,
  members({ affinity }),
  dnsConfig,
  members({ readinessGates }),
  gates,
  members({ topologySpreadConstraints: spread }),
  hostProcess,
  hostUsers,
  members({
    serviceAccountName: filled(named("subdomain")),
    nodeName: filled(named("subdomain")),
    activeDeadlineSeconds: given(between(1, 2 ** 31 - 1)),
    hostname: filled(dotless),
    subdomain: filled(dotless),
    tolerations,
    hostAliases,
    priorityClassName: filled(named("subdomain")),
    runtimeClassName: given(named("subdomain")),
    hostnameOverride: filled(named("subdomain")),
    preemptionPolicy: filled(oneOf(["PreemptLowerPriority", "Never"])),
  }),
  operatingSystem,
];

/** What is wrong with a pod spec. */
export function validatePodSpec(spec: Fields = {}, path: string): Cause[] {
  const causes: Cause[] = [];
  volumes(spec.volumes, `${path}.volumes`, causes);
  const known = new Map(((spec.volumes ?? []) as Fields[]).map((volume) => [volume.name as string, volume]));
  known.delete("");
  resourceClaims(spec.resourceClaims, `${path}.resourceClaims`, causes);
  containers({ spec, volumes: known })(spec, path, causes);
  for (const check of AFTER) check(spec, path, causes);
  fileVolumes(spec, path, causes);
  return causes;
}

/** Files of variables are of volumes that the pod has. */
const fileVolumes: Check = (spec, at, causes) => {
  const names = new Set(((spec.volumes ?? []) as Fields[]).filter((each) => each.emptyDir).map(({ name }) => name));
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of ((spec[list] ?? []) as Fields[]).entries()) {
      for (const [number, { valueFrom }] of ((container.env ?? []) as Fields[]).entries()) {
        const reference = valueFrom?.fileKeyRef;
        if (!reference || names.has(reference.volumeName)) continue;
        const path = `${at}.${list}[${index}].env[${number}].valueFrom.fileKeyRef.volumeName`;
        causes.push(cause.notFound(path, reference.volumeName ?? ""));
      }
    }
  }
};

/** What is wrong with a pod template. */
export function validateTemplate(template: Fields | undefined, path: string): Cause[] {
  return [
    ...validateLabels(template?.metadata?.labels, `${path}.labels`),
    ...templateAnnotations(template?.metadata?.annotations, `${path}.annotations`),
    ...validatePodSpec(template?.spec, `${path}.spec`),
    ...(template?.spec?.ephemeralContainers?.length
      ? [cause.forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template")]
      : []),
  ];
}

function templateAnnotations(annotations: Fields | undefined, at: string): Cause[] {
  return Object.keys(annotations ?? {}).flatMap((key) =>
    validateQualified(key.toLowerCase()).map((why) => cause.invalid(at, key, why))
  );
}
