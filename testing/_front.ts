/**
 * Receives requests: says whose they are, records them, lets them meet faults, and has them served.
 *
 * ```ts
 * import { Front } from "./_front.ts";
 *
 * console.assert(typeof Front === "function");
 * ```
 *
 * @module
 */
import { ADMIN, ANONYMOUS, authenticate, impersonate } from "./_auth.ts";
import type { OpenOutlet, ServerState } from "./_call.ts";
import type { User } from "./_user.ts";
import { certificateUser } from "./_certificate_user.ts";
import { compressed, isLarge } from "./_compression.ts";
import { type Connection, FaultyExchange } from "./_faulty_exchange.ts";
import type { FaultBoard } from "./_fault_board.ts";
import { connectionRefused } from "./_faults.ts";
import { Outlet } from "./_outlet.ts";
import { isProtobuf, readProtobuf } from "./_protobuf.ts";
import { preferProtobuf } from "./_protobuf_answer.ts";
import { PROTOBUF } from "./_protobuf_types.ts";
import { RequestRecord } from "./_recorded_request.ts";
import { HeaderMap, type RequestHeaders } from "./_request_headers.ts";
import type { Requests } from "./_requests.ts";
import { type Reply, responseOf } from "./_reply.ts";
import { errorReply } from "./_respond.ts";
import { type Asked, route } from "./_router.ts";
import type { ClientCertificate } from "./_secure_server.ts";
import { attributesOf, type Received, serve } from "./_serve.ts";
import { Turns } from "./_turns.ts";
import { reachesFuture, waitFor } from "./_versions.ts";

/** A request as it came. */
export interface Incoming extends Pick<Request, "method" | "url" | "signal" | "text" | "arrayBuffer"> {
  readonly headers: RequestHeaders;
}

/** What is known of a request besides itself. */
export interface Origin {
  /** Who asks; else its headers say so. */
  readonly user?: User | undefined;
  /** The name of the client; else its user agent is. */
  readonly client?: string | undefined;
  /** The certificate that the client has shown. */
  readonly certificate?: ClientCertificate | undefined;
  /** The connection that it came over; in process there is none. */
  readonly connection?: Connection | undefined;
}

/** In process. */
const INSIDE: Origin = {};

/** Over HTTP a stream is cancelled when the client goes. */
const NEVER = new AbortController().signal;

/** What stands before a server. */
export class Front {
  /** True while nobody can connect. */
  down = false;
  readonly #state: ServerState;
  readonly #board: FaultBoard;
  readonly #requests: Requests;
  readonly #now: () => number;
  readonly #turns: Turns;

  /** Takes the server, what goes wrong, what came, and the clock of the test, in ms. */
  constructor(state: ServerState, board: FaultBoard, requests: Requests, now: () => number) {
    this.#state = state;
    this.#board = board;
    this.#requests = requests;
    this.#now = now;
    this.#turns = new Turns(now);
  }

  /** Answers a request in process. */
  async answer(request: Request, origin: Origin = INSIDE): Promise<Response> {
    return responseOf(await this.reply(request, origin));
  }

  /** Replies to a request; rejects when the connection broke. */
  async reply(request: Incoming, origin: Origin): Promise<Reply> {
    const turn = this.#turns.next();
    if (turn) await turn;
    if (this.down) throw connectionRefused();
    const gone = origin.connection ? NEVER : request.signal;
    gone.throwIfAborted();
    const url = new URL(request.url);
    const { body, headers } = await receive(request);
    const client = origin.client ?? agentOf(headers);
    const record = new RequestRecord(this.#now(), request.method, url, request.headers, body, client);
    this.#requests.add(record);
    const accept = request.headers.get("accept");
    let asked: Asked | undefined, reply: Reply;
    let exchange: FaultyExchange | undefined;
    try {
      const fallback = this.#state.authorizes ? ANONYMOUS : ADMIN;
      const asking = origin.user ?? certificateUser(origin.certificate, request.headers) ??
        authenticate(this.#state, request.headers, fallback);
      record.user = asking.name;
      asked = route(request.method, url);
      const attributes = attributesOf(asked);
      const user = impersonate(this.#state, asking, headers, attributes);
      record.user = user.name;
      record.concerns(attributes);
      const refusal = this.#requests.look(record);
      if (refusal) throw refusal;
      if (!this.#board.idle) {
        exchange = new FaultyExchange(this.#board, this.#state, record, gone, origin.connection);
        await exchange.begin(url);
      }
      const received: Received = {
        method: request.method,
        url,
        body,
        headers,
        user,
        attributes,
        signal: gone,
        lag: exchange?.lag,
        open: isWatch(asked) ? this.#opener(record, origin, exchange) : undefined,
      };
      reply = await this.#serve(asked, received);
    } catch (error) {
      reply = errorReply(error, accept);
    }
    record.code = reply.status;
    if (accept?.includes(PROTOBUF)) reply = preferProtobuf(reply, accept);
    if (asked?.kind === "resource" && isLarge(reply)) {
      reply = await compressed(reply, request.headers.get("accept-encoding"));
    }
    // A partition may have begun meanwhile.
    if (exchange || !this.#board.idle) {
      exchange ??= new FaultyExchange(this.#board, this.#state, record, gone, origin.connection);
      reply = await exchange.end(reply, asked !== undefined && isWatch(asked));
    }
    return reply;
  }

  /** Answers a request, once the state that it is for has come or will not. */
  async #serve(asked: Asked, received: Received): Promise<Reply> {
    const { url, signal, lag } = received;
    const ends = (): AbortSignal => AbortSignal.any([signal, this.#state.closed, this.#board.broken]);
    if (isWatch(asked) && reachesFuture(url, this.#state, lag)) await waitFor(url, this.#state, lag, ends());
    const reply = serve(this.#state, asked, received);
    if (reply.status === 504 && await waitFor(url, this.#state, lag, ends())) {
      return serve(this.#state, asked, received);
    }
    return reply;
  }

  #opener(record: RequestRecord, { connection }: Origin, exchange: FaultyExchange | undefined): OpenOutlet {
    const options = { subject: record, trouble: exchange?.trouble, reset: connection?.reset, all: this.#board.outlets };
    return (controller) => new Outlet(controller, options);
  }
}

/** True for a request that is answered with a stream. */
function isWatch(asked: Asked): boolean {
  return asked.kind === "resource" && asked.verb === "watch";
}

/** What a user agent begins with. */
function agentOf(headers: RequestHeaders): string {
  const agent = headers.get("user-agent") ?? "";
  const slash = agent.indexOf("/");
  return slash < 0 ? agent : agent.slice(0, slash);
}

/** Reads the body of a request; protocol buffers become the JSON that they stand for. */
async function receive(request: Incoming): Promise<{ body: string; headers: RequestHeaders }> {
  const { headers } = request;
  if (headers.get("content-type") !== PROTOBUF) return { body: await request.text(), headers };
  const bytes = new Uint8Array(await request.arrayBuffer());
  // What is none is refused where the body is read.
  if (!isProtobuf(bytes)) return { body: new TextDecoder().decode(bytes), headers };
  return {
    body: JSON.stringify(readProtobuf(bytes)),
    headers: HeaderMap.with(headers, "content-type", "application/json"),
  };
}
