/**
 * Refuses requests for tokens of service accounts that a server does not grant.
 *
 * ```ts
 * import { lifetimeRules } from "./_token_request.ts";
 *
 * console.assert(lifetimeRules(1).length === 1);
 * ```
 *
 * @module
 */
import type { Call } from "./_call.ts";
import type { Fields, Kube } from "./_objects.ts";
import { badRequest, type Cause, cause, conflict, invalid, notFound } from "./_status.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };

/** What is wrong with how long a token lives, in words. */
export function lifetimeRules(seconds: number): string[] {
  return [
    ...(seconds < 600 ? ["may not specify a duration less than 10 minutes"] : []),
    ...(seconds > 2 ** 32 ? ["may not specify a duration larger than 2^32 seconds"] : []),
  ];
}

/** Where the objects are that a token may be bound to. */
const BOUND: Readonly<Record<string, { plural: string; namespaced: boolean }>> = {
  Node: { plural: "nodes", namespaced: false },
  Pod: { plural: "pods", namespaced: true },
  Secret: { plural: "secrets", namespaced: true },
};

/** Refuses a request for a token of an account. */
export function checkTokenRequest(call: Call, { metadata = {}, spec = {} }: Fields, account: Kube): void {
  const { name, namespace } = call.asked;
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (metadata.name && metadata.name !== name) {
    const why = "must match the service account name if specified";
    throw invalid(KIND, name, [cause.invalid("metadata.name", metadata.name, why)]);
  }
  const causes = checkSpec(spec);
  if (causes.length > 0) throw invalid(KIND, "", causes);
  if (spec.boundObjectRef) checkBound(call, spec.boundObjectRef, account);
}

function checkSpec({ expirationSeconds, attestations }: Fields): Cause[] {
  if (attestations && Object.keys(attestations).length > 0) {
    const why = "attestations may only be specified with a webhook bound object reference";
    return [cause.invalid("spec.attestations", attestations, why)];
  }
  const wrong = lifetimeRules(expirationSeconds ?? 3600);
  return wrong.map((why) => cause.invalid("spec.expirationSeconds", expirationSeconds, why));
}

function checkBound({ server, asked }: Call, reference: Fields, account: Kube): void {
  const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
  const found = apiVersion === "v1" ? BOUND[kind] : undefined;
  if (!found) {
    const text = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${text}, Kind=${kind}`);
  }
  if (name === "") throw badRequest("Name parameter required.");
  const { plural, namespaced } = found;
  const object = server.store.collection(plural).get(namespaced ? asked.namespace : "", name)?.object;
  if (!object) throw notFound({ group: "", plural }, name);
  if (kind === "Pod" && (object.spec?.serviceAccountName ?? "") !== account.metadata.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account.metadata.name)} to pod running with different ` +
        "serviceaccount name.",
    );
  }
  if (uid === "" || uid === object.metadata.uid) return;
  throw conflict(
    { group: "", plural: kind },
    name,
    `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been ` +
      "deleted and then recreated",
  );
}
