/**
 * Applies children of owners: checked before anything is sent, never twice the same, never somebody else's.
 *
 * ```ts
 * import { ChildClaims } from "./_owned_child.ts";
 *
 * const claims = new ChildClaims();
 * using _mine = claims.claim("configmaps shop/web", "uid of one owner")!;
 * console.assert(claims.claim("configmaps shop/web", "uid of another") === undefined);
 * ```
 *
 * @module
 */
import type { WatchedKind } from "./_watched_kinds.ts";
import type { Client } from "./client.ts";
import type { WriteMemo } from "./memo.ts";
import {
  assertCanOwn,
  controllerOf,
  type DraftMeta,
  groupOf,
  keyOf,
  type KindedDraft,
  type KubernetesObject,
  type OwnerReference,
  ownerReference,
  toKey,
} from "./resource.ts";

/** Which owners are applying which children now. */
export class ChildClaims {
  readonly #claims: Map<string, { readonly owner: string; count: number }> = new Map();

  /** Claims a child until the claim is disposed of; undefined while another owner's claim stands. */
  claim(child: string, owner: string): Disposable | undefined {
    const claim = this.#claims.get(child) ?? { owner, count: 0 };
    if (claim.owner !== owner) return undefined;
    claim.count++;
    this.#claims.set(child, claim);
    return {
      [Symbol.dispose]: () => {
        if (--claim.count === 0) this.#claims.delete(child);
      },
    };
  }
}

/** What an apply works with. */
export interface ApplyEnvironment {
  readonly client: Client;
  readonly fieldManager: string;
  readonly memo: WriteMemo;
  readonly claims: ChildClaims;
}

/** A child as it is written. */
type ChildDraft = { readonly apiVersion: string; readonly kind: string; readonly metadata: DraftMeta };

/**
 * Applies a child of an owner, unless the cached one is still what the last apply of the same made of it, but for its status.
 *
 * @throws {TypeError} If the child has no name or namespace, or the garbage collector would not find the owner
 * @throws {Error} If another object controls the child
 */
export async function applyChild(
  environment: ApplyEnvironment,
  { resource, informer, metadataOnly }: WatchedKind,
  owner: KubernetesObject,
  child: ChildDraft,
): Promise<KubernetesObject> {
  const { client, fieldManager, memo, claims } = environment;
  const { namespace: given, ...rest } = child.metadata;
  const namespace = resource.namespaced ? given ?? owner.metadata.namespace : undefined;
  const metadata = namespace === undefined ? rest : { ...rest, namespace };
  const what = `${child.kind} "${metadata.name}" of ${owner.kind} "${keyOf(owner)}"`;
  if (!metadata.name) {
    throw new TypeError(
      `Cannot apply a ${child.kind} of ${owner.kind} "${
        keyOf(owner)
      }": 'metadata.name' must be set, so that the same ` +
        `child is met again: current value is ${Deno.inspect(metadata.name)}`,
    );
  }
  if (resource.namespaced && namespace === undefined) {
    throw new TypeError(
      `Cannot apply ${what}: 'metadata.namespace' must be set for a child of a cluster-scoped owner: ` +
        `current value is ${Deno.inspect(given)}`,
    );
  }
  assertCanOwn(owner, { kind: child.kind, metadata });
  const reference = ownerReference(owner);
  const others = (metadata.ownerReferences ?? []).filter((other) => other.uid !== reference.uid && !other.controller);
  const draft = { ...child, metadata: { ...metadata, ownerReferences: [...others, reference] } };

  const key = toKey({ namespace, name: metadata.name });
  const id = `${resource.id} ${key}`;
  const cached = informer.get(key);
  const controller = cached && controllerOf(cached);
  if (controller && !isSameOwner(controller, reference)) {
    throw new Error(
      `Cannot apply ${what}: another object controls it, so the child needs another name: ` +
        `current controller is ${controller.kind} "${controller.name}"`,
    );
  }
  const state = (object: KubernetesObject): unknown => "status" in draft ? undefined : desired(object, metadataOnly);
  if (cached && memo.stands(id, draft, cached.metadata.resourceVersion, () => state(cached))) return cached;
  using claim = claims.claim(id, reference.uid);
  if (!claim) {
    throw new Error(`Cannot apply ${what}: another object is applying it now, so the child needs another name`);
  }
  const applied = await client.api(resource).apply(draft as KindedDraft<KubernetesObject>, {
    force: true,
    fieldManager,
  });
  const { resourceVersion } = applied.metadata;
  const held = informer.get(key);
  // What the cache does not hold at that version is gone, or changed, already.
  if (held?.metadata.resourceVersion === resourceVersion) memo.remember(id, draft, resourceVersion, state(held));
  return applied;
}

/** True for the same object, or an earlier one of the same name whose children are taken over. */
function isSameOwner(one: OwnerReference, other: OwnerReference): boolean {
  return one.kind === other.kind && one.name === other.name && groupOf(one.apiVersion) === groupOf(other.apiVersion);
}

/** What of a child an apply can change: all but its status; undefined if its metadata alone cannot tell. */
function desired(object: KubernetesObject, metadataOnly: boolean): unknown {
  if (metadataOnly && object.metadata.generation === undefined) return undefined;
  const { status: _status, metadata, ...rest } = object as KubernetesObject & { status?: unknown };
  const { resourceVersion: _version, managedFields: _fields, ...others } = metadata;
  return [rest, others];
}
