/**
 * Says how APIServices behave: what they are filled in with, what is refused of them, and when they are available.
 *
 * ```ts
 * import { REGISTRATION } from "./_kinds_registration.ts";
 *
 * console.assert("apiservices.apiregistration.k8s.io" in REGISTRATION);
 * ```
 *
 * @module
 */
import { all, causesOf, type Check, filled, members, named, needed } from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { validateName } from "./_metadata.ts";
import { type Fields, isObject, timestamp } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

/** Whether an APIService is available, and why. */
export interface Availability {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** What is said of an APIService without a service: the server itself serves it. */
export const LOCAL: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/** The condition that says so, since a time. */
export function available({ status, reason, message }: Availability, lastTransitionTime: string): Fields {
  return { type: "Available", status, lastTransitionTime, reason, message };
}

const MAX_GROUP_PRIORITY = 20_000, MAX_VERSION_PRIORITY = 1_000;

const group: Check = (value = "", at, causes) => {
  if (value !== "") named("subdomain")(value, at, causes);
};

/** Takes numbers from 1 on; the words are those of the server, which takes the greatest one, too. */
function priority(most: number): Check {
  return (value = 0, at, causes) => {
    if (value > 0 && value <= most) return;
    causes.push(cause.invalid(at, value, `must be positive and less than ${most}`));
  };
}

const port: Check = (value = 0, at, causes) => {
  if (value >= 1 && value <= 65_535) return;
  causes.push(cause.invalid(at, value, "port is not valid: must be between 1 and 65535, inclusive"));
};

/** How many bytes a text in base64 stands for. */
function sizeOf(base64: string): number {
  return Math.floor(base64.replace(/[=\s]/g, "").length * 3 / 4);
}

const local: Check = members({
  caBundle: filled((value, at, causes) => {
    causes.push(cause.invalid(at, `${sizeOf(value)} bytes`, "local APIServices may not have a caBundle"));
  }),
  insecureSkipTLSVerify: filled((value, at, causes) => {
    causes.push(cause.invalid(at, value, "local APIServices may not have insecureSkipTLSVerify"));
  }),
});

const remote: Check = (spec: Fields, at, causes) => {
  members({ service: members({ namespace: needed(), name: needed(), port }) })(spec, at, causes);
  if (!spec.insecureSkipTLSVerify || !spec.caBundle) return;
  causes.push(cause.invalid(`${at}.insecureSkipTLSVerify`, true, "may not be true if caBundle is present"));
};

const spec: Check = all(
  (value, at, causes) => {
    if (value?.group || value?.version === "v1") return;
    causes.push(cause.required(`${at}.group`, "only v1 may have an empty group and it better be legacy kube"));
  },
  members({
    group,
    version: (value = "", at, causes) => named("label1035")(value, at, causes),
    groupPriorityMinimum: priority(MAX_GROUP_PRIORITY),
    versionPriority: priority(MAX_VERSION_PRIORITY),
  }),
  (value = {}, at, causes) => (value.service ? remote : local)(value, at, causes),
);

/** The name is made of the version and the group. */
function nameCauses({ metadata, spec = {} }: Fields): Cause[] {
  const wanted = `${spec.version ?? ""}.${spec.group ?? ""}`;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  return (["generateName", "name"] as const)
    .filter((member) => metadata[member] && metadata[member] !== wanted)
    .filter((member) => validateName(metadata[member], "path").length === 0)
    .map((member) => cause.invalid(`metadata.${member}`, metadata[member], why));
}

const CONDITION_STATES = ["True", "False", "Unknown"];

function conditions(list: readonly Fields[] = []): Cause[] {
  return list.flatMap(({ status = "" }, index) =>
    CONDITION_STATES.includes(status)
      ? []
      : [cause.unsupported(`status.conditions[${index}].status`, status, CONDITION_STATES)]
  );
}

/** The behaviours by storage. */
export const REGISTRATION: Readonly<Record<string, Behaviour>> = {
  "apiservices.apiregistration.k8s.io": {
    names: "path",
    status: true,
    statusKeepsMetadata: true,
    conditionalUpdate: true,
    defaults: ({ spec }) => {
      if (isObject(spec?.service)) spec.service.port ??= 443;
    },
    prepareCreate: (object, server) => {
      object.status = object.spec?.service ? {} : { conditions: [available(LOCAL, timestamp(server.now()))] };
    },
    validate: (object, _apiVersion, subresource) =>
      subresource === "status"
        ? conditions(object.status?.conditions)
        : [...nameCauses(object), ...causesOf(spec, object.spec, "spec")],
  },
};
