/**
 * Waits, as the real server does for up to 3 s, for the resource version that a read asks for.
 *
 * ```ts
 * import { reachesFuture } from "./_versions.ts";
 *
 * console.assert(typeof reachesFuture === "function");
 * ```
 *
 * @module
 */
import type { ServerState } from "./_call.ts";
import type { Lag } from "./_lag.ts";
import { until } from "./_pause.ts";

/** How long a read waits for a resource version that has not come yet, in ms. */
const PATIENCE = 3000;

/** The version that a request asks for; 0 if it does not say, or makes no sense. */
function versionOf(url: URL): number {
  return Number(url.searchParams.get("resourceVersion")) || 0;
}

/** True if a watch is to begin with a state that is not there yet; one without a state just waits for its events. */
export function reachesFuture(url: URL, { store }: ServerState, lag?: Lag): boolean {
  return url.searchParams.get("sendInitialEvents") === "true" && versionOf(url) > (lag ?? store).version;
}

/** Waits for the version that a request asks for; false if it does not come in time. */
export async function waitFor(
  url: URL,
  { store }: ServerState,
  lag: Lag | undefined,
  ends: AbortSignal,
): Promise<boolean> {
  const version = versionOf(url);
  return await inTime((signal) => lag ? until(lag.reached(version), signal) : store.reached(version, signal), ends);
}

/** Waits until a replica that is behind has got to what there is now; false if it does not in time. */
export async function catchUp(lag: Lag, { store }: ServerState, ends: AbortSignal): Promise<boolean> {
  return await inTime((signal) => until(lag.reached(store.version), signal), ends);
}

/** False if it takes longer than anybody waits; rejects if there is nobody any more. */
async function inTime(wait: (signal: AbortSignal) => Promise<void>, ends: AbortSignal): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE);
  try {
    await wait(AbortSignal.any([late.signal, ends]));
    return true;
  } catch (error) {
    if (ends.aborted) throw error;
    return false;
  } finally {
    clearTimeout(timer);
  }
}
