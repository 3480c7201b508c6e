/**
 * Makes replies of answers and errors, in the format that the client accepts.
 *
 * ```ts
 * import { jsonReply } from "./_respond.ts";
 *
 * console.assert(jsonReply({ code: 200, body: "{}" }, null, []).status === 200);
 * ```
 *
 * @module
 */
import { writeYaml } from "../yaml.ts";
import type { Answer } from "./_call.ts";
import { negotiate } from "./_codec.ts";
import { LARGE } from "./_compression.ts";
import type { Header, Reply } from "./_reply.ts";
import { StatusError, TextError } from "./_status.ts";

/** The `warning` headers of texts. */
export function warningHeaders(texts: readonly string[]): Header[] {
  return texts.map((text) => ["warning", `299 - ${JSON.stringify(text)}`]);
}

const JSON_TYPE: Header = ["content-type", "application/json"],
  YAML_TYPE: Header = ["content-type", "application/yaml"];

/** The headers of JSON, or of what an answer says that it is. */
function jsonHeaders(headers: Readonly<Record<string, string>>): Header[] {
  const others = Object.entries(headers);
  return "content-type" in headers ? others : [JSON_TYPE, ...others];
}

/** The reply of an answer. */
export function jsonReply(
  { code, body, headers = {} }: Answer,
  accept: string | null,
  warnings: readonly string[],
): Reply {
  if (code === 204) return { status: code, headers: [], body: null };
  const yaml = negotiate(accept)?.format === "yaml";
  let text = typeof body === "string" ? body : JSON.stringify(body);
  if (yaml) text = writeYaml(JSON.parse(text), { sorted: true });
  const all = yaml
    ? [...Object.entries(headers).filter(([name]) => name !== "content-type"), YAML_TYPE]
    : jsonHeaders(headers);
  if (text.length > LARGE) return largeReply(text, code, [...all, ...warningHeaders(warnings)]);
  return { status: code, headers: warnings.length === 0 ? all : [...all, ...warningHeaders(warnings)], body: text };
}

/** A large reply says how long it is. */
function largeReply(text: string, status: number, headers: readonly Header[]): Reply {
  const body = new TextEncoder().encode(text);
  return { status, headers: [...headers, ["content-length", `${body.length}`]], body };
}

/** The reply of plain text. */
export function textReply(status: number, body: string): Reply {
  return { status, headers: [["content-type", "text/plain; charset=utf-8"]], body };
}

/**
 * The reply of what a handler threw.
 *
 * @throws {unknown} What is no answer: a fault of the server itself
 */
export function errorReply(error: unknown, accept: string | null, warnings: readonly string[] = []): Reply {
  if (error instanceof TextError) return textReply(error.code, error.message);
  if (!(error instanceof StatusError)) throw error;
  const { status, headers } = error;
  return jsonReply({ code: status.code, body: status, headers }, accept, warnings);
}
