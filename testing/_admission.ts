/**
 * Admits writes as the built-in admission plugins do: namespaces must be there, and some may not be deleted.
 *
 * ```ts
 * import { IMMORTAL } from "./_admission.ts";
 *
 * console.assert(IMMORTAL.has("default"));
 * ```
 *
 * @module
 */
import type { Call } from "./_call.ts";
import { checkEscalation, checkOwners } from "./_escalation.ts";
import { admitByLimits } from "./_limits.ts";
import type { Kube } from "./_objects.ts";
import { isDryRun } from "./_options.ts";
import { admitByQuotas } from "./_quotas.ts";
import { forbidden, notFound } from "./_status.ts";

/** Namespaces that cannot be deleted. */
export const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** Refuses a create in a namespace that is not there, or going. */
export function admitCreate(call: Call, object: Kube): void {
  const { info } = call;
  if (info.custom?.terminating) {
    const why = "create not allowed while custom resource definition is terminating";
    throw forbidden(info, object.metadata.name ?? "", why);
  }
  admitNamespace(call, object);
  checkOwners(call, object);
  checkEscalation(call, object);
}

function admitNamespace(call: Call, object: Kube): void {
  const { info, asked, server } = call;
  if (!info.namespaced) return;
  const namespace = server.store.collection("namespaces").get("", asked.namespace)?.object;
  if (!namespace) throw notFound({ group: "", plural: "namespaces" }, asked.namespace);
  if (namespace.metadata.deletionTimestamp !== undefined) {
    const why = `unable to create new content in namespace ${asked.namespace} because it is being terminated`;
    throw forbidden(info, object.metadata.name ?? "", why, [{
      reason: "NamespaceTerminating",
      message: `namespace ${asked.namespace} is being terminated`,
      field: "metadata.namespace",
    }]);
  }
}

/** Looks at an update. */
export function admitUpdate(call: Call, object: Kube, old: Kube): void {
  checkOwners(call, object, old);
  checkEscalation(call, object, old);
}

/** Refuses to delete what the cluster cannot be without. */
export function admitDelete({ info, asked }: Call): void {
  if (info.storage === "namespaces" && IMMORTAL.has(asked.name)) {
    throw forbidden(info, asked.name, "this namespace may not be deleted");
  }
}

/** Refuses a new object that is valid, but beyond the limits or quotas of its namespace. */
export function admitValid(call: Call, object: Kube): void {
  const { info, server } = call;
  if (!info.namespaced) return;
  admitByLimits(info.storage, object, server);
  admitByQuotas(info.storage, object, server, isDryRun(call));
}
