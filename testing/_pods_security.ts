/**
 * Checks the security contexts of pods and of their containers, and what an operating system has none of.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { podSecurity } from "./_pods_security.ts";
 *
 * console.assert(causesOf(podSecurity, { securityContext: { runAsUser: -1 } }, "spec").length === 1);
 * ```
 *
 * @module
 */
import { all, between, type Check, each, given, members, named, oneOf } from "./_checks.ts";
import type { Fields } from "./_objects.ts";
import { localPath } from "./_pods_env.ts";
import { type Cause, cause } from "./_status.ts";

const id: Check = given(between(0, 2 ** 31 - 1));
const PROFILES = ["Localhost", "RuntimeDefault", "Unconfined"];

const seccomp: Check = given((value, at, causes) => {
  const { type = "", localhostProfile } = value;
  const path = `${at}.localhostProfile`;
  if (type === "Localhost") {
    if (localhostProfile === undefined) {
      causes.push(cause.required(path, "must be set when seccomp type is Localhost"));
    } else localPath(true)(localhostProfile, path, causes);
  } else if (localhostProfile !== undefined) {
    const shown = { Type: type, LocalhostProfile: localhostProfile };
    causes.push(cause.invalid(path, shown, "can only be set when seccomp type is Localhost"));
  }
  if (type === "") causes.push(cause.required(`${at}.type`, "type is required when seccompProfile is set"));
  else oneOf(PROFILES)(type, `${at}.type`, causes);
});

const appArmor: Check = given((value, at, causes) => {
  const { type = "", localhostProfile } = value;
  const path = `${at}.localhostProfile`;
  if (type === "") causes.push(cause.required(`${at}.type`, "type is required when appArmorProfile is set"));
  else if (!PROFILES.includes(type)) causes.push(cause.unsupported(`${at}.type`, type, PROFILES));
  if (type === "Localhost") {
    if (localhostProfile === undefined || localhostProfile === "") {
      causes.push(cause.required(path, "must be set when AppArmor type is Localhost"));
    } else if (localhostProfile.trim() !== localhostProfile) {
      causes.push(cause.invalid(path, localhostProfile, "must not be padded with whitespace"));
    } else if (localhostProfile.length > 4095) causes.push(cause.tooLong(path, 4095));
  } else if (localhostProfile !== undefined) {
    causes.push(cause.invalid(path, localhostProfile, "can only be set when AppArmor type is Localhost"));
  }
});

const USER_RULE = "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";

const windows: Check = given((value, at, causes) => {
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = value;
  if (name !== undefined) named("subdomain")(name, `${at}.gmsaCredentialSpecName`, causes);
  if (spec === "") {
    causes.push(cause.invalid(`${at}.gmsaCredentialSpec`, spec, "gmsaCredentialSpec cannot be an empty string"));
  }
  if (user === undefined) return;
  const refuse = (why: string) => void causes.push(cause.invalid(`${at}.runAsUserName`, user, why));
  if (user === "") return refuse("runAsUserName cannot be an empty string");
  const account = user.slice(user.indexOf("\\") + 1);
  if (account === "") refuse("runAsUserName's User cannot be empty");
  else if (/["/\\:;|=,+*?<>@[\]]/.test(account)) refuse(USER_RULE);
});

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_RULE =
  "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/** Settings of the kernel that belong to a namespace that the pod may share with its node. */
const SHARED: Readonly<Record<string, RegExp>> = {
  hostNetwork: /^net\./,
  hostIPC: /^(kernel\.(shm|msg)|kernel\.sem$|fs\.mqueue\.)/,
};

function sysctls(spec: Fields, at: string, causes: Cause[]): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of (spec.securityContext.sysctls ?? []).entries()) {
    const path = `${at}[${index}].name`;
    if (name === "") causes.push(cause.required(path));
    else if (!SYSCTL.test(name) || name.length > 253) causes.push(cause.invalid(path, name, SYSCTL_RULE));
    else if (seen.has(name)) causes.push(cause.duplicate(path, name));
    seen.add(name);
    const dotted = name.replaceAll("/", ".");
    for (const [member, pattern] of Object.entries(SHARED)) {
      if (!spec[member] || !pattern.test(dotted)) continue;
      causes.push(cause.invalid(path, name, `may not be specified when '${member}' is true`));
    }
  }
}

/** Takes the security context of a pod; the value is its spec. */
export const podSecurity: Check = (spec, at, causes) => {
  const { securityContext } = spec;
  if (securityContext) {
    const path = `${at}.securityContext`;
    const { fsGroup, runAsUser, runAsGroup, supplementalGroups } = securityContext;
    id(fsGroup, `${path}.fsGroup`, causes);
    id(runAsUser, `${path}.runAsUser`, causes);
    id(runAsGroup, `${path}.runAsGroup`, causes);
    each(id)(supplementalGroups, `${path}.supplementalGroups`, causes);
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const why = "ShareProcessNamespace and HostPID cannot both be enabled";
    causes.push(cause.invalid(`${at}.shareProcessNamespace`, true, why));
  }
  if (securityContext) {
    sysctls(spec, `${at}.securityContext.sysctls`, causes);
    POLICIES(securityContext, `${at}.securityContext`, causes);
  }
};

const POLICIES: Check = members({
  fsGroupChangePolicy: oneOf(["Always", "OnRootMismatch"]),
  seccompProfile: seccomp,
  windowsOptions: windows,
  appArmorProfile: appArmor,
  supplementalGroupsPolicy: oneOf(["Merge", "Strict"]),
  seLinuxChangePolicy: oneOf(["MountOption", "Recursive"]),
});

/** A security context as messages show it: with the fields' names in Go. */
function inGo(context: Fields): Fields {
  const names = "Capabilities Privileged SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot " +
    "ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile AppArmorProfile";
  const pairs = names.split(" ").map((name) => {
    const member = name === "SELinuxOptions" ? "seLinuxOptions" : name[0]!.toLowerCase() + name.slice(1);
    const value = context[member];
    if (member !== "capabilities" || !value) return [name, value ?? null];
    return [name, { Add: value.add ?? null, Drop: value.drop ?? null }];
  });
  return Object.fromEntries(pairs);
}

/** Takes the security context of a container in a pod. */
export function containerSecurity(pod: Fields): Check {
  return given(all(
    members({
      runAsUser: id,
      runAsGroup: id,
      procMount: given((value, at, causes) => {
        oneOf(["Default", "Unmasked"])(value, at, causes);
        if (value === "Unmasked" && pod.hostUsers !== false) {
          causes.push(cause.invalid(at, value, "`hostUsers` must be false to use `Unmasked`"));
        }
      }),
    }),
    (value, at, causes) => {
      if (value.allowPrivilegeEscalation === false) {
        const refuse = (why: string) => causes.push(cause.invalid(at, inGo(value), why));
        const set = "cannot set `allowPrivilegeEscalation` to false and ";
        if (value.privileged === true) refuse(`${set}\`privileged\` to true`);
        if (value.capabilities?.add?.includes("CAP_SYS_ADMIN")) refuse(`${set}\`capabilities.Add\` CAP_SYS_ADMIN`);
      }
    },
    members({ windowsOptions: windows, seccompProfile: seccomp, appArmorProfile: appArmor }),
  ));
}

const OS: readonly string[] = ["linux", "windows"];
const LINUX_POD = ["appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"];
const LINUX_POD_LATER = ["runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy"];
const LINUX_CONTAINER = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** Takes the operating system of a pod, and nothing that it does not have; the value is the pod's spec. */
export const operatingSystem: Check = (spec, at, causes) => {
  const { os } = spec;
  if (!os) return;
  if (!os.name) return void causes.push(cause.required(`${at}.os.name`));
  if (!OS.includes(os.name)) return void causes.push(cause.unsupported(`${at}.os`, os.name, OS));
  const contexts: [Fields, string][] = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    ((spec[list] ?? []) as Fields[]).map((each, index): [Fields, string] => [
      each.securityContext ?? {},
      `${at}.${list}[${index}].securityContext`,
    ])
  );
  const pod: Fields = spec.securityContext ?? {};
  const path = `${at}.securityContext`;
  const refuse = (context: Fields, members: readonly string[], where: string, why: string) => {
    for (const member of members) {
      if (context[member] !== undefined) causes.push(cause.forbidden(`${where}.${member}`, why));
    }
  };
  if (os.name === "linux") {
    for (const [context, where] of [[pod, path], ...contexts] as const) {
      refuse(context, ["windowsOptions"], where, "windows options cannot be set for a linux pod");
    }
    return;
  }
  const why = "cannot be set for a windows pod";
  refuse(spec, ["hostUsers"], at, why);
  refuse(pod, LINUX_POD, path, why);
  refuse(pod, LINUX_POD_LATER, path, why);
  for (const member of ["hostPID", "hostIPC"]) if (spec[member]) causes.push(cause.forbidden(`${at}.${member}`, why));
  if (spec.shareProcessNamespace !== undefined) causes.push(cause.forbidden(`${at}.shareProcessNamespace`, why));
  for (const [context, where] of contexts) refuse(context, LINUX_CONTAINER, where, why);
};
