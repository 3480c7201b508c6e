/**
 * Carries requests between processes and an API server in virtual time: late, not at all, or only half.
 *
 * ```ts
 * import { ApiServer } from "../api_server.ts";
 * import { Network } from "./_network.ts";
 * import { Process, VirtualTime } from "./_virtual_time.ts";
 *
 * await using server = new ApiServer();
 * using time = new VirtualTime({ random: () => 0.5 });
 * const network = new Network({ server: server.fetch, time, random: () => 0.5 });
 * const answer = network.fetch(new Process("a"), new Request("http://kubernetes/version"));
 * await time.advance(1000);
 * console.assert((await answer).status === 200);
 * ```
 *
 * A request that was sent arrives even when its process has died or given up meanwhile, as on a wire.
 *
 * @module
 */
import { outside, type Process, type VirtualTime } from "./_virtual_time.ts";

/** A request of a process, and what became of it. */
export interface Call {
  /** Which of its process it is, from 1. */
  readonly number: number;
  /** Who sent it. */
  readonly process: Process;
  /** When it was sent, in ms. */
  readonly sent: number;
  /** The method. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** The body; empty if there is none. */
  readonly body: string;
  /** True for what changes something. */
  readonly writes: boolean;
  /** True for a watch. */
  readonly streams: boolean;
  /** When the server has served it; absent while it has not. */
  served?: number;
  /** The code of the server's answer; 0 while there is none. */
  code: number;
  /** What the server answered, of anything but a watch. */
  answer: string;
  /** What went wrong with it on request. */
  fault: string;
}

/** What can go wrong with a request. */
export type Effect =
  | { readonly kind: "refused" | "lost" | "unanswered" | "reset-before" | "reset-after" }
  | { readonly kind: "delayed"; readonly ms: number }
  | { readonly kind: "status"; readonly code: number; readonly retryAfter?: number | undefined };

/** Which requests something goes wrong with. */
export interface Trouble {
  /** The process; undefined for all. */
  readonly process?: Process | undefined;
  /** Which of its requests. */
  readonly of: "all" | "reads" | "writes" | "watches";
  /** What. */
  readonly effect: Effect;
  /** How many more requests. */
  left: number;
  /** Until when, in ms. */
  readonly until: number;
}

/** What delays the watches of a process. */
export interface Delay {
  /** The process. */
  readonly process: Process;
  /** The plural of the kind; undefined for all. */
  readonly resource?: string | undefined;
  /** How late it reads what comes, in ms. */
  readonly by?: number | undefined;
  /** Until when it reads nothing, in ms since the beginning. */
  readonly until?: number | undefined;
}

/** What {@linkcode Network} is made of. */
export interface NetworkOptions {
  /** Serves a request. */
  readonly server: (request: Request) => Promise<Response>;
  /** The clock. */
  readonly time: VirtualTime;
  /** Latencies come from it. */
  readonly random: () => number;
  /** Called with each request as it is sent. */
  readonly onSent?: ((call: Call) => void) | undefined;
  /** Called with each request that the server has served, before its answer goes back. */
  readonly onServed?: ((call: Call) => void) | undefined;
  /** Called with what a process reads of a watch. */
  readonly onRead?: ((process: Process, chunk: Uint8Array) => void) | undefined;
}

/** A watch that is open. */
interface Stream {
  readonly process: Process;
  close(how: Cut): void;
  freeze(): void;
}

/** How a stream is cut: as if it were over, with an error, or in the middle of a line. */
export type Cut = "closed" | "reset" | "truncated";

/** The wires between the processes and the server. */
export class Network {
  /** What goes wrong now, in the order in which it is tried. */
  readonly troubles: Set<Trouble> = new Set();
  /** What delays the watches of processes. */
  readonly delays: Set<Delay> = new Set();
  readonly #options: NetworkOptions;
  readonly #streams = new Set<Stream>();
  readonly #sent = new Map<Process, number>();
  readonly #underWay = new Map<Process, number>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** The streams and requests of a process that are not over. */
  open(process: Process): number {
    return [...this.#streams].filter((stream) => stream.process === process).length +
      (this.#underWay.get(process) ?? 0);
  }

  /** Ends the watches of a process, or all of them. */
  cut(how: Cut, process?: Process): void {
    for (const stream of [...this.#streams]) if (process === undefined || stream.process === process) stream.close(how);
  }

  /** Delivers nothing more of a process' watches, and does not end them. */
  freeze(process?: Process): void {
    for (const stream of this.#streams) if (process === undefined || stream.process === process) stream.freeze();
  }

  /** Sends a request of a process. */
  async fetch(process: Process, request: Request): Promise<Response> {
    const { signal, method } = request;
    const url = new URL(request.url);
    const body = request.body === null ? "" : await request.text();
    signal.throwIfAborted();
    const number = (this.#sent.get(process) ?? 0) + 1;
    this.#sent.set(process, number);
    const call: Call = {
      number,
      process,
      sent: this.#options.time.now,
      method,
      path: url.pathname + url.search,
      body,
      writes: method !== "GET",
      streams: ["1", "true"].includes(url.searchParams.get("watch") ?? ""),
      code: 0,
      answer: "",
      fault: "",
    };
    this.#options.onSent?.(call);
    if (process.dead) return await new Promise<never>(() => {});
    this.#count(process, 1);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const copy = { method, headers: request.headers, ...(body === "" ? {} : { body }) };
    outside(() => this.#carry(call, new Request(request.url, copy), signal, resolve, reject));
    try {
      return await promise;
    } finally {
      this.#count(process, -1);
      signal.removeEventListener("abort", abort);
    }
  }

  #count(process: Process, change: number): void {
    this.#underWay.set(process, (this.#underWay.get(process) ?? 0) + change);
  }

  /** The next thing that goes wrong with a request, if any. */
  #trouble(call: Call): Effect | undefined {
    for (const trouble of this.troubles) {
      if (trouble.until <= this.#options.time.now || trouble.left <= 0) {
        this.troubles.delete(trouble);
        continue;
      }
      const kinds = { all: true, reads: !call.writes, writes: call.writes, watches: call.streams };
      if (!kinds[trouble.of] || (trouble.process ?? call.process) !== call.process) continue;
      trouble.left--;
      return trouble.effect;
    }
    return undefined;
  }

  #carry(
    call: Call,
    request: Request,
    signal: AbortSignal,
    resolve: (response: Response) => void,
    reject: (error: unknown) => void,
  ): void {
    const { time, random } = this.#options;
    const latency = (): number => 1 + random() * 9;
    const fail = (text: string, ms: number): void => {
      time.after(ms, () => call.process.enter(() => reject(new TypeError(text))));
    };
    const effect = this.#trouble(call);
    call.fault = effect === undefined ? "" : effect.kind === "status" ? `status ${effect.code}` : effect.kind;
    if (effect?.kind === "refused") return fail("error sending request: connection refused", latency());
    if (effect?.kind === "lost") return;
    if (effect?.kind === "reset-before") return fail("error sending request: connection reset by peer", latency());
    if (effect?.kind === "status") {
      time.after(2 * latency(), () => {
        call.code = effect.code;
        call.process.enter(() => resolve(statusResponse(effect)));
      });
      return;
    }
    const extra = effect?.kind === "delayed" ? effect.ms / 2 : 0;
    time.after(latency() + extra, async () => {
      const response = await time.busy(this.#options.server(request));
      const streams = call.streams && response.ok;
      const text = streams ? "" : await time.busy(response.text());
      call.served = time.now;
      call.code = response.status;
      call.answer = text;
      this.#options.onServed?.(call);
      if (effect?.kind === "unanswered") return streams ? void response.body?.cancel() : undefined;
      if (effect?.kind === "reset-after") return fail("error sending request: connection reset by peer", latency());
      time.after(latency() + extra, () => {
        if (call.process.dead || signal.aborted) return streams ? void response.body?.cancel() : undefined;
        const { status, headers } = response;
        const body = streams ? this.#pipe(call, response.body!, signal) : text;
        call.process.enter(() => resolve(new Response(body, { status, headers })));
      });
    });
  }

  /** Carries a watch, piece by piece, in order. */
  #pipe({ process, path }: Call, body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { time, random } = this.#options;
    const resource = path.split("?")[0]!.split("/").at(-1);
    const reader = body.getReader();
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    let last = 0;
    let over = false;
    let frozen = false;
    const end = (finish: () => void): void => {
      if (over) return;
      over = true;
      this.#streams.delete(stream);
      signal.removeEventListener("abort", aborted);
      reader.cancel().catch(() => {});
      process.enter(finish);
    };
    const aborted = (): void => end(() => controller.error(signal.reason));
    const stream: Stream = {
      process,
      close: (how) => {
        if (how === "closed") return end(() => controller.close());
        if (how === "truncated") process.enter(() => over || frozen || controller.enqueue(HALF_A_LINE));
        end(() => controller.error(new TypeError("error reading a body from connection: connection reset by peer")));
      },
      freeze: () => {
        frozen = true;
        reader.cancel().catch(() => {});
      },
    };
    const deliver = (run: () => void): void => {
      let ready = time.now + 1 + random() * 4;
      for (const delay of this.delays) {
        if (delay.process !== process || (delay.resource ?? resource) !== resource) continue;
        ready = Math.max(ready + (delay.by ?? 0), delay.until ?? 0);
      }
      last = Math.max(last, ready);
      time.after(last - time.now, () => process.enter(() => over || frozen || run()));
    };
    const read = async (): Promise<void> => {
      try {
        while (true) {
          const { done, value } = await reader.read();
          if (over || frozen) return;
          if (done) return deliver(() => end(() => controller.close()));
          deliver(() => {
            this.#options.onRead?.(process, value);
            controller.enqueue(value);
          });
        }
      } catch (error) {
        end(() => controller.error(error));
      }
    };
    const piped = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
      cancel: () => end(() => {}),
    });
    this.#streams.add(stream);
    signal.addEventListener("abort", aborted, { once: true });
    read();
    return piped;
  }
}

const HALF_A_LINE = new TextEncoder().encode('{"type":"MODIFIED","object":{"kind":"');

function statusResponse({ code, retryAfter }: Extract<Effect, { kind: "status" }>): Response {
  const reasons: Record<number, string> = {
    403: "Forbidden",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
  };
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the simulation answers ${code}`,
    reason: reasons[code] ?? "",
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
    code,
  };
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return new Response(JSON.stringify(status), { status: code, headers });
}
