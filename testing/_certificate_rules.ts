/**
 * Checks requests for certificates, and what is decided on them.
 *
 * ```ts
 * import { checkRequest } from "./_certificate_rules.ts";
 *
 * console.assert(checkRequest({ request: "" }).length > 0);
 * ```
 *
 * Whether a request is signed by the key that it carries is not checked.
 *
 * @module
 */
import { type NameRule, validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

const SHORTEST = 600;
const LEGACY = "kubernetes.io/legacy-unknown";
/** The longest name of a signer: a domain, a slash, a label, a dot and a domain. */
const LONGEST_NAME = 571;

function text(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return "";
  }
}

function blocks(pem: string): string[] {
  return [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g)].map(([, type]) => type!);
}

function checkSigner(name: string): Cause[] {
  const at = "spec.signerName";
  if (name === "") return [cause.required(at)];
  if (name === LEGACY) return [cause.invalid(at, name, "the legacy signerName is not allowed via this API version")];
  const parts = name.split("/");
  if (parts.length !== 2) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [cause.invalid(at, name, why)];
  }
  const [domain = "", path = ""] = parts;
  const labels = domain.split(".");
  const segments = "should be a domain with at least two segments separated by dots";
  return [
    ...(domain.length > 253 ? [cause.tooLong(at, 253)] : []),
    ...firstWrong(at, domain, "label"),
    ...(labels.length < 2 ? [cause.invalid(at, domain, segments)] : []),
    ...firstWrong(at, path, "subdomain"),
    ...(name.length > LONGEST_NAME ? [cause.tooLong(at, LONGEST_NAME)] : []),
  ];
}

/** What is wrong with the first label of a text that anything is wrong with. */
function firstWrong(at: string, whole: string, rule: NameRule): Cause[] {
  for (const label of whole.split(".")) {
    const wrong = validateName(label, rule);
    if (wrong.length === 0) continue;
    return wrong.map((why) => cause.invalid(at, whole, `validating label ${JSON.stringify(label)}: ${why}`));
  }
  return [];
}

/** What is wrong with what is asked for. */
export function checkRequest(spec: Fields = {}): Cause[] {
  const causes: Cause[] = [];
  const { request = "", usages, signerName = "", expirationSeconds } = spec;
  if (blocks(text(request ?? ""))[0] !== "CERTIFICATE REQUEST") {
    causes.push(cause.invalid("spec.request", request, "PEM block type must be CERTIFICATE REQUEST"));
  }
  const list: string[] = usages ?? [];
  if (list.length === 0) causes.push(cause.required("spec.usages"));
  for (const [index, usage] of list.entries()) {
    if (!USAGES.includes(usage)) causes.push(cause.unsupported(`spec.usages[${index}]`, usage, USAGES));
  }
  for (const [index, usage] of list.entries()) {
    if (list.indexOf(usage) < index) causes.push(cause.duplicate(`spec.usages[${index}]`, usage));
  }
  causes.push(...checkSigner(signerName));
  if (expirationSeconds !== undefined && expirationSeconds < SHORTEST) {
    const why = "may not specify a duration less than 600 seconds (10 minutes)";
    causes.push(cause.invalid("spec.expirationSeconds", expirationSeconds, why));
  }
  return causes;
}

const DECISIVE = ["Approved", "Denied", "Failed"];

function checkConditions(conditions: readonly Fields[]): Cause[] {
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, { type = "", status = "" }] of conditions.entries()) {
    const at = `status.conditions[${index}]`;
    if (type === "") causes.push(cause.required(`${at}.type`));
    const allowed = DECISIVE.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (status === "") causes.push(cause.required(`${at}.status`));
    else if (!allowed.includes(status)) causes.push(cause.unsupported(`${at}.status`, status, allowed));
    if (seen.has(type)) causes.push(cause.duplicate(`${at}.type`, type));
    seen.add(type);
  }
  if (seen.has("Approved") && seen.has("Denied")) {
    const both = [...seen].filter((type) => type === "Approved" || type === "Denied")
      .map((type) => `conditions[{"type": "${type}"}]`);
    const value = `{${both.join(", ")}}`;
    const why = `must specify at most one of: ${
      ["Approved", "Denied"].map((type) => `\`conditions[{"type": "${type}"}]\``).join(", ")
    }`;
    causes.push({ ...cause.invalid("status.conditions", value, why), late: true });
  }
  return causes;
}

function checkCertificate(certificate: string): Cause[] {
  if (certificate === "") return [];
  const at = "status.certificate";
  const tell = (why: string): Cause[] => [cause.invalid(at, "<certificate data>", why)];
  const found = blocks(text(certificate));
  const odd = found.find((type) => type !== "CERTIFICATE");
  if (odd !== undefined) return tell(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(odd)}`);
  return found.length > 0 ? [] : tell("must contain at least one CERTIFICATE PEM block");
}

const ofType = (list: readonly Fields[], type: string): Fields[] => list.filter((each) => each.type === type);

/** What is wrong with the status that a write leads to: an approval decides, the status has the certificate. */
export function checkDecision(object: Fields, old: Fields, subresource: string): Cause[] {
  const now: Fields[] = object.status?.conditions ?? [], before: Fields[] = old.status?.conditions ?? [];
  const certificate: string = object.status?.certificate ?? "", earlier: string = old.status?.certificate ?? "";
  const causes = [...checkConditions(now), ...checkCertificate(certificate)];
  const at = "status.conditions";
  for (const type of DECISIVE) {
    if (ofType(now, type).length >= ofType(before, type).length) continue;
    causes.push(cause.forbidden(at, `updates may not remove a condition of type ${JSON.stringify(type)}`));
  }
  if (subresource !== "approval") {
    for (const type of ["Approved", "Denied"]) {
      if (ofType(now, type).length <= ofType(before, type).length) continue;
      causes.push(cause.forbidden(at, `updates may not add a condition of type ${JSON.stringify(type)}`));
    }
  }
  if (equal(certificate, earlier)) return causes;
  if (subresource !== "status") {
    causes.push(cause.forbidden("status.certificate", "updates may not set certificate content"));
  } else if (earlier !== "") {
    causes.push(cause.forbidden("status.certificate", "updates may not modify existing certificate content"));
  }
  return causes;
}
