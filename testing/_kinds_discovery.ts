/**
 * Says how Endpoints and EndpointSlices behave.
 *
 * ```ts
 * import { DISCOVERY } from "./_kinds_discovery.ts";
 *
 * console.assert(DISCOVERY.endpoints !== undefined);
 * ```
 *
 * @module
 */
import { addressWarning, endpointAddress, familyOf, legacyAddress, strictAddress } from "./_addresses.ts";
import {
  all,
  causesOf,
  type Check,
  declared,
  each,
  emptyToNull,
  fixedByType,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  portNumber,
  qualifiedName,
  such,
} from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { validateLabels, validateLabelValue, validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

const subsetAddress: Check = members({
  ip: (value, at, causes) => legacyAddress()(value ?? "", at, causes),
  hostname: (value, at, causes) => value ? named("label")(value, at, causes) : undefined,
  nodeName: given(named("subdomain")),
});

const subsetAddresses: Check = each((value, at, causes) => {
  subsetAddress(value, at, causes);
  endpointAddress(value.ip ?? "", `${at}.ip`, causes);
});

function subsetPort(namedOnes: boolean): Check {
  return members({
    name: (value = "", at, causes) => {
      if (value !== "") named("label")(value, at, causes);
      else if (namedOnes) causes.push(cause.required(at));
    },
    port: (value, at, causes) => portNumber(value ?? 0, at, causes),
    protocol: neededAnd(oneOf(PROTOCOLS)),
    appProtocol: given(qualifiedName),
  });
}

const subsets: Check = each((value, at, causes) => {
  if (isEmpty(value.addresses) && isEmpty(value.notReadyAddresses)) {
    causes.push(cause.required(at, "must specify `addresses` or `notReadyAddresses`"));
  }
  subsetAddresses(value.addresses, `${at}.addresses`, causes);
  subsetAddresses(value.notReadyAddresses, `${at}.notReadyAddresses`, causes);
  each(subsetPort(value.ports?.length > 1))(value.ports, `${at}.ports`, causes);
});

/** What was wrong before may stay, as long as it does not change. */
function unlessKept(check: Check, object: Fields, old: Fields | undefined, name: string): Cause[] {
  const causes = causesOf(check, object[name], name);
  return causes.length > 0 && old && equal(old[name], object[name]) ? [] : causes;
}

const MAX = { addresses: 100, ports: 20_000, endpoints: 1000, topology: 16, hints: 8 };

function domainRules(name: string): string | undefined {
  const bare = name.replace(/\.$/, "");
  const wrong = validateName(bare, "subdomain");
  if (wrong.length > 0) return wrong.join(",");
  return bare.includes(".") ? undefined : "should be a domain with at least two segments separated by dots";
}

/** Takes an address of one family. */
function ofFamily(family: "IPv4" | "IPv6", format: Check): Check {
  return (value, at, causes) => {
    const before = causes.length;
    format(value, at, causes);
    if (causes.length > before) return;
    const list = at.replace(/\[\d+\]$/, "");
    if (familyOf(value) !== family) causes.push(cause.invalid(list, value, `must be an ${family} address`));
    endpointAddress(value, at, causes);
  };
}

const ADDRESS: Readonly<Record<string, Check>> = {
  IPv4: ofFamily("IPv4", legacyAddress()),
  IPv6: ofFamily("IPv6", strictAddress),
  FQDN: neededAnd(such(domainRules)),
};

const endpoint = (type: string): Check =>
  all(
    members({
      addresses: (value = [], at, causes) => {
        declared(needed())(value, at, causes);
        if (value.length > MAX.addresses) {
          causes.push({ ...cause.tooMany(at, value.length, MAX.addresses), late: true });
        }
        if (ADDRESS[type]) each(ADDRESS[type])(value, at, causes);
      },
      nodeName: given(named("subdomain")),
      deprecatedTopology: (value = {}, at, causes) => {
        const size = Object.keys(value).length;
        if (size > MAX.topology) causes.push(cause.tooMany(at, size, MAX.topology));
        causes.push(...validateLabels(value, at));
      },
      hostname: given(named("label")),
      hints: members({
        forZones: hints(validateLabelValue),
        forNodes: hints((name) => validateName(name, "subdomain")),
      }),
    }),
  );

function hints(rules: (name: string) => string[]): Check {
  return (value = [], at, causes) => {
    if (value.length > MAX.hints) {
      causes.push(cause.tooMany(at, value.length, MAX.hints));
      return;
    }
    const seen = new Set<string>();
    for (const [index, { name = "" }] of value.entries()) {
      const path = `${at}[${index}].name`;
      if (seen.has(name)) causes.push(cause.duplicate(path, name));
      seen.add(name);
      such(rules)(name, path, causes);
    }
  };
}

const endpoints = (type: string): Check => (value = [], at, causes) => {
  if (value.length > MAX.endpoints) causes.push(cause.tooMany(at, value.length, MAX.endpoints));
  else each(endpoint(type))(value, at, causes);
};

const slicePorts: Check = (value = [], at, causes) => {
  if (value.length > MAX.ports) {
    causes.push(cause.tooMany(at, value.length, MAX.ports));
    return;
  }
  const seen = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of value.entries()) {
    const path = `${at}[${index}]`;
    if (name !== "") named("label")(name, `${path}.name`, causes);
    if (seen.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
    seen.add(name);
    neededAnd(oneOf(PROTOCOLS))(protocol, `${path}.protocol`, causes);
    if (appProtocol !== undefined) qualifiedName(appProtocol, `${path}.appProtocol`, causes);
  }
};

function validateSlice(object: Fields, old?: Fields): Cause[] {
  const { addressType = "" } = object;
  return [
    ...causesOf(declared(neededAnd(oneOf(["FQDN", "IPv4", "IPv6"]))), addressType, "addressType"),
    ...causesOf(slicePorts, object.ports, "ports"),
    ...unlessKept(endpoints(addressType), object, old, "endpoints"),
    ...old ? fixedByType(object, old, ["addressType"]) : [],
  ];
}

const CONTROLLERS = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

function sliceWarnings({ metadata, addressType, endpoints = [] }: Fields, old?: Fields): string[] {
  const warnings = !old && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
  if (CONTROLLERS.includes(metadata.labels?.["endpointslice.kubernetes.io/managed-by"])) return warnings;
  for (const [index, { addresses = [] }] of (endpoints ?? []).entries()) {
    for (const [number, each] of addresses.entries()) {
      warnings.push(...addressWarning(`endpoints[${index}].addresses[${number}]`, each));
    }
  }
  return warnings;
}

function prepareSlice(object: Fields): void {
  emptyToNull(object, "endpoints", "ports");
  for (const each of object.endpoints ?? []) delete each.deprecatedTopology;
}

/** The behaviours by storage. */
export const DISCOVERY: Readonly<Record<string, Behaviour>> = {
  endpoints: {
    createOnUpdate: true,
    validate: (object, _apiVersion, _subresource, old) => unlessKept(subsets, object, old, "subsets"),
  },
  "endpointslices.discovery.k8s.io": {
    desired: ({ metadata, ...rest }) => [rest, metadata.labels ?? {}],
    prepareCreate: prepareSlice,
    prepareUpdate: prepareSlice,
    warnings: sliceWarnings,
    validate: (object, _apiVersion, _subresource, old) => validateSlice(object, old),
  },
};
