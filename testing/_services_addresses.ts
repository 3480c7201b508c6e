/**
 * Gives Services their cluster IPs and families of addresses, of a cluster of IPv4 alone.
 *
 * ```ts
 * import { isHeadless } from "./_services_addresses.ts";
 *
 * console.assert(isHeadless({ clusterIPs: ["None"] }));
 * ```
 *
 * @module
 */
import { familyOf, isWithin, legacyAddress } from "./_addresses.ts";
import { isEmpty, oneOf } from "./_checks.ts";
import type { Ground } from "./_kind.ts";
import { equal, type Fields } from "./_objects.ts";
import { takenBy } from "./_services_taken.ts";
import { type Cause, cause, invalid, type StatusError } from "./_status.ts";

/** The addresses that may be asked for. */
export const SERVICE_RANGE = "10.0.0.0/24";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** True for a Service without an address of its own. */
export function isHeadless({ clusterIPs }: Fields): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === "None";
}

/** Refuses a Service outright. */
export function refuse(name: string, causes: readonly Cause[]): StatusError {
  return invalid({ group: "", kind: "Service" }, name, causes);
}

/** Keeps `clusterIP` and `clusterIPs` in step, as the one of them that was written says. */
function normalize(spec: Fields, old?: Fields): void {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (!old) {
    if (clusterIP !== "" && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  const before: string[] = old.clusterIPs ?? [];
  const first: string = old.clusterIP ?? "";
  if (before.length > 0 && clusterIPs.length === 0 && first === clusterIP) spec.clusterIPs = before;
  if (first === clusterIP || !equal(before, spec.clusterIPs ?? [])) return;
  if (first !== "" && clusterIP === "") delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}

/** What is wrong with the addresses and families of a Service. */
export function checkAddresses(spec: Fields, old?: Fields): Cause[] {
  if (spec.type === "ExternalName") return [];
  const causes: Cause[] = [];
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const at = "spec.clusterIPs";
  if (clusterIP !== "") {
    if (clusterIPs.length === 0) causes.push(cause.required(at));
    else if (clusterIPs[0] !== clusterIP) {
      causes.push(cause.invalid(at, clusterIPs, "first value must match `clusterIP`"));
    }
  } else if (clusterIPs.length > 0) {
    causes.push(cause.invalid(at, clusterIPs, "must be empty when `clusterIP` is not specified"));
  }
  for (const [index, family] of ipFamilies.entries()) {
    oneOf(FAMILIES)(family, `spec.ipFamilies[${index}]`, causes);
    if (ipFamilies.indexOf(family) < index) causes.push(cause.duplicate(`spec.ipFamilies[${index}]`, family));
  }
  oneOf(POLICIES)(ipFamilyPolicy, "spec.ipFamilyPolicy", causes);
  const before = causes.length;
  let wrong = false;
  for (const [index, address] of clusterIPs.entries()) {
    if (index === 0 && address === "None") {
      if (clusterIPs.length === 1) continue;
      wrong = true;
      causes.push(cause.invalid(at, clusterIPs, "'None' must be the first and only value"));
    } else legacyAddress(old?.clusterIPs)(address, `${at}[${index}]`, causes);
  }
  wrong ||= causes.length > before;
  if (clusterIPs.length > 2) causes.push(cause.invalid(at, clusterIPs, "may only hold up to 2 values"));
  if (wrong) return causes;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2) {
    causes.push(cause.invalid(at, clusterIPs, "may specify no more than one IP for each IP family"));
  }
  if (isHeadless(spec)) return causes;
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined) break;
    if (!FAMILIES.includes(family) || familyOf(address) === family) continue;
    const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    causes.push(cause.invalid(`${at}[${index}]`, address, why));
  }
  return causes;
}

/** Takes back the second address and family of a Service that is to have one. */
function reduce(spec: Fields, old: Fields): Cause[] {
  const parts = [["clusterIPs", "cluster IP"], ["ipFamilies", "IP family"]] as const;
  const causes: Cause[] = [];
  for (const [name, what] of parts) {
    const list: string[] = spec[name] ?? [], before: string[] = old[name] ?? [];
    if (spec.ipFamilyPolicy === "SingleStack") {
      if (equal(list, before) && list.length > 1) spec[name] = list.slice(0, 1);
    } else if (list.length > 0 && list.length < before.length) {
      const why = `must be 'SingleStack' to release the secondary ${what}`;
      causes.push(cause.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why));
    }
  }
  return causes;
}

function checkStack({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: Fields): Cause[] {
  if (ipFamilyPolicy !== "SingleStack") return [];
  const why = (what: string): string =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  const field = "spec.ipFamilyPolicy";
  return [
    ...(clusterIPs.length === 2 ? [cause.invalid(field, ipFamilyPolicy, why("cluster IPs"))] : []),
    ...(ipFamilies.length === 2 ? [cause.invalid(field, ipFamilyPolicy, why("IP families"))] : []),
  ];
}

/** Concludes families from addresses. */
function infer(spec: Fields): Cause[] {
  const causes: Cause[] = [];
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    if (address === "None") break;
    if (index < (spec.ipFamilies ?? []).length) continue;
    const family = familyOf(address);
    if (family === "IPv4") spec.ipFamilies = [...spec.ipFamilies ?? [], family];
    else {
      const why = `${family} is not configured on this cluster`;
      causes.push(cause.invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, why));
    }
  }
  return causes;
}

/** Fills in families and policy; answers with what cannot be. */
function settle(spec: Fields, old?: Fields): Cause[] {
  const free = spec.clusterIP === "None" && isEmpty(spec.selector);
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (free ? "RequireDualStack" : "SingleStack");
  let causes = checkAddresses(spec, old);
  if (causes.length > 0) return causes;
  causes = [...(old ? reduce(spec, old) : []), ...checkStack(spec), ...infer(spec)];
  if (causes.length > 0) return causes;
  const families: string[] = spec.ipFamilies ?? [];
  if (free) {
    const [first = "IPv4"] = families;
    const both = families.length > 1 || spec.ipFamilyPolicy === "SingleStack";
    spec.ipFamilies = both && families.length > 0 ? families : [first];
    if (!both) spec.ipFamilies.push(first === "IPv4" ? "IPv6" : "IPv4");
    return [];
  }
  if (spec.ipFamilyPolicy === "RequireDualStack") {
    const why = "this cluster is not configured for dual-stack services";
    causes.push(cause.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why));
  }
  for (const [index, family] of families.entries()) {
    if (family === "IPv4") continue;
    causes.push(cause.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster"));
  }
  if (families.length === 0) spec.ipFamilies = ["IPv4"];
  return causes;
}

function claim(name: string, spec: Fields, server: Ground): void {
  const [asked] = spec.clusterIPs ?? [];
  if (asked === "None") return;
  const { addresses } = takenBy(server);
  if (asked !== undefined) {
    const edge = asked === "10.0.0.0" || asked === "10.0.0.255";
    const why = isWithin(asked, SERVICE_RANGE) && !edge
      ? addresses.has(asked) ? "provided IP is already allocated" : undefined
      : `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${SERVICE_RANGE}`;
    if (why === undefined) return;
    const text = `failed to allocate IP ${asked}: ${why}`;
    throw refuse(name, [cause.invalid("spec.clusterIPs", spec.clusterIPs, text)]);
  }
  spec.clusterIP = addresses.next();
  spec.clusterIPs = [spec.clusterIP];
}

function isSettled(spec: Fields, old: Fields): boolean {
  return spec.type === old.type && [spec, old].every(({ ipFamilyPolicy }) => ipFamilyPolicy === "PreferDualStack") &&
    equal(spec.clusterIPs, old.clusterIPs) && equal(spec.ipFamilies, old.ipFamilies);
}

/** Gives a Service its addresses; refuses what it cannot have. */
export function allocateAddresses({ metadata, spec }: Fields, server: Ground, previous?: Fields): void {
  const old: Fields | undefined = previous?.spec;
  const external = spec.type === "ExternalName";
  if (old && !external && old.type !== "ExternalName") {
    spec.clusterIP ||= old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = old.clusterIPs;
  }
  normalize(spec, old);
  if (external || old && isSettled(spec, old)) return;
  const causes = settle(spec, old);
  if (causes.length > 0) throw refuse(metadata.name ?? "", causes);
  if (!old || old.type === "ExternalName") claim(metadata.name ?? "", spec, server);
}

/** What is wrong with a change of addresses and families. */
export function checkAddressChange(spec: Fields, old: Fields): Cause[] {
  if (spec.type === "ExternalName" || old.type === "ExternalName") return [];
  const headless = isHeadless(spec), wasHeadless = isHeadless(old);
  if (headless && wasHeadless) return [];
  return [
    ...changed(spec, old, "clusterIPs", "clusterIP"),
    ...(headless === wasHeadless ? changed(spec, old, "ipFamilies", "ipFamily") : []),
  ];
}

function changed(spec: Fields, old: Fields, name: "clusterIPs" | "ipFamilies", what: string): Cause[] {
  const causes: Cause[] = [];
  const list: string[] = spec[name] ?? [], before: string[] = old[name] ?? [];
  const tell = (why: string, at = 0): void => void causes.push(cause.invalid(`spec.${name}[${at}]`, list, why));
  if (list.length === before.length) {
    for (const [index, value] of before.entries()) {
      if (value !== list[index]) tell("may not change once set", name === "clusterIPs" ? index : 0);
    }
    return causes;
  }
  const less = list.length < before.length;
  if (less && list.length === 0) tell(`primary ${what} can not be unset`);
  if (list.length > 0 && before.length > 0 && list[0] !== before[0]) tell("may not change once set");
  if (less && list.length === 1 && spec.ipFamilyPolicy !== "SingleStack") {
    const why = `must be set to 'SingleStack' when releasing the secondary ${what}`;
    causes.push(cause.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why));
  }
  return causes;
}
