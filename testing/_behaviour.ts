/**
 * Finds how a resource behaves: as its kind does, or as its definition says.
 *
 * ```ts
 * import { behaviourOf } from "./_behaviour.ts";
 * import { Registry } from "./_registry.ts";
 *
 * const pods = new Registry().find("", "v1", "pods");
 * console.assert(pods === undefined || behaviourOf(pods) !== undefined);
 * ```
 *
 * @module
 */
import { type Behaviour, behaviourOf as builtin } from "./_kinds.ts";
import type { Kube } from "./_objects.ts";
import type { ResourceInfo } from "./_registry.ts";
import type { State } from "./_revision.ts";

/** How a resource behaves. */
export function behaviourOf(info: ResourceInfo): Behaviour {
  return info.custom?.behaviour ?? builtin(info.storage);
}

/** True if a stored object is shown as it is. */
export function isAsStored(info: ResourceInfo, { writtenAs }: Pick<State, "writtenAs">): boolean {
  return writtenAs === info.encoding || behaviourOf(info).fromStorage === undefined;
}

/** A stored object in the version of the resource. */
export function view(info: ResourceInfo, state: State): Kube {
  const { object } = state;
  return isAsStored(info, state) ? object : behaviourOf(info).fromStorage!(object, info.apiVersion) as Kube;
}
