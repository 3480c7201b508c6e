/**
 * Finds out who asks: by bearer token, by service account token, or by impersonation.
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
import type { AccessAttributes, BoundObject, ServerState, TokenFacts } from "./_call.ts";
import type { User } from "./_user.ts";
import type { Kube } from "./_objects.ts";
import { Rbac } from "./_rbac.ts";
import type { RequestHeaders } from "./_request_headers.ts";
import { StatusError } from "./_status.ts";
import type { Store } from "./_store.ts";

/** Who does not say who they are. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Who may do everything. */
export const ADMIN: User = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

const AUTHENTICATED = "system:authenticated";

/** The groups of a service account of a namespace. */
function accountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** A token of a service account. */
interface AccountToken {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly id: string;
  /** ms since 1970. */
  readonly expires: number;
  readonly audiences: readonly string[];
  /** What must be there as long as the token is to be good. */
  readonly bound: BoundObject | undefined;
}

/** The audience of the API server itself. */
export const AUDIENCE = "https://kubernetes.default.svc";

function quoted(texts: readonly string[]): string {
  return `[${texts.map((each) => JSON.stringify(each)).join(" ")}]`;
}

function base64url(value: string): string {
  return btoa(value).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The node that a pod is on, as tokens tell of it. */
function nodeOf(store: Store, namespace: string, pod: string): Record<string, string[]> {
  const node = store.collection("pods").get(namespace, pod)?.object.spec?.nodeName;
  if (!node) return {};
  const uid = store.collection("nodes").get("", node)?.object.metadata.uid;
  return {
    "authentication.kubernetes.io/node-name": [node],
    ...(uid ? { "authentication.kubernetes.io/node-uid": [uid] } : {}),
  };
}

/** The users that a server knows. */
export class Users {
  readonly #tokens = new Map<string, User>();
  readonly #accounts = new Map<string, AccountToken>();

  /** Lets a token stand for a user. */
  add(token: string, user: User): void {
    const { groups } = user;
    this.#tokens.set(token, groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...groups, AUTHENTICATED] });
  }

  /** The user of a token that was added. */
  byToken(token: string): User | undefined {
    return this.#tokens.get(token);
  }

  /** Makes a token for a service account. */
  issue(
    server: ServerState,
    namespace: string,
    { metadata }: Kube,
    seconds: number,
    audiences: readonly string[],
    bound?: BoundObject,
  ): string {
    const now = Math.floor(server.now().getTime() / 1000);
    const id = server.uid();
    const name = metadata.name!, uid = metadata.uid!;
    const claims = {
      aud: audiences,
      exp: now + seconds,
      iat: now,
      iss: "https://kubernetes.default.svc",
      jti: id,
      "kubernetes.io": {
        namespace,
        ...(bound ? { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } } : {}),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const signature = Array.from({ length: 64 }, () => String.fromCharCode(Math.floor(server.random() * 256))).join("");
    const token = [JSON.stringify({ alg: "RS256", kid: "tend" }), JSON.stringify(claims), signature].map(base64url)
      .join(".");
    this.#accounts.set(token, { namespace, name, uid, id, expires: (now + seconds) * 1000, audiences, bound });
    return token;
  }

  /**
   * What a token says to these audiences: whose it is, unless it is not known, has expired, is for others, or what it is
   * bound to is gone.
   */
  authenticate(token: string, store: Store, now: Date, asked: readonly string[] = [AUDIENCE]): TokenFacts {
    const user = this.#tokens.get(token);
    if (user) return asked.includes(AUDIENCE) ? { user, audiences: [AUDIENCE] } : { audiences: [] };
    const account = this.#accounts.get(token);
    if (!account || account.expires <= now.getTime()) return { audiences: [] };
    const { namespace, name, uid, id, bound } = account;
    const audiences = asked.filter((each) => account.audiences.includes(each));
    if (audiences.length === 0) {
      const why = `token audiences ${quoted(account.audiences)} is invalid for the target audiences ${quoted(asked)}`;
      return { audiences, error: why };
    }
    const uidOf = (resource: string, at: string, of: string): string | undefined =>
      store.collection(resource).get(at, of)?.object.metadata.uid;
    if (uidOf("serviceaccounts", namespace, name) !== uid) return { audiences };
    const extra: Record<string, string[]> = { "authentication.kubernetes.io/credential-id": [`JTI=${id}`] };
    if (bound) {
      const kind = bound.kind.toLowerCase();
      if (uidOf(`${kind}s`, bound.kind === "Node" ? "" : namespace, bound.name) !== bound.uid) return { audiences };
      if (bound.kind !== "Secret") {
        extra[`authentication.kubernetes.io/${kind}-name`] = [bound.name];
        extra[`authentication.kubernetes.io/${kind}-uid`] = [bound.uid];
      }
      if (bound.kind === "Pod") Object.assign(extra, nodeOf(store, namespace, bound.name));
    }
    const groups = [...accountGroups(namespace), AUTHENTICATED];
    return { user: { name: `system:serviceaccount:${namespace}:${name}`, groups, uid, extra }, audiences };
  }
}

/**
 * The user of a request; `fallback` is who asks without saying so.
 *
 * @throws {StatusError} If the token is not good
 */
export function authenticate(server: ServerState, headers: RequestHeaders, fallback: User): User {
  const header = headers.get("authorization");
  if (!header) return fallback;
  const [, scheme = "", token = ""] = /^(\S+)\s+(.*)$/.exec(header) ?? [];
  if (scheme.toLowerCase() !== "bearer" || token.trim() === "") return fallback;
  const user = server.authenticate(token.trim());
  if (!user) throw new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
  return user;
}

function goStrings(values: readonly string[]): string {
  return values.length === 0 ? "[]string(nil)" : `[]string{${values.map((each) => JSON.stringify(each)).join(", ")}}`;
}

/** The user that a request is done as; who asks must be allowed to impersonate. */
export function impersonate(server: ServerState, user: User, headers: RequestHeaders, asked: AccessAttributes): User {
  const name = headers.get("impersonate-user") ?? "";
  const group = headers.get("impersonate-group") ?? "";
  const uid = headers.get("impersonate-uid") ?? "";
  const extra: Record<string, string[]> = {};
  let extras = 0;
  headers.forEach((value, key) => {
    if (!key.startsWith("impersonate-extra-")) return;
    extra[decodeURIComponent(key.slice(18))] = value.split(",").map((each) => each.trim());
    extras++;
  });
  if (name === "" && group === "" && uid === "" && extras === 0) return user;
  const groups = group.split(",").map((each) => each.trim()).filter((each) => each);
  if (name === "") {
    if (groups.length === 0 && uid === "" && extras === 0) return user;
    const message = `requested &user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings(groups)}, ` +
      "Extra:map[string][]string(nil)} without impersonating a user name";
    throw new StatusError({ code: 400, reason: "BadRequest", message });
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const authentication = "authentication.k8s.io";
  const wanted: AccessAttributes[] = [
    account
      ? { verb: "impersonate", resource: "serviceaccounts", namespace: account[1]!, name: account[2]! }
      : { verb: "impersonate", resource: "users", name },
    ...groups.map((group) => ({ verb: "impersonate", resource: "groups", name: group })),
    ...(uid === "" ? [] : [{ verb: "impersonate", group: authentication, resource: "uids", name: uid }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({
        verb: "impersonate",
        group: authentication,
        resource: "userextras",
        subresource: key,
        name: value,
      }))
    ),
  ];
  const refused = wanted.find((attributes) => !server.allows(user, attributes));
  if (!refused) server.impersonators.add(user.name);
  else if (server.impersonators.has(user.name)) throw forbiddenAccess(server, user, refused);
  else {
    const mode = account ? "serviceaccount" : name.startsWith("system:node:") ? "arbitrary-node" : "user-info";
    throw forbiddenAccess(server, user, { ...asked, verb: `impersonate-on:${mode}:${asked.verb}` });
  }
  const all = new Set(groups);
  if (account && groups.length === 0) { for (const each of accountGroups(account[1]!)) all.add(each); }
  all.add(name === ANONYMOUS.name ? "system:unauthenticated" : AUTHENTICATED);
  return {
    name,
    groups: [...all],
    ...(uid === "" ? {} : { uid }),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

/** The answer for what a user may not do. */
export function forbiddenAccess(server: ServerState, user: User, attributes: AccessAttributes): StatusError {
  const why = new Rbac(server.store).refusal(user, attributes);
  const suffix = why === "" ? "" : `: ${why}`;
  const { verb, group = "", resource = "", subresource = "", namespace = "", name = "", path } = attributes;
  if (path !== undefined) {
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${suffix}`;
    return new StatusError({ code: 403, reason: "Forbidden", message, details: {} });
  }
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const subject = name === "" ? qualified : `${qualified} ${JSON.stringify(name)}`;
  const message = `${subject} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ` +
    `${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}${suffix}`;
  return new StatusError({
    code: 403,
    reason: "Forbidden",
    message,
    details: { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource },
  });
}
