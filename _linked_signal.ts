/**
 * Links abort signals for the time of one request, without leaving listeners on those that live longer.
 *
 * ```ts
 * import { link } from "./_linked_signal.ts";
 *
 * const stop = new AbortController();
 * const linked = link([stop.signal]);
 * try {
 *   await fetch("data:,ok", { signal: linked.signal });
 * } finally {
 *   linked.unlink();
 * }
 * ```
 *
 * @module
 */

/** A signal that follows others until it is unlinked. */
export interface Linked {
  /** Aborts with the first of the others, for its reason. */
  readonly signal: AbortSignal;
  /** Aborts this signal alone. */
  abort(reason: unknown): void;
  /** Takes the listeners off the others. */
  unlink(): void;
}

/** Makes a signal that follows others. */
export function link(signals: readonly AbortSignal[]): Linked {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const unlink = (): void => {
    for (const remove of undo.splice(0)) remove();
  };
  for (const signal of signals) {
    if (signal.aborted) {
      unlink();
      controller.abort(signal.reason);
      break;
    }
    const abort = (): void => {
      unlink();
      controller.abort(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    undo.push(() => signal.removeEventListener("abort", abort));
  }
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), unlink };
}
