/**
 * Describes what handlers work on: one request, and the server that it came to.
 *
 * ```ts
 * import type { Call } from "./_call.ts";
 *
 * function isDryRun({ query }: Call): boolean {
 *   return query.get("dryRun") === "All";
 * }
 * ```
 *
 * @module
 */
import type { Ground } from "./_kind.ts";
import type { Registry, ResourceInfo } from "./_registry.ts";
import type { State } from "./_revision.ts";
import type { Lag } from "./_lag.ts";
import type { Outlet } from "./_outlet.ts";
import type { RequestHeaders } from "./_request_headers.ts";
import type { ResourceRequest } from "./_router.ts";
import type { User } from "./_user.ts";
import type { Fields, Kube } from "./_objects.ts";

/** An object that a token goes with. */
export interface BoundObject {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

/** What a token says. */
export interface TokenFacts {
  /** Whose it is; undefined if it is no good. */
  readonly user?: User | undefined;
  /** Those of the audiences asked for that it is for. */
  readonly audiences: readonly string[];
  /** Why it is no good, if there is more to say than that. */
  readonly error?: string | undefined;
}

/** The parts of a server that handlers share. */
export interface ServerState extends Ground {
  readonly registry: Registry;
  /** True if lists and watches may select shards. */
  readonly sharding: boolean;
  /** Aborts when the server closes. */
  readonly closed: AbortSignal;
  /** True if a user may do that; always true while authorization is off. */
  allows(user: User, attributes: AccessAttributes): boolean;
  /** The user of a bearer token, if it is good. */
  authenticate(token: string): User | undefined;
  /** What a bearer token says to these audiences; to the server's own if there are none. */
  reviewToken(token: string, audiences?: readonly string[]): TokenFacts;
  /** Makes a token for a service account. */
  issueToken(
    namespace: string,
    account: Kube,
    seconds: number,
    audiences: readonly string[],
    bound?: BoundObject,
  ): string;
  /** Who has been somebody else before: what they may not be is then named in itself. */
  readonly impersonators: Set<string>;
  /** True if requests are authorized at all. */
  readonly authorizes: boolean;
}

/** What a user wants to do, in the words of RBAC. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** A path that is no resource. */
  readonly path?: string;
}

/** One request for a resource. */
export interface Call {
  readonly server: ServerState;
  readonly asked: ResourceRequest;
  readonly info: ResourceInfo;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: RequestHeaders;
  readonly user: User;
  /** The body as it came. */
  readonly body: string;
  /** Texts of warning headers. */
  readonly warnings: string[];
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** The replica behind that reads are answered from. */
  readonly lag?: Lag | undefined;
  /** Says where the lines of a watch go; straight into the stream if absent. */
  readonly open?: OpenOutlet | undefined;
}

/** Opens the way for the lines of a watch. */
export type OpenOutlet = (controller: ReadableStreamDefaultController<Uint8Array>) => Outlet;

/** What a handler answers with. */
export interface Answer {
  readonly code: number;
  readonly body: Fields | string;
  /** The object that the body shows, if it may be shown in another way. */
  readonly state?: State;
  readonly headers?: Record<string, string>;
}
