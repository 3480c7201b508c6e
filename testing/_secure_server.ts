/**
 * Serves HTTPS and asks clients for certificates, which `Deno.serve` does not do.
 *
 * ```ts
 * import { Authority } from "./_certificates.ts";
 * import { serveSecure } from "./_secure_server.ts";
 *
 * const authority = new Authority("test");
 * const options = { ...authority.server(["127.0.0.1"]), ca: authority.cert };
 * const server = await serveSecure(options, () => Promise.resolve(new Response("hello")));
 * console.assert(server.port > 0);
 * await server.shutdown();
 * ```
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { KeyPair } from "./_certificates.ts";

/** What a client has shown. */
export interface ClientCertificate {
  /** The name of its subject. */
  readonly commonName: string;
  /** The organizations of its subject. */
  readonly organizations: readonly string[];
  /** The SHA-256 of it in lower-case hex. */
  readonly fingerprint: string;
  /** True if it is of the authority that is trusted. */
  readonly trusted: boolean;
}

/** Answers a request from a port of this machine. */
export type SecureAnswer = (request: Request, port: number, certificate?: ClientCertificate) => Promise<Response>;

/** A server that listens. */
export interface SecureServer {
  readonly port: number;
  /** Ends it when its requests have ended. */
  shutdown(): Promise<void>;
}

/** Listens on a free port of loopback; `ca` is the authority that clients' certificates must be of. */
export async function serveSecure(
  options: KeyPair & { readonly ca: string },
  answer: SecureAnswer,
): Promise<SecureServer> {
  // Loaded here, as few servers need them and they take longer than all the rest.
  const [{ createServer }, { Readable }] = await Promise.all([import("node:https"), import("node:stream")]);
  const bodyOf = (incoming: IncomingMessage): Body => Readable.toWeb(incoming) as Body;
  const settings = { ...options, requestCert: true, rejectUnauthorized: false };
  const answering = new Set<Promise<void>>();
  const server = createServer(settings, (incoming, outgoing) => {
    const socket = incoming.socket as TLSSocket;
    const answered = answer(requestOf(incoming, bodyOf), socket.remotePort ?? 0, certificateOf(socket))
      .then((response) => send(response, outgoing))
      .catch(() => void socket.destroy())
      .finally(() => answering.delete(answered));
    answering.add(answered);
  });
  server.keepAliveTimeout = 90_000;
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  return {
    port: (server.address() as AddressInfo).port,
    async shutdown() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await Promise.all(answering);
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

/** The certificate of a connection; of whose it is speaks only one that is trusted. */
function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  const { subject, fingerprint256 } = socket.getPeerCertificate() ?? {};
  if (!subject) return undefined;
  const { CN = "", O = [] } = subject as { CN?: string; O?: string | string[] };
  return {
    commonName: CN,
    organizations: Array.isArray(O) ? O : [O],
    fingerprint: fingerprint256!.replaceAll(":", "").toLowerCase(),
    trusted: socket.authorized,
  };
}

type Body = ReadableStream<Uint8Array>;

function requestOf(incoming: IncomingMessage, bodyOf: (incoming: IncomingMessage) => Body): Request {
  const { method = "GET", url = "/", headers, rawHeaders } = incoming;
  const all: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (!HOP_BY_HOP.has(name)) all.push([name, rawHeaders[index + 1]!]);
  }
  const hasBody = method !== "GET" && method !== "HEAD" &&
    (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
  const body = hasBody ? { body: bodyOf(incoming), duplex: "half" } : {};
  return new Request(`https://${headers.host ?? "localhost"}${url}`, { method, headers: all, ...body });
}

const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "host"]);

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const gone = Promise.withResolvers<void>();
  outgoing.once("close", gone.resolve);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body !== null) {
    outgoing.flushHeaders();
    await sendBody(response.body, outgoing, gone.promise);
  }
  const ended = Promise.withResolvers<void>();
  outgoing.end(ended.resolve);
  await Promise.race([ended.promise, gone.promise]);
}

/** Sends as fast as the client reads, until it is `gone`. */
async function sendBody(body: Body, outgoing: ServerResponse, gone: Promise<void>): Promise<void> {
  const reader = body.getReader();
  gone.then(() => reader.cancel().catch(() => {}));
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    if (outgoing.write(value)) continue;
    const drained = Promise.withResolvers<void>();
    outgoing.once("drain", drained.resolve);
    await Promise.race([drained.promise, gone]);
  }
}
