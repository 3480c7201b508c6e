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
import type { Behaviour } from "./_kind.ts";
import type { Fields } from "./_objects.ts";

const APPROVALS = new Set(["Approved", "Denied"]);

function conditions(object: Fields): Fields[] {
  return object.status?.conditions ?? [];
}

function withConditions(old: Fields, list: readonly Fields[]): Fields {
  return { ...old, status: { ...old.status, ...(list.length > 0 ? { conditions: list } : {}) } };
}

/** An approval changes whether a request is approved or denied, and nothing else. */
function approve(object: Fields, old: Fields): Fields {
  const kept = conditions(old).filter(({ type }) => !APPROVALS.has(type));
  const given = conditions(object).filter(({ type }) => APPROVALS.has(type));
  return withConditions({ ...old, metadata: object.metadata }, [...kept, ...given]);
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
    parts: { approval: approve },
  },
};
