/**
 * Turns answers in JSON into protocol buffers for clients that prefer them, as client-go does for built-in kinds.
 *
 * Everything before this answers in JSON: it costs nothing where no protocol buffers are asked for.
 *
 * ```ts
 * import { preferProtobuf } from "./_protobuf_answer.ts";
 *
 * const response = Response.json({ apiVersion: "v1", kind: "Status", code: 200 });
 * const answer = await preferProtobuf(response, "application/vnd.kubernetes.protobuf, application/json", false);
 * console.assert(answer.headers.get("content-type") === "application/vnd.kubernetes.protobuf");
 * ```
 *
 * @module
 */
import { negotiate } from "./_codec.ts";
import { PROTOBUF } from "./_protobuf_types.ts";
import { writeProtobuf, writeProtobufEvent } from "./_protobuf_write.ts";

const JSON_TYPE = /^application\/json(?=;|$)/;
const decoder = new TextDecoder();

/** Answers in protocol buffers if the client would rather have those and the kind has them; `watch` is a stream of events. */
export async function preferProtobuf(response: Response, accept: string, watch: boolean): Promise<Response> {
  if (negotiate(accept)?.format !== "protobuf") return response;
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !JSON_TYPE.test(type)) return response;
  const headers = new Headers(response.headers);
  headers.set("content-type", type.replace(JSON_TYPE, PROTOBUF));
  const { status } = response;
  if (watch && response.ok) return await stream(response.body, { status, headers });
  const text = await response.text();
  const bytes = writeProtobuf(JSON.parse(text));
  if (!bytes) return new Response(text, response);
  headers.set("content-length", `${bytes.length}`);
  return new Response(bytes, { status, headers });
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

function stream(body: ReadableStream<Uint8Array>, init: { status: number; headers: Headers }): Response {
  init.headers.set("content-type", `${PROTOBUF};stream=watch`);
  const framed = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => controller.enqueue(framesOf(chunk)),
  });
  return new Response(body.pipeThrough(framed), init);
}
