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
import { Authority } from "./_certificates.ts";
import type { Connection } from "./_faulty_exchange.ts";
import { Relay } from "./_relay.ts";

/** What somebody listens on. */
export interface Address {
  readonly port: number;
  readonly hostname: string;
  /** True for HTTPS. */
  readonly tls: boolean;
}

/** What came of it. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  /** The authority that the certificate is from, PEM. */
  readonly ca: string | undefined;
  /** Breaks all connections, and refuses new ones. */
  down(): void;
  /** Listens again. */
  up(): Promise<void>;
  /** Ends it; resolves when nothing is left open. */
  close(): Promise<void>;
}

/** Answers a request that came over a connection; when that broke it does not matter what with. */
export type AnswerOver = (request: Request, connection: Connection) => Promise<Response>;

/** Listens. */
export async function listen(answer: AnswerOver, address: Address): Promise<Listener> {
  const { port, hostname, tls } = address;
  const authority = tls ? new Authority("tend-api-server") : undefined;
  const hosts = new Set(["kubernetes.default.svc", "localhost", "127.0.0.1"]);
  if (!hostname.includes(":")) hosts.add(hostname);
  let relay: Relay | undefined;
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
    ...authority?.server([...hosts]),
  }, async (request, { remoteAddr }) => {
    const reset = (): void => relay?.break((remoteAddr as Deno.NetAddr).port);
    try {
      return await answer(request, { reset });
    } catch {
      reset();
      return new Response(null, { status: 503 });
    }
  });
  try {
    relay = new Relay({ port, hostname }, server.addr.port);
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
    down: () => relay.down(),
    up: () => relay.up(),
    async close() {
      relay.refuse();
      await server.shutdown();
      await relay.close();
    },
  };
}
