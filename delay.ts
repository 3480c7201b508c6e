/**
 * Waits: for a time of any length, until a signal, or for whichever comes first, leaving no timer or listener behind.
 *
 * ```ts
 * import { delay } from "./delay.ts";
 *
 * await delay(10, AbortSignal.timeout(1000));
 * ```
 *
 * @module
 */

/** The longest time that one JavaScript timer takes; a longer one fires at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** Calls back once after `ms`, however long; answers with how to call it off. */
export function after(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = (left: number): void => {
    const step = Math.min(left, MAX_TIMER);
    timer = setTimeout(() => left > step ? arm(left - step) : run(), step);
  };
  arm(Math.max(0, ms));
  return () => clearTimeout(timer);
}

/**
 * Resolves after `ms`.
 *
 * @throws The signal's reason, as soon as it aborts
 */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      cancel();
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Resolves once the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Settles as the promise does, or rejects with the signal's reason if that aborts first.
 *
 * The promise itself goes on; its later rejection is swallowed.
 */
export function race<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then((value) => {
      signal.removeEventListener("abort", abort);
      resolve(value);
    }, (error) => {
      signal.removeEventListener("abort", abort);
      reject(error);
    });
  });
}
