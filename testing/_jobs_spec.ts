/**
 * Checks the specs of Jobs, and what may be changed of them.
 *
 * ```ts
 * import { validateJobSpec } from "./_jobs_spec.ts";
 *
 * console.assert(validateJobSpec({ completionMode: "Indexed" }, "spec").length > 0);
 * ```
 *
 * @module
 */
import { fixed, oneOf } from "./_checks.ts";
import { indexCount } from "./_jobs_indexes.ts";
import { negatives } from "./_kinds_apps_numbers.ts";
import { validateQualified } from "./_metadata.ts";
import { clone, equal, type Fields } from "./_objects.ts";
import { validateTemplate } from "./_pods.ts";
import { type Cause, cause } from "./_status.ts";

const MODES = ["NonIndexed", "Indexed"];
const MOST_INDEXED = 100_000;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const MOST_RULES = 20;
const MOST_CODES = 255;
const MANAGER_RULE = 'must be a domain-prefixed path (such as "acme.io/foo")';

/** A value that messages leave out. */
function unshown(field: string, why: string): Cause {
  return { ...cause.invalid(field, "", ""), message: `Invalid value: ${why}` };
}

function numbers(spec: Fields, at: string): Cause[] {
  const first = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
  const causes = negatives(spec, first, at);
  const { completionMode = "NonIndexed", completions, parallelism, backoffLimitPerIndex, maxFailedIndexes } = spec;
  causes.push(...negatives(spec, ["backoffLimitPerIndex"], at));
  if (backoffLimitPerIndex !== undefined && completionMode !== "Indexed") {
    causes.push(cause.invalid(`${at}.backoffLimitPerIndex`, backoffLimitPerIndex, "requires indexed completion mode"));
  }
  causes.push(...negatives(spec, ["maxFailedIndexes"], at));
  if (maxFailedIndexes !== undefined) {
    if (backoffLimitPerIndex === undefined) {
      causes.push(cause.required(`${at}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
    }
    if (completions !== undefined && maxFailedIndexes > completions) {
      causes.push(
        cause.invalid(`${at}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions"),
      );
    }
  }
  causes.push(...manager(spec.managedBy, `${at}.managedBy`));
  if (!MODES.includes(completionMode)) {
    causes.push(cause.unsupported(`${at}.completionMode`, completionMode, MODES));
  }
  if (completionMode !== "Indexed") return causes;
  if (completions === undefined) causes.push(cause.required(`${at}.completions`, "when completion mode is Indexed"));
  if (parallelism > MOST_INDEXED) {
    const why = `must be less than or equal to ${MOST_INDEXED} when completion mode is Indexed`;
    causes.push(cause.invalid(`${at}.parallelism`, parallelism, why));
  }
  return causes;
}

function manager(name: string | undefined, at: string): Cause[] {
  if (name === undefined) return [];
  const [domain = "", path = "", ...more] = name.split("/");
  const wrong = path === "" || more.length > 0 || validateQualified(`${domain}/x`).length > 0;
  return [
    ...(wrong ? [cause.invalid(at, name, MANAGER_RULE)] : []),
    ...(name.length > 63 ? [cause.tooLong(at, 63)] : []),
  ];
}

function exitCodes({ onExitCodes: codes }: Fields, names: ReadonlySet<string>, at: string): Cause[] {
  const causes: Cause[] = [];
  const { operator = "", containerName, values = [] } = codes;
  if (!OPERATORS.includes(operator)) {
    causes.push(
      operator === ""
        ? cause.required(`${at}.operator`, `valid values: ["In" "NotIn"]`)
        : cause.unsupported(`${at}.operator`, operator, OPERATORS),
    );
  }
  if (containerName !== undefined && !names.has(containerName)) {
    const why = "must be one of the container or initContainer names in the pod template";
    causes.push(cause.invalid(`${at}.containerName`, containerName, why));
  }
  const list = `${at}.values`;
  if (values.length === 0) causes.push(cause.invalid(list, values, "at least one value is required"));
  else if (values.length > MOST_CODES) causes.push(cause.tooMany(list, values.length, MOST_CODES));
  const seen = new Set<number>();
  for (const [index, code] of values.entries()) {
    if (operator === "In" && code === 0) {
      causes.push(cause.invalid(`${list}[${index}]`, code, "must not be 0 for the In operator"));
    }
    if (seen.has(code)) causes.push(cause.duplicate(`${list}[${index}]`, code));
    seen.add(code);
  }
  const sorted = values.every((code: number, index: number) => index === 0 || code >= values[index - 1]);
  if (!sorted) causes.push(cause.invalid(list, values, "must be ordered"));
  return causes;
}

function failureRule(rule: Fields, spec: Fields, names: ReadonlySet<string>, at: string): Cause[] {
  const causes: Cause[] = [];
  const { action = "", onExitCodes, onPodConditions = [] } = rule;
  if (action === "") causes.push(cause.required(`${at}.action`, `valid values: ["${ACTIONS.join('" "')}"]`));
  else if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
    causes.push(cause.invalid(`${at}.action`, action, "requires the backoffLimitPerIndex to be set"));
  } else if (!ACTIONS.includes(action)) causes.push(cause.unsupported(`${at}.action`, action, ACTIONS));
  if (onExitCodes) causes.push(...exitCodes(rule, names, `${at}.onExitCodes`));
  for (const [index, { type = "", status = "" }] of (onPodConditions as Fields[]).entries()) {
    const path = `${at}.onPodConditions[${index}]`;
    for (const why of validateQualified(type)) causes.push(cause.invalid(`${path}.type`, type, why));
    oneOf(["False", "True", "Unknown"])(status, `${path}.status`, causes);
  }
  if (onExitCodes && onPodConditions.length > 0) {
    causes.push(unshown(at, "specifying both OnExitCodes and OnPodConditions is not supported"));
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    causes.push(unshown(at, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
  return causes;
}

function failurePolicy(spec: Fields, at: string): Cause[] {
  const policy = spec.podFailurePolicy;
  if (!policy) return [];
  const rules: Fields[] = policy.rules ?? [];
  const path = `${at}.podFailurePolicy.rules`;
  if (rules.length > MOST_RULES) return [cause.tooMany(path, rules.length, MOST_RULES)];
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = new Set<string>([...containers, ...initContainers].map(({ name }: Fields) => name));
  return rules.flatMap((rule, index) => failureRule(rule, spec, names, `${path}[${index}]`));
}

function successPolicy(spec: Fields, at: string): Cause[] {
  const { successPolicy: policy, completionMode, completions = 0 } = spec;
  if (!policy) return [];
  const rules: Fields[] = policy.rules ?? [];
  const path = `${at}.successPolicy`;
  if (completionMode !== "Indexed") {
    const shown = rules.map(({ succeededIndexes = null, succeededCount = null }) => ({
      SucceededIndexes: succeededIndexes,
      SucceededCount: succeededCount,
    }));
    return [cause.invalid(path, { Rules: policy.rules ? shown : null }, "requires indexed completion mode")];
  }
  if (rules.length === 0) {
    const why = "at least one rules must be specified when the successPolicy is specified";
    return [cause.required(`${path}.rules`, why)];
  }
  if (rules.length > MOST_RULES) return [cause.tooMany(`${path}.rules`, rules.length, MOST_RULES)];
  return rules.flatMap((rule, index) => successRule(rule, completions, `${path}.rules[${index}]`));
}

function successRule({ succeededIndexes, succeededCount }: Fields, completions: number, at: string): Cause[] {
  if (succeededIndexes === undefined && succeededCount === undefined) {
    return [cause.required(at, "at least one of succeededCount or succeededIndexes must be specified")];
  }
  const causes: Cause[] = [];
  let known: number | undefined;
  if (succeededIndexes !== undefined) {
    const counted = indexCount(succeededIndexes, completions);
    if (typeof counted === "number") known = counted;
    else {
      const why = `error parsing succeededIndexes: ${counted}`;
      causes.push(cause.invalid(`${at}.succeededIndexes`, succeededIndexes, why));
    }
  }
  if (succeededCount === undefined) return causes;
  const path = `${at}.succeededCount`;
  causes.push(...negatives({ succeededCount }, ["succeededCount"], at));
  const refuse = (most: number, what: string) =>
    causes.push(cause.invalid(path, succeededCount, `must be less than or equal to ${most} (the number of ${what})`));
  if (succeededCount > completions) refuse(completions, "specified completions");
  if (known !== undefined && succeededCount > known) {
    refuse(known, "indexes in the specified succeededIndexes field");
  }
  return causes;
}

function template(spec: Fields, at: string): Cause[] {
  const path = `${at}.template`;
  const causes = validateTemplate(spec.template, path);
  const policy = spec.template?.spec?.restartPolicy ?? "";
  const field = `${path}.spec.restartPolicy`;
  const known = ["OnFailure", "Never"];
  if (policy === "" || policy === "Always") {
    causes.push(cause.required(field, `valid values: ${known.map((each) => JSON.stringify(each)).join(", ")}`));
  } else if (!known.includes(policy)) causes.push(cause.unsupported(field, policy, known));
  else if (spec.podFailurePolicy && policy !== "Never") {
    causes.push(cause.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
  return causes;
}

/** What is wrong with the spec of a Job, beside its selector. */
export function validateJobSpec(spec: Fields = {}, at: string): Cause[] {
  const replaces = spec.podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  const causes = [...numbers(spec, at), ...failurePolicy(spec, at), ...successPolicy(spec, at)];
  oneOf(replaces)(spec.podReplacementPolicy, `${at}.podReplacementPolicy`, causes);
  return [...causes, ...template(spec, at)];
}

/** What of a template may be changed of a Job that has not begun. */
function unscheduled(template: Fields): Fields {
  const { metadata = {}, spec = {} } = clone(template);
  const { labels: _labels, annotations: _annotations, ...meta } = metadata;
  const { nodeSelector: _selector, tolerations: _tolerations, schedulingGates: _gates, affinity, ...rest } = spec;
  const { nodeAffinity: _node, ...others } = affinity ?? {};
  for (const each of [...rest.containers ?? [], ...rest.initContainers ?? []]) delete each.resources;
  return { meta, rest, others };
}

function completionsFixed(spec: Fields, old: Fields): Cause[] {
  const at = "spec.completions";
  if (equal(spec.completions, old.completions)) return [];
  if (spec.completionMode !== "Indexed" || old.completions === undefined) {
    return [cause.invalid(at, spec.completions, "field is immutable")];
  }
  if (spec.completions === undefined || spec.completions === spec.parallelism) return [];
  return [cause.invalid(at, spec.completions, "can only be modified in tandem with spec.parallelism")];
}

/** What is wrong with a change of a Job's spec. */
export function validateJobChange({ spec, status }: Fields, { spec: old }: Fields): Cause[] {
  const causes = [...completionsFixed(spec, old), ...fixed(spec, old, ["selector"], "spec")];
  const open = old.suspend === true && status?.startTime === undefined;
  if (!equal(spec.template, old.template)) {
    if (!open) causes.push(cause.invalid("spec.template", spec.template, "field is immutable"));
    else if (!equal(unscheduled(spec.template), unscheduled(old.template))) {
      causes.push(cause.invalid("spec.template.spec", spec.template.spec, "field is immutable"));
    }
  }
  const rest = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];
  return [...causes, ...fixed(spec, old, rest, "spec")];
}
