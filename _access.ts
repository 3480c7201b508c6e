/**
 * Checks what a kubeconfig or service account gives before any of it is used, so that errors name their source.
 *
 * ```ts
 * import { checkAccess } from "./_access.ts";
 *
 * const access = checkAccess({ origin: "options", server: "https://localhost:6443/", headers: [] });
 * console.assert(access.server === "https://localhost:6443");
 * ```
 *
 * @module
 */
import { messageOf } from "./errors.ts";

/** What a source says of the server and how to reach it. */
export interface Access {
  /** Where it comes from, for errors. */
  readonly origin: string;
  /** The server's URL. */
  readonly server: string;
  readonly namespace?: string | undefined;
  /** PEM, any number of certificates. */
  readonly ca?: string | undefined;
  /** The certificates in `ca`, one each; set by {@linkcode checkAccess}. */
  readonly certificates?: readonly string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly proxy?: string | undefined;
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** When the credentials end, in ms since 1970. */
  readonly expires?: number | undefined;
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g;
const KEY = /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[\s\S]+?-----END (?:RSA |EC )?PRIVATE KEY-----/;

/**
 * Answers with a checked copy: the URL without its last slash, the CA's certificates one by one.
 *
 * @throws {TypeError} If a part is wrong
 */
export function checkAccess(access: Access): Access {
  const { origin, ca, cert, key, insecure, headers } = access;
  const refuse = (field: string, rule: string, current: string): never => {
    throw new TypeError(
      `Cannot use the credentials of ${origin}: '${field}' must ${rule}: current value is ${current}`,
    );
  };
  const server = checkServer(access.server, refuse);
  checkProxy(access.proxy, refuse);
  const certificates = ca?.match(CERTIFICATE) ?? undefined;
  if (ca !== undefined && !certificates) {
    refuse("certificate-authority", "hold at least one certificate in PEM", describe(ca));
  }
  if (certificates && insecure) {
    refuse("insecure-skip-tls-verify", "not be set together with a certificate-authority", "true");
  }
  if (cert !== undefined && !cert.match(CERTIFICATE)) {
    refuse("client-certificate", "hold a certificate in PEM", describe(cert));
  }
  if (key !== undefined && (/ENCRYPTED/.test(key) || !KEY.test(key))) {
    refuse("client-key", "be an unencrypted private key in PEM (PKCS#8, PKCS#1 or SEC1)", describe(key));
  }
  if (cert !== undefined && key === undefined) refuse("client-key", "be set with a client-certificate", "undefined");
  if (key !== undefined && cert === undefined) refuse("client-certificate", "be set with a client-key", "undefined");
  // While files are being replaced, one may be new and the other old: what cannot be used must not take the place of what can.
  const unusable = (settings: Parameters<typeof Deno.createHttpClient>[0]): string | undefined => {
    try {
      Deno.createHttpClient(settings).close();
    } catch (error) {
      return messageOf(error);
    }
  };
  const authorities = certificates && unusable({ caCerts: [...certificates] });
  if (authorities) refuse("certificate-authority", "hold certificates that can be read", authorities);
  const pair = cert !== undefined && key !== undefined && unusable({ cert, key });
  if (pair) refuse("client-key", "be that of the client-certificate", pair);
  for (const [name, value] of headers) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) refuse(name, "be the name of a header", "another");
    if (!/^[\x20-\x7e]*$/.test(value)) refuse(name, "be one line of printable ASCII characters", "another");
  }
  return { ...access, server, certificates };
}

type Refuse = (field: string, rule: string, current: string) => never;

function checkServer(server: string, refuse: Refuse): string {
  const url = URL.parse(server.includes("://") ? server : `https://${server}`);
  const secret = url !== null && (url.username !== "" || url.password !== "");
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || secret) {
    return refuse("server", "be an http or https URL without user, query and fragment", showUrl(server));
  }
  return url.href.replace(/\/+$/, "");
}

function checkProxy(proxy: string | undefined, refuse: Refuse): void {
  if (proxy === undefined) return;
  const url = URL.parse(proxy);
  if (url && /^(https?|socks5h?):$/.test(url.protocol) && url.hostname !== "") return;
  refuse("proxy-url", "be an http, https or socks5 URL", showUrl(proxy));
}

/** A URL for an error: without what may be secret in it, the user, query and fragment. */
export function showUrl(text: string): string {
  const { protocol, host, pathname } = URL.parse(text) ?? {};
  if (!protocol) return "no URL";
  return host ? `"${protocol}//${host}${pathname}"` : `one of "${protocol}"`;
}

/** Says what a PEM text is, without showing it. */
function describe(text: string): string {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1];
  if (text.trim() === "") return "empty";
  if (!label) return "not PEM";
  return /Proc-Type:.*ENCRYPTED/.test(text) ? `${label}, encrypted` : label;
}
