/**
 * Sends the list and watch requests of one kind and decodes the answers as they arrive.
 *
 * ```ts
 * import type { Api } from "./client.ts";
 * import { Source } from "./_watch_source.ts";
 *
 * async function first(api: Api): Promise<void> {
 *   const source = new Source(api, { signal: AbortSignal.timeout(10_000) });
 *   await using stream = await source.watch({ resourceVersion: "100" }, { total: 5000 });
 *   for await (const frame of stream) console.log(frame.type);
 * }
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { asStatus } from "./_answer.ts";
import type { CachedObject } from "./_cached_object.ts";
import { Decoder, type DecoderOptions } from "./_decode.ts";
import { MAX_OBJECT } from "./_limits.ts";
import { ObjectScanner, startsWith } from "./_scan.ts";
import { nextLine, readList, UNCOMPRESSED } from "./_stream.ts";
import { Window } from "./_window.ts";
import type { Api, Query } from "./client.ts";
import { after } from "./delay.ts";
import { ApiError, TransportError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import type { KubernetesObject } from "./resource.ts";

const CLOSE_BRACE = 0x7d;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** What one line of a watch says. */
export type Frame<T extends KubernetesObject> =
  | { readonly type: "applied"; readonly object: CachedObject<T> }
  | { readonly type: "deleted"; readonly object: CachedObject<T> }
  | { readonly type: "bookmark"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** How long a request may last, in ms. */
export interface Limits {
  /** From its start to its end. @default {no limit} */
  total?: number | undefined;
  /** Between two pieces of its answer, until {@linkcode WatchStream.settle}. @default {no limit} */
  quiet?: number | undefined;
}

/** What a list answered, decoded. */
export interface Page<T extends KubernetesObject> {
  /** The objects. */
  objects: CachedObject<T>[];
  /** The list's resource version. */
  resourceVersion: string;
  /** The token of the next page. */
  continue: string | undefined;
}

/** Options of {@linkcode Source}. */
export interface SourceOptions<T extends KubernetesObject> extends DecoderOptions<T> {
  /** Decodes the objects in place of one with these options. */
  decoder?: Decoder<T> | undefined;
  /** Ends everything. */
  signal: AbortSignal;
  /** The namespace to look in. @default {all namespaces} */
  namespace?: string | undefined;
  /** Selects by labels, on the server. @default {everything} */
  labelSelector?: string | undefined;
  /** Selects by fields, on the server. @default {everything} */
  fieldSelector?: string | undefined;
  /** Monotonic time in ms. @default {performance.now} */
  now?: (() => number) | undefined;
}

/** Ends a request when the caller's signal aborts, or when it lasts too long, and leaves no timer or listener behind. */
class Lifeline implements Disposable {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #now: () => number;
  readonly #fail: (rule: string) => Error;
  readonly #abort = (): void => this.#controller.abort(this.#parent.reason);
  #cancelTotal: (() => void) | undefined;
  #cancelQuiet: (() => void) | undefined;
  #heard: number;

  constructor(parent: AbortSignal, limits: Limits, now: () => number, fail: (rule: string) => Error) {
    this.#parent = parent;
    this.#now = now;
    this.#fail = fail;
    this.#heard = now();
    const { total, quiet } = limits;
    if (parent.aborted) {
      this.#abort();
      return;
    }
    parent.addEventListener("abort", this.#abort, { once: true });
    if (total !== undefined) {
      this.#cancelTotal = after(total, () => this.#end(`it must end within ${total} ms`));
    }
    if (quiet !== undefined) this.#listen(quiet, quiet);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #end(rule: string): void {
    this.#controller.abort(this.#fail(rule));
  }

  #listen(quiet: number, wait: number): void {
    this.#cancelQuiet = after(wait, () => {
      const left = this.#heard + quiet - this.#now();
      if (left > 0) this.#listen(quiet, left);
      else this.#end(`something must arrive within ${quiet} ms`);
    });
  }

  /** Notes a piece of the answer. */
  heard(): void {
    this.#heard = this.#now();
  }

  settle(): void {
    this.#cancelQuiet?.();
  }

  /** Ends the request. */
  cancel(): void {
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener("abort", this.#abort);
    this.#cancelTotal?.();
    this.#cancelQuiet?.();
  }
}

/** The three kinds of lines that nearly all are, up to their object, and what they say. */
const STARTS = ([["ADDED", "applied"], ["MODIFIED", "applied"], ["DELETED", "deleted"]] as const).map(
  ([type, says]) => ({ start: new TextEncoder().encode(`{"type":"${type}","object":`), says }),
);
/** Where the first letter of the type is. */
const TYPE_AT = 9;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A line of a watch. */
interface Line {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** True for the last line of an answer that ended within it. */
  readonly truncated: boolean;
}

/** One watch that the server has accepted. */
export class WatchStream<T extends KubernetesObject> implements AsyncDisposable {
  readonly #lifeline: Lifeline;
  readonly #window: Window;
  readonly #read: (line: Line) => Frame<T> | undefined;

  /** Use {@linkcode Source.watch}. */
  constructor(window: Window, lifeline: Lifeline, read: (line: Line) => Frame<T> | undefined) {
    this.#lifeline = lifeline;
    this.#window = window;
    this.#read = read;
  }

  /** Lifts the limit on quiet. */
  settle(): void {
    this.#lifeline.settle();
  }

  /** What the stream says, until it ends; a loop that is left can be taken up by another. */
  [Symbol.asyncIterator](): AsyncIterator<Frame<T>> {
    return { next: () => this.#next() };
  }

  // Written out, as a generator on top of a generator costs more than the decoding.
  async #next(): Promise<IteratorResult<Frame<T>>> {
    const window = this.#window;
    while (true) {
      const end = await nextLine(window);
      if (end < 0) return { done: true, value: undefined };
      const { bytes, from: start } = window;
      window.from = Math.min(end + 1, window.to);
      const frame = this.#read({ bytes, start, end, truncated: end === window.to });
      if (frame) return { done: false, value: frame };
    }
  }

  /** Ends the request. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#lifeline.cancel();
    this.#lifeline[Symbol.dispose]();
    await this.#window.cancel();
  }
}

/** Lists and watches one kind in one namespace. */
export class Source<T extends KubernetesObject> {
  /** The verb of the last request. */
  verb: "list" | "watch" = "list";
  /** True once the answer to the last request has begun. */
  begun = false;
  /** True once a line of a watch could not be read, so that something may have been missed. */
  missed = false;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Monotonic time in ms. */
  readonly now: () => number;
  /** Decodes the objects. */
  readonly decoder: Decoder<T>;
  readonly #api: Api<T>;
  readonly #path: string;
  readonly #scanner = new ObjectScanner();
  readonly #options: SourceOptions<T>;
  readonly #log: Logger;

  /** Sends nothing yet. */
  constructor(api: Api<T>, options: SourceOptions<T>) {
    this.#api = api;
    this.#path = api.resource.path(options.namespace);
    this.decoder = options.decoder ?? new Decoder<T>(api.resource, options);
    this.#options = options;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
    this.signal = options.signal;
    this.now = options.now ?? (() => performance.now());
  }

  async #open(query: Query, as: string, lifeline: Lifeline): Promise<Window> {
    const { labelSelector, fieldSelector, metadataOnly } = this.#options;
    this.begun = false;
    const response = await this.#api.client.stream({
      path: this.#path,
      query: { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined, ...query },
      accept: metadataOnly ? `application/json;as=${as};g=meta.k8s.io;v=v1` : "application/json",
      headers: query.watch ? UNCOMPRESSED : undefined,
      signal: lifeline.signal,
    });
    this.begun = true;
    return new Window(response.body ?? new Blob([]).stream(), MAX_OBJECT, () => lifeline.heard());
  }

  #lifeline(limits: Limits): Lifeline {
    const { verb } = this;
    const { id } = this.#api.resource;
    return new Lifeline(
      this.signal,
      limits,
      this.now,
      (rule) => new TransportError(`Cannot ${verb} ${id}: ${rule}`, "GET", this.#path, { timedOut: true }),
    );
  }

  /** Lists; each object is decoded while the rest is still on its way. */
  async list(query: Query, limits: Limits = {}): Promise<Page<T>> {
    this.verb = "list";
    using lifeline = this.#lifeline(limits);
    const window = await this.#open(query, "PartialObjectMetadataList", lifeline);
    const objects: CachedObject<T>[] = [];
    try {
      const { metadata } = await readList(window, (bytes, start, end, scanner) => {
        objects.push(this.decoder.read(bytes, start, end, scanner));
      });
      if (!metadata.resourceVersion) throw this.#unreadable("it must be a list with a resourceVersion");
      return { objects, resourceVersion: metadata.resourceVersion, continue: metadata.continue || undefined };
    } catch (error) {
      // The parser's message quotes what it could not read, which may hold a secret.
      if (error instanceof SyntaxError) throw this.#unreadable("it must be whole and valid JSON");
      if (error instanceof RangeError) throw this.#unreadable(error.message);
      throw error;
    }
  }

  #unreadable(rule: string): TransportError {
    const { id } = this.#api.resource;
    return new TransportError(`Cannot read the list of ${id}: ${rule}`, "GET", this.#path);
  }

  /** Watches; resolves when the server has accepted. */
  async watch(query: Query, limits: Limits = {}): Promise<WatchStream<T>> {
    this.verb = "watch";
    const lifeline = this.#lifeline(limits);
    try {
      const window = await this.#open({ watch: true, ...query }, "PartialObjectMetadata", lifeline);
      return new WatchStream(window, lifeline, (line) => this.#frame(line));
    } catch (error) {
      lifeline[Symbol.dispose]();
      throw error;
    }
  }

  /** @throws {ApiError} If the line is an ERROR event */
  #frame(line: Line): Frame<T> | undefined {
    try {
      return this.#change(line) ?? this.#parse(line);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (line.truncated) return undefined; // the next watch brings it again
      this.missed = true;
      // The line is not logged, nor the parser's message, which quotes it: it may hold a secret.
      const { kind } = this.#api.resource;
      this.#log.warn("Skipped a line of a watch that could not be read", { kind, bytes: line.end - line.start });
      return undefined;
    }
  }

  /** Reads a line that tells of an object, and is written as API servers write it. */
  #change({ bytes, start, end }: Line): Frame<T> | undefined {
    const known = STARTS.find(({ start: text }) => bytes[start + TYPE_AT] === text[TYPE_AT]);
    if (known === undefined || !startsWith(bytes, start, known.start)) return undefined;
    const from = start + known.start.length;
    const to = this.#scanner.scan(bytes, from, end);
    if (to !== end - 1 || bytes[to] !== CLOSE_BRACE) return undefined;
    return { type: known.says, object: this.decoder.read(bytes, from, to, this.#scanner) };
  }

  #parse({ bytes, start, end }: Line): Frame<T> {
    // deno-lint-ignore no-explicit-any -- it is checked below
    const { type, object } = JSON.parse(decoder.decode(bytes.subarray(start, end))) as { type: string; object: any };
    if (type === "ADDED" || type === "MODIFIED") return { type: "applied", object: this.decoder.keep(object) };
    if (type === "DELETED") return { type: "deleted", object: this.decoder.keep(object) };
    if (type === "BOOKMARK") {
      const { resourceVersion, annotations } = object.metadata;
      if (typeof resourceVersion !== "string") throw new TypeError("Cannot read a bookmark without resourceVersion");
      return { type: "bookmark", resourceVersion, initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === "true" };
    }
    if (type === "ERROR") throw new ApiError(asStatus(object, 500), "GET", this.#path);
    throw new TypeError("Cannot read a watch event of an unknown type");
  }
}
