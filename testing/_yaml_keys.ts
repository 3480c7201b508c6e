/**
 * Finds the keys that come twice in a YAML text, as Go's parser tells of them.
 *
 * ```ts
 * import { repeatedKeys } from "./_yaml_keys.ts";
 *
 * console.assert(repeatedKeys("a: 1\na: 2\n")[0] === 'line 2: key "a" already set in map');
 * ```
 *
 * @module
 */

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#'"[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/;

/** The keys of a mapping in block style, and how far it is indented. */
interface Block {
  readonly indent: number;
  readonly keys: Set<string>;
}

function unquoted(key: string): string {
  if (key.startsWith('"')) {
    try {
      return JSON.parse(key);
    } catch {
      return key.slice(1, -1);
    }
  }
  return key.startsWith("'") ? key.slice(1, -1).replaceAll("''", "'") : key;
}

class Scanner {
  readonly found: string[] = [];
  #blocks: Block[] = [];
  readonly #lines: string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  scan(): void {
    for (; this.#at < this.#lines.length; this.#at++) this.#line(this.#lines[this.#at]!);
  }

  #note(keys: Set<string>, key: string, line: number): void {
    if (keys.has(key)) this.found.push(`line ${line + 1}: key ${JSON.stringify(key)} already set in map`);
    keys.add(key);
  }

  #line(line: string): void {
    if (/^\s*(#.*)?$/.test(line)) return;
    if (/^(---|\.\.\.)(\s|$)/.test(line)) return void (this.#blocks = []);
    let indent = line.length - line.trimStart().length;
    let rest = line.trim();
    for (let dash = /^-\s+/.exec(rest); dash; dash = /^-\s+/.exec(rest)) {
      // An item begins: what was within the one before is over.
      this.#leave(indent);
      indent += dash[0].length;
      rest = rest.slice(dash[0].length);
    }
    if (rest.startsWith("{") || rest.startsWith("[")) return this.#flow(this.#lines[this.#at]!.indexOf(rest));
    const [, key, value = ""] = KEY.exec(rest) ?? [];
    if (key === undefined) return;
    this.#leave(indent);
    if (this.#blocks.at(-1)?.indent !== indent) this.#blocks.push({ indent, keys: new Set() });
    this.#note(this.#blocks.at(-1)!.keys, unquoted(key), this.#at);
    if (/^[|>]/.test(value)) this.#skipText(indent);
    else if (/^[{[]/.test(value)) this.#flow(line.lastIndexOf(value));
  }

  /** Leaves the mappings that are indented further. */
  #leave(indent: number): void {
    while ((this.#blocks.at(-1)?.indent ?? -1) > indent) this.#blocks.pop();
  }

  /** Passes over the lines of a text in block style. */
  #skipText(indent: number): void {
    for (let next = this.#lines[this.#at + 1]; next !== undefined; next = this.#lines[this.#at + 1]) {
      if (next.trim() !== "" && next.length - next.trimStart().length <= indent) return;
      this.#at++;
    }
  }

  /** Reads a collection in flow style, which may go on over lines. */
  #flow(column: number): void {
    const open: (Set<string> | undefined)[] = [];
    let token = "";
    do {
      const line = this.#lines[this.#at]!;
      for (; column < line.length; column++) {
        const character = line[column]!;
        if (character === '"' || character === "'") {
          const quoted = (character === '"' ? /^"(?:[^"\\]|\\.)*"/ : /^'(?:[^']|'')*'/).exec(line.slice(column))?.[0];
          if (quoted === undefined) return;
          token = quoted;
          column += quoted.length - 1;
        } else if (character === "{" || character === "[") {
          open.push(character === "{" ? new Set() : undefined);
          token = "";
        } else if (character === "}" || character === "]") {
          open.pop();
          token = "";
          if (open.length === 0) return;
        } else if (character === ",") token = "";
        else if (character === ":") {
          const keys = open.at(-1);
          if (keys && token.trim() !== "") this.#note(keys, unquoted(token.trim()), this.#at);
          token = "";
        } else token += character;
      }
      column = 0;
    } while (open.length > 0 && ++this.#at < this.#lines.length);
  }
}

/** What Go's parser says of each key that is set again. */
export function repeatedKeys(text: string): string[] {
  const scanner = new Scanner(text);
  scanner.scan();
  return scanner.found;
}
