/**
 * Reads expressions of the Common Expression Language, with the optional syntax that Kubernetes allows.
 *
 * ```ts
 * import { parseExpression } from "./_cel_parse.ts";
 *
 * console.assert(parseExpression("self.size > 1").kind === "call");
 * ```
 *
 * @module
 */
import { escapeText, type Token, tokens } from "./_cel_tokens.ts";

/** A part of an expression; `at` is where messages point to. */
export type Node =
  | { readonly kind: "literal"; readonly at: number; readonly value: unknown; readonly type: string }
  | { readonly kind: "name"; readonly at: number; readonly name: string }
  | {
    readonly kind: "select";
    readonly at: number;
    readonly operand: Node;
    readonly field: string;
    readonly optional: boolean;
    readonly test: boolean;
  }
  | {
    readonly kind: "call";
    readonly at: number;
    readonly name: string;
    readonly target: Node | undefined;
    readonly args: readonly Node[];
  }
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Item[] }
  | { readonly kind: "map"; readonly at: number; readonly entries: readonly Entry[] };

/** An item of a list; an optional one may be left out. */
export interface Item {
  readonly node: Node;
  readonly optional: boolean;
}

/** An entry of a map. */
export interface Entry extends Item {
  readonly key: Node;
}

/** What is wrong with an expression. */
export interface Issue {
  readonly at: number;
  readonly text: string;
}

/** Thrown for an expression that cannot be read. */
export class ParseError extends SyntaxError {
  override name = "ParseError";
  /** What is wrong, in order. */
  readonly issues: readonly Issue[];

  /** Takes what is wrong. */
  constructor(issues: readonly Issue[]) {
    super(issues[0]?.text);
    this.issues = issues;
  }
}

const EXPECTED =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** How tightly operators bind. */
const BINDING: Readonly<Record<string, number>> = {
  "||": 1,
  "&&": 2,
  "<": 3,
  "<=": 3,
  ">": 3,
  ">=": 3,
  "==": 3,
  "!=": 3,
  in: 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
};

class Parser {
  readonly #tokens: readonly Token[];
  readonly #issues: Issue[];
  #index = 0;

  constructor(found: readonly Token[], issues: Issue[]) {
    this.#tokens = found;
    this.#issues = issues;
  }

  get #token(): Token {
    return this.#tokens[this.#index]!;
  }

  #take(): Token {
    const token = this.#token;
    if (token.kind !== "end") this.#index++;
    return token;
  }

  #is(text: string): boolean {
    return this.#token.kind === "symbol" && this.#token.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #fail(expecting: string, word = "mismatched"): never {
    const { at, text, kind } = this.#token;
    const found = kind === "end" ? "<EOF>" : escapeText(text);
    const what = word === "missing" ? `${expecting} at '${found}'` : `input '${found}' expecting ${expecting}`;
    this.#issues.push({ at, text: `Syntax error: ${word} ${what}` });
    throw new ParseError(this.#issues.toSorted((a, b) => a.at - b.at));
  }

  #expect(text: string): Token {
    return this.#accept(text) ?? this.#fail(`'${text}'`, "missing");
  }

  whole(): Node {
    const node = this.expression();
    if (this.#token.kind !== "end") this.#fail("<EOF>", "extraneous");
    if (this.#issues.length > 0) throw new ParseError(this.#issues);
    return node;
  }

  expression(): Node {
    const condition = this.#binary(1);
    const question = this.#accept("?");
    if (!question) return condition;
    const yes = this.#binary(1);
    this.#expect(":");
    const no = this.expression();
    return { kind: "call", at: question.at, name: "_?_:_", target: undefined, args: [condition, yes, no] };
  }

  #binary(least: number): Node {
    let left = this.#unary();
    while (true) {
      const { kind, text, at } = this.#token;
      const binding = kind === "symbol" ? BINDING[text] : undefined;
      if (binding === undefined || binding < least) return left;
      this.#take();
      const right = this.#binary(binding + 1);
      const name = text === "in" ? "@in" : `_${text}_`;
      left = { kind: "call", at, name, target: undefined, args: [left, right] };
    }
  }

  #unary(): Node {
    for (const sign of ["!", "-"]) {
      const first = this.#accept(sign);
      if (!first) continue;
      let count = 1;
      while (this.#is(sign)) {
        this.#take();
        count++;
      }
      if (sign === "-" && count === 1 && this.#token.kind === "number") {
        const { value, type } = this.#token;
        if (type !== "uint") {
          this.#take();
          const negative = typeof value === "bigint" ? -value : -(value as number);
          return this.#members({ kind: "literal", at: first.at, value: negative, type: type! });
        }
      }
      const operand = this.#members(this.#primary());
      if (count % 2 === 0) return operand;
      return { kind: "call", at: first.at, name: `${sign}_`, target: undefined, args: [operand] };
    }
    return this.#members(this.#primary());
  }

  #members(operand: Node): Node {
    while (true) {
      const dot = this.#accept(".");
      if (dot) {
        const question = this.#accept("?");
        const { kind, text } = this.#token;
        if (kind !== "name" && kind !== "quoted") this.#fail("IDENTIFIER");
        this.#take();
        const open = question ? undefined : this.#accept("(");
        if (open) {
          const args = this.#list(")");
          operand = call(open.at, text, operand, args);
        } else {
          const { at } = question ?? dot;
          operand = { kind: "select", at, operand, field: text, optional: question !== undefined, test: false };
        }
        continue;
      }
      const bracket = this.#accept("[");
      if (!bracket) return operand;
      const name = this.#accept("?") ? "_[?_]" : "_[_]";
      const index = this.expression();
      this.#expect("]");
      operand = { kind: "call", at: bracket.at, name, target: undefined, args: [operand, index] };
    }
  }

  #list(end: string): Node[] {
    const found: Node[] = [];
    while (!this.#is(end)) {
      found.push(this.expression());
      if (!this.#accept(",")) break;
    }
    this.#expect(end);
    return found;
  }

  #primary(): Node {
    const { kind, text, at, value, type } = this.#token;
    switch (kind) {
      case "number":
      case "text":
        this.#take();
        return { kind: "literal", at, value, type: type! };
      case "name": {
        this.#take();
        if (text === "true" || text === "false") return { kind: "literal", at, value: text === "true", type: "bool" };
        if (text === "null") return { kind: "literal", at, value: null, type: "null_type" };
        const open = this.#accept("(");
        return open ? call(open.at, text, undefined, this.#list(")")) : { kind: "name", at, name: text };
      }
    }
    if (this.#accept("(")) {
      const inner = this.expression();
      this.#expect(")");
      return inner;
    }
    if (this.#accept("[")) {
      const items: Item[] = [];
      while (!this.#is("]")) {
        const optional = this.#accept("?") !== undefined;
        items.push({ node: this.expression(), optional });
        if (!this.#accept(",")) break;
      }
      this.#expect("]");
      return { kind: "list", at, items };
    }
    if (this.#accept("{")) {
      const entries: Entry[] = [];
      while (!this.#is("}")) {
        const optional = this.#accept("?") !== undefined;
        const key = this.expression();
        this.#expect(":");
        entries.push({ key, node: this.expression(), optional });
        if (!this.#accept(",")) break;
      }
      this.#expect("}");
      return { kind: "map", at, entries };
    }
    if (this.#accept(".")) return this.#primary();
    return this.#fail(EXPECTED);
  }
}

function call(at: number, name: string, target: Node | undefined, args: readonly Node[]): Node {
  const [only] = args;
  if (name === "has" && target === undefined && args.length === 1 && only?.kind === "select") {
    return { ...only, at, test: true };
  }
  return { kind: "call", at, name, target, args };
}

/**
 * Reads an expression.
 *
 * @throws {ParseError} If it is none
 */
export function parseExpression(text: string): Node {
  const issues: Issue[] = [];
  return new Parser(tokens(text, issues), issues).whole();
}
