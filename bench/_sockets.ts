/**
 * Sends requests over connections of its own: with little of the processor, so that it is the server that is measured.
 *
 * ```ts
 * import { connect } from "./_sockets.ts";
 *
 * console.assert(typeof connect === "function");
 * ```
 *
 * @module
 */
import type { Send } from "./_world.ts";

const encoder = new TextEncoder(), decoder = new TextDecoder();
const HEAD_END = "\r\n\r\n";

/** One connection, for one request at a time. */
class Socket {
  readonly #connection: Deno.TcpConn;
  readonly #host: string;
  #buffer = new Uint8Array(65_536);

  constructor(connection: Deno.TcpConn, host: string) {
    this.#connection = connection;
    this.#host = host;
  }

  close(): void {
    this.#connection.close();
  }

  /** Sends a request, and reads an answer that says how long it is. */
  async send(method: string, path: string, body = "", contentType = ""): Promise<[status: number, text: string]> {
    const bytes = encoder.encode(body);
    const type = contentType === "" ? "" : `content-type: ${contentType}\r\n`;
    const head =
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nuser-agent: bench/1\r\naccept: application/json\r\n` +
      `${type}content-length: ${bytes.length}${HEAD_END}`;
    await this.#write(encoder.encode(head + body));
    let size = 0, begin = -1, end = Infinity, text = "";
    while (size < end) {
      if (size === this.#buffer.length) this.#grow();
      const count = await this.#connection.read(this.#buffer.subarray(size));
      if (count === null) throw new Error(`The server hung up on ${method} ${path}`);
      size += count;
      if (begin >= 0) continue;
      text = decoder.decode(this.#buffer.subarray(0, size));
      if (!text.includes(HEAD_END)) continue;
      begin = text.indexOf(HEAD_END) + HEAD_END.length;
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
      if (length === undefined) throw new Error(`${method} ${path} is answered without a length`);
      end = begin + Number(length);
    }
    return [Number(text.slice(9, 12)), decoder.decode(this.#buffer.subarray(begin, end))];
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.#connection.write(bytes.subarray(sent));
  }

  #grow(): void {
    const buffer = new Uint8Array(2 * this.#buffer.length);
    buffer.set(this.#buffer);
    this.#buffer = buffer;
  }
}

/** Connects so many times; each request takes the connection that has waited longest. */
export async function connect(url: string, connections: number): Promise<{ send: Send; close: () => void }> {
  const { hostname, port, host } = new URL(url);
  const sockets = await Promise.all(Array.from({ length: connections }, async () => {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    connection.setNoDelay(true);
    return new Socket(connection, host);
  }));
  const free = [...sockets];
  return {
    async send(method, path, body, contentType) {
      const socket = free.shift();
      if (!socket) throw new Error(`More than ${connections} requests are under way`);
      const answer = await socket.send(method, path, body, contentType);
      free.push(socket);
      return answer;
    },
    close: () => sockets.forEach((socket) => socket.close()),
  };
}
