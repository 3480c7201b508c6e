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
import { ApiError, messageOf, type Status, type StatusCause, type StatusDetails, TransportError } from "./errors.ts";

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
/** Where the title of a web page is looked for, in characters. */
const PAGE_HEAD = 8192;

/** True for `application/json` and its like. */
export function isJson(contentType: string): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(contentType);
}

/** Makes a `Status` of an error answer: the one in the body, or what a body without one tells. */
export function toStatus(code: number, method: string, contentType: string, text: string): Status {
  const value = parse(text);
  if (value?.kind === "Status") return asStatus(value, code);
  const reason = code === 409 && method === "POST" ? "AlreadyExists" : REASONS[code] ?? "";
  const message = typeof value?.message === "string" ? value.message : summary(contentType, text);
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: excerpt(message) };
}

/** A `Status` of whatever says that it is one: parts of another type than theirs are left out. */
export function asStatus(value: unknown, code: number): Status {
  const { kind, apiVersion, metadata, status, message, reason, details, code: own, ...others } = fieldsOf(value);
  return {
    ...others,
    ...texts({ kind, apiVersion, status, message, reason }),
    code: numberOr(own, code),
    ...(isFields(metadata) ? { metadata: texts({ ...metadata }) } : {}),
    ...(isFields(details) ? { details: detailsOf(details) } : {}),
  };
}

function detailsOf({ causes, retryAfterSeconds: seconds, ...others }: Fields): StatusDetails {
  return {
    ...texts(others),
    ...(typeof seconds === "number" && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
    ...(Array.isArray(causes)
      ? { causes: causes.filter(isFields).map((cause): StatusCause => texts({ ...cause })) }
      : {}),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Those of the fields that are texts. */
function texts(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === "string"),
  );
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
  return typeof value === "number" && value >= 100 && value < 1000 ? value : otherwise;
}

function summary(contentType: string, text: string): string {
  if (!isPage(contentType, text)) return text;
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text.slice(0, PAGE_HEAD))?.[1]?.trim();
  return title ? `a web page, not an API server's answer: ${title}` : "a web page, not an API server's answer";
}

function isPage(contentType: string, text: string): boolean {
  return /html/i.test(contentType) || /^\s*<(!doctype|html)/i.test(text);
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

/**
 * Reads the answer to a request that something of these types was accepted for.
 *
 * Nothing of an answer is put into an error but the title of a web page: it may hold a secret, which the parser's error
 * would quote.
 *
 * @throws {TransportError} If JSON was accepted, and it is something else
 */
export function readAnswer(outline: AnswerOutline, contentType: string, text: string): unknown {
  const { method, path, accept = "application/json" } = outline;
  if (text === "") return undefined;
  if (!isJson(contentType)) {
    if (!accept.includes("json")) return text;
    const type = JSON.stringify(excerpt(contentType));
    throw new TransportError(
      `Cannot ${method} ${path}: the answer must be JSON: current value is of type ${type}${
        isPage(contentType, text) ? `: ${excerpt(summary(contentType, text))}` : ` with ${text.length} characters`
      }`,
      method,
      path,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /position \d+/.exec(messageOf(error))?.[0] ?? `the end of ${text.length} characters`;
    throw new TransportError(`Cannot ${method} ${path}: the answer is not valid JSON at ${place}`, method, path);
  }
}

/** What was asked for. */
export interface AnswerOutline {
  readonly method: string;
  readonly path: string;
  readonly accept?: string | undefined;
}

/** The error that no answer is. */
export function noAnswer(method: string, path: string, what: string, cause: unknown): TransportError {
  return new TransportError(`Cannot ${method} ${path}: ${what}: ${reasonOf(cause)}`, method, path, { cause });
}

/**
 * True if the server has not looked at the request: it was about to close the HTTP/2 connection, as an API server does now
 * and then to spread its clients, or refused the stream (RFC 9113, 6.8 and 8.7).
 */
export function isUnprocessed({ message }: Error): boolean {
  return /connection error received: not a result of an error|refused stream before processing/.test(message);
}
