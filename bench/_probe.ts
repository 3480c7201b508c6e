/**
 * Asks a peer, as a kubelet would, whether it is ready.
 *
 * @module
 */
import { delay } from "../delay.ts";
import { epoch } from "./_clock.ts";

/** How often it is asked whether it is ready, and for how long, in ms. */
const POLL = 2, LIMIT = 20_000;

/** A port that nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** True if what listens on a port says that it is ready; by a bare connection, which costs this process little. */
async function isReady(port: number): Promise<boolean> {
  try {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    await connection.write(new TextEncoder().encode(request));
    const answer = new Uint8Array(64);
    const length = await connection.read(answer) ?? 0;
    return /^HTTP\/1\.[01] 200 /.test(new TextDecoder().decode(answer.subarray(0, length)));
  } catch {
    return false; // Nothing listens there yet.
  }
}

/**
 * Waits for a peer to be ready by what listens on its port, and answers with when that was, in ms since 1970.
 *
 * @throws {Error} If it takes longer than 20 s
 */
export async function readyAt(port: number): Promise<number> {
  const deadline = epoch() + LIMIT;
  while (epoch() < deadline) {
    if (await isReady(port)) return epoch();
    await delay(POLL);
  }
  throw new Error(`Cannot measure: a peer must say 200 at /readyz within ${LIMIT} ms`);
}
