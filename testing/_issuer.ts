/**
 * Says who issues the tokens of service accounts, as OpenID Connect discovery has it.
 *
 * ```ts
 * import { issuerDocument } from "./_issuer.ts";
 *
 * const answer = issuerDocument("/.well-known/openid-configuration", "GET", null, "localhost:6443");
 * console.assert(answer?.status === 200);
 * ```
 *
 * @module
 */
import type { Reply } from "./_reply.ts";
import { mediaType } from "./_codec.ts";
import { methodNotAllowed, notAcceptable } from "./_status.ts";

/** The issuer, and audience, of tokens. */
export const ISSUER = "https://kubernetes.default.svc";

/** Answers with a document about the issuer; undefined if the path is of none. */
export function issuerDocument(
  path: string,
  method: string,
  accept: string | null,
  host: string,
): Reply | undefined {
  switch (path.replace(/\/$/, "")) {
    case "/.well-known/openid-configuration":
      return document(method, accept, "application/json", {
        issuer: ISSUER,
        jwks_uri: `https://${host}/openid/v1/jwks`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    // Tokens are looked up, not verified: there is no key.
    case "/openid/v1/jwks":
      return document(method, accept, "application/jwk-set+json", { keys: [] });
  }
  return undefined;
}

function document(method: string, accept: string | null, type: string, body: unknown): Reply {
  if (method !== "GET") throw methodNotAllowed();
  checkType(accept, type);
  const headers = [["content-type", type], ["cache-control", "public, max-age=3600"]] as const;
  return { status: 200, headers, body: JSON.stringify(body) };
}

/** Refuses who does not accept the one type that there is. */
export function checkType(accept: string | null, type: string): void {
  const wanted = (accept || "*/*").split(",").map((each) => mediaType(each).type);
  if (!wanted.some((each) => each === type || each === "*/*")) {
    throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${type}`, { details: {} });
  }
}
