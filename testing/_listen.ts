/**
 * Listens for HTTP or HTTPS on an address, with a certificate made on the spot.
 *
 * ```ts
 * import { listen } from "./_listen.ts";
 *
 * const answer = () => Promise.resolve(new Response("hello"));
 * const { url, close } = await listen(answer, { port: 0, hostname: "127.0.0.1", tls: false });
 * console.assert(await (await fetch(url)).text() === "hello");
 * await close();
 * ```
 *
 * @module
 */
import { Authority, type KeyPair } from "./_certificates.ts";
import type { Connection } from "./_faulty_exchange.ts";
import { Relay } from "./_relay.ts";
import { type ClientCertificate, type SecureServer, serveSecure } from "./_secure_server.ts";

/** What somebody listens on. */
export interface Address {
  readonly port: number;
  readonly hostname: string;
  /** True for HTTPS. */
  readonly tls: boolean;
  /** True to ask clients for certificates, over HTTPS. */
  readonly clientCertificates?: boolean | undefined;
}

/** What came of it. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  /** The authority that the certificate is from, PEM. */
  readonly ca: string | undefined;
  /** Makes the certificate of a user, where clients are asked for one. */
  readonly certify: Authority["client"] | undefined;
  /** Breaks all connections, and refuses new ones. */
  down(): void;
  /** Listens again. */
  up(): Promise<void>;
  /** Ends it; resolves when nothing is left open. */
  close(): Promise<void>;
}

/** Answers a request that came over a connection; when that broke it does not matter what with. */
export type AnswerOver = (
  request: Request,
  connection: Connection,
  certificate?: ClientCertificate,
) => Promise<Response>;

/** Listens. */
export async function listen(answer: AnswerOver, address: Address): Promise<Listener> {
  const { port, hostname, tls, clientCertificates = false } = address;
  const authority = tls ? new Authority("tend-api-server") : undefined;
  const hosts = new Set(["kubernetes.default.svc", "localhost", "127.0.0.1"]);
  if (!hostname.includes(":")) hosts.add(hostname);
  let relay: Relay | undefined;
  const answerFrom = async (request: Request, from: number, certificate?: ClientCertificate): Promise<Response> => {
    const reset = (): void => relay?.break(from);
    try {
      return await answer(request, { reset }, certificate);
    } catch {
      reset();
      return new Response(null, { status: 503 });
    }
  };
  const keys = authority?.server([...hosts]);
  const server = authority && keys && clientCertificates
    ? await serveSecure({ ...keys, ca: authority.cert }, answerFrom)
    : serve(keys, answerFrom);
  try {
    relay = new Relay({ port, hostname }, server.port);
  } catch (error) {
    await server.shutdown();
    throw error;
  }
  const { port: bound } = relay;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `${tls ? "https" : "http"}://${host}:${bound}`,
    port: bound,
    ca: authority?.cert,
    certify: clientCertificates ? authority?.client.bind(authority) : undefined,
    down: () => relay.down(),
    up: () => relay.up(),
    async close() {
      relay.refuse();
      await server.shutdown();
      await relay.close();
    },
  };
}

/** Listens on a free port of loopback without asking for certificates. */
function serve(
  keys: KeyPair | undefined,
  answer: (request: Request, from: number) => Promise<Response>,
): SecureServer {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, ...keys },
    (request, { remoteAddr }) => answer(request, (remoteAddr as Deno.NetAddr).port),
  );
  return { port: server.addr.port, shutdown: () => server.shutdown() };
}
