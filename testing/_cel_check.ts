/**
 * Checks the types of expressions, and says what is wrong as a server does: with the line and a mark below it.
 *
 * ```ts
 * import { compile } from "./_cel_check.ts";
 * import { INT } from "./_cel_types.ts";
 *
 * const { issues } = compile("self + 'a'", new Map([["self", INT]]));
 * console.assert(issues?.includes("found no matching overload for '_+_' applied to '(int, string)'"));
 * ```
 *
 * @module
 */
import { overloads } from "./_cel_functions.ts";
import { type Macro, macroOf } from "./_cel_macros.ts";
import { type Issue, type Item, type Node, ParseError, parseExpression } from "./_cel_parse.ts";
import { readDuration, readTimestamp } from "./_cel_times.ts";
import {
  BOOL,
  DYN,
  fits,
  INT,
  joined,
  listOf,
  mapOf,
  optionalOf,
  replaced,
  show,
  simple,
  type Type,
  TYPE_NAMES,
} from "./_cel_types.ts";
import { goPattern } from "./_go_pattern.ts";

/** The variables that an expression may use. */
export type Declarations = ReadonlyMap<string, Type>;

/** What became of an expression. */
export interface Compiled {
  /** What is wrong, as a server says it; undefined if nothing is. */
  readonly issues: string | undefined;
  /** The expression, if it could be read. */
  readonly node?: Node;
  /** Its type. */
  readonly type: Type;
}

class Checker {
  readonly issues: Issue[] = [];

  /** The items of a list whose types may differ: what a format is filled in with. */
  #mixed: readonly Item[] | undefined;

  fail(at: number, text: string): Type {
    this.issues.push({ at, text });
    return DYN;
  }

  check(node: Node, scope: Declarations): Type {
    switch (node.kind) {
      case "literal":
        return simple(node.type);
      case "name":
        if (!scope.has(node.name) && TYPE_NAMES.has(node.name)) return simple("type");
        return scope.get(node.name) ?? this.fail(node.at, `undeclared reference to '${node.name}' (in container '')`);
      case "select":
        return this.#select(node, scope);
      case "list":
        return listOf(this.#alike(node.items, "T", scope));
      case "map": {
        const keys = node.entries.map(({ key }) => ({ node: key, optional: false }));
        return mapOf(this.#alike(keys, "K", scope), this.#alike(node.entries, "V", scope));
      }
    }
    return this.#call(node, scope);
  }

  /** The type that all parts of a literal must have; a variable if there are none. */
  #alike(items: readonly Item[], variable: string, scope: Declarations): Type {
    let common: Type | undefined;
    for (const { node, optional } of items) {
      const type = this.check(node, scope);
      const inside = optional && type.name === "optional_type" ? type.args[0]! : type;
      if (common && this.#mixed !== items && !fits(common, inside, new Map())) {
        this.fail(node.at, `expected type '${show(common)}' but found '${show(inside)}'`);
      }
      common = common ? joined(common, inside) : inside;
    }
    return common ?? simple(variable);
  }

  #select(node: Node & { kind: "select" }, scope: Declarations): Type {
    const { operand, field, at, optional, test } = node;
    const given = this.check(operand, scope);
    const inside = given.name === "optional_type" ? given.args[0]! : given;
    const found = this.#field(inside, field, at);
    if (test) return BOOL;
    return (optional || inside !== given) && found.name !== "optional_type" ? optionalOf(found) : found;
  }

  #field(type: Type, field: string, at: number): Type {
    if (type.name === "dyn" || /^[A-Z]$/.test(type.name)) return DYN;
    if (type.name === "map") return type.args[1]!;
    if (!type.fields) return this.fail(at, `type '${show(type)}' does not support field selection`);
    return type.fields.get(field) ?? this.fail(at, `undefined field '${field}'`);
  }

  #call(node: Node & { kind: "call" }, scope: Declarations): Type {
    const macro = macroOf(node);
    if (macro) return this.#macro(macro, scope);
    const { name, args, at, target } = node;
    if (name === "_&&_" || name === "_||_") {
      for (const each of args) {
        const type = this.check(each, scope);
        if (!fits(BOOL, type, new Map())) this.fail(each.at, `expected type 'bool' but found '${show(type)}'`);
      }
      return BOOL;
    }
    if (name === "_?_:_") {
      const [condition, yes, no] = args.map((each) => this.check(each, scope)) as [Type, Type, Type];
      const bound = new Map<string, Type>();
      if (fits(BOOL, condition, bound) && fits(simple("A"), yes, bound) && fits(simple("A"), no, bound)) {
        return replaced(simple("A"), bound);
      }
      return this.#noOverload(at, name, undefined, [condition, yes, no]);
    }
    if (target?.kind === "name" && !scope.has(target.name)) {
      const qualified = `${target.name}.${name}`;
      if (overloads(qualified).length > 0) return this.#resolve(node, qualified, undefined, scope);
    }
    return this.#resolve(node, name, target && this.check(target, scope), scope);
  }

  #resolve(node: Node & { kind: "call" }, name: string, target: Type | undefined, scope: Declarations): Type {
    const [first] = node.args;
    if (name === "format" && first?.kind === "list") this.#mixed = first.items;
    const args = node.args.map((each) => this.check(each, scope));
    const declared = overloads(name);
    if (declared.length === 0) return this.fail(node.at, `undeclared reference to '${name}' (in container '')`);
    let result: Type | undefined;
    for (const each of declared) {
      if ((each.target === undefined) !== (target === undefined) || each.args.length !== args.length) continue;
      const bound = new Map<string, Type>();
      if (target && !fits(each.target!, target, bound)) continue;
      if (!each.args.every((wanted, index) => fits(wanted, args[index]!, bound))) continue;
      const type = replaced(each.result, bound);
      result = result === undefined ? type : joined(result, type);
    }
    if (result === undefined) return this.#noOverload(node.at, name, target, args);
    this.#literals(node, name);
    return result;
  }

  #noOverload(at: number, name: string, target: Type | undefined, args: readonly Type[]): Type {
    const shown = `${target ? `${show(target)}.` : ""}(${args.map(show).join(", ")})`;
    return this.fail(at, `found no matching overload for '${name}' applied to '${shown}'`);
  }

  /** Literals that a function cannot take are refused at once. */
  #literals(node: Node & { kind: "call" }, name: string): void {
    const last = node.args.at(-1);
    if (last?.kind !== "literal" || typeof last.value !== "string") return;
    const { value } = last;
    const refused = (read: () => unknown): boolean => {
      try {
        return read() === undefined;
      } catch {
        return true;
      }
    };
    const bad = name === "matches"
      ? refused(() => goPattern(value))
      : name === "duration"
      ? refused(() => readDuration(value))
      : name === "timestamp" && refused(() => readTimestamp(value));
    if (bad) this.fail(last.at, `invalid ${name} argument`);
  }

  #macro({ name, target, variables, condition, body, at }: Macro, scope: Declarations): Type {
    const range = this.check(target, scope);
    const [first, second] = variables as [string, string?];
    if (name === "optMap" || name === "optFlatMap") {
      const value = range.name === "optional_type" ? range.args[0]! : DYN;
      const type = this.check(body, new Map([...scope, [first, value]]));
      return name === "optFlatMap" ? type : optionalOf(type);
    }
    let key: Type = DYN, value: Type = DYN;
    if (range.name === "list") [key, value] = [INT, range.args[0]!];
    else if (range.name === "map") [key, value] = range.args as [Type, Type];
    else if (range.name !== "dyn") {
      const why = "cannot be range of a comprehension (must be list, map, or dynamic)";
      this.fail(target.at, `expression of type '${show(range)}' ${why}`);
    }
    const inner = new Map(scope);
    if (second === undefined) inner.set(first, range.name === "map" ? key : value);
    else inner.set(first, key).set(second, value);
    const bool = (node: Node): void => {
      const type = this.check(node, inner);
      if (fits(BOOL, type, new Map())) return;
      if (name === "all" || name === "exists") this.fail(node.at, `expected type 'bool' but found '${show(type)}'`);
      else this.#noOverload(at, "_?_:_", undefined, [type, DYN, DYN]);
    };
    if (condition) bool(condition);
    switch (name) {
      case "all":
      case "exists":
      case "exists_one":
        bool(body);
        return BOOL;
      case "filter":
        bool(body);
        return listOf(range.name === "map" ? key : value);
      case "transformMap":
        return mapOf(key, this.check(body, inner));
      case "transformMapEntry":
        return this.check(body, inner);
    }
    return listOf(this.check(body, inner));
  }
}

/** Writes what is wrong with an expression, each with its line and a mark. */
function written(text: string, issues: readonly Issue[]): string {
  return issues.map(({ at, text: message }) => {
    const before = text.slice(0, at).split("\n");
    const column = [...before.at(-1)!].length;
    const line = text.split("\n")[before.length - 1]!;
    return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${".".repeat(column)}^`;
  }).join("\n");
}

/** Reads and checks an expression. */
export function compile(text: string, variables: Declarations): Compiled {
  let node: Node;
  try {
    node = parseExpression(text);
  } catch (error) {
    if (error instanceof ParseError) return { issues: written(text, error.issues), type: DYN };
    throw error;
  }
  const checker = new Checker();
  const type = checker.check(node, variables);
  const issues = checker.issues.toSorted((a, b) => a.at - b.at);
  return { issues: issues.length > 0 ? written(text, issues) : undefined, node, type };
}

/** True if an expression uses a variable. */
export function uses(node: Node, name: string): boolean {
  switch (node.kind) {
    case "literal":
      return false;
    case "name":
      return node.name === name;
    case "select":
      return uses(node.operand, name);
    case "list":
      return node.items.some((each) => uses(each.node, name));
    case "map":
      return node.entries.some((each) => uses(each.key, name) || uses(each.node, name));
  }
  return (node.target !== undefined && uses(node.target, name)) || node.args.some((each) => uses(each, name));
}
