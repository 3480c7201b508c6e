/**
 * Serves one HTTP/1.1 connection: a request after the other, until it ends or is broken.
 *
 * ```ts
 * import { HttpConnection } from "./_http_connection.ts";
 *
 * console.assert(typeof HttpConnection === "function");
 * ```
 *
 * @module
 */
import { type Head, HttpError, readHead, writeHead } from "./_http_head.ts";
import { Input } from "./_http_input.ts";
import { remembered } from "./_remembered.ts";
import type { RequestHeaders } from "./_request_headers.ts";
import { bytesOf, type Header, type Reply } from "./_reply.ts";

/** A request that came over a connection. */
export class HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Never aborts: a stream is cancelled when the client goes. */
  readonly signal: AbortSignal = NEVER;
  readonly #body: Uint8Array<ArrayBuffer>;

  /** Takes its parts. */
  constructor({ method, headers }: Head, url: string, body: Uint8Array<ArrayBuffer>) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.#body = body;
  }

  /** The body as a text. */
  text(): Promise<string> {
    return Promise.resolve(this.#body.length === 0 ? "" : decoder.decode(this.#body));
  }

  /** The body as bytes. */
  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(this.#body.buffer);
  }
}

/** Answers a request; `reset` breaks its connection. */
export type Answering = (request: HttpRequest, connection: { readonly reset: () => void }) => Promise<Reply>;

const NEVER = new AbortController().signal;
const NOTHING = new Uint8Array();
const encoder = new TextEncoder(), decoder = new TextDecoder();
const CONTINUE = encoder.encode("HTTP/1.1 100 Continue\r\n\r\n"), END_OF_CHUNKS = encoder.encode("0\r\n\r\n");

/** How many bytes of an answer are sent along with its head. */
const TOGETHER = 65_536;

/** What a connection is served by. */
export interface Service {
  readonly answer: Answering;
  /** The time that answers say. */
  readonly now: () => Date;
}

/** One connection. */
export class HttpConnection {
  readonly #connection: Deno.TcpConn;
  readonly #service: Service;
  readonly #input: Input;
  /** What a request can do to its connection. */
  readonly #control = { reset: (): void => this.break() };
  #answering = false;
  #last = false;

  /** Takes the connection, and what serves it. */
  constructor(connection: Deno.TcpConn, service: Service) {
    this.#connection = connection;
    this.#service = service;
    this.#input = new Input((place) => connection.read(place));
  }

  /** Serves what comes; resolves when the connection is closed. */
  async serve(): Promise<void> {
    try {
      this.#connection.setNoDelay(true);
      for (let goesOn = true; goesOn && !this.#last;) {
        const text = await this.#input.head();
        if (text === undefined) break;
        goesOn = await this.#exchange(readHead(text));
      }
    } catch (error) {
      if (error instanceof HttpError) await this.#refuse(error);
      // All else has broken the connection, or is a fault that breaks it.
    } finally {
      this.break();
    }
  }

  /** Breaks it. */
  break(): void {
    try {
      this.#connection.close();
    } catch {
      // It is closed already.
    }
  }

  /** Ends it once the request that is being answered is. */
  end(): void {
    this.#last = true;
    if (!this.#answering) this.break();
  }

  /** Answers a request; true if another may follow. */
  async #exchange(head: Head): Promise<boolean> {
    const url = urlOf(head);
    if (head.waits && !this.#input.waiting) await this.#write(CONTINUE);
    const { length } = head;
    const body = length === undefined
      ? await this.#input.chunks()
      : length === 0
      ? NOTHING
      : await this.#input.bytes(length);
    this.#answering = true;
    const reply = await this.#service.answer(new HttpRequest(head, url, body), this.#control);
    let goesOn = head.keepAlive && !this.#last;
    if (reply.body instanceof ReadableStream) {
      goesOn &&= head.chunks;
      await this.#stream(reply, reply.body, head, goesOn);
    } else await this.#send(reply, reply.body, head, goesOn);
    this.#answering = false;
    return goesOn;
  }

  async #send(
    { status, headers }: Reply,
    body: Exclude<Reply["body"], ReadableStream>,
    { method, chunks }: Head,
    goesOn: boolean,
  ): Promise<void> {
    const bytes = bytesOf(body);
    const sized = status === 204 || status === 304 ? headers : [
      ...headers.filter(([name]) => name !== "content-length"),
      ["content-length", `${bytes.length}`] as const,
    ];
    const head = this.#head(status, [...sized, ...connectionHeaders(goesOn, chunks)]);
    if (method === "HEAD" || bytes.length === 0) return await this.#write(head);
    if (bytes.length > TOGETHER) {
      await this.#write(head);
      return await this.#write(bytes);
    }
    const all = new Uint8Array(head.length + bytes.length);
    all.set(head);
    all.set(bytes, head.length);
    await this.#write(all);
  }

  /** Sends a stream in chunks, or until the connection ends to who cannot read chunks; it ends when the client goes. */
  async #stream(
    { status, headers }: Reply,
    body: ReadableStream<Uint8Array>,
    { chunks }: Head,
    goesOn: boolean,
  ): Promise<void> {
    const coding: Header[] = chunks ? [["transfer-encoding", "chunked"]] : [];
    const reader = body.getReader();
    let over = false;
    const cancel = (): Promise<void> => reader.cancel().catch(() => {});
    void this.#input.ended(() => over).then((ended) => ended ? cancel() : undefined);
    try {
      await this.#write(
        this.#head(status, [...headers, ...coding, ...connectionHeaders(goesOn, chunks)]),
      );
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        await this.#write(chunks ? chunkOf(next.value) : next.value);
      }
      if (chunks) await this.#write(END_OF_CHUNKS);
    } catch (error) {
      await cancel();
      throw error;
    } finally {
      over = true;
    }
  }

  #head(status: number, headers: readonly Header[]): Uint8Array {
    return encoder.encode(writeHead(status, [...headers, ["date", this.#service.now().toUTCString()]]));
  }

  /** Says what was wrong with what came. */
  async #refuse({ status, message }: HttpError): Promise<void> {
    const headers = [["content-type", "text/plain; charset=utf-8"]] as const;
    const head = { method: "GET", chunks: true } as Head;
    await this.#send({ status, headers, body: message }, message, head, false).catch(() => {});
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let sent = await this.#connection.write(bytes);
    while (sent < bytes.length) sent += await this.#connection.write(bytes.subarray(sent));
  }
}

/** What is said of a connection where it is not what the version of HTTP has it. */
function connectionHeaders(goesOn: boolean, chunks: boolean): readonly Header[] {
  if (goesOn) return chunks ? [] : [["connection", "keep-alive"]];
  return [["connection", "close"]];
}

const isHost = remembered((host) => URL.canParse(`http://${host}/`));

/** The URL that a request asks for. */
function urlOf({ target, headers, chunks }: Head): string {
  const host = headers.get("host");
  if (host === null && chunks) throw new HttpError(400, "missing required Host header");
  if (/^https?:\/\//.test(target) && URL.canParse(target)) return target;
  if (!target.startsWith("/") || (host && !isHost(host))) throw new HttpError(400, "malformed HTTP request");
  return `http://${host || "localhost"}${target}`;
}

/** A piece of a stream as a chunk. */
function chunkOf(piece: Uint8Array): Uint8Array {
  const size = encoder.encode(`${piece.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(size.length + piece.length + 2);
  chunk.set(size);
  chunk.set(piece, size.length);
  chunk[chunk.length - 2] = 13;
  chunk[chunk.length - 1] = 10;
  return chunk;
}
