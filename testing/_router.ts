/**
 * Reads what a request asks for from its method and path: which verb, on which resource, where.
 *
 * ```ts
 * import { route } from "./_router.ts";
 *
 * const asked = route("GET", new URL("http://host/apis/apps/v1/namespaces/shop/deployments/web/status"));
 * console.assert(asked.kind === "resource" && asked.verb === "get" && asked.subresource === "status");
 * ```
 *
 * @module
 */

/** A request for something that is no resource. */
export interface PathRequest {
  readonly kind: "path";
  /** The path. */
  readonly path: string;
  /** The verb that RBAC goes by: the method in lower case. */
  readonly verb: string;
}

/** A request for a resource. */
export interface ResourceRequest {
  readonly kind: "resource";
  /** The path. */
  readonly path: string;
  /** The verb that RBAC goes by. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Empty across namespaces and at cluster scope. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** True if the path named a namespace that the resource is in. */
  readonly inNamespace: boolean;
  /** Path segments beyond the subresource. */
  readonly rest: readonly string[];
}

/** What a request asks for. */
export type Asked = PathRequest | ResourceRequest;

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/** True for `?watch`, `?watch=1` and `?watch=true`. */
export function asksToWatch(url: URL): boolean {
  const value = url.searchParams.get("watch");
  return value !== null && value !== "false" && value !== "0";
}

/** Reads a request. */
export function route(method: string, url: URL): Asked {
  const path = url.pathname;
  const plain: PathRequest = { kind: "path", path, verb: method.toLowerCase() };
  let parts: string[];
  try {
    parts = path.split("/").filter((part) => part !== "").map(decodeURIComponent);
  } catch {
    return plain;
  }
  let group = "", version: string | undefined;
  if (parts[0] === "api") {
    version = parts[1];
    parts = parts.slice(2);
  } else if (parts[0] === "apis") {
    [, group = "", version] = parts as [string, string?, string?];
    parts = parts.slice(3);
  } else return plain;
  if (version === undefined || parts.length === 0) return plain;

  let verb = VERBS[method] ?? method.toLowerCase();
  if (parts[0] === "watch") {
    verb = "watch";
    parts = parts.slice(1);
  }
  let namespace = "", inNamespace = false;
  if (parts[0] === "namespaces") {
    if (parts.length > 2 && !NAMESPACE_PARTS.has(parts[2]!)) {
      namespace = parts[1]!;
      inNamespace = true;
      parts = parts.slice(2);
    } else if (parts.length > 1) {
      // A Namespace is authorized in itself.
      namespace = parts[1]!;
    }
  }
  const [plural, name = "", subresource = "", ...rest] = parts as [string?, string?, string?, ...string[]];
  if (plural === undefined) return plain;
  if (verb === "get" && name === "") verb = asksToWatch(url) ? "watch" : "list";
  if (verb === "get" && subresource === "" && asksToWatch(url)) verb = "watch";
  if (verb === "delete" && name === "") verb = "deletecollection";
  return { kind: "resource", path, verb, group, version, plural, namespace, name, subresource, inNamespace, rest };
}
