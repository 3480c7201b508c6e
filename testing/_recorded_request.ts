/**
 * Records a request for assertions: who asked for what, when, with what, and what came of it.
 *
 * ```ts
 * import type { RecordedRequest } from "./_recorded_request.ts";
 *
 * export function isWrite({ method }: RecordedRequest): boolean {
 *   return method !== "GET";
 * }
 * ```
 *
 * @module
 */
import type { RequestSubject } from "./_match.ts";
import type { RequestHeaders } from "./_request_headers.ts";

/** A request that came to the server. */
export interface RecordedRequest extends RequestSubject {
  /** When it came, in ms since 1970 by the test's clock. */
  readonly time: number;
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query's parameters; the last of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** The media type of the body. */
  readonly contentType: string | undefined;
  /** The body as it came; empty if there was none. */
  readonly body: string;
  /** The code of the answer, whether it reached the client or not; 0 while there is none. */
  readonly code: number;
  /** What went wrong with it on the test's request, in a few words. */
  readonly fault?: string;
}

/** A request as it is being answered. */
export class RequestRecord implements RecordedRequest {
  readonly time: number;
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: string;
  user = "";
  client: string;
  verb: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  code = 0;
  fault?: string;
  readonly #search: string;

  /** Takes what is known at once. */
  constructor(time: number, method: string, url: URL, headers: RequestHeaders, body: string, client: string) {
    this.time = time;
    this.method = method;
    this.path = url.pathname;
    this.contentType = headers.get("content-type") ?? undefined;
    this.body = body;
    this.client = client;
    this.verb = method.toLowerCase();
    this.#search = url.search;
  }

  /** Says what it is for. */
  concerns({ verb, resource, subresource, namespace, name }: Omit<RequestSubject, "user" | "client">): void {
    this.verb = verb;
    if (resource === undefined) return;
    this.resource = resource;
    this.subresource = subresource ?? "";
    this.namespace = namespace ?? "";
    this.name = name ?? "";
  }

  get query(): Readonly<Record<string, string>> {
    return Object.fromEntries(new URLSearchParams(this.#search));
  }
}
