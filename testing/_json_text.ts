/**
 * Reads JSON texts as Go's decoder does: its words for what is wrong, and the keys that come twice.
 *
 * ```ts
 * import { duplicateKeys, syntaxError } from "./_json_text.ts";
 *
 * console.assert(syntaxError("{") === "unexpected end of JSON input");
 * console.assert(duplicateKeys('{"a":{"b":1,"b":2}}')[0] === "a.b");
 * ```
 *
 * @module
 */
import { pathText } from "./_json.ts";

const SPACE = /[ \t\r\n]/;
const END = "unexpected end of JSON input";

class Stop extends Error {}

/** A reader of one text that notes keys that come twice. */
class Scanner {
  readonly duplicates: string[] = [];
  /** Called with the path of each key. */
  onKey: ((path: string, again: boolean) => void) | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value([]);
    this.#space();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
  }

  #fail(where: string): never {
    const character = this.#text[this.#at];
    if (character === undefined) throw new Stop(END);
    const control = character < " " ? `\\x${character.codePointAt(0)!.toString(16).padStart(2, "0")}` : undefined;
    const shown = control !== undefined
      ? `'${control}'`
      : character === "'"
      ? `'\\''`
      : character === '"'
      ? `'"'`
      : `'${character}'`;
    throw new Stop(`invalid character ${shown} ${where}`);
  }

  #space(): void {
    while (SPACE.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #value(path: readonly (string | number)[]): void {
    this.#space();
    const character = this.#text[this.#at];
    if (character === "{") return this.#object(path);
    if (character === "[") return this.#array(path);
    if (character === '"') return void this.#string();
    if (character === "t") return this.#literal("true");
    if (character === "f") return this.#literal("false");
    if (character === "n") return this.#literal("null");
    if (character !== undefined && /[-\d]/.test(character)) return this.#number();
    this.#fail("looking for beginning of value");
  }

  #literal(word: string): void {
    for (let index = 0; index < word.length; index++, this.#at++) {
      if (this.#text[this.#at] !== word[index]) this.#fail(`in literal ${word} (expecting '${word[index]}')`);
    }
  }

  #digits(where: string): void {
    if (!/\d/.test(this.#text[this.#at] ?? "")) this.#fail(where);
    while (/\d/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #number(): void {
    if (this.#text[this.#at] === "-") this.#at++;
    if (this.#text[this.#at] === "0") this.#at++;
    else this.#digits("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#digits("after decimal point in numeric literal");
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      if (/[-+]/.test(this.#text[this.#at] ?? "")) this.#at++;
      this.#digits("in exponent of numeric literal");
    }
  }

  #string(): string {
    const start = this.#at++;
    while (this.#text[this.#at] !== '"') {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Stop(END);
      if (character < " ") this.#fail("in string literal");
      if (character === "\\") {
        this.#at++;
        if (!/["\\/bfnrtu]/.test(this.#text[this.#at] ?? "")) this.#fail("in string escape code");
      }
      this.#at++;
    }
    this.#at++;
    const raw = this.#text.slice(start, this.#at);
    return raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1);
  }

  #object(path: readonly (string | number)[]): void {
    const seen = new Set<string>();
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "}") return void this.#at++;
    while (true) {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#fail("looking for beginning of object key string");
      const key = this.#string();
      const at = [...path, key];
      if (seen.has(key)) this.duplicates.push(pathText(at));
      this.onKey?.(pathText(at), seen.has(key));
      seen.add(key);
      this.#space();
      if (this.#text[this.#at] !== ":") this.#fail("after object key");
      this.#at++;
      this.#value(at);
      this.#space();
      if (this.#text[this.#at] === "}") return void this.#at++;
      if (this.#text[this.#at] !== ",") this.#fail("after object key:value pair");
      this.#at++;
    }
  }

  #array(path: readonly (string | number)[]): void {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "]") return void this.#at++;
    for (let index = 0;; index++) {
      this.#value([...path, index]);
      this.#space();
      if (this.#text[this.#at] === "]") return void this.#at++;
      if (this.#text[this.#at] !== ",") this.#fail("after array element");
      this.#at++;
    }
  }
}

/** What is wrong with a text, in Go's words; undefined if it is JSON. */
export function syntaxError(text: string): string | undefined {
  try {
    new Scanner(text).document();
    return undefined;
  } catch (error) {
    if (error instanceof Stop) return error.message;
    throw error;
  }
}

/** How many keys a value has, all the way down. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) { for (const item of value) count += countKeys(item); }
  else for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key]);
  return count;
}

const QUOTE = 34, BACKSLASH = 92, COLON = 58;

/** How many colons a text has outside its strings: as many as keys were written. */
function countColons(text: string): number {
  let count = 0, inside = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inside = !inside;
    else if (inside) {
      if (code === BACKSLASH) at++;
    } else if (code === COLON) count++;
  }
  return count;
}

/** The paths of keys that come twice in a text that is JSON; the value it was read as saves the search. */
export function duplicateKeys(text: string, value: unknown = JSON.parse(text)): string[] {
  if (countColons(text) === countKeys(value)) return [];
  const scanner = new Scanner(text);
  scanner.document();
  return scanner.duplicates;
}

/** Calls back with the path of each key of a text that is JSON, in the order in which they are written. */
export function visitKeys(text: string, visit: (path: string, again: boolean) => void): void {
  const scanner = new Scanner(text);
  scanner.onKey = visit;
  scanner.document();
}
