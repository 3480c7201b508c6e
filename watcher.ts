/**
 * Follows one kind by list and watch, as an iterator that never ends and never lies.
 *
 * ```ts
 * import { Client, watch } from "@tend/operator";
 * import { ConfigMap } from "@tend/operator/kinds";
 *
 * async function follow(client: Client, signal: AbortSignal): Promise<void> {
 *   for await (const event of watch(client.api(ConfigMap), { namespace: "default", signal })) {
 *     if (event.type === "restarted") console.log("all there is:", event.objects.length);
 *     else if (event.type !== "bookmark") console.log(event.type, event.object.metadata.name);
 *   }
 * }
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { CachedObject } from "./_cached_object.ts";
import type { Decoder } from "./_decode.ts";
import { type Initial, InitialState, isStale, isTooLarge } from "./_initial_state.ts";
import { Problems } from "./_watch_problems.ts";
import { Source, type WatchStream } from "./_watch_source.ts";
import { Backoff } from "./backoff.ts";
import type { Api } from "./client.ts";
import { after, delay } from "./delay.ts";
import { ApiError, isApiError, isNotFound, TransportError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { compareVersions, type KubernetesObject } from "./resource.ts";

export { slim } from "./_decode.ts";
export type { Initial };

/** What {@linkcode watch} yields. */
export type WatcherEvent<T> =
  /** All there is: what is not among the objects does not exist. First, and again whenever something may have been missed. */
  | { readonly type: "restarted"; readonly objects: T[]; readonly resourceVersion: string }
  /** An object was created or changed. The same version may come twice. */
  | { readonly type: "applied"; readonly object: T }
  /** An object was deleted, or left the selection; its last state. */
  | { readonly type: "deleted"; readonly object: T }
  /** Everything up to the resource version has been said. */
  | { readonly type: "bookmark"; readonly resourceVersion: string };

/** Options of {@linkcode watch}. */
export interface WatcherOptions<T> {
  /** Ends the iterator, which returns; the only thing that does. */
  readonly signal: AbortSignal;
  /** The namespace to look in. @default {all namespaces} */
  readonly namespace?: string | undefined;
  /** Selects by labels, on the server. @default {everything} */
  readonly labelSelector?: string | undefined;
  /** Selects by fields, on the server. @default {everything} */
  readonly fieldSelector?: string | undefined;
  /** Makes of each object what is yielded, while the list is still arriving. @default {slim} */
  readonly transform?: ((object: T) => T) | undefined;
  /** Asks the server for nothing but `metadata`. @default {false} */
  readonly metadataOnly?: boolean | undefined;
  /**
   * The way to the initial state: one consistent list, pages of 500, or a streaming list. What the server refuses gives
   * way to the next of stream, list, pages.
   *
   * @default {"list"}
   */
  readonly initial?: Initial | undefined;
  /**
   * Called with an error when the watch gets nowhere, once for each cause, and with nothing when it is well again.
   *
   * A refusal, such as a missing permission or kind, is reported at once; what usually passes, such as a lost connection,
   * after three failures in a row.
   */
  readonly onProblem?: ((error: Error | undefined) => void) | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the logger of the category "tend", "watcher"} */
  readonly log?: Logger | undefined;
}

/** A watch that lasted so long, in ms, is well: the back-off starts afresh. */
const HEALTHY = 10_000;
/** How long, in ms, a watch may outlive the `timeoutSeconds` that it asked for. */
const SLACK = 30_000;
/** After so long, in ms, without one event or bookmark, the silence is no longer believed. */
const SILENCE = 3_600_000;
/** A resource version from which so many watches in a row bring nothing is given up. */
const FRUITLESS = 4;

/**
 * Lists, then watches, for ever.
 *
 * Guarantees:
 * - A watch goes on where the last one ended: bookmarks move that point, so a quiet kind is not listed again.
 * - What may have been missed is made good by a new list: after 410 in any shape; after four watches in a row from one
 *   resource version that failed or ended at once; at the end of a watch one of whose lines could not be read; at a bookmark
 *   from before what was seen, and after an hour without a single event or bookmark, which is how a watch looks whose server
 *   was restored from a backup.
 * - A new list is asked to be not older than what was seen, so that a lagging replica cannot take the iterator back in
 *   time. When the server does not have that version it is asked for its most recent state, which then counts.
 * - A stream that falls silent is cut 30 s after it should have ended by itself, which is 5 to 10 minutes after its start.
 * - Failures are retried after 0.8 s, doubling to 30 s, each with up to as much again at random, and not before the
 *   server's `Retry-After`. A watch of 10 s starts that afresh.
 *
 * Caveats: the same version of an object may come twice; only what happens between two lists is seen, not each version.
 *
 * RBAC: `list` and `watch` on the resource.
 *
 * @throws {TypeError} If an option is not valid
 */
export function watch<T extends KubernetesObject>(
  api: Api<T>,
  options: WatcherOptions<T>,
): AsyncGenerator<WatcherEvent<T>, void, void> {
  return parsed(new Watcher(api, options).run());
}

/** The same for a cache: the objects are parsed only when they are read; `decoder` makes them. */
export function watchCached<T extends KubernetesObject>(
  api: Api<T>,
  options: WatcherOptions<T> & { readonly decoder: Decoder<T> },
): AsyncGenerator<WatcherEvent<CachedObject<T>>, void, void> {
  return new Watcher(api, options).run();
}

async function* parsed<T extends KubernetesObject>(
  events: AsyncGenerator<WatcherEvent<CachedObject<T>>, void, void>,
): AsyncGenerator<WatcherEvent<T>, void, void> {
  for await (const event of events) {
    if (event.type === "bookmark") yield event;
    else if (event.type === "restarted") yield { ...event, objects: event.objects.map((object) => object.take()) };
    else yield { ...event, object: event.object.take() };
  }
}

class Watcher<T extends KubernetesObject> {
  readonly #source: Source<T>;
  readonly #initial: InitialState<T>;
  readonly #backoff: Backoff;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #log: Logger;
  readonly #problems: Problems;
  readonly #id: string;

  /** Where the next watch goes on; nothing when all objects are to be listed first. */
  #version: string | undefined;
  /** The newest version seen: the next list must not be older. */
  #seen: string | undefined;
  /** Watches in a row from this version that were accepted or refused for no good reason, and brought nothing. */
  #fruitless = 0;
  /** True after a watch from a version that is too old. */
  #stale = false;
  /** When the server last said anything. */
  #heard = 0;

  constructor(api: Api<T>, options: WatcherOptions<T> & { readonly decoder?: Decoder<T> }) {
    const { signal, now = () => performance.now(), random = Math.random } = options;
    this.#signal = signal;
    this.#now = now;
    this.#random = random;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
    this.#source = new Source(api, { ...options, now, log: this.#log });
    this.#initial = new InitialState(this.#source, {
      initial: options.initial,
      timeoutSeconds: () => this.#timeoutSeconds(),
      random,
      log: this.#log,
    });
    this.#backoff = new Backoff({ random });
    this.#problems = new Problems(api.resource, { ...options, log: this.#log });
    this.#id = api.resource.id;
  }

  /** Random, so that many watches do not end in step. */
  #timeoutSeconds(): number {
    return 300 + Math.floor(300 * this.#random());
  }

  async *run(): AsyncGenerator<WatcherEvent<CachedObject<T>>, void, void> {
    while (!this.#signal.aborted) {
      let stream: WatchStream<T> | undefined;
      let cancel: (() => void) | undefined;
      let opened = 0;
      let fruits = 0;
      let failure: unknown;
      try {
        if (this.#version === undefined) {
          const state = await this.#initial.load(this.#seen);
          stream = state.stream;
          this.#moveTo(state.resourceVersion);
          this.#source.missed = false;
          yield { type: "restarted", objects: state.objects, resourceVersion: state.resourceVersion };
        }
        stream ??= await this.#open();
        opened = this.#now();
        cancel = after(HEALTHY, () => this.#well());
        this.#problems.accepted();
        for await (const frame of stream) {
          fruits++;
          if (frame.type === "bookmark") {
            if (this.#isBehind(frame.resourceVersion)) break;
            this.#moveTo(frame.resourceVersion);
            yield { type: "bookmark", resourceVersion: frame.resourceVersion };
          } else {
            this.#moveTo(frame.object.resourceVersion);
            yield frame;
          }
        }
      } catch (error) {
        failure = error;
      } finally {
        cancel?.();
        await stream?.[Symbol.asyncDispose]();
      }
      if (this.#signal.aborted) return;
      const lasted = stream !== undefined && this.#now() - opened >= HEALTHY;
      const pause = this.#next(failure, lasted, stream !== undefined, fruits);
      if (pause > 0) await delay(pause, this.#signal).catch(() => {});
    }
  }

  async #open(): Promise<WatchStream<T>> {
    const timeoutSeconds = this.#timeoutSeconds();
    return await this.#source.watch(
      { resourceVersion: this.#version, allowWatchBookmarks: true, timeoutSeconds },
      { total: timeoutSeconds * 1000 + SLACK },
    );
  }

  #moveTo(version: string): void {
    this.#version = this.#seen = version;
    this.#fruitless = 0;
    this.#heard = this.#now();
  }

  /** True for a version from before where the watch began: the server was restored, and what it did since then is unseen. */
  #isBehind(version: string): boolean {
    if (this.#version === undefined || compareVersions(version, this.#version) >= 0) return false;
    this.#log.warn("The server has gone back behind what was seen: listing anew", { resource: this.#id });
    return this.#source.missed = true;
  }

  #well(): void {
    this.#backoff.reset();
    this.#problems.well();
  }

  /** Takes in how a round ended and answers with the pause before the next, in ms. */
  #next(failure: unknown, lasted: boolean, accepted: boolean, fruits: number): number {
    const stale = isStale(failure);
    const again = stale && this.#stale;
    this.#stale = stale;
    const ended = failure === undefined || (lasted && failure instanceof TransportError && failure.timedOut);
    if (failure !== undefined && ended) {
      this.#log.warn("A watch fell silent: watching anew", { resource: this.#id, error: failure });
    }
    if (stale) {
      this.#relist();
      if (isTooLarge(failure)) this.#seen = undefined;
    } else if (isNotFound(failure)) {
      // The kind is gone: when it returns its history is another.
      this.#relist();
      this.#seen = undefined;
    } else if (this.#source.missed || (lasted && this.#now() - this.#heard >= SILENCE)) {
      this.#relist();
    } else if (fruits === 0 && !lasted && this.#version !== undefined && isFruitless(failure, accepted)) {
      if (++this.#fruitless >= FRUITLESS) this.#relist();
    }
    if (ended && lasted) return 0;
    const pause = this.#backoff.next();
    // A version that is too old, as after a restart of the server, is made good by a list, and no trouble but in a row.
    if (stale && (lasted || !again)) return 0;
    const { verb } = this.#source;
    this.#problems.failed(failure ?? new Error("the server ended the watch at once"), {
      verb,
      accepted,
      failures: this.#backoff.failures,
    });
    const retryAfter = isApiError(failure) ? failure.retryAfter ?? 0 : 0;
    return Math.max(pause, retryAfter * (1 + 0.1 * this.#random()));
  }

  #relist(): void {
    this.#version = undefined;
    this.#fruitless = 0;
  }
}

/** True if trying again from the same version may go wrong for ever. */
function isFruitless(failure: unknown, accepted: boolean): boolean {
  if (failure instanceof ApiError) return ![401, 403, 429, 503].includes(failure.code);
  return accepted;
}
