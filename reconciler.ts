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
import type { Logger } from "./logger.ts";
import { Action } from "./action.ts";
import type { Client } from "./client.ts";
import { type ContextEnvironment, ReconcileContext } from "./context.ts";
import type { Controller, Reconcile } from "./controller.ts";
import { after, race } from "./delay.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import type { Informer } from "./informer.ts";
import type { ControllerMetrics } from "./metrics.ts";
import type { WorkQueue } from "./queue.ts";
import type { KubernetesObject } from "./resource.ts";
import { planRetry } from "./retry.ts";

/** What a reconciler works with, besides its contexts' environment. */
export interface ReconcilerEnvironment<T extends KubernetesObject> extends ContextEnvironment {
  readonly client: Client;
  readonly cache: Informer<T>;
  readonly metrics: ControllerMetrics;
  readonly queue: WorkQueue;
  readonly now: () => number;
  readonly log: Logger;
}

/** Runs the reconciles of one controller. */
export class Reconciler<T extends KubernetesObject> {
  readonly #controller: Controller<T>;
  readonly #environment: ReconcilerEnvironment<T>;
  readonly #running: Set<AbortController> = new Set();
  #aborted: unknown;

  constructor(controller: Controller<T>, environment: ReconcilerEnvironment<T>) {
    this.#controller = controller;
    this.#environment = environment;
  }

  /** Aborts what runs, and whatever might still start. */
  abort(reason: unknown): void {
    this.#aborted ??= reason;
    for (const run of this.#running) run.abort(reason);
  }

  /** Reconciles the object of a key that the queue handed out, and gives the key back. Never rejects. */
  async run(key: string): Promise<void> {
    const { cache, queue, metrics, now } = this.#environment;
    const object = cache.get(key);
    if (!object || this.#aborted !== undefined) {
      queue.forget(key);
      queue.done(key);
      return;
    }
    const abort = new AbortController();
    this.#running.add(abort);
    metrics.active(1);
    const started = now();
    try {
      const action = await this.#limited(object, abort);
      this.#succeeded(key, action, (now() - started) / 1000);
    } catch (error) {
      this.#failed(key, object, error, (now() - started) / 1000);
    }
    metrics.active(-1);
    this.#running.delete(abort);
    // Whatever the run left behind may not write any more.
    abort.abort(new DOMException("The reconcile has ended.", "AbortError"));
    queue.done(key);
  }

  /** One run under the controller's time limit; once aborted it is not waited for. */
  async #limited(object: T, abort: AbortController): Promise<Action | undefined> {
    const { timeout } = this.#controller.config;
    const cancel = timeout === undefined ? () => {} : after(timeout, () => {
      const limit = `the controller's 'timeout' of ${timeout} ms`;
      abort.abort(new Error(`Cannot finish the reconcile: it took longer than ${limit}`));
    });
    try {
      const run = this.#step(object, abort.signal);
      return timeout === undefined ? await run : await race(run, abort.signal);
    } finally {
      cancel();
    }
  }

  async #step(object: T, signal: AbortSignal): Promise<Action | undefined> {
    const { reconcile, finalizer } = this.#controller.config;
    const { log } = this.#environment;
    const { namespace, name, deletionTimestamp } = object.metadata;
    const client = this.#environment.client.with({ signal });
    const api = client.api(this.#controller.resource);
    const ctx = new ReconcileContext(this.#environment, { client, signal, object, log: log.with({ namespace, name }) });

    if (deletionTimestamp !== undefined) {
      if (!finalizer || !hasFinalizer(object, finalizer.name)) return undefined;
      const action = await call(finalizer.cleanup, object, ctx);
      if (action?.after === undefined) await removeFinalizer(api, object, finalizer.name);
      return action;
    }
    if (finalizer && !hasFinalizer(object, finalizer.name)) {
      // The change that this makes brings the reconcile.
      await addFinalizer(api, object, finalizer.name);
      return undefined;
    }
    return await call(reconcile!, object, ctx);
  }

  #succeeded(key: string, action: Action | undefined, seconds: number): void {
    const { queue, metrics } = this.#environment;
    queue.forget(key);
    if (action?.after === undefined) {
      metrics.reconciled("success", seconds);
    } else {
      metrics.reconciled("requeue_after", seconds);
      queue.add(key, { delay: action.after });
    }
  }

  #failed(key: string, object: T, error: unknown, seconds: number): void {
    const { cache, queue, metrics, log } = this.#environment;
    const { uid } = object.metadata;
    // Deleted, or another object by now: how the run ended concerns nobody any more.
    const gone = cache.get(key)?.metadata.uid !== uid;
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
    const { delay, kind } = planRetry(error, this.#controller.config.firstDelay, failures);
    const properties = { key, uid, error, failures, retryIn: delay };
    if (kind === "error" || kind === "terminal") {
      metrics.reconciled("error", seconds, { terminal: kind === "terminal" });
      log.error("Reconcile of {key} failed", properties);
    } else {
      metrics.reconciled(kind === "retry" ? "requeue" : "success", seconds);
      // A conflict or a vanished object is no fault; said once, not at each try.
      if (failures === 1) log.debug("Reconcile of {key} met a newer state", properties);
    }
    if (delay !== undefined) queue.add(key, { delay });
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
