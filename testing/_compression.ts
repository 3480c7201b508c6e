/**
 * Compresses large answers for clients that take gzip, as a real API server does; small ones and streams stay as they are.
 *
 * ```ts
 * import { compressed } from "./_compression.ts";
 *
 * const body = new TextEncoder().encode("a".repeat(200_000));
 * const { headers } = await compressed({ status: 200, headers: [], body }, "gzip");
 * console.assert(headers.some(([name, value]) => name === "content-encoding" && value === "gzip"));
 * ```
 *
 * @module
 */
import type { Reply } from "./_reply.ts";

/** An answer of more bytes is compressed. */
export const LARGE = 131_072;

/** An answer that is there as bytes. */
type Bytes = Reply & { readonly body: Uint8Array<ArrayBuffer> };

/** True for an answer of so many bytes that it is compressed. */
export function isLarge(reply: Reply): reply is Bytes {
  return reply.body instanceof Uint8Array && reply.body.length > LARGE;
}

/** Compresses an answer for a client that takes gzip; `accepted` is its Accept-Encoding. */
export async function compressed(reply: Bytes, accepted: string | null): Promise<Reply> {
  if (!takesGzip(accepted)) return reply;
  const { gzip } = await import("node:zlib");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  gzip(reply.body, { level: 1 }, (error, result) => error ? reject(error) : resolve(new Uint8Array(result)));
  const headers = reply.headers.filter(([name]) => name !== "content-length");
  return {
    status: reply.status,
    headers: [...headers, ["content-encoding", "gzip"], ["vary", "Accept-Encoding"]],
    body: await promise,
  };
}

function takesGzip(accepted: string | null): boolean {
  return accepted?.split(",").some((each) => each.split(";")[0]!.trim() === "gzip") ?? false;
}
