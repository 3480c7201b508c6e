/**
 * Runs one controller: turns the changes that its caches see into a queue, and the queue into reconciles.
 *
 * ```ts
 * import type { Controller, KubernetesObject } from "@tend/operator";
 * import { ControllerRunner, type RunnerEnvironment, type Spell } from "./runner.ts";
 *
 * type Described = Controller<KubernetesObject>;
 * export function work(controller: Described, environment: RunnerEnvironment, spell: Spell): Promise<boolean> {
 *   return new ControllerRunner(controller, environment).work(spell);
 * }
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { type CacheReader, type ControllerConfig, type Source, sourceNamespaces } from "./_controller_config.ts";
import type { CachedObject } from "./_cached_object.ts";
import type { ChildClaims } from "./_owned_child.ts";
import { goneObjects } from "./_gone_objects.ts";
import { UnderWay } from "./_under_way.ts";
import { type WatchedKind, WatchedKinds } from "./_watched_kinds.ts";
import type { Client } from "./client.ts";
import { OWNER_INDEX } from "./context.ts";
import { configOf, type Controller, namespacesOf } from "./controller.ts";
import { after } from "./delay.ts";
import type { EventRecorder } from "./events.ts";
import { hasFinalizer } from "./finalizer.ts";
import { type CacheEvent, type Informer, inside } from "./informer.ts";
import type { Informers } from "./informers.ts";
import type { Logger } from "./logger.ts";
import { LoopDetector } from "./loops.ts";
import { WriteMemo } from "./memo.ts";
import type { ControllerMetrics, Metrics } from "./metrics.ts";
import { type QueueMetrics, WorkQueue } from "./queue.ts";
import { type KeyNote, Reconciler } from "./reconciler.ts";
import { type KubernetesObject, type ObjectRef, type Resource, toKey } from "./resource.ts";
import { changesAnything, changesDesired, controllerUid, mapped, ownerKey } from "./triggers.ts";

/** How long reconciles that were aborted are still waited for, in ms. */
const ABORT_GRACE = 1000;

/** What a runner shares with the others of its operator. */
export interface RunnerEnvironment {
  /** The operator's name. */
  readonly operator: string;
  /** The caches. */
  readonly informers: Informers;
  /** Which owners are applying which children now. */
  readonly claims: ChildClaims;
  /** The metrics. */
  readonly metrics: Metrics;
  /** Namespaces for controllers that have none of their own. */
  readonly namespaces?: readonly string[] | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** One spell of work: as long as the process leads, or runs. */
export interface Spell {
  /** The client of the spell; it refuses requests once the leadership is lost. */
  readonly client: Client;
  /** True for a term of leadership: another replica may have worked before. */
  readonly elected: boolean;
  /** Records events. */
  readonly recorder: Pick<EventRecorder, "record">;
  /** When aborted no further key is started. */
  readonly stop: AbortSignal;
  /** When aborted running reconciles are aborted too. */
  readonly abort: AbortSignal;
}

/** What is kept of objects for one spell. */
interface Memory {
  readonly queue: WorkQueue;
  readonly memo: WriteMemo;
  readonly loops: LoopDetector;
  readonly notes: Map<string, KeyNote>;
}

/** Runs a controller, spell after spell, over caches that stay warm between them. */
export class ControllerRunner<T extends KubernetesObject> {
  readonly #controller: Controller<T>;
  readonly #config: ControllerConfig<T>;
  readonly #environment: RunnerEnvironment;
  readonly #log: Logger;
  readonly #primary: Informer<T>;
  readonly #watched: readonly WatchedKind[];
  readonly #kinds: WatchedKinds;
  readonly #underWay: UnderWay = new UnderWay();
  readonly #metrics: { readonly controller: ControllerMetrics; readonly queue: QueueMetrics };

  /** Asks for the caches that the controller needs. */
  constructor(controller: Controller<T>, environment: RunnerEnvironment) {
    this.#controller = controller;
    this.#config = configOf(controller);
    this.#environment = environment;
    this.#log = getLogger(["tend", "controller", controller.name]);
    const { informers, metrics } = environment;
    const { labelSelector, fieldSelector, transform, keep, sources, concurrency } = this.#config;
    // At 0 from the start, also on a standby.
    this.#metrics = {
      controller: metrics.controller(controller.name, concurrency),
      queue: metrics.queue(controller.name),
    };
    const own = controller.resource as Resource;
    const namespaces = namespacesOf(controller, environment.namespaces);
    this.#primary = informers.for(controller.resource, { namespaces, labelSelector, fieldSelector, transform, keep });
    this.#watched = [
      {
        resource: own,
        informer: this.#primary as unknown as Informer<KubernetesObject>,
        metadataOnly: false,
        owned: false,
        namespaces,
        selective: Boolean(labelSelector || fieldSelector),
      },
      ...sources.map((source) => {
        const { resource, labelSelector, fieldSelector, transform, keep, metadataOnly = false } = source;
        const where = sourceNamespaces(source, namespaces);
        const selection = { namespaces: where, labelSelector, fieldSelector, transform, keep, metadataOnly };
        const informer = informers.for(resource, selection);
        const owned = source.map === undefined;
        if (owned) informer.addIndex(OWNER_INDEX, controllerUid);
        const selective = Boolean(labelSelector || fieldSelector);
        return { resource, informer, metadataOnly, owned, namespaces: where, selective };
      }),
    ];
    this.#kinds = new WatchedKinds(this.#watched);
  }

  /** The caches that the controller works from. */
  get informers(): readonly Informer<KubernetesObject>[] {
    return this.#watched.map(({ informer }) => informer);
  }

  /**
   * Works until `stop` aborts and what runs then has ended, or `abort` has aborted it.
   *
   * @returns False if a reconcile ignored its abort and may still be running
   */
  async work(spell: Spell): Promise<boolean> {
    const { now, operator, informers, claims } = this.#environment;
    let gone: Map<string, string>;
    try {
      gone = await this.#sync(spell);
    } catch (error) {
      if (spell.stop.aborted) return this.#underWay.size === 0;
      throw error;
    }
    using queue = new WorkQueue({ now, metrics: this.#metrics.queue });
    const memory: Memory = { queue, memo: new WriteMemo(), loops: new LoopDetector(), notes: new Map() };
    for (const [key, uid] of gone) memory.notes.set(key, { gone: uid });
    const client = spell.client.with({
      fieldManager: operator,
      onWritten: (resource, object) => {
        // What the last finalizer's removal answers with is gone already.
        const { deletionTimestamp, finalizers } = object.metadata;
        if (!deletionTimestamp || finalizers?.length) informers.accept(resource, object);
      },
    });
    const reconciler = new Reconciler(this.#controller, {
      ...memory,
      operator,
      kinds: this.#kinds,
      recorder: spell.recorder,
      claims,
      client,
      cache: this.#primary,
      metrics: this.#metrics.controller,
      underWay: this.#underWay,
      now,
      log: this.#log,
    });
    const subscriptions = this.#subscribe(memory);
    const abort = (): void => reconciler.abort(spell.abort.reason);
    spell.abort.addEventListener("abort", abort, { once: true });
    const cancelResync = this.#resync(queue);
    try {
      const workers = Array.from(
        { length: this.#config.concurrency },
        () => this.#worker(queue, reconciler, spell.stop),
      );
      if (!await this.#finish(Promise.all(workers), spell.abort)) return false;
      // What the workers gave up waiting for was aborted long ago, or is of an earlier spell.
      return this.#underWay.size === 0 || await within(ABORT_GRACE, this.#underWay.ended());
    } finally {
      cancelResync();
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      spell.abort.removeEventListener("abort", abort);
      reconciler.abort(new DOMException("The controller stopped.", "AbortError"));
    }
  }

  /** Waits for the caches; answers with what is gone, though a warm one still has it. */
  async #sync({ client, elected, stop }: Spell): Promise<Map<string, string>> {
    const warm = this.#primary.synced;
    await Promise.all(this.informers.map((informer) => informer.whenSynced(stop)));
    // What has just been listed is young enough; and without a finalizer nothing was cleaned up.
    if (!elected || !warm || !this.#config.finalizer) return new Map();
    const { now, random } = this.#environment;
    const { namespaces } = this.#watched[0]!;
    return await goneObjects(client, this.#primary, { signal: stop, namespaces, now, random, log: this.#log });
  }

  async #worker(queue: WorkQueue, reconciler: Reconciler<T>, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      let key: string;
      try {
        key = await queue.next(stop);
      } catch (error) {
        if (stop.aborted) return;
        throw error;
      }
      await reconciler.run(key);
    }
  }

  /** Waits for the workers; once aborted, only a little longer. */
  async #finish(workers: Promise<unknown>, abort: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    let cancel = (): void => {};
    const expired = new Promise<boolean>((resolve) => {
      const start = (): void => {
        cancel = after(ABORT_GRACE, () => resolve(false));
      };
      if (abort.aborted) start();
      else abort.addEventListener("abort", start, { once: true, signal: over.signal });
    });
    try {
      return await Promise.race([workers.then(() => true), expired]);
    } finally {
      over.abort();
      cancel();
    }
  }

  #subscribe(memory: Memory): Disposable[] {
    const [own, ...others] = this.#watched as [WatchedKind, ...WatchedKind[]];
    const { sources } = this.#config;
    return [
      // The children first, so that an owner's first reconcile finds them.
      ...others.map((kind, index) => inside(kind.informer).observe(this.#onOther(kind, sources[index]!, memory))),
      inside(this.#primary).observe((event) => this.#onOwn(event, own.resource, memory)),
    ];
  }

  #onOwn(event: CacheEvent<T>, resource: Resource, { queue, memo, loops, notes }: Memory): void {
    const { key, object, previous, initial } = event;
    if (!object) {
      queue.remove(key);
      memo.forget(`${resource.id}/status ${key}`);
      loops.forget(key);
      notes.delete(key);
    } else if ((!previous || this.#concerns(object, previous)) && this.#wants(object, previous)) {
      queue.add(key, { priority: initial ? "initial" : "live" });
    }
  }

  /** True if an update may matter to the controller. */
  #concerns(object: CachedObject<T>, previous: CachedObject<T>): boolean {
    if (this.#config.onStatus) return changesAnything(previous.read(), object.read());
    return previous.generation !== object.generation || changesDesired(previous.read(), object.read());
  }

  /** True if the controller's own predicates accept a change. Without any, the object need not be parsed to know. */
  #wants(cached: CachedObject<T>, before: CachedObject<T> | undefined): boolean {
    const { predicates, finalizer } = this.#config;
    if (predicates.length === 0) return true;
    const object = cached.read(), previous = before?.read();
    // The first reconcile comes of the finalizer's being added, of which no predicate can know.
    const held = previous && finalizer &&
      hasFinalizer(previous, finalizer.name) !== hasFinalizer(object, finalizer.name);
    return held || object.metadata.deletionTimestamp !== undefined ||
      predicates.every((accepts) => this.#guard("filter", true, () => accepts(object, previous)));
  }

  #onOther(
    kind: WatchedKind,
    source: Source,
    { queue, memo }: Memory,
  ): (event: CacheEvent<KubernetesObject>) => void {
    const { resource } = this.#controller;
    const reader = this.#reader();
    const keys = (object: KubernetesObject): readonly (string | undefined)[] => {
      const { map } = source;
      if (!map) return [ownerKey(resource as Resource, object.metadata)];
      return this.#guard(
        "watches",
        [],
        () => mapped(map(object, reader), object).map((target) => this.#key(target, object)),
      );
    };
    return ({ key: child, object: cached, previous: before, initial }) => {
      if (!cached) {
        memo.forget(`${kind.resource.id} ${child}`);
        memo.forget(`${kind.resource.id}/status ${child}`);
      }
      const object = cached?.read(), previous = before?.read();
      // Of metadata alone the version is all that tells of a change of the rest.
      if (object && previous && !kind.metadataOnly && !changesAnything(previous, object)) return;
      const concerned = new Set([previous, object].flatMap((one) => one ? keys(one) : []));
      for (const key of concerned) {
        if (key !== undefined) queue.add(key, { priority: initial ? "initial" : "live" });
      }
    };
  }

  /** The key of what an object was mapped to: none is in a namespace if the kind is not, nor outside of any if it is. */
  #key({ name, namespace }: ObjectRef, { metadata }: KubernetesObject): string {
    return toKey({
      name,
      namespace: this.#controller.resource.namespaced ? namespace ?? metadata.namespace : undefined,
    });
  }

  /** Calls a user's function; what it throws is logged and answered with the fallback. */
  #guard<R>(what: string, fallback: R, call: () => R): R {
    const fail = (error: unknown): R => {
      this.#log.error("A function given to the controller threw: {function}", { function: what, error });
      return fallback;
    };
    try {
      const answer: unknown = call();
      if (!(answer instanceof Promise)) return answer as R;
      answer.catch(() => {});
      return fail(new TypeError(`Cannot go by the answer of '${what}': it must not be a promise`));
    } catch (error) {
      return fail(error);
    }
  }

  #reader(): CacheReader {
    const informer = <R extends KubernetesObject>(resource: Resource<R>): Informer<R> => {
      const [found] = this.#kinds.caches(resource);
      if (!found) {
        throw new TypeError(
          `Cannot read ${resource.kind} from the cache of controller "${this.#controller.name}": it does not watch that kind`,
        );
      }
      return found.informer as unknown as Informer<R>;
    };
    return {
      get: (resource, ref) => informer(resource).get(toKey(ref)),
      list: (resource, namespace) => informer(resource).list(namespace),
    };
  }

  /** Adds every key again, each interval, give or take a tenth; answers with how to end that. */
  #resync(queue: WorkQueue): () => void {
    const interval = this.#config.resync;
    if (interval === undefined) return () => {};
    let cancel = (): void => {};
    const arm = (): void => {
      cancel = after(interval * (0.9 + 0.2 * this.#environment.random()), () => {
        for (const key of this.#primary.keys()) queue.add(key, { priority: "initial" });
        arm();
      });
    };
    arm();
    return () => cancel();
  }
}

/** True if the promise resolves within so many ms. */
async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const cancel = after(ms, () => resolve(false));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    cancel();
  }
}
