/**
 * Tells which requests are meant: by who asks, and for what.
 *
 * ```ts
 * import { matches } from "./_match.ts";
 *
 * const subject = { user: "ada", client: "kubectl", verb: "list", resource: "pods" };
 * console.assert(matches({ verb: ["list", "watch"], resource: "pods" }, subject));
 * console.assert(!matches({ namespace: "shop" }, subject));
 * ```
 *
 * @module
 */

/** Which requests are meant: all that agree in each member that is given, with one value or with any of several. */
export interface RequestMatch {
  /** The name of the user. @default {any} */
  readonly user?: string | readonly string[] | undefined;
  /** The name that `ApiServer.client()` gave the client; else what its `User-Agent` begins with, up to a slash. @default {any} */
  readonly client?: string | readonly string[] | undefined;
  /** The verb as RBAC has it, such as `list` or `patch`. @default {any} */
  readonly verb?: string | readonly string[] | undefined;
  /** The plural, such as `leases`; empty for a path that is no resource. @default {any} */
  readonly resource?: string | readonly string[] | undefined;
  /** The subresource; empty for the object itself. @default {any} */
  readonly subresource?: string | readonly string[] | undefined;
  /** The namespace; empty across namespaces and at cluster scope. @default {any} */
  readonly namespace?: string | readonly string[] | undefined;
  /** The object's name; empty for a collection. @default {any} */
  readonly name?: string | readonly string[] | undefined;
}

/** What a match is tried on. */
export interface RequestSubject {
  /** The name of the user. */
  readonly user: string;
  /** Which client it is of. */
  readonly client: string;
  /** The verb as RBAC has it. */
  readonly verb: string;
  /** The plural; absent for a path that is no resource. */
  readonly resource?: string;
  /** The subresource, if one is meant. */
  readonly subresource?: string;
  /** The namespace, if the request is for one. */
  readonly namespace?: string;
  /** The name, if the request is for one object. */
  readonly name?: string;
}

/** The members that a match can have. */
export const MATCH_MEMBERS = ["user", "client", "verb", "resource", "subresource", "namespace", "name"] as const;

/** True if all that a match says is so. */
export function matches(match: RequestMatch, subject: RequestSubject): boolean {
  return MATCH_MEMBERS.every((member) => {
    const wanted = match[member], value = subject[member] ?? "";
    return wanted === undefined || (typeof wanted === "string" ? wanted === value : wanted.includes(value));
  });
}

/**
 * Refuses a match that could meet nothing, such as one with a member that is misspelt.
 *
 * @throws {TypeError} If it has a member that is none, or a value that is no text
 */
export function checkMatch(what: string, match: object, more: readonly string[] = []): void {
  for (const [member, value] of Object.entries(match)) {
    if (more.includes(member) || value === undefined) continue;
    if (!(MATCH_MEMBERS as readonly string[]).includes(member)) {
      throw new TypeError(
        `Cannot ${what}: requests are matched by ${
          [...MATCH_MEMBERS, ...more].join(", ")
        }: current member is ${member}`,
      );
    }
    if (typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"))) {
      continue;
    }
    throw new TypeError(
      `Cannot ${what}: '${member}' must be a string or an array of strings: current value is ${JSON.stringify(value)}`,
    );
  }
}
