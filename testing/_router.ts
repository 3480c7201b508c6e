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
import { parseFields } from "./_selectors.ts";
import { TextError } from "./_status.ts";

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
  /** The one name that a list or watch selects; empty if it may be any. */
  readonly selected: string;
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
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

/** The error for a path that begins a watch of nothing. */
function noInfo(path: string): TextError {
  const why = `unable to determine kind and namespace from url, ${path}`;
  return new TextError(500, `Internal Server Error: ${JSON.stringify(path)}: failed to create RequestInfo: ${why}\n`);
}

/** True for a path with an empty segment that is not its last. */
export function isDoubled(path: string): boolean {
  return path.replace(/\/+$/, "").includes("//");
}

/** The name that a field selector wants, if it is one that a path could have. */
function selectedName(selector: string | null): string {
  try {
    const name = parseFields(selector ?? "").find(({ path, equals }) => path === "metadata.name" && equals)?.value ??
      "";
    return name === "." || name === ".." || /[/%]/.test(name) ? "" : name;
  } catch {
    // A selector that cannot be read is refused later.
    return "";
  }
}

/**
 * Reads a request.
 *
 * @throws {TextError} If it asks to watch nothing
 */
export function route(method: string, url: URL): Asked {
  const path = url.pathname;
  const plain: PathRequest = { kind: "path", path, verb: method.toLowerCase() };
  let parts: string[];
  try {
    if (isDoubled(path)) return plain;
    parts = path.split("/").filter((part) => part !== "");
    if (path.includes("%")) parts = parts.map(decodeURIComponent);
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

  let verb = VERBS[method] ?? "";
  if (parts[0] === "watch") {
    if (parts.length === 1) throw noInfo(path);
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
  let selected = "";
  if (verb === "get" && name === "") {
    verb = asksToWatch(url) ? "watch" : "list";
    selected = selectedName(url.searchParams.get("fieldSelector"));
  }
  if (verb === "delete" && name === "") verb = "deletecollection";
  const where = { namespace, name, selected, subresource, inNamespace, rest };
  return { kind: "resource", path, verb, group, version, plural, ...where };
}
