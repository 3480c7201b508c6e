/**
 * Keeps a status' conditions as Kubernetes' API conventions ask: one per type, its transition time kept while its status stays.
 *
 * ```ts
 * import { updateConditions } from "@tend/operator";
 *
 * const before = updateConditions([], { type: "Ready", status: "False", reason: "Starting" }, { now: new Date(0) });
 * const after = updateConditions(before, { type: "Ready", status: "False", reason: "Starting" });
 * console.assert(after === before, "nothing changed, so nothing is to be written");
 * ```
 *
 * @module
 */
import { CustomResource } from "./crd.ts";
import { isQualifiedName } from "./names.ts";
import type { KubernetesObject, Resource } from "./resource.ts";

/** An entry of `status.conditions`, as in Kubernetes' `metav1.Condition`. */
export interface Condition {
  /** What it is about, such as `Ready`; unique in the list. */
  type: string;
  /** Whether that holds. */
  status: "True" | "False" | "Unknown";
  /** Why, as one word for machines, such as `AllReplicasReady`. */
  reason: string;
  /** Why, for people; may be empty. */
  message: string;
  /** When `status` last changed (RFC 3339). */
  lastTransitionTime: string;
  /** The `metadata.generation` that it was computed from. */
  observedGeneration?: number;
}

/** A condition as a reconcile states it. */
export interface ConditionUpdate {
  /** What it is about, such as `Ready`. */
  readonly type: string;
  /** Whether that holds; a boolean stands for `True` or `False`. */
  readonly status: "True" | "False" | "Unknown" | boolean;
  /** Why, as one word for machines. */
  readonly reason: string;
  /** Why, for people. @default {""} */
  readonly message?: string | undefined;
}

/** Options of {@linkcode updateConditions}. */
export interface UpdateConditionsOptions {
  /** The object's `metadata.generation`. @default {none} */
  readonly observedGeneration?: number | undefined;
  /** The time of a transition. @default {new Date()} */
  readonly now?: Date | undefined;
}

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Makes sure that an API server with the usual condition schema will take it. */
function validate(update: ConditionUpdate): void {
  const { type, status, reason } = update;
  const fail = (field: string, rule: string, value: unknown): never => {
    throw new TypeError(
      `Cannot set condition "${type}": '${field}' must be ${rule}: current value is ${Deno.inspect(value)}`,
    );
  };
  if (!isQualifiedName(type)) fail("type", "a name such as Ready or example.com/Ready", type);
  if (!["True", "False", "Unknown", true, false].includes(status)) fail("status", "True, False or Unknown", status);
  if (typeof reason !== "string" || reason.length > 1024 || !REASON.test(reason)) {
    fail("reason", "one word of letters, digits, _ , and : that starts with a letter", reason);
  }
}

/**
 * Makes sure that the objects of a kind can have conditions, as far as its schema is known.
 *
 * @throws {TypeError} If the server would drop them
 */
export function assertConditions<T extends KubernetesObject>(resource: Resource<T>, type: string): void {
  if (!(resource instanceof CustomResource)) return;
  const status = resource.schema.properties?.status;
  if (!status || status["x-kubernetes-preserve-unknown-fields"] || status.additionalProperties) return;
  if (status.properties?.conditions) return;
  throw new TypeError(
    `Cannot set condition "${type}": the 'status' schema of ${resource.kind} must have 'conditions', or the server drops ` +
      `them: an array of { type, status, reason, message, lastTransitionTime, observedGeneration? }`,
  );
}

/**
 * Answers with the conditions after the update; the very same list if nothing changes.
 *
 * `lastTransitionTime` stays unless the status flips. Messages are cut at the usual schema's 32,768 characters.
 *
 * @throws {TypeError} If type, status or reason are not what the API conventions ask
 */
export function updateConditions(
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  options: UpdateConditionsOptions = {},
): readonly Condition[] {
  validate(update);
  const { observedGeneration, now = new Date() } = options;
  const { type, reason, message = "" } = update;
  const status = typeof update.status === "boolean" ? (update.status ? "True" : "False") : update.status;
  const before = conditions?.find((condition) => condition.type === type);
  const flips = before?.status !== status;
  const after: Condition = {
    type,
    status,
    reason,
    message: message.slice(0, 32_768),
    lastTransitionTime: flips || !before?.lastTransitionTime ? timestamp(now) : before.lastTransitionTime,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  if (before && conditions && same(before, after)) return conditions;
  return before ? conditions!.map((one) => one === before ? after : one) : [...conditions ?? [], after];
}

function same(a: Condition, b: Condition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message &&
    a.observedGeneration === b.observedGeneration && a.lastTransitionTime === b.lastTransitionTime;
}

/** A Kubernetes `Time`: RFC 3339 in whole seconds. */
function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
