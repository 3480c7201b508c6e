/**
 * Finds out who asks: by bearer token, service account token, or impersonation.
 *
 * ```ts
 * import { Users } from "./_auth.ts";
 *
 * const users = new Users();
 * users.add("secret", { name: "ada", groups: ["dev"] });
 * console.assert(users.byToken("secret")?.name === "ada");
 * ```
 *
 * @module
 */
import type { AccessAttributes, ServerState, User } from "./_call.ts";
import { StatusError } from "./_status.ts";

/** Who does not say who they are. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Who may do everything. */
export const ADMIN: User = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** A user whose groups say that they are authenticated. */
export function authenticated(user: User): User {
  const { groups } = user;
  return groups.includes("system:authenticated") ? user : { ...user, groups: [...groups, "system:authenticated"] };
}

/** The users that a server knows. */
export class Users {
  readonly #tokens = new Map<string, User>();

  /** Lets a token stand for a user. */
  add(token: string, user: User): void {
    this.#tokens.set(token, authenticated(user));
  }

  /** The user of a token. */
  byToken(token: string): User | undefined {
    return this.#tokens.get(token);
  }
}

function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/**
 * The user of a request; `fallback` is who asks without saying so.
 *
 * @throws {StatusError} If the token is not known
 */
export function authenticate(headers: Headers, users: Users, fallback: User): User {
  const header = headers.get("authorization");
  const [, scheme = "", token = ""] = /^(\S+)\s+(.*)$/.exec(header ?? "") ?? [];
  if (scheme.toLowerCase() !== "bearer" || token === "") return fallback;
  const user = users.byToken(token.trim());
  if (!user) throw unauthorized();
  return user;
}

/** The user that a request is done as; who asks must be allowed to impersonate. */
export function impersonate(server: ServerState, user: User, headers: Headers): User {
  const name = headers.get("impersonate-user") ?? "";
  const groups = (headers.get("impersonate-group") ?? "").split(",").map((each) => each.trim()).filter((each) => each);
  const uid = headers.get("impersonate-uid") ?? undefined;
  const extra: Record<string, string[]> = {};
  for (const [key, value] of headers) {
    if (key.startsWith("impersonate-extra-")) extra[decodeURIComponent(key.slice(18))] = value.split(",").map((each) => each.trim());
  }
  if (name === "") {
    if (groups.length > 0 || uid || Object.keys(extra).length > 0) {
      throw new StatusError({
        code: 400,
        reason: "BadRequest",
        message: `requested ${JSON.stringify({ groups, uid, extra })} without impersonating a user`,
      });
    }
    return user;
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const wanted: AccessAttributes[] = account
    ? [{ verb: "impersonate", resource: "serviceaccounts", namespace: account[1]!, name: account[2]! }]
    : [{ verb: "impersonate", resource: "users", name }];
  for (const group of groups) wanted.push({ verb: "impersonate", resource: "groups", name: group });
  for (const attributes of wanted) {
    if (!server.allows(user, attributes)) throw forbiddenAccess(user, attributes);
  }
  const all = new Set(groups);
  if (account && groups.length === 0) {
    all.add("system:serviceaccounts");
    all.add(`system:serviceaccounts:${account[1]}`);
  }
  all.add(name === ANONYMOUS.name ? "system:unauthenticated" : "system:authenticated");
  return { name, groups: [...all], ...(uid ? { uid } : {}), ...(Object.keys(extra).length > 0 ? { extra } : {}) };
}

/** The answer for what a user may not do. */
export function forbiddenAccess(user: User, attributes: AccessAttributes): StatusError {
  const { verb, group = "", resource = "", subresource = "", namespace = "", name = "", path } = attributes;
  if (path !== undefined) {
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`;
    return new StatusError({ code: 403, reason: "Forbidden", message, details: {} });
  }
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const subject = name === "" ? qualified : `${qualified} ${JSON.stringify(name)}`;
  const message = `${subject} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ` +
    `${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
  return new StatusError({
    code: 403,
    reason: "Forbidden",
    message,
    details: { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource },
  });
}
