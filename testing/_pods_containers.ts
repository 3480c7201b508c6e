/**
 * Checks containers: those that run, those that run first, and those that are put beside them later.
 *
 * ```ts
 * import { containers } from "./_pods_containers.ts";
 *
 * console.assert(typeof containers === "function");
 * ```
 *
 * @module
 */
import {
  type Check,
  each,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  portNameRules,
} from "./_checks.ts";
import type { Fields } from "./_objects.ts";
import { environment, environmentFrom } from "./_pods_env.ts";
import { mounts, type Volumes } from "./_pods_mounts.ts";
import { lifecycle, liveness, readiness } from "./_pods_probes.ts";
import { containerResources } from "./_pods_resources.ts";
import { containerSecurity } from "./_pods_security.ts";
import { type Cause, cause } from "./_status.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MAX_PORT = 65535;

function portCauses(value: number, at: string): Cause[] {
  const why = `must be between 1 and ${MAX_PORT}, inclusive`;
  return value < 1 || value > MAX_PORT ? [cause.invalid(at, value, why)] : [];
}

const ports: Check = (value, at, causes) => {
  const names = new Set<string>();
  for (const [index, port] of ((value ?? []) as Fields[]).entries()) {
    const path = `${at}[${index}]`;
    const { name, containerPort = 0, hostPort = 0, protocol } = port;
    if (name) {
      const wrong = portNameRules(name);
      for (const why of wrong) causes.push(cause.invalid(`${path}.name`, name, why));
      if (wrong.length === 0 && names.has(name)) causes.push(cause.duplicate(`${path}.name`, name));
      names.add(name);
    }
    if (containerPort === 0) causes.push(cause.required(`${path}.containerPort`));
    else causes.push(...portCauses(containerPort, `${path}.containerPort`));
    if (hostPort !== 0) causes.push(...portCauses(hostPort, `${path}.hostPort`));
    if (!protocol) causes.push(cause.required(`${path}.protocol`));
    else oneOf(PROTOCOLS)(protocol, `${path}.protocol`, causes);
  }
};

const resizePolicy: Check = (value, at, causes) => {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of ((value ?? []) as Fields[]).entries()) {
    if (seen.has(resourceName)) causes.push(cause.duplicate(`${at}[${index}]`, resourceName));
    seen.add(resourceName);
    for (const [text, known] of [[resourceName, RESIZABLE], [restartPolicy, RESIZES]] as const) {
      if (text === "") causes.push(cause.required(at));
      else oneOf(known)(text, at, causes);
    }
  }
};

const RESIZABLE = ["cpu", "memory"];
const RESIZES = ["NotRequired", "RestartContainer"];
const RESTARTS = ["Always", "Never", "OnFailure"];

const restartRules: Check = each((rule, at, causes) => {
  oneOf(["Restart", "RestartAllContainers"])(rule.action ?? "", `${at}.action`, causes);
  const codes = rule.exitCodes, path = `${at}.exitCodes`;
  if (!codes) return void causes.push(cause.required(path, "must be specified"));
  oneOf(["In", "NotIn"])(codes.operator ?? "", `${path}.operator`, causes);
  if ((codes.values ?? []).length > 255) causes.push(cause.tooMany(`${path}.values`, codes.values.length, 255));
});

/** What the containers of a pod have in common. */
export interface PodContext {
  /** The pod's spec. */
  readonly spec: Fields;
  /** Its volumes by name. */
  readonly volumes: Volumes;
}

/** Checks what containers of all sorts have. */
function common({ spec, volumes }: PodContext): Check {
  const claims = ((spec.resourceClaims ?? []) as Fields[]).map(({ name }) => name);
  const before = members({
    name: neededAnd(named("label")),
    image: needed(),
    terminationMessagePolicy: oneOf(["File", "FallbackToLogsOnError"]),
    ports,
    env: environment,
    envFrom: environmentFrom,
  });
  const mounted = mounts(volumes);
  const after = members({
    imagePullPolicy: oneOf(["Always", "IfNotPresent", "Never"]),
    resources: containerResources(claims),
    resizePolicy,
    securityContext: containerSecurity(spec),
  });
  return (value, at, causes) => {
    before(value, at, causes);
    mounted(value, at, causes);
    after(value, at, causes);
  };
}

const restart: Check = (value, at, causes) => {
  const { restartPolicy, restartPolicyRules } = value;
  if (restartPolicy !== undefined) oneOf(RESTARTS)(restartPolicy, `${at}.restartPolicy`, causes);
  if (isEmpty(restartPolicyRules)) return;
  if (restartPolicy === undefined) {
    const why = "must specify restartPolicy when restart rules are used";
    causes.push(cause.required(`${at}.restartPolicy`, why));
  }
  restartRules(restartPolicyRules, `${at}.restartPolicyRules`, causes);
};

/** Containers on one node cannot have the same port of it. */
function conflicts(list: readonly Fields[], at: string, causes: Cause[]): void {
  const seen = new Set<string>();
  for (const [index, container] of list.entries()) {
    for (const [number, { hostPort, hostIP = "", protocol }] of ((container.ports ?? []) as Fields[]).entries()) {
      if (!hostPort) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (seen.has(key)) causes.push(cause.duplicate(`${at}[${index}].ports[${number}].hostPort`, key));
      seen.add(key);
    }
  }
}

const PROBES = members({ livenessProbe: liveness, readinessProbe: readiness, startupProbe: liveness });
const SIDECAR = "may not be set for init containers without restartPolicy=Always";
const RUNS = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

/** Takes the containers that run, and those that run first; the value is the pod's spec. */
export function containers(context: PodContext): Check {
  const { spec } = context;
  const check = common(context);
  const life = lifecycle(spec.terminationGracePeriodSeconds ?? 0);
  const unique = (value: Fields, at: string, causes: Cause[], names: Set<string>) => {
    if (value.name && names.has(value.name)) causes.push(cause.duplicate(`${at}.name`, value.name));
    names.add(value.name);
  };
  return (_, at, causes) => {
    const names = new Set<string>();
    const path = `${at}.containers`;
    if (isEmpty(spec.containers)) causes.push(cause.required(path));
    else {
      each((value, where, found) => {
        check(value, where, found);
        unique(value, where, found, names);
        restart(value, where, found);
        life(value.lifecycle, `${where}.lifecycle`, found);
        PROBES(value, where, found);
      })(spec.containers, path, causes);
      conflicts(spec.containers, path, causes);
    }
    each((value, where, found) => {
      check(value, where, found);
      unique(value, where, found, names);
      conflicts([value], where.replace(/\[\d+\]$/, ""), found);
      restart(value, where, found);
      if (value.restartPolicy === "Always") {
        life(value.lifecycle, `${where}.lifecycle`, found);
        PROBES(value, where, found);
        return;
      }
      for (const member of RUNS) {
        if (!isEmpty(value[member])) found.push(cause.forbidden(`${where}.${member}`, SIDECAR));
      }
    })(spec.initContainers, `${at}.initContainers`, causes);
    debugging(context, names)(spec.ephemeralContainers, `${at}.ephemeralContainers`, causes);
  };
}

const NOT_EPHEMERAL = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];

/** Takes containers that are put beside those that run. */
function debugging(context: PodContext, names: Set<string>): Check {
  const check = common(context);
  const others = new Set(((context.spec.containers ?? []) as Fields[]).map(({ name }) => name));
  return each((value, at, causes) => {
    check({ ...value, resources: undefined, ports: undefined }, at, causes);
    if (value.name && names.has(value.name)) causes.push(cause.duplicate(`${at}.name`, value.name));
    names.add(value.name);
    const target = value.targetContainerName;
    if (target && !others.has(target)) causes.push(cause.notFound(`${at}.targetContainerName`, target));
    for (const member of NOT_EPHEMERAL) {
      if (!isEmpty(value[member])) {
        causes.push(cause.forbidden(`${at}.${member}`, "cannot be set for an Ephemeral Container"));
      }
    }
    given(each((mount, where, found) => {
      for (const member of ["subPath", "subPathExpr"]) {
        if (mount[member]) {
          found.push(cause.forbidden(`${where}.${member}`, "cannot be set for an Ephemeral Container"));
        }
      }
    }))(value.volumeMounts, `${at}.volumeMounts`, causes);
  });
}
