/**
 * Writes kubeconfigs of one cluster and one user, for the API servers of tests.
 *
 * ```ts
 * import { kubeconfigOf } from "./_kubeconfig.ts";
 *
 * console.log(kubeconfigOf({ server: "http://127.0.0.1:8001" }));
 * ```
 *
 * @module
 */
import { stringify } from "@std/yaml";

/** What a kubeconfig says. */
export interface KubeconfigParts {
  /** The server's address. */
  readonly server: string;
  /** The certificate of the server's authority, PEM. */
  readonly ca?: string;
  /** The user's name, and the context's; `tend` when there is none. */
  readonly user?: string;
  /** The namespace of requests that name none; `default` when there is none. */
  readonly namespace?: string;
  /** A bearer token. */
  readonly token?: string;
  /** A client certificate, PEM. */
  readonly cert?: string;
  /** The private key of the client certificate, PEM. */
  readonly key?: string;
}

/** Spells a kubeconfig as YAML, with everything in it. */
export function kubeconfigOf(parts: KubeconfigParts): string {
  const { server, ca, user = "tend", namespace = "default", token, cert, key } = parts;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{
      name: "tend",
      cluster: { server, ...(ca === undefined ? {} : { "certificate-authority-data": btoa(ca) }) },
    }],
    users: [{
      name: user,
      user: {
        ...(token === undefined ? {} : { token }),
        ...(cert === undefined ? {} : { "client-certificate-data": btoa(cert) }),
        ...(key === undefined ? {} : { "client-key-data": btoa(key) }),
      },
    }],
    contexts: [{ name: user, context: { cluster: "tend", user, namespace } }],
    "current-context": user,
  });
}
