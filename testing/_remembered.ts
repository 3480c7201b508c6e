/**
 * Remembers what was made of texts that come again and again, such as headers: a few of them, the rest is made anew.
 *
 * ```ts
 * import { remembered } from "./_remembered.ts";
 *
 * const shout = remembered((text) => text.toUpperCase());
 * console.assert(shout("a") === "A");
 * ```
 *
 * @module
 */

/** How many texts are remembered unless it is said otherwise. */
const SIZE = 100;

/** A function of a text alone, with a memory; what it throws is not remembered. */
export function remembered<T>(make: (text: string) => T, size: number = SIZE): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    let value = made.get(text);
    if (value !== undefined || made.has(text)) return value as T;
    value = make(text);
    if (made.size >= size) made.clear();
    made.set(text, value);
    return value;
  };
}
