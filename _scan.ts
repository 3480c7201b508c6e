/**
 * Finds the end of an object in JSON that is still bytes, checks that it is JSON, and notes where its metadata are.
 *
 * ```ts
 * import { ObjectScanner } from "./_scan.ts";
 *
 * const bytes = new TextEncoder().encode('{"metadata":{"name":"web"}},\n');
 * const scanner = new ObjectScanner();
 * console.assert(scanner.scan(bytes, 0, bytes.length - 1) === 27);
 * console.assert(scanner.from.name === 21 && scanner.to.name === 24);
 * ```
 *
 * To parse an object costs five times as much as to look over it, and takes three times its room: a cache of many objects
 * parses those alone that are read. What nobody reads (`managedFields`, and what `kubectl apply` last applied) is left out
 * of the bytes. The grammar is RFC 8259's.
 *
 * @module
 */

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();
const [TRUE, FALSE, NULL] = ["true", "false", "null"].map((word) => encoder.encode(word)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
/** What may follow a backslash, but for `u`. */
const ESCAPES = new Set(encoder.encode('"\\/bfnrt'));

/** The fields whose place is noted. */
interface Places {
  metadata: number;
  name: number;
  namespace: number;
  uid: number;
  resourceVersion: number;
  generation: number;
}

type Field = Exclude<keyof Places, "metadata">;

/** What a member of an object is, that matters. */
type Member = Field | "metadata" | "annotations" | "cut";

/** The members that matter, by the place of their object and the length of their name. */
const MEMBERS: readonly ReadonlyMap<number, { readonly name: Uint8Array; readonly member: Member }>[] = [
  [["metadata", "metadata"]],
  [
    ...(["name", "namespace", "uid", "resourceVersion", "generation", "annotations"] as const).map((
      name,
    ) => [name, name]),
    ["managedFields", "cut"],
  ],
  [["kubectl.kubernetes.io/last-applied-configuration", "cut"]],
].map((members) =>
  new Map(members.map(([name, member]) => [name!.length, { name: encoder.encode(name), member: member as Member }]))
);

function nowhere(): Places {
  return { metadata: -1, name: -1, namespace: -1, uid: -1, resourceVersion: -1, generation: -1 };
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** True if the word begins at that place. */
export function startsWith(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false;
  return true;
}

/** Looks over values, one after the other; what it notes is of the last one, and nothing of those before. */
export class ObjectScanner {
  /** Where the values of its metadata begin, strings after their quote; -1 for those that it does not have. */
  readonly from: Places = nowhere();
  /** Where they end. */
  readonly to: Places = nowhere();
  /** What can be left out, as pairs of where it begins and ends, from left to right. */
  readonly cuts: number[] = [];
  /** True for an object whose metadata have escapes in them, or the same member twice: it has to be parsed to be understood. */
  odd = false;
  /** Which containers are open: true for an object. */
  readonly #open: boolean[] = [];

  /**
   * Answers with where the value ends that begins at `at`; -1 if more than the bytes before `end` is needed to tell.
   *
   * There must be a newline at `end`.
   *
   * @throws {SyntaxError} If it is not JSON
   */
  scan(bytes: Uint8Array, at: number, end: number): number {
    const { from, to, cuts } = this;
    from.metadata =
      from.name =
      from.namespace =
      from.uid =
      from.resourceVersion =
      from.generation =
        -1;
    cuts.length = 0;
    this.odd = false;
    const open = this.#open;
    let depth = 0;
    /** How deep the object's metadata and their annotations are, while within them. */
    let inside = 0;
    /** The comma before the member in progress; -1 before the first. */
    let comma = -1;
    /** The member that is to be left out, while it is in progress: where it, and the comma before it, begins; its depth. */
    let cut = -1, cutComma = -1, cutDepth = -1;
    let managed = 0, applied = 0;
    let member: Member | undefined;
    value:
    while (true) {
      let byte = bytes[at]!;
      if (byte <= SPACE) {
        at = skip(bytes, at, end);
        if (at >= end) return -1;
        byte = bytes[at]!;
      }
      const start = at;
      let opened = false;
      if (byte === QUOTE) at = stringEnd(bytes, at + 1, end);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        open[depth++] = byte === OPEN_BRACE;
        opened = true;
        at++;
      } else if (byte === MINUS || isDigit(byte)) at = numberEnd(bytes, at, end);
      else at = wordEnd(bytes, at, end);
      if (at < 0) return -1;
      if (member !== undefined) {
        if (member === "metadata" || member === "annotations") {
          if (byte === OPEN_BRACE) inside = depth;
          if (member === "metadata") {
            if (from.metadata >= 0) this.odd = true;
            from.metadata = start;
          }
        } else if (member === "cut") cutDepth = opened ? depth - 1 : depth;
        else if (member === "generation" ? isDigit(byte) : byte === QUOTE) {
          const seen = from[member] >= 0;
          from[member] = member === "generation" ? start : start + 1;
          to[member] = member === "generation" ? at : at - 1;
          if (seen || hasEscapes(bytes, start, at)) this.odd = true;
        } else this.odd = true;
        member = undefined;
      }
      while (true) {
        if (depth === 0) return at;
        const valueEnd = at;
        let next = bytes[at]!;
        if (next <= SPACE) {
          at = skip(bytes, at, end);
          if (at >= end) return -1;
          next = bytes[at]!;
        }
        const inObject = open[depth - 1]!;
        const ends = next === (inObject ? CLOSE_BRACE : CLOSE_BRACKET);
        if (!opened && cutDepth === depth) {
          // A member goes with the comma after it; the last one with the comma before.
          if (ends) cuts.push(cutComma >= 0 ? cutComma : cut, valueEnd);
          else cuts.push(cut, at + 1);
          cutDepth = -1;
        }
        if (ends) {
          at++;
          if (inside === depth) {
            if (depth === 2) to.metadata = at;
            inside--;
          }
          depth--;
          opened = false;
          continue;
        }
        if (opened) comma = -1;
        else if (next === COMMA) comma = at++;
        else throw unexpected();
        if (!inObject) continue value;
        if (bytes[at] !== QUOTE) {
          at = skip(bytes, at, end);
          if (at >= end) return -1;
          if (bytes[at] !== QUOTE) throw unexpected();
        }
        const name = at;
        at = stringEnd(bytes, at + 1, end);
        if (at < 0) return -1;
        const nameEnd = at - 1;
        if (bytes[at] !== COLON) {
          at = skip(bytes, at, end);
          if (at >= end) return -1;
          if (bytes[at] !== COLON) throw unexpected();
        }
        at++;
        if (depth === 1 || inside === depth) {
          if (hasEscapes(bytes, name, nameEnd)) this.odd = true;
          member = memberOf(bytes, name + 1, nameEnd, depth);
          if (member === "cut") {
            if ((depth === 2 ? ++managed : ++applied) > 1) this.odd = true;
            cut = name;
            cutComma = comma;
          }
        }
        continue value;
      }
    }
  }
}

/** Which member of an object that is so deep has this name, if it matters. */
function memberOf(bytes: Uint8Array, start: number, end: number, depth: number): Member | undefined {
  const known = MEMBERS[depth - 1]?.get(end - start);
  return known !== undefined && startsWith(bytes, start, known.name) ? known.member : undefined;
}

function hasEscapes(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** Answers with where a string ends, behind its quote; -1 if it goes on. */
function stringEnd(bytes: Uint8Array, at: number, end: number): number {
  while (true) {
    let byte = bytes[at]!;
    while (byte > QUOTE && byte !== BACKSLASH) byte = bytes[++at]!;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) {
      const escape = bytes[at + 1]!;
      if (at + (escape === LOWER_U ? 6 : 2) > end) return -1;
      if (escape === LOWER_U) {
        for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(bytes[digit]!)) throw unexpected();
        at += 6;
      } else if (ESCAPES.has(escape)) at += 2;
      else throw unexpected();
    } else if (byte >= SPACE) at++;
    else if (at >= end) return -1;
    else throw unexpected();
  }
}

/** Answers with where a number ends; -1 if it may go on. */
function numberEnd(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] === MINUS) at++;
  if (bytes[at] === ZERO) at++;
  else at = digitsEnd(bytes, at, end);
  if (at >= 0 && bytes[at] === POINT) at = digitsEnd(bytes, at + 1, end);
  if (at >= 0 && (bytes[at]! | SPACE) === LOWER_E) {
    const sign = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS;
    at = digitsEnd(bytes, at + (sign ? 2 : 1), end);
  }
  return at >= end ? -1 : at;
}

/** Answers with where at least one digit, and those after it, end; -1 if they may go on. */
function digitsEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return -1;
  if (!isDigit(bytes[at]!)) throw unexpected();
  while (isDigit(bytes[at]!)) at++;
  return at >= end ? -1 : at;
}

/** Answers with where `true`, `false` or `null` ends; -1 if it goes on. */
function wordEnd(bytes: Uint8Array, at: number, end: number): number {
  for (const word of [TRUE, FALSE, NULL]) {
    if (bytes[at] !== word[0]) continue;
    if (at + word.length > end) return -1;
    if (startsWith(bytes, at, word)) return at + word.length;
  }
  throw unexpected();
}

/** Answers with where white space ends. */
export function skip(bytes: Uint8Array, at: number, end: number): number {
  while (at < end && isSpace(bytes[at]!)) at++;
  return at;
}

/** The byte is not said: it may be of a secret. */
function unexpected(): SyntaxError {
  return new SyntaxError("Cannot read JSON: something else must be there");
}
