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
import type { AccessAttributes, Answer, Call, OpenOutlet, ServerState } from "./_call.ts";
import type { User } from "./_user.ts";
import { checkCustom, negotiate } from "./_codec.ts";
import { partial } from "./_encode.ts";
import { handle } from "./_handle.ts";
import type { Lag } from "./_lag.ts";
import type { Kube } from "./_objects.ts";
import { servePath } from "./_paths.ts";
import { representation } from "./_read.ts";
import type { Reply } from "./_reply.ts";
import type { RequestHeaders } from "./_request_headers.ts";
import { errorReply, jsonReply, warningHeaders } from "./_respond.ts";
import type { Asked, ResourceRequest } from "./_router.ts";
import { methodNotAllowed, noResource, pageNotFound, StatusError, unavailable } from "./_status.ts";
import { checkInclude, tableOf } from "./_table.ts";
import { checkTimeout } from "./_timeout.ts";

/** What a request asks for, in the words of RBAC. */
export function attributesOf(asked: Asked): AccessAttributes {
  if (asked.kind === "path") return { verb: asked.verb, path: asked.path };
  const { verb, group, plural, subresource, namespace, name, selected } = asked;
  return { verb, group, resource: plural, subresource, namespace, name: name || selected };
}

/** A request of a known user. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  /** The headers, of the body as it was read. */
  readonly headers: RequestHeaders;
  readonly user: User;
  /** What it asks for. */
  readonly attributes: AccessAttributes;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** The replica behind that reads are answered from. */
  readonly lag?: Lag | undefined;
  /** Says where the lines of a watch go. */
  readonly open?: OpenOutlet | undefined;
}

/** Answers a request. */
export function serve(server: ServerState, asked: Asked, received: Received): Reply {
  const { url, user, attributes } = received;
  if (!server.allows(user, attributes)) throw forbiddenAccess(server, user, attributes);
  if (asked.kind === "path" || asked.verb !== "watch") checkTimeout(url.searchParams);
  if (asked.kind === "path") return servePath(server, received.method, received.headers.get("accept"), url);
  return serveResource(server, received, asked);
}

/** The call as one for a scale, if that is what the answer shows. */
function asScale(call: Call, { body }: Answer): Call {
  if (typeof body === "string" || body.kind !== "Scale" || call.info.kind === "Scale") return call;
  const { apiVersion, kind } = body;
  return { ...call, info: { ...call.info, apiVersion, kind, plural: "scales", custom: undefined } };
}

/** Shows what a write answered with as the client wants it. */
function represented(asked: Call, answer: Answer): Answer {
  const { body } = answer;
  const call = asScale(asked, answer);
  const { as, version } = negotiate(call.headers.get("accept")) ?? {};
  if (as === "Table") checkInclude(call.query);
  let { state } = answer;
  if (!state) {
    if (typeof body === "string" || body.kind !== call.info.kind || body.apiVersion !== call.info.apiVersion) {
      return answer;
    }
    state = { object: body as Kube, version: 0, writtenAs: call.info.encoding };
  }
  switch (as) {
    case "PartialObjectMetadata":
      return { ...answer, body: partial(view(call.info, state), version) };
    case "PartialObjectMetadataList":
      // What was written stays written.
      representation(call, false);
      break;
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

/** True for the error of what no route takes: its details are empty, and nothing is known of the resource yet. */
function isUnrouted(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  const { code, details } = error.status;
  return [404, 405, 406, 415].includes(code) && details !== undefined && Object.keys(details).length === 0;
}

function serveResource(server: ServerState, received: Received, asked: ResourceRequest): Reply {
  const { method, url, body, headers, user, signal, lag, open } = received;
  const { group, version, plural } = asked;
  if (server.registry.isRemote(group, version)) throw unavailable();
  const info = server.registry.find(group, version, plural);
  if (!info) throw server.registry.isBuiltin(group) ? noResource() : pageNotFound();
  const misplaced = info.namespaced ? asked.name !== "" && !asked.inNamespace : asked.inNamespace;
  const unscoped = info.namespaced && !asked.inNamespace && !["list", "watch"].includes(asked.verb);
  const listed = asked.name === "" && info.verbs.includes("list");
  if (misplaced || unscoped) throw info.custom ? pageNotFound() : listed ? methodNotAllowed() : noResource();
  const deprecation = info.custom ? info.custom.deprecation : DEPRECATED[info.storage];
  const warnings: string[] = deprecation ? [deprecation] : [];
  const accept = headers.get("accept");
  const call: Call = {
    server,
    asked,
    info,
    method,
    query: url.searchParams,
    headers,
    user,
    body,
    warnings,
    signal,
    lag,
    open,
  };
  try {
    if (info.custom) checkCustom(accept);
    const answer = handle(call);
    if (!(answer instanceof ReadableStream)) return jsonReply(represented(call, answer), accept, warnings);
    const headers = [["content-type", "application/json"] as const, ...warningHeaders(warnings)];
    return { status: 200, headers, body: answer };
  } catch (error) {
    return errorReply(error, accept, isUnrouted(error) ? [] : warnings);
  }
}
