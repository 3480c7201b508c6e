/**
 * Computes expressions of the Common Expression Language.
 *
 * ```ts
 * import { parseExpression } from "./_cel_parse.ts";
 * import { evaluate } from "./_cel_evaluate.ts";
 *
 * console.assert(evaluate(parseExpression("self + 1 > 2"), new Map([["self", 2n]])) === true);
 * ```
 *
 * @module
 */
import { overloads } from "./_cel_functions.ts";
import { type Macro, macroOf } from "./_cel_macros.ts";
import type { Node } from "./_cel_parse.ts";
import { TYPE_NAMES } from "./_cel_types.ts";
import { CelError, isOf, noOverload, Optional, TypeValue, Uint } from "./_cel_values.ts";

/** The values of variables. */
export type Variables = ReadonlyMap<string, unknown>;

function optionalItem(node: Node, optional: boolean, scope: Variables): { value: unknown } | undefined {
  const value = evaluate(node, scope);
  if (!optional) return { value };
  if (!(value instanceof Optional)) throw noOverload();
  return value.value === undefined ? undefined : { value: value.value };
}

function select(operand: unknown, field: string, optional: boolean, test: boolean): unknown {
  if (operand instanceof Optional) {
    const inside = operand.value instanceof Map ? operand.value.get(field) : undefined;
    return test ? inside !== undefined : new Optional(inside);
  }
  if (operand === null && !optional) {
    if (test) return false;
    throw new CelError(`no such key: ${field}`);
  }
  if (!(operand instanceof Map)) throw noOverload();
  const found = operand.get(field);
  if (test) return found !== undefined;
  if (optional) return new Optional(found);
  if (found === undefined) throw new CelError(`no such key: ${field}`);
  return found;
}

/** `&&` and `||`: one side that decides makes up for an error on the other. */
function logic(args: readonly Node[], scope: Variables, decisive: boolean): boolean {
  let problem: unknown;
  for (const each of args) {
    try {
      const value = evaluate(each, scope);
      if (value === decisive) return decisive;
      if (typeof value !== "boolean") problem ??= noOverload();
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      problem ??= error;
    }
  }
  if (problem !== undefined) throw problem;
  return !decisive;
}

function invoke(node: Node & { kind: "call" }, scope: Variables): unknown {
  const { name, args, target } = node;
  if (name === "_&&_") return logic(args, scope, false);
  if (name === "_||_") return logic(args, scope, true);
  if (name === "_?_:_") {
    const condition = evaluate(args[0]!, scope);
    if (typeof condition !== "boolean") throw noOverload();
    return evaluate(condition ? args[1]! : args[2]!, scope);
  }
  let declared = overloads(name);
  let method = target !== undefined;
  const values: unknown[] = [];
  if (target?.kind === "name" && !scope.has(target.name)) {
    declared = overloads(`${target.name}.${name}`);
    method = false;
  } else if (target) values.push(evaluate(target, scope));
  for (const each of args) values.push(evaluate(each, scope));
  const given = method ? values.slice(1) : values;
  for (const each of declared) {
    if ((each.target !== undefined) !== method || each.args.length !== given.length) continue;
    if (method && !isOf(values[0], each.target!)) continue;
    if (given.every((value, index) => isOf(value, each.args[index]!))) return each.run(...values);
  }
  throw noOverload();
}

/** The items of a range with their keys. */
function pairs(range: unknown): [unknown, unknown][] {
  if (Array.isArray(range)) return range.map((value, index) => [BigInt(index), value]);
  if (range instanceof Map) return [...range];
  throw noOverload();
}

function expand({ name, target, variables, condition, body }: Macro, scope: Variables): unknown {
  const range = evaluate(target, scope);
  const [first, second] = variables as [string, string?];
  if (name === "optMap" || name === "optFlatMap") {
    if (!(range instanceof Optional)) throw noOverload();
    if (range.value === undefined) return range;
    const value = evaluate(body, new Map([...scope, [first, range.value]]));
    return name === "optMap" ? new Optional(value) : value;
  }
  const keyed = range instanceof Map;
  const scopes = pairs(range).map(([key, value]) => {
    const inner = new Map(scope);
    if (second === undefined) inner.set(first, keyed ? key : value);
    else inner.set(first, key).set(second, value);
    return { inner, key, value };
  });
  const holds = (node: Node, inner: Variables): boolean => {
    const value = evaluate(node, inner);
    if (typeof value !== "boolean") throw noOverload();
    return value;
  };
  switch (name) {
    case "all":
    case "exists":
      return quantified(scopes.map(({ inner }) => () => holds(body, inner)), name === "exists");
    case "exists_one":
      return scopes.filter(({ inner }) => holds(body, inner)).length === 1;
    case "filter":
      return scopes.filter(({ inner }) => holds(body, inner)).map(({ key, value }) => keyed ? key : value);
  }
  const taken = scopes.filter(({ inner }) => condition === undefined || holds(condition, inner));
  const results = taken.map(({ inner }) => evaluate(body, inner));
  if (name === "transformMap") return new Map(taken.map(({ key }, index) => [key, results[index]]));
  if (name === "transformMapEntry") return new Map(results.flatMap((each) => each instanceof Map ? [...each] : []));
  return results;
}

function quantified(tests: readonly (() => boolean)[], decisive: boolean): boolean {
  let problem: unknown;
  for (const test of tests) {
    try {
      if (test() === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      problem ??= error;
    }
  }
  if (problem !== undefined) throw problem;
  return !decisive;
}

/**
 * Computes an expression.
 *
 * @throws {CelError} If it cannot be computed for these values
 */
export function evaluate(node: Node, scope: Variables): unknown {
  switch (node.kind) {
    case "literal":
      return node.type === "uint" ? new Uint(node.value as bigint) : node.value;
    case "name":
      if (!scope.has(node.name) && TYPE_NAMES.has(node.name)) return new TypeValue(node.name);
      if (!scope.has(node.name)) throw new CelError(`no such attribute(s): ${node.name}`);
      return scope.get(node.name);
    case "select":
      return select(evaluate(node.operand, scope), node.field, node.optional, node.test);
    case "list":
      return node.items.flatMap((each) => {
        const found = optionalItem(each.node, each.optional, scope);
        return found ? [found.value] : [];
      });
    case "map":
      return new Map(node.entries.flatMap((each) => {
        const key = evaluate(each.key, scope);
        const found = optionalItem(each.node, each.optional, scope);
        return found ? [[key, found.value] as const] : [];
      }));
  }
  const macro = macroOf(node);
  return macro ? expand(macro, scope) : invoke(node, scope);
}
