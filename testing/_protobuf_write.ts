/**
 * Writes answers of built-in kinds in protocol buffers, byte by byte as a real API server does.
 *
 * ```ts
 * import { writeProtobuf } from "./_protobuf_write.ts";
 * import { readProtobuf } from "./_protobuf.ts";
 *
 * const bytes = writeProtobuf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } });
 * console.assert(bytes !== undefined && readProtobuf(bytes).data.k === "v");
 * ```
 *
 * A message is written from its end to its beginning: so its length is known when it is to be written.
 *
 * @module
 */
import type { Fields } from "./_objects.ts";
import { INLINE, isList, MAGIC, MAP, messageOf, MESSAGES, POINTER, REPEATED } from "./_protobuf_types.ts";

const encoder = new TextEncoder();

/** Texts up to here are written quicker without an encoder. */
const SHORT = 100;

const VARINT = 0, FIXED64 = 1, BLOCK = 2;

/** Bytes that grow at their beginning. */
class Writer {
  #bytes = new Uint8Array(1024);
  #at = this.#bytes.length;

  get length(): number {
    return this.#bytes.length - this.#at;
  }

  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#at);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at -= bytes.length);
  }

  text(text: string): void {
    if (text.length > SHORT) return this.bytes(encoder.encode(text));
    this.#reserve(text.length);
    const start = this.#at - text.length;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return this.bytes(encoder.encode(text));
      this.#bytes[start + index] = code;
    }
    this.#at = start;
  }

  varint(value: number | bigint): void {
    if (value < 0 || value > 0x7fffffff) return this.#large(BigInt.asUintN(64, BigInt(value)));
    let left = Number(value);
    let size = 1;
    for (let rest = left >> 7; rest > 0; rest >>= 7) size++;
    this.#reserve(size);
    let at = this.#at -= size;
    for (; left > 0x7f; left >>= 7) this.#bytes[at++] = left & 0x7f | 0x80;
    this.#bytes[at] = left;
  }

  tag(number: number, wire: number): void {
    this.varint(number * 8 + wire);
  }

  /** Ends a block: what was written since `mark` is its content. */
  block(number: number, mark: number): void {
    this.varint(this.length - mark);
    this.tag(number, BLOCK);
  }

  #large(value: bigint): void {
    const bytes: number[] = [];
    for (; value > 0x7fn; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
    this.bytes(new Uint8Array([...bytes, Number(value)]));
  }

  #reserve(size: number): void {
    if (size <= this.#at) return;
    const { written } = this;
    this.#bytes = new Uint8Array(2 * (written.length + size));
    this.#at = this.#bytes.length - written.length;
    this.#bytes.set(written, this.#at);
  }
}

/** A field of a message that is written. */
type Planned = readonly [number: number, name: string, type: string, shape: number, list: boolean];

/** The fields of messages from the last to the first. */
const plans = new Map<string, readonly Planned[]>();

function planOf(type: string): readonly Planned[] {
  let plan = plans.get(type);
  if (plan === undefined) {
    const fields = Object.entries(MESSAGES[type] ?? {}).reverse();
    plan = fields.map(([number, [name, kind, shape]]) => [Number(number), name, kind, shape, isList(kind)]);
    plans.set(type, plan);
  }
  return plan;
}

function missing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Writes the content of a message. */
function putMessage(writer: Writer, object: Fields, type: string): void {
  for (const [number, name, kind, shape, list] of planOf(type)) {
    const value = object[name];
    if (shape === INLINE) putValue(writer, number, object, kind);
    else if (shape === MAP) putMap(writer, number, value ?? {}, kind);
    else if (shape === REPEATED) {
      for (let index = (value?.length ?? 0) - 1; index >= 0; index--) putValue(writer, number, value[index], kind);
    } else if (!missing(value) || !(shape === POINTER || list)) putValue(writer, number, value, kind);
  }
}

function putMap(writer: Writer, number: number, map: Fields, kind: string): void {
  for (const key of Object.keys(map).sort().reverse()) {
    const mark = writer.length;
    putValue(writer, 2, map[key], kind);
    putValue(writer, 1, key, "string");
    writer.block(number, mark);
  }
}

/** Writes a field: its value, or the zero value of its type, and before that its number. */
function putValue(writer: Writer, number: number, value: unknown, type: string): void {
  switch (type) {
    case "bool":
    case "int32":
    case "int64":
      writer.varint(Number(value ?? 0));
      return writer.tag(number, VARINT);
    case "double": {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, Number(value ?? 0), true);
      writer.bytes(bytes);
      return writer.tag(number, FIXED64);
    }
  }
  const mark = writer.length;
  if (type === "string") writer.text(String(value ?? ""));
  else if (type === "bytes") writer.bytes(Uint8Array.fromBase64(String(value ?? "")));
  else if (SPECIAL[type]) SPECIAL[type](writer, value);
  else putMessage(writer, (Array.isArray(value) ? { items: value } : value ?? {}) as Fields, type);
  writer.block(number, mark);
}

function putTime(writer: Writer, value: unknown): void {
  if (missing(value)) return;
  const text = String(value);
  const micros = /\.(\d{1,6})/.exec(text)?.[1]?.padEnd(6, "0") ?? "0";
  putValue(writer, 2, Number(micros) * 1000, "int32");
  putValue(writer, 1, Math.floor(Date.parse(text) / 1000), "int64");
}

function putJson(writer: Writer, value: unknown): void {
  if (value !== undefined) putValue(writer, 1, JSON.stringify(value), "string");
}

/** Writes a message that is a schema, or something else in another member. */
function putSchemaOr(type: string, member: string): (writer: Writer, value: unknown) => void {
  return (writer, value) => {
    const other = typeof value === "boolean" || Array.isArray(value);
    const object = other ? { [member]: value } : { schema: value, ...(member === "allows" ? { allows: true } : {}) };
    putMessage(writer, object, `apiextensions.v1.${type}`);
  };
}

/** Types whose message is not like their JSON. */
const SPECIAL: Readonly<Record<string, (writer: Writer, value: unknown) => void>> = {
  "apis.meta.v1.Time": putTime,
  "apis.meta.v1.MicroTime": putTime,
  "api.resource.Quantity": (writer, value) => putValue(writer, 1, value ?? "0", "string"),
  "util.intstr.IntOrString": (writer, value) => {
    const text = typeof value === "string";
    const object = { type: text ? 1 : 0, intVal: text ? 0 : value, strVal: text ? value : "" };
    putMessage(writer, object, "util.intstr.IntOrString");
  },
  "apis.meta.v1.FieldsV1": putJson,
  "runtime.RawExtension": putJson,
  "apiextensions.v1.JSON": putJson,
  "apiextensions.v1.JSONSchemaPropsOrArray": putSchemaOr("JSONSchemaPropsOrArray", "jSONSchemas"),
  "apiextensions.v1.JSONSchemaPropsOrBool": putSchemaOr("JSONSchemaPropsOrBool", "allows"),
  "apiextensions.v1.JSONSchemaPropsOrStringArray": putSchemaOr("JSONSchemaPropsOrStringArray", "property"),
};

/** Writes an object or a list; undefined if its kind is not written in protocol buffers. */
export function writeProtobuf(object: Fields): Uint8Array<ArrayBuffer> | undefined {
  const { apiVersion = "", kind = "" } = object;
  const type = messageOf(apiVersion, kind);
  if (type === undefined) return undefined;
  const writer = new Writer();
  putValue(writer, 4, "", "string");
  putValue(writer, 3, "", "string");
  const mark = writer.length;
  putMessage(writer, object, type);
  writer.block(2, mark);
  putValue(writer, 1, object, "runtime.TypeMeta");
  writer.bytes(MAGIC);
  return writer.written;
}

/** Writes an event of a watch, whose length is in the four bytes before it; undefined as for {@linkcode writeProtobuf}. */
export function writeProtobufEvent(event: Fields): Uint8Array<ArrayBuffer> | undefined {
  const object = writeProtobuf(event.object);
  if (object === undefined) return undefined;
  const writer = new Writer();
  writer.bytes(object);
  writer.block(1, 0);
  writer.block(2, 0);
  putValue(writer, 1, event.type, "string");
  const { length } = writer;
  writer.bytes(new Uint8Array([length >>> 24, length >>> 16, length >>> 8, length]));
  return writer.written;
}
