/**
 * Sets what admission and the server set in a new pod: its priority, what it tolerates, how it is served.
 *
 * ```ts
 * import { qosClass } from "./_pods_admission.ts";
 *
 * console.assert(qosClass({ containers: [{ name: "main" }] }) === "BestEffort");
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import { defaultByLimits } from "./_limits.ts";
import { type Fields, isObject, timestamp } from "./_objects.ts";
import { nanosOf } from "./_pods_resources.ts";
import { forbidden } from "./_status.ts";

const NOT_READY = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const PODS = { group: "", plural: "pods" };
const COMPUTED = "must not be provided in pod spec; priority admission controller computed";
const FROM_CLASS = "from the given PriorityClass name";

function refuse(pod: Fields, why: string): Error {
  return forbidden(PODS, pod.metadata?.name ?? "", why);
}

/** The classes that are there before any is made. */
const SYSTEM: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

function classOf(pod: Fields, server: Ground): Fields {
  const classes = server.store.collection("priorityclasses.scheduling.k8s.io");
  const name = pod.spec.priorityClassName;
  if (name) {
    const found = classes.get("", name)?.object as Fields | undefined;
    if (found) return found;
    if (Object.hasOwn(SYSTEM, name)) return { value: SYSTEM[name] };
    throw refuse(pod, `no PriorityClass with name ${name} was found`);
  }
  const defaults = classes.list({}).map(({ object }) => object as Fields).filter((each) => each.globalDefault === true);
  const [lowest] = defaults.sort((a, b) => a.value - b.value);
  if (lowest) pod.spec.priorityClassName = lowest.metadata.name;
  return lowest ?? { value: 0 };
}

function setPriority(pod: Fields, server: Ground): void {
  const { spec } = pod;
  const { value, preemptionPolicy = "PreemptLowerPriority" } = classOf(pod, server);
  if (typeof spec.priority === "number" && spec.priority !== value) {
    throw refuse(pod, `the integer value of priority (${spec.priority}) ${COMPUTED} ${value} ${FROM_CLASS}`);
  }
  spec.priority = value;
  if (spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy) {
    const given = `the string value of PreemptionPolicy (${spec.preemptionPolicy})`;
    throw refuse(pod, `${given} ${COMPUTED} ${preemptionPolicy} ${FROM_CLASS}`);
  }
  spec.preemptionPolicy = preemptionPolicy;
}

function setTolerations(spec: Fields): void {
  const tolerations: Fields[] = spec.tolerations ?? [];
  for (const key of NOT_READY) {
    const tolerated = tolerations.some((each) =>
      (each.key === undefined || each.key === "" || each.key === key) &&
      (each.effect === undefined || each.effect === "" || each.effect === "NoExecute")
    );
    if (!tolerated) tolerations.push({ effect: "NoExecute", key, operator: "Exists", tolerationSeconds: 300 });
  }
  spec.tolerations = tolerations;
}

function setOverhead(pod: Fields, server: Ground): void {
  const { spec } = pod;
  const name = spec.runtimeClassName;
  const found = name === undefined ? undefined : server.store.collection("runtimeclasses.node.k8s.io").get("", name);
  if (name !== undefined && !found) throw refuse(pod, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = (found?.object as Fields | undefined)?.overhead?.podFixed;
  if (isObject(spec.overhead) && !overhead) {
    throw refuse(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  if (overhead) spec.overhead = overhead;
}

/** Has selectors ask for what the pod itself has as labels, where they name such. */
function mergeLabelKeys({ spec, metadata }: Fields): void {
  const labels: Fields = metadata.labels ?? {};
  const merge = (owner: Fields, keys: string[] | undefined, operator: string) => {
    if (!owner.labelSelector) return;
    const found = (keys ?? []).filter((key) => labels[key] !== undefined)
      .map((key) => ({ key, operator, values: [labels[key]] }));
    if (found.length === 0) return;
    const matchExpressions = [...owner.labelSelector.matchExpressions ?? [], ...found];
    owner.labelSelector = { ...owner.labelSelector, matchExpressions };
  };
  for (const constraint of (spec.topologySpreadConstraints ?? []) as Fields[]) {
    merge(constraint, constraint.matchLabelKeys, "In");
  }
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const rules: Fields = spec.affinity?.[kind] ?? {};
    const preferred: Fields[] = rules.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms: Fields[] = [
      ...rules.requiredDuringSchedulingIgnoredDuringExecution ?? [],
      ...preferred.map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
    ];
    for (const term of terms) {
      merge(term, term.matchLabelKeys, "In");
      merge(term, term.mismatchLabelKeys, "NotIn");
    }
  }
}

/** Has a pod as a whole ask for its limits, where it asks for nothing itself. */
function requestLimits({ resources }: Fields): void {
  const known = Object.entries(resources?.limits ?? {}).filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name));
  if (known.length > 0) resources.requests = { ...Object.fromEntries(known), ...resources.requests };
}

/** Sets what admission and the server set in a new pod. */
export function preparePod(pod: Fields, server: Ground): void {
  const { spec } = pod;
  if (!isObject(spec)) return;
  defaultByLimits(pod, server);
  setPriority(pod, server);
  setTolerations(spec);
  setOverhead(pod, server);
  mergeLabelKeys(pod);
  requestLimits(spec);
  pod.status = { phase: "Pending", qosClass: qosClass(spec) };
  if (spec.schedulingGates?.length > 0) {
    pod.status.conditions = [{
      lastProbeTime: null,
      lastTransitionTime: timestamp(server.now()),
      message: "Scheduling is blocked due to non-empty scheduling gates",
      reason: "SchedulingGated",
      status: "False",
      type: "PodScheduled",
    }];
  }
}

/** Sets what admission sets in an update that leaves it out. */
export function prepareUpdate({ spec }: Fields, old: Fields): void {
  if (!isObject(spec)) return;
  setTolerations(spec);
  spec.priority ??= old.spec.priority;
  spec.preemptionPolicy ??= old.spec.preemptionPolicy;
}

/** How a pod is served when a node runs short, by what it asks for. */
export function qosClass(spec: Fields): string {
  const containers: Fields[] = spec.resources?.requests || spec.resources?.limits
    ? [{ resources: spec.resources }]
    : [...spec.containers ?? [], ...spec.initContainers ?? []];
  const amounts = containers.flatMap(({ resources = {} }) =>
    ["cpu", "memory"].map((name) => ({
      request: nanosOf(resources.requests?.[name]),
      limit: nanosOf(resources.limits?.[name]),
    }))
  );
  if (amounts.every(({ request, limit }) => request === 0n && limit === 0n)) return "BestEffort";
  return amounts.every(({ request, limit }) => limit > 0n && request === limit) ? "Guaranteed" : "Burstable";
}
