/**
 * Makes the X.509 v3 certificates of a control plane: an authority, its servers and its users, with nothing but `node:crypto`.
 *
 * ```ts
 * import { Authority } from "./_certificates.ts";
 *
 * const authority = new Authority("test");
 * const server = authority.server(["127.0.0.1", "localhost"]);
 * console.assert(server.cert.startsWith("-----BEGIN CERTIFICATE-----"));
 * ```
 *
 * @module
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  /** The certificate. */
  readonly cert: string;
  /** The private key, PKCS#8. */
  readonly key: string;
}

type Bytes = Uint8Array;

const HOUR = 3_600_000;
const VALIDITY = 30 * 24 * HOUR;

const BIT_STRING = 0x03;
const INTEGER = 0x02;
const BOOLEAN_TRUE = new Uint8Array([0x01, 0x01, 0xff]);
const OCTET_STRING = 0x04;
const OID = 0x06;
const SEQUENCE = 0x30;
const SET = 0x31;
const UTC_TIME = 0x17;
const UTF8_STRING = 0x0c;

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const KEY_USAGE = "2.5.29.15";
const ALTERNATIVE_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ECDSA_SHA256 = "1.2.840.10045.4.3.2";

/** The digital signature bit, and the bit that lets a key sign certificates. */
const SIGNATURE_BITS = new Uint8Array([0x07, 0x80]);
const SIGNING_BITS = new Uint8Array([0x02, 0x04]);

function concat(parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** One DER value: tag, length, content. */
function der(tag: number, ...parts: readonly Bytes[]): Bytes {
  const content = concat(parts);
  const length = content.length < 0x80
    ? [content.length]
    : content.length < 0x100
    ? [0x81, content.length]
    : [0x82, content.length >> 8, content.length & 0xff];
  return concat([new Uint8Array([tag, ...length]), content]);
}

function oid(dotted: string): Bytes {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return der(OID, new Uint8Array(bytes));
}

function text(value: string): Bytes {
  return der(UTF8_STRING, new TextEncoder().encode(value));
}

function utcTime(time: number): Bytes {
  const digits = new Date(time).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return der(UTC_TIME, new TextEncoder().encode(`${digits}Z`));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Bytes {
  const part = (type: string, value: string): Bytes => der(SET, der(SEQUENCE, oid(type), text(value)));
  return der(
    SEQUENCE,
    ...organizations.map((organization) => part(ORGANIZATION, organization)),
    part(COMMON_NAME, commonName),
  );
}

function extension(id: string, critical: boolean, value: Bytes): Bytes {
  return der(SEQUENCE, oid(id), ...(critical ? [BOOLEAN_TRUE] : []), der(OCTET_STRING, value));
}

/** The addresses and names that a server certificate is good for. */
function alternativeNames(hosts: readonly string[]): Bytes {
  const names = hosts.map((host) =>
    /^\d+(\.\d+){3}$/.test(host)
      ? der(0x87, new Uint8Array(host.split(".").map(Number)))
      : der(0x82, new TextEncoder().encode(host))
  );
  return der(SEQUENCE, ...names);
}

function pem(label: string, bytes: Bytes): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function ecKey(): { spki: Bytes; pkcs8: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return { spki: new Uint8Array(publicKey), pkcs8: privateKey };
}

/** A pair of keys that signs service-account tokens, both PEM. */
export function tokenKeys(): { publicKey: string; privateKey: string } {
  const { spki, pkcs8 } = ecKey();
  return { publicKey: pem("PUBLIC KEY", spki), privateKey: pkcs8 };
}

/** A certificate authority made on the spot, good for 30 days. */
export class Authority {
  /** The authority's own certificate, PEM. */
  readonly cert: string;
  readonly #name: Bytes;
  readonly #key: string;

  /** Makes an authority. */
  constructor(commonName: string) {
    const { spki, pkcs8 } = ecKey();
    this.#name = distinguishedName(commonName, []);
    this.#key = pkcs8;
    this.cert = this.#certificate(this.#name, spki, [
      extension(BASIC_CONSTRAINTS, true, der(SEQUENCE, BOOLEAN_TRUE)),
      extension(KEY_USAGE, true, der(BIT_STRING, SIGNING_BITS)),
    ]);
  }

  /** Makes a certificate for a server that answers under these IPv4 addresses and DNS names. */
  server(hosts: readonly string[]): KeyPair {
    return this.#issue(distinguishedName(hosts[0] ?? "server", []), SERVER_AUTH, [
      extension(ALTERNATIVE_NAME, false, alternativeNames(hosts)),
    ]);
  }

  /** Makes a client certificate: Kubernetes takes the user from the common name and the groups from the organizations. */
  client(user: string, groups: readonly string[] = []): KeyPair {
    return this.#issue(distinguishedName(user, groups), CLIENT_AUTH, []);
  }

  #issue(subject: Bytes, usage: string, extensions: readonly Bytes[]): KeyPair {
    const { spki, pkcs8 } = ecKey();
    const cert = this.#certificate(subject, spki, [
      extension(KEY_USAGE, true, der(BIT_STRING, SIGNATURE_BITS)),
      extension(EXTENDED_KEY_USAGE, false, der(SEQUENCE, oid(usage))),
      ...extensions,
    ]);
    return { cert, key: pkcs8 };
  }

  #certificate(subject: Bytes, spki: Bytes, extensions: readonly Bytes[]): string {
    const algorithm = der(SEQUENCE, oid(ECDSA_SHA256));
    const serial = new Uint8Array(randomBytes(16));
    serial[0] = (serial[0] ?? 0) & 0x7f | 0x40;
    const now = Date.now();
    const body = der(
      SEQUENCE,
      der(0xa0, der(INTEGER, new Uint8Array([2]))),
      der(INTEGER, serial),
      algorithm,
      this.#name,
      der(SEQUENCE, utcTime(now - HOUR), utcTime(now + VALIDITY)),
      subject,
      spki,
      der(0xa3, der(SEQUENCE, ...extensions)),
    );
    const signature = new Uint8Array(sign("sha256", body, this.#key));
    return pem("CERTIFICATE", der(SEQUENCE, body, algorithm, der(BIT_STRING, new Uint8Array([0]), signature)));
  }
}
