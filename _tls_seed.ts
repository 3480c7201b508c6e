/**
 * Seeds the random numbers of TLS beside what else a process does at its start, for the first connection would wait for that.
 *
 * ```ts
 * import { seedTls } from "./_tls_seed.ts";
 *
 * const seeded = seedTls();
 * // what takes a while, and needs no connection
 * await seeded;
 * ```
 *
 * The library that Deno takes cryptography from measures how unevenly the processor works, tens of ms long, before it gives out
 * its first random number; the first handshake does so on the thread of the program. Web Crypto makes keys on another thread.
 *
 * @module
 */

/** Resolves when it is done. Never rejects: without it all is the same, but later. */
export async function seedTls(): Promise<void> {
  await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]).catch(() => {});
}
