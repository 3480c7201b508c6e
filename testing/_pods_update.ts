/**
 * Says what may be changed of a pod that is there: by an update, by its status, its debugging containers and its resources.
 *
 * ```ts
 * import { validatePodUpdate } from "./_pods_update.ts";
 *
 * const pod = { spec: { containers: [{ name: "main", image: "a" }] } };
 * console.assert(validatePodUpdate({ spec: { containers: [{ name: "main", image: "b" }] } }, pod).length === 0);
 * ```
 *
 * @module
 */
import { between, type Check, each, filled, isEmpty, named } from "./_checks.ts";
import { legacyAddress } from "./_addresses.ts";
import { validateQualified } from "./_metadata.ts";
import { clone, equal, type Fields } from "./_objects.ts";
import { qosClass } from "./_pods_admission.ts";
import { type Cause, cause } from "./_status.ts";

const LISTS = ["containers", "initContainers"];
const FIXED =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function deadline(spec: Fields, old: Fields): Cause[] {
  const at = "spec.activeDeadlineSeconds";
  const now = spec.activeDeadlineSeconds, before = old.activeDeadlineSeconds;
  if (now !== undefined && now !== null) {
    const causes: Cause[] = [];
    between(0, 2 ** 31 - 1)(now, at, causes);
    if (causes.length > 0) return causes;
    return before !== undefined && now > before
      ? [cause.invalid(at, now, "must be less than or equal to previous value")]
      : [];
  }
  return before === undefined ? [] : [cause.invalid(at, null, "must not update from a positive integer to nil value")];
}

function tolerations(spec: Fields, old: Fields): Cause[] {
  const without = ({ tolerationSeconds: _, ...rest }: Fields): Fields => rest;
  const kept = (old.tolerations ?? []).every((each: Fields) =>
    (spec.tolerations ?? []).some((other: Fields) => equal(without(each), without(other)))
  );
  const why = "existing toleration can not be modified except its tolerationSeconds";
  return kept ? [] : [cause.forbidden("spec.tolerations", why)];
}

function gates(spec: Fields, old: Fields): Cause[] {
  const before = new Set((old.schedulingGates ?? []).map(({ name }: Fields) => name));
  return ((spec.schedulingGates ?? []) as Fields[]).flatMap(({ name }, index) =>
    before.has(name) ? [] : [cause.forbidden(
      `spec.schedulingGates[${index}].name`,
      `only deletion is allowed, but found new scheduling gate '${name}'`,
    )]
  );
}

const terms = (spec: Fields): Fields[] | undefined =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

/** Puts requirements as messages show them: with the fields' names in Go. */
function inGo({ matchExpressions = null, matchFields = null }: Fields): Fields {
  const each = (list: Fields[] | null) =>
    list?.map(({ key, operator, values = null }) => ({ Key: key, Operator: operator, Values: values })) ?? null;
  return { MatchExpressions: each(matchExpressions), MatchFields: each(matchFields) };
}

/** What a pod that waits for its gates may be told of nodes: more than before. */
function narrowed(spec: Fields, old: Fields): Cause[] {
  const causes: Cause[] = [];
  const before: Fields = old.nodeSelector ?? {}, now: Fields = spec.nodeSelector ?? {};
  if (Object.keys(before).some((key) => now[key] !== before[key])) {
    const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    causes.push(cause.invalid("spec.nodeSelector", now, why));
  }
  const were = terms(old);
  if (were === undefined) return causes;
  const at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const are = terms(spec);
  if (are?.length !== were.length) {
    causes.push(
      cause.invalid(
        at,
        (are ?? []).map(inGo),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
      ),
    );
    return causes;
  }
  for (const [index, term] of are.entries()) {
    const kept = ["matchExpressions", "matchFields"].every((list) =>
      (were[index]![list] ?? []).every((each: Fields, place: number) => equal(each, term[list]?.[place]))
    );
    if (!kept) {
      causes.push(
        cause.invalid(`${at}[${index}]`, inGo(term), "only additions are allowed (no mutations or deletions)"),
      );
    }
  }
  return causes;
}

/** Takes away what may be changed. */
function rest({ spec }: Fields, old: Fields, gated: boolean): Fields {
  const copy: Fields = clone(spec);
  for (const list of LISTS) for (const container of copy[list] ?? []) delete container.image;
  for (const member of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) delete copy[member];
  if (old.spec.terminationGracePeriodSeconds < 0) delete copy.terminationGracePeriodSeconds;
  if (!gated) return copy;
  delete copy.nodeSelector;
  const { requiredDuringSchedulingIgnoredDuringExecution: _, ...preferred } = copy.affinity?.nodeAffinity ?? {};
  const { nodeAffinity: _node, ...others } = copy.affinity ?? {};
  copy.affinity = { ...others, ...(isEmpty(preferred) ? {} : { nodeAffinity: preferred }) };
  if (isEmpty(copy.affinity)) delete copy.affinity;
  return copy;
}

/** What is wrong with a change of a pod. */
export function validatePodUpdate(pod: Fields, old: Fields): Cause[] {
  for (const list of LISTS) {
    if ((pod.spec[list] ?? []).length === (old.spec[list] ?? []).length) continue;
    return [cause.forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
  }
  const causes = [...deadline(pod.spec, old.spec), ...tolerations(pod.spec, old.spec), ...gates(pod.spec, old.spec)];
  if (causes.some(({ field }) => field.startsWith("spec.schedulingGates"))) return causes;
  const gated = !isEmpty(old.spec.schedulingGates);
  if (gated) causes.push(...narrowed(pod.spec, old.spec));
  if (causes.length > 0) return causes;
  return equal(rest(pod, old, gated), rest(old, old, gated)) ? causes : [cause.forbidden("spec", FIXED)];
}

const conditionType: Check = (value, at, causes) => {
  for (const why of validateQualified(value ?? "")) causes.push(cause.invalid(at, value ?? "", why));
};

function transitions(statuses: Fields[] = [], before: Fields[] = [], policy: string, at: string): Cause[] {
  if (policy === "Always") return [];
  return before.flatMap((was) => {
    if (!was.state?.terminated || policy === "OnFailure" && was.state.terminated.exitCode !== 0) return [];
    const index = statuses.findIndex(({ name }) => name === was.name);
    if (index < 0 || statuses[index]!.state?.terminated) return [];
    return [cause.forbidden(`${at}[${index}].state`, "may not be transitioned to non-terminated state")];
  });
}

/** What is wrong with the status of a pod. */
export function validatePodStatus({ spec, status = {} }: Fields, old: Fields): Cause[] {
  const causes: Cause[] = [];
  const { podIPs = [], nominatedNodeName, conditions, qosClass: quality } = status;
  filled(named("subdomain"))(nominatedNodeName, "status.nominatedNodeName", causes);
  if (quality && old.status?.qosClass && quality !== old.status.qosClass) {
    causes.push(cause.invalid("status.qosClass", quality, "field is immutable"));
  }
  const policy = spec?.restartPolicy ?? "Always";
  causes.push(
    ...transitions(status.containerStatuses, old.status?.containerStatuses, policy, "status.containerStatuses"),
  );
  each((value, at, found) => legacyAddress()(value.ip ?? "", at, found))(podIPs, "status.podIPs", causes);
  const families = podIPs.map(({ ip }: Fields) => String(ip).includes(":"));
  if (podIPs.length > 1 && new Set(families).size < families.length) {
    const shown = podIPs.map(({ ip }: Fields) => ({ IP: ip }));
    causes.push(cause.invalid("status.podIPs", shown, "may specify no more than one IP for each IP family"));
  }
  each((value, at, found) => conditionType(value.type, `${at}.Type`, found))(conditions, "status.conditions", causes);
  return causes;
}

/** What is wrong with a change of the containers that are put beside those that run. */
export function validateDebugging({ spec }: Fields, old: Fields): Cause[] {
  const at = "spec.ephemeralContainers";
  const now: Fields[] = spec.ephemeralContainers ?? [];
  return ((old.spec.ephemeralContainers ?? []) as Fields[]).flatMap((was) => {
    const found = now.find(({ name }) => name === was.name);
    if (!found) return [cause.forbidden(at, `existing ephemeral containers "${was.name}" may not be removed\n`)];
    return equal(found, was)
      ? []
      : [cause.forbidden(at, `existing ephemeral containers "${was.name}" may not be changed`)];
  });
}

const RESIZABLE = ["cpu", "memory"];

function withoutResizable(spec: Fields): Fields {
  const copy: Fields = clone(spec);
  for (const container of [...copy.containers ?? [], ...copy.initContainers ?? []]) {
    for (const side of ["requests", "limits"]) {
      const map = container.resources?.[side];
      for (const name of RESIZABLE) if (map) delete map[name];
      if (isEmpty(map) && container.resources) delete container.resources[side];
    }
    if (isEmpty(container.resources)) delete container.resources;
  }
  return copy;
}

/** What is wrong with a change of a pod's resources. */
export function validateResize(pod: Fields, old: Fields): Cause[] {
  for (const list of LISTS) {
    if ((pod.spec[list] ?? []).length === (old.spec[list] ?? []).length) continue;
    return [cause.forbidden(`spec.${list}`, "containers may not be added or removed on resize")];
  }
  const causes: Cause[] = [];
  const before = old.status?.qosClass ?? qosClass(old.spec);
  if (qosClass(pod.spec) !== before) {
    causes.push(cause.invalid("spec", before, "Pod QOS Class may not change as a result of resizing"));
  }
  for (const [index, container] of (pod.spec.containers as Fields[]).entries()) {
    for (const side of ["requests", "limits"]) {
      const was: Fields = old.spec.containers[index].resources?.[side] ?? {};
      if (Object.keys(was).every((name) => container.resources?.[side]?.[name] !== undefined)) continue;
      const at = `spec.containers[${index}].resources.${side}`;
      causes.push(cause.forbidden(at, `resource ${side} cannot be removed`));
    }
  }
  if (!equal(withoutResizable(pod.spec), withoutResizable(old.spec))) {
    causes.push(cause.forbidden("spec", "only cpu and memory resources are mutable"));
  }
  return causes;
}
