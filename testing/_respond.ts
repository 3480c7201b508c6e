/**
 * Makes HTTP responses of answers and errors, in the format that the client accepts.
 *
 * ```ts
 * import { jsonResponse } from "./_respond.ts";
 *
 * console.assert(jsonResponse({ code: 200, body: "{}" }, null, []).status === 200);
 * ```
 *
 * @module
 */
import { writeYaml } from "../yaml.ts";
import type { Answer } from "./_call.ts";
import { negotiate } from "./_codec.ts";
import { LARGE } from "./_compression.ts";
import { StatusError, TextError } from "./_status.ts";

/** The `warning` header of a text. */
function warning(text: string): string {
  return `299 - ${JSON.stringify(text)}`;
}

/** The response of an answer. */
export function jsonResponse(
  { code, body, headers = {} }: Answer,
  accept: string | null,
  warnings: readonly string[],
): Response {
  if (code === 204) return new Response(null, { status: code });
  const yaml = negotiate(accept)?.format === "yaml";
  let text = typeof body === "string" ? body : JSON.stringify(body);
  if (yaml) text = writeYaml(JSON.parse(text), { sorted: true });
  const type = yaml
    ? { ...headers, "content-type": "application/yaml" }
    : { "content-type": "application/json", ...headers };
  if (text.length > LARGE) return largeResponse(text, code, type, warnings);
  if (warnings.length === 0) return new Response(text, { status: code, headers: type });
  return new Response(text, { status: code, headers: pairs(type, warnings) });
}

/** As pairs each warning is sent as a header of its own. */
function pairs(headers: Readonly<Record<string, string>>, warnings: readonly string[]): [string, string][] {
  return [...Object.entries(headers), ...warnings.map((each) => ["warning", warning(each)] as [string, string])];
}

/** A large response says how long it is, so that it can be compressed. */
function largeResponse(
  text: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  warnings: readonly string[],
): Response {
  const bytes = new TextEncoder().encode(text);
  return new Response(bytes, { status, headers: pairs({ ...headers, "content-length": `${bytes.length}` }, warnings) });
}

/** The response of plain text. */
export function textResponse(code: number, text: string): Response {
  return new Response(text, { status: code, headers: { "content-type": "text/plain; charset=utf-8" } });
}

/**
 * The response of what a handler threw.
 *
 * @throws {unknown} What is no answer: a fault of the server itself
 */
export function errorResponse(error: unknown, accept: string | null, warnings: readonly string[] = []): Response {
  if (error instanceof TextError) return textResponse(error.code, error.message);
  if (!(error instanceof StatusError)) throw error;
  const { status, headers } = error;
  return jsonResponse({ code: status.code, body: status, headers }, accept, warnings);
}
