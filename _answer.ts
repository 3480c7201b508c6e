/**
 * Reads answers: a `Status` out of whatever an error body holds, when to try again, warnings, and why nothing came.
 *
 * ```ts
 * import { toStatus } from "./_answer.ts";
 *
 * const status = toStatus(502, "GET", "text/html", "<html><title>Bad gateway</title></html>");
 * console.assert(status.code === 502 && status.message?.includes("Bad gateway"));
 * ```
 *
 * @module
 */
import { ApiError, type Status, TransportError } from "./errors.ts";

/** The reason that an API server gives with a code, for answers that give none. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The longest excerpt of an error body in a message. */
const EXCERPT = 300;

/** True for `application/json` and its like. */
export function isJson(contentType: string): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(contentType);
}

/** Makes a `Status` of an error answer: the one in the body, or what a body without one tells. */
export function toStatus(code: number, method: string, contentType: string, text: string): Status {
  const value = parse(text);
  if (value?.kind === "Status") return { ...value, code: numberOr(value.code, code) };
  const reason = code === 409 && method === "POST" ? "AlreadyExists" : REASONS[code] ?? "";
  const message = typeof value?.message === "string" ? value.message : summary(contentType, text);
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: excerpt(message) };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && value > 0 ? value : otherwise;
}

function summary(contentType: string, text: string): string {
  if (!/html/i.test(contentType) && !/^\s*<(!doctype|html)/i.test(text)) return text;
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
  return title ? `a web page, not an API server's answer: ${title}` : "a web page, not an API server's answer";
}

/** The start of a text, on one line. */
export function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT)}...`;
}

/** Milliseconds in a `Retry-After` header: seconds, or an HTTP date. */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The texts of the `Warning` headers of code 299, which API servers use for deprecations and the like. */
export function warningsOf(headers: Headers): string[] {
  const value = headers.get("warning");
  if (!value) return [];
  return [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]!.replaceAll(/\\(.)/g, "$1"));
}

/** Why a request got no answer: "fetch failed" says it only in its causes. */
export function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 5; depth++) {
    const text = at instanceof Error ? at.message || at.name : String(at);
    const reason = text.replace(/error sending request for url \(\S*\)(: )?/, "").replace(/^client error /, "");
    if (reason && reason !== "fetch failed" && !reasons.some((known) => known.includes(reason))) reasons.push(reason);
    at = at instanceof Error ? at.cause : undefined;
  }
  return excerpt(reasons.join(": ")) || "the connection failed";
}

/** The error that an answer of 300 or more is. */
export function toError(method: string, path: string, response: Response, text: string): ApiError {
  const status = toStatus(response.status, method, response.headers.get("content-type") ?? "", text);
  const retryAfter = retryAfterOf(response.headers);
  return new ApiError(status, method, path, retryAfter === undefined ? {} : { retryAfter });
}

/** The error that no answer is. */
export function noAnswer(method: string, path: string, what: string, cause: unknown): TransportError {
  return new TransportError(`Cannot ${method} ${path}: ${what}: ${reasonOf(cause)}`, method, path, { cause });
}
