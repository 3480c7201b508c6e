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
import type { ServerState, User } from "./_call.ts";
import { connectionReset, faultError, type Faults, faultyStream, pause } from "./_faults.ts";
import { isProtobuf, readProtobuf } from "./_protobuf.ts";
import { preferProtobuf } from "./_protobuf_answer.ts";
import { PROTOBUF } from "./_protobuf_types.ts";
import type { RecordedRequest } from "./_requests.ts";
import { errorResponse } from "./_respond.ts";
import { route } from "./_router.ts";
import { attributesOf, serve } from "./_serve.ts";
import { Turns } from "./_turns.ts";

/** Over HTTP a stream is cancelled when the client goes. */
export const NEVER: AbortSignal = new AbortController().signal;

/** What stands before a server. */
export class Front {
  /** What came, oldest first. */
  readonly requests: RecordedRequest[] = [];
  /** What goes wrong on request. */
  readonly faults: Faults;
  readonly #state: ServerState;
  readonly #turns = new Turns();

  /** Takes the server and what goes wrong. */
  constructor(state: ServerState, faults: Faults) {
    this.#state = state;
    this.faults = faults;
  }

  /** Waits for the resource version that a read asks for; false if it does not come in time. */
  async #reached(url: URL, ends: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), FUTURE_PATIENCE);
    try {
      const version = Number(url.searchParams.get("resourceVersion"));
      await this.#state.store.reached(version, AbortSignal.any([late.signal, ends, this.#state.closed]));
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Answers a request; `as` says who asks, `signal` when the client is gone, if the request does not. */
  async answer(request: Request, as?: User, signal?: AbortSignal): Promise<Response> {
    await this.#turns.next();
    if (signal === undefined) request.signal.throwIfAborted();
    const url = new URL(request.url);
    const { body, headers } = await receive(request);
    const record = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      user: "",
      contentType: request.headers.get("content-type") ?? undefined,
      body,
      code: 0,
    };
    this.requests.push(record);
    let response: Response, streams = false;
    try {
      const fallback = this.#state.authorizes ? ANONYMOUS : ADMIN;
      const asking = as ?? authenticate(this.#state, request.headers, fallback);
      record.user = asking.name;
      const asked = route(request.method, url);
      const user = impersonate(this.#state, asking, headers, attributesOf(asked));
      record.user = user.name;
      const ends = signal ?? request.signal;
      const fault = this.faults.take({ user: user.name, ...attributesOf(asked) });
      if (fault?.delay !== undefined) await pause(fault.delay, AbortSignal.any([ends, this.#state.closed]));
      if (fault?.reset === "before") throw connectionReset();
      if (fault?.code !== undefined) throw faultError(fault);
      streams = asked.kind === "resource" && asked.verb === "watch";
      if (fault?.stall && !streams) await pause(Infinity, AbortSignal.any([ends, this.#state.closed]));
      const received = { request, url, body, headers, user, signal: ends };
      response = serve(this.#state, asked, received);
      if (response.status === 504 && await this.#reached(url, ends)) response = serve(this.#state, asked, received);
      if (fault?.reset === "after") throw connectionReset();
      if (fault && streams && response.body) response = new Response(faultyStream(response.body, fault), response);
    } catch (error) {
      response = errorResponse(error, request.headers.get("accept"));
    }
    record.code = response.status;
    return await preferProtobuf(response, request.headers.get("accept"), streams);
  }
}

/** How long a read waits for a resource version that has not come yet, in ms. */
const FUTURE_PATIENCE = 3000;

/** Reads the body of a request; protocol buffers become the JSON that they stand for. */
async function receive(request: Request): Promise<{ body: string; headers: Headers }> {
  const { headers } = request;
  if (request.body === null) return { body: "", headers };
  if (headers.get("content-type") !== PROTOBUF) return { body: await request.text(), headers };
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (!isProtobuf(bytes)) return { body: "", headers };
  const json = new Headers(headers);
  json.set("content-type", "application/json");
  return { body: JSON.stringify(readProtobuf(bytes)), headers: json };
}
