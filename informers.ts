/**
 * Shares informers: who asks for the same objects of a kind gets the same cache and watch.
 *
 * ```ts
 * import { Client, Informers } from "@tend/operator";
 * import { ConfigMap } from "@tend/operator/kinds";
 *
 * async function run(client: Client, signal: AbortSignal): Promise<void> {
 *   const informers = new Informers(client);
 *   console.assert(informers.for(ConfigMap) === informers.for(ConfigMap));
 *   await informers.run(signal);
 * }
 * ```
 *
 * @module
 */
import { runOnce, type Runs } from "./_run_once.ts";
import type { Client } from "./client.ts";
import { aborted } from "./delay.ts";
import { Informer, type InformerOptions } from "./informer.ts";
import type { Logger } from "./logger.ts";
import type { KubernetesObject, Resource } from "./resource.ts";

/** Options of {@linkcode Informers}, for each of its informers. */
export interface InformersOptions {
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Where to log. @default {the logger of the category "tend", "informer"} */
  readonly log?: Logger | undefined;
}

/** What tells the shared informers apart. */
export type SharedInformerOptions<T> = Pick<
  InformerOptions<T>,
  "namespaces" | "labelSelector" | "fieldSelector" | "transform" | "metadataOnly" | "initial" | "keep"
>;

/** The informers of one operator. */
export class Informers {
  readonly #client: Client;
  readonly #options: InformersOptions;
  readonly #informers: Map<string, Informer> = new Map();
  /** Numbers of the transforms, as functions have no name to tell them apart by. */
  readonly #transforms: Map<unknown, number> = new Map();
  /** Starts an informer, while a run is on. */
  #start: ((informer: Informer) => void) | undefined;
  readonly #runs: Runs = {};

  /** Opens nothing. */
  constructor(client: Client, options: InformersOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Answers with the informer for these objects, shared by all who ask with the same resource, namespaces, selectors,
   * `metadataOnly`, `keep`, and the very same transform. While {@linkcode Informers.run} is on, a new one starts at once.
   *
   * @throws {TypeError} If a namespace is not a name, or there is none in the list
   * @throws {SyntaxError} If the label selector is not one
   */
  for<T extends KubernetesObject>(resource: Resource<T>, options: SharedInformerOptions<T> = {}): Informer<T> {
    const { namespaces, labelSelector = "", fieldSelector = "", transform, metadataOnly = false } = options;
    const { initial, keep } = options;
    const where = namespaces && resource.namespaced ? [...new Set(namespaces)].sort() : undefined;
    if (transform && !this.#transforms.has(transform)) this.#transforms.set(transform, this.#transforms.size);
    const key = JSON.stringify([
      ...[resource.id, resource.version, where, labelSelector, fieldSelector, metadataOnly, initial, keep],
      this.#transforms.get(transform),
    ]);
    let informer = this.#informers.get(key) as Informer<T> | undefined;
    if (!informer) {
      informer = new Informer(this.#client, resource, { ...options, ...this.#options, namespaces: where });
      this.#informers.set(key, informer as unknown as Informer);
      this.#start?.(informer as unknown as Informer);
    }
    return informer;
  }

  /** All that have been asked for. */
  all(): Informer[] {
    return [...this.#informers.values()];
  }

  /** Gives what a write returned to every informer of that kind; see {@linkcode Informer.accept}. */
  accept(resource: Resource, object: KubernetesObject): void {
    for (const informer of this.#informers.values()) {
      if (informer.resource.id === resource.id) informer.accept(object);
    }
  }

  /**
   * Runs those there are and those asked for later until the signal aborts, then resolves with nothing left running.
   *
   * A call while it runs joins that run, until its own signal aborts. It can be run again.
   */
  run(signal: AbortSignal): Promise<void> {
    return runOnce(this.#runs, signal, (signal) => this.#run(signal));
  }

  async #run(signal: AbortSignal): Promise<void> {
    const failure = new AbortController();
    const all = AbortSignal.any([signal, failure.signal]);
    const runs = new Set<Promise<void>>();
    this.#start = (informer) => {
      runs.add(informer.run(all).catch((error) => failure.abort(error)));
    };
    for (const informer of this.#informers.values()) this.#start(informer);
    await aborted(all);
    this.#start = undefined;
    await Promise.all(runs);
    if (failure.signal.aborted) throw failure.signal.reason;
  }

  /**
   * Resolves when all that have been asked for are synced, also those asked for meanwhile.
   *
   * @throws The signal's reason, if it aborts first
   */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    for (let waiting = this.#unsynced(); waiting.length > 0; waiting = this.#unsynced()) {
      await Promise.all(waiting.map((informer) => informer.whenSynced(signal)));
    }
  }

  #unsynced(): Informer[] {
    return this.all().filter((informer) => !informer.synced);
  }
}
