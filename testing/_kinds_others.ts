/**
 * Says how the kinds of the other groups behave.
 *
 * ```ts
 * import { OTHERS } from "./_kinds_others.ts";
 *
 * console.assert(OTHERS.events?.createOnUpdate);
 * ```
 *
 * @module
 */
import type { Behaviour } from "./_kind.ts";
import { DEFINITION } from "./_kinds_definitions.ts";
import { EVENTS } from "./_kinds_events.ts";
import { SERVICES } from "./_kinds_services.ts";

/** The behaviours by storage. */
export const OTHERS: Readonly<Record<string, Behaviour>> = {
  "customresourcedefinitions.apiextensions.k8s.io": DEFINITION,
  events: EVENTS,
  services: SERVICES,
};
