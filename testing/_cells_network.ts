/**
 * Prints the cells of services and of what else is of the network.
 *
 * ```ts
 * import { NETWORK_CELLS } from "./_cells_network.ts";
 *
 * console.assert("v1 services" in NETWORK_CELLS);
 * ```
 *
 * @module
 */
import { type Cells, labelsText, NONE, selectorText, shortened, UNSET } from "./_cells_kit.ts";
import type { Fields } from "./_objects.ts";

/** How many hosts, ports and addresses a cell shows. */
const MOST = 3;

function ports(list: Fields[] | undefined): string {
  const texts = (list ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
  );
  return texts.join(",") || NONE;
}

function balanced({ status = {} }: Fields): string[] {
  const found = (status.loadBalancer?.ingress ?? []).map((each: Fields) => each.ip || each.hostname);
  return [...new Set<string>(found.filter((each: string) => each))].sort();
}

function externalIp(object: Fields): string {
  const { type, externalName, externalIPs = [] } = object.spec ?? {};
  if (type === "ExternalName") return externalName;
  if (type === "LoadBalancer") return [...balanced(object), ...externalIPs].join(",") || "<pending>";
  return externalIPs.join(",") || NONE;
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function endpoints(subsets: Fields[] | undefined): string {
  if (!subsets?.length) return NONE;
  const texts = subsets.flatMap(({ addresses = [], ports: list = [] }) =>
    list.length === 0
      ? addresses.map(({ ip }: Fields) => ip)
      : list.flatMap(({ port }: Fields) => addresses.map(({ ip }: Fields) => hostPort(ip, port)))
  );
  return shortened(texts, MOST);
}

function hosts(rules: Fields[] | undefined): string {
  const texts: string[] = [];
  let more = false;
  for (const { host } of rules ?? []) {
    if (texts.length === MOST) more = true;
    else if (host) texts.push(host);
  }
  const shown = texts.join(",") || "*";
  return more ? `${shown} + ${rules!.length - MOST} more...` : shown;
}

/** The cells by apiVersion and plural. */
export const NETWORK_CELLS: Readonly<Record<string, Cells>> = {
  "v1 services": (object, { age }) => {
    const { metadata, spec = {} } = object;
    return [
      metadata.name,
      spec.type ?? "",
      spec.clusterIPs?.[0] || spec.clusterIP || NONE,
      externalIp(object),
      ports(spec.ports),
      age,
      labelsText(spec.selector),
    ];
  },
  "v1 endpoints": ({ metadata, subsets }, { age }) => [metadata.name, endpoints(subsets), age],
  "discovery.k8s.io/v1 endpointslices": ({ metadata, addressType, ports: list, endpoints: found }, { age }) => {
    const numbers = (list ?? []).map(({ port, name }: Fields) => String(port ?? (name || "*")));
    const addresses = (found ?? []).flatMap((each: Fields) => each.addresses ?? []);
    return [
      metadata.name,
      addressType ?? "",
      shortened(numbers, MOST) || UNSET,
      shortened(addresses, MOST) || UNSET,
      age,
    ];
  },
  "networking.k8s.io/v1 ingresses": (object, { age }) => {
    const { metadata, spec = {} } = object;
    return [
      metadata.name,
      spec.ingressClassName ?? NONE,
      hosts(spec.rules),
      balanced(object).join(","),
      spec.tls?.length ? "80, 443" : "80",
      age,
    ];
  },
  "networking.k8s.io/v1 ingressclasses": ({ metadata, spec = {} }, { age }) => {
    const { parameters } = spec;
    const group = parameters?.apiGroup ? `.${parameters.apiGroup}` : "";
    const shown = parameters ? `${parameters.kind}${group}/${parameters.name}` : NONE;
    return [metadata.name, spec.controller ?? "", shown, age];
  },
  "networking.k8s.io/v1 networkpolicies": ({ metadata, spec }, { age }) => [
    metadata.name,
    selectorText(spec?.podSelector),
    age,
  ],
};
