/** Waits for what another process brings about: these tests run on a real server, in real time. */
import { delay } from "../../delay.ts";

/** How long something may take on a busy machine before it counts as not happening, in ms. */
export const PATIENCE = 40_000;

/**
 * Asks until the answer is neither undefined nor false, and answers with it.
 *
 * @throws {Error} If that takes too long; its cause is the last error of the check, and its message ends with what `explain` says
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  options: { readonly patience?: number; readonly every?: number; readonly explain?: () => string } = {},
): Promise<T> {
  const { patience = PATIENCE, every = 50, explain = () => "" } = options;
  const started = performance.now();
  let cause: unknown;
  while (performance.now() - started < patience) {
    try {
      const answer = await check();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error; // As long as it starts, restarts or is not told yet: the last one is passed on.
    }
    await delay(every);
  }
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  throw new Error(`${what} did not happen within ${patience} ms${reason}\n${explain()}`, { cause });
}
