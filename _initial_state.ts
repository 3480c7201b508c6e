/**
 * Gets all objects of a kind at one resource version: by one list, by pages, or by a streaming list.
 *
 * ```ts
 * import { InitialState } from "./_initial_state.ts";
 * import type { Source } from "./_watch_source.ts";
 * import type { KubernetesObject } from "./resource.ts";
 *
 * async function count(source: Source<KubernetesObject>): Promise<number> {
 *   const state = await new InitialState(source, { initial: "pages" }).load(undefined);
 *   return state.objects.length;
 * }
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { CachedObject } from "./_cached_object.ts";
import type { Source, WatchStream } from "./_watch_source.ts";
import { Backoff } from "./backoff.ts";
import type { Query } from "./client.ts";
import { delay } from "./delay.ts";
import { ApiError, isApiError, isExpired, TransportError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import type { KubernetesObject } from "./resource.ts";

/** A way to the initial state. */
export type Initial = "list" | "pages" | "stream";

const WAYS: readonly Initial[] = ["stream", "list", "pages"];
const PAGE_SIZE = 500;
const PAGE_TRIES = 3;
/** The longest silence, in ms, in which an answer is still believed to be on its way. */
const QUIET = 30_000;

/** All objects at one resource version. */
export interface State<T extends KubernetesObject> {
  /** Each object once. */
  objects: CachedObject<T>[];
  /** Where a watch goes on. */
  resourceVersion: string;
  /** The watch that brought the objects, to be read on. */
  stream?: WatchStream<T>;
}

/** Options of {@linkcode InitialState}. */
export interface InitialOptions {
  /** The first way that is tried; then come those after it of stream, list, pages. @default {"list"} */
  readonly initial?: Initial | undefined;
  /** Seconds that a streaming list asks to live; 30 s later it is given up. @default {() => 300} */
  readonly timeoutSeconds?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the logger of the category "tend", "watcher"} */
  readonly log?: Logger | undefined;
}

/** True when the server no longer has, or does not yet have, the resource version that was asked for. */
export function isStale(error: unknown): error is ApiError {
  return isExpired(error) || isApiError(error, "Expired") || isApiError(error, "Gone") || isTooLarge(error);
}

/** True when the server does not yet have the resource version that was asked for, or has gone back behind it. */
export function isTooLarge(error: unknown): error is ApiError {
  return isApiError(error) &&
    ((error.details?.causes ?? []).some((cause) => cause.reason === "ResourceVersionTooLarge") ||
      error.status.message?.includes("Too large resource version") === true);
}

/** True when the server does not know how to answer that way, now or later. */
function isUnsupported(error: unknown): boolean {
  return isApiError(error) && [400, 405, 406, 413, 415, 422, 501].includes(error.code);
}

/** Loads the state of a source, as often as needed, remembering which ways the server does not know. */
export class InitialState<T extends KubernetesObject> {
  readonly #source: Source<T>;
  readonly #first: Initial;
  readonly #unsupported: Set<Initial> = new Set();
  readonly #timeoutSeconds: () => number;
  readonly #random: () => number;
  readonly #log: Logger;

  /** Sends nothing yet. */
  constructor(source: Source<T>, options: InitialOptions = {}) {
    const { initial = "list", timeoutSeconds = () => 300, random = Math.random } = options;
    if (!WAYS.includes(initial)) {
      throw new TypeError(
        `Cannot watch: 'initial' must be "list", "pages" or "stream": current value is ${Deno.inspect(initial)}`,
      );
    }
    this.#source = source;
    this.#first = initial;
    this.#timeoutSeconds = timeoutSeconds;
    this.#random = random;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
  }

  /**
   * Answers with the state, not older than `floor` where that is given.
   *
   * If the server does not have that version, as after a restore from a backup, it is asked for its most recent state.
   * Pages never name a version: without one the first page is the most recent state by itself, and the token of the
   * others holds theirs.
   *
   * @throws {ApiError} If the server refuses
   * @throws {TransportError} If an answer does not arrive
   */
  async load(floor: string | undefined): Promise<State<T>> {
    for (const way of WAYS.slice(WAYS.indexOf(this.#first))) {
      if (this.#unsupported.has(way)) continue;
      try {
        return await this.#notOlderThan(way, floor);
      } catch (error) {
        if (this.#source.signal.aborted || way === "pages" || !this.#isRefused(way, error)) throw error;
        if (isUnsupported(error)) this.#unsupported.add(way);
        this.#log.debug("Getting the initial state another way", { refused: way, error });
      }
    }
    throw new Error("Cannot get the initial state: the server refuses each way");
  }

  /** True when another way may succeed where this one did not. */
  #isRefused(way: Initial, error: unknown): boolean {
    if (isUnsupported(error)) return true;
    if (error instanceof ApiError) return (way === "list" ? [504] : [403, 500]).includes(error.code);
    // An answer that is cut, or never begins, may be too long for the server or for what is between; a server that
    // cannot be reached at all is no better reached another way.
    return this.#source.begun || (error instanceof TransportError && error.timedOut);
  }

  async #notOlderThan(way: Initial, floor: string | undefined): Promise<State<T>> {
    if (way === "pages") return this.#pages();
    const load = (floor?: string) => way === "list" ? this.#list(floor) : this.#stream(floor);
    try {
      return await load(floor);
    } catch (error) {
      if (floor === undefined || !isStale(error)) throw error;
      return await load();
    }
  }

  /** One list. Without a version it is the most recent state, from the watch cache of servers since 1.31. */
  async #list(floor?: string): Promise<State<T>> {
    const query: Query = floor === undefined ? {} : { resourceVersion: floor, resourceVersionMatch: "NotOlderThan" };
    return await this.#collect(query);
  }

  /** Lists, and follows the tokens if there are more pages. */
  async #collect(query: Query): Promise<State<T>> {
    const { objects, resourceVersion, continue: first } = await this.#source.list(query, { quiet: QUIET });
    const { limit } = query;
    for (let token = first; token !== undefined;) {
      const page = await this.#source.list({ limit, continue: token }, { quiet: QUIET });
      for (const object of page.objects) objects.push(object);
      token = page.continue;
    }
    return { objects, resourceVersion };
  }

  /** Pages. When the token expires on the way they start afresh, then give way to one list. */
  async #pages(): Promise<State<T>> {
    const backoff = new Backoff({ random: this.#random });
    while (backoff.failures < PAGE_TRIES) {
      try {
        return await this.#collect({ limit: PAGE_SIZE });
      } catch (error) {
        if (!isStale(error)) throw error;
        this.#log.debug("Starting the pages afresh: their token has expired", { error });
        await delay(backoff.next(), this.#source.signal);
      }
    }
    return await this.#list();
  }

  /** A watch that begins with what is there. Servers that do not know it never say that all is said. */
  async #stream(floor?: string): Promise<State<T>> {
    const timeoutSeconds = this.#timeoutSeconds();
    const stream = await this.#source.watch({
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      resourceVersion: floor,
      allowWatchBookmarks: true,
      timeoutSeconds,
    }, { total: timeoutSeconds * 1000 + QUIET, quiet: QUIET });
    try {
      const objects = new Map<string, CachedObject<T>>();
      for await (const frame of stream) {
        if (frame.type === "applied") objects.set(frame.object.key, frame.object);
        else if (frame.type === "deleted") objects.delete(frame.object.key);
        else if (frame.initialEventsEnd) {
          stream.settle();
          return { objects: [...objects.values()], resourceVersion: frame.resourceVersion, stream };
        }
      }
      throw new Error("Cannot watch: the stream must not end before its initial events do");
    } catch (error) {
      await stream[Symbol.asyncDispose]();
      throw error;
    }
  }
}
