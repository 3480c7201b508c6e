/**
 * Says how requests for certificates behave: who asks is noted, and approval is a subresource.
 *
 * ```ts
 * import { CERTIFICATES } from "./_kinds_certificates.ts";
 *
 * console.assert(CERTIFICATES["certificatesigningrequests.certificates.k8s.io"]?.selectable?.[0] === "spec.signerName");
 * ```
 *
 * @module
 */
import { checkDecision, checkRequest } from "./_certificate_rules.ts";
import type { Behaviour, Ground } from "./_kind.ts";
import { type Fields, timestamp } from "./_objects.ts";

const APPROVALS = new Set(["Approved", "Denied"]);

function conditions(object: Fields): Fields[] {
  return object.status?.conditions ?? [];
}

function withConditions(old: Fields, list: readonly Fields[]): Fields {
  return { ...old, status: { ...old.status, ...(list.length > 0 ? { conditions: list } : {}) } };
}

/** Notes when conditions came, where a client does not say so. */
function timed(list: readonly Fields[], old: Fields, server: Ground): Fields[] {
  const now = timestamp(server.now());
  return list.map((each) => {
    const before = conditions(old).find(({ type, status }) => type === each.type && status === each.status);
    return {
      ...each,
      lastUpdateTime: each.lastUpdateTime ?? now,
      lastTransitionTime: each.lastTransitionTime ?? before?.lastTransitionTime ?? now,
    };
  });
}

/** An approval changes the conditions, and nothing else. */
function approve(object: Fields, old: Fields, server: Ground): Fields {
  return withConditions({ ...old, metadata: object.metadata }, timed(conditions(object), old, server));
}

/** A write of the status leaves alone what was decided. */
function prepareStatus(object: Fields, old: Fields, server: Ground): void {
  if (conditions(object).length === 0) return;
  const kept = (each: Fields): Fields =>
    APPROVALS.has(each.type) ? conditions(old).find(({ type }) => type === each.type) ?? each : each;
  object.status = { ...object.status, conditions: timed(conditions(object).map(kept), old, server) };
}

/** The behaviours by storage. */
export const CERTIFICATES: Readonly<Record<string, Behaviour>> = {
  "certificatesigningrequests.certificates.k8s.io": {
    status: true,
    selectable: ["spec.signerName"],
    prepareCreate: (object, _server, { name, uid, groups, extra }) => {
      const { username: _, uid: _uid, groups: _groups, extra: _extra, ...spec } = object.spec ?? {};
      object.spec = {
        ...spec,
        username: name,
        ...(uid ? { uid } : {}),
        ...(groups.length > 0 ? { groups: [...groups] } : {}),
        ...(extra ? { extra } : {}),
      };
    },
    prepareUpdate: (object, old) => {
      object.spec = old.spec;
    },
    names: "path",
    validate: ({ metadata: _, ...object }, _apiVersion, subresource, old) =>
      old ? checkDecision(object, old, subresource) : checkRequest(object.spec),
    prepareStatus,
    parts: { approval: approve },
  },
};
