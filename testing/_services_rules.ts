/**
 * Checks Services: ports, names, selectors, policies of traffic, and what each type of them allows.
 *
 * ```ts
 * import { validateService } from "./_services_rules.ts";
 *
 * console.assert(validateService({ metadata: {}, spec: { type: "ClusterIP" } }).length > 0);
 * ```
 *
 * @module
 */
import { addressWarning, endpointAddress, legacyAddress, legacyRange, readLoose } from "./_addresses.ts";
import {
  absent,
  causesOf,
  type Check,
  each,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  portNumber,
  portOrName,
  qualifiedName,
  such,
} from "./_checks.ts";
import { validateLabels, validateName } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { checkAddressChange, checkAddresses, isHeadless } from "./_services_addresses.ts";
import { needsHealthCheck, needsNodePorts } from "./_services_ports.ts";
import { type Cause, cause } from "./_status.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/** The protocols of ports. */
export const PROTOCOLS: readonly string[] = ["SCTP", "TCP", "UDP"];
const MAX_AFFINITY = 86_400;
const RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const HINTS = "service.kubernetes.io/topology-aware-hints", MODE = "service.kubernetes.io/topology-mode";
const BALANCED_ONLY = "may only be used when `type` is 'LoadBalancer'";

/** True for a Service that something outside of the cluster can reach. */
function isExternal(spec: Fields): boolean {
  return needsNodePorts(spec) || spec.type === "ClusterIP" && spec.externalIPs?.length > 0;
}

function checkType(spec: Fields): Cause[] {
  const causes: Cause[] = [];
  if (isEmpty(spec.ports) && !isHeadless(spec) && spec.type !== "ExternalName") {
    causes.push(cause.required("spec.ports"));
  }
  if (needsNodePorts(spec) && isHeadless(spec)) {
    const why = `may not be set to 'None' for ${spec.type} services`;
    causes.push(cause.invalid("spec.clusterIPs[0]", spec.clusterIPs[0], why));
  }
  if (spec.type !== "ExternalName") return causes;
  for (const member of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    absent("may not be set for ExternalName services")(spec[member], `spec.${member}`, causes);
  }
  const name = String(spec.externalName ?? "").replace(/\.$/, "");
  neededAnd(named("subdomain"))(name, "spec.externalName", causes);
  return causes;
}

const PORT = members({
  port: (value, at, causes) => portNumber(value ?? 0, at, causes),
  protocol: neededAnd(oneOf(PROTOCOLS)),
  targetPort: portOrName,
  appProtocol: given(qualifiedName),
});

function checkPorts(ports: readonly Fields[]): Cause[] {
  const causes: Cause[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const { name = "" } = port;
    if (name === "") {
      if (ports.length > 1) causes.push(cause.required(`${at}.name`));
    } else {
      named("label")(name, `${at}.name`, causes);
      if (names.has(name)) causes.push(cause.duplicate(`${at}.name`, name));
      names.add(name);
    }
    PORT(port, at, causes);
  }
  return causes;
}

function checkTwins(spec: Fields): Cause[] {
  const causes: Cause[] = [];
  const ports: Fields[] = spec.ports ?? [];
  const twice = (member: "port" | "nodePort", index: number): boolean =>
    ports.slice(0, index).some((each) =>
      each[member] === ports[index]![member] && each.protocol === ports[index]!.protocol
    );
  for (const [index, { nodePort }] of ports.entries()) {
    if (!nodePort) continue;
    if (spec.type === "ClusterIP") {
      causes.push(cause.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
  }
  for (const [index, { nodePort }] of ports.entries()) {
    if (nodePort && twice("nodePort", index)) causes.push(cause.duplicate(`spec.ports[${index}].nodePort`, nodePort));
  }
  for (const [index, { port, protocol }] of ports.entries()) {
    if (!twice("port", index)) continue;
    const whole = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    causes.push(cause.duplicate(`spec.ports[${index}]`, whole));
  }
  return causes;
}

const TIMEOUT: Check = (value, at, causes) => {
  if (value > 0 && value <= MAX_AFFINITY) return;
  causes.push(cause.invalid(at, value ?? 0, `must be greater than 0 and less than ${MAX_AFFINITY}`));
};

function checkAffinity({ sessionAffinity, sessionAffinityConfig: config }: Fields): Cause[] {
  const causes = causesOf(neededAnd(oneOf(["ClientIP", "None"])), sessionAffinity, "spec.sessionAffinity");
  if (sessionAffinity === "ClientIP") {
    TIMEOUT(config?.clientIP?.timeoutSeconds, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", causes);
  }
  return causes;
}

function checkExternalAddresses({ externalIPs = [] }: Fields, old?: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, address] of externalIPs.entries()) {
    const before = causes.length;
    legacyAddress(old?.externalIPs)(address, `spec.externalIPs[${index}]`, causes);
    if (causes.length === before) endpointAddress(address, `spec.externalIPs[${index}]`, causes);
  }
  return causes;
}

function checkRanges({ spec, metadata }: Fields, old?: Fields): Cause[] {
  const causes: Cause[] = [];
  const balanced = spec.type === "LoadBalancer";
  const trimmed = (list: string[] = []): string[] => list.map((each) => each.trim());
  if (spec.loadBalancerSourceRanges?.length > 0) {
    const at = "spec.LoadBalancerSourceRanges";
    if (!balanced) causes.push(cause.forbidden(at, BALANCED_ONLY));
    each(legacyRange(trimmed(old?.spec.loadBalancerSourceRanges)))(trimmed(spec.loadBalancerSourceRanges), at, causes);
    return causes;
  }
  const text = metadata.annotations?.[RANGES];
  if (text === undefined) return causes;
  const at = `metadata.annotations[${RANGES}]`;
  if (!balanced) causes.push(cause.forbidden(at, BALANCED_ONLY));
  if (old?.metadata.annotations?.[RANGES] === text || text.trim() === "") return causes;
  for (const each of trimmed(text.split(","))) legacyRange()(each, at, causes);
  return causes;
}

function checkBalancer(spec: Fields): Cause[] {
  const balanced = spec.type === "LoadBalancer";
  const causes: Cause[] = [];
  if (!balanced && spec.allocateLoadBalancerNodePorts !== undefined) {
    causes.push(cause.forbidden("spec.allocateLoadBalancerNodePorts", BALANCED_ONLY));
  }
  return [...causes, ...checkClass(spec)];
}

function checkClass({ type, loadBalancerClass }: Fields): Cause[] {
  const balanced = type === "LoadBalancer";
  return causesOf(given(balanced ? qualifiedName : absent(BALANCED_ONLY)), loadBalancerClass, "spec.loadBalancerClass");
}

function checkTraffic(spec: Fields): Cause[] {
  const { externalTrafficPolicy: policy = "", healthCheckNodePort: port = 0 } = spec;
  const at = "spec.externalTrafficPolicy", health = "spec.healthCheckNodePort";
  const causes: Cause[] = [];
  if (isExternal(spec)) neededAnd(oneOf(["Cluster", "Local"]))(policy, at, causes);
  else if (policy !== "") causes.push(cause.invalid(at, policy, "may only be set for externally-accessible services"));
  if (needsHealthCheck(spec)) neededAnd(portNumber)(port, health, causes);
  else if (port !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    causes.push(cause.invalid(health, port, why));
  }
  if (["ClusterIP", "LoadBalancer", "NodePort"].includes(spec.type)) {
    needed()(spec.internalTrafficPolicy, "spec.internalTrafficPolicy", causes);
  }
  oneOf(["Cluster", "Local"])(spec.internalTrafficPolicy, "spec.internalTrafficPolicy", causes);
  const spread = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  oneOf(spread)(spec.trafficDistribution, "spec.trafficDistribution", causes);
  return causes;
}

/** What is wrong with a Service, beside its metadata. */
export function validateService(object: Fields, old?: Fields): Cause[] {
  const { spec = {}, metadata } = object;
  const { [HINTS]: hints, [MODE]: mode } = metadata.annotations ?? {};
  const causes: Cause[] = [];
  if (hints !== undefined && mode !== undefined && hints !== mode) {
    const why = `must match annotations[${HINTS}] when both are specified`;
    causes.push(cause.invalid(`metadata.annotations[${MODE}]`, mode, why));
  }
  causes.push(
    ...checkType(spec),
    ...checkPorts(spec.ports ?? []),
    ...validateLabels(spec.selector, "spec.selector"),
    ...checkAffinity(spec),
    ...checkAddresses(spec, old?.spec),
    ...checkExternalAddresses(spec, old?.spec),
    ...causesOf(neededAnd(oneOf(TYPES)), spec.type, "spec.type"),
    ...checkTwins(spec),
    ...checkRanges(object, old),
    ...checkBalancer(spec),
    ...checkTraffic(spec),
  );
  return causes;
}

/** What is wrong with a change of a Service; comes before what is wrong with it. */
export function validateServiceChange({ spec }: Fields, { spec: old }: Fields): Cause[] {
  const causes = checkAddressChange(spec, old);
  if (spec.type === "LoadBalancer" && old.type === "LoadBalancer" && spec.loadBalancerClass !== old.loadBalancerClass) {
    causes.push(cause.invalid("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set"));
  }
  causes.push(...checkClass(spec));
  const checked = needsHealthCheck(spec) && needsHealthCheck(old);
  if (checked && spec.healthCheckNodePort !== old.healthCheckNodePort) {
    causes.push(cause.forbidden("spec.healthCheckNodePort", "field is immutable"));
  }
  return causes;
}

const HOST = such((name) => [
  ...validateName(name, "subdomain"),
  ...(readLoose(name) ? ["must be a DNS name, not an IP address"] : []),
]);

/** What is wrong with the addresses of a load balancer. */
export function checkBalancerStatus(
  list: readonly Fields[] | undefined,
  at: string,
  known: readonly string[],
): Cause[] {
  const causes: Cause[] = [];
  for (const [index, { ip = "", ipMode, hostname = "" }] of (list ?? []).entries()) {
    const path = `${at}[${index}]`;
    if (ip !== "") legacyAddress(known)(ip, `${path}.ip`, causes);
    if (ipMode === undefined) {
      if (ip !== "") causes.push(cause.required(`${path}.ipMode`, "must be specified when `ip` is set"));
    } else if (ip === "") causes.push(cause.forbidden(`${path}.ipMode`, "may not be specified when `ip` is not set"));
    else oneOf(["Proxy", "VIP"])(ipMode, `${path}.ipMode`, causes);
    if (hostname !== "") HOST(hostname, `${path}.hostname`, causes);
  }
  return causes;
}

/** What is wrong with the status of a Service. */
export function validateServiceStatus({ spec, status }: Fields, old?: Fields): Cause[] {
  const list: Fields[] = status?.loadBalancer?.ingress ?? [];
  const at = "status.loadBalancer.ingress";
  if (spec.type !== "LoadBalancer" && list.length > 0) {
    return [cause.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const known = (old?.status?.loadBalancer?.ingress ?? []).map(({ ip }: Fields) => ip);
  return checkBalancerStatus(list, at, known);
}

/** What the author of a Service is warned of. */
export function serviceWarnings({ metadata, spec = {} }: Fields): string[] {
  const headless = spec.type === "ClusterIP" && spec.clusterIP === "None", external = spec.type === "ExternalName";
  const { externalIPs = [], clusterIPs = [], loadBalancerIP = "" } = spec;
  const warnings: string[] = [];
  const warn = (when: unknown, ...texts: string[]): void => void (when && warnings.push(...texts));
  warn(
    metadata.annotations?.[HINTS] !== undefined,
    `annotation ${HINTS} is deprecated, please use ${MODE} instead`,
  );
  warn(!headless, ...clusterIPs.flatMap((ip: string, at: number) => addressWarning(`spec.clusterIPs[${at}]`, ip)));
  warn(headless && loadBalancerIP, "spec.loadBalancerIP is ignored for headless services");
  warn(headless && externalIPs.length, "spec.externalIPs is ignored for headless services");
  warn(headless && spec.sessionAffinity !== "None", "spec.SessionAffinity is ignored for headless services");
  warn(true, ...externalIPs.flatMap((ip: string, at: number) => addressWarning(`spec.externalIPs[${at}]`, ip)));
  warn(
    externalIPs.length && !headless && !external,
    "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
  );
  warn(loadBalancerIP, ...addressWarning("spec.loadBalancerIP", loadBalancerIP));
  warn(external && externalIPs.length, 'spec.externalIPs is ignored when spec.type is "ExternalName"');
  warn(!external && spec.externalName, 'spec.externalName is ignored when spec.type is not "ExternalName"');
  warn(
    spec.trafficDistribution === "PreferClose",
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  );
  return warnings;
}
