/**
 * Reads shard selectors: which of many clients an object is for, by a hash of its uid or namespace.
 *
 * A selector is one or more ranges in an expression such as
 * `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || ...`; a range ends before its end.
 *
 * ```ts
 * import { fnv, parseShards } from "./_shards.ts";
 *
 * const { includes } = parseShards("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')")!;
 * console.assert(includes({ uid: "53a5eaec-9fb7-47b3-b0b0-6bc438df9c59" }));
 * console.assert(fnv("") === 0xcbf29ce484222325n);
 * ```
 *
 * @module
 */
import { type Node, ParseError, parseExpression } from "./_cel_parse.ts";
import { internal, type StatusError } from "./_status.ts";

/** The metadata that selectors go by. */
export interface Subject {
  readonly uid?: string | undefined;
  readonly namespace?: string | undefined;
}

/** A selector that was read. */
export interface Shards {
  /** The selector as lists repeat it. */
  readonly selector: string;
  /** True for the metadata of an object that is selected. */
  readonly includes: (subject: Subject) => boolean;
}

interface Range {
  readonly field: string;
  readonly start: string;
  readonly end: string;
}

const FIELDS: Readonly<Record<string, (subject: Subject) => string>> = {
  "object.metadata.uid": ({ uid = "" }) => uid,
  "object.metadata.namespace": ({ namespace = "" }) => namespace,
};

/** The kinds of expressions as messages number them. */
const KINDS: Readonly<Record<Node["kind"], number>> = { call: 1, name: 3, list: 4, literal: 5, map: 6, select: 7 };

const GO_TYPES: Readonly<Record<string, string>> = {
  int: "int64",
  uint: "uint64",
  double: "float64",
  bytes: "[]uint8",
  null_type: "structpb.NullValue",
};

const BEYOND = "10000000000000000";

function fail(why: string): StatusError {
  return internal(`invalid shard selector: ${why}`);
}

const encoder = new TextEncoder();

/** The 64-bit FNV-1a hash of a text, in two halves on the way: the prime is 2^40 + 0x1b3. */
export function fnv(text: string): bigint {
  let high = 0xcbf29ce4, low = 0x84222325;
  for (const byte of encoder.encode(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / 2 ** 32)) >>> 0;
    low = product % 2 ** 32;
  }
  return BigInt(high) << 32n | BigInt(low);
}

function parse(text: string): Node {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ParseError) throw fail(`CEL parse error: ${error.message}`);
    throw error;
  }
}

/** The dotted path of a field, such as `object.metadata.uid`; undefined if it is something else. */
function pathOf(node: Node): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "select" || node.test || node.optional) return undefined;
  const operand = pathOf(node.operand);
  return operand && `${operand}.${node.field}`;
}

function field(node: Node): string {
  const path = pathOf(node);
  if (path === undefined) {
    const found = `got expression kind ${KINDS[node.kind]}`;
    throw fail(`shardRange() first argument: expected field path (e.g. object.metadata.uid), ${found}`);
  }
  if (Object.hasOwn(FIELDS, path)) return path;
  const supported = Object.keys(FIELDS).join(", ");
  throw fail(`unsupported field path ${JSON.stringify(path)}; supported: ${supported}`);
}

/** The end of a range: 16 hexadecimal digits, or 2^64. */
function hex(node: Node, name: string): string {
  if (node.kind !== "literal") {
    throw fail(`${name} must be a string literal (e.g. '0xff'), got expression kind ${KINDS[node.kind]}`);
  }
  const { value, type } = node;
  if (typeof value !== "string") throw fail(`${name} must be a string literal, got ${GO_TYPES[type] ?? type}`);
  const shown = JSON.stringify(value);
  if (!value.startsWith("0x")) throw fail(`${name} must have '0x' prefix, got ${shown}`);
  const digits = value.slice(2);
  if (digits === "") throw fail(`${name}: hex value is required after '0x'`);
  const [wrong] = /[^0-9a-f]/u.exec(digits) ?? [];
  if (digits.length > BEYOND.length) {
    const length = `${digits.length} chars, max ${BEYOND.length}`;
    throw fail(`${name}: hex value too long (${length}): ${JSON.stringify(digits)}`);
  }
  if (wrong !== undefined) throw fail(`${name}: invalid hex character ${JSON.stringify(wrong)} in ${shown}`);
  if (digits.length === BEYOND.length && digits !== BEYOND) {
    throw fail(`${name}: 17-digit hex value must be '0x${BEYOND}' (2^64), got ${shown}`);
  }
  if (digits.length < 16) {
    const meant = JSON.stringify(`0x${digits.padStart(16, "0")}`);
    throw fail(`${name} must be a 0x-prefixed 16-digit hex value, got ${shown} (did you mean ${meant}?)`);
  }
  return value;
}

function rangesOf(node: Node): Range[] {
  if (node.kind !== "call") {
    throw fail(`unexpected expression kind ${KINDS[node.kind]}; expected shardRange() call or || operator`);
  }
  const { name, args } = node;
  if (name === "_||_") return args.flatMap(rangesOf);
  if (name !== "shardRange") {
    throw fail(`unsupported function ${JSON.stringify(name)}; only shardRange() and || are allowed`);
  }
  if (args.length !== 3) throw fail(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const range = { field: field(args[0]!), start: hex(args[1]!, "hexStart"), end: hex(args[2]!, "hexEnd") };
  if (BigInt(range.start) < BigInt(range.end)) return [range];
  throw fail(`shard range start ${range.start} must be less than end ${range.end}`);
}

/**
 * Reads a selector; undefined if there is none.
 *
 * @throws {StatusError} If it is not one
 */
export function parseShards(text: string | null): Shards | undefined {
  if (text === null || text === "") return undefined;
  if (text.trim() === "") throw fail("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  const ranges = rangesOf(parse(text));
  const [{ field }] = ranges as [Range];
  const other = ranges.find((range) => range.field !== field);
  if (other) {
    throw fail(
      `all shard ranges must use the same field, got ${JSON.stringify(field)} and ${JSON.stringify(other.field)}`,
    );
  }
  const bounds = ranges.map(({ start, end }) => [BigInt(start), BigInt(end)] as const);
  return {
    selector: ranges.map(({ start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(" || "),
    includes: (subject) => {
      const hash = fnv(FIELDS[field]!(subject));
      return bounds.some(([start, end]) => start <= hash && hash < end);
    },
  };
}
