/**
 * Says how the kinds that keep pods running behave.
 *
 * ```ts
 * import { APPS } from "./_kinds_apps.ts";
 *
 * console.assert(APPS["deployments.apps"]?.status);
 * ```
 *
 * @module
 */
import { fixed, named } from "./_checks.ts";
import { DecodeError } from "./_go_decode.ts";
import type { Behaviour } from "./_kind.ts";
import { isEmptySelector, labelSelector, selects } from "./_label_selectors.ts";
import { equal, type Fields } from "./_objects.ts";
import { validateTemplate } from "./_pods.ts";
import { nameWarnings, workloadWarnings } from "./_pods_warnings.ts";
import { type Cause, cause } from "./_status.ts";
import { counts, negatives, validateNumbers } from "./_kinds_apps_numbers.ts";
import { daemonStrategy, deploymentStrategy, statefulStrategy } from "./_kinds_apps_strategies.ts";
import { claimSpec } from "./_volume_claims.ts";

/** Checks the selector of what keeps pods, and whether it selects those that it makes. */
function validateSelector({ kind, spec = {} }: Fields, missing = true): Cause[] {
  const { selector, template } = spec;
  const causes: Cause[] = [];
  const none = selector === undefined || selector === null;
  if (none && missing) causes.push(cause.required("spec.selector"));
  if (!none) {
    labelSelector(selector, "spec.selector", causes);
    if (isEmptySelector(selector)) {
      // A ReplicaSet is spoken of as a Deployment here.
      const name = kind === "ReplicaSet" ? "deployment" : String(kind).toLowerCase();
      const why = `empty selector is invalid for ${name}`;
      causes.push(cause.invalid("spec.selector", selector, why));
    }
  }
  if (causes.length === 0 || none || isEmptySelector(selector)) {
    return [...causes, ...mismatch(selector, template?.metadata?.labels)];
  }
  const { matchLabels, matchExpressions } = selector;
  if (kind !== "DaemonSet") {
    const why = kind === "StatefulSet" ? "" : "invalid label selector";
    causes.push(cause.invalid("spec.selector", { matchLabels, matchExpressions }, why));
  }
  return causes;
}

function mismatch(selector: Fields | undefined | null, labels: Fields | undefined): Cause[] {
  if (selector && (isEmptySelector(selector) || selects(selector, labels))) return [];
  const why = "`selector` does not match template `labels`";
  return [cause.invalid("spec.template.metadata.labels", labels, why)];
}

/** Checks the template of pods that are to run on and on. */
function validatePods({ kind, spec = {} }: Fields, volumes: readonly Fields[] = []): Cause[] {
  const { template } = spec;
  const path = "spec.template";
  const whole = volumes.length === 0 ? template : {
    ...template,
    spec: { ...template?.spec, volumes: [...template?.spec?.volumes ?? [], ...volumes] },
  };
  const causes = validateTemplate(whole, path);
  const { restartPolicy, activeDeadlineSeconds } = template?.spec ?? {};
  if (restartPolicy && restartPolicy !== "Always") {
    causes.push(cause.unsupported(`${path}.spec.restartPolicy`, restartPolicy, ["Always"]));
  }
  if (activeDeadlineSeconds !== undefined) {
    const name = kind === "Deployment" ? "ReplicaSet" : kind;
    const why = `activeDeadlineSeconds in ${name} is not Supported`;
    causes.push(cause.forbidden(`${path}.spec.activeDeadlineSeconds`, why));
  }
  return causes;
}

/** Has the status alone checked where that alone is written. */
function checked(
  validate: (object: Fields, old?: Fields) => Cause[],
  status: (object: Fields, old: Fields) => Cause[],
): NonNullable<Behaviour["validate"]> {
  return (object, _apiVersion, subresource, old) =>
    subresource === "status" && old ? status(object, old) : validate(object, old);
}

const fixedSelector: NonNullable<Behaviour["validateUpdate"]> = ({ spec = {} }, old) =>
  fixed(spec, old.spec ?? {}, ["selector"], "spec");

const KEPT: Behaviour = { status: true, desired: ({ spec }) => spec, validateUpdate: fixedSelector };

function validateDeployment(object: Fields): Cause[] {
  const { spec = {} } = object;
  const causes = [
    ...negatives(spec, ["replicas"], "spec"),
    ...validateSelector(object),
    ...validatePods(object),
    ...deploymentStrategy(spec.strategy),
    ...negatives(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], "spec"),
  ];
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (deadline !== undefined && deadline <= minReadySeconds) {
    causes.push(cause.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  }
  return causes;
}

function validateReplicaSet(object: Fields): Cause[] {
  return [
    ...negatives(object.spec ?? {}, ["replicas", "minReadySeconds"], "spec"),
    ...validateSelector(object),
    ...validatePods(object),
  ];
}

function validateController(object: Fields): Cause[] {
  const { spec = {} } = object;
  const causes = negatives(spec, ["minReadySeconds"], "spec");
  const { selector, template } = spec;
  if (!selector || Object.keys(selector).length === 0) causes.push(cause.required("spec.selector"));
  causes.push(...negatives(spec, ["replicas"], "spec"));
  if (!template) return [...causes, cause.required("spec.template")];
  if (selector && Object.keys(selector).length > 0) {
    causes.push(...mismatch({ matchLabels: selector }, template.metadata?.labels));
  }
  return [...causes, ...validatePods(object)];
}

const GENERATION = "deprecated.daemonset.template.generation";

function isInteger64(text: string): boolean {
  return /^[-+]?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text.replace("+", ""))) === BigInt(text.replace("+", ""));
}

function validateDaemonSet(object: Fields): Cause[] {
  const { spec = {} } = object;
  return [
    ...validateSelector(object, false),
    ...validatePods(object),
    ...negatives(spec, ["minReadySeconds"], "spec"),
    ...daemonStrategy(spec.updateStrategy),
    ...negatives(spec, ["revisionHistoryLimit"], "spec"),
  ];
}

const POLICIES = ["OrderedReady", "Parallel"];

function validateStatefulSet(object: Fields): Cause[] {
  const { spec = {} } = object;
  const { podManagementPolicy: policy, volumeClaimTemplates = [] } = spec;
  const causes: Cause[] = [];
  if (!policy) causes.push(cause.required("spec.podManagementPolicy"));
  else if (!POLICIES.includes(policy)) {
    causes.push(cause.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  causes.push(...statefulStrategy(spec));
  for (const [index, claim] of (volumeClaimTemplates as Fields[]).entries()) {
    claimSpec(claim.spec, `spec.volumeClaimTemplates[${index}].spec`, causes);
  }
  causes.push(...negatives(spec, ["replicas", "minReadySeconds"], "spec"));
  causes.push(...negatives(spec.ordinals ?? {}, ["start"], "spec.ordinals"));
  causes.push(...serviceName(spec), ...validateSelector(object));
  const volumes = (volumeClaimTemplates as Fields[]).map(({ metadata }) => ({
    name: metadata?.name,
    persistentVolumeClaim: { claimName: "TEMPORARY" },
  }));
  return [...causes, ...validatePods(object, volumes)];
}

function serviceName({ serviceName: name }: Fields): Cause[] {
  const causes: Cause[] = [];
  if (name) named("label")(name, "spec.serviceName", causes);
  return causes;
}

/** What may be changed of a StatefulSet's spec. */
const STATEFUL_MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const STATEFUL_FIXED = ["selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"];

function fixedStatefulSet({ spec }: Fields, old: Fields): Cause[] {
  const names = new Set([...STATEFUL_FIXED, ...Object.keys({ ...spec, ...old.spec })]);
  return fixed(spec, old.spec, [...names].filter((name) => !STATEFUL_MUTABLE.includes(name)), "spec");
}

function validateRevision({ data, revision = 0 }: Fields): Cause[] {
  const causes = negatives({ revision }, ["revision"], "");
  return data === undefined || data === null ? [...causes, cause.required("data", "data is mandatory")] : causes;
}

const { deployments, replicaSets, controllers, daemonSets, statefulSets } = counts;

/** The behaviours by storage. */
export const APPS: Readonly<Record<string, Behaviour>> = {
  "deployments.apps": {
    statusKeeps: ["labels"],
    ...KEPT,
    desired: ({ spec, metadata }) => [spec, metadata.annotations],
    validate: checked(validateDeployment, validateNumbers(deployments)),
    warnings: (object, old) => [...nameWarnings(object, old), ...workloadWarnings(object, old)],
  },
  "replicasets.apps": {
    ...KEPT,
    validate: checked(validateReplicaSet, validateNumbers(replicaSets)),
    warnings: (object, old) => [...nameWarnings(object, old), ...workloadWarnings(object, old)],
  },
  replicationcontrollers: {
    status: true,
    desired: ({ spec }) => spec,
    orphans: true,
    validate: checked(validateController, validateNumbers(controllers)),
    warnings: (object, old) => [...nameWarnings(object, old), ...workloadWarnings(object, old)],
    selectable: ["status.replicas"],
  },
  "daemonsets.apps": {
    ...KEPT,
    defaults: ({ metadata }) => {
      const given = metadata.annotations?.[GENERATION];
      if (given !== undefined && !isInteger64(given)) {
        const why = /^[-+]?\d+$/.test(given) ? "value out of range" : "invalid syntax";
        throw new DecodeError(`strconv.ParseInt: parsing ${JSON.stringify(given)}: ${why}`);
      }
      metadata.annotations = { [GENERATION]: "1", ...metadata.annotations };
    },
    prepareUpdate: ({ metadata, spec }, old) => {
      const generation = Number(old.metadata.annotations?.[GENERATION] ?? 1);
      const next = equal(spec.template, old.spec.template) ? generation : generation + 1;
      metadata.annotations = { ...metadata.annotations, [GENERATION]: String(next) };
    },
    validate: checked(validateDaemonSet, validateNumbers(daemonSets)),
    warnings: workloadWarnings,
  },
  "statefulsets.apps": {
    ...KEPT,
    names: "label",
    validate: checked(validateStatefulSet, validateNumbers(statefulSets)),
    validateUpdate: fixedStatefulSet,
    warnings: (object, old) => [
      ...((object.spec?.revisionHistoryLimit ?? 0) < 0
        ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
        : []),
      ...workloadWarnings(object, old),
    ],
  },
  "controllerrevisions.apps": {
    validate: validateRevision,
    validateUpdate: (object, old) => fixed(object, old, ["data"]),
  },
};
