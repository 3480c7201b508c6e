/**
 * Makes names of a prefix and random characters.
 *
 * ```ts
 * import { generateName } from "./_generate_name.ts";
 *
 * console.assert(generateName("web-", () => 0) === "web-bbbbb");
 * ```
 *
 * @module
 */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A name with five random characters after the prefix. */
export function generateName(prefix: string, random: () => number): string {
  let name = prefix.slice(0, 58);
  for (let index = 0; index < 5; index++) name += ALPHABET[Math.floor(random() * ALPHABET.length)];
  return name;
}
