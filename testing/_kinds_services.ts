/**
 * Says how Services behave: ports, cluster IPs and node ports.
 *
 * ```ts
 * import { SERVICES } from "./_kinds_services.ts";
 *
 * console.assert(SERVICES.returnsDeleted);
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import type { Behaviour } from "./_kind.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PORT_RULE = "must be between 1 and 65535, inclusive";

function isPort(value: unknown): boolean {
  return typeof value !== "number" || (value >= 1 && value <= 65535);
}

function validate({ spec }: Fields): Cause[] {
  const causes: Cause[] = [];
  const { ports = [], type, clusterIP, externalName } = spec ?? {};
  if (ports.length === 0 && clusterIP !== "None" && type !== "ExternalName") causes.push(cause.required("spec.ports"));
  if (type === "ExternalName" && !externalName) causes.push(cause.required("spec.externalName"));
  const names = new Set<string>();
  for (const [index, port] of (ports as Fields[]).entries()) {
    const at = `spec.ports[${index}]`;
    if (ports.length > 1 && !port.name) causes.push(cause.required(`${at}.name`));
    else if (port.name) {
      if (names.has(port.name)) causes.push(cause.duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (!isPort(port.port)) causes.push(cause.invalid(`${at}.port`, port.port, PORT_RULE));
    if (!isPort(port.targetPort)) causes.push(cause.invalid(`${at}.targetPort`, port.targetPort, PORT_RULE));
  }
  if (!TYPES.includes(type)) causes.push(cause.unsupported("spec.type", type, TYPES));
  return causes;
}

function used(server: Ground, read: (spec: Fields) => unknown[]): Set<unknown> {
  const found = new Set<unknown>();
  for (const { object } of server.store.collection("services").list()) {
    for (const each of read(object.spec ?? {})) found.add(each);
  }
  return found;
}

/** Takes back what only services that are reached from outside have, if it was the server that gave it. */
function withdraw(spec: Fields, old: Fields): void {
  const outside = (type: string): boolean => type === "NodePort" || type === "LoadBalancer";
  if (outside(spec.type) || !outside(old.type)) return;
  if (spec.externalTrafficPolicy === old.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  for (const [index, port] of (spec.ports ?? []).entries()) {
    if (port.nodePort === old.ports?.[index]?.nodePort) delete port.nodePort;
  }
}

function allocate(object: Fields, server: Ground, old?: Fields): void {
  const { spec } = object;
  if (spec.type === "ExternalName") return;
  if (spec.clusterIP === undefined) {
    if (old?.spec?.clusterIP) {
      for (const member of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
        if (old.spec[member] !== undefined) spec[member] ??= old.spec[member];
      }
    } else {
      const taken = used(server, ({ clusterIPs = [] }) => clusterIPs);
      let number = 10;
      while (taken.has(address(number))) number++;
      spec.clusterIP = address(number);
    }
  }
  spec.clusterIPs ??= [spec.clusterIP];
  spec.ipFamilies ??= ["IPv4"];
  spec.ipFamilyPolicy ??= "SingleStack";
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return;
  const taken = used(server, ({ ports = [] }) => ports.map(({ nodePort }: Fields) => nodePort));
  let next = 30000;
  for (const [index, port] of (spec.ports ?? []).entries()) {
    port.nodePort ??= old?.spec?.ports?.[index]?.nodePort;
    if (port.nodePort !== undefined) continue;
    while (taken.has(next)) next++;
    port.nodePort = next++;
  }
}

function address(number: number): string {
  return `10.0.${number >> 8}.${number & 255}`;
}

/** The behaviour. */
export const SERVICES: Behaviour = {
  status: true,
  returnsDeleted: true,
  names: "label",
  prepareCreate: (object) => {
    object.status = { loadBalancer: {} };
  },
  prepareUpdate: ({ spec }, old) => withdraw(spec, old.spec),
  validate,
  validateUpdate: ({ spec }, { spec: old }) =>
    old.type !== "ExternalName" && spec.type !== "ExternalName" && spec.clusterIP !== undefined &&
      old.clusterIP !== undefined && spec.clusterIP !== old.clusterIP
      ? [cause.invalid("spec.clusterIPs[0]", [spec.clusterIP], "may not change once set")]
      : [],
  allocate,
  selectable: ["spec.clusterIP", "spec.type"],
};
