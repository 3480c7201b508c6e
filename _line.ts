/**
 * Says what a line is: pooled connections to one server, over which requests are sent.
 *
 * ```ts
 * import type { Line } from "./_line.ts";
 *
 * const deaf: Line = { host: "localhost", send: () => Promise.reject(new Error("there is nobody")), retire() {} };
 * console.assert(deaf.host === "localhost");
 * ```
 *
 * @module
 */
import type { Connection } from "./credentials.ts";

/** A request as it is sent. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: [string, string][];
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Must reach the server once at most, whatever happens to the connection. */
  readonly once: boolean;
}

/** Pooled connections of one lane to one server with one set of TLS settings. */
export interface Line {
  /** Host and port of the server. */
  readonly host: string;
  /** Sends a request; redirects are answers. */
  send(request: Outgoing): Promise<Response>;
  /** Takes no more requests: what is under way goes on, then its connections close. */
  retire(): void;
}

/** Host and port of a connection's server. */
export function hostOf({ server }: Connection): string {
  return new URL(server).host;
}
