/**
 * Serves small answers over HTTP/1.1 to whoever asks: what it reads is limited in size and time, and so are its connections.
 *
 * ```ts
 * import { SmallServer } from "./_http_server.ts";
 *
 * const server = new SmallServer(() => Promise.resolve(new Response("ok\n")));
 * const { port } = server.listen({ hostname: "127.0.0.1", port: 0 });
 * const response = await fetch(`http://127.0.0.1:${port}/`);
 * console.assert(await response.text() === "ok\n");
 * await server.stop();
 * await server.cut();
 * ```
 *
 * # Guarantees
 *
 * - A request's line and headers have 16 KiB and 5 s, its answer 10 s to be taken; bodies are not read.
 * - Of more than 128 connections at once the oldest is cut, those without a request first: slow clients keep no one out.
 * - One request per connection; what follows is not read. There is no HTTP/2.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers"; // sockets do not go by a fake time
import { race } from "./delay.ts";

/** Options of {@linkcode SmallServer}; they are for tests. */
export interface SmallServerOptions {
  /** Ms that a client may take to send line and headers. @default {5_000} */
  readonly headTimeout?: number | undefined;
  /** Ms that a client may take to read its answer. @default {10_000} */
  readonly answerTimeout?: number | undefined;
  /** How many connections there may be at once. @default {128} */
  readonly maxConnections?: number | undefined;
}

/** Answers a request; never rejects. */
type Handler = (request: Request) => Promise<Response>;

const MAX_HEAD = 16 * 1024;
/** How much is read, and for how many ms, of what follows a request, so that the answer is not lost to a reset. */
const MAX_REST = 256 * 1024;
const REST_TIMEOUT = 1000;
/** How long to wait, in ms, when no connection can be accepted, as when there are too many open files. */
const ACCEPT_PAUSE = 100;
const END = new TextEncoder().encode("\r\n\r\n");
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

/** One client, with one request. */
class Connection {
  readonly #socket: Deno.TcpConn;
  /** True from when its request has come until it is answered. */
  answering = false;

  constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
  }

  /** Ends whatever is going on. */
  cut(): void {
    try {
      this.#socket.close();
    } catch {
      // it is closed already
    }
  }

  /** Reads a request, answers it, and closes. */
  async serve(handler: Handler, headTimeout: number, answerTimeout: number): Promise<void> {
    try {
      const head = await this.#within(headTimeout, () => this.#readHead());
      this.answering = true;
      const response = typeof head === "string" ? await answer(head, handler) : plain(head);
      await this.#within(answerTimeout, () => this.#write(response));
      this.answering = false;
      await this.#within(REST_TIMEOUT, () => this.#readRest());
    } catch {
      // the client is gone, or was cut
    } finally {
      this.answering = false;
      this.cut();
    }
  }

  async #within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.cut(), ms);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  /** The request's line and headers; a status if they are none. */
  async #readHead(): Promise<string | number> {
    const buffer = new Uint8Array(MAX_HEAD);
    let size = 0;
    while (size < MAX_HEAD) {
      const count = await this.#socket.read(buffer.subarray(size));
      if (count === null) throw new Error("the client is gone");
      const from = Math.max(0, size - 3);
      size += count;
      const end = indexOf(buffer.subarray(from, size), END);
      if (end >= 0) return new TextDecoder("latin1").decode(buffer.subarray(0, from + end));
    }
    return 431;
  }

  async #write(response: Response): Promise<void> {
    const body = new Uint8Array(await response.arrayBuffer());
    const { status, headers } = response;
    const lines = [`HTTP/1.1 ${status} ${REASONS[status] ?? "Unknown"}`];
    for (const [name, value] of headers) lines.push(`${name}: ${value}`);
    if (response.body) lines.push(`content-length: ${body.length}`);
    lines.push("connection: close", `date: ${new Date().toUTCString()}`, "", "");
    for (const part of [new TextEncoder().encode(lines.join("\r\n")), body]) {
      for (let at = 0; at < part.length;) at += await this.#socket.write(part.subarray(at));
    }
    await this.#socket.closeWrite();
  }

  /** Closing while there is something unread would reset the connection, and the answer could be lost. */
  async #readRest(): Promise<void> {
    const buffer = new Uint8Array(4096);
    for (let left = MAX_REST; left > 0;) {
      const count = await this.#socket.read(buffer);
      if (count === null) return;
      left -= count;
    }
  }
}

/** A server that answers through a handler. */
export class SmallServer {
  readonly #handler: Handler;
  readonly #headTimeout: number;
  readonly #answerTimeout: number;
  readonly #maxConnections: number;
  /** In the order in which they came. */
  readonly #connections = new Map<Connection, Promise<void>>();
  readonly #stopping = new AbortController();
  #listener: Deno.TcpListener | undefined;
  #accepting: Promise<void> = Promise.resolve();

  /** Takes what answers. */
  constructor(handler: Handler, options: SmallServerOptions = {}) {
    const { headTimeout = 5_000, answerTimeout = 10_000, maxConnections = 128 } = options;
    this.#handler = handler;
    this.#headTimeout = headTimeout;
    this.#answerTimeout = answerTimeout;
    this.#maxConnections = maxConnections;
  }

  /** Begins to listen; throws what `Deno.listen` does. */
  listen(address: { readonly hostname: string; readonly port: number }): Deno.NetAddr {
    const { hostname, port } = address;
    const listener = Deno.listen({ hostname, port });
    this.#listener = listener;
    this.#accepting = this.#accept(listener);
    return listener.addr as Deno.NetAddr;
  }

  /** Takes no more connections or requests, and resolves when those that have come are answered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#listener?.close();
    await this.#accepting;
    for (const connection of this.#connections.keys()) if (!connection.answering) connection.cut();
    await Promise.all(this.#connections.values());
  }

  /** Ends all connections; to be called after {@linkcode SmallServer.stop}. */
  async cut(): Promise<void> {
    for (const connection of this.#connections.keys()) connection.cut();
    await this.#accepting;
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#take(await listener.accept());
      } catch {
        if (!signal.aborted) await pause(signal);
      }
    }
  }

  #take(socket: Deno.TcpConn): void {
    const connection = new Connection(socket);
    if (this.#connections.size >= this.#maxConnections) {
      const all = [...this.#connections.keys()];
      const victim = all.find(({ answering }) => !answering) ?? all[0]!;
      this.#connections.delete(victim);
      victim.cut();
    }
    const over = connection.serve(this.#handler, this.#headTimeout, this.#answerTimeout)
      .finally(() => this.#connections.delete(connection));
    this.#connections.set(connection, over);
  }
}

/** Waits before connections are accepted again, or until the signal aborts. */
function pause(signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => timer = setTimeout(resolve, ACCEPT_PAUSE));
  return race(over, signal).catch(() => {}).finally(() => clearTimeout(timer));
}

async function answer(head: string, handler: Handler): Promise<Response> {
  const [line = "", ...fields] = head.split("\r\n");
  const [, method = "", target = "", version] = /^([!-~]+) ([!-~]+) (HTTP\/\d\.\d)$/.exec(line) ?? [];
  if (version === undefined) return plain(400);
  if (!/^HTTP\/1\.[01]$/.test(version)) return plain(505);
  if (!target.startsWith("/") || !fields.every((field) => FIELD.test(field))) return plain(400);
  const hosts = fields.filter((field) => /^host:/i.test(field));
  if (hosts.length > 1 || (hosts.length === 0 && version === "HTTP/1.1")) return plain(400);
  const url = URL.parse(`http://localhost${target}`);
  if (!url) return plain(400);
  // what `Request` does not take, or takes for another
  if (!/^[A-Z]+$/.test(method) || ["CONNECT", "TRACE", "TRACK"].includes(method)) {
    return plain(405, { allow: "GET, HEAD" });
  }
  return await handler(new Request(url, { method }));
}

function plain(status: number, headers: Record<string, string> = {}): Response {
  return new Response(`${(REASONS[status] ?? "").toLowerCase()}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  });
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}
