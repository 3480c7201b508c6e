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

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "\\w",
  xdigit: "0-9a-fA-F",
};

function compile(text: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  const source = text.slice(flags?.[0].length ?? 0).replaceAll("\\A", "^").replaceAll("\\z", "$")
    .replaceAll("(?P<", "(?<").replaceAll(/\\([pP])([A-Z])/g, "\\$1{$2}")
    .replaceAll(/\[:([a-z]+):\]/g, (whole, name) => CLASSES[name] ?? whole);
  for (const unicode of ["u", ""]) {
    try {
      return new RegExp(source, (flags?.[1] ?? "") + unicode);
    } catch {
      // Tried with and without Unicode, as escapes that Go allows are errors with it.
    }
  }
  return undefined;
}

const ESCAPES = /^\\(?:[aftnrvdDsSwWbBAzQECxpP]|[0-7]{3}|0[0-7]{0,2}|[^a-zA-Z0-9])/;

/** What a server says is wrong with a pattern; undefined if it takes it, as far as is plain to see. */
export function goPatternError(pattern: string): string | undefined {
  const why = (text: string, part: string): string => `error parsing regexp: ${text}: \`${part}\``;
  for (const [escape] of pattern.matchAll(/\\[\s\S]?[0-9]{0,2}/g)) {
    if (escape === "\\") return "error parsing regexp: trailing backslash at end of expression: ``";
    if (!ESCAPES.test(escape)) return why("invalid escape sequence", escape.slice(0, 2));
  }
  const bare = pattern.replaceAll(/\\[\s\S]/g, "__").replaceAll(/\[\^?\]?[^\]]*\]/g, (each) => "_".repeat(each.length));
  for (const { 0: group, index } of bare.matchAll(/\(\?(?:P?<[A-Za-z_][A-Za-z0-9_]*>|[imsU-]+[:)]|:)?/g)) {
    if (group !== "(?") continue;
    if (bare[index + 2] === "<") return why("invalid named capture", pattern.slice(index));
    return why("invalid or unsupported Perl syntax", pattern.slice(index, index + 3));
  }
  for (const [repeat, least, most] of bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    const large = Number(least) > 1000 || Number(most || 0) > 1000;
    if (large || most && Number(most) < Number(least)) return why("invalid repeat count", repeat);
  }
  return unbalanced(pattern, bare);
}

function unbalanced(pattern: string, bare: string): string | undefined {
  const count = (text: string): number => bare.split(text).length - 1;
  if (count("(") > count(")")) return `error parsing regexp: missing closing ): \`${pattern}\``;
  if (count(")") > count("(")) return `error parsing regexp: unexpected ): \`${pattern}\``;
  if (bare.includes("[")) return `error parsing regexp: missing closing ]: \`${pattern.slice(bare.indexOf("["))}\``;
  const repeated = /^[*+?]/.exec(pattern);
  return repeated ? `error parsing regexp: missing argument to repetition operator: \`${repeated[0]}\`` : undefined;
}
