/**
 * Reads bodies under an abort signal, and lets go of them when it aborts, whatever their source does.
 *
 * ```ts
 * import { readText } from "./_body.ts";
 *
 * const { signal } = new AbortController();
 * console.assert(await readText(new Response("ok").body, signal) === "ok");
 * ```
 *
 * @module
 */
import { MAX_ANSWER, tooLarge } from "./_limits.ts";
import { race } from "./delay.ts";

/** How much of a body is read. */
export interface ReadLimits {
  /** In bytes. @default {64 MiB} */
  readonly limit?: number | undefined;
  /** Whether the rest is left out; else it is an error. @default {false} */
  readonly cut?: boolean | undefined;
}

/**
 * Reads a body to its end, or cancels it when the signal aborts, or it is too long.
 *
 * @throws {RangeError} If it is longer than the limit, and not to be cut there
 */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  { limit = MAX_ANSWER, cut = false }: ReadLimits = {},
): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let left = limit;
  try {
    while (true) {
      const { done, value } = await race(reader.read(), signal);
      if (done) return text + decoder.decode();
      if (value.length > left && !cut) throw tooLarge("the answer", limit);
      text += decoder.decode(value.subarray(0, left), { stream: true });
      if (value.length > left) {
        reader.cancel().catch(() => {});
        return text;
      }
      left -= value.length;
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** Passes a body on, ends it when the signal aborts, whatever its source does, and tells when it has ended. */
export function watched(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  finish: () => void,
  fail: (error: unknown) => Error,
): ReadableStream<Uint8Array> | null {
  if (!body) {
    finish();
    return null;
  }
  const reader = body.getReader();
  let abort = (): void => {};
  const end = (): void => {
    signal.removeEventListener("abort", abort);
    finish();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      abort = () => {
        controller.error(signal.reason);
        reader.cancel(signal.reason).catch(() => {});
        end();
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        if (signal.aborted) return;
        controller.error(fail(error));
      }
      end();
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
