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
import { race } from "./delay.ts";

/** Reads a body to its end, or cancels it when the signal aborts. */
export async function readText(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (true) {
      const { done, value } = await race(reader.read(), signal);
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
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
