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
  let text = "";
  for (const mark of "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx") {
    if (mark === "x") text += "0123456789abcdef"[Math.floor(random() * 16)];
    else text += mark === "y" ? "89ab"[Math.floor(random() * 4)] : mark;
  }
  return text;
}
