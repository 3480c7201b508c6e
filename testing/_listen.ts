/**
 * Listens for HTTP or HTTPS on an address, with a certificate made on the spot.
 *
 * ```ts
 * import { listen } from "./_listen.ts";
 *
 * const { url, listener } = await listen(() => new Response("hello"), { port: 0, hostname: "127.0.0.1", tls: false });
 * console.assert(await (await fetch(url)).text() === "hello");
 * await listener.shutdown();
 * ```
 *
 * @module
 */
import { Authority } from "./_certificates.ts";

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
  readonly listener: Deno.HttpServer;
}

/** Listens; `lost` answers when `answer` failed, and throws to break the connection. */
export async function listen(
  answer: (request: Request) => Response | Promise<Response>,
  address: Address,
  lost?: (error: unknown) => Response,
): Promise<Listener> {
  const { port, hostname, tls } = address;
  const authority = tls ? new Authority("tend-api-server") : undefined;
  const hosts = new Set(["kubernetes.default.svc", "localhost", "127.0.0.1"]);
  if (!hostname.includes(":")) hosts.add(hostname);
  const { promise, resolve } = Promise.withResolvers<Deno.NetAddr>();
  const listener = Deno.serve({
    port,
    hostname,
    onListen: resolve,
    ...(lost ? { onError: lost } : {}),
    ...authority?.server([...hosts]),
  }, answer);
  const bound = await promise;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `${tls ? "https" : "http"}://${host}:${bound.port}`,
    port: bound.port,
    ca: authority?.cert,
    listener,
  };
}
