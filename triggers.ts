/**
 * Decides which changes of which objects make which keys be reconciled.
 *
 * ```ts
 * import { type KubernetesObject } from "@tend/operator";
 * import { changesDesired } from "./triggers.ts";
 *
 * export function quiet(before: KubernetesObject, after: KubernetesObject): boolean {
 *   return !changesDesired(before, after);
 * }
 * ```
 *
 * @module
 */
import { equal } from "./json.ts";
import {
  controllerOf,
  keyOf,
  type KubernetesObject,
  type ObjectMeta,
  type ObjectRef,
  type Resource,
  toKey,
} from "./resource.ts";

/** What of an object's metadata asks for something, besides the generation. */
const DESIRED = ["deletionTimestamp", "finalizers", "labels", "annotations", "ownerReferences"] as const;

/**
 * True if an update asks for something new: its spec (by generation where the kind has one), deletion, finalizers, labels,
 * annotations or owners changed. Its status, resource version and managed fields do not count: they are mostly the
 * operator's own writes coming back.
 */
export function changesDesired(before: KubernetesObject, after: KubernetesObject): boolean {
  const from = before.metadata;
  const to = after.metadata;
  if (from.generation === undefined || to.generation === undefined) return changesAnything(before, after, ["status"]);
  return from.generation !== to.generation || DESIRED.some((field) => !equal(from[field], to[field]));
}

/** True if anything but the resource version and managed fields changed, or the named top-level fields. */
export function changesAnything(
  before: KubernetesObject,
  after: KubernetesObject,
  ignored: readonly string[] = [],
): boolean {
  const strip = (object: KubernetesObject): Record<string, unknown> => {
    const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata;
    const rest: Record<string, unknown> = { ...object, metadata };
    for (const field of ignored) delete rest[field];
    return rest;
  };
  return !equal(strip(before), strip(after));
}

/**
 * Answers with the key of the object of `owner`'s kind that controls this one, if one does.
 *
 * Group and kind of the reference count, its version does not; the owner of a child is in its namespace, or cluster-scoped.
 */
export function ownerKey(owner: Resource, { namespace, ownerReferences }: ObjectMeta): string | undefined {
  const reference = ownerReferences?.find((one) => one.controller === true && owner.is(one));
  return reference && toKey({ name: reference.name, namespace: owner.namespaced ? namespace : undefined });
}

/** Answers with the uid of the controlling owner: the value under which caches index children. */
export function controllerUid(object: KubernetesObject): readonly string[] {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
}

/**
 * Reads what a `map` function answered with for an object, as TypeScript may not have checked it.
 *
 * @throws {TypeError} If it is no list of objects or of their names
 */
export function mapped(answer: unknown, object: KubernetesObject): ObjectRef[] {
  const fail = (value: unknown): never => {
    throw new TypeError(
      `Cannot map ${object.kind} "${
        keyOf(object)
      }": 'map' must answer, without a promise, with a list of objects or of ` +
        `{ name, namespace }, [] for none: current value is ${Deno.inspect(value, { depth: 1 })}`,
    );
  };
  if (answer instanceof Promise) answer.catch(() => {}); // It is refused, whatever becomes of it.
  if (typeof answer !== "object" || answer === null || !(Symbol.iterator in answer)) return fail(answer);
  return Array.from(answer as Iterable<unknown>, (target) => {
    const ref = typeof target === "object" && target !== null && "metadata" in target ? target.metadata : target;
    if (typeof (ref as ObjectRef | null | undefined)?.name !== "string") return fail([target]);
    return ref as ObjectRef;
  });
}
