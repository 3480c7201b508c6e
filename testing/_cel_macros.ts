/**
 * Names the macros of the Common Expression Language: calls that bind variables.
 *
 * ```ts
 * import { parseExpression } from "./_cel_parse.ts";
 * import { macroOf } from "./_cel_macros.ts";
 *
 * console.assert(macroOf(parseExpression("[1].all(x, x > 0)"))?.variables.length === 1);
 * ```
 *
 * @module
 */
import type { Node } from "./_cel_parse.ts";

/** What a macro makes of a range, or of an optional value. */
export type MacroName =
  | "all"
  | "exists"
  | "exists_one"
  | "filter"
  | "map"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"
  | "optMap"
  | "optFlatMap";

/** A call of a macro. */
export interface Macro {
  readonly name: MacroName;
  readonly at: number;
  readonly target: Node;
  /** The names of the variables. */
  readonly variables: readonly string[];
  /** What must hold for an item to be taken; in some macros. */
  readonly condition: Node | undefined;
  /** What is computed for each item. */
  readonly body: Node;
}

const ALIASES: Readonly<Record<string, MacroName>> = { existsOne: "exists_one" };

/** How many variables each may have, and how many more arguments. */
const SHAPES: Readonly<Record<MacroName, readonly (readonly [variables: number, rest: number])[]>> = {
  all: [[1, 1], [2, 1]],
  exists: [[1, 1], [2, 1]],
  exists_one: [[1, 1], [2, 1]],
  filter: [[1, 1]],
  map: [[1, 1], [1, 2]],
  transformList: [[2, 1], [2, 2]],
  transformMap: [[2, 1], [2, 2]],
  transformMapEntry: [[2, 1], [2, 2]],
  optMap: [[1, 1]],
  optFlatMap: [[1, 1]],
};

/** The macro that a node calls, if it calls one. */
export function macroOf(node: Node): Macro | undefined {
  if (node.kind !== "call" || node.target === undefined) return undefined;
  const name = ALIASES[node.name] ?? node.name as MacroName;
  const { args, at, target } = node;
  for (const [count, rest] of Object.hasOwn(SHAPES, name) ? SHAPES[name] : []) {
    if (args.length !== count + rest) continue;
    const variables = args.slice(0, count).flatMap((each) => each.kind === "name" ? [each.name] : []);
    if (variables.length < count) continue;
    const condition = rest === 2 ? args[count] : undefined;
    return { name, at, target, variables, condition, body: args.at(-1)! };
  }
  return undefined;
}
