/**
 * Says how the kinds of storage behave, beside volumes and claims.
 *
 * ```ts
 * import { STORAGE } from "./_kinds_storage.ts";
 *
 * console.assert(STORAGE["csidrivers.storage.k8s.io"]?.returnsDeleted);
 * ```
 *
 * @module
 */
import {
  atLeast,
  causesOf,
  type Check,
  declared,
  emptyToNull,
  filled,
  fixed,
  fixedByType,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  qualifiedName,
  such,
} from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { labelKey, labelSelector } from "./_label_selectors.ts";
import { validateName, validateQualified } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";
import { lifetimeRules } from "./_token_request.ts";

const GROUP = "storage.k8s.io";
const TOKENS_IN_CONTEXT =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible " +
  "logging of tokens in volume attributes";
const PROTECTION = "kubernetes.io/vac-protection";
const MAX_PARAMETERS = 512, MAX_TEXT = 262_144, MAX_ERROR = 1024;

const provisioner: Check = neededAnd(such((name) => validateQualified(name.toLowerCase())));

function textOf(map: Readonly<Record<string, string>>): number {
  return Object.entries(map).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
}

const driverParameters = (mayBeEmpty: boolean): Check => (value = {}, at, causes) => {
  const keys = Object.keys(value);
  if (keys.length > MAX_PARAMETERS) {
    causes.push(cause.tooLong(at, MAX_PARAMETERS));
    return;
  }
  if (keys.includes("")) causes.push(cause.invalid(at, "", "field can not be empty."));
  if (textOf(value) > MAX_TEXT) causes.push(cause.tooLong(at, MAX_TEXT));
  if (!mayBeEmpty && keys.length === 0) {
    causes.push(cause.required(at, "must contain at least one key/value pair"));
  }
};

const topologies: Check = (value = [], at, causes) => {
  // The real server begins with a list of as many terms that say nothing.
  const seen: unknown[] = [{}];
  for (const [index, { matchLabelExpressions = [] }] of value.entries()) {
    const path = `${at}[${index}].matchLabelExpressions`;
    const keys = new Map<string, string[]>();
    for (const [number, { key = "", values: given }] of matchLabelExpressions.entries()) {
      const values: string[] = given ?? [];
      const expression = `${path}[${number}]`;
      if (values.length === 0) causes.push(cause.required(`${expression}.values`));
      for (const [place, each] of values.entries()) {
        if (values.indexOf(each) < place) causes.push(cause.duplicate(`${expression}.values[${place}]`, each));
      }
      labelKey(key, `${expression}.key`, causes);
      if (keys.has(key)) causes.push(cause.duplicate(`${expression}.key`, key));
      keys.set(key, [...values].sort());
    }
    const whole = Object.fromEntries(keys);
    if (seen.some((each) => equal(each, whole))) causes.push(cause.duplicate(path, ""));
    seen.push(whole);
  }
};

const storageClass: Check = members({
  provisioner,
  parameters: driverParameters(true),
  reclaimPolicy: filled(oneOf(["Delete", "Retain"])),
  volumeBindingMode: (value, at, causes) =>
    value === undefined ? needed()(value, at, causes) : oneOf(["Immediate", "WaitForFirstConsumer"])(value, at, causes),
  allowedTopologies: topologies,
});

/** Takes the name of a driver. */
const driverName: Check = neededAnd((value, at, causes) => {
  if (value.length > 63) causes.push(cause.tooLong(at, 63));
  such((name: string) => validateName(name.toLowerCase(), "subdomain"))(value, at, causes);
});

const ANY_CASE_RULE =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'Example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const attacher: Check = neededAnd((value, at, causes) => {
  if (value.length > 63) causes.push(cause.tooLong(at, 63));
  if (validateName(value.toLowerCase(), "subdomain").length > 0) causes.push(cause.invalid(at, value, ANY_CASE_RULE));
});

const source: Check = (value = {}, at, causes) => {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = value;
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline === undefined && name === undefined) causes.push(cause.required(at, one));
  else if (inline !== undefined && name !== undefined) causes.push(cause.forbidden(at, one));
  else if (name === "") {
    causes.push(cause.required(`${at}.persistentVolumeName`, "must specify non empty persistentVolumeName"));
  }
};

const volumeError: Check = given(members({
  message: (value = "", at, causes) => {
    if (value.length > MAX_ERROR) causes.push(cause.tooLong(at, MAX_ERROR));
  },
  errorCode: given(such((value) => value < 0 ? `must be between 0 and ${2 ** 31 - 1}, inclusive` : undefined)),
}));

const attachment: Check = members({
  spec: members({ attacher: declared(attacher), source, nodeName: named("subdomain") }),
  status: members({
    attachmentMetadata: (value = {}, at, causes) => {
      if (textOf(value ?? {}) > MAX_TEXT) causes.push(cause.tooLong(at, MAX_TEXT));
    },
    attachError: volumeError,
    detachError: volumeError,
  }),
});

function validateAttachment(object: Fields, old?: Fields): Cause[] {
  const name = object.spec?.source?.persistentVolumeName;
  return [
    ...causesOf(attachment, object),
    ...name === undefined ? [] : causesOf(named("subdomain"), name, "spec.source.persistentVolumeName"),
    ...old ? fixedByType(object, old, ["spec"]) : [],
  ];
}

const nodeDriver: Check = (value, at, causes) => {
  driverName(value.name, `${at}.name`, causes);
  const { nodeID = "", allocatable, topologyKeys } = value;
  if (nodeID === "") causes.push(cause.required(`${at}.nodeID`));
  if (nodeID.length > 256) causes.push(cause.invalid(`${at}.nodeID`, nodeID, "must be 256 characters or less"));
  if (allocatable?.count !== undefined) atLeast(0)(allocatable.count, `${at}.allocatable.count`, causes);
  for (const [index, key] of (topologyKeys ?? []).entries()) {
    if (key === "") causes.push(cause.required(at));
    if (topologyKeys.indexOf(key) < index) causes.push(cause.duplicate(at, key));
    qualifiedName(key, at, causes);
  }
};

function validateNodeDrivers({ spec }: Fields, old?: Fields): Cause[] {
  const drivers: Fields[] = spec?.drivers ?? [];
  const causes: Cause[] = [];
  for (const [index, driver] of drivers.entries()) {
    nodeDriver(driver, `spec.drivers[${index}]`, causes);
    if (drivers.findIndex(({ name }) => name === driver.name) < index) {
      causes.push(cause.duplicate(`spec.drivers[${index}].name`, driver.name));
    }
  }
  for (const before of old?.spec?.drivers ?? []) {
    for (const driver of drivers) {
      const { allocatable: _, ...now } = driver, { allocatable: _before, ...then } = before;
      if (driver.name === before.name && !equal(now, then)) {
        causes.push(cause.invalid("spec.drivers", printedDriver(now), "field is immutable"));
      }
    }
  }
  return causes;
}

/** A driver as the internal type prints it. */
function printedDriver({ name: Name = "", nodeID: NodeID = "", topologyKeys }: Fields): Fields {
  return { Name, NodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null };
}

const tokenRequests: Check = (value = [], at, causes) => {
  const seen = new Set<string>();
  for (const [index, { audience = "", expirationSeconds: seconds }] of value.entries()) {
    const path = `${at}[${index}]`;
    if (seen.has(audience)) causes.push(cause.duplicate(`${path}.audience`, audience));
    else if (seconds !== undefined) such(lifetimeRules)(seconds, `${path}.expirationSeconds`, causes);
    seen.add(audience);
  }
};

const lifecycleModes: Check = (value = [], at, causes) => {
  for (const each of value) oneOf(["Persistent", "Ephemeral"])(each, at, causes);
};

const driver: Check = members({
  fsGroupPolicy: oneOf(["File", "None", "ReadWriteOnceWithFSType"]),
  tokenRequests,
  volumeLifecycleModes: lifecycleModes,
  nodeAllocatableUpdatePeriodSeconds: given(
    such((value) => value < 10 ? "must be greater than or equal to 10 seconds" : undefined),
  ),
});

function validateDriver({ spec = {} }: Fields, old?: Fields): Cause[] {
  const causes = causesOf(driver, spec, "spec");
  const { serviceAccountTokenInSecrets: secret } = spec;
  if (secret !== undefined && isEmpty(spec.tokenRequests)) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    causes.push(cause.invalid("spec.serviceAccountTokenInSecrets", secret, why));
  }
  if (!old) return causes;
  if (spec.attachRequired !== old.spec.attachRequired) {
    causes.push(cause.invalid("spec.attachedRequired", spec.attachRequired, "field is immutable"));
  }
  return [...causes, ...fixed(spec, old.spec, ["volumeLifecycleModes"], "spec")];
}

const FIXED_CLASS = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"];

/** The behaviours by storage. */
export const STORAGE: Readonly<Record<string, Behaviour>> = {
  [`storageclasses.${GROUP}`]: {
    returnsDeleted: true,
    validate: (object, _apiVersion, _subresource, old) =>
      old
        ? [...causesOf(declared(needed()), object.provisioner, "provisioner"), ...fixedByType(object, old, FIXED_CLASS)]
        : causesOf(storageClass, object),
  },
  [`volumeattachments.${GROUP}`]: {
    returnsDeleted: true,
    status: true,
    statusKeepsMetadata: true,
    conditionalUpdate: true,
    validate: (object, _apiVersion, _subresource, old) => validateAttachment(object, old),
  },
  [`csinodes.${GROUP}`]: {
    returnsDeleted: true,
    statusKeepsMetadata: true,
    conditionalUpdate: true,
    prepareCreate: ({ spec }) => emptyToNull(spec, "drivers"),
    prepareUpdate: ({ spec }) => emptyToNull(spec, "drivers"),
    validate: (object, _apiVersion, _subresource, old) => validateNodeDrivers(object, old),
  },
  [`csidrivers.${GROUP}`]: {
    conditionalUpdate: true,
    returnsDeleted: true,
    warnings: ({ spec = {} }, old) =>
      !old && !isEmpty(spec.tokenRequests) && spec.serviceAccountTokenInSecrets === undefined
        ? [TOKENS_IN_CONTEXT]
        : [],
    prepareUpdate: (object, old) => {
      if (!equal(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: (object, _apiVersion, _subresource, old) => validateDriver(object, old),
  },
  [`csistoragecapacities.${GROUP}`]: {
    validate: (object, _apiVersion, _subresource, old) =>
      old ? fixed(object, old, ["nodeTopology", "storageClassName"]) : causesOf(
        members({
          nodeTopology: given(labelSelector),
          storageClassName: (value = "", at, causes) => named("subdomain")(value, at, causes),
          capacity: given(
            such((value) => String(value).startsWith("-") ? "must be greater than or equal to 0" : undefined),
          ),
        }),
        object,
      ),
  },
  [`volumeattributesclasses.${GROUP}`]: {
    returnsDeleted: true,
    prepareCreate: ({ metadata }) => {
      const held: string[] = metadata.finalizers ?? [];
      if (!held.includes(PROTECTION)) metadata.finalizers = [...held, PROTECTION];
    },
    validate: (object, _apiVersion, _subresource, old) => [
      ...old && object.driverName !== old.driverName
        ? [cause.forbidden("driverName", "updates to driverName are forbidden.")]
        : [],
      ...old && !equal(object.parameters, old.parameters)
        ? [cause.forbidden("parameters", "updates to parameters are forbidden.")]
        : [],
      ...causesOf(members({ driverName: provisioner, parameters: driverParameters(false) }), object),
    ],
  },
};
