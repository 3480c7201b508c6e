/**
 * Says whether the service that an APIService leads to is there: it never answers, as nothing runs behind services.
 *
 * ```ts
 * import { availability } from "./_services_available.ts";
 * import { Store } from "./_store.ts";
 *
 * const spec = { group: "a.example.com", version: "v1", service: { namespace: "default", name: "a", port: 443 } };
 * console.assert(availability(new Store(), spec).reason === "ServiceNotFound");
 * ```
 *
 * @module
 */
import type { Availability } from "./_kinds_registration.ts";
import type { Fields } from "./_objects.ts";
import type { Store } from "./_store.ts";

const SERVICE_NAME = "kubernetes.io/service-name";

/** True if a part of a service's endpoints has an address, and the port by this name. */
function reaches({ endpoints, ports }: Fields, portName: string): boolean {
  const ready = (endpoints ?? []).some(({ conditions }: Fields) => conditions?.ready !== false);
  return ready && (ports ?? []).some(({ name = "", port }: Fields) => name === portName && port !== undefined);
}

/** What is said of an APIService with a service. */
export function availability(store: Store, spec: Fields): Availability {
  const { namespace, name, port } = spec.service;
  const where = `service/${name} in "${namespace}"`;
  const missing = (reason: string, message: string): Availability => ({ status: "False", reason, message });
  const service = store.collection("services").get(namespace, name)?.object.spec;
  if (!service) return missing("ServiceNotFound", `${where} is not present`);
  if (service.type === "ClusterIP") {
    const found = (service.ports ?? []).find((each: Fields) => each.port === port);
    if (!found) return missing("ServicePortError", `${where} is not listening on port ${port}`);
    const slices = store.collection("endpointslices.discovery.k8s.io").list({ namespace })
      .filter(({ labels }) => labels?.[SERVICE_NAME] === name);
    if (slices.length === 0) return missing("EndpointsNotFound", `cannot find endpointslices for ${where}`);
    const { name: portName = "" } = found;
    if (!slices.some(({ object }) => reaches(object, portName))) {
      const why = `endpointslices for ${where} have no addresses with port name "${portName}"`;
      return missing("MissingEndpoints", why);
    }
  }
  const host = service.type === "ExternalName" ? service.externalName : service.clusterIP;
  const url = `https://${host}:${port}/apis/${spec.group}/${spec.version}`;
  const why = `Get "${url}": dial tcp ${host}:${port}: connect: connection refused`;
  return missing("FailedDiscoveryCheck", `failing or missing response from ${url}: ${why}`);
}
