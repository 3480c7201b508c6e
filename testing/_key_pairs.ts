/**
 * Says what keeps a certificate and a key in PEM from being a pair, in the words of Go's TLS.
 *
 * ```ts
 * import { keyPairProblem } from "./_key_pairs.ts";
 *
 * console.assert(keyPairProblem("", "") === "tls: failed to find any PEM data in certificate input");
 * ```
 *
 * @module
 */
import { createPrivateKey, X509Certificate } from "node:crypto";

/** One block of a text in PEM. */
interface Block {
  readonly type: string;
  readonly text: string;
}

function blocksOf(pem: string): Block[] {
  const found = pem.matchAll(/^-----BEGIN ([^\n]+)-----\r?\n[A-Za-z0-9+/=\s]*?-----END \1-----\s*?$/gm);
  return [...found].map(([text, type = ""]) => ({ type, text }));
}

function isKey({ type }: Block): boolean {
  return type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY");
}

function typesOf(blocks: readonly Block[]): string {
  return `[${blocks.map(({ type }) => type).join(" ")}]`;
}

function noCertificate(blocks: readonly Block[]): string {
  if (blocks.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (blocks.length === 1 && blocks[0]!.type.endsWith("PRIVATE KEY")) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may " +
      "have been switched";
  }
  return 'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following ' +
    `types: ${typesOf(blocks)}`;
}

function noKey(blocks: readonly Block[]): string {
  if (blocks.length === 0) return "tls: failed to find any PEM data in key input";
  if (blocks.length === 1 && blocks[0]!.type === "CERTIFICATE") {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return 'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the ' +
    `following types: ${typesOf(blocks)}`;
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** What is wrong with a certificate and its key; undefined if they are a pair. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const certificates = blocksOf(certificate), keys = blocksOf(key);
  const first = certificates.find(({ type }) => type === "CERTIFICATE");
  if (!first) return noCertificate(certificates);
  const own = keys.find(isKey);
  if (!own) return noKey(keys);
  const read = attempt(() => new X509Certificate(first.text));
  if (!read) return "x509: malformed certificate";
  const secret = attempt(() => createPrivateKey(own.text));
  if (!secret) return "tls: failed to parse private key";
  return read.checkPrivateKey(secret) ? undefined : "tls: private key does not match public key";
}
