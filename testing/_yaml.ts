/**
 * Writes YAML as a Kubernetes API server does: keys in order, lists not indented, quotes where they are needed.
 *
 * ```ts
 * import { toYaml } from "./_yaml.ts";
 *
 * console.assert(toYaml({ b: ["x"], a: "1" }) === 'a: "1"\nb:\n- x\n');
 * ```
 *
 * @module
 */
import { isObject } from "./_objects.ts";

const PLAIN = /^[^\s?:,\[\]{}#&*!|>'"%@`-]|^[?:-]\S/;
const AMBIGUOUS =
  /^(~|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N)$/;
const NUMBER =
  /^[-+]?(\.\d+|\d[\d_]*(\.\d*)?)([eE][-+]?\d+)?$|^0[xob][0-9a-fA-F_]+$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/;
/** Minutes and seconds, or more of that: numbers to the base of 60. */
const SIXTIES = /^[-+]?\d[\d_]*(:[0-5]?\d)+(\.[\d_]*)?$/;
const UNSEEN = /[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]/;
const TIME = /^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/;

const WIDTH = 80;

/** True for a text that would be read as something else. */
function isOther(text: string): boolean {
  return text === "" || AMBIGUOUS.test(text) || NUMBER.test(text) || TIME.test(text) || SIXTIES.test(text);
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

function write(value: unknown, indent: string, lines: string[], head: string): void {
  if (Array.isArray(value)) {
    if (value.length === 0) return void lines.push(`${head}${head.endsWith(" ") || head === "" ? "" : " "}[]`);
    if (head.trim() !== "") lines.push(head);
    for (const item of value) writeItem(item, indent, lines);
    return;
  }
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    if (keys.length === 0) return void lines.push(`${head}${head === "" ? "" : " "}{}`);
    if (head !== "") lines.push(head);
    for (const key of keys) {
      const inner = Array.isArray(value[key]) ? indent : `${indent}  `;
      write(value[key], inner, lines, `${indent}${scalar(key)}:`);
    }
    return;
  }
  if (typeof value === "string" && value.includes("\n")) {
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

function writeItem(item: unknown, indent: string, lines: string[]): void {
  const inner: string[] = [];
  if ((isObject(item) && Object.keys(item).length > 0) || (Array.isArray(item) && item.length > 0)) {
    write(item, `${indent}  `, inner, "");
    inner[0] = `${indent}- ${inner[0]!.slice(indent.length + 2)}`;
    lines.push(...inner);
  } else write(item, `${indent}  `, lines, `${indent}-`);
}

/** Writes a value as one document. */
export function toYaml(value: unknown): string {
  const lines: string[] = [];
  write(value, "", lines, "");
  return `${lines.join("\n")}\n`;
}
