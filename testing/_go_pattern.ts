/**
 * Compiles regular expressions in Go's syntax.
 *
 * ```ts
 * import { goPattern } from "./_go_pattern.ts";
 *
 * console.assert(goPattern("(?P<word>[a-z]+)\\z")?.test("a"));
 * ```
 *
 * @module
 */

const patterns = new Map<string, RegExp | undefined>();

/** The compiled pattern; undefined if it cannot be compiled. */
export function goPattern(text: string): RegExp | undefined {
  if (!patterns.has(text)) patterns.set(text, compile(text));
  return patterns.get(text);
}

function compile(text: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  const source = text.slice(flags?.[0].length ?? 0).replaceAll("\\A", "^").replaceAll("\\z", "$")
    .replaceAll("(?P<", "(?<");
  for (const unicode of ["u", ""]) {
    try {
      return new RegExp(source, (flags?.[1] ?? "") + unicode);
    } catch {
      // Tried with and without Unicode, as escapes that Go allows are errors with it.
    }
  }
  return undefined;
}
