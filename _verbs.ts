/**
 * Describes what the verbs of the Kubernetes API take and answer with, and puts it into queries and bodies.
 *
 * ```ts
 * import { writeQuery } from "./_verbs.ts";
 *
 * console.assert(writeQuery({ dryRun: true }, "tend").dryRun === "All");
 * ```
 *
 * @module
 */
import type { Fetch } from "./_transport.ts";
import type { CredentialOptions } from "./credentials.ts";
import type { Duration } from "./duration.ts";
import type { JsonPatchOperation } from "./json.ts";
import { assertPathSegment } from "./names.ts";
import type { Draft, KubernetesObject, ObjectMeta, ObjectRef, Resource } from "./resource.ts";

/** An object by its name, or by anything that carries its name and namespace. */
export type Target =
  | string
  | { readonly name: string; readonly namespace?: string | undefined }
  | { readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined } };

/** Parameters of a request; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

/** One attempt to send a request, as {@linkcode ClientOptions.onRequest} gets it. */
export interface RequestAttempt {
  /** The HTTP method. */
  readonly method: string;
  /** The server's host and port. */
  readonly host: string;
  /** The HTTP status code, or `<error>` if no answer came. */
  readonly code: number | string;
}

/** Options of `Client`. */
export interface ClientOptions extends CredentialOptions {
  /** Sends requests instead of the network; then no file is read and no connection opened, unless a kubeconfig is given. @default {Deno's} */
  readonly fetch?: Fetch | undefined;
  /** Deadline of a request, repeats included, waits that the server asked for not. @default {30_000} */
  readonly timeout?: Duration | undefined;
  /** How the client names itself. @default {"tend"} */
  readonly userAgent?: string | undefined;
  /** Who the fields that this client writes belong to. @default {"tend"} */
  readonly fieldManager?: string | undefined;
  /** How often a read or a conditional write that got no answer is repeated, the first time at once. @default {2} */
  readonly retries?: number | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Called after each attempt, for metrics. @default {undefined} */
  readonly onRequest?: ((attempt: RequestAttempt) => void) | undefined;
}

/** Options of `Client.request` and `Client.stream`. */
export interface RequestOptions {
  /** The HTTP method. @default {"GET"} */
  readonly method?: string | undefined;
  /** The path, encoded, from the server's root, such as `/api/v1/pods`. */
  readonly path: string;
  /** Parameters to put behind the path. @default {undefined} */
  readonly query?: Query | undefined;
  /** Sent as JSON; a string as it is. @default {undefined} */
  readonly body?: unknown;
  /** The type of the body. @default {"application/json"} */
  readonly contentType?: string | undefined;
  /** The type of the answer. @default {"application/json"} */
  readonly accept?: string | undefined;
  /** Aborts the request, or the stream. @default {undefined} */
  readonly signal?: AbortSignal | undefined;
  /** The deadline; of a stream, until its answer begins. @default {the client's} */
  readonly timeout?: Duration | undefined;
  /** More headers. @default {undefined} */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a derived client does beside what its origin does: see `Client.with`. */
export interface Derivation {
  /** Aborts every request. @default {undefined} */
  readonly signal?: AbortSignal | undefined;
  /** Called before each attempt to send; throws to refuse it. @default {undefined} */
  readonly guard?: (() => void) | undefined;
  /** Gets each object that a write answered with, but not those of dry runs. @default {undefined} */
  readonly onWritten?: ((resource: Resource, object: KubernetesObject) => void) | undefined;
  /** Called after each attempt, for metrics. @default {undefined} */
  readonly onRequest?: ((attempt: RequestAttempt) => void) | undefined;
  /** Who the fields that it writes belong to. @default {the origin's} */
  readonly fieldManager?: string | undefined;
  /** Deadline of a request. @default {the origin's} */
  readonly timeout?: Duration | undefined;
}

/** Options of every verb. */
export interface CallOptions {
  /** The namespace. @default {the object's, else the client's} */
  readonly namespace?: string | undefined;
  /** Aborts the request. @default {undefined} */
  readonly signal?: AbortSignal | undefined;
  /** The deadline. @default {the client's} */
  readonly timeout?: Duration | undefined;
}

/** Options of a read of one object. */
export interface GetOptions extends CallOptions {
  /** `"0"` allows an answer from the server's cache. @default {the newest} */
  readonly resourceVersion?: string | undefined;
}

/** Which objects are meant. */
export interface SelectOptions extends CallOptions {
  /** The namespace; none is all of them. @default {undefined} */
  readonly namespace?: string | undefined;
  /** Such as `app=web,tier!=test`. @default {undefined} */
  readonly labelSelector?: string | undefined;
  /** Such as `metadata.name=web`. @default {undefined} */
  readonly fieldSelector?: string | undefined;
}

/** How fresh a list must be: see "Resource versions" in the Kubernetes API concepts. */
export type ResourceVersionMatch = "Exact" | "NotOlderThan";

/** Options of a list. */
export interface ListOptions extends SelectOptions {
  /** The most objects in the answer. @default {all} */
  readonly limit?: number | undefined;
  /** The token that the page before came with. @default {undefined} */
  readonly continue?: string | undefined;
  /** How new the state must be. @default {the newest} */
  readonly resourceVersion?: string | undefined;
  /** How `resourceVersion` is meant. @default {undefined} */
  readonly resourceVersionMatch?: ResourceVersionMatch | undefined;
}

/** Options of a list that is read page by page. */
export interface ItemsOptions extends SelectOptions {
  /** Objects per request. @default {500} */
  readonly pageSize?: number | undefined;
}

/** Options of a watch. */
export interface WatchOptions extends SelectOptions {
  /** Only what changed after it. @default {the newest state first} */
  readonly resourceVersion?: string | undefined;
  /** How `resourceVersion` is meant. @default {undefined} */
  readonly resourceVersionMatch?: ResourceVersionMatch | undefined;
  /** Asks for events that only move the resource version on. @default {false} */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** After how many seconds the server ends the watch. @default {the server's choice} */
  readonly timeoutSeconds?: number | undefined;
  /** Asks for the state first, as events, ended by a marked bookmark. @default {undefined} */
  readonly sendInitialEvents?: boolean | undefined;
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Lets the server check and answer without storing. @default {false} */
  readonly dryRun?: boolean | undefined;
  /** What the server does with unknown and duplicate fields. @default {the server's, which is "Warn"} */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
  /** Who the written fields belong to. @default {the client's} */
  readonly fieldManager?: string | undefined;
}

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  /** `merge` is RFC 7386, `json` RFC 6902, `strategic` merges lists of built-in kinds by their keys. @default {"merge"} */
  readonly type?: PatchType | undefined;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that belong to other managers. @default {false} */
  readonly force?: boolean | undefined;
}

/** Options of a delete. */
export interface DeleteOptions extends CallOptions {
  /** Deletes only the object of this uid. @default {undefined} */
  readonly uid?: string | undefined;
  /** Deletes only this version of the object. @default {undefined} */
  readonly resourceVersion?: string | undefined;
  /** What becomes of what it owns. @default {the kind's, mostly "Background"} */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined;
  /** Seconds until the object is killed. @default {the object's} */
  readonly gracePeriodSeconds?: number | undefined;
  /** Lets the server check and answer without deleting. @default {false} */
  readonly dryRun?: boolean | undefined;
}

/** Options of a delete of many objects. */
export interface DeleteCollectionOptions extends ListOptions, Omit<DeleteOptions, "uid" | "resourceVersion"> {
  /** The namespace. @default {none, which is only right for cluster-scoped kinds} */
  readonly namespace?: string | undefined;
}

/** The ways to patch. */
export type PatchType = "merge" | "json" | "strategic";

/** What a patch says: operations for `json`, else the fields to change. */
export type Patch = readonly JsonPatchOperation[] | Readonly<Record<string, unknown>>;

/** Objects of one kind, as a list answers. */
export interface List<T> {
  /** The version of the list. */
  apiVersion: string;
  /** The kind of the list, such as `PodList`. */
  kind: string;
  /** Where the list stands, and where it goes on. */
  metadata: {
    /** A watch from here misses nothing. */
    resourceVersion?: string;
    /** The next page's token. */
    continue?: string;
    /** How many objects, about, the next pages have. */
    remainingItemCount?: number;
  };
  /** The objects, each with its `apiVersion` and `kind`. */
  items: T[];
}

/** An event of a watch; a bookmark's object carries only `metadata.resourceVersion` and annotations. */
export interface WatchEvent<T> {
  /** What happened. */
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  /** The object after it, or, for a deletion, before. */
  object: T;
}

/** The `scale` subresource: how many replicas are wanted, and there. */
export interface Scale extends KubernetesObject {
  /** What is wanted. */
  spec?: { replicas?: number };
  /** What is there. */
  status?: { replicas: number; selector?: string };
}

/** Content types by way of patching. */
export const PATCH_TYPES: Readonly<Record<PatchType | "apply", string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Fields of the metadata that only the server sets, and that an apply must not claim. */
const SERVER_SET: readonly (keyof ObjectMeta | "selfLink")[] = [
  "managedFields",
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
];

/** Puts parameters behind a path, which may have some already. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}

/** The query of a list, a watch, or a delete of many. */
export function selectQuery(options: ListOptions & WatchOptions): Query {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
  const { allowWatchBookmarks, timeoutSeconds, sendInitialEvents, continue: token } = options;
  return {
    labelSelector,
    fieldSelector,
    limit,
    continue: token,
    resourceVersion,
    resourceVersionMatch,
    allowWatchBookmarks,
    timeoutSeconds,
    sendInitialEvents,
  };
}

/** The query of a write. */
export function writeQuery({ dryRun, fieldValidation, fieldManager }: WriteOptions, manager: string): Query {
  return { fieldManager: fieldManager || manager, fieldValidation, dryRun: dryRun ? "All" : undefined };
}

/** The body of a delete. */
export function deleteBody(options: DeleteOptions): Record<string, unknown> {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(uid || resourceVersion ? { preconditions: { uid, resourceVersion } } : {}),
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ["All"] : undefined,
  };
}

/** A draft without what only the server sets. */
export function applicable<D extends Draft<KubernetesObject>>(draft: D): D {
  const metadata: Record<string, unknown> = { ...draft.metadata };
  for (const field of SERVER_SET) delete metadata[field];
  return { ...draft, metadata };
}

/**
 * Name and namespace of a target.
 *
 * @throws {TypeError} If the name is empty, or could change the path that it is put into
 */
export function refOf(target: Target): ObjectRef {
  const ref = typeof target === "string" ? { name: target } : "metadata" in target ? target.metadata : target;
  assertPathSegment(ref.name, "name");
  return { name: ref.name, namespace: ref.namespace };
}
