/**
 * Translates JavaScript regular expressions to RE2, which is what Kubernetes runs for `pattern`.
 *
 * ```ts
 * import { toRe2 } from "./_zod_pattern.ts";
 *
 * console.assert(toRe2(/^[a-z]+\/\u00e9$/i) === "(?i)^[a-z]+/\\x{00e9}$");
 * ```
 *
 * @module
 */

const LOOKAROUND = /^\((\?=|\?!|\?<=|\?<!)/;
const UNICODE = /^\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]+)\})/;
const PROPERTY = /^\\([pP])\{(?:(?:Script|sc)=(\w+)|([A-Z][a-z]?))\}/;
const REPEAT = /^\{(\d+)(?:,(\d*))?\}/;
/** RE2 refuses to repeat more often than this. */
const MAX_REPEAT = 1000;

/**
 * Answers with the RE2 pattern that matches the same texts; `.` and `\s` are read as RE2 reads them.
 *
 * @throws {SyntaxError} If RE2 has nothing like it; the message says what
 */
export function toRe2(regex: RegExp): string {
  const { source, flags } = regex;
  if (/[vy]/.test(flags)) throw new SyntaxError(`RE2 has no flag like ${/[vy]/.exec(flags)![0]}`);
  let out = "";
  let inClass = false;
  for (let i = 0; i < source.length;) {
    const rest = source.slice(i);
    const [taken, written] = rest.startsWith("\\")
      ? escape(rest, inClass)
      : inClass
      ? insideClass(rest)
      : outsideClass(rest);
    if (inClass ? rest.startsWith("]") : rest.startsWith("[") && taken === 1) inClass = !inClass;
    out += written;
    i += taken;
  }
  const prefix = ["i", "m", "s"].filter((flag) => flags.includes(flag)).join("");
  return prefix === "" ? out : `(?${prefix})${out}`;
}

/** How many characters of the source were read, and what they are in RE2. */
type Step = readonly [taken: number, written: string];

function escape(rest: string, inClass: boolean): Step {
  const next = rest[1]!;
  if (/[1-9]/.test(next) || rest.startsWith("\\k<")) throw new SyntaxError("RE2 has no backreferences");
  const unicode = UNICODE.exec(rest);
  if (unicode) {
    const digits = unicode[1] ?? unicode[2]!;
    if (/^d[89a-f]..$/i.test(digits)) throw new SyntaxError("RE2 has no halves of surrogate pairs");
    return [unicode[0].length, `\\x{${digits}}`];
  }
  if (next === "p" || next === "P") {
    const property = PROPERTY.exec(rest);
    if (!property) throw new SyntaxError(`RE2 has no ${/^\\.(\{[^}]*\})?/.exec(rest)![0]}`);
    return [property[0].length, `\\${property[1]}{${property[2] ?? property[3]}}`];
  }
  if (next === "c") return [3, `\\x{${(rest.charCodeAt(2) % 32).toString(16)}}`];
  if (next === "0") return [2, "\\x{0}"];
  if (next === "b" && inClass) return [2, "\\x{8}"];
  if (next === "x") return [4, rest.slice(0, 4)];
  if (next === "/") return [2, "/"];
  if (/[a-zA-Z]/.test(next) && !/[dDwWsSbBtnrfv]/.test(next)) return [2, next];
  return [2, rest.slice(0, 2)];
}

function insideClass(rest: string): Step {
  return [1, rest.startsWith("[") ? "\\[" : rest[0]!];
}

function outsideClass(rest: string): Step {
  if (rest.startsWith("[^]")) return [3, "(?s:.)"];
  if (rest.startsWith("[]")) return [2, "[^\\x{0}-\\x{10FFFF}]"];
  if (LOOKAROUND.test(rest)) throw new SyntaxError(`RE2 has no ${rest.startsWith("(?<") ? "lookbehind" : "lookahead"}`);
  if (rest.startsWith("(?<")) return [3, "(?P<"];
  const repeat = REPEAT.exec(rest);
  if (repeat && Math.max(Number(repeat[1]), Number(repeat[2] || 0)) > MAX_REPEAT) {
    throw new SyntaxError(`RE2 repeats at most ${MAX_REPEAT} times`);
  }
  return repeat ? [repeat[0].length, repeat[0]] : [1, rest[0]!];
}
