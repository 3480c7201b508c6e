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
import * as http from "node:http";
import * as https from "node:https";
import { showUrl } from "./_access.ts";
import type { Connection } from "./credentials.ts";
import { messageOf } from "./errors.ts";

/** What a request goes over: its own connections for watches, and others for all else. */
export type Lane = "stream" | "unary";

/** Sends a request elsewhere than over the network. */
export type Fetch = (request: Request) => Promise<Response>;

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
    return needsNode(connection) ? new NodeLine(connection) : new DenoLine(connection);
  }
}

function toRequest({ url, method, headers, signal }: Outgoing, body: BodyInit | null): Request {
  return new Request(url, { method, headers, body, signal, redirect: "manual" });
}

function hostOf({ server }: Connection): string {
  return new URL(server).host;
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
    const { once, body = "" } = outgoing;
    const text = outgoing.body ?? null;
    return fetch(toRequest(outgoing, once ? ReadableStream.from([new TextEncoder().encode(body)]) : text), {
      client: this.#client,
    });
  }

  /** Requests under way hold their connection beyond the client's end. */
  retire(): void {
    this.#client.close();
  }
}

class NodeLine implements Line {
  readonly host: string;
  readonly #agent: http.Agent;
  /** Opens a connection per request: one that is reused may be sent a request twice. */
  readonly #onceAgent: http.Agent;
  readonly #request: typeof http.request;
  #underWay = 0;
  #retired = false;

  constructor(connection: Connection) {
    const { server, ca, cert, key, serverName, insecure, proxy } = connection;
    this.host = hostOf(connection);
    if (proxy !== undefined) {
      throw new TypeError(
        `Cannot connect to ${server}: a proxy cannot be combined with insecure-skip-tls-verify, tls-server-name or ` +
          `several groups to impersonate: current value is ${showUrl(proxy)}`,
      );
    }
    if (server.startsWith("https:")) {
      this.#request = https.request;
      const settings = {
        rejectUnauthorized: insecure !== true,
        ...(ca ? { ca: [...ca] } : {}),
        ...(cert && key ? { cert, key } : {}),
        ...(serverName !== undefined ? { servername: serverName } : {}),
      };
      this.#agent = new https.Agent({ ...settings, keepAlive: true });
      this.#onceAgent = new https.Agent(settings);
    } else {
      this.#request = http.request;
      this.#agent = new http.Agent({ keepAlive: true });
      this.#onceAgent = new http.Agent();
    }
  }

  send(outgoing: Outgoing): Promise<Response> {
    const { method, url, headers, body, signal, once } = outgoing;
    signal.throwIfAborted();
    const values: Record<string, string[]> = {};
    for (const [name, value] of headers) (values[name.toLowerCase()] ??= []).push(value);
    if (body !== undefined) values["content-length"] = [String(new TextEncoder().encode(body).length)];
    this.#underWay++;
    return new Promise((resolve, reject) => {
      const request = this.#request(url, {
        method,
        agent: once ? this.#onceAgent : this.#agent,
        headers: Object.fromEntries(
          Object.entries(values).map(([name, all]) => [name, all.length === 1 ? all[0]! : all]),
        ),
      });
      const abort = (): void => {
        request.destroy();
        finish();
        reject(signal.reason);
      };
      let finished = false;
      const finish = (): void => {
        if (finished) return;
        finished = true;
        signal.removeEventListener("abort", abort);
        this.#underWay--;
        this.#closeIfIdle();
      };
      signal.addEventListener("abort", abort, { once: true });
      request.on("error", (error: Error) => {
        finish();
        reject(error);
      });
      request.on("response", (message: http.IncomingMessage) => resolve(toResponse(message, signal, finish)));
      request.end(body);
    });
  }

  retire(): void {
    this.#retired = true;
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (!this.#retired || this.#underWay > 0) return;
    this.#agent.destroy();
    this.#onceAgent.destroy();
  }
}

/** Turns an answer of `node:http` into a `Response` whose body fails when the connection does. */
function toResponse(message: http.IncomingMessage, signal: AbortSignal, finish: () => void): Response {
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  let settled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const settle = (error?: unknown): void => {
        finish();
        if (settled) return;
        settled = true;
        signal.removeEventListener("abort", abort);
        if (error === undefined) controller.close();
        else controller.error(error);
      };
      const abort = (): void => {
        settle(signal.reason);
        message.destroy();
      };
      signal.addEventListener("abort", abort, { once: true });
      message.on("data", (chunk: Uint8Array) => {
        if (settled) return;
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.on("end", () => settle());
      message.on("error", (error: Error) => settle(error));
      message.on("close", () => settle(new TypeError("the connection was closed before the answer was complete")));
    },
    pull() {
      message.resume();
    },
    cancel() {
      settled = true;
      message.destroy();
      finish();
    },
  });
  const empty = status === 204 || status === 304;
  if (empty) body.cancel();
  return new Response(empty ? null : body, { status, headers });
}
