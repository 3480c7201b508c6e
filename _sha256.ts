/**
 * Digests texts by SHA-256, at once: Web Crypto answers later, and loading `node:crypto` costs more than all that is digested here.
 *
 * ```ts
 * import { sha256 } from "./_sha256.ts";
 *
 * console.assert(sha256("abc").toHex().startsWith("ba7816bf"));
 * ```
 *
 * @module
 */

const BLOCK = 64;

/** The first 32 bits of the fractional parts of the n-th roots of the first primes. */
function fractions(root: (prime: number) => number, count: number): Int32Array {
  const words = new Int32Array(count);
  const isPrime = (number: number): boolean => {
    for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false;
    return true;
  };
  for (let number = 2, found = 0; found < count; number++) {
    if (isPrime(number)) words[found++] = (root(number) % 1) * 2 ** 32;
  }
  return words;
}

const START = fractions(Math.sqrt, 8);
const ROUND = fractions(Math.cbrt, 64);

const encoder = new TextEncoder();
const words = new Int32Array(64);
const state = new Int32Array(8);

/** Takes one block of 64 bytes into the state (FIPS 180-4, 6.2.2). */
function take(bytes: Uint8Array, from: number): void {
  for (let at = 0; at < 16; at++, from += 4) {
    words[at] = bytes[from]! << 24 | bytes[from + 1]! << 16 | bytes[from + 2]! << 8 | bytes[from + 3]!;
  }
  for (let at = 16; at < 64; at++) {
    const near = words[at - 2]!, far = words[at - 15]!;
    const second = (near >>> 17 | near << 15) ^ (near >>> 19 | near << 13) ^ near >>> 10;
    const first = (far >>> 7 | far << 25) ^ (far >>> 18 | far << 14) ^ far >>> 3;
    words[at] = (second + words[at - 7]! | 0) + (first + words[at - 16]! | 0);
  }
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!;
  let e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let at = 0; at < 64; at++) {
    const mixed = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const one = ((h + mixed | 0) + (g ^ e & (f ^ g)) | 0) + (ROUND[at]! + words[at]! | 0) | 0;
    const turned = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const two = turned + (a & b | c & (a | b)) | 0;
    h = g;
    g = f;
    f = e;
    e = d + one | 0;
    d = c;
    c = b;
    b = a;
    a = one + two | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** The 32 bytes of the SHA-256 of a text in UTF-8. */
export function sha256(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  const { length } = bytes;
  state.set(START);
  let at = 0;
  for (; at + BLOCK <= length; at += BLOCK) take(bytes, at);
  const rest = length - at;
  const last = new Uint8Array(rest + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  last.set(bytes.subarray(at));
  last[rest] = 0x80;
  const bits = new DataView(last.buffer);
  bits.setUint32(last.length - 8, length / 2 ** 29);
  bits.setUint32(last.length - 4, length << 3);
  for (let block = 0; block < last.length; block += BLOCK) take(last, block);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setInt32(4 * index, word));
  return new Uint8Array(digest.buffer);
}
