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
import data from "./_protobuf_fields.json" with { type: "json" };
import type { Fields } from "./_objects.ts";

const messages = data as unknown as Record<string, Record<string, [name: string, type: string, shape: number]>>;
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
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
    const length = Number(this.varint());
    if (this.#at + length > this.#bytes.length) throw new SyntaxError("unexpected EOF");
    return this.#bytes.subarray(this.#at, this.#at += length);
  }

  fixed(size: number): Uint8Array {
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

/** Types whose JSON is not that of their message. */
const SPECIAL: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  "apis.meta.v1.Time": (bytes) => time(bytes, false),
  "apis.meta.v1.MicroTime": (bytes) => time(bytes, true),
  "api.resource.Quantity": (bytes) => (message(bytes, "api.resource.Quantity") as Fields).string ?? "0",
  "util.intstr.IntOrString": (bytes) => {
    const { type = 0, intVal = 0, strVal = "" } = message(bytes, "util.intstr.IntOrString");
    return type === 1 ? strVal : intVal;
  },
  "apis.meta.v1.FieldsV1": (bytes) => json(message(bytes, "apis.meta.v1.FieldsV1", true).Raw),
  "runtime.RawExtension": (bytes) => json(message(bytes, "runtime.RawExtension", true).raw),
};

function json(bytes: unknown): unknown {
  return bytes instanceof Uint8Array && bytes.length > 0 ? JSON.parse(decoder.decode(bytes)) : {};
}

function number(raw: bigint, type: string): number | boolean {
  if (type === "bool") return raw !== 0n;
  return Number(BigInt.asIntN(64, raw));
}

function scalar(raw: Raw, type: string, rawBytes: boolean): unknown {
  if (typeof raw === "bigint") return number(raw, type);
  if (type === "string") return decoder.decode(raw);
  if (type === "bytes") return rawBytes ? raw : btoa(Array.from(raw, (byte) => String.fromCharCode(byte)).join(""));
  if (type === "double") return new DataView(raw.buffer, raw.byteOffset, 8).getFloat64(0, true);
  return SPECIAL[type] ? SPECIAL[type](raw) : message(raw, type);
}

function entry(raw: Uint8Array, type: string): [key: string, value: unknown] {
  let key = "", value: unknown = type === "string" || type === "bytes" ? "" : undefined;
  for (const [index, part] of fields(raw)) {
    if (index === "1") key = decoder.decode(part as Uint8Array);
    else value = scalar(part, type, false);
  }
  return [key, value];
}

/** A message as JSON; a type whose list is written as a message of its own is that list. */
function message(bytes: Uint8Array, type: string, rawBytes = false): Fields {
  const known = messages[type] ?? {};
  const object: Fields = {};
  for (const [index, raw] of fields(bytes)) {
    const field = known[index];
    if (!field) continue;
    const [name, kind, shape] = field;
    if (shape === 2) {
      const [key, value] = entry(raw as Uint8Array, kind);
      (object[name] ??= {})[key] = value;
    } else if (shape === 1) (object[name] ??= []).push(scalar(raw, kind, rawBytes));
    else object[name] = scalar(raw, kind, rawBytes);
  }
  if (Object.keys(known).length === 1 && known["1"]?.[0] === "items" && known["1"][2] === 1) return object.items ?? [];
  return type === "core.v1.Volume" || type === "core.v1.PersistentVolumeSpec"
    ? flattened(object)
    : INLINE[type]
    ? flattened(object, INLINE[type])
    : object;
}

/** Members that Go keeps in an embedded struct, and JSON beside the others. */
const INLINE: Readonly<Record<string, string>> = {
  "core.v1.Probe": "handler",
  "core.v1.EphemeralContainer": "ephemeralContainerCommon",
  "core.v1.SecretEnvSource": "localObjectReference",
  "core.v1.ConfigMapEnvSource": "localObjectReference",
  "core.v1.SecretKeySelector": "localObjectReference",
  "core.v1.ConfigMapKeySelector": "localObjectReference",
  "core.v1.ConfigMapVolumeSource": "localObjectReference",
  "core.v1.ConfigMapProjection": "localObjectReference",
  "core.v1.SecretProjection": "localObjectReference",
};

function flattened(object: Fields, member = object.volumeSource ? "volumeSource" : "persistentVolumeSource"): Fields {
  const { [member]: inner, ...rest } = object;
  return { ...rest, ...inner };
}

/** The Go package of a group, as message names have it. */
function packageOf(apiVersion: string): string {
  const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion];
  if (group === "meta.k8s.io") return `apis.meta.${version}`;
  return `${group.split(".")[0] === "rbac" ? "rbac" : group.split(".")[0]}.${version}`;
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
  const shared = `apis.meta.v1.${kind}`;
  const type = messages[`${packageOf(apiVersion)}.${kind}`] ? `${packageOf(apiVersion)}.${kind}` : shared;
  if (!messages[type]) throw new SyntaxError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...message(raw, type) };
}
