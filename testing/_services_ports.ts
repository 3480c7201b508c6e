/**
 * Gives Services their node ports.
 *
 * ```ts
 * import { needsHealthCheck } from "./_services_ports.ts";
 *
 * console.assert(needsHealthCheck({ type: "LoadBalancer", externalTrafficPolicy: "Local" }));
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import type { Fields } from "./_objects.ts";
import { refuse } from "./_services_addresses.ts";
import { FIRST_PORT, LAST_PORT, type Taken, takenBy } from "./_services_taken.ts";
import { cause, internalError } from "./_status.ts";

/** True for a Service that nodes listen for. */
export function needsNodePorts({ type }: Fields): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** True for a Service that is asked on a port of its own whether it is well. */
export function needsHealthCheck({ type, externalTrafficPolicy }: Fields): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** The ports that are free, and how to take some. */
class NodePorts {
  readonly #pool: Taken["ports"];
  readonly #now = new Set<number>();

  constructor(server: Ground) {
    this.#pool = takenBy(server).ports;
  }

  /** Takes a port; answers why it cannot be had. */
  take(port: number): string | undefined {
    if (port < FIRST_PORT || port > LAST_PORT) {
      return `provided port is not in the valid range. The range of valid ports is ${FIRST_PORT}-${LAST_PORT}`;
    }
    if (this.#pool.has(port) || this.#now.has(port)) return "provided port is already allocated";
    this.#now.add(port);
    return undefined;
  }

  /** Takes the next free port. */
  next(): number {
    const port = this.#pool.next(LAST_PORT, this.#now);
    if (port === undefined) throw internalError("failed to allocate a nodePort: range is full");
    this.#now.add(port);
    return port;
  }
}

function given(ports: readonly Fields[]): Set<number> {
  return new Set(ports.map(({ nodePort }) => nodePort as number).filter(Boolean));
}

/** Takes over node ports from before, by the names of the ports. */
function keep(ports: readonly Fields[], before: readonly Fields[]): void {
  const now = given(ports);
  const used = new Set([...given(before)].filter((each) => now.has(each)));
  const named = new Map(before.map(({ name = "", nodePort }) => [name, nodePort]));
  for (const port of ports) {
    const nodePort = named.get(port.name ?? "");
    if (!port.nodePort && nodePort && !used.has(nodePort)) port.nodePort = nodePort;
  }
}

/** Gives a Service its node ports; refuses those it cannot have. */
export function allocateNodePorts({ metadata, spec }: Fields, server: Ground, previous?: Fields): void {
  const old: Fields | undefined = previous?.spec;
  const ports: Fields[] = spec.ports ?? [];
  const before: Fields[] = old && needsNodePorts(old) ? old.ports ?? [] : [];
  if (!needsNodePorts(spec)) return;
  if (before.length > 0) keep(ports, before);
  if (old && needsHealthCheck(old) && needsHealthCheck(spec)) spec.healthCheckNodePort ||= old.healthCheckNodePort;
  const free = new NodePorts(server);
  const known = given(before);
  // The same port by two protocols has one node port.
  const chosen = new Map<number, number>();
  const wanted = (port: number): number | undefined =>
    ports.find((each) => each.port === port && each.nodePort)?.nodePort;
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts === false) continue;
    const earlier = chosen.get(port.port);
    if (!port.nodePort) {
      port.nodePort = earlier ?? (old ? undefined : wanted(port.port));
      if (port.nodePort === undefined) port.nodePort = free.next();
      else if (earlier === undefined) claim(free, metadata.name, index, port.nodePort);
    } else if (port.nodePort !== earlier && !known.has(port.nodePort)) {
      claim(free, metadata.name, index, port.nodePort);
    }
    if (!old) chosen.set(port.port, port.nodePort);
  }
  if (!needsHealthCheck(spec) || old && needsHealthCheck(old)) return;
  if (!spec.healthCheckNodePort) spec.healthCheckNodePort = free.next();
  else {
    const why = free.take(spec.healthCheckNodePort);
    if (why === undefined) return;
    throw internalError(`failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${why}`);
  }
}

function claim(free: NodePorts, name: string, index: number, port: number): void {
  const why = free.take(port);
  if (why !== undefined) throw refuse(name ?? "", [cause.invalid(`spec.ports[${index}].nodePort`, port, why)]);
}
