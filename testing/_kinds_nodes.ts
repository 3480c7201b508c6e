/**
 * Says how Nodes behave.
 *
 * ```ts
 * import { NODES } from "./_kinds_nodes.ts";
 *
 * console.assert(NODES.selectable?.includes("spec.unschedulable"));
 * ```
 *
 * @module
 */
import { familyOf, legacyRange } from "./_addresses.ts";
import { causesOf, type Check, each, neededAnd, oneOf } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { labelKey } from "./_label_selectors.ts";
import { validateLabelValue } from "./_metadata.ts";
import { equal, type Fields, isObject } from "./_objects.ts";
import { quantityValue } from "./_quantity.ts";
import { type Cause, cause } from "./_status.ts";

const FEATURE = /^[A-Z][A-Za-z0-9]*(\/[A-Za-z][A-Za-z0-9]*)*$/;
const FEATURE_RULE =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or " +
  "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const NOT_READY = "node.kubernetes.io/not-ready";

const taints: Check = (value = [], at, causes) => {
  for (const [index, taint] of (value as Fields[]).entries()) {
    const path = `${at}[${index}]`;
    const { key = "", value: text = "", effect = "" } = taint;
    labelKey(key, `${path}.key`, causes);
    const wrong = validateLabelValue(text);
    if (wrong.length > 0) causes.push(cause.invalid(`${path}.value`, text, wrong.join(";")));
    neededAnd(oneOf(EFFECTS))(effect, `${path}.effect`, causes);
    const twice = (value as Fields[]).findIndex((each) => each.effect === taint.effect && each.key === taint.key);
    if (twice < index) {
      const { message, ...rest } = cause.duplicate(path, {
        Key: key,
        Value: text,
        Effect: effect,
        TimeAdded: taint.timeAdded ?? null,
      });
      causes.push({ ...rest, message: `${message}: taints must be unique by key and effect pair` });
    }
  }
};

function checkRanges(ranges: readonly string[]): Cause[] {
  const at = "spec.podCIDRs";
  const causes = causesOf(each(legacyRange()), ranges, at);
  if (ranges.length < 2) return causes;
  const families = new Set(ranges.map((each) => familyOf(each.split("/")[0]!)));
  if (families.size < 2 || ranges.length > 2) {
    causes.push(cause.invalid(at, ranges, "may specify no more than one CIDR for each IP family"));
  }
  return causes;
}

function checkQuantities(status: Fields = {}): Cause[] {
  const causes: Cause[] = [];
  for (const list of ["capacity", "allocatable"]) {
    for (const [name, amount] of Object.entries(status[list] ?? {})) {
      const at = `status.${list}.${name}`;
      if (String(amount).startsWith("-")) {
        causes.push(cause.invalid(at, amount, "must be greater than or equal to 0"));
      } else if (name.includes("/") && !Number.isInteger(quantityValue(String(amount)))) {
        causes.push(cause.invalid(at, amount, "must be an integer"));
      }
    }
  }
  return causes;
}

const features: Check = (value = [], at, causes) => {
  for (const [index, name] of value.entries()) {
    const path = `${at}[${index}]`;
    if (index > 0 && name <= value[index - 1]) {
      causes.push(cause.invalid(path, name, "list must be sorted alphabetically"));
    }
    const why = `invalid feature name ${JSON.stringify(name)}: ${FEATURE_RULE}`;
    if (!FEATURE.test(name)) causes.push(cause.invalid(path, name, why));
  }
};

function validate({ spec = {}, status }: Fields): Cause[] {
  return [
    ...causesOf(taints, spec.taints, "metadata.taints"),
    ...checkQuantities(status),
    ...causesOf(features, status?.declaredFeatures, "status.declaredFeatures"),
    ...checkRanges(spec.podCIDRs ?? []),
  ];
}

function validateChange({ spec = {}, status }: Fields, old: Fields): Cause[] {
  const causes = checkQuantities(status);
  features(status?.declaredFeatures, "status.declaredFeatures", causes);
  const addresses: Fields[] = status?.addresses ?? [];
  for (const [index, address] of addresses.entries()) {
    const known = addresses.slice(0, index).some((each) => equal(each, address));
    const { type: Type = "", address: Address = "" } = address;
    if (known) causes.push(cause.duplicate(`status.addresses[${index}]`, { Type, Address }));
  }
  const before: string[] = old.spec?.podCIDRs ?? [], now: string[] = spec.podCIDRs ?? [];
  if (before.length > 0) {
    const changes = before.length === now.length ? before.filter((each, index) => each !== now[index]).length : 1;
    for (let index = 0; index < changes; index++) {
      const why = 'node updates may not change podCIDR except from "" to valid';
      causes.push(cause.forbidden("spec.podCIDRs", why));
    }
  }
  causes.push(...causesOf(taints, spec.taints, "metadata.taints"));
  const { providerID: id = "" } = spec, { providerID: earlier = "" } = old.spec ?? {};
  if (earlier !== "" && id !== earlier) {
    const how = id === "" ? "cleared" : "modified";
    causes.push({ ...cause.invalid("spec.providerID", null, `field cannot be ${how} once set`), late: true });
  }
  if ((spec.externalID ?? "") !== (old.spec?.externalID ?? "")) {
    causes.push(cause.forbidden("spec.externalID", "may not be updated"));
  }
  return causes;
}

/** Keeps the one range and the list of ranges in step. */
function alignRanges(spec: Fields | undefined): void {
  if (!isObject(spec)) return;
  const { podCIDR, podCIDRs } = spec;
  if (podCIDR && podCIDRs?.[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  if (!podCIDR && podCIDRs?.length) spec.podCIDR = podCIDRs[0];
}

/** The behaviour. */
export const NODES: Behaviour = {
  status: true,
  keepsStatus: true,
  defaults: (object) => {
    const { status, spec } = object;
    if (isObject(status?.capacity)) status.allocatable ??= { ...status.capacity };
    alignRanges(spec);
  },
  prepareCreate: (object) => {
    const taints: Fields[] = object.spec?.taints ?? [];
    if (!taints.some((each) => each.key === NOT_READY)) taints.push({ key: NOT_READY, effect: "NoSchedule" });
    object.spec = { ...object.spec, taints };
  },
  prepareUpdate: ({ spec }) => {
    if (spec) delete spec.configSource;
  },
  warnings: ({ spec = {} }) => [
    ...(spec.externalID ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] : []),
  ],
  validate: (object, _apiVersion, _subresource, old) => old ? validateChange(object, old) : validate(object),
  selectable: ["spec.unschedulable"],
  selectDefaults: { "spec.unschedulable": "false" },
};
