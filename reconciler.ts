/**
 * Runs single reconciles: finalizer, cleanup or reconcile, then what its outcome asks of the queue, metrics and log.
 *
 * ```ts
 * import type { KubernetesObject } from "@tend/operator";
 * import type { Reconciler } from "./reconciler.ts";
 *
 * export async function reconcileOne(reconciler: Reconciler<KubernetesObject>): Promise<void> {
 *   await reconciler.run("shop/web");
 * }
 * ```
 *
 * @module
 */
import { RunAbort } from "./_run_abort.ts";
import type { UnderWay } from "./_under_way.ts";
import { Action } from "./action.ts";
import type { Client } from "./client.ts";
import { type ContextEnvironment, ReconcileContext } from "./context.ts";
import { configOf, type Controller, type Reconcile } from "./controller.ts";
import { after } from "./delay.ts";
import { messageOf, ObjectGoneError } from "./errors.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { type Informer, type Inside, inside } from "./informer.ts";
import type { Logger } from "./logger.ts";
import type { LoopDetector } from "./loops.ts";
import type { ControllerMetrics } from "./metrics.ts";
import type { WorkQueue } from "./queue.ts";
import { keyOf, type KubernetesObject, type Resource } from "./resource.ts";
import { planRetry } from "./retry.ts";

/** What a reconciler works with, besides its contexts' environment. */
export interface ReconcilerEnvironment<T extends KubernetesObject> extends ContextEnvironment {
  readonly client: Client;
  readonly cache: Informer<T>;
  readonly metrics: ControllerMetrics;
  readonly queue: WorkQueue;
  readonly underWay: UnderWay;
  readonly loops: LoopDetector;
  /** What is known of keys until their next run, or until their objects are gone. */
  readonly notes: Map<string, KeyNote>;
  readonly now: () => number;
  readonly log: Logger;
}

/** What is known of a key. */
export interface KeyNote {
  /** The uid of its object, once the server has said that it is gone and the cache has yet to learn of it. */
  readonly gone?: string;
  /** When it is to run because its last run asked for that. */
  readonly asked?: number;
}

/** Runs the reconciles of one controller. */
export class Reconciler<T extends KubernetesObject> {
  readonly #controller: Controller<T>;
  readonly #environment: ReconcilerEnvironment<T>;
  readonly #cache: Inside<T>;
  readonly #running: Set<RunAbort> = new Set();
  /** Keys that wait for a run of an earlier spell. */
  readonly #postponed: Set<string> = new Set();
  #aborted: unknown;
  #runs = 0;

  constructor(controller: Controller<T>, environment: ReconcilerEnvironment<T>) {
    this.#controller = controller;
    this.#environment = environment;
    this.#cache = inside(environment.cache);
  }

  /** Aborts what runs, and whatever might still start. */
  abort(reason: unknown): void {
    this.#aborted ??= reason;
    for (const run of this.#running) run.abort(reason);
  }

  /** Reconciles the object of a key that the queue handed out, and gives the key back. Never rejects. */
  async run(key: string): Promise<void> {
    const { queue, metrics, now } = this.#environment;
    const object = this.#cache.get(key)?.read();
    if (!object || this.#aborted !== undefined) {
      queue.forget(key);
      queue.done(key);
      return;
    }
    if (this.#postpone(key) || this.#rest(key, object)) return;
    const abort = new RunAbort();
    this.#running.add(abort);
    metrics.active(1);
    const started = now();
    try {
      const action = await this.#limited(key, object, abort);
      this.#succeeded(key, action, (now() - started) / 1000);
    } catch (thrown) {
      this.#failed(key, object, approachable(thrown), (now() - started) / 1000);
    }
    metrics.active(-1);
    this.#running.delete(abort);
    queue.done(key);
  }

  /** Gives a key back that has nothing to do, or is to wait. */
  #rest(key: string, { metadata: { uid } }: T): boolean {
    const { queue, notes, loops, now } = this.#environment;
    const { gone, asked } = notes.get(key) ?? {};
    const isGone = gone !== undefined && gone === uid;
    const isDue = asked !== undefined && now() >= asked;
    const pause = isGone || isDue ? 0 : loops.pause(key, now);
    if (!isGone && pause === 0) {
      notes.delete(key);
      return false;
    }
    queue.done(key);
    if (pause > 0) queue.add(key, { delay: asked === undefined ? pause : Math.min(pause, asked - now()) });
    return true;
  }

  /** Gives a key back whose run in an earlier spell ignored its abort and goes on; it comes again when that has ended. */
  #postpone(key: string): boolean {
    const { queue, underWay, log } = this.#environment;
    const earlier = underWay.earlier(key, this);
    if (!earlier) return false;
    queue.done(key);
    if (this.#postponed.has(key)) return true;
    this.#postponed.add(key);
    log.warn("Reconcile of {key} has to wait: an earlier one ignores its abort", { key });
    void earlier.then(() => {
      this.#postponed.delete(key);
      queue.add(key);
    });
    return true;
  }

  /** One run under the controller's time limit; when that has passed it is not waited for. */
  async #limited(key: string, object: T, abort: RunAbort): Promise<Action | undefined> {
    const { timeout } = configOf(this.#controller);
    const run = this.#step(key, object, abort);
    const tracked = this.#environment.underWay.track(key, this, run);
    if (timeout === undefined) return await run;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = after(timeout, () => {
      const error = new Error(
        `Cannot finish the reconcile: it took longer than the controller's 'timeout' of ${timeout} ms`,
      );
      tracked.abandon();
      abort.abort(error);
      reject(error);
    });
    try {
      return await Promise.race([run, late]);
    } finally {
      cancel();
    }
  }

  async #step(key: string, object: T, abort: RunAbort): Promise<Action | undefined> {
    const { log } = this.#environment;
    const { namespace, name } = object.metadata;
    const run = ++this.#runs;
    let ended = false;
    const client = (): Client =>
      this.#environment.client.with({
        signal: abort.signal,
        // Whatever the run leaves behind may not write any more.
        guard: () => {
          if (ended) throw new DOMException("The reconcile has ended.", "AbortError");
        },
        onWritten: (resource, written) => this.#noteWrite(key, run, resource, written),
      });
    const ctx = new ReconcileContext(this.#environment, {
      client,
      abort,
      object,
      log: () => log.with({ namespace, name }),
    });
    try {
      return await this.#stepWith(object, ctx);
    } finally {
      ended = true;
      const calls = ctx.end();
      if (calls > 0 && !abort.aborted) {
        log.warn("Reconcile of {key} did not await {calls} calls of its context: they may be lost", { key, calls });
      }
    }
  }

  async #stepWith(object: T, ctx: ReconcileContext): Promise<Action | undefined> {
    const { reconcile, finalizer } = configOf(this.#controller);
    const api = () => ctx.client.api(this.#controller.resource);
    if (object.metadata.deletionTimestamp !== undefined) {
      if (!finalizer || !hasFinalizer(object, finalizer.name)) return undefined;
      const action = await call(finalizer.cleanup, object, ctx);
      await ctx.settled();
      if (action?.after === undefined) await removeFinalizer(api(), object, finalizer.name);
      return action;
    }
    if (finalizer && !hasFinalizer(object, finalizer.name)) {
      // The change that this makes brings the reconcile.
      await addFinalizer(api(), object, finalizer.name);
      return undefined;
    }
    return await call(reconcile!, object, ctx);
  }

  /** Says so, once a minute, when a key goes round by what it writes. */
  #noteWrite(key: string, run: number, resource: Resource, written: KubernetesObject): void {
    const { loops, now, log } = this.#environment;
    const loop = loops.wrote(key, run, `${resource.id} ${keyOf(written)}`, written, now());
    if (!loop) return;
    const { target, runs, fields } = loop;
    if (fields.length > 0) {
      log.warn("{runs} reconciles of {key} within a minute each changed {target}, at {fields}", {
        ...{ key, runs, target, fields },
      });
    } else {
      log.warn("{runs} reconciles of {key} within a minute wrote the same to {target}: somebody else changes it back", {
        ...{ key, runs, target },
      });
    }
  }

  #succeeded(key: string, action: Action | undefined, seconds: number): void {
    const { queue, metrics, notes, now } = this.#environment;
    queue.forget(key);
    if (action?.after === undefined) {
      metrics.reconciled("success", seconds);
    } else {
      metrics.reconciled("requeue_after", seconds);
      if (this.#cache.get(key)) notes.set(key, { asked: now() + action.after });
      queue.add(key, { delay: action.after });
    }
  }

  #failed(key: string, object: T, error: unknown, seconds: number): void {
    const { queue, metrics, notes, log } = this.#environment;
    const { uid } = object.metadata;
    // Deleted, or another object by now: how the run ended concerns nobody any more.
    const gone = this.#cache.get(key)?.uid !== uid;
    if (gone || this.#aborted !== undefined) {
      metrics.reconciled("success", seconds);
      log.debug("Reconcile of {key} was overtaken: {reason}", {
        key,
        uid,
        error,
        reason: gone ? "deleted" : "aborted",
      });
      return;
    }
    const failures = queue.fail(key);
    const { delay, kind } = planRetry(error, configOf(this.#controller).firstDelay, failures);
    const properties = { key, uid, error, failures, retryIn: delay };
    if (kind === "error" || kind === "terminal") {
      metrics.reconciled("error", seconds, { terminal: kind === "terminal" });
      log.error("Reconcile of {key} failed", properties);
    } else {
      metrics.reconciled(kind === "retry" ? "requeue" : "success", seconds);
      if (kind === "nothing") {
        queue.forget(key);
        // The watch has yet to tell: until then changes of its children are no reason to reconcile it.
        if (error instanceof ObjectGoneError && error.uid === uid) notes.set(key, { gone: uid });
      }
      // A conflict or a vanished object is no fault; said once, not at each try.
      if (failures === 1) log.debug("Reconcile of {key} met a newer state", properties);
    }
    if (delay !== undefined) queue.add(key, { delay });
  }
}

/** What was thrown, which may be anything; an error in its place if the very look at it throws. */
function approachable(thrown: unknown): unknown {
  try {
    messageOf(thrown);
    return thrown;
  } catch {
    return new Error("Cannot tell what the reconcile threw: it cannot be made into text");
  }
}

/** Calls a user's function and makes sure of what it answers with. */
async function call<T extends KubernetesObject>(
  reconcile: Reconcile<T>,
  object: T,
  ctx: ReconcileContext,
): Promise<Action | undefined> {
  const answer = await reconcile(object, ctx);
  if (answer === undefined) return undefined;
  if (answer instanceof Action) return answer;
  throw new TypeError(
    `Cannot go on after the reconcile: it must answer with an Action or nothing: current value is ${
      Deno.inspect(answer)
    }`,
  );
}
