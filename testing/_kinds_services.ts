/**
 * Says how Services behave: what they are given, and what a change of their type takes away.
 *
 * ```ts
 * import { SERVICES } from "./_kinds_services.ts";
 *
 * console.assert(SERVICES.returnsDeleted);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { equal, type Fields } from "./_objects.ts";
import { allocateAddresses } from "./_services_addresses.ts";
import { allocateNodePorts, needsHealthCheck, needsNodePorts } from "./_services_ports.ts";
import { serviceWarnings, validateService, validateServiceChange, validateServiceStatus } from "./_services_rules.ts";

function isExternal(spec: Fields): boolean {
  return needsNodePorts(spec) || spec.type === "ClusterIP" && spec.externalIPs?.length > 0;
}

/** Takes away what only the type that a Service had before knows, unless it was changed along with the type. */
function withdraw(spec: Fields, old: Fields): void {
  const drop = (needs: (spec: Fields) => boolean, ...names: string[]): void => {
    if (!needs(old) || needs(spec)) return;
    for (const name of names) if (equal(spec[name], old[name])) delete spec[name];
  };
  const addressed = ({ type }: Fields): boolean => type !== "ExternalName";
  const balanced = ({ type }: Fields): boolean => type === "LoadBalancer";
  if (addressed(old) && !addressed(spec) && equal(spec.clusterIP, old.clusterIP)) {
    drop(addressed, "clusterIP", "clusterIPs");
  }
  drop(addressed, "ipFamilies", "ipFamilyPolicy");
  const nodePorts = ({ ports = [] }: Fields): unknown[] => ports.map(({ nodePort }: Fields) => nodePort ?? 0);
  if (needsNodePorts(old) && !needsNodePorts(spec) && equal(nodePorts(spec), nodePorts(old))) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  drop(needsHealthCheck, "healthCheckNodePort");
  drop(balanced, "allocateLoadBalancerNodePorts", "loadBalancerClass");
  drop(isExternal, "externalTrafficPolicy");
}

/** Takes away a policy that Services which are names of others never show. */
function tidy(spec: Fields): void {
  const known = ["Cluster", "Local"].includes(spec.internalTrafficPolicy);
  if (spec.type === "ExternalName" && known) delete spec.internalTrafficPolicy;
}

/** The behaviour. */
export const SERVICES: Behaviour = {
  status: true,
  createOnUpdate: true,
  returnsDeleted: true,
  names: "label",
  prepareCreate: (object, server) => {
    object.status = { loadBalancer: {} };
    object.spec ??= {};
    allocateAddresses(object, server);
    allocateNodePorts(object, server);
    tidy(object.spec);
  },
  prepareUpdate: (object, old, server) => {
    allocateAddresses(object, server, old);
    allocateNodePorts(object, server, old);
    withdraw(object.spec, old.spec);
    tidy(object.spec);
    if (object.spec.type !== "LoadBalancer") object.status = { ...object.status, loadBalancer: {} };
  },
  warnings: serviceWarnings,
  validate: (object, _apiVersion, subresource, old) => {
    if (subresource === "status") return validateServiceStatus(object, old);
    return [...old ? validateServiceChange(object, old) : [], ...validateService(object, old)];
  },
  selectable: ["spec.clusterIP", "spec.type"],
};
