/**
 * Keeps what came to a server, for assertions.
 *
 * ```ts
 * import type { RecordedRequest } from "./_requests.ts";
 *
 * export function isWrite({ method }: RecordedRequest): boolean {
 *   return method !== "GET";
 * }
 * ```
 *
 * @module
 */

/** A request that came to the server. */
export interface RecordedRequest {
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query's parameters; the last of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** The name of the user that it was done as. */
  readonly user: string;
  /** The media type of the body. */
  readonly contentType: string | undefined;
  /** The body as it came; empty if there was none. */
  readonly body: string;
  /** The code of the answer; 0 while there is none. */
  readonly code: number;
}
