/**
 * Sends the requests of the server's own controllers: at once, as a cluster admin, and not recorded.
 *
 * ```ts
 * import { performer } from "./_performer.ts";
 *
 * console.assert(typeof performer === "function");
 * ```
 *
 * @module
 */
import { ADMIN } from "./_auth.ts";
import type { ServerState } from "./_call.ts";
import type { Perform } from "./_perform.ts";
import { HeaderMap } from "./_request_headers.ts";
import { errorReply } from "./_respond.ts";
import { route } from "./_router.ts";
import { attributesOf, serve } from "./_serve.ts";

const NEVER = new AbortController().signal;

/** Sends requests of controllers. */
export function performer(server: ServerState): Perform {
  return (method, path, body, contentType = "application/json", agent = "kube-controller-manager/v1.37.2") => {
    const url = new URL(path, "http://kubernetes");
    const headers = new HeaderMap();
    headers.add("content-type", contentType);
    headers.add("user-agent", agent);
    const text = body === undefined ? "" : JSON.stringify(body);
    try {
      const asked = route(method, url);
      const { status } = serve(server, asked, {
        method,
        url,
        body: text,
        headers,
        user: ADMIN,
        attributes: attributesOf(asked),
        signal: NEVER,
      });
      return { code: status, body: {} };
    } catch (error) {
      return { code: errorReply(error, null).status, body: {} };
    }
  };
}
