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

/** A UUID of version 4. */
export function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = "4";
  hex[16] = "89ab"[Math.floor(random() * 4)]!;
  const text = hex.join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}
