/**
 * Estimates what an expression costs at most, as a server does before it takes a rule.
 *
 * ```ts
 * import { overBudget } from "./_cel_cost.ts";
 *
 * console.assert(overBudget(1000) === undefined);
 * ```
 *
 * @module
 */
import { overloads } from "./_cel_functions.ts";
import { macroOf } from "./_cel_macros.ts";
import type { Node } from "./_cel_parse.ts";
import { fieldName } from "./_cel_schema.ts";
import { TYPE_NAMES } from "./_cel_types.ts";
import type { FieldError } from "./_field_error.ts";
import type { Schema } from "./_schema.ts";

/** The bytes that a request may have: nothing in it can be larger. */
const REQUEST = 3_145_728;
const RULE_LIMIT = 10_000_000;
const SCHEMA_LIMIT = 100_000_000;
/** Costs are kept below this, as Go's integers overflow. */
const MOST = 2 ** 64;

/** How large a value may be, and what is in it. */
interface Shape {
  /** Characters, items or entries. */
  readonly size: number;
  /** True for what has no size at all, such as a number. */
  readonly scalar?: boolean;
  readonly item?: (() => Shape) | undefined;
  readonly field?: ((name: string) => Shape) | undefined;
}

const UNKNOWN: Shape = { size: Infinity };
const ONE: Shape = { size: 1, scalar: true };

/** The fewest bytes that a value takes in a request. */
function least(schema: Schema): number {
  switch (schema.type) {
    case "boolean":
      return 4;
    case "integer":
    case "number":
      return 1;
    case "object": {
      const { required = [], properties = {} } = schema;
      return required.reduce(
        (sum, name) => sum + name.length + 3 + (properties[name] ? least(properties[name]) : 1),
        2,
      );
    }
  }
  return 2;
}

function most(schema: Schema): number {
  switch (schema.type) {
    case "array":
      return schema.maxItems ?? Math.floor((REQUEST - 2) / ((schema.items ? least(schema.items) : 1) + 1));
    case "object": {
      const { additionalProperties: rest, maxProperties } = schema;
      if (typeof rest !== "object") return 1;
      return maxProperties ?? Math.floor((REQUEST - 2) / (least(rest) + 4));
    }
    case "string":
      if (schema.maxLength !== undefined) return schema.maxLength * 4;
      if (schema.enum?.length) return Math.max(...schema.enum.map((each) => String(each).length));
      return { date: 10, "date-time": 25, duration: 32 }[schema.format ?? ""] ?? REQUEST - 2;
  }
  return schema["x-kubernetes-int-or-string"] ? REQUEST - 2 : 1;
}

function shapeOf(schema: Schema, resource = false): Shape {
  const { properties = {}, items, additionalProperties: rest } = schema;
  const size = most(schema);
  if (schema.type === "array" && items) return { size, item: () => shapeOf(items) };
  if (schema.type !== "object") return { size };
  if (typeof rest === "object" && Object.keys(properties).length === 0) {
    return { size, item: () => ({ size: REQUEST - 2 }), field: () => shapeOf(rest) };
  }
  const byName = new Map(Object.entries(properties).map(([name, each]) => [fieldName(name), each]));
  const field = (name: string): Shape => {
    const known = byName.get(name);
    if (known && !(resource && name === "metadata")) return shapeOf(known);
    return resource ? { size: 253, field: () => ({ size: 253 }) } : UNKNOWN;
  };
  return { size, field };
}

/** A cost, and the shape of what comes out. */
interface Estimate {
  readonly cost: number;
  readonly shape: Shape;
}

const traversal = (size: number): number => Math.ceil(size * 0.1);

/** What a call costs beside its arguments, by the sizes of target and arguments. */
const COSTS: Readonly<Record<string, (sizes: readonly number[]) => number>> = {
  startsWith: ([, part = 1]) => traversal(part),
  endsWith: ([, part = 1]) => traversal(part),
  contains: ([text = 1, part = 1]) => traversal(text) * traversal(part),
  matches: ([text = 1, pattern = 1]) => traversal(text + 1) * Math.ceil(pattern * 0.25),
  find: ([text = 1, pattern = 1]) => traversal(text + 1) * Math.ceil(pattern * 0.25),
  findAll: ([text = 1, pattern = 1]) => traversal(text + 1) * Math.ceil(pattern * 0.25),
  "_+_": ([a = 1, b = 1]) => traversal(a + b),
  "@in": ([, list = 1]) => list,
  indexOf: ([list = 1]) => list,
  lastIndexOf: ([list = 1]) => list,
  isSorted: ([list = 1]) => list,
  sum: ([list = 1]) => list,
  max: ([list = 1]) => list,
  min: ([list = 1]) => list,
  replace: ([text = 1]) => Math.ceil(text * 0.2),
};
const COMPARISONS = new Set(["_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"]);
/** Functions that read a text once. */
const READERS = new Set(
  ["isURL", "url", "isQuantity", "quantity", "isIP", "ip", "isCIDR", "cidr", "lowerAscii", "upperAscii", "trim"]
    .concat(["split", "substring", "int", "double", "bool", "duration", "timestamp", "join"]),
);
/** Functions whose result is no larger than what they read. */
const NO_LARGER = new Set(["lowerAscii", "upperAscii", "trim", "substring", "find", "split"]);

/** The most that is left of a text when all parts of one size are replaced by others. */
function replaced([text = 1, part = 1, by = 1]: readonly number[]): number {
  if (part === 0) return text + (text + 1) * by;
  return by <= part ? text : text + Math.ceil(text / part) * by;
}

/** The shape of what a function answers with, if nothing more is known. */
function resultOf(name: string): Shape {
  return overloads(name).every(({ result }) => SIZELESS.has(result.name)) ? ONE : UNKNOWN;
}

const SIZELESS = new Set([
  "bool",
  "int",
  "uint",
  "double",
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "kubernetes.URL",
  "net.IP",
  "net.CIDR",
  "type",
]);

class Estimator {
  visit(node: Node, scope: ReadonlyMap<string, Shape>): Estimate {
    switch (node.kind) {
      case "literal":
        return { cost: 0, shape: typeof node.value === "string" ? { size: node.value.length } : ONE };
      case "name":
        return { cost: 1, shape: scope.get(node.name) ?? (TYPE_NAMES.has(node.name) ? ONE : UNKNOWN) };
      case "select": {
        const { cost, shape } = this.visit(node.operand, scope);
        return { cost: cost + 1, shape: node.test ? ONE : shape.field?.(node.field) ?? UNKNOWN };
      }
      case "list": {
        const items = node.items.map((each) => this.visit(each.node, scope));
        const largest = Math.max(1, ...items.map(({ shape }) => shape.size));
        const cost = items.reduce((sum, each) => sum + each.cost, 10);
        return { cost, shape: { size: items.length, item: () => items[0]?.shape ?? { size: largest } } };
      }
      case "map": {
        const entries = node.entries.map((each) =>
          [this.visit(each.key, scope), this.visit(each.node, scope)] as const
        );
        const cost = entries.reduce((sum, [key, value]) => sum + key.cost + value.cost, 30);
        const [key, value] = entries[0] ?? [];
        const shape = { size: entries.length, item: () => key?.shape ?? ONE, field: () => value?.shape ?? ONE };
        return { cost, shape };
      }
    }
    return this.#call(node, scope);
  }

  #call(node: Node & { kind: "call" }, scope: ReadonlyMap<string, Shape>): Estimate {
    const macro = macroOf(node);
    if (macro) {
      const range = this.visit(macro.target, scope);
      const inner = new Map(scope);
      const item = range.shape.item?.() ?? UNKNOWN;
      const value = range.shape.field?.("") ?? item;
      macro.variables.forEach((name, index) => inner.set(name, index === 0 ? item : value));
      const body = this.visit(macro.body, inner);
      const condition = macro.condition ? this.visit(macro.condition, inner).cost : 0;
      const shape = macro.name === "filter"
        ? range.shape
        : macro.name.startsWith("exists") || macro.name === "all"
        ? ONE
        : { size: range.shape.size, item: () => body.shape };
      return { cost: bounded(range.cost + range.shape.size * (body.cost + condition + 2)), shape };
    }
    const { args } = node;
    const qualified = node.target?.kind === "name" && !scope.has(node.target.name) ? node.target.name : undefined;
    const name = qualified === undefined ? node.name : `${qualified}.${node.name}`;
    const target = qualified === undefined ? node.target : undefined;
    const all = (target ? [target, ...args] : args).map((each) => this.visit(each, scope));
    const sizes = all.map(({ shape }) => shape.size);
    const base = all.reduce((sum, each) => sum + each.cost, 0);
    const [first, second] = all.map(({ shape }) => shape) as [Shape?, Shape?];
    let cost = 1, shape = resultOf(name);
    if (name === "_&&_" || name === "_||_" || name === "_?_:_") cost = 0;
    else if (all.some(({ shape }) => shape.scalar) && (name === "_+_" || COMPARISONS.has(name))) shape = ONE;
    else if (COMPARISONS.has(name)) cost = Math.max(1, traversal(Math.min(...sizes)));
    else if (COSTS[name]) cost = Math.max(1, COSTS[name](sizes));
    else if (READERS.has(name)) cost = Math.max(1, traversal(sizes[0] ?? 1));
    if (name === "_[_]") shape = first?.item && !first.field ? first.item() : first?.field?.("") ?? UNKNOWN;
    else if (name === "_+_" && shape !== ONE) shape = { size: (sizes[0] ?? 1) + (sizes[1] ?? 1), item: first?.item };
    else if (name === "_?_:_") shape = { size: Math.max(...sizes.slice(1)), item: second?.item, field: second?.field };
    else if (NO_LARGER.has(name)) shape = { size: sizes[0] ?? 1, item: () => ({ size: sizes[0] ?? 1 }) };
    else if (name === "replace") shape = { size: replaced(sizes) };
    else if (name === "value" || name === "orValue") shape = first ?? UNKNOWN;
    return { cost: bounded(base + cost), shape };
  }
}

const bounded = (cost: number): number => Math.min(cost, MOST);

/** The most that an expression on a value of a schema costs. */
export function estimate(node: Node, schema: Schema, resource: boolean): number {
  const self = shapeOf(schema, resource);
  return new Estimator().visit(node, new Map([["self", self], ["oldSelf", self]])).cost;
}

/** How often what is in a list or map may be in an object, if that is itself there so often. */
export function scale(times: number, schema: Schema): number {
  return bounded(times * most(schema));
}

function factor(cost: number, limit: number): string {
  const excess = cost / limit;
  if (excess > 100) return "more than 100x";
  return excess < 1.5 ? `${excess.toFixed(6)}x` : `${excess.toFixed(1)}x`;
}

const ADVICE =
  "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

/** How a message says that a cost is too high for one rule; undefined if it is not. */
export function overBudget(cost: number): string | undefined {
  return cost > RULE_LIMIT ? `exceeds budget by factor of ${factor(cost, RULE_LIMIT)} ${ADVICE}` : undefined;
}

/** Adds up what the rules of one schema cost. */
export class Budget {
  readonly #costs: { readonly field: string; readonly cost: number }[] = [];

  /** Adds a rule's. */
  add(field: string, cost: number): void {
    this.#costs.push({ field, cost });
  }

  /** What is wrong if it is too much: the four costliest, and the sum. */
  errors(path: string): FieldError[] {
    const total = bounded(this.#costs.reduce((sum, { cost }) => sum + cost, 0));
    if (total <= SCHEMA_LIMIT) return [];
    const forbidden = (field: string, text: string): FieldError => ({
      field,
      reason: "FieldValueForbidden",
      message: `Forbidden: ${text}`,
    });
    const costliest = this.#costs.filter(({ cost }) => cost > SCHEMA_LIMIT / 10).toSorted((a, b) => b.cost - a.cost);
    const share = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const sum = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...costliest.slice(0, 4).map(({ field }) => forbidden(field, share)),
      forbidden(path, `${sum} exceeds budget by factor of ${factor(total, SCHEMA_LIMIT)} ${ADVICE}`),
    ];
  }
}
