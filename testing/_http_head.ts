/**
 * Reads the heads of HTTP/1.1 requests, and writes those of answers.
 *
 * ```ts
 * import { readHead } from "./_http_head.ts";
 *
 * const { method, target, keepAlive } = readHead("GET /api HTTP/1.1\r\nhost: a");
 * console.assert(method === "GET" && target === "/api" && keepAlive);
 * ```
 *
 * @module
 */
import type { Header } from "./_reply.ts";
import { HeaderMap, type RequestHeaders } from "./_request_headers.ts";

/** Thrown for what is no request. */
export class HttpError extends Error {
  override name = "HttpError";
  /** The code that it is answered with. */
  readonly status: number;

  /** Takes the code, and what is wrong. */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a request begins with. */
export interface Head {
  readonly method: string;
  /** What is asked for, such as `/api?x=1`. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** How many bytes follow; undefined if they come in chunks. */
  readonly length: number | undefined;
  /** True if the connection stays open. */
  readonly keepAlive: boolean;
  /** True if the client waits to be told to send the body. */
  readonly waits: boolean;
  /** True if the client can be sent chunks. */
  readonly chunks: boolean;
}

const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.([01])$/;

/** Reads a head without the empty line at its end. */
export function readHead(text: string): Head {
  const lines = text.split("\r\n");
  const [, method, target, minor] = REQUEST.exec(lines[0]!) ?? [];
  if (method === undefined || target === undefined) throw new HttpError(400, "malformed HTTP request");
  const headers = readHeaders(lines);
  const connection = tokens(headers.get("connection"));
  const expectation = headers.get("expect");
  if (expectation !== null && expectation.toLowerCase() !== "100-continue") {
    throw new HttpError(417, "unknown expectation");
  }
  return {
    method,
    target,
    headers,
    length: lengthOf(headers),
    keepAlive: minor === "1" ? !connection.includes("close") : connection.includes("keep-alive"),
    waits: expectation !== null,
    chunks: minor === "1",
  };
}

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/, NOT_A_VALUE = /[\0\r\n]/;

function readHeaders(lines: readonly string[]): HeaderMap {
  const headers = new HeaderMap();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index]!, colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)), value = line.slice(colon + 1).trim();
    if (!NAME.test(name) || NOT_A_VALUE.test(value)) throw new HttpError(400, "malformed HTTP header");
    headers.add(name, value);
  }
  return headers;
}

function tokens(value: string | null): string[] {
  return value === null ? [] : value.toLowerCase().split(",").map((each) => each.trim());
}

function lengthOf(headers: RequestHeaders): number | undefined {
  const length = headers.get("content-length"), coding = headers.get("transfer-encoding");
  if (coding !== null) {
    if (coding.toLowerCase() !== "chunked") throw new HttpError(501, "unsupported transfer encoding");
    if (length !== null) throw new HttpError(400, "a length and a transfer encoding");
    return undefined;
  }
  if (length === null) return 0;
  if (!/^\d{1,15}$/.test(length)) throw new HttpError(400, "bad content length");
  return Number(length);
}

const TEXTS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Request Entity Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Writes a head with the empty line at its end. */
export function writeHead(status: number, headers: readonly Header[]): string {
  let text = `HTTP/1.1 ${status} ${TEXTS[status] ?? ""}\r\n`;
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}
