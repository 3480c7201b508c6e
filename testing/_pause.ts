/**
 * Waits, for a time or for ever, until a signal ends that.
 *
 * ```ts
 * import { pause } from "./_pause.ts";
 *
 * await pause(1, new AbortController().signal);
 * ```
 *
 * @module
 */

/** The longest that a timer runs, in ms: longer ones would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Waits for so many ms, or for ever with Infinity; rejects when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = ms > LONGEST ? undefined : setTimeout(() => {
    signal.removeEventListener("abort", abort);
    resolve();
  }, ms);
  function abort(): void {
    clearTimeout(timer);
    reject(signal.reason);
  }
  signal.addEventListener("abort", abort, { once: true });
  return promise;
}

/** Waits for a promise that never rejects; rejects when the signal aborts. */
export async function until(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
