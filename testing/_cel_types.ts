/**
 * Describes the types of the Common Expression Language: how they are written, and what fits where.
 *
 * ```ts
 * import { fits, parseType, show } from "./_cel_types.ts";
 *
 * console.assert(fits(parseType("list(A)"), parseType("list(int)"), new Map()));
 * console.assert(show(parseType("map(string, dyn)")) === "map(string, dyn)");
 * ```
 *
 * @module
 */

/** A type; an object's has fields. A name of one capital letter stands for any one type. */
export interface Type {
  readonly name: string;
  readonly args: readonly Type[];
  /** An object's fields, by the names that expressions use. */
  readonly fields?: ReadonlyMap<string, Type> | undefined;
}

/** A function or method that is declared. */
export interface Signature {
  readonly name: string;
  /** Set for a method. */
  readonly target: Type | undefined;
  readonly args: readonly Type[];
  readonly result: Type;
}

/** What a function does; a method's target comes first. */
// deno-lint-ignore no-explicit-any
export type Implementation = (...args: any[]) => unknown;

/** Functions by their declarations, such as `string.startsWith(string): bool`. */
export type Library = Readonly<Record<string, Implementation>>;

const known = new Map<string, Type>();

/** A type without arguments. */
export function simple(name: string): Type {
  let type = known.get(name);
  if (!type) known.set(name, type = { name, args: [] });
  return type;
}

/** Any type. */
export const DYN: Type = simple("dyn");
/** True and false. */
export const BOOL: Type = simple("bool");
/** Integers of 64 bits. */
export const INT: Type = simple("int");
/** Texts. */
export const STRING: Type = simple("string");

/** The type of lists. */
export function listOf(item: Type): Type {
  return { name: "list", args: [item] };
}

/** The type of maps. */
export function mapOf(key: Type, value: Type): Type {
  return { name: "map", args: [key, value] };
}

/** The type of a value that may be absent. */
export function optionalOf(value: Type): Type {
  return { name: "optional_type", args: [value] };
}

/** The type of objects with fields. */
export function objectOf(fields: ReadonlyMap<string, Type>): Type {
  return { name: "object", args: [], fields };
}

/** Splits at commas that are in no parentheses. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0, from = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "(") depth++;
    else if (character === ")") depth--;
    else if ((character === "," && depth === 0) || character === undefined) {
      const part = text.slice(from, at).trim();
      if (part !== "") parts.push(part);
      from = at + 1;
    }
  }
  return parts;
}

/** Reads a type, such as `map(string, list(A))`. */
export function parseType(text: string): Type {
  const open = text.indexOf("(");
  if (open < 0) return simple(text.trim());
  const args = split(text.slice(open + 1, text.lastIndexOf(")"))).map(parseType);
  return { name: text.slice(0, open).trim(), args };
}

/** Reads a declaration, such as `list(A).indexOf(A): int`. */
export function parseSignature(text: string): Signature {
  const colon = text.lastIndexOf(": ");
  const result = parseType(text.slice(colon + 2));
  const left = text.slice(0, colon);
  let depth = 0, open = left.length - 1;
  for (; open >= 0; open--) {
    if (left[open] === ")") depth++;
    else if (left[open] === "(" && --depth === 0) break;
  }
  const args = split(left.slice(open + 1, -1)).map(parseType);
  const head = left.slice(0, open);
  // A method's name comes after the last dot; namespaces of functions are written with a slash.
  const dot = head.lastIndexOf(".");
  const target = dot < 0 ? undefined : parseType(head.slice(0, dot));
  const name = head.slice(dot + 1);
  return { name: /^[a-z]+\/[a-z]/i.test(name) ? name.replace("/", ".") : name, target, args, result };
}

/** A type as messages have it. */
export function show({ name, args }: Type): string {
  if (name === "null_type") return "null";
  return args.length === 0 ? name : `${name}(${args.map(show).join(", ")})`;
}

const VARIABLE = /^[A-Z]$/;

/** True if a value of a type can be where another is wanted; what type variables stand for is noted. */
export function fits(wanted: Type, given: Type, bound: Map<string, Type>): boolean {
  if (VARIABLE.test(wanted.name)) {
    const already = bound.get(wanted.name);
    if (already === undefined || already.name === "dyn") {
      bound.set(wanted.name, given);
      return true;
    }
    if (given.name === "dyn") return true;
    if (fits(already, given, bound)) return true;
    // An empty list is a list of anything.
    if (!fits(given, already, bound)) return false;
    bound.set(wanted.name, given);
    return true;
  }
  if (wanted.name === "dyn" || given.name === "dyn" || VARIABLE.test(given.name)) return true;
  if (given.name === "null_type") return wanted.name === "null_type" || wanted.fields !== undefined;
  if (wanted.name !== given.name || wanted.args.length !== given.args.length) return false;
  if (wanted.fields && given.fields && wanted.fields !== given.fields) return sameFields(wanted.fields, given.fields);
  return wanted.args.every((each, index) => fits(each, given.args[index]!, bound));
}

function sameFields(a: ReadonlyMap<string, Type>, b: ReadonlyMap<string, Type>): boolean {
  return a.size === b.size && [...a].every(([name, type]) => {
    const other = b.get(name);
    return other !== undefined && fits(type, other, new Map());
  });
}

/** The types that expressions can name. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "type",
  "uint",
]);

/** A type with its variables replaced. */
export function replaced(type: Type, bound: ReadonlyMap<string, Type>): Type {
  if (VARIABLE.test(type.name)) return bound.get(type.name) ?? DYN;
  return type.args.length === 0 ? type : { ...type, args: type.args.map((each) => replaced(each, bound)) };
}

/** The type of values of either type. */
export function joined(a: Type, b: Type): Type {
  return show(a) === show(b) && a.fields === b.fields ? a : DYN;
}
