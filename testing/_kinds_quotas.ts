/**
 * Says how ResourceQuotas and LimitRanges behave.
 *
 * ```ts
 * import { QUOTAS } from "./_kinds_quotas.ts";
 *
 * console.assert(QUOTAS.resourcequotas?.status);
 * ```
 *
 * @module
 */
import { emptyToNull, isEmpty } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { validateQualified } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { isExtended, isStandardResource, nanosOf, resourceName, resourceValue, written } from "./_pods_resources.ts";
import { type Cause, cause } from "./_status.ts";

const SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];
const CONFLICTS = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
const PODS_ALONE = ["pods"];
const SCOPED = ["pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];
const EXISTS_ONLY = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, " +
  "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or " +
  "ResourceQuotaScopeCrossNamespacePodAffinity";

function amounts(map: Fields | undefined, at: string): Cause[] {
  return Object.entries(map ?? {}).flatMap(([name, quantity]) => {
    const path = `${at}[${name}]`;
    const causes = resourceName(name, path);
    if (!name.includes("/") && !isStandardResource(name)) {
      causes.push(cause.invalid(path, name, "must be a standard resource for quota"));
    }
    return [...causes, ...resourceValue(name, quantity, path)];
  });
}

function scopes({ hard = {}, scopes: list = [] }: Fields): Cause[] {
  const causes: Cause[] = [];
  const refuse = (why: string) => causes.push(cause.invalid("spec.scopes", list, why));
  for (const scope of list as string[]) {
    if (!SCOPES.includes(scope)) refuse("unsupported scope");
    const known = scope === "BestEffort" ? PODS_ALONE : SCOPED;
    for (const name of Object.keys(hard)) {
      if (SCOPES.indexOf(scope) < 4 && isStandardResource(name) && SCOPES.includes(scope) && !known.includes(name)) {
        refuse("unsupported scope applied to resource");
      }
    }
  }
  if (CONFLICTS.some((pair) => pair.every((each) => list.includes(each)))) refuse("conflicting scopes");
  return causes;
}

function scopeSelector({ scopeSelector: selector }: Fields): Cause[] {
  const causes: Cause[] = [];
  const at = "spec.scopeSelector.matchExpressions";
  for (const { scopeName = "", operator = "", values = [] } of (selector?.matchExpressions ?? []) as Fields[]) {
    if (!SCOPES.includes(scopeName)) causes.push(cause.invalid(`${at}.scopeName`, scopeName, "unsupported scope"));
    if (SCOPES.includes(scopeName) && !/Class$/.test(scopeName) && operator !== "Exists") {
      causes.push(cause.invalid(`${at}.operator`, operator, EXISTS_ONLY));
    }
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0) {
        const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
        causes.push(cause.required(`${at}.values`, why));
      }
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0) {
        const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
        causes.push(cause.invalid(`${at}.values`, values, why));
      }
    } else causes.push(cause.invalid(`${at}.operator`, operator, "not a valid selector operator"));
  }
  return causes;
}

function validateQuota({ spec = {}, status = {} }: Fields, subresource: string): Cause[] {
  if (subresource === "status") return [...amounts(status.hard, "status.hard"), ...amounts(status.used, "status.used")];
  return [...amounts(spec.hard, "spec.hard"), ...scopes(spec), ...scopeSelector(spec)];
}

const TYPES = ["Pod", "Container", "PersistentVolumeClaim"];
const CONTAINER = ["cpu", "memory", "ephemeral-storage"];
const SIDES = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

function limitNames(limit: Fields, at: string): Cause[] {
  const container = limit.type === "Container";
  return SIDES.slice(0, container ? SIDES.length : 2).flatMap((side) =>
    Object.keys(limit[side] ?? {}).flatMap((name) => {
      const path = `${at}.${side}[${name}]`;
      const causes = resourceName(name, path);
      if (container && !name.includes("/") && !CONTAINER.includes(name) && !name.startsWith("hugepages-")) {
        causes.push(cause.invalid(path, name, "must be a standard resource for containers"));
      }
      return causes;
    })
  );
}

function limitValues(limit: Fields, at: string): Cause[] {
  const causes: Cause[] = [];
  const names = new Set(SIDES.flatMap((side) => Object.keys(limit[side] ?? {})));
  for (const name of names) {
    const [max, min, fallback, request, ratio] = SIDES.map((side) => limit[side]?.[name]);
    const more = (a: unknown, b: unknown) => a !== undefined && b !== undefined && nanosOf(a) > nanosOf(b);
    const refuse = (side: string, value: unknown, why: string) =>
      void causes.push(cause.invalid(`${at}.${side}[${name}]`, written(value), why));
    const [most, least, limited, asked] = [max, min, fallback, request].map(written);
    if (more(min, max)) refuse("min", min, `min value ${least} is greater than max value ${most}`);
    if (more(min, request)) {
      refuse("defaultRequest", request, `min value ${least} is greater than default request value ${asked}`);
    }
    if (more(request, max)) {
      refuse("defaultRequest", request, `default request value ${asked} is greater than max value ${most}`);
    }
    if (more(request, fallback)) {
      refuse(
        "defaultRequest",
        request,
        `default request value ${asked} is greater than default limit value ${limited}`,
      );
    }
    if (more(min, fallback)) refuse("default", min, `min value ${least} is greater than default value ${limited}`);
    if (more(fallback, max)) refuse("default", max, `default value ${limited} is greater than max value ${most}`);
    if (ratio !== undefined && nanosOf(ratio) < 1_000_000_000n) {
      refuse("maxLimitRequestRatio", ratio, `ratio ${written(ratio)} is less than 1`);
    }
    if (ratio !== undefined && max !== undefined && min !== undefined) {
      const widest = Number(nanosOf(max)) / Number(nanosOf(min));
      if (Number(nanosOf(ratio)) / 1e9 > widest) {
        const why = `ratio ${written(ratio)} is greater than max/min = ${widest.toFixed(6)}`;
        refuse("maxLimitRequestRatio", ratio, why);
      }
    }
    if ((isExtended(name) || name.startsWith("hugepages-")) && request !== undefined && fallback !== undefined) {
      if (nanosOf(request) === nanosOf(fallback)) continue;
      const why = `default value ${limited} must equal to defaultRequest value ${asked} in ${name}`;
      refuse("defaultRequest", request, why);
    }
  }
  return causes;
}

function validateLimits({ spec = {} }: Fields): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, limit] of ((spec.limits ?? []) as Fields[]).entries()) {
    const at = `spec.limits[${index}]`, { type = "" } = limit;
    const named = validateQualified(type);
    for (const why of named) causes.push(cause.invalid(`${at}.type`, type, why));
    if (named.length === 0 && !type.includes("/") && !TYPES.includes(type)) {
      causes.push(cause.invalid(`${at}.type`, type, "must be a standard limit type or fully qualified"));
    }
    if (seen.has(type)) causes.push(cause.duplicate(`${at}.type`, type));
    seen.add(type);
    causes.push(...limitNames(limit, at));
    if (type === "Pod") {
      for (const side of ["default", "defaultRequest"]) {
        if (isEmpty(limit[side])) continue;
        causes.push(cause.forbidden(`${at}.${side}`, "may not be specified when `type` is 'Pod'"));
      }
    }
    if (type === "PersistentVolumeClaim" && limit.min?.storage === undefined && limit.max?.storage === undefined) {
      const why = "either minimum or maximum storage value is required, but neither was provided";
      causes.push(cause.required(`${at}.limits`, why));
    }
    causes.push(...limitValues(limit, at));
  }
  return causes;
}

/** The behaviours by storage. */
export const QUOTAS: Readonly<Record<string, Behaviour>> = {
  resourcequotas: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object) => {
      object.status = {};
    },
    validate: (object, _apiVersion, subresource) => validateQuota(object, subresource),
    validateUpdate: ({ spec = {} }, old) => {
      const now = spec.scopes ?? [], before = old.spec?.scopes ?? [];
      return equal([...now].sort(), [...before].sort())
        ? []
        : [cause.invalid("spec.scopes", now, "field is immutable")];
    },
  },
  limitranges: {
    createOnUpdate: true,
    prepareCreate: ({ spec }) => emptyToNull(spec, "limits"),
    prepareUpdate: ({ spec }) => emptyToNull(spec, "limits"),
    validate: validateLimits,
  },
};
