/**
 * Says how the kinds of networking behave: Ingresses, their classes, and NetworkPolicies.
 *
 * ```ts
 * import { NETWORKING } from "./_kinds_networking.ts";
 *
 * console.assert(NETWORKING["ingresses.networking.k8s.io"]?.status);
 * ```
 *
 * @module
 */
import { isWithin, legacyAddress, legacyRange, readLoose } from "./_addresses.ts";
import {
  all,
  causesOf,
  type Check,
  declared,
  each,
  filled,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  portNameRules,
  portNumber,
  portOrName,
  such,
} from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { labelSelector } from "./_label_selectors.ts";
import { validateName } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const GROUP = "networking.k8s.io";
const spec = ({ spec }: Fields): unknown => spec;

const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_RULE =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
  "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', " +
  "regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function hostRules(host = ""): string[] {
  if (!host.includes("*")) return validateName(host, "subdomain");
  return WILDCARD.test(host) ? [] : [WILDCARD_RULE];
}

const HOST: Check = filled(such((host) => [
  ...(readLoose(host) ? ["must be a DNS name, not an IP address"] : []),
  ...hostRules(host),
]));

/** Takes a reference to an object of the same namespace, by group, kind and name. */
const reference: Check = members({
  apiGroup: filled(named("subdomain")),
  kind: neededAnd(named("path")),
  name: neededAnd(named("path")),
});

const servicePort: Check = (service, at, causes) => {
  const { name = "", number = 0 } = service.port ?? {};
  if (name !== "" && number !== 0) causes.push(cause.invalid(at, "", "cannot set both port name & port number"));
  else if (name !== "") such(portNameRules)(name, `${at}.service.port.name`, causes);
  else if (number !== 0) portNumber(number, `${at}.service.port.number`, causes);
  else causes.push(cause.required(at, "port name or number is required"));
};

const backend: Check = (value, at, causes) => {
  const { resource, service } = value ?? {};
  if (resource && service) causes.push(cause.invalid(at, "", "cannot set both resource and service backends"));
  else if (resource) reference(resource, `${at}.resource`, causes);
  else if (!service) causes.push(cause.invalid(at, "", "resource or service backend is required"));
  else {
    neededAnd(named("label"))(service.name, `${at}.service.name`, causes);
    servicePort(service, at, causes);
  }
};

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];

function pathRules(path: string): string[] {
  return [
    ...(path.startsWith("/") ? [] : ["must be an absolute path"]),
    ...["//", "/./", "/../", "%2f", "%2F"].filter((each) => path.includes(each))
      .map((each) => `must not contain '${each}'`),
    ...["/..", "/."].filter((each) => path.endsWith(each)).map((each) => `cannot end with '${each}'`),
  ];
}

const httpPath: Check = (value, at, causes) => {
  const { path = "", pathType } = value ?? {};
  if (!pathType) {
    causes.push(cause.required(`${at}.pathType`, "pathType must be specified"));
    return;
  }
  if (pathType === "ImplementationSpecific") {
    if (path !== "" && !path.startsWith("/")) {
      causes.push(cause.invalid(`${at}.path`, path, "must be an absolute path"));
    }
  } else if (PATH_TYPES.includes(pathType)) such(pathRules)(path, `${at}.path`, causes);
  else causes.push(cause.unsupported(`${at}.pathType`, pathType, PATH_TYPES));
  backend(value.backend, `${at}.backend`, causes);
};

const ingress: Check = (value = {}, at, causes) => {
  if (isEmpty(value.rules) && !value.defaultBackend) {
    causes.push(cause.invalid(at, value.rules ?? null, "either `defaultBackend` or `rules` must be specified"));
  }
  members({
    defaultBackend: given(backend),
    rules: each(members({
      host: HOST,
      http: given(members({ paths: all(neededAnd(each(httpPath))) })),
    })),
    tls: each(members({ hosts: each(such(hostRules)), secretName: filled(named("subdomain")) })),
    ingressClassName: given(named("subdomain")),
  })(value, at, causes);
};

const CLASS = "kubernetes.io/ingress.class";

function validateIngress(object: Fields, old?: Fields): Cause[] {
  const causes = causesOf(ingress, object.spec, "spec");
  const { ingressClassName } = object.spec ?? {};
  const given = object.metadata.annotations?.[CLASS];
  if (!old && given !== undefined && ingressClassName !== undefined && given !== ingressClassName) {
    const why = "must match `ingressClassName` when both are specified";
    causes.push(cause.invalid(`annotations.${CLASS}`, given, why));
  }
  return causes;
}

function ingressWarnings({ metadata, spec }: Fields, old?: Fields): string[] {
  if (old || metadata.annotations?.[CLASS] === undefined || spec?.ingressClassName !== undefined) return [];
  return [`annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}

const STATUS_HOST: Check = filled(such((host) => [
  ...validateName(host, "subdomain"),
  ...(readLoose(host) ? ["must be a DNS name, not an IP address"] : []),
]));

function validateIngressStatus({ status }: Fields, old?: Fields): Cause[] {
  const known = (old?.status?.loadBalancer?.ingress ?? []).map(({ ip }: Fields) => ip);
  const check = each(members({ ip: filled(legacyAddress(known)), hostname: STATUS_HOST }));
  return causesOf(check, status?.loadBalancer?.ingress, "status.loadBalancer.ingress");
}

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const HTTP_PATH_RULE = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

const prefixedPath: Check = (value, at, causes) => {
  const cut = value.indexOf("/");
  const host = value.slice(0, cut), path = value.slice(cut + 1);
  if (cut < 1 || path === "") {
    causes.push(cause.invalid(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    return;
  }
  named("subdomain")(host, at, causes);
  if (!HTTP_PATH.test(path)) causes.push(cause.invalid(at, path, HTTP_PATH_RULE));
};

const parameters: Check = (value, at, causes) => {
  members({
    apiGroup: filled(named("subdomain")),
    kind: all(declared(needed()), filled(named("path"))),
    name: all(declared(needed()), filled(named("path"))),
  })(value, at, causes);
  const { scope, namespace } = value;
  if (scope === undefined) causes.push(cause.required(`${at}.scope`));
  else if (scope === "Namespace") {
    if (namespace !== undefined) named("label")(namespace, `${at}.namespace`, causes);
    else causes.push(cause.required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'"));
  } else if (scope !== "Cluster") causes.push(cause.unsupported(`${at}.scope`, scope, ["Cluster", "Namespace"]));
  else if (namespace !== undefined) {
    causes.push(cause.forbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  }
};

const LONGEST_CONTROLLER = 250;

const ingressClass: Check = members({
  controller: (value = "", at, causes) => {
    if (value.length > LONGEST_CONTROLLER) causes.push(cause.tooLong(at, LONGEST_CONTROLLER));
    neededAnd(prefixedPath)(value, at, causes);
  },
  parameters: given(parameters),
});

const policyPort: Check = (value, at, causes) => {
  const { protocol, port, endPort } = value ?? {};
  oneOf(["TCP", "UDP", "SCTP"])(protocol, `${at}.protocol`, causes);
  const end = (why: string): void => void causes.push(cause.invalid(`${at}.endPort`, endPort, why));
  if (port === undefined) {
    if (endPort !== undefined) end("may not be specified when `port` is not specified");
    return;
  }
  if (typeof port === "string" && endPort !== undefined) end("may not be specified when `port` is non-numeric");
  portOrName(port, `${at}.port`, causes);
  if (typeof port === "string" || endPort === undefined) return;
  if (endPort < port) end("must be greater than or equal to `port`");
  portNumber(endPort, `${at}.endPort`, causes);
};

function block(known: readonly string[]): Check {
  const range = legacyRange(known);
  return (value, at, causes) => {
    const { cidr = "", except = [] } = value;
    if (cidr === "") {
      declared(needed())(cidr, `${at}.cidr`, causes);
      return;
    }
    const before = causes.length;
    range(cidr, `${at}.cidr`, causes);
    if (causes.slice(before).some(({ message }) => message.includes("must be a valid CIDR"))) return;
    for (const [index, each] of except.entries()) {
      const path = `${at}.except[${index}]`, found = causes.length;
      range(each, path, causes);
      if (causes.slice(found).some(({ message }) => message.includes("must be a valid CIDR"))) continue;
      const [inner = "", bits] = each.split("/");
      if (!isWithin(inner, cidr) || Number(cidr.split("/")[1]) >= Number(bits)) {
        causes.push(cause.invalid(path, each, "must be a strict subset of `cidr`"));
      }
    }
  };
}

function peer(known: readonly string[]): Check {
  const check = members({
    podSelector: given(labelSelector),
    namespaceSelector: given(labelSelector),
    ipBlock: given(block(known)),
  });
  return (value, at, causes) => {
    check(value, at, causes);
    const { podSelector, namespaceSelector, ipBlock } = value ?? {};
    const others = [podSelector, namespaceSelector].some((each) => each !== undefined);
    if (!others && ipBlock === undefined) causes.push(cause.required(at, "must specify a peer"));
    else if (others && ipBlock !== undefined) {
      causes.push(cause.forbidden(at, "may not specify both ipBlock and another peer"));
    }
  };
}

const policyTypes: Check = (value = [], at, causes) => {
  if (value.length > 2) causes.push(cause.invalid(at, value, "may not specify more than two policyTypes"));
  else each(oneOf(["Ingress", "Egress"]))(value, at, causes);
};

/** The ranges that a policy names. */
function rangesOf({ ingress = [], egress = [] }: Fields = {}): string[] {
  const peers = [...ingress.flatMap(({ from = [] }: Fields) => from), ...egress.flatMap(({ to = [] }: Fields) => to)];
  return peers.flatMap(({ ipBlock }: Fields) => ipBlock ? [ipBlock.cidr, ...ipBlock.except ?? []] : []);
}

function policy(known: readonly string[]): Check {
  return members({
    podSelector: labelSelector,
    ingress: each(members({ ports: each(policyPort), from: each(peer(known)) })),
    egress: each(members({ ports: each(policyPort), to: each(peer(known)) })),
    policyTypes,
  });
}

/** The behaviours by storage. */
export const NETWORKING: Readonly<Record<string, Behaviour>> = {
  [`networkpolicies.${GROUP}`]: {
    desired: spec,
    validate: (object, _apiVersion, _subresource, old) => causesOf(policy(rangesOf(old?.spec)), object.spec, "spec"),
  },
  [`ingresses.${GROUP}`]: {
    status: true,
    desired: spec,
    prepareCreate: (object) => {
      object.status = { loadBalancer: {} };
    },
    warnings: ingressWarnings,
    validate: (object, _apiVersion, subresource, old) =>
      subresource === "status" ? validateIngressStatus(object, old) : validateIngress(object, old),
  },
  [`ingressclasses.${GROUP}`]: {
    desired: spec,
    validateUpdate: ({ spec }, { spec: old }) =>
      spec?.controller === old.controller
        ? []
        : [cause.invalid("spec.controller", spec?.controller ?? "", "field is immutable")],
    validate: (object) => causesOf(ingressClass, object.spec, "spec"),
  },
};
