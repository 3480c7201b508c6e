/**
 * Runs ValidatingAdmissionPolicies: refuses, or warns of, writes that a bound policy's expressions do not hold for.
 *
 * ```ts
 * import { selectsLabels } from "./_policies.ts";
 *
 * console.assert(selectsLabels({ matchLabels: { app: "web" } }, { app: "web" }));
 * ```
 *
 * @module
 */
import type { Call } from "./_call.ts";
import { compile } from "./_cel_check.ts";
import { evaluate, type Variables } from "./_cel_evaluate.ts";
import { plainValue } from "./_cel_schema.ts";
import { CelError } from "./_cel_values.ts";
import type { Fields, Kube } from "./_objects.ts";
import { isDryRun } from "./_options.ts";
import { POLICY_VARIABLES } from "./_policy_variables.ts";
import { matchesLabels } from "./_selectors.ts";
import { qualified, StatusError } from "./_status.ts";

const GROUP = "admissionregistration.k8s.io";
const OPERATORS: Readonly<Record<string, "in" | "notin" | "exists" | "!">> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

/** What a request does to an object. */
export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** True if a label selector selects these labels; one that says nothing selects all. */
export function selectsLabels(selector: Fields | undefined, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false;
  return matchesLabels(
    (matchExpressions as Fields[]).map(({ key, operator, values = [] }) => ({
      key,
      operator: OPERATORS[operator] ?? "in",
      values,
    })),
    labels,
  );
}

const among = (list: readonly string[] = [], value: string): boolean => list.includes("*") || list.includes(value);

function ruleFits(rule: Fields, { info, asked }: Call, operation: Operation, name: string): boolean {
  const resource = asked.subresource === "" ? info.plural : `${info.plural}/${asked.subresource}`;
  const scope = rule.scope ?? "*";
  return among(rule.operations, operation) && among(rule.apiGroups, info.group) &&
    among(rule.apiVersions, info.version) &&
    (among(rule.resources, resource) || (rule.resources ?? []).includes("*/*") ||
      (rule.resources ?? []).includes(`*/${asked.subresource}`)) &&
    (scope === "*" || (scope === "Namespaced") === info.namespaced) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name));
}

/** What a write is about. */
interface Write {
  readonly call: Call;
  readonly operation: Operation;
  readonly object: Kube | undefined;
  readonly old: Kube | undefined;
  readonly namespace: Kube | undefined;
}

function matches(match: Fields | undefined, { call, operation, object, old, namespace }: Write): boolean {
  if (!match) return true;
  const { name = "" } = (object ?? old)!.metadata;
  const fits = (rule: Fields): boolean => ruleFits(rule, call, operation, name);
  if (match.resourceRules?.length && !match.resourceRules.some(fits)) return false;
  if ((match.excludeResourceRules ?? []).some(fits)) return false;
  if (namespace && !selectsLabels(match.namespaceSelector, namespace.metadata.labels)) return false;
  return [object, old].some((each) => each && selectsLabels(match.objectSelector, each.metadata.labels));
}

function requestOf({ call, operation, object, old }: Write): Fields {
  const { info, asked, user } = call;
  const { group, version, kind, plural: resource } = info;
  return {
    kind: { group, version, kind },
    resource: { group, version, resource },
    subResource: asked.subresource,
    name: (object ?? old)!.metadata.name ?? "",
    namespace: info.namespaced ? asked.namespace : "",
    operation,
    userInfo: { username: user.name, groups: [...user.groups], uid: user.uid ?? "", extra: user.extra ?? {} },
    dryRun: isDryRun(call),
  };
}

/** The objects that a binding hands to its policy as parameters; none if the policy takes none. */
function paramsOf(write: Write, policy: Kube, binding: Kube): (Kube | undefined)[] {
  const { paramKind } = policy.spec, { paramRef } = binding.spec;
  if (!paramKind || !paramRef) return [undefined];
  const [version = "", group = ""] = String(paramKind.apiVersion).split("/").reverse();
  const { server, asked } = write.call;
  const info = server.registry.byKind(group, paramKind.kind, version);
  if (!info) return [];
  const namespace = info.namespaced ? paramRef.namespace ?? asked.namespace : undefined;
  return server.store.collection(info.storage).list({ namespace }).map(({ object }) => object).filter((each) =>
    paramRef.name ? each.metadata.name === paramRef.name : selectsLabels(paramRef.selector, each.metadata.labels)
  );
}

/** Computes an expression of a policy. */
function compute(expression: string, scope: Variables): unknown {
  const { node, issues } = compile(expression, POLICY_VARIABLES);
  if (issues !== undefined || !node) throw new CelError(`compilation error: ${issues}`);
  return evaluate(node, scope);
}

/** Adds a policy's own variables; one that cannot be computed is missing where it is used. */
function withVariables(policy: Kube, scope: Variables): Variables {
  const own = new Map<string, unknown>();
  const whole = new Map([...scope, ["variables", own]]);
  for (const { name, expression } of policy.spec.variables ?? []) {
    try {
      own.set(name, compute(expression, whole));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
    }
  }
  return whole;
}

/** A validation that failed. */
interface Denial {
  readonly text: string;
  readonly reason: string;
}

function messageOf({ message, messageExpression, expression }: Fields, scope: Variables): string {
  if (messageExpression) {
    try {
      const text = compute(messageExpression, scope);
      if (typeof text === "string" && text.trim() !== "" && !text.includes("\n")) return text.trim();
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
    }
  }
  return message?.trim() || `failed expression: ${String(expression).trim()}`;
}

function* denials(policy: Kube, scope: Variables): Generator<Denial> {
  const ignores = policy.spec.failurePolicy === "Ignore";
  const failed = (expression: string, error: unknown): Denial | undefined => {
    if (!(error instanceof CelError)) throw error;
    if (ignores) return undefined;
    return { text: `expression '${expression}' resulted in error: ${error.message}`, reason: "Invalid" };
  };
  for (const { expression } of policy.spec.matchConditions ?? []) {
    try {
      if (compute(expression, scope) !== true) return;
    } catch (error) {
      const denial = failed(expression, error);
      if (denial) yield denial;
      return;
    }
  }
  const whole = withVariables(policy, scope);
  for (const validation of policy.spec.validations ?? []) {
    try {
      if (compute(validation.expression, whole) === true) continue;
    } catch (error) {
      const denial = failed(validation.expression, error);
      if (denial) yield denial;
      continue;
    }
    yield { text: messageOf(validation, whole), reason: validation.reason ?? "Invalid" };
  }
}

const CODES: Readonly<Record<string, number>> = { Invalid: 422, Forbidden: 403, RequestEntityTooLarge: 413 };

function deny({ info }: Call, name: string, text: string, reason: string): StatusError {
  const what = qualified(info.group, info.plural);
  const group = info.group === "" ? {} : { group: info.group };
  const causes = [{ message: text }];
  return new StatusError({
    code: CODES[reason] ?? 422,
    reason,
    message: `${what} "${name}" is forbidden: ${text}`,
    details: { name, ...group, kind: info.plural, causes },
  });
}

/**
 * Runs the policies that are bound to a write.
 *
 * @throws {StatusError} If one denies it
 */
export function admitByPolicies(call: Call, operation: Operation, object: Kube | undefined, old?: Kube): void {
  const { server, info, asked } = call;
  const bindings = server.store.collection(`validatingadmissionpolicybindings.${GROUP}`);
  if (bindings.size === 0 || info.group === GROUP) return;
  const policies = server.store.collection(`validatingadmissionpolicies.${GROUP}`);
  const namespace = info.namespaced
    ? server.store.collection("namespaces").get("", asked.namespace)?.object
    : undefined;
  const write: Write = { call, operation, object, old, namespace };
  let scope: Variables | undefined;
  for (const { object: binding } of bindings.list()) {
    const policy = policies.get("", binding.spec.policyName)?.object;
    if (!policy || !matches(policy.spec.matchConstraints, write) || !matches(binding.spec.matchResources, write)) {
      continue;
    }
    scope ??= new Map(
      Object.entries({
        object,
        oldObject: old,
        request: requestOf(write),
        namespaceObject: namespace,
        authorizer: null,
      })
        .map(([name, value]) => [name, plainValue(value ?? null)]),
    );
    const actions: string[] = binding.spec.validationActions ?? [];
    for (const params of paramsOf(write, policy, binding)) {
      for (const { text, reason } of denials(policy, new Map([...scope, ["params", plainValue(params ?? null)]]))) {
        const who = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
        if (actions.includes("Warn")) call.warnings.push(`Validation failed for ${who}: ${text}`);
        if (actions.includes("Deny")) {
          throw deny(call, (object ?? old)!.metadata.name ?? "", `${who} denied request: ${text}`, reason);
        }
      }
    }
  }
}
