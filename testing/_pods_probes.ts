/**
 * Checks the probes of containers and what runs when they start and stop.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { readiness } from "./_pods_probes.ts";
 *
 * console.assert(causesOf(readiness, { tcpSocket: { port: 0 } }, "probe")[0]?.field === "probe.tcpSocket.port");
 * ```
 *
 * @module
 */
import { all, atLeast, type Check, given, members, needed, oneOf, portNumber, portOrName, such } from "./_checks.ts";
import { cause } from "./_status.ts";

const HEADER = /^[-A-Za-z0-9]+$/;
const HEADER_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

const headers: Check = (value, at, causes) => {
  for (const { name = "" } of value ?? []) if (!HEADER.test(name)) causes.push(cause.invalid(at, name, HEADER_RULE));
};

const ACTIONS: Readonly<Record<string, Check>> = {
  exec: members({ command: needed() }),
  httpGet: members({ path: needed(), port: portOrName, scheme: oneOf(["HTTP", "HTTPS"]), httpHeaders: headers }),
  tcpSocket: members({ port: portOrName }),
  grpc: members({ port: (value, at, causes) => portNumber(value ?? 0, at, causes) }),
};

/** Takes exactly one of the ways to act. */
function handler(actions: Readonly<Record<string, Check>>): Check {
  return (value, at, causes) => {
    let found = 0;
    for (const name in actions) {
      if (value?.[name] === undefined || value[name] === null) continue;
      if (found++ > 0) causes.push(cause.forbidden(`${at}.${name}`, "may not specify more than 1 handler type"));
      else actions[name]!(value[name], `${at}.${name}`, causes);
    }
    if (found === 0) causes.push(cause.required(at, "must specify a handler type"));
  };
}

const zero: Check = given(atLeast(0));
const positive: Check = given(such((value) => value <= 0 ? "must be greater than 0" : undefined));

const probe: Check = all(
  handler(ACTIONS),
  members({
    initialDelaySeconds: zero,
    timeoutSeconds: zero,
    periodSeconds: zero,
    successThreshold: zero,
    failureThreshold: zero,
    terminationGracePeriodSeconds: positive,
  }),
);

const once: Check = members({ successThreshold: given(such((value) => value === 1 ? undefined : "must be 1")) });

/** Takes a liveness or startup probe. */
export const liveness: Check = given(all(probe, once));

/** Takes a readiness probe. */
export const readiness: Check = given(
  all(
    probe,
    members({ terminationGracePeriodSeconds: given(such(() => "must not be set for readinessProbes")) }),
  ),
);

/** Takes what runs after a container's start and before its stop, in a pod of so much grace. */
export function lifecycle(grace: number): Check {
  const actions: Readonly<Record<string, Check>> = {
    exec: ACTIONS.exec!,
    httpGet: ACTIONS.httpGet!,
    tcpSocket: ACTIONS.tcpSocket!,
    sleep: (value, at, causes) => {
      const seconds = value?.seconds ?? 0;
      if (seconds >= 0 && seconds <= grace) return;
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      causes.push(cause.invalid(at, seconds, why));
    },
  };
  return given(members({ postStart: given(handler(actions)), preStop: given(handler(actions)) }));
}
