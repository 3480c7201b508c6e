/**
 * Makes uids from an injected source of random numbers.
 *
 * ```ts
 * import { uuid } from "./_uuid.ts";
 *
 * console.assert(uuid(() => 0) === "00000000-0000-4000-8000-000000000000");
 * ```
 *
 * @module
 */

const codesOf = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));

const DIGITS = codesOf("0123456789abcdef"), PATTERN = codesOf("xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx");
const [X, Y] = codesOf("xy");

/** A UUID of version 4. */
export function uuid(random: () => number): string {
  const codes = [...PATTERN];
  for (let index = 0; index < codes.length; index++) {
    if (codes[index] === X) codes[index] = DIGITS[Math.floor(random() * 16)]!;
    else if (codes[index] === Y) codes[index] = DIGITS[8 + Math.floor(random() * 4)]!;
  }
  return String.fromCharCode(...codes);
}
