/**
 * Compresses large answers for clients that take gzip, as a real API server does; small ones and streams stay as they are.
 *
 * ```ts
 * import { compressed } from "./_compression.ts";
 *
 * const answer = await compressed(new Response("a".repeat(200_000)), "gzip");
 * console.assert(answer.headers.get("content-encoding") === "gzip");
 * await answer.body?.cancel();
 * ```
 *
 * @module
 */
/** An answer of more bytes is compressed. */
export const LARGE = 131_072;

/** True for an answer that says in its headers that it is large. */
export function isLarge(response: Response): boolean {
  return Number(response.headers.get("content-length")) > LARGE;
}

/** Compresses an answer for a client that takes gzip; `accepted` is its Accept-Encoding. */
export async function compressed(response: Response, accepted: string | null): Promise<Response> {
  if (!takesGzip(accepted)) return response;
  const { gzip } = await import("node:zlib");
  const bytes = new Uint8Array(await response.arrayBuffer());
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  gzip(bytes, { level: 1 }, (error, result) => error ? reject(error) : resolve(new Uint8Array(result)));
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.set("content-encoding", "gzip");
  headers.append("vary", "Accept-Encoding");
  return new Response(await promise, { status: response.status, headers });
}

function takesGzip(accepted: string | null): boolean {
  return accepted?.split(",").some((each) => each.split(";")[0]!.trim() === "gzip") ?? false;
}
