/**
 * Serves HTTP/1.1 over connections that it can break, and refuse.
 *
 * ```ts
 * import { HttpServer } from "./_http_server.ts";
 *
 * const reply = { status: 200, headers: [], body: "hello" };
 * const server = new HttpServer({ port: 0, hostname: "127.0.0.1" }, { answer: () => Promise.resolve(reply), now: () => new Date(0) });
 * console.assert(await (await fetch(`http://127.0.0.1:${server.port}`)).text() === "hello");
 * await server.close();
 * ```
 *
 * @module
 */
import { HttpConnection, type Service } from "./_http_connection.ts";

/** Where a server listens. */
export interface HttpAddress {
  /** The port; 0 for a free one. */
  readonly port: number;
  readonly hostname: string;
}

/** A server. */
export class HttpServer {
  /** The port that it listens on. */
  readonly port: number;
  readonly #hostname: string;
  readonly #service: Service;
  readonly #connections = new Set<HttpConnection>();
  readonly #running = new Set<Promise<void>>();
  #listener: Deno.TcpListener | undefined;
  #accepting: Promise<void> | undefined;

  /**
   * Listens at once.
   *
   * @throws {Error} If the port is taken
   */
  constructor({ port, hostname }: HttpAddress, service: Service) {
    this.#hostname = hostname;
    this.#service = service;
    this.port = this.#listen(port);
  }

  /** Breaks all connections, and refuses new ones. */
  down(): void {
    this.#refuse();
    for (const connection of this.#connections) connection.break();
  }

  /** Listens again. */
  async up(): Promise<void> {
    await this.#accepting; // Until then the port is taken.
    if (!this.#listener) this.#listen(this.port);
  }

  /** Refuses new connections; resolves when all that is being answered is, and nothing is left open. */
  async close(): Promise<void> {
    this.#refuse();
    for (const connection of this.#connections) connection.end();
    await Promise.all(this.#running);
  }

  #refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  #listen(port: number): number {
    const listener = this.#listener = Deno.listen({ port, hostname: this.#hostname });
    this.#accepting = this.#accept(listener);
    this.#track(this.#accepting);
    return listener.addr.port;
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    while (this.#listener === listener) {
      let accepted: Deno.TcpConn;
      try {
        accepted = await listener.accept();
      } catch {
        continue; // Closed, or the client is gone already.
      }
      const connection = new HttpConnection(accepted, this.#service);
      if (this.#listener !== listener) connection.break();
      this.#connections.add(connection);
      this.#track(connection.serve().finally(() => this.#connections.delete(connection)));
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}
