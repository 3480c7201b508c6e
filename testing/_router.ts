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
  return path.includes("//") && path.replace(/\/+$/, "").includes("//");
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
    parts = path.split("/");
    if (path.includes("%")) parts = parts.map(decodeURIComponent);
  } catch {
    return plain;
  }
  // Nothing is between the first slashes, and between the last ones.
  let at = 1, end = parts.length;
  while (end > at && parts[end - 1] === "") end--;
  let group = "";
  const [, root] = parts;
  if (root === "apis") group = parts[++at] ?? "";
  else if (root !== "api") return plain;
  const version = parts[++at]!;
  if (++at >= end) return plain;

  let verb = VERBS[method] ?? "";
  if (parts[at] === "watch") {
    if (++at === end) throw noInfo(path);
    verb = "watch";
  }
  let namespace = "", inNamespace = false;
  if (parts[at] === "namespaces") {
    if (end - at > 2 && !NAMESPACE_PARTS.has(parts[at + 2]!)) {
      namespace = parts[at + 1]!;
      inNamespace = true;
      at += 2;
    } else if (end - at > 1) {
      // A Namespace is authorized in itself.
      namespace = parts[at + 1]!;
    }
  }
  const plural = parts[at]!,
    name = at + 1 < end ? parts[at + 1]! : "",
    subresource = at + 2 < end ? parts[at + 2]! : "";
  const rest = parts.slice(at + 3, end);
  let selected = "";
  if (verb === "get" && name === "") {
    verb = asksToWatch(url) ? "watch" : "list";
    selected = selectedName(url.searchParams.get("fieldSelector"));
  }
  if (verb === "delete" && name === "") verb = "deletecollection";
  return {
    kind: "resource",
    path,
    verb,
    group,
    version,
    plural,
    namespace,
    name,
    selected,
    subresource,
    inNamespace,
    rest,
  };
}
