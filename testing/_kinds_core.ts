/**
 * Says how the kinds of the core group behave.
 *
 * ```ts
 * import { CORE } from "./_kinds_core.ts";
 *
 * const secret = { metadata: {}, stringData: { a: "b" } };
 * CORE.secrets!.defaults!(secret);
 * ```
 *
 * @module
 */
import { causesOf, qualifiedName } from "./_checks.ts";
import { syntaxError } from "./_json_text.ts";
import type { Behaviour } from "./_kind.ts";
import { keyPairProblem } from "./_key_pairs.ts";
import { NODES } from "./_kinds_nodes.ts";
import { type Fields, isObject } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const MAX_DATA = 1_048_576;

function immutable(object: Fields, old: Fields, members: readonly string[]): Cause[] {
  if (old.immutable !== true) return [];
  const causes: Cause[] = [];
  const rule = "field is immutable when `immutable` is set";
  if (object.immutable !== true) causes.push(cause.forbidden("immutable", rule));
  for (const member of members) {
    if (JSON.stringify(object[member] ?? {}) !== JSON.stringify(old[member] ?? {})) {
      causes.push(cause.forbidden(member, rule));
    }
  }
  return causes;
}

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** What is wrong with the key of a ConfigMap or a Secret, in words. */
function keyRules(key: string): string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(KEY.test(key) ? [] : [KEY_RULE]),
    ...(key === "." || key === ".." ? [`must not be '${key}'`] : []),
    ...(key.startsWith("..") && key !== ".." ? ["must not start with '..'"] : []),
  ];
}

function dataKeys(object: Fields, member: string): Cause[] {
  const causes: Cause[] = [];
  for (const key in object[member] ?? {}) {
    if (!PLAIN_KEY.test(key)) causes.push(...keyRules(key).map((why) => cause.invalid(`${member}[${key}]`, key, why)));
  }
  return causes;
}

/** Keys that nothing can be wrong with: most of them, told at a glance. */
const PLAIN_KEY = /^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252}$/;

/** True if the values of a map are larger than may be stored; `sizeOf` tells how large one is. */
function isTooLarge(maps: readonly (Fields | undefined)[], sizeOf: (value: string) => number): boolean {
  let least = 0;
  for (const map of maps) for (const key in map) least += String(map[key]).length;
  // No character is larger than three bytes: most maps need no second look.
  if (least * 3 <= MAX_DATA) return false;
  let total = 0;
  for (const map of maps) for (const key in map) total += sizeOf(String(map[key]));
  return total > MAX_DATA;
}

const ENCODER = new TextEncoder();

function bytesOf(text: string): number {
  return ENCODER.encode(text).length;
}

function decodedSize(text: string): number {
  return Math.floor(text.replace(/=+$/, "").length * 3 / 4);
}

const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

/** What a JSON parser says of a key's content that must be an object. */
function checkJson(data: Fields, key: string): Cause[] {
  if (data[key] === undefined) return [];
  const text = new TextDecoder().decode(Uint8Array.from(atob(data[key]), (each) => each.charCodeAt(0)));
  const why = syntaxError(text) ?? otherThanObject(JSON.parse(text));
  return why === undefined ? [] : [cause.invalid(`data[${key}]`, "<secret contents redacted>", why)];
}

function otherThanObject(value: unknown): string | undefined {
  if (value === null || isObject(value)) return undefined;
  const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

/** What the types of secrets ask for beside keys that must all be there. */
function validateSecretType({ type, data = {}, metadata }: Fields): Cause[] {
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && !metadata.annotations?.[account]) {
    return [cause.required(`metadata.annotations[${account}]`)];
  }
  if (type === "kubernetes.io/dockercfg") return checkJson(data, ".dockercfg");
  if (type === "kubernetes.io/dockerconfigjson") return checkJson(data, ".dockerconfigjson");
  if (type === "kubernetes.io/ssh-auth" && data["ssh-privatekey"] === "") {
    return [cause.required("data[ssh-privatekey]")];
  }
  const keys = ["username", "password"];
  if (type !== "kubernetes.io/basic-auth" || keys.some((key) => data[key] !== undefined)) return [];
  return keys.map((key) => cause.required(`data[${key}]`));
}

/** Warns of a certificate and a key that are no pair. */
function secretWarnings({ type, data = {} }: Fields): string[] {
  if (type !== "kubernetes.io/tls") return [];
  const text = (key: string): string => decoded(data[key] ?? "");
  const problem = keyPairProblem(text("tls.crt"), text("tls.key"));
  return problem === undefined ? [] : [problem];
}

function decoded(encoded: string): string {
  return atob(encoded.replaceAll(/\s/g, ""));
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

const STANDARD_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];

function finalizerCauses(finalizer: string, at: string): Cause[] {
  const bare = !finalizer.includes("/") && !STANDARD_FINALIZERS.includes(finalizer);
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return [
    ...causesOf(qualifiedName, finalizer, at),
    ...(bare ? [cause.invalid(at, finalizer, why)] : []),
  ];
}

function validateNamespace(object: Fields, _apiVersion: string, subresource: string, old?: Fields): Cause[] {
  if (subresource === "finalize") {
    const finalizers: string[] = object.spec?.finalizers ?? [];
    return finalizers.flatMap((each, index) => finalizerCauses(each, `spec.finalizers[${index}]`));
  }
  if (!old) return (object.spec?.finalizers ?? []).flatMap((each: string) => finalizerCauses(each, "spec.finalizers"));
  if (subresource !== "status") return [];
  const phase = object.status?.phase ?? "";
  const going = old.metadata.deletionTimestamp !== undefined;
  if (phase === (going ? "Terminating" : "Active")) return [];
  const why = going
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [cause.invalid("status.Phase", phase, why)];
}

/** A namespace's label says its name. */
function labelName({ metadata }: Fields): void {
  if (metadata?.name) metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
}

/** The behaviours by storage. */
export const CORE: Readonly<Record<string, Behaviour>> = {
  configmaps: {
    validate: (object) => {
      const causes = [...dataKeys(object, "data"), ...dataKeys(object, "binaryData")];
      for (const key of Object.keys(object.data ?? {})) {
        if (isObject(object.binaryData) && key in object.binaryData) {
          causes.push(cause.invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
        }
      }
      if (isTooLarge([object.data], bytesOf) || isTooLarge([object.binaryData], decodedSize)) {
        causes.push(cause.tooLong("[]", MAX_DATA));
      }
      return causes;
    },
    validateUpdate: (object, old) => immutable(object, old, ["data", "binaryData"]),
  },
  secrets: {
    warnings: secretWarnings,
    defaults: (object) => {
      if (isObject(object.stringData)) {
        const data = object.data ??= {};
        for (const [key, value] of Object.entries(object.stringData)) data[key] = base64(String(value));
      }
      delete object.stringData;
    },
    validate: (object) => [
      ...dataKeys(object, "data"),
      ...(SECRET_KEYS[object.type] ?? []).filter((key) => object.data?.[key] === undefined)
        .map((key) => cause.required(`data[${key}]`)),
      ...validateSecretType(object),
      ...(isTooLarge([object.data], decodedSize) ? [cause.tooLong("data", MAX_DATA)] : []),
    ],
    validateUpdate: (object, old) => [
      ...(object.type === old.type ? [] : [cause.invalid("type", object.type, "field is immutable")]),
      ...immutable(object, old, ["data"]),
    ],
    selectable: ["type"],
  },
  serviceaccounts: { returnsDeleted: true },
  namespaces: {
    names: "label",
    status: true,
    returnsDeleted: true,
    defaults: labelName,
    prepareCreate: (object) => {
      // The name may be a generated one.
      labelName(object);
      object.spec = { ...object.spec };
      const finalizers: string[] = object.spec.finalizers ?? [];
      object.spec.finalizers = finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"];
      object.status = { phase: "Active" };
    },
    prepareUpdate: (object, old) => {
      object.spec = old.spec;
    },
    prepareDelete: (object) => ({ ...object, status: { ...object.status, phase: "Terminating" } }),
    validate: validateNamespace,
    selectable: ["status.phase", "name"],
  },
  nodes: NODES,
};
