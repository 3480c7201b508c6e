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
import type { Behaviour } from "./_kind.ts";
import { type Fields, isObject, timestamp } from "./_objects.ts";
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

function dataKeys(object: Fields, member: string): Cause[] {
  return Object.keys(object[member] ?? {}).filter((key) => !KEY.test(key) || key === "." || key === "..")
    .map((key) => cause.invalid(`${member}[${key}]`, key, KEY.test(key) ? `must not be '${key}'` : KEY_RULE));
}

function size(...maps: (Fields | undefined)[]): number {
  let total = 0;
  for (const map of maps) for (const value of Object.values(map ?? {})) total += String(value).length;
  return total;
}

const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

/** What the types of secrets ask for beside keys that must all be there. */
function validateSecretType({ type, data = {}, metadata }: Fields): Cause[] {
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && !metadata.annotations?.[account]) {
    return [cause.required(`metadata.annotations[${account}]`)];
  }
  const keys = ["username", "password"];
  if (type !== "kubernetes.io/basic-auth" || keys.some((key) => data[key] !== undefined)) return [];
  return keys.map((key) => cause.required(`data[${key}]`));
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function addFinalizer({ metadata }: Fields, name: string): void {
  const finalizers: string[] = metadata.finalizers ?? [];
  if (!finalizers.includes(name)) metadata.finalizers = [...finalizers, name];
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
      if (size(object.data, object.binaryData) > MAX_DATA) causes.push(cause.tooLong("[]", MAX_DATA));
      return causes;
    },
    validateUpdate: (object, old) => immutable(object, old, ["data", "binaryData"]),
  },
  secrets: {
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
      ...(size(object.data) * 3 / 4 > MAX_DATA ? [cause.tooLong("data", MAX_DATA)] : []),
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
    defaults: (object) => {
      if (object.metadata?.name) {
        object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
      }
    },
    prepareCreate: (object) => {
      object.spec = { ...object.spec };
      const finalizers: string[] = object.spec.finalizers ?? [];
      object.spec.finalizers = finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"];
      object.status = { phase: "Active" };
    },
    prepareUpdate: (object, old) => {
      object.spec = old.spec;
    },
    prepareDelete: (object) => ({ ...object, status: { ...object.status, phase: "Terminating" } }),
    selectable: ["status.phase", "name"],
  },
  nodes: {
    status: false,
    defaults: (object) => {
      const { status } = object;
      if (isObject(status?.capacity)) status.allocatable ??= { ...status.capacity };
    },
    prepareCreate: (object) => {
      const taints: Fields[] = object.spec?.taints ?? [];
      const key = "node.kubernetes.io/not-ready";
      if (!taints.some((each) => each.key === key)) taints.push({ key, effect: "NoSchedule" });
      object.spec = { ...object.spec, taints };
    },
    selectable: ["spec.unschedulable"],
    selectDefaults: { "spec.unschedulable": "false" },
  },
  persistentvolumeclaims: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object) => {
      object.status = { phase: "Pending" };
      addFinalizer(object, "kubernetes.io/pvc-protection");
    },
  },
  persistentvolumes: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object, server) => {
      object.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(server.now()) };
      addFinalizer(object, "kubernetes.io/pv-protection");
    },
  },
  resourcequotas: {
    status: true,
    returnsDeleted: true,
    prepareCreate: (object) => {
      object.status = {};
    },
  },
};
