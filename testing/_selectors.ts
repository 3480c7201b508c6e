/**
 * Reads label and field selectors, and refuses what a server refuses, in its words.
 *
 * ```ts
 * import { parseFields } from "./_selectors.ts";
 *
 * console.assert(parseFields("metadata.name=a").length === 1);
 * ```
 *
 * @module
 */
import { validateLabelValue, validateQualified } from "./_metadata.ts";
import { field, type Fields } from "./_objects.ts";
import { badRequest } from "./_status.ts";

/** One requirement on a label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "exists" | "!" | "=" | "!=" | "in" | "notin" | "gt" | "lt";
  readonly values: readonly string[];
}

interface Token {
  readonly kind: "identifier" | "in" | "notin" | "end" | "symbol";
  readonly text: string;
}

const SYMBOLS = ["==", "!=", "=", "!", ">", "<", "(", ")", ","];

function* tokens(text: string): Generator<Token> {
  let at = 0;
  while (true) {
    while (/\s/.test(text[at] ?? "")) at++;
    if (at >= text.length) {
      yield { kind: "end", text: "" };
      continue;
    }
    const symbol = SYMBOLS.find((each) => text.startsWith(each, at));
    if (symbol) {
      at += symbol.length;
      yield { kind: "symbol", text: symbol };
      continue;
    }
    const start = at;
    while (at < text.length && !/[\s=!><(),]/.test(text[at]!)) at++;
    const word = text.slice(start, at);
    yield { kind: word === "in" || word === "notin" ? word : "identifier", text: word };
  }
}

class LabelParser {
  readonly #tokens: Generator<Token>;
  #next: Token;

  constructor(text: string) {
    this.#tokens = tokens(text);
    this.#next = this.#tokens.next().value;
  }

  #take(): Token {
    const taken = this.#next;
    this.#next = this.#tokens.next().value;
    return taken;
  }

  parse(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    while (this.#next.kind !== "end") {
      const { kind, text } = this.#next;
      if (kind === "symbol" && text !== "!") {
        throw badRequest(`found '${text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.#requirement());
      const after = this.#take();
      if (after.kind === "end") break;
      if (after.text !== ",") throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
      const { kind: next, text: follows } = this.#next;
      if (next !== "identifier" && next !== "in" && next !== "notin" && follows !== "!") {
        throw badRequest(`found '${follows}', expected: identifier after ','`);
      }
    }
    return found;
  }

  #fail(why: string): never {
    throw badRequest(`unable to parse requirement: ${why}`);
  }

  #requirement(): LabelRequirement {
    let operator: LabelRequirement["operator"] | undefined;
    if (this.#next.text === "!") {
      this.#take();
      operator = "!";
    }
    const { kind, text: key } = this.#take();
    if (kind === "end" || kind === "symbol") this.#fail(`found '${key}', expected: identifier`);
    const [wrong] = validateQualified(key);
    if (wrong !== undefined) this.#fail(`<nil>: Invalid value: ${JSON.stringify(key)}: ${wrong}`);
    if (operator === "!") return { key, operator, values: [] };
    if (this.#next.kind === "end" || this.#next.text === ",") return { key, operator: "exists", values: [] };
    const { text } = this.#take();
    switch (text) {
      case "in":
      case "notin":
        return this.#checked({ key, operator: text, values: this.#list() });
      case "=":
      case "==":
        return this.#checked({ key, operator: "=", values: [this.#value()] });
      case "!=":
        return this.#checked({ key, operator: "!=", values: [this.#value()] });
      case ">":
        return this.#checked({ key, operator: "gt", values: [this.#value()] });
      case "<":
        return this.#checked({ key, operator: "lt", values: [this.#value()] });
    }
    return this.#fail(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #checked(requirement: LabelRequirement): LabelRequirement {
    const { operator, values } = requirement;
    for (const [index, value] of values.entries()) {
      if ((operator === "gt" || operator === "lt") && !/^[-+]?\d+$/.test(value)) {
        const why = "for 'Gt', 'Lt' operators, the value must be an integer";
        this.#fail(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
      }
      const [wrong] = validateLabelValue(value);
      if (wrong !== undefined) {
        this.#fail(`values[${index}][${requirement.key}]: Invalid value: ${JSON.stringify(value)}: ${wrong}`);
      }
    }
    return requirement;
  }

  #value(): string {
    if (this.#next.kind === "end" || this.#next.text === ",") return "";
    const { kind, text } = this.#take();
    if (kind === "symbol") this.#fail(`found '${text}', expected: identifier`);
    return text;
  }

  #list(): string[] {
    const open = this.#take();
    if (open.text !== "(") this.#fail(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    if (this.#next.text === ")") {
      this.#take();
      return [""];
    }
    while (true) {
      const token = this.#take();
      if (token.text === ",") {
        values.add("");
        if (this.#next.text === ")") {
          this.#take();
          return [...values];
        }
        continue;
      }
      if (token.text === ")") {
        values.add("");
        return [...values];
      }
      if (token.kind === "end" || token.kind === "symbol") {
        this.#fail(`found '${token.text}', expected: ',', ')' or identifier`);
      }
      values.add(token.text);
      const after = this.#take();
      if (after.text === ")") return [...values].sort();
      if (after.text !== ",") this.#fail(`found '${after.text}', expected: ',' or ')'`);
      if (this.#next.text === ")") {
        values.add("");
        this.#take();
        return [...values];
      }
    }
  }
}

/**
 * Reads a label selector.
 *
 * @throws {StatusError} If it is not one
 */
export function parseLabels(selector: string): LabelRequirement[] {
  return new LabelParser(selector).parse();
}

/** True if all requirements hold for these labels. */
export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case "exists":
        return value !== undefined;
      case "!":
        return value === undefined;
      case "=":
      case "in":
        return value !== undefined && values.includes(value);
      case "!=":
      case "notin":
        return value === undefined || !values.includes(value);
      case "gt":
        return value !== undefined && /^[-+]?\d+$/.test(value) && Number(value) > Number(values[0]);
      case "lt":
        return value !== undefined && /^[-+]?\d+$/.test(value) && Number(value) < Number(values[0]);
    }
  });
}

/** One requirement on a field. */
export interface FieldRequirement {
  readonly path: string;
  readonly equals: boolean;
  readonly value: string;
}

function unescape(value: string): string {
  let text = "";
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character === "\\") {
      const next = value[++at];
      if (next === undefined || !"\\,=".includes(next)) {
        throw badRequest(`invalid field selector: invalid escape sequence: ${value.slice(at - 1, at + 1)}`);
      }
      text += next;
    } else if (character === "," || character === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else text += character;
  }
  return text;
}

/**
 * Reads a field selector.
 *
 * @throws {StatusError} If it is not one
 */
export function parseFields(selector: string): FieldRequirement[] {
  const found: FieldRequirement[] = [];
  for (const part of selector.split(/(?<!\\),/)) {
    if (part === "") continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (!match) throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`);
    const [, path = "", operator, value = ""] = match;
    if (path === "" && value === "") continue;
    found.push({ path, equals: operator !== "!=", value: unescape(value) });
  }
  return found;
}

/** What a resource lets fields be selected by. */
export interface Selectable {
  readonly paths: readonly string[];
  readonly defaults: Readonly<Record<string, string>>;
}

/** The value of a field as selectors see it. */
export function selectedValue(object: Fields, path: string, defaults: Selectable["defaults"]): string {
  const value = path === "name" ? object.metadata?.name : field(object, path);
  return value === undefined || value === null ? defaults[path] ?? "" : String(value);
}

/** True if all requirements hold for an object. */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  object: Fields,
  defaults: Selectable["defaults"],
): boolean {
  return requirements.every(({ path, equals, value }) => (selectedValue(object, path, defaults) === value) === equals);
}
