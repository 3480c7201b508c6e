/**
 * Turns answers in JSON into protocol buffers for clients that prefer them, as client-go does for built-in kinds.
 *
 * Everything before this answers in JSON: it costs nothing where no protocol buffers are asked for.
 *
 * ```ts
 * import { preferProtobuf } from "./_protobuf_answer.ts";
 *
 * const body = JSON.stringify({ apiVersion: "v1", kind: "Status", code: 200 });
 * const reply = { status: 200, headers: [["content-type", "application/json"] as const], body };
 * const answer = preferProtobuf(reply, "application/vnd.kubernetes.protobuf, application/json");
 * console.assert(answer.body instanceof Uint8Array);
 * ```
 *
 * @module
 */
import { negotiate } from "./_codec.ts";
import { PROTOBUF } from "./_protobuf_types.ts";
import { headerOf, type Reply, withHeader } from "./_reply.ts";
import { writeProtobuf, writeProtobufEvent } from "./_protobuf_write.ts";

const JSON_TYPE = /^application\/json(?=;|$)/;
const decoder = new TextDecoder();

/** Answers in protocol buffers if the client would rather have those and the kind has them; a stream is one of events. */
export function preferProtobuf(reply: Reply, accept: string): Reply {
  if (negotiate(accept)?.format !== "protobuf") return reply;
  const { status, headers, body } = reply;
  const type = headerOf(reply, "content-type") ?? "";
  if (body === null || !JSON_TYPE.test(type)) return reply;
  if (body instanceof ReadableStream) {
    return { status, headers: withHeader(headers, "content-type", `${PROTOBUF};stream=watch`), body: framed(body) };
  }
  const bytes = writeProtobuf(JSON.parse(typeof body === "string" ? body : decoder.decode(body)));
  if (!bytes) return reply;
  const typed = withHeader(headers, "content-type", type.replace(JSON_TYPE, PROTOBUF));
  return { status, headers: withHeader(typed, "content-length", `${bytes.length}`), body: bytes };
}

/** Frames of chunks that many watches share. */
const frames = new WeakMap<Uint8Array, Uint8Array>();

function framesOf(chunk: Uint8Array): Uint8Array {
  let bytes = frames.get(chunk);
  if (bytes === undefined) {
    const lines = decoder.decode(chunk).split("\n").filter((line) => line !== "");
    const parts = lines.map((line) => writeProtobufEvent(JSON.parse(line)) ?? new Uint8Array());
    bytes = parts.length === 1 ? parts[0]! : joined(parts);
    frames.set(chunk, bytes);
  }
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function framed(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(framesOf(chunk)),
    }),
  );
}
