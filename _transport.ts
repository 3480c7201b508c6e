/**
 * Sends requests over Deno's `fetch`, or over `node:https` where that lacks something, on connections that can be replaced.
 *
 * Watches and everything else have a lane each, so that one dead connection, or a full limit of HTTP/2 streams, in the
 * one never holds up the other.
 *
 * ```ts
 * import { Transport } from "./_transport.ts";
 *
 * const transport = new Transport({ fetch: () => Promise.resolve(new Response("ok")) });
 * const line = transport.line("unary", { server: "http://localhost", namespace: "default", generation: 1, headers: () => [] });
 * const { signal } = new AbortController();
 * const response = await line.send({
 *   method: "GET",
 *   url: "http://localhost/livez",
 *   headers: [],
 *   body: undefined,
 *   signal,
 *   once: false,
 * });
 * console.assert(await response.text() === "ok");
 * transport.close();
 * ```
 *
 * @module
 */
import { showUrl } from "./_access.ts";
import { hostOf, type Line, type Outgoing } from "./_line.ts";
import type { Connection } from "./credentials.ts";
import { messageOf } from "./errors.ts";

export type { Line } from "./_line.ts";

/** What a request goes over: its own connections for watches, and others for all else. */
export type Lane = "stream" | "unary";

/** Sends a request elsewhere than over the network. */
export type Fetch = (request: Request) => Promise<Response>;

/** Keeps one {@linkcode Line} per lane, and opens another when the TLS settings change or a connection seems dead. */
export class Transport {
  readonly #fetch: Fetch | undefined;
  readonly #lines = new Map<Lane, { line: Line; generation: number }>();

  /** Opens nothing yet; with a `fetch`, it never does. */
  constructor(options: { readonly fetch?: Fetch | undefined } = {}) {
    this.#fetch = options.fetch;
  }

  /** Answers with the lane's line to this server. */
  line(lane: Lane, connection: Connection): Line {
    const current = this.#lines.get(lane);
    if (current?.generation === connection.generation) return current.line;
    current?.line.retire();
    const line = this.#open(connection);
    this.#lines.set(lane, { line, generation: connection.generation });
    return line;
  }

  /** Retires a line on which a request timed out: its connections may be dead without a sign. The next request opens new ones. */
  replace(line: Line): void {
    for (const [lane, current] of this.#lines) {
      if (current.line !== line) continue;
      this.#lines.delete(lane);
      line.retire();
    }
  }

  /** Retires all lines. */
  close(): void {
    for (const { line } of this.#lines.values()) line.retire();
    this.#lines.clear();
  }

  #open(connection: Connection): Line {
    const fetch = this.#fetch;
    if (fetch) {
      const send: Line["send"] = (outgoing) => fetch(toRequest(outgoing, outgoing.body ?? null));
      return { host: hostOf(connection), send, retire: () => {} };
    }
    return needsNode(connection) ? new LaterLine(connection) : new DenoLine(connection);
  }
}

function toRequest({ url, method, headers, signal }: Outgoing, body: BodyInit | null): Request {
  return new Request(url, { method, headers, body, signal, redirect: "manual" });
}

/** True for what `Deno.createHttpClient` has no setting for: no check, another server name, a header sent several times. */
function needsNode(connection: Connection): boolean {
  const names = connection.headers().map(([name]) => name.toLowerCase());
  return connection.insecure === true || connection.serverName !== undefined || new Set(names).size < names.length;
}

class DenoLine implements Line {
  readonly host: string;
  readonly #client: Deno.HttpClient;

  constructor(connection: Connection) {
    const { server, ca, cert, key, proxy } = connection;
    this.host = hostOf(connection);
    try {
      this.#client = Deno.createHttpClient({
        ...(ca ? { caCerts: [...ca] } : {}),
        ...(cert && key ? { cert, key } : {}),
        ...(proxy ? { proxy: { url: proxy } } : {}),
      });
    } catch (error) {
      throw new TypeError(
        `Cannot connect to ${server}: its certificates, or ours, cannot be used: ${messageOf(error)}`,
      );
    }
  }

  send(outgoing: Outgoing): Promise<Response> {
    // Deno sends a request again by itself when a reused connection breaks, though the server may have carried it out;
    // a body that is a stream it cannot send again
    const { url, once, body = "", method, headers, signal } = outgoing;
    return fetch(url, {
      ...{ method, headers, signal, redirect: "manual", client: this.#client },
      body: once ? ReadableStream.from([new TextEncoder().encode(body)]) : outgoing.body ?? null,
    });
  }

  /** Requests under way hold their connection beyond the client's end. */
  retire(): void {
    this.#client.close();
  }
}

/** A line over `node:https`, whose module is loaded with the first request: most never need it. */
class LaterLine implements Line {
  readonly host: string;
  readonly #connection: Connection;
  #line: Promise<Line> | undefined;

  constructor(connection: Connection) {
    const { server, proxy } = connection;
    this.host = hostOf(connection);
    this.#connection = connection;
    if (proxy !== undefined) {
      throw new TypeError(
        `Cannot connect to ${server}: a proxy cannot be combined with insecure-skip-tls-verify, tls-server-name or ` +
          `several groups to impersonate: current value is ${showUrl(proxy)}`,
      );
    }
  }

  async send(outgoing: Outgoing): Promise<Response> {
    const line = await (this.#line ??= this.#load());
    return await line.send(outgoing);
  }

  retire(): void {
    this.#line?.then((line) => line.retire(), () => {});
  }

  async #load(): Promise<Line> {
    const { NodeLine } = await import("./_node_line.ts");
    return new NodeLine(this.#connection);
  }
}
