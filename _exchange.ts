/**
 * Carries out requests: credentials, deadline, repeats where that is safe, and errors that say what happened.
 *
 * ```ts
 * import { Exchange } from "./_exchange.ts";
 *
 * const exchange = new Exchange({ server: "http://localhost", fetch: () => Promise.resolve(Response.json({ major: "1" })) });
 * const version = await exchange.request({ method: "GET", path: "/version" }, { signals: [], guards: [], observers: [] });
 * console.assert(version !== undefined);
 * await exchange.close();
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { isUnprocessed, noAnswer, readAnswer, toError, warningsOf } from "./_answer.ts";
import { readText, watched } from "./_body.ts";
import { MAX_ERROR_BODY } from "./_limits.ts";
import { link, type Linked } from "./_linked_signal.ts";
import { redact, redactError, secretsOf } from "./_redact.ts";
import { type Lane, type Line, Transport } from "./_transport.ts";
import type { ClientOptions, RequestAttempt } from "./_verbs.ts";
import { Backoff } from "./backoff.ts";
import { type Connection, Credentials } from "./credentials.ts";
import { after, delay, race } from "./delay.ts";
import { toMilliseconds } from "./duration.ts";
import { ApiError, TransportError } from "./errors.ts";
import type { Logger } from "./logger.ts";

/** How often a request is repeated because the server asked for it, as in client-go. */
const MAX_ASKED = 10;
/** The shortest wait before what a server asks to send later, in ms, even if it names none. */
const MIN_RETRY_AFTER = 1000;
/** The longest wait that a server is granted, in ms; one that asks for more gets its error passed on. */
const MAX_RETRY_AFTER = 120_000;
/** How many warnings are remembered, so that each is logged once. */
const MAX_WARNINGS = 500;
/** How many redirects within the server are followed. */
const MAX_REDIRECTS = 5;
/** How long, in ms, a request may have waited that is given up from outside before its connection is in doubt. */
const DOUBTFUL = 1000;

/** A request, before the client's own headers. */
export interface Outline {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** In ms. */
  readonly timeout?: number | undefined;
}

/** What bounds a request: what aborts it, and what may refuse to send it. */
export interface Bounds {
  readonly signals: readonly AbortSignal[];
  readonly guards: readonly (() => void)[];
  /** Told of each attempt, beside {@linkcode ClientOptions.onRequest}. */
  readonly observers: readonly ((attempt: RequestAttempt) => void)[];
}

/** An answer with its body read, or, for streams, still to be read. */
interface Answer {
  readonly connection: Connection;
  readonly response: Response;
  readonly text: string;
}

/** Carries out requests for a client and all that derive from it. */
export class Exchange {
  readonly credentials: Credentials;
  readonly #transport: Transport;
  readonly #timeout: number;
  readonly #userAgent: string;
  readonly #retries: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #onRequest: (attempt: RequestAttempt) => void;
  readonly #log: Logger = getLogger(["tend", "client"]);
  readonly #warned = new Set<string>();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /** Opens and reads nothing. */
  constructor(options: ClientOptions = {}) {
    const { fetch, timeout = 30_000, userAgent = "tend", retries = 2, now, random, onRequest } = options;
    if (!Number.isInteger(retries) || retries < 0) {
      throw new RangeError(
        `Cannot create Client: 'retries' must be a whole number of at least 0: current value is ${retries}`,
      );
    }
    const { server, kubeconfig, context } = options;
    const anywhere = fetch !== undefined && server === undefined && kubeconfig === undefined && context === undefined;
    this.credentials = new Credentials(anywhere ? { ...options, server: "http://localhost" } : options);
    this.#transport = new Transport({ fetch });
    this.#timeout = toMilliseconds(timeout, "timeout");
    this.#userAgent = userAgent;
    this.#retries = retries;
    this.#now = now ?? (() => performance.now());
    this.#random = random ?? Math.random;
    this.#onRequest = onRequest ?? (() => {});
  }

  /** Sends a request and answers with the JSON of its answer, or its text if something else than JSON was accepted. */
  async request(outline: Outline, bounds: Bounds): Promise<unknown> {
    const { response, text } = await this.#track(this.#run("unary", outline, bounds));
    return readAnswer(outline, response.headers.get("content-type") ?? "", text);
  }

  /** Sends a request, once, and answers as soon as its answer begins; the deadline ends there. */
  async stream(outline: Outline, bounds: Bounds): Promise<Response> {
    return (await this.#track(this.#run("stream", outline, bounds))).response;
  }

  /** Aborts what is under way and closes the connections; later requests are refused. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("Cannot send a request: the client is closed"));
    this.#transport.close();
    await Promise.allSettled(this.#underWay);
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  /** Repeats the request until its answer is one to return or to throw. */
  async #run(lane: Lane, outline: Outline, bounds: Bounds): Promise<Answer> {
    const outer = link([...bounds.signals, this.#closing.signal]);
    const tell = (attempt: RequestAttempt): void => {
      for (const observer of [this.#onRequest, ...bounds.observers]) observer(attempt);
    };
    const backoff = new Backoff({ first: 100, max: 1000, random: this.#random });
    const repeatable = isRepeatable(outline);
    const { method } = outline;
    let { path } = outline;
    let left = outline.timeout ?? this.#timeout;
    let retries = lane === "stream" ? 0 : this.#retries;
    let asked = 0, redirects = 0, refreshed = false, streaming = false;
    let refusal: ApiError | undefined;
    try {
      while (true) {
        outer.signal.throwIfAborted();
        const started = this.#now();
        let answer: Answer;
        try {
          answer = await this.#attempt(lane, { ...outline, path }, outer, left, bounds.guards, tell);
        } catch (error) {
          // Of what may be sent again the server's own word is the better answer; of else, that it may have taken effect.
          if (refusal && repeatable && error instanceof TransportError && error.timedOut) throw refusal;
          if (!(error instanceof TransportError) || error.timedOut || isTooLarge(error)) throw error;
          if (!(repeatable || isUnprocessed(error)) || retries-- <= 0) throw error;
          this.#log.debug("Repeating {method} {path}: {error}", { method, path, error });
          // the first repeat goes at once: most often only a pooled connection was stale
          const wait = backoff.next();
          if (backoff.failures > 1) await delay(wait, outer.signal);
          left -= this.#now() - started;
          if (left <= 0) throw error;
          continue;
        }
        left = Math.max(1, left - (this.#now() - started));
        const { connection, response, text } = answer;
        this.#warn(response.headers, method, path, connection);
        const { status: code, headers, ok } = response;
        if (ok) {
          streaming = lane === "stream";
          return answer;
        }
        if (code === 401 && !refreshed) {
          refreshed = true;
          if (await race(this.credentials.refresh(connection), outer.signal) !== connection) continue;
        }
        const location = headers.get("location");
        if (code >= 300 && code < 400 && location) {
          const next = within(connection.server, path, location);
          if (next !== undefined && method === "GET" && redirects++ < MAX_REDIRECTS) {
            path = next;
            continue;
          }
          const target = URL.parse(location, connection.server)?.origin ?? "something that is no URL";
          const message = `a redirect to ${target}, which is not followed`;
          throw new ApiError({ kind: "Status", status: "Failure", code, reason: "", message }, method, path);
        }
        const error = toError(method, path, response, text);
        const wait = error.retryAfter;
        const rejected = code === 429 || code === 503;
        // who opens a stream has a back-off of its own, and needs to know: of a version that the server does not have yet,
        // another must be asked for, not the same again
        if (lane === "stream" || wait === undefined || wait > MAX_RETRY_AFTER) throw error;
        if (!(rejected || repeatable) || asked++ >= MAX_ASKED) throw error;
        this.#log.debug("Waiting before {method} {path}: {error}", { method, path, wait, error });
        refusal = error;
        await delay(Math.max(wait, MIN_RETRY_AFTER) * (1 + this.#random() / 10), outer.signal);
      }
    } finally {
      // a stream's body unlinks itself at its end
      if (!streaming) outer.unlink();
    }
  }

  /** Sends the request once, within the deadline. */
  async #attempt(
    lane: Lane,
    outline: Outline,
    outer: Linked,
    timeout: number,
    guards: Bounds["guards"],
    tell: (attempt: RequestAttempt) => void,
  ): Promise<Answer> {
    const { method, path } = outline;
    const call = link([outer.signal]);
    let line: Line | undefined;
    let connection: Connection | undefined;
    const secrets = (): string[] => connection ? secretsOf(connection) : [];
    let timedOut = false;
    let streaming = false;
    const started = this.#now();
    const cancelTimer = after(timeout, () => {
      timedOut = true;
      call.abort(new DOMException("The deadline passed", "TimeoutError"));
    });
    try {
      connection = await this.#resolve(call.signal);
      // At the last moment: while credentials were read, the right to send may have been lost.
      for (const guard of guards) guard();
      line = this.#transport.line(lane, connection);
      const response = await sendOn(line, {
        method,
        url: connection.server + path,
        headers: this.#headers(outline, connection),
        body: bodyOf(outline),
        signal: call.signal,
        once: !isRepeatable(outline),
      });
      tell({ method, host: line.host, code: response.status });
      if (lane === "stream" && response.ok) {
        streaming = true;
        const used = line;
        const finish = (): void => {
          call.unlink();
          outer.unlink();
          if (call.signal.aborted && isLate(call.signal.reason)) this.#transport.replace(used);
        };
        const fail = (error: unknown): Error =>
          noAnswer(method, path, "the stream broke", redactError(error, secrets()));
        const body = watched(response.body, call.signal, finish, fail);
        const { status, headers } = response;
        return { connection, response: new Response(body, { status, headers }), text: "" };
      }
      if (response.ok) return { connection, response, text: await readText(response.body, call.signal) };
      const text = await readText(response.body, call.signal, { limit: MAX_ERROR_BODY, cut: true });
      // A server, or a proxy before it, may repeat what it was sent.
      return { connection, response, text: redact(text, secrets()) };
    } catch (error) {
      if (line && !outer.signal.aborted) tell({ method, host: line.host, code: "<error>" });
      // Over HTTP/2 a request that is given up leaves its connection to the next one, be it dead or alive.
      const doubtful = timedOut || (outer.signal.aborted && this.#now() - started >= DOUBTFUL);
      if (line && doubtful) this.#transport.replace(line);
      if (outer.signal.aborted) throw outer.signal.reason;
      if (timedOut) {
        const what = line ? "no answer came" : "the credentials were not there";
        throw new TransportError(`Cannot ${method} ${path}: ${what} within ${timeout} ms`, method, path, {
          cause: error,
          timedOut: true,
        });
      }
      // without a line it is the credentials, or the TLS settings, that are wrong
      throw line ? noAnswer(method, path, "the request failed", redactError(error, secrets())) : error;
    } finally {
      cancelTimer();
      if (!streaming) call.unlink();
    }
  }

  #resolve(signal: AbortSignal): Promise<Connection> {
    return race(this.credentials.resolve(), signal);
  }

  #headers(outline: Outline, connection: Connection): [string, string][] {
    const { headers = {}, body, contentType = "application/json", accept = "application/json" } = outline;
    return [
      ["accept", accept],
      ["user-agent", this.#userAgent],
      ...(body === undefined ? [] : [["content-type", contentType] as [string, string]]),
      ...Object.entries(headers),
      ...connection.headers().map(([name, value]): [string, string] => [name, value]),
    ];
  }

  /** Logs each warning once. */
  #warn(headers: Headers, method: string, path: string, connection: Connection): void {
    for (const text of warningsOf(headers)) {
      const warning = redact(text, secretsOf(connection));
      if (this.#warned.has(warning)) continue;
      if (this.#warned.size >= MAX_WARNINGS) this.#warned.delete(this.#warned.values().next().value!);
      this.#warned.add(warning);
      this.#log.warn("The API server warns: {warning}", { warning, method, path: path.split("?")[0] });
    }
  }
}

/** True for the reason of a signal that aborted because something took too long. */
function isLate(reason: unknown): boolean {
  return reason instanceof TransportError ? reason.timedOut : reason instanceof Error && reason.name === "TimeoutError";
}

/** True for an answer that will not be shorter the next time. */
function isTooLarge({ cause }: Error): boolean {
  return cause instanceof RangeError;
}

function bodyOf({ body }: Outline): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

/** True for what may be sent again though the outcome is unknown: reads, and writes that meet a condition at most once. */
function isRepeatable({ method, body }: Outline): boolean {
  if (method === "GET" || method === "HEAD") return true;
  if (Array.isArray(body)) return method === "PATCH" && body.some((operation) => operation?.op === "test");
  if (method === "POST" || typeof body !== "object" || body === null) return false;
  const { metadata, preconditions } = body as Record<string, Record<string, unknown> | undefined>;
  const condition = method === "DELETE" ? preconditions : metadata;
  return Boolean(condition?.uid || condition?.resourceVersion);
}

/** Where a redirect leads within the server; undefined if it leads elsewhere, where the credentials must not go. */
function within(server: string, path: string, location: string): string | undefined {
  const base = new URL(server);
  const target = URL.parse(location, server + path);
  const prefix = base.pathname.replace(/\/$/, "");
  if (target?.origin !== base.origin || !target.pathname.startsWith(`${prefix}/`)) return undefined;
  return target.pathname.slice(prefix.length) + target.search;
}

/** Sends, and lets go of an answer that comes after the signal aborted. */
function sendOn(line: Line, outgoing: Parameters<Line["send"]>[0]): Promise<Response> {
  const { signal } = outgoing;
  const sent = line.send(outgoing);
  sent.then((response) => signal.aborted ? response.body?.cancel() : undefined).catch(() => {});
  return race(sent, signal);
}
