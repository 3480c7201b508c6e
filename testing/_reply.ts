/**
 * Holds what the server answers with, of which a `Response` is made where somebody wants one.
 *
 * ```ts
 * import { responseOf } from "./_reply.ts";
 *
 * const response = responseOf({ status: 200, headers: [["content-type", "text/plain"]], body: "ok" });
 * console.assert(await response.text() === "ok");
 * ```
 *
 * @module
 */

/** What an answer carries: a stream if it has no end yet. */
export type ReplyBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** A header; one name may come several times. */
export type Header = readonly [name: string, value: string];

/** An answer. */
export interface Reply {
  readonly status: number;
  /** The headers, with their names in lower case. */
  readonly headers: readonly Header[];
  readonly body: ReplyBody;
}

/** The value of a header. */
export function headerOf({ headers }: Reply, name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1];
}

/** Headers with one that takes the place of all others of its name. */
export function withHeader(headers: readonly Header[], name: string, value: string): readonly Header[] {
  return [...headers.filter(([each]) => each !== name), [name, value]];
}

const encoder = new TextEncoder();

/** The bytes of a body that is there as a whole. */
export function bytesOf(body: Exclude<ReplyBody, ReadableStream>): Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array ? body : encoder.encode(body ?? "");
}

/** Ends an answer that nobody is going to read. */
export async function discard({ body }: Reply): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel();
}

/** The answer as a `Response`. */
export function responseOf({ status, headers, body }: Reply): Response {
  const [first, second] = headers;
  // One header costs least.
  const init = first && !second ? { [first[0]]: first[1] } : headers as unknown as [string, string][];
  return new Response(body, { status, headers: init });
}
