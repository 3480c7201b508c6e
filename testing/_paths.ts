/**
 * Answers requests for paths that are no resources: discovery, health, metrics, and what the server is.
 *
 * ```ts
 * import { servePath } from "./_paths.ts";
 *
 * console.assert(typeof servePath === "function");
 * ```
 *
 * @module
 */
import type { ServerState } from "./_call.ts";
import { discover, health, VERSION } from "./_discovery.ts";
import { checkType, issuerDocument } from "./_issuer.ts";
import { metricsPage, type ObjectCount } from "./_metrics.ts";
import { openApi, openApiHead } from "./_openapi.ts";
import type { Reply } from "./_reply.ts";
import { jsonReply, textReply } from "./_respond.ts";
import { isDoubled } from "./_router.ts";
import { methodNotAllowed, noResource, pageNotFound, TextError, unavailable } from "./_status.ts";

const OPENAPI_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/** Documents that only a GET asks for; others are given to any method. */
function getsOnly({ registry }: ServerState, path: string): boolean {
  const [root, group, version, ...rest] = path.split("/").filter((part) => part !== "");
  if (rest.length > 0) return false;
  if (root === "version" || root === "api") return group === undefined || (root === "api" && version === undefined);
  return root === "apis" && version !== undefined && registry.isBuiltin(group ?? "");
}

/** True for what another server is to serve. */
function isRemote({ registry }: ServerState, path: string): boolean {
  const [root, group = "", version = ""] = path.split("/").filter((part) => part !== "");
  return root === "api" ? registry.isRemote("", "v1") : root === "apis" && registry.isRemote(group, version);
}

/** Answers a request for a path. */
export function servePath(server: ServerState, method: string, accept: string | null, url: URL): Reply {
  const { pathname: path, searchParams, host } = url;
  const { registry } = server;
  if (/%(?![0-9a-f]{2})/i.test(path)) throw new TextError(400, "400 Bad Request");
  if (isDoubled(path)) {
    const [, root, group = ""] = path.split("/");
    const known = root === "api" || (root === "apis" && group !== "" && registry.isBuiltin(group));
    throw known ? noResource() : pageNotFound();
  }
  if (isRemote(server, path)) throw unavailable();
  if (path === "/" || path === "/index.html") {
    return jsonReply({ code: 200, body: { paths: rootPaths(server) } }, accept, []);
  }
  const healthy = health(path, searchParams);
  if (healthy !== undefined) return textReply(200, healthy);
  const told = issuerDocument(path, method, accept, host) ?? metricsPage(path, () => counts(server));
  if (told) return told;
  if (method !== "GET" && getsOnly(server, path)) throw methodNotAllowed();
  if (/^\/version\/*$/.test(path)) {
    checkType(accept, "application/json");
    return jsonReply({ code: 200, body: { ...VERSION } }, null, []);
  }
  if (path.startsWith("/openapi/v3/")) {
    const described = path === "/openapi/v3/" ? undefined : openApi(registry, path);
    return described ? jsonReply(described, null, []) : { status: 404, headers: [], body: null };
  }
  if (path === "/openapi/v2" && accept?.includes(OPENAPI_PROTOBUF)) {
    return { status: 200, headers: [["content-type", OPENAPI_PROTOBUF.replace("@", ".")]], body: openApiHead() };
  }
  const described = path.startsWith("/openapi/") ? openApi(registry, path) : undefined;
  if (described) return jsonReply(described, null, []);
  const answer = discover(registry, path, accept, host);
  if (answer) return jsonReply(answer, answer.headers ? null : accept, []);
  throw pageNotFound();
}

function counts({ registry, store }: ServerState): ObjectCount[] {
  const found = [...registry.resources()].filter(({ verbs }) => verbs.includes("list")).map((
    { group, plural, storage },
  ) => ({ group, resource: plural, count: store.collection(storage).size }));
  const key = ({ group, resource }: ObjectCount): string => `${group} ${resource}`;
  return found.sort((a, b) => key(a) < key(b) ? -1 : 1);
}

const ROOT_PATHS = [
  ...["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/metrics"],
  ...["/metrics/slis", "/openapi/v3", "/openid/v1/jwks", "/readyz", "/version"],
];

function rootPaths({ registry }: ServerState): string[] {
  const paths = [...ROOT_PATHS];
  for (const versions of registry.announced()) {
    paths.push(`/apis/${versions[0]!.group}`, ...versions.map(({ group, version }) => `/apis/${group}/${version}`));
  }
  return paths.sort();
}
