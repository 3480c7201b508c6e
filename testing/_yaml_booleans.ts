/**
 * Writes the words that were booleans before YAML 1.2 as those that still are: Go's parser reads them so.
 *
 * ```ts
 * import { withBooleans } from "./_yaml_booleans.ts";
 *
 * console.assert(withBooleans("immutable: yes\n") === "immutable: true\n");
 * ```
 *
 * @module
 */

const WORDS = "y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF";
/** A word where a value may be, up to the end of its line or of its place in a collection in flow style. */
const ANYWHERE = new RegExp(`(?:[:[,-]\\s+|[[,])(?:${WORDS})\\s*(?:[,\\]}#]|$)`, "m");
/** A line whose value is such a word. */
const VALUE = new RegExp(`^(\\s*(?:- +)*(?:[^\\s"'#{[][^"'#{[]*?:\\s+|- +))(${WORDS})(\\s*(?:#.*)?)$`);
/** A word in a collection in flow style. */
const ITEM = new RegExp(`([[,]\\s*|:\\s+)(${WORDS})(?=\\s*[,\\]}])`, "g");
const BLOCK = /(?:^|[:\s-])[|>][0-9+-]*\s*(?:#.*)?$/;

function boolean(word: string): string {
  return String(/^(?:y|on)/i.test(word));
}

function inFlow(line: string): string {
  if (!/[[{]/.test(line)) return line;
  // What is quoted stays as it is.
  return line.split(/("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/).map((part, index) =>
    index % 2 === 1 ? part : part.replace(ITEM, (_, before, word) => `${before}${boolean(word)}`)
  ).join("");
}

/** Replaces the words in a text; texts in block style, and quoted ones, are left alone. */
export function withBooleans(text: string): string {
  if (!ANYWHERE.test(text)) return text;
  let block = -1;
  return text.split("\n").map((line) => {
    const indent = line.length - line.trimStart().length;
    if (block >= 0 && (line.trim() === "" || indent > block)) return line;
    block = BLOCK.test(line) ? indent : -1;
    const value = VALUE.exec(line);
    if (value === null) return inFlow(line);
    const [, before = "", word = "", after = ""] = value;
    return `${before}${boolean(word)}${after}`;
  }).join("\n");
}
