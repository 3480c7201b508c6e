/**
 * Checks how the pods of Deployments, DaemonSets and StatefulSets are replaced.
 *
 * ```ts
 * import { deploymentStrategy } from "./_kinds_apps_strategies.ts";
 *
 * console.assert(deploymentStrategy({ type: "Recreate", rollingUpdate: {} }).length === 1);
 * ```
 *
 * @module
 */
import type { Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const PERCENT = /^[0-9]+%$/;
const PERCENT_RULE = "a valid percent string must be a numeric string followed by an ending '%' " +
  "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Takes a whole number that is not negative, or a percentage. */
export function amount(value: unknown, at: string): Cause[] {
  if (typeof value === "string") return PERCENT.test(value) ? [] : [cause.invalid(at, value, PERCENT_RULE)];
  if (typeof value !== "number" || value >= 0) return [];
  return [cause.invalid(at, value, "must be greater than or equal to 0")];
}

/** Takes no more than all. */
export function atMostAll(value: unknown, at: string): Cause[] {
  if (typeof value !== "string" || !PERCENT.test(value) || parseInt(value) <= 100) return [];
  return [cause.invalid(at, value, "must not be greater than 100%")];
}

/** The number that an amount begins with; 0 if there is none. */
function size(value: unknown): number {
  return typeof value === "number" ? value : PERCENT.test(String(value)) ? parseInt(String(value)) : 0;
}

/** A strategy as messages show it: with the fields' names in Go. */
function inGo(strategy: Fields): Fields {
  return { Type: strategy.type ?? "", RollingUpdate: strategy.rollingUpdate ?? null };
}

/** What is wrong with the strategy of a Deployment. */
export function deploymentStrategy(strategy: Fields = {}): Cause[] {
  const at = "spec.strategy";
  const { type, rollingUpdate } = strategy;
  if (type === "Recreate") {
    if (!rollingUpdate) return [];
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return [cause.forbidden(`${at}.rollingUpdate`, why)];
  }
  if (type !== "RollingUpdate") return [cause.unsupported(at, inGo(strategy), ["Recreate", "RollingUpdate"])];
  if (!rollingUpdate) return [cause.required(`${at}.rollingUpdate`, "this should be defaulted and never be nil")];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const path = `${at}.rollingUpdate.maxUnavailable`;
  const none = size(maxUnavailable) === 0 && size(maxSurge) === 0;
  return [
    ...amount(maxUnavailable, path),
    ...amount(maxSurge, `${at}.rollingUpdate.maxSurge`),
    ...(none ? [cause.invalid(path, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
    ...atMostAll(maxUnavailable, path),
  ];
}

/** What is wrong with the strategy of a DaemonSet. */
export function daemonStrategy(strategy: Fields = {}): Cause[] {
  const at = "spec.updateStrategy";
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") return [cause.unsupported(at, inGo(strategy), ["RollingUpdate", "OnDelete"])];
  if (!rollingUpdate) return [cause.required(`${at}.rollingUpdate`)];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const most = `${at}.rollingUpdate.maxUnavailable`, surge = `${at}.rollingUpdate.maxSurge`;
  const causes = [
    ...amount(maxUnavailable, most),
    ...amount(maxSurge, surge),
    ...atMostAll(maxUnavailable, most),
    ...atMostAll(maxSurge, surge),
  ];
  if (size(maxUnavailable) > 0 && size(maxSurge) > 0) {
    causes.push(cause.invalid(surge, maxSurge, "may not be set when maxUnavailable is non-zero"));
  } else if (size(maxUnavailable) === 0 && size(maxSurge) === 0) {
    causes.push(cause.required(most, "cannot be 0 when maxSurge is 0"));
  }
  return causes;
}

const RETENTIONS = ["Retain", "Delete"];

/** What is wrong with how a StatefulSet replaces its pods, and keeps their claims. */
export function statefulStrategy(
  { updateStrategy = {}, persistentVolumeClaimRetentionPolicy: retention }: Fields,
): Cause[] {
  const at = "spec.updateStrategy";
  const { type, rollingUpdate } = updateStrategy;
  const causes: Cause[] = [];
  if (!type) causes.push(cause.required(at));
  else if (type === "OnDelete") {
    if (rollingUpdate) {
      const shown = { Partition: rollingUpdate.partition ?? 0, MaxUnavailable: rollingUpdate.maxUnavailable ?? null };
      causes.push(cause.invalid(`${at}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (type !== "RollingUpdate") {
    causes.push(cause.invalid(at, inGo(updateStrategy), "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (rollingUpdate) {
    const { partition = 0, maxUnavailable } = rollingUpdate;
    const path = `${at}.rollingUpdate.maxUnavailable`;
    causes.push(...amount(partition, `${at}.rollingUpdate.partition`));
    if (maxUnavailable !== undefined) {
      causes.push(...amount(maxUnavailable, path));
      if (size(maxUnavailable) === 0) causes.push(cause.invalid(path, maxUnavailable, "cannot be 0"));
      causes.push(...atMostAll(maxUnavailable, path));
    }
  }
  for (const when of retention ? ["whenDeleted", "whenScaled"] : []) {
    if (RETENTIONS.includes(retention[when])) continue;
    const path = `spec.persistentVolumeClaimRetentionPolicy.${when}`;
    causes.push(cause.unsupported(path, retention[when] ?? "", RETENTIONS));
  }
  return causes;
}
