/**
 * Answers requests to be passed on to a Service, a pod or a node: nothing runs behind any of them.
 *
 * ```ts
 * import { serviceOf } from "./_proxy.ts";
 *
 * serviceOf("https:web:443"); // { name: "web", port: "443" }
 * ```
 *
 * @module
 */
import type { Answer, Call } from "./_call.ts";
import type { Fields } from "./_objects.ts";
import { badRequest, noResource, notFound, StatusError } from "./_status.ts";
import { collectionOf, liveOf, mustExist, namespaceOf } from "./_write.ts";

/** The Service that a name in a path means, as `name`, `name:port` or `scheme:name:port`; undefined if it means none. */
export function serviceOf(text: string): { name: string; port: string } | undefined {
  const parts = text.split(":");
  if (parts.length > 3 || (parts.length === 3 && !["", "http", "https"].includes(parts[0]!))) return undefined;
  const [name = "", port = ""] = parts.length === 3 ? parts.slice(1) : parts;
  return name === "" ? undefined : { name, port };
}

function unavailable(message: string): StatusError {
  return new StatusError({ code: 503, reason: "ServiceUnavailable", message });
}

/** Answers a request for a proxy. */
export function proxy(call: Call): Answer {
  const { info, asked } = call;
  if (info.storage !== "services") {
    mustExist(call, liveOf(call));
    throw noResource();
  }
  const service = serviceOf(asked.name);
  if (!service) throw badRequest(`invalid service request ${JSON.stringify(asked.name)}`);
  const { name, port } = service;
  if (/^\d+$/.test(port)) {
    const found = collectionOf(call).get(namespaceOf(call), name);
    if (!found) throw notFound(info, name);
    const ports: Fields[] = found.object.spec?.ports ?? [];
    if (!ports.some((each) => each.port === Number(port))) {
      throw unavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
}
