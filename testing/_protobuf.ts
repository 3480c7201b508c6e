/**
 * Reads bodies in protocol buffers, as generated clients in Go send them, into what the same body is in JSON.
 *
 * ```ts
 * import { isProtobuf } from "./_protobuf.ts";
 *
 * console.assert(!isProtobuf(new TextEncoder().encode("{}")));
 * ```
 *
 * @module
 */
import type { Fields } from "./_objects.ts";
import { INLINE, isList, MAGIC, MAP, messageOf, MESSAGES, POINTER, REPEATED } from "./_protobuf_types.ts";

const decoder = new TextDecoder();

/** True for the four bytes that begin a body of Kubernetes in protocol buffers. */
export function isProtobuf(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

/** Where reading is in a message. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new SyntaxError("unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  block(): Uint8Array {
    return this.fixed(Number(this.varint()));
  }

  fixed(size: number): Uint8Array {
    if (this.#at + size > this.#bytes.length) throw new SyntaxError("unexpected EOF");
    return this.#bytes.subarray(this.#at, this.#at += size);
  }
}

/** The raw value of a field: a number, or bytes. */
type Raw = bigint | Uint8Array;

function* fields(bytes: Uint8Array): Generator<[number: string, raw: Raw]> {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    const number = String(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield [number, reader.varint()];
        break;
      case 1:
        yield [number, reader.fixed(8)];
        break;
      case 2:
        yield [number, reader.block()];
        break;
      case 5:
        yield [number, reader.fixed(4)];
        break;
      default:
        throw new SyntaxError("illegal wireType");
    }
  }
}

/** The first field of a message that is made of bytes alone. */
function firstBytes(bytes: Uint8Array): Uint8Array {
  let found = new Uint8Array();
  for (const [number, raw] of fields(bytes)) if (number === "1") found = new Uint8Array(raw as Uint8Array);
  return found;
}

function time(bytes: Uint8Array, micro: boolean): string | null {
  let seconds = 0n, nanos = 0n;
  for (const [number, raw] of fields(bytes)) {
    if (number === "1") seconds = BigInt.asIntN(64, raw as bigint);
    else if (number === "2") nanos = raw as bigint;
  }
  if (bytes.length === 0) return null;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return micro ? `${text}.${String(Number(nanos) / 1000 | 0).padStart(6, "0")}Z` : `${text}Z`;
}

/** JSON that is kept as a text. */
function json(bytes: Uint8Array): unknown {
  const text = firstBytes(bytes);
  return text.length > 0 ? JSON.parse(decoder.decode(text)) : {};
}

/** A message that is one of several in JSON. */
function schemaOr(bytes: Uint8Array, type: string, member: string): unknown {
  const { schema, [member]: other } = message(bytes, type, true);
  return schema ?? other;
}

const EXTENSIONS = "apiextensions.v1";

/** Types whose JSON is not that of their message. */
const SPECIAL: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  "apis.meta.v1.Time": (bytes) => time(bytes, false),
  "apis.meta.v1.MicroTime": (bytes) => time(bytes, true),
  "api.resource.Quantity": (bytes) => decoder.decode(firstBytes(bytes)) || "0",
  "util.intstr.IntOrString": (bytes) => {
    const { type = 0, intVal = 0, strVal = "" } = message(bytes, "util.intstr.IntOrString", true);
    return type === 1 ? strVal : intVal;
  },
  "apis.meta.v1.FieldsV1": json,
  "runtime.RawExtension": json,
  [`${EXTENSIONS}.JSON`]: json,
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`]: (bytes) =>
    schemaOr(bytes, `${EXTENSIONS}.JSONSchemaPropsOrArray`, "jSONSchemas"),
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`]: (bytes) => schemaOr(bytes, `${EXTENSIONS}.JSONSchemaPropsOrBool`, "allows"),
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`]: (bytes) =>
    schemaOr(bytes, `${EXTENSIONS}.JSONSchemaPropsOrStringArray`, "property"),
};

function scalar(raw: Raw, type: string): unknown {
  if (typeof raw === "bigint") return type === "bool" ? raw !== 0n : Number(BigInt.asIntN(64, raw));
  if (type === "string") return decoder.decode(raw);
  if (type === "bytes") return raw.toBase64();
  if (type === "double") return new DataView(raw.buffer, raw.byteOffset, 8).getFloat64(0, true);
  return SPECIAL[type] ? SPECIAL[type](raw) : message(raw, type);
}

function entry(raw: Uint8Array, type: string): [key: string, value: unknown] {
  let key = "", value: unknown = type === "string" || type === "bytes" ? "" : undefined;
  for (const [index, part] of fields(raw)) {
    if (index === "1") key = decoder.decode(part as Uint8Array);
    else value = scalar(part, type);
  }
  return [key, value];
}

const ZEROES: ReadonlySet<unknown> = new Set(["", 0, false, null]);

/** A message as JSON; a type whose list is written as a message of its own is that list, unless it is `plain`. */
function message(bytes: Uint8Array, type: string, plain = false): Fields {
  const known = MESSAGES[type] ?? {};
  const object: Fields = {};
  for (const [index, raw] of fields(bytes)) {
    const field = known[index];
    if (!field) continue;
    const [name, kind, shape] = field;
    if (shape === MAP) {
      const [key, value] = entry(raw as Uint8Array, kind);
      (object[name] ??= {})[key] = value;
    } else if (shape === REPEATED) (object[name] ??= []).push(scalar(raw, kind));
    else if (shape === INLINE) Object.assign(object, scalar(raw, kind));
    else {
      const value = scalar(raw, kind);
      // In Go a field that is not a pointer has its zero value when it is missing.
      if (shape === POINTER || !ZEROES.has(value)) object[name] = value;
    }
  }
  return !plain && isList(type) ? object.items ?? [] : object;
}

/**
 * Reads a body.
 *
 * @throws {SyntaxError} If it is not one, or of a kind that is not known here
 */
export function readProtobuf(bytes: Uint8Array): Fields {
  let apiVersion = "", kind = "", raw = new Uint8Array();
  for (const [number, value] of fields(bytes.subarray(MAGIC.length))) {
    if (number === "1") {
      for (const [index, part] of fields(value as Uint8Array)) {
        if (index === "1") apiVersion = decoder.decode(part as Uint8Array);
        else if (index === "2") kind = decoder.decode(part as Uint8Array);
      }
    } else if (number === "2") raw = new Uint8Array(value as Uint8Array);
  }
  const type = messageOf(apiVersion, kind);
  if (type === undefined) throw new SyntaxError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...message(raw, type) };
}
