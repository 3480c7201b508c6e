/**
 * Says how CustomResourceDefinitions behave.
 *
 * ```ts
 * import { DEFINITION } from "./_kinds_definitions.ts";
 *
 * console.assert(DEFINITION.status);
 * ```
 *
 * @module
 */
import { CLEANUP } from "./_definitions.ts";
import { validateDefinition, validateDefinitionUpdate } from "./_definition_rules.ts";
import type { Behaviour } from "./_kind.ts";
import type { Fields } from "./_objects.ts";

/** The behaviour. */
export const DEFINITION: Behaviour = {
  status: true,
  returnsDeleted: true,
  desired: (object) => object.spec,
  conditionalUpdate: true,
  bareFinalizers: true,
  defaults: ({ spec }) => {
    if (!spec) return;
    const names: Fields = spec.names ??= {};
    names.singular ||= String(names.kind ?? "").toLowerCase();
    names.listKind ||= `${names.kind}List`;
    spec.conversion ??= { strategy: "None" };
    spec.conversion.strategy ||= "None";
  },
  prepareCreate: (object) => {
    const storage = (object.spec?.versions ?? []).find((each: Fields) => each.storage)?.name;
    object.status = {
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: storage ? [storage] : [],
    };
  },
  prepareUpdate: (object) => {
    const storage = (object.spec?.versions ?? []).find((each: Fields) => each.storage)?.name;
    const stored: string[] = object.status?.storedVersions ?? [];
    if (storage && !stored.includes(storage)) {
      object.status = { ...object.status, storedVersions: [...stored, storage] };
    }
  },
  prepareDelete: (object) => {
    const { metadata, status = {} } = object;
    const conditions: Fields[] = status.conditions ?? [];
    if (conditions.some(({ type }) => type === "Terminating")) return object;
    const terminating = {
      type: "Terminating",
      status: "True",
      lastTransitionTime: metadata.deletionTimestamp,
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    const finalizers: string[] = metadata.finalizers ?? [];
    return {
      ...object,
      metadata: { ...metadata, finalizers: finalizers.includes(CLEANUP) ? finalizers : [...finalizers, CLEANUP] },
      status: { ...status, conditions: [...conditions, terminating] },
    };
  },
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
};
