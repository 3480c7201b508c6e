/**
 * Stands before a server on loopback and carries the bytes of connections, so that these can really break, or be refused.
 *
 * ```ts
 * import { Relay } from "./_relay.ts";
 *
 * const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => new Response("hello"));
 * const relay = new Relay({ port: 0, hostname: "127.0.0.1" }, server.addr.port);
 * console.assert(await (await fetch(`http://127.0.0.1:${relay.port}`)).text() === "hello");
 * relay.refuse();
 * await server.shutdown();
 * await relay.close();
 * ```
 *
 * @module
 */

/** Where a relay listens. */
export interface RelayAddress {
  /** The port; 0 for a free one. */
  readonly port: number;
  readonly hostname: string;
}

/** Both ends of a connection. */
interface Pair {
  readonly outside: Deno.TcpConn;
  readonly inside: Deno.TcpConn;
}

/** How much is carried at once, in bytes. */
const CHUNK = 65_536;

/** Carries connections to a server. */
export class Relay {
  /** The port that it listens on. */
  readonly port: number;
  readonly #hostname: string;
  readonly #target: number;
  /** The connections, by the port that the server sees them come from. */
  readonly #pairs = new Map<number, Pair>();
  readonly #running = new Set<Promise<void>>();
  #listener: Deno.TcpListener | undefined;
  #accepting: Promise<void> | undefined;

  /**
   * Listens at once, for a server at a port of loopback.
   *
   * @throws {Error} If the port is taken
   */
  constructor({ port, hostname }: RelayAddress, target: number) {
    this.#hostname = hostname;
    this.#target = target;
    this.port = this.#listen(port);
  }

  /** Breaks the connection that the server sees come from a port. */
  break(port: number): void {
    const pair = this.#pairs.get(port);
    if (pair) this.#drop(port, pair);
  }

  /** Breaks all connections, and refuses new ones. */
  down(): void {
    this.refuse();
    for (const [port, pair] of this.#pairs) this.#drop(port, pair);
  }

  /** Listens again. */
  async up(): Promise<void> {
    await this.#accepting; // Until then the port is taken.
    if (!this.#listener) this.#listen(this.port);
  }

  /** Refuses new connections; those that there are go on. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Refuses new connections; resolves when those that there are have ended, as they do when the server shuts down. */
  async close(): Promise<void> {
    this.refuse();
    await Promise.all(this.#running);
  }

  #listen(port: number): number {
    const listener = this.#listener = Deno.listen({ port, hostname: this.#hostname });
    this.#accepting = this.#accept(listener);
    this.#track(this.#accepting);
    return listener.addr.port;
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    while (this.#listener === listener) {
      let outside: Deno.TcpConn;
      try {
        outside = await listener.accept();
      } catch {
        continue; // Closed, or the client is gone already.
      }
      this.#track(this.#carry(outside, listener));
    }
  }

  async #carry(outside: Deno.TcpConn, listener: Deno.TcpListener): Promise<void> {
    let inside: Deno.TcpConn;
    try {
      inside = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
    } catch {
      return quietly(outside);
    }
    const port = (inside.localAddr as Deno.NetAddr).port, pair = { outside, inside };
    this.#pairs.set(port, pair);
    if (this.#listener !== listener) this.#drop(port, pair);
    for (const end of [outside, inside]) attempt(() => end.setNoDelay(true));
    const asking = pipe(outside, inside);
    await pipe(inside, outside);
    // The server has said all it will.
    this.#drop(port, pair);
    await asking;
  }

  #drop(port: number, { outside, inside }: Pair): void {
    quietly(outside);
    quietly(inside);
    this.#pairs.delete(port);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}

/** Carries bytes one way, until an end is closed; the other end is told of an orderly end. */
async function pipe(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
  const chunk = new Uint8Array(CHUNK);
  try {
    for (let read = await from.read(chunk); read !== null; read = await from.read(chunk)) {
      for (let sent = 0; sent < read;) sent += await to.write(chunk.subarray(sent, read));
    }
    await to.closeWrite();
  } catch {
    // Broken: so is the other.
    quietly(from);
    quietly(to);
  }
}

function quietly(connection: Deno.TcpConn): void {
  attempt(() => connection.close());
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It is closed already.
  }
}
