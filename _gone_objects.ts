/**
 * Finds out which objects of a warm cache are gone already, though its watch has not told of it yet.
 *
 * ```ts
 * import { goneObjects } from "./_gone_objects.ts";
 * import { type Informer, inside } from "./informer.ts";
 * import type { Client } from "./client.ts";
 *
 * export async function countGone(client: Client, cache: Informer, signal: AbortSignal): Promise<number> {
 *   return (await goneObjects(client, cache, { signal })).size;
 * }
 * ```
 *
 * A replica that becomes the leader may have been cut off for a while, and not know it: the leader before it may have cleaned
 * up after an object and let it go. To reconcile that once more would bring back, outside the cluster, what nobody ever cleans
 * up again. One list of metadata, of the most recent state, tells.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { Source } from "./_watch_source.ts";
import { Backoff } from "./backoff.ts";
import type { Client } from "./client.ts";
import { delay } from "./delay.ts";
import { isApiError } from "./errors.ts";
import { type Informer, inside } from "./informer.ts";
import type { Logger } from "./logger.ts";
import type { KubernetesObject } from "./resource.ts";

/** Options of {@linkcode goneObjects}. */
export interface GoneObjectsOptions {
  /** Ends the search. */
  readonly signal: AbortSignal;
  /** Only these namespaces. @default {all} */
  readonly namespaces?: readonly string[] | undefined;
  /** Monotonic milliseconds. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the category "tend", "informer"} */
  readonly log?: Logger | undefined;
}

/** How long a list may be silent, in ms. */
const QUIET = 60_000;
/** So many failures in a row are said aloud, once. */
const PERSISTENT = 3;

/**
 * Answers with the uids, by key, of what is cached and does not exist any more; asks until the server answers.
 *
 * RBAC: `list` on the kind.
 *
 * @throws The signal's reason, if it aborts first
 */
export async function goneObjects<T extends KubernetesObject>(
  client: Client,
  cache: Informer<T>,
  options: GoneObjectsOptions,
): Promise<Map<string, string>> {
  const { signal, namespaces = [undefined], now, random, log = getLogger(["tend", "informer"]) } = options;
  // Before the question: what comes later is not in the answer.
  const cached = new Map([...inside(cache).all()].map(({ uid, key }) => [uid, key]));
  if (cached.size === 0) return new Map();
  const backoff = new Backoff({ random });
  for (const namespace of namespaces) {
    const source = new Source(client.api(cache.resource), { namespace, metadataOnly: true, signal, now, log });
    while (true) {
      try {
        for (const uid of await uidsIn(source)) cached.delete(uid);
        break;
      } catch (error) {
        signal.throwIfAborted();
        const { kind } = cache.resource;
        const pause = Math.max(backoff.next(), isApiError(error) ? error.retryAfter ?? 0 : 0);
        // Nothing is reconciled meanwhile, though all else looks well.
        const level = backoff.failures === PERSISTENT ? "warn" : "debug";
        log[level]("The work waits: asking again what is left of {kind}", {
          kind,
          namespace,
          failures: backoff.failures,
          error,
        });
        await delay(pause, signal);
      }
    }
  }
  return new Map([...cached].map(([uid, key]) => [key, uid]));
}

/** The uids of all that there is, also where the server pages on its own. */
async function uidsIn<T extends KubernetesObject>(source: Source<T>): Promise<string[]> {
  const uids: string[] = [];
  let token: string | undefined;
  do {
    const page = await source.list({ continue: token }, { quiet: QUIET });
    for (const { uid } of page.objects) uids.push(uid);
    token = page.continue;
  } while (token !== undefined);
  return uids;
}
