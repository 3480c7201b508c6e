/**
 * Sends requests over `node:https`: to servers whose certificate is not checked or names another, and with headers that come twice.
 *
 * ```ts
 * import { NodeLine } from "./_node_line.ts";
 *
 * const server = "https://localhost:6443";
 * const line = new NodeLine({ server, namespace: "default", insecure: true, generation: 1, headers: () => [] });
 * console.assert(line.host === "localhost:6443");
 * line.retire();
 * ```
 *
 * @module
 */
import * as http from "node:http";
import * as https from "node:https";
import { hostOf, type Line, type Outgoing } from "./_line.ts";
import type { Connection } from "./credentials.ts";

/** Pooled connections over `node:http` and `node:https`. */
export class NodeLine implements Line {
  readonly host: string;
  readonly #agent: http.Agent;
  /** Opens a connection per request: one that is reused may be sent a request twice. */
  readonly #onceAgent: http.Agent;
  readonly #request: typeof http.request;
  #underWay = 0;
  #retired = false;

  /** Opens nothing yet. */
  constructor(connection: Connection) {
    const { server, ca, cert, key, serverName, insecure } = connection;
    this.host = hostOf(connection);
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
