/**
 * Keeps what runs until a signal aborts from running twice at once: later calls join the run, or follow it.
 *
 * ```ts
 * import { runOnce } from "./_run_once.ts";
 *
 * const runs = {};
 * const stop = AbortSignal.timeout(10);
 * await runOnce(runs, stop, (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())));
 * ```
 *
 * @module
 */
import { race } from "./delay.ts";

/** The run that is on, if one is. */
export interface Runs {
  current?: { readonly signal: AbortSignal; readonly ended: Promise<void> } | undefined;
}

/**
 * Runs until the signal aborts. While another run is on, joins that one until the signal aborts; if the other is ending
 * because its own signal has aborted, waits for that and then runs.
 *
 * @throws What the run fails with
 */
export async function runOnce(
  runs: Runs,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (runs.current && !signal.aborted) {
    const { ended, signal: other } = runs.current;
    if (other.aborted) {
      await ended.catch(() => {});
      continue;
    }
    try {
      return await race(ended, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
  if (signal.aborted) return;
  const ended = run(signal).finally(() => runs.current = undefined);
  runs.current = { signal, ended };
  return await ended;
}
