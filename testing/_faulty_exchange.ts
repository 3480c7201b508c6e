/**
 * Lets one request and its answer meet what a test wants to go wrong: on the way to the server, and on the way back.
 *
 * ```ts
 * import type { FaultyExchange } from "./_faulty_exchange.ts";
 * import type { Reply } from "./_reply.ts";
 *
 * export async function lose(exchange: FaultyExchange, reply: Reply): Promise<Reply> {
 *   return await exchange.end(reply, false);
 * }
 * ```
 *
 * @module
 */
import type { ServerState } from "./_call.ts";
import type { FaultBoard } from "./_fault_board.ts";
import { connectionReset, type Fault, faultError, faultText } from "./_faults.ts";
import type { Lag } from "./_lag.ts";
import type { StreamTrouble } from "./_outlet.ts";
import { pause, until } from "./_pause.ts";
import type { RequestRecord } from "./_recorded_request.ts";
import { bytesOf, discard, type Reply } from "./_reply.ts";
import { catchUp } from "./_versions.ts";

/** A connection that requests come over. */
export interface Connection {
  /** Breaks it. */
  readonly reset: () => void;
}

const READS = new Set(["get", "list", "watch"]);

/** One request and its answer. */
export class FaultyExchange {
  /** The replica behind that answers it, if any. */
  lag: Lag | undefined;
  readonly #board: FaultBoard;
  readonly #state: ServerState;
  readonly #record: RequestRecord;
  readonly #gone: AbortSignal;
  readonly #connection: Connection | undefined;
  readonly #broken: AbortSignal;
  #fault: Fault | undefined;

  /** Takes the faults, the server, the request, the signal of a client that is gone, and the connection if there is one. */
  constructor(
    board: FaultBoard,
    state: ServerState,
    record: RequestRecord,
    gone: AbortSignal,
    connection: Connection | undefined,
  ) {
    this.#board = board;
    this.#state = state;
    this.#record = record;
    this.#connection = connection;
    this.#gone = gone;
    this.#broken = board.broken;
  }

  /** What goes wrong with the stream of a watch. */
  get trouble(): StreamTrouble | undefined {
    const { stall, breakAfter, truncate, bookmarks } = this.#fault ?? {};
    if (!stall && breakAfter === undefined && truncate === undefined && bookmarks === undefined) return undefined;
    return { stall: Boolean(stall), breakAfter, truncate, bookmarks };
  }

  /**
   * Brings the request to the server.
   *
   * @throws {StatusError} If it is answered with a code
   * @throws {Error} If the connection breaks, or the client gives up
   */
  async begin(url: URL): Promise<void> {
    const record = this.#record;
    for (let cut = this.#cut(); cut && cut.lost !== "answers"; cut = this.#cut()) {
      if (cut.lost === "refused") this.#reset();
      await until(cut.over, this.#ends);
    }
    const fault = this.#fault = this.#board.take(record);
    if (fault) {
      this.#note(faultText(fault));
      if (fault.delay !== undefined) await pause(fault.delay, this.#ends);
      if (fault.reset === "before") this.#reset();
      if (fault.stall === true && record.verb !== "watch") await pause(Infinity, this.#ends);
      if (fault.code !== undefined && !(fault.inStream && record.verb === "watch")) throw faultError(fault);
    }
    const lag = READS.has(record.verb) ? this.#board.lagOf(record) : undefined;
    if (lag) await this.#readThrough(lag, url);
  }

  /** Brings the answer to the client; rejects if the connection breaks, or the client gives up. */
  async end(reply: Reply, streams: boolean): Promise<Reply> {
    const { answerDelay, reset, stall, truncate, code, inStream } = this.#fault ?? {};
    const { status, headers, body } = reply;
    try {
      if (answerDelay !== undefined) await pause(answerDelay, this.#ends);
      if (reset === "after") this.#reset();
      if (stall === "after" && !streams) await pause(Infinity, this.#ends);
      for (let cut = this.#cut(); cut; cut = this.#cut()) {
        if (cut.lost === "refused") this.#reset();
        await until(cut.over, this.#ends);
      }
    } catch (error) {
      await discard(reply);
      throw error;
    }
    if (body instanceof ReadableStream && code !== undefined && inStream) {
      await discard(reply);
      const line = `{"type":"ERROR","object":${JSON.stringify(faultError(this.#fault!).status)}}\n`;
      return { status, headers, body: line };
    }
    if (truncate === undefined || streams || body instanceof ReadableStream) return reply;
    const bytes = bytesOf(body);
    return {
      status,
      headers: headers.filter(([name]) => name !== "content-length"),
      body: bytes.subarray(0, bytes.length >> 1),
    };
  }

  /** As a real replica that is behind: what must be of the newest state waits, and is then served from where that is. */
  async #readThrough(lag: Lag, url: URL): Promise<void> {
    const { verb } = this.#record, { searchParams: query } = url;
    this.#note(`lag at ${lag.version}`);
    const newest = (query.get("resourceVersion") ?? "") === "";
    if (newest && verb === "get") return;
    if (newest && (verb === "list" || query.get("sendInitialEvents") === "true")) {
      await catchUp(lag, this.#state, this.#ends);
      if (verb === "list") return;
    }
    this.lag = lag;
  }

  /** Aborts when the client is gone, the server closes, or the connections that there were at the beginning break. */
  get #ends(): AbortSignal {
    return AbortSignal.any([this.#gone, this.#state.closed, this.#broken]);
  }

  #cut(): ReturnType<FaultBoard["partitionOf"]> {
    const cut = this.#board.partitionOf(this.#record);
    if (cut) this.#note(`partition, ${cut.lost} lost`);
    return cut;
  }

  #reset(): never {
    this.#connection?.reset();
    throw connectionReset();
  }

  #note(text: string): void {
    const { fault } = this.#record;
    if (!fault?.includes(text)) this.#record.fault = fault === undefined ? text : `${fault}, ${text}`;
  }
}
