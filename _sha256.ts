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

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
const START = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
/** And of the cube roots of the first 64. */
const ROUND = Int32Array.of(
  ...[0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5],
  ...[0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174],
  ...[0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da],
  ...[0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967],
  ...[0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85],
  ...[0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070],
  ...[0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3],
  ...[0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2],
);

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
