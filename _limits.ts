/**
 * Says how much of an answer is read, so that no server can take all memory.
 *
 * ```ts
 * import { MAX_OBJECT, tooLarge } from "./_limits.ts";
 *
 * console.assert(tooLarge("one object", MAX_OBJECT).message === "one object must have at most 16 MiB: it has more");
 * ```
 *
 * | what | most | beyond |
 * |---|---|---|
 * | an answer that is read whole, such as a list that is not read by pages | 64 MiB | an error; it is not asked for again |
 * | one object of a list or a watch, and what surrounds a list's objects | 16 MiB | an error; the list or watch begins anew |
 * | the body of an error | 256 KiB | what follows is not read |
 * | the message of an error | 4,096 characters | what follows is left out |
 * | the wait that a server asks for | 1 hour | that hour |
 *
 * An API server itself takes objects up to 3 MiB, and etcd up to 1.5 MiB.
 *
 * @module
 */

const MIB = 1024 * 1024;

/** The longest answer that is read whole, in bytes. */
export const MAX_ANSWER = 64 * MIB;
/** The largest object in a list or watch, in bytes. */
export const MAX_OBJECT = 16 * MIB;
/** How much of an error's body is read, in bytes. */
export const MAX_ERROR_BODY = MIB / 4;

/** The error for what is larger than it may be. */
export function tooLarge(what: string, limit: number): RangeError {
  const most = limit < MIB ? `${limit} bytes` : `${limit / MIB} MiB`;
  return new RangeError(`${what} must have at most ${most}: it has more`);
}
