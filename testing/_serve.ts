/**
 * Answers one request of a known user: discovery and health, or a resource once the user is allowed to.
 *
 * ```ts
 * import { serve } from "./_serve.ts";
 *
 * console.assert(typeof serve === "function");
 * ```
 *
 * @module
 */
import { forbiddenAccess } from "./_auth.ts";
import { view } from "./_behaviour.ts";
import type { AccessAttributes, Answer, Call, ServerState, User } from "./_call.ts";
import { checkCustom, negotiate } from "./_codec.ts";
import { discover, health, VERSION } from "./_discovery.ts";
import { partial } from "./_encode.ts";
import { handle } from "./_handle.ts";
import type { Kube } from "./_objects.ts";
import { openApi } from "./_openapi.ts";
import { errorResponse, jsonResponse, textResponse } from "./_respond.ts";
import type { Asked, ResourceRequest } from "./_router.ts";
import { noResource, pageNotFound } from "./_status.ts";
import { tableOf } from "./_table.ts";

/** What a request asks for, in the words of RBAC. */
export function attributesOf(asked: Asked): AccessAttributes {
  if (asked.kind === "path") return { verb: asked.verb, path: asked.path };
  const { verb, group, plural, subresource, namespace, name } = asked;
  return { verb, group, resource: plural, subresource, namespace, name };
}

/** A request of a known user. */
export interface Received {
  readonly request: Request;
  readonly url: URL;
  readonly body: string;
  /** The headers, of the body as it was read. */
  readonly headers: Headers;
  readonly user: User;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** Answers a request. */
export function serve(server: ServerState, asked: Asked, received: Received): Response {
  const { request, url, user } = received;
  const attributes = attributesOf(asked);
  if (!server.allows(user, attributes)) throw forbiddenAccess(user, attributes);
  if (asked.kind === "path") return servePath(server, request, url);
  return serveResource(server, received, asked);
}

function servePath(server: ServerState, request: Request, url: URL): Response {
  const { pathname: path, searchParams } = url;
  const accept = request.headers.get("accept");
  const healthy = health(path, searchParams);
  if (healthy !== undefined) return textResponse(200, healthy);
  if (path === "/version" || path === "/version/") return jsonResponse({ code: 200, body: { ...VERSION } }, accept, []);
  const described = path.startsWith("/openapi/") ? openApi(server.registry, path) : undefined;
  if (described) return jsonResponse(described, null, []);
  const answer = discover(server.registry, path, accept);
  if (answer) return jsonResponse(answer, answer.headers ? null : accept, []);
  if (path === "/") return jsonResponse({ code: 200, body: { paths: rootPaths(server) } }, accept, []);
  throw pageNotFound();
}

function rootPaths({ registry }: ServerState): string[] {
  const paths = ["/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"];
  for (const { name, versions } of registry.groups()) {
    if (name === "") continue;
    paths.push(`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`));
  }
  return paths.sort();
}

/** Shows what a write answered with as the client wants it. */
function represented(call: Call, answer: Answer): Answer {
  const { body } = answer;
  let { state } = answer;
  if (!state) {
    if (typeof body === "string" || body.kind !== call.info.kind || body.apiVersion !== call.info.apiVersion) {
      return answer;
    }
    state = { object: body as Kube, version: 0, writtenAs: call.info.encoding };
  }
  switch (negotiate(call.headers.get("accept"))?.as) {
    case "PartialObjectMetadata":
      return { ...answer, body: partial(view(call.info, state)) };
    case "Table":
      return { ...answer, body: tableOf(call, [state], {}, call.server.now()) };
  }
  return answer;
}

/** What is said of built-in resources that are deprecated. */
const DEPRECATED: Readonly<Record<string, string>> = {
  endpoints: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  componentstatuses: "v1 ComponentStatus is deprecated in v1.19+",
};

function serveResource(server: ServerState, received: Received, asked: ResourceRequest): Response {
  const { request, url, body, headers, user, signal } = received;
  const { group, version, plural } = asked;
  const info = server.registry.find(group, version, plural);
  if (!info) throw server.registry.isBuiltin(group) ? noResource() : pageNotFound();
  const misplaced = info.namespaced ? asked.name !== "" && !asked.inNamespace : asked.inNamespace;
  const unscoped = info.namespaced && !asked.inNamespace && !["list", "watch"].includes(asked.verb);
  if (misplaced || unscoped) throw info.custom ? pageNotFound() : noResource();
  const { method } = request;
  const deprecation = info.custom ? info.custom.deprecation : DEPRECATED[info.storage];
  const warnings: string[] = deprecation ? [deprecation] : [];
  const accept = headers.get("accept");
  const call: Call = { server, asked, info, method, query: url.searchParams, headers, user, body, warnings, signal };
  try {
    if (info.custom) checkCustom(accept);
    const answer = handle(call);
    if (!(answer instanceof ReadableStream)) return jsonResponse(represented(call, answer), accept, warnings);
    const all = new Headers({ "content-type": "application/json" });
    for (const each of warnings) all.append("warning", `299 - ${JSON.stringify(each)}`);
    return new Response(answer, { headers: all });
  } catch (error) {
    return errorResponse(error, accept, warnings);
  }
}
