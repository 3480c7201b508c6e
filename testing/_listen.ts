/**
 * Listens for HTTP or HTTPS on an address, with a certificate made on the spot.
 *
 * ```ts
 * import { listen } from "./_listen.ts";
 *
 * const answer = () => Promise.resolve({ status: 200, headers: [], body: "hello" });
 * const { url, close } = await listen(answer, { port: 0, hostname: "127.0.0.1", tls: false, now: () => new Date(0) });
 * console.assert(await (await fetch(url)).text() === "hello");
 * await close();
 * ```
 *
 * @module
 */
import { Authority, type KeyPair } from "./_certificates.ts";
import type { Connection } from "./_faulty_exchange.ts";
import type { Incoming } from "./_front.ts";
import { HttpServer } from "./_http_server.ts";
import { Relay } from "./_relay.ts";
import { type Reply, responseOf } from "./_reply.ts";
import { type ClientCertificate, type SecureServer, serveSecure } from "./_secure_server.ts";

/** What somebody listens on. */
export interface Address {
  readonly port: number;
  readonly hostname: string;
  /** True for HTTPS. */
  readonly tls: boolean;
  /** True to ask clients for certificates, over HTTPS. */
  readonly clientCertificates?: boolean | undefined;
  /** The time that answers say, over HTTP. */
  readonly now: () => Date;
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

/** Answers a request that came over a connection; rejects when that broke. */
export type AnswerOver = (
  request: Incoming,
  connection: Connection,
  certificate?: ClientCertificate,
) => Promise<Reply>;

/** Listens. */
export async function listen(answer: AnswerOver, address: Address): Promise<Listener> {
  return address.tls ? await listenSecurely(answer, address) : listenPlainly(answer, address);
}

function listenPlainly(answer: AnswerOver, { port, hostname, now }: Address): Listener {
  const server = new HttpServer({ port, hostname }, { answer, now });
  return {
    url: `http://${hostOf(hostname)}:${server.port}`,
    port: server.port,
    ca: undefined,
    certify: undefined,
    down: () => server.down(),
    up: () => server.up(),
    close: () => server.close(),
  };
}

/** Over HTTPS the connections are those of a relay, which can break them. */
async function listenSecurely(answer: AnswerOver, address: Address): Promise<Listener> {
  const { port, hostname, clientCertificates = false } = address;
  const authority = new Authority("tend-api-server");
  const hosts = new Set(["kubernetes.default.svc", "localhost", "127.0.0.1"]);
  if (!hostname.includes(":")) hosts.add(hostname);
  let relay: Relay | undefined;
  const answerFrom = async (request: Request, from: number, certificate?: ClientCertificate): Promise<Response> => {
    const reset = (): void => relay?.break(from);
    try {
      return responseOf(await answer(request, { reset }, certificate));
    } catch {
      reset();
      return new Response(null, { status: 503 });
    }
  };
  const keys = authority.server([...hosts]);
  const server = clientCertificates
    ? await serveSecure({ ...keys, ca: authority.cert }, answerFrom)
    : serve(keys, answerFrom);
  try {
    relay = new Relay({ port, hostname }, server.port);
  } catch (error) {
    await server.shutdown();
    throw error;
  }
  const { port: bound } = relay;
  return {
    url: `https://${hostOf(hostname)}:${bound}`,
    port: bound,
    ca: authority.cert,
    certify: clientCertificates ? authority.client.bind(authority) : undefined,
    down: () => relay.down(),
    up: () => relay.up(),
    async close() {
      relay.refuse();
      await server.shutdown();
      await relay.close();
    },
  };
}

function hostOf(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** Listens on a free port of loopback without asking for certificates. */
function serve(
  keys: KeyPair,
  answer: (request: Request, from: number) => Promise<Response>,
): SecureServer {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, ...keys },
    (request, { remoteAddr }) => answer(request, (remoteAddr as Deno.NetAddr).port),
  );
  return { port: server.addr.port, shutdown: () => server.shutdown() };
}
