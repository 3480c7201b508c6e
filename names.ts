/**
 * Checks and makes the names that Kubernetes accepts: labels, subdomains, qualified names, path segments.
 *
 * ```ts
 * import { childName, labelValue } from "@tend/operator";
 *
 * console.assert(childName("shop", "web") === "shop-web");
 * console.assert(labelValue("x".repeat(253)).length === 63);
 * ```
 *
 * @module
 */
import { sha256 } from "./_sha256.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** True for a DNS label (RFC 1123): at most 63 of `a-z`, `0-9` and `-`. */
export function isDnsLabel(value: unknown): boolean {
  return typeof value === "string" && value.length <= 63 && LABEL.test(value);
}

/** True for a DNS subdomain (RFC 1123): labels joined by dots, at most 253 characters. */
export function isDnsSubdomain(value: unknown): boolean {
  return typeof value === "string" && value.length <= 253 && SUBDOMAIN.test(value);
}

/** True for a label key or the like: a name of at most 63 characters, with an optional `subdomain/` before it. */
export function isQualifiedName(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const parts = value.split("/");
  if (parts.length > 2) return false;
  const name = parts.pop()!;
  return name.length <= 63 && QUALIFIED.test(name) && parts.every(isDnsSubdomain);
}

/** True for a label value: empty, or at most 63 of `A-Z`, `a-z`, `0-9`, `-`, `_` and `.` between two alphanumerics. */
export function isLabelValue(value: unknown): boolean {
  return typeof value === "string" && value.length <= 63 && (value === "" || QUALIFIED.test(value));
}

function refuse(what: string, field: string, rule: string, value: unknown): never {
  throw new TypeError(`Cannot define ${what}: '${field}' must be ${rule}: current value is ${Deno.inspect(value)}`);
}

/** @throws {TypeError} If it is not a DNS label */
export function assertDnsLabel(value: unknown, what: string, field: string): asserts value is string {
  if (!isDnsLabel(value)) refuse(what, field, "a DNS label (at most 63 of a-z, 0-9 and -)", value);
}

/** @throws {TypeError} If it is not a DNS subdomain */
export function assertDnsSubdomain(value: unknown, what: string, field: string): asserts value is string {
  if (!isDnsSubdomain(value)) refuse(what, field, "a DNS subdomain (at most 253 of a-z, 0-9, - and .)", value);
}

/** @throws {TypeError} If it is given and is not a list of at least one namespace's name */
export function assertNamespaces(value: readonly unknown[] | undefined, what: string): void {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length === 0) {
    refuse(what, "namespaces", "a list of at least one, or left out for all", value);
  }
  for (const namespace of value) assertDnsLabel(namespace, what, "namespaces");
}

/** @throws {TypeError} If it is neither empty (the core group) nor a DNS subdomain */
export function assertGroup(value: unknown, what: string): asserts value is string {
  if (value !== "" && !isDnsSubdomain(value)) refuse(what, "group", `a DNS subdomain, or "" for the core group`, value);
}

/** @throws {TypeError} If it is not a version such as `v1` or `v1beta1` */
export function assertVersion(value: unknown, what: string): asserts value is string {
  if (!isDnsLabel(value)) refuse(what, "version", "a version such as v1 or v1beta1", value);
}

/** @throws {TypeError} If it is not a kind such as `Backup` */
export function assertKind(value: unknown, what: string): asserts value is string {
  if (typeof value !== "string" || !/^[A-Z][A-Za-z0-9]{0,62}$/.test(value)) {
    refuse(what, "kind", "a kind in camel case such as Backup, at most 63 characters", value);
  }
}

/** @throws {TypeError} If it is not a plural such as `backups` */
export function assertPlural(value: unknown, what: string): asserts value is string {
  if (!isDnsLabel(value)) refuse(what, "plural", "a DNS label such as backups", value);
}

/** @throws {TypeError} If it is not a finalizer's name: qualified by a domain, such as `example.com/cleanup` */
export function assertFinalizer(value: unknown, what: string): asserts value is string {
  if (!isQualifiedName(value) || !String(value).includes("/")) {
    refuse(what, "finalizer", "a name qualified by a domain, such as example.com/cleanup", value);
  }
}

/** @throws {TypeError} If it could change the path that it is put into */
export function assertPathSegment(value: unknown, what: string): asserts value is string {
  const fits = typeof value === "string" && !["", ".", ".."].includes(value) && !/[/%]/.test(value);
  if (!fits || !value.isWellFormed()) {
    throw new TypeError(
      `Cannot build a request path: '${what}' must not be empty, "." or "..", nor contain "/" or "%": current value is ${
        Deno.inspect(value)
      }`,
    );
  }
}

/** The first 10 hexadecimal digits of the text's SHA-256. */
function shortHash(text: string): string {
  return sha256(text).subarray(0, 5).toHex();
}

function shorten(text: string, original: string, max: number): string {
  const head = text.slice(0, max - 11).replace(/[^a-zA-Z0-9]+$/, "");
  return head === "" ? shortHash(original) : `${head}-${shortHash(original)}`;
}

/**
 * Makes a label value of any text: the text itself if it is one, else its start and a hash of the whole.
 *
 * The same text always gives the same value, and no two texts are known to give one.
 */
export function labelValue(text: string): string {
  if (isLabelValue(text)) return text;
  return shorten(text.replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[^A-Za-z0-9]+/, ""), text, 63);
}

/**
 * Makes the name of a child from its owner's name and what it is for: joined by `-`, with a hash if that is too long.
 *
 * Deterministic, so that a second create meets the first instead of making another. A DNS label of at most 63 characters.
 *
 * @throws {TypeError} If a part is empty
 */
export function childName(...parts: readonly [string, ...string[]]): string {
  if (parts.some((part) => part === "")) {
    throw new TypeError(`Cannot name a child: no part may be empty: current value is ${Deno.inspect(parts)}`);
  }
  const joined = parts.join("-");
  if (isDnsLabel(joined)) return joined;
  const safe = joined.toLowerCase().replace(/[^a-z0-9-]/g, "-").replace(/^-+/, "");
  return shorten(safe, joined, 63);
}
