/**
 * Checks the environment of containers, the keys of objects that they read, and the fields that pods tell of themselves.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { environment } from "./_pods_env.ts";
 *
 * console.assert(causesOf(environment, [{ name: "a=b" }], "env").length === 1);
 * ```
 *
 * @module
 */
import { all, type Check, each, filled, given, members, named, needed, neededAnd, such } from "./_checks.ts";
import { validateQualified } from "./_metadata.ts";
import type { Fields } from "./_objects.ts";
import { quantityNanos } from "./_quantity.ts";
import { cause } from "./_status.ts";

const ENV_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const KEY_RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const envName: Check = such((value) => /^[ -<>-~]+$/.test(value) ? undefined : ENV_RULE);

const configKey: Check = such((key: string) => [
  ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
  ...(/^[-._a-zA-Z0-9]+$/.test(key) ? [] : [KEY_RULE]),
  ...(key === "." ? ["must not be '.'"] : key === ".." ? ["must not be '..'"] : []),
  ...(key.startsWith("..") && key !== ".." ? ["must not start with '..'"] : []),
]);

/** The fields that a pod can tell, by where. */
const LABELLED = ["metadata.annotations", "metadata.labels"];
const COMMON = ["metadata.name", "metadata.namespace", "metadata.uid"];
const LATER = [
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const ENV_FIELDS = [...COMMON, ...LATER];
const VOLUME_FIELDS = [...LABELLED, ...COMMON];
const KNOWN: readonly string[] = [...LABELLED, ...ENV_FIELDS];
const SUBSCRIPT = /^(.*)\['(.*)'\]$/;

/** Takes a reference to a field of the pod. */
function fieldRef(fields: readonly string[]): Check {
  return (value, at, causes) => {
    const { apiVersion = "v1", fieldPath = "" }: Fields = value;
    const path = `${at}.fieldPath`;
    const refuse = (why: string) =>
      void causes.push(cause.invalid(path, fieldPath, `error converting fieldPath: ${why}`));
    if (apiVersion === "") return void causes.push(cause.required(`${at}.apiVersion`));
    if (fieldPath === "") return void causes.push(cause.required(path));
    if (apiVersion !== "v1") return refuse(`unsupported pod version: ${apiVersion}`);
    const [, name = fieldPath, key] = SUBSCRIPT.exec(fieldPath) ?? [];
    if (key !== undefined) {
      if (!LABELLED.includes(name)) return refuse(`field label does not support subscript: ${fieldPath}`);
      const named = name === "metadata.annotations" ? key.toLowerCase() : key;
      for (const why of validateQualified(named)) causes.push(cause.invalid(at, named, why));
      return;
    }
    if (!KNOWN.includes(name)) return refuse(`field label not supported: ${fieldPath}`);
    if (!fields.includes(name)) causes.push(cause.unsupported(path, fieldPath, fields));
  };
}

const CONTAINER_RESOURCES = ["cpu", "ephemeral-storage", "memory"];
const RESOURCES = ["limits", "requests"].flatMap((side) => CONTAINER_RESOURCES.map((each) => `${side}.${each}`));
const UNITS: Readonly<Record<string, readonly string[]>> = {
  cpu: ["1m", "1"],
  memory: ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
};

/** Takes a reference to what a container has of a resource; `named` if it must say which container. */
function resourceRef(names: boolean): Check {
  return (value, at, causes) => {
    const { containerName, resource = "", divisor = "0" } = value;
    if (names && !containerName) causes.push(cause.required(`${at}.containerName`));
    else if (resource === "") causes.push(cause.required(`${at}.resource`));
    else if (!RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
      causes.push(cause.unsupported(`${at}.resource`, resource, RESOURCES));
    }
    const kind = resource.split(".")[1] === "cpu" ? "cpu" : "memory";
    const nanos = quantityNanos(String(divisor));
    if (resource === "" || nanos === 0n || UNITS[kind]!.some((unit) => quantityNanos(unit) === nanos)) return;
    const name = resource.split(".")[1]!.replace(/^hugepages-.*/, "hugepages");
    const units = kind === "cpu" ? "1m and 1 are" : `${UNITS.memory!.join(", ")} are`;
    const why = `only divisor's values ${units} supported with the ${name} resource`;
    causes.push(cause.invalid(`${at}.divisor`, resource, why));
  };
}

const keyRef: Check = members({
  name: (value, at, causes) => named("subdomain")(value ?? "", at, causes),
  key: neededAnd(configKey),
});

const SOURCES: Readonly<Record<string, Check>> = {
  fieldRef: fieldRef(ENV_FIELDS),
  resourceFieldRef: resourceRef(false),
  configMapKeyRef: keyRef,
  secretKeyRef: keyRef,
  fileKeyRef: members({ key: neededAnd(configKey), volumeName: needed(), path: needed() }),
};

const valueFrom: Check = (value, at, causes) => {
  const { value: text, valueFrom: source } = value;
  if (source === undefined || source === null) return;
  const path = `${at}.valueFrom`;
  let found = 0;
  for (const name in SOURCES) {
    if (source[name] === undefined || source[name] === null) continue;
    found++;
    SOURCES[name]!(source[name], `${path}.${name}`, causes);
  }
  const refuse = (why: string) => causes.push(cause.invalid(path, "", why));
  if (found === 0) {
    refuse("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (text) refuse("may not be specified when `value` is not empty");
  else if (found > 1) refuse("may not have more than one field specified at a time");
};

/** Takes the variables of a container. */
export const environment: Check = each(all(members({ name: neededAnd(envName) }), valueFrom));

const objectName: Check = members({ name: neededAnd(named("subdomain")) });

/** Takes objects whose keys are variables of a container. */
export const environmentFrom: Check = (value, at, causes) => {
  const check = members({ prefix: filled(envName), configMapRef: given(objectName), secretRef: given(objectName) });
  for (const [index, source] of (value ?? []).entries()) {
    check(source, `${at}[${index}]`, causes);
    const found = [source?.configMapRef, source?.secretRef].filter((each) =>
      each !== undefined && each !== null
    ).length;
    if (found === 0) causes.push(cause.invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (found > 1) causes.push(cause.invalid(at, "", "may not have more than one field specified at a time"));
  }
};

/** Takes a mode of a file. */
export const fileMode: Check = given(
  such((value) =>
    value < 0 || value > 0o777 ? "must be a number between 0 and 0777 (octal), both inclusive" : undefined
  ),
);

/** Takes a path without steps back; `relative` if it may not start at the root. */
export function localPath(relative: boolean): Check {
  return such((path: string) => [
    ...(relative && path.startsWith("/") ? ["must be a relative path"] : []),
    ...(path.split("/").includes("..") ? ["must not contain '..'"] : []),
  ]);
}

/** Takes a path in a volume. */
export const pathInVolume: Check = such((path: string) => [
  ...(path.startsWith("/") ? ["must be a relative path"] : []),
  ...(path.split("/").includes("..") ? ["must not contain '..'"] : []),
  ...(path.startsWith("..") && !path.startsWith("../") && path !== ".." ? ["must not start with '..'"] : []),
]);

/** Takes keys that a volume has as files. */
export const keyToPaths: Check = each(members({ key: needed(), path: neededAnd(pathInVolume), mode: fileMode }));

const FIELD = fieldRef(VOLUME_FIELDS);
const RESOURCE = resourceRef(true);

/** Takes files that tell of the pod. */
export const downwardItems: Check = (value, at, causes) => {
  for (const item of value ?? []) {
    neededAnd(pathInVolume)(item.path, `${at}.path`, causes);
    if (item.fieldRef) {
      FIELD(item.fieldRef, `${at}.fieldRef`, causes);
      if (item.resourceFieldRef) {
        causes.push(cause.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
      }
    } else if (item.resourceFieldRef) RESOURCE(item.resourceFieldRef, `${at}.resourceFieldRef`, causes);
    else causes.push(cause.required(at, "one of fieldRef and resourceFieldRef is required"));
    fileMode(item.mode, `${at}.mode`, causes);
  }
};
