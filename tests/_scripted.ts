/**
 * Plays the API server from a script: each request gets the next listed answer, and all requests are recorded.
 *
 * ```ts
 * const server = new ScriptedServer();
 * server.on("GET", "/api/v1/configmaps", json(list([], "100")));           // answered once, in the order listed
 * server.on("GET", "/api/v1/configmaps?watch", stream(added(object)));     // a watch: stays open until `end` or `fail`
 * server.always("PATCH", "/api/", (request) => json({ ... }));             // whenever nothing listed is left
 * const client = new Client({ fetch: server.fetch });
 * ```
 *
 * A path matches requests that begin with it; `?watch` at its end, only watches, and without it, only others. A request
 * that nothing is listed for is answered with 500 and remembered in `unexpected`, which a test should find empty.
 */
import { delay } from "../delay.ts";
import type { KubernetesObject } from "../resource.ts";

/** A request as it came. */
export interface Recorded {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Headers;
  /** The body, parsed if it is JSON. */
  readonly body: unknown;
  /** When it came, by `Date.now()`. */
  readonly at: number;
  /** True for a watch. */
  readonly watch: boolean;
}

/** What answers a request. */
export type Answer = (request: Recorded, signal: AbortSignal) => Response | Promise<Response>;

interface Rule {
  readonly method: string;
  readonly path: string;
  readonly watch: boolean;
  readonly answer: Answer;
}

/** A server that answers as told. */
export class ScriptedServer {
  /** All requests, in order. */
  readonly requests: Recorded[] = [];
  /** Those that nothing was listed for. */
  readonly unexpected: Recorded[] = [];
  readonly #once: Rule[] = [];
  readonly #always: Rule[] = [];

  /** Lists answers, each for one request. */
  on(method: string, path: string, ...answers: Answer[]): this {
    for (const answer of answers) this.#once.push(rule(method, path, answer));
    return this;
  }

  /** Sets the answer for requests that no listed answer is left for; what is set last counts first. */
  always(method: string, path: string, answer: Answer): this {
    this.#always.unshift(rule(method, path, answer));
    return this;
  }

  /** For `new Client({ fetch: server.fetch })`. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const query = Object.fromEntries(searchParams);
    const text = await request.text();
    const recorded: Recorded = {
      method: request.method,
      path: pathname,
      query,
      headers: request.headers,
      body: text === "" ? undefined : parse(text),
      at: Date.now(),
      watch: ["1", "true"].includes(query.watch ?? ""),
    };
    this.requests.push(recorded);
    request.signal.throwIfAborted();
    const matches = ({ method, path, watch }: Rule) =>
      method === recorded.method && recorded.path.startsWith(path) && watch === recorded.watch;
    const at = this.#once.findIndex(matches);
    const found = at >= 0 ? this.#once.splice(at, 1)[0] : this.#always.find(matches);
    if (!found) {
      this.unexpected.push(recorded);
      return status(500, { message: "nothing is listed for this request" })(recorded, request.signal);
    }
    return await found.answer(recorded, request.signal);
  };

  /** How many answers are still listed. */
  get left(): number {
    return this.#once.length;
  }

  /** The lists among the requests. */
  get lists(): Recorded[] {
    return this.requests.filter(({ method, watch }) => method === "GET" && !watch);
  }

  /** The watches among the requests. */
  get watches(): Recorded[] {
    return this.requests.filter(({ watch }) => watch);
  }
}

function rule(method: string, path: string, answer: Answer): Rule {
  const watch = path.endsWith("?watch");
  return { method, path: watch ? path.slice(0, -"?watch".length) : path, watch, answer };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Answers with JSON. */
export function json(body: unknown, code = 200, headers: Record<string, string> = {}): Answer {
  return () => Response.json(body, { status: code, headers });
}

/** Answers with a `Status`. */
export function status(
  code: number,
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Answer {
  return json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, ...fields }, code, headers);
}

/** Answers with text, as a server does for paths that it does not know. */
export function text(body: string, code: number): Answer {
  return () => new Response(body, { status: code, headers: { "content-type": "text/plain" } });
}

/** Gives no answer: the connection is refused. */
export function refuse(): Answer {
  return () => Promise.reject(new TypeError("error sending request: connection refused"));
}

/** Gives an answer after a time. */
export function later(ms: number, answer: Answer): Answer {
  return async (request, signal) => {
    await delay(ms, signal);
    return await answer(request, signal);
  };
}

/** A stream that the test feeds, from before the request that it answers comes; for one request. */
export class Feed {
  readonly #encoder = new TextEncoder();
  readonly #stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #state: "waiting" | "open" | "over" = "waiting";
  #unlink: () => void = () => {};

  /** Waits for its request. */
  constructor() {
    this.#stream = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#over(),
    });
  }

  /** True while a client reads it. */
  get open(): boolean {
    return this.#state === "open";
  }

  /** Answers with the stream. */
  readonly answer: Answer = (_, signal) => {
    if (this.#state === "waiting") {
      this.#state = "open";
      const abort = (): void => {
        this.#over();
        this.#controller.error(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#unlink = () => signal.removeEventListener("abort", abort);
    }
    return new Response(this.#stream, { headers: { "content-type": "application/json" } });
  };

  #over(): void {
    this.#state = "over";
    this.#unlink();
  }

  /** Sends events, each as a line. */
  send(...events: unknown[]): this {
    return this.text(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  }

  /** Sends text as it is. */
  text(text: string): this {
    return this.bytes(this.#encoder.encode(text));
  }

  /** Sends bytes as they are. */
  bytes(bytes: Uint8Array): this {
    this.#controller.enqueue(bytes);
    return this;
  }

  /** Ends the stream in order. */
  end(): this {
    this.#over();
    this.#controller.close();
    return this;
  }

  /** Breaks the stream, as a reset connection does. */
  fail(): this {
    this.#over();
    this.#controller.error(new TypeError("error reading a body from connection: connection reset"));
    return this;
  }
}

/** Answers with a stream of these events that stays open until the client leaves it. */
export function stream(...events: unknown[]): Answer {
  return (request, signal) => new Feed().send(...events).answer(request, signal);
}

/** Answers with a stream of these events that then ends. */
export function ended(...events: unknown[]): Answer {
  return (request, signal) => new Feed().send(...events).end().answer(request, signal);
}

/** A ConfigMap at a version; its uid is made of its name unless given. */
export function configMap(name: string, version: number | string, more: ConfigMapFields = {}): KubernetesObject {
  const { namespace = "default", uid = `uid-${name}`, data, ...metadata } = more;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(version),
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
    ...(data === undefined ? {} : { data }),
  } as KubernetesObject;
}

/** Fields of {@linkcode configMap}: of its metadata, and its data. */
export type ConfigMapFields = Partial<KubernetesObject["metadata"]> & { data?: Record<string, string> };

/** A list of objects, as a server sends it: its items do not say what they are. */
export function list(objects: readonly KubernetesObject[], version: number | string, continueToken?: string): unknown {
  return {
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: String(version), ...(continueToken ? { continue: continueToken } : {}) },
    items: objects.map(({ apiVersion: _, kind: __, ...item }) => item),
  };
}

/** An event of a watch. */
export function added(object: unknown): unknown {
  return { type: "ADDED", object };
}

/** An event of a watch. */
export function modified(object: unknown): unknown {
  return { type: "MODIFIED", object };
}

/** An event of a watch. */
export function deleted(object: unknown): unknown {
  return { type: "DELETED", object };
}

/** An event of a watch: everything up to the version has been sent. */
export function bookmark(version: number | string, options: { initialEventsEnd?: boolean } = {}): unknown {
  const annotations = options.initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const metadata = { resourceVersion: String(version), ...annotations };
  return { type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } };
}

/** An event of a watch: a `Status`. */
export function errorEvent(code: number, fields: Record<string, unknown> = {}): unknown {
  return {
    type: "ERROR",
    object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, ...fields },
  };
}
