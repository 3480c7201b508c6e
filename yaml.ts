/**
 * Writes YAML as Kubernetes and its tools do: lists not indented, long texts folded, quotes where they are needed.
 *
 * ```ts
 * import { writeYaml } from "./yaml.ts";
 *
 * console.assert(writeYaml({ b: ["x"], a: "1" }) === 'b:\n- x\na: "1"\n');
 * ```
 *
 * Small enough to be there always: a library that also reads YAML is loaded when there is something to read.
 *
 * @module
 */

/** Options of {@linkcode writeYaml}. */
export interface YamlOptions {
  /** Writes keys in their order, not as they come. @default {false} */
  readonly sorted?: boolean | undefined;
}

const PLAIN = /^[^\s?:,\[\]{}#&*!|>'"%@`-]|^[?:-]\S/;
const AMBIGUOUS =
  /^(~|<<|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N)$/;
/** What may come at the front of a number, in which Go takes any `_` for nothing. */
const NUMERIC = /^[-+.\d]/;
const NUMBER =
  /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$|^[-+]?0[xobXOB][0-9a-fA-F]+$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/;
/** Minutes and seconds, or more of that: numbers to the base of 60. */
const SIXTIES = /^[-+]?\d[\d_]*(:[0-5]?\d)+(\.[\d_]*)?$/;
/** What does not print, and what is taken for the end of a line, or the mark of a byte order. */
const UNSEEN = /[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** What a block cannot hold: as {@linkcode UNSEEN}, a line that ends with a space, and nothing but the ends of lines. */
const NO_BLOCK = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]| \n| $|^\n+$/;
const TIME = /^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/;

const WIDTH = 80;

/** True for a text that would be read as something else. */
function isOther(text: string): boolean {
  if (!NUMERIC.test(text)) return text === "" || AMBIGUOUS.test(text);
  return NUMBER.test(text.replaceAll("_", "")) || TIME.test(text) || SIXTIES.test(text);
}

function scalar(text: string): string {
  const plain = PLAIN.test(text) && !isOther(text) && !UNSEEN.test(text) && !/^---|^\.\.\.|: |:$| #|\s$/.test(text);
  if (plain || text === ".") return text;
  // What stands for something else is quoted twice, what only cannot stand bare once.
  if (isOther(text) || UNSEEN.test(text)) return escaped(text);
  return `'${text.replaceAll("'", "''")}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
};

/** A text in double quotes. */
function escaped(text: string): string {
  const shown = Array.from(text, (character) => {
    if (!UNSEEN.test(character) && character !== '"' && character !== "\\") return character;
    const hex = character.codePointAt(0)!.toString(16).toUpperCase();
    const [mark, length] = hex.length <= 2 ? ["x", 2] : hex.length <= 4 ? ["u", 4] : ["U", 8];
    return ESCAPES[character] ?? `\\${mark}${hex.padStart(length as number, "0")}`;
  });
  return `"${shown.join("")}"`;
}

/** Breaks a text at the first space after each 80 columns, as the lines of a value are. */
function folded(text: string, column: number, indent: string): string {
  const style = text[0] === "'" || text[0] === '"' ? text[0] : "";
  if (style === '"' || column + text.length <= WIDTH) return text;
  let out = "", at = column;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    const breaks = character === " " && at > WIDTH && index > style.length && index < text.length - 1 - style.length &&
      text[index - 1] !== " " && text[index + 1] !== " ";
    if (breaks) {
      out += `\n${indent}`;
      at = indent.length;
    } else {
      out += character;
      at++;
    }
  }
  return out;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function write(value: unknown, indent: string, lines: string[], head: string, sorted: boolean): void {
  if (Array.isArray(value)) {
    if (value.length === 0) return void lines.push(`${head}${head.endsWith(" ") || head === "" ? "" : " "}[]`);
    if (head.trim() !== "") lines.push(head);
    for (const item of value) writeItem(item, indent, lines, sorted);
    return;
  }
  if (isObject(value)) {
    const keys = sorted ? Object.keys(value).sort() : Object.keys(value);
    if (keys.length === 0) return void lines.push(`${head}${head === "" ? "" : " "}{}`);
    if (head !== "") lines.push(head);
    for (const key of keys) {
      const inner = Array.isArray(value[key]) ? indent : `${indent}  `;
      write(value[key], inner, lines, `${indent}${scalar(key)}:`, sorted);
    }
    return;
  }
  if (typeof value === "string" && value.includes("\n") && !NO_BLOCK.test(value) && head !== "") {
    const chomp = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
    // How far the lines are indented cannot be seen from a first one that begins with a space, or is empty.
    lines.push(
      `${head} |${/^[ \n]/.test(value) ? "2" : ""}${chomp}`,
      ...value.replace(/\n$/, "").split("\n").map((each) => each === "" ? "" : `${indent}${each}`),
    );
    return;
  }
  const text = typeof value === "string" ? scalar(value) : JSON.stringify(value ?? null);
  lines.push(head === "" ? text : `${head} ${folded(text, head.length + 1, indent)}`);
}

function writeItem(item: unknown, indent: string, lines: string[], sorted: boolean): void {
  const inner: string[] = [];
  if ((isObject(item) && Object.keys(item).length > 0) || (Array.isArray(item) && item.length > 0)) {
    write(item, `${indent}  `, inner, "", sorted);
    inner[0] = `${indent}- ${inner[0]!.slice(indent.length + 2)}`;
    lines.push(...inner);
  } else write(item, `${indent}  `, lines, `${indent}-`, sorted);
}

/** Writes a JSON value as one document. */
export function writeYaml(value: unknown, options: YamlOptions = {}): string {
  const { sorted = false } = options;
  const lines: string[] = [];
  write(value, "", lines, "", sorted);
  return `${lines.join("\n")}\n`;
}
