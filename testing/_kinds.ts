/**
 * Says how each built-in kind behaves: defaults, what the server prepares, what it refuses, and how it deletes.
 *
 * ```ts
 * import { behaviourOf } from "./_kinds.ts";
 *
 * console.assert(behaviourOf("leases.coordination.k8s.io").createOnUpdate === true);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { CERTIFICATES } from "./_kinds_certificates.ts";
import { CORE } from "./_kinds_core.ts";
import { DISCOVERY } from "./_kinds_discovery.ts";
import { FLOWS } from "./_kinds_flows.ts";
import { NETWORKING } from "./_kinds_networking.ts";
import { POLICIES } from "./_kinds_policies.ts";
import { RBAC_KINDS } from "./_kinds_rbac.ts";
import { REGISTRATION } from "./_kinds_registration.ts";
import { RUNTIME } from "./_kinds_runtime.ts";
import { STORAGE } from "./_kinds_storage.ts";
import { WEBHOOKS } from "./_kinds_webhooks.ts";
import { WORKLOADS } from "./_kinds_workloads.ts";
import { OTHERS } from "./_kinds_others.ts";

export type { Behaviour } from "./_kind.ts";

const ALL: Readonly<Record<string, Behaviour>> = {
  ...CORE,
  ...CERTIFICATES,
  ...WORKLOADS,
  ...OTHERS,
  ...POLICIES,
  ...DISCOVERY,
  ...NETWORKING,
  ...RBAC_KINDS,
  ...REGISTRATION,
  ...STORAGE,
  ...FLOWS,
  ...RUNTIME,
  ...WEBHOOKS,
};

const COMMON: Behaviour = {};

/** How the kind with this storage behaves. */
export function behaviourOf(storage: string): Behaviour {
  return ALL[storage] ?? COMMON;
}
