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
import { isEmpty } from "./_checks.ts";
import { CLEANUP } from "./_definitions.ts";
import { definitionWarnings } from "./_definition_warnings.ts";
import { validateDefinition, validateDefinitionUpdate } from "./_definition_rules.ts";
import type { Behaviour } from "./_kind.ts";
import { type Fields, isObject } from "./_objects.ts";

/** Drops a webhook that says nothing, and fills in the port of its Service. */
function defaultWebhook(conversion: Fields): void {
  const { webhook } = conversion;
  if (!isObject(webhook)) return;
  const { clientConfig, conversionReviewVersions } = webhook;
  if (isObject(clientConfig?.service)) clientConfig.service.port ??= 443;
  if (clientConfig === undefined && !conversionReviewVersions?.length) delete conversion.webhook;
}

/** The name of the version that objects are stored in. */
function storageOf(spec: Fields | undefined): string | undefined {
  return (spec?.versions ?? []).find((each: Fields) => each.storage)?.name;
}

/** The behaviour. */
export const DEFINITION: Behaviour = {
  status: true,
  returnsDeleted: true,
  desired: (object) => object.spec,
  conditionalUpdate: true,
  marksItself: true,
  bareFinalizers: true,
  defaults: ({ spec, status }) => {
    if (!spec) return;
    if (isEmpty(status?.storedVersions)) {
      const storage = storageOf(spec);
      if (status && storage) status.storedVersions = [storage];
    }
    const names: Fields = spec.names ??= {};
    names.singular ||= String(names.kind ?? "").toLowerCase();
    if (names.kind) names.listKind ||= `${names.kind}List`;
    spec.conversion ??= { strategy: "None" };
    defaultWebhook(spec.conversion);
  },
  prepareCreate: (object) => {
    const storage = storageOf(object.spec);
    object.status = {
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: storage ? [storage] : [],
    };
  },
  prepareUpdate: (object) => {
    const storage = storageOf(object.spec);
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
  warnings: definitionWarnings,
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
};
