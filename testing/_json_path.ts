/**
 * Evaluates the JSONPaths of printer columns: names, indexes, slices, wildcards, descents and filters.
 *
 * ```ts
 * import { jsonPath } from "./_json_path.ts";
 *
 * console.assert(jsonPath({ list: [{ n: 1 }, { n: 2 }] }, ".list[?(@.n>1)].n")?.[0] === 2);
 * ```
 *
 * @module
 */
import { isObject } from "./_objects.ts";

/** A path that does not fit the values that it meets, such as an index of a text. */
class Mismatch extends Error {}

type Step = (value: unknown) => unknown[];

function members(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.keys(value).sort().map((key) => value[key]) : [];
}

function named(name: string): Step {
  return (value) => {
    if (value === null || value === undefined) return [];
    if (!isObject(value)) throw new Mismatch(name);
    return Object.hasOwn(value, name) ? [value[name]] : [];
  };
}

function* descendants(value: unknown): Generator<unknown> {
  yield value;
  for (const each of members(value)) yield* descendants(each);
}

function sliced(text: string): Step {
  const [from = "", to, step = "1"] = text.split(":");
  return (value) => {
    if (!Array.isArray(value)) throw new Mismatch(text);
    const place = (index: number): number => index < 0 ? index + value.length : index;
    const start = from === "" ? 0 : place(Number(from));
    if (to === undefined) {
      if (start < 0 || start >= value.length) throw new Mismatch(text);
      return [value[start]];
    }
    const end = to === "" ? value.length : place(Number(to));
    return value.slice(start, end).filter((_, index) => index % Math.max(1, Number(step)) === 0);
  };
}

const FILTER = /^\?\(\s*(.+?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?\)$/s;

/** One side of a filter: a path from the item, or a literal. */
function operand(text: string): (item: unknown) => unknown {
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  if (quoted) return () => quoted[2];
  if (text.startsWith("@")) {
    const path = steps(text.slice(1));
    return (item) => walk(item, path)[0];
  }
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => Number(text);
  return () => text === "true" ? true : text === "false" ? false : text;
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (left === undefined || typeof left !== typeof right) return false;
  switch (operator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left as number < (right as number);
    case "<=":
      return left as number <= (right as number);
    case ">":
      return left as number > (right as number);
    default:
      return left as number >= (right as number);
  }
}

function filtered(text: string): Step {
  const [, first = "", operator, second = ""] = FILTER.exec(text) ?? [];
  const left = operand(first), right = operand(second);
  return (value) => {
    if (!Array.isArray(value)) throw new Mismatch(text);
    return value.filter((item) =>
      operator === undefined ? left(item) !== undefined : compare(left(item), operator, right(item))
    );
  };
}

function bracketed(text: string): Step[] {
  if (text === "*") return [members];
  if (text.startsWith("?")) return [filtered(text)];
  const quoted = /^'(.*)'$|^"(.*)"$/s.exec(text);
  // What is quoted is a path of its own: dots in a name are escaped in quotes, too.
  if (quoted) return steps(`.${quoted[1] ?? quoted[2]}`);
  if (!text.includes(",")) return [sliced(text)];
  const each = text.split(",").map((part) => bracketed(part.trim()));
  return [(value) => each.flatMap((path) => walk(value, path))];
}

const PART = /\.\.|\[((?:"[^"]*"|'[^']*'|[^\]"'])*)\]|(?:\\.|[^.[\]\\])+/gs;

function steps(path: string): Step[] {
  const found: Step[] = [];
  for (const [part, inner] of path.matchAll(PART)) {
    if (part === "..") found.push((value) => [...descendants(value)].filter(isObject));
    else if (inner !== undefined) found.push(...bracketed(inner));
    else if (part === "*") found.push(members);
    else found.push(named(part.replace(/\\(.)/g, "$1")));
  }
  return found;
}

function walk(value: unknown, path: readonly Step[]): unknown[] {
  return path.reduce<unknown[]>((values, step) => values.flatMap((each) => step(each)), [value]);
}

/** What is found at a path; undefined if the path does not fit the value. */
export function jsonPath(value: unknown, path: string): unknown[] | undefined {
  try {
    return walk(value, steps(path));
  } catch (error) {
    if (error instanceof Mismatch) return undefined;
    throw error;
  }
}
