/**
 * Finds out who asks by client certificate: the subject's name is the user's, its organizations are the groups.
 *
 * ```ts
 * import { certificateUser } from "./_certificate_user.ts";
 *
 * const certificate = { commonName: "ada", organizations: ["dev"], fingerprint: "00", trusted: true };
 * console.assert(certificateUser(certificate, new Headers())?.name === "ada");
 * ```
 *
 * @module
 */
import type { User } from "./_user.ts";
import type { RequestHeaders } from "./_request_headers.ts";
import type { ClientCertificate } from "./_secure_server.ts";
import { StatusError } from "./_status.ts";

/**
 * The user of a certificate; undefined if there is none, or a token is to say who asks.
 *
 * @throws {StatusError} If the certificate is not of the authority that is trusted, and there is nothing else to go by
 */
export function certificateUser(certificate: ClientCertificate | undefined, headers: RequestHeaders): User | undefined {
  if (!certificate) return undefined;
  const { commonName, organizations, fingerprint, trusted } = certificate;
  if (!trusted) {
    if (headers.has("authorization")) return undefined;
    throw new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
  }
  if (commonName === "") return undefined;
  return {
    name: commonName,
    groups: [...new Set([...organizations, "system:authenticated"])],
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}
