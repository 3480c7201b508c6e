/**
 * Splits expressions of the Common Expression Language into names, symbols, numbers and texts.
 *
 * ```ts
 * import { tokens } from "./_cel_tokens.ts";
 *
 * console.assert(tokens("a + 1", []).length === 4);
 * ```
 *
 * @module
 */

/** A word of an expression; the last one is the end. */
export interface Token {
  readonly kind: "name" | "quoted" | "symbol" | "number" | "text" | "end";
  readonly at: number;
  readonly text: string;
  /** What a number or text stands for. */
  readonly value?: unknown;
  /** The type of a number or text. */
  readonly type?: string;
}

const SPACE = /(?:\s|\/\/[^\n]*)+/y;
const NUMBER = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|0x[0-9a-fA-F]+[uU]?|\d+[uU]?/y;
const TEXT = /([rRbB]{0,2})("""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/y;
const RAW = /([bB]?[rR][bB]?)("[^"\n]*"|'[^'\n]*')/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED = /`([A-Za-z0-9_.\-/ ]+)`/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([^]))/g,
    (_, ...groups: (string | undefined)[]) => {
      const [x, u, long, octal, one = ""] = groups;
      const code = x ?? u ?? long;
      if (code !== undefined) return String.fromCodePoint(parseInt(code, 16));
      return octal !== undefined ? String.fromCodePoint(parseInt(octal, 8)) : ESCAPES[one] ?? one;
    },
  );
}

function textToken(at: number, whole: string, prefix: string, body: string): Token {
  const marks = body.startsWith('"""') || body.startsWith("'''") ? 3 : 1;
  const inner = body.slice(marks, -marks);
  const flags = prefix.toLowerCase();
  const value = flags.includes("r") ? inner : unescape(inner);
  return flags.includes("b")
    ? { kind: "text", at, text: whole, value: new TextEncoder().encode(value), type: "bytes" }
    : { kind: "text", at, text: whole, value, type: "string" };
}

function numberToken(at: number, text: string): Token {
  const uint = /u$/i.test(text);
  const digits = uint ? text.slice(0, -1) : text;
  if (/^(0x[0-9a-f]+|\d+)$/i.test(digits)) {
    return { kind: "number", at, text, value: BigInt(digits), type: uint ? "uint" : "int" };
  }
  return { kind: "number", at, text, value: Number(text), type: "double" };
}

/** A text in a message, on one line. */
export function escapeText(text: string): string {
  return text.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
}

/** Splits an expression; what is no word is noted and left out. */
export function tokens(text: string, issues: { at: number; text: string }[]): Token[] {
  const found: Token[] = [];
  const match = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  let at = 0;
  while (at < text.length) {
    const space = match(SPACE, at);
    if (space) {
      at += space[0].length;
      continue;
    }
    const raw = match(RAW, at) ?? match(TEXT, at);
    const other = raw ? null : match(NUMBER, at) ?? match(NAME, at) ?? match(QUOTED, at) ?? match(SYMBOL, at);
    const whole = (raw ?? other)?.[0];
    if (whole === undefined) {
      const quote = /^['"]/.test(text.slice(at));
      const bad = quote ? text.slice(at).split("\n")[0]! : text[at]!;
      issues.push({ at, text: `Syntax error: token recognition error at: '${escapeText(bad)}'` });
      at += bad.length;
      continue;
    }
    if (raw) found.push(textToken(at, whole, raw[1]!, raw[2]!));
    else if (/^(\d|\.\d)/.test(whole)) found.push(numberToken(at, whole));
    else if (whole.startsWith("`")) found.push({ kind: "quoted", at, text: whole.slice(1, -1) });
    else if (whole === "in") found.push({ kind: "symbol", at, text: whole });
    else found.push({ kind: /^\w/.test(whole) ? "name" : "symbol", at, text: whole });
    at += whole.length;
  }
  found.push({ kind: "end", at: text.length, text: "" });
  return found;
}
