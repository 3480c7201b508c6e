/**
 * Defines the errors that callers catch: what an API server refused, what never reached it, and what retrying cannot mend.
 *
 * ```ts
 * import { ApiError, isNotFound } from "@tend/operator";
 *
 * try {
 *   throw new ApiError({ code: 404, reason: "NotFound", message: 'pods "web" not found' }, "GET", "/api/v1/pods/web");
 * } catch (error) {
 *   if (!isNotFound(error)) throw error;
 * }
 * ```
 *
 * @module
 */
import { type Duration, toMilliseconds } from "./duration.ts";

/** One cause in {@linkcode StatusDetails}. */
export interface StatusCause {
  /** The path of the field that is wrong, such as `spec.replicas`. */
  field?: string;
  /** What is wrong with it. */
  message?: string;
  /** A machine-readable word, such as `FieldValueInvalid`. */
  reason?: string;
}

/** What a {@linkcode Status} says of the object and the reasons. */
export interface StatusDetails {
  /** The object's name. */
  name?: string;
  /** The object's API group. */
  group?: string;
  /** The object's kind, or its resource. */
  kind?: string;
  /** The object's uid. */
  uid?: string;
  /** Each thing that is wrong. */
  causes?: StatusCause[];
  /** Seconds to wait before the request is repeated. */
  retryAfterSeconds?: number;
}

/** A Kubernetes `Status`: how an API server answers when it does not answer with an object. */
export interface Status {
  /** Always `Status`. */
  kind?: string;
  /** Always `v1`. */
  apiVersion?: string;
  /** List metadata, empty but for an expired list's `continue`. */
  metadata?: { continue?: string; resourceVersion?: string };
  /** `Success` or `Failure`. */
  status?: string;
  /** For people. */
  message?: string;
  /** A machine-readable word, such as `NotFound` or `Conflict`. */
  reason?: string;
  /** The HTTP status code. */
  code?: number;
  /** More about the object and the causes. */
  details?: StatusDetails;
}

/** The longest part of a server's message in an error's own, in characters; the `Status` has all of it. */
const MAX_MESSAGE = 4096;
/** The longest wait that a server is granted, in ms: who asks for more is asked again after that. */
const MAX_RETRY_AFTER = 3_600_000;

/** Thrown when an API server answers a request with an error. */
export class ApiError extends Error {
  /** The name of the class. */
  override readonly name: string = "ApiError";
  /** The HTTP status code. */
  readonly code: number;
  /** The `Status` reason, such as `NotFound`; empty when the server gave none. */
  readonly reason: string;
  /** The `Status` details. */
  readonly details: StatusDetails | undefined;
  /** The answer itself. */
  readonly status: Status;
  /** The request's method. */
  readonly method: string;
  /** The request's path and query. */
  readonly path: string;
  /** Milliseconds that the server asked to wait before the request is repeated; an hour at most. */
  readonly retryAfter: number | undefined;

  /** Takes the answer and the request it answers; `retryAfter` in milliseconds. */
  constructor(status: Status, method: string, path: string, options: ErrorOptions & { retryAfter?: number } = {}) {
    const { retryAfter, ...rest } = options;
    const code = status.code ?? 0;
    const text = shorten(status.message || status.reason || "no message");
    super(`Cannot ${method} ${path}: the server answered ${code}: ${text}`, rest);
    this.code = code;
    this.reason = status.reason ?? "";
    this.details = status.details;
    this.status = status;
    this.method = method;
    this.path = path;
    const seconds = status.details?.retryAfterSeconds;
    const wait = retryAfter ?? (seconds ? seconds * 1000 : undefined);
    this.retryAfter = wait === undefined ? undefined : Math.min(wait, MAX_RETRY_AFTER);
  }
}

function shorten(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}...`;
}

/** Thrown when a request got no answer: no connection, a reset, or its deadline. */
export class TransportError extends Error {
  /** The name of the class. */
  override readonly name: string = "TransportError";
  /** The request's method. */
  readonly method: string;
  /** The request's path and query. */
  readonly path: string;
  /** True when the deadline passed; the request may have taken effect. */
  readonly timedOut: boolean;

  /** Takes what failed; the reason is in `cause`. */
  constructor(message: string, method: string, path: string, options: ErrorOptions & { timedOut?: boolean } = {}) {
    const { timedOut = false, ...rest } = options;
    super(message, rest);
    this.method = method;
    this.path = path;
    this.timedOut = timedOut;
  }
}

/** Thrown by a reconcile that retrying cannot mend: the object waits for its next change. */
export class TerminalError extends Error {
  /** The name of the class. */
  override readonly name: string = "TerminalError";
}

/** Thrown by a reconcile to be retried after its own delay instead of the back-off's; it still counts as a failure. */
export class RetryError extends Error {
  /** The name of the class. */
  override readonly name: string = "RetryError";
  /** Milliseconds until the next try. */
  readonly retryAfter: number;

  /**
   * Takes the message and the delay.
   *
   * @throws {TypeError} If the delay is not a duration
   * @throws {RangeError} If it is not longer than 0 ms, or not finite
   */
  constructor(message: string, retryAfter: Duration, options: ErrorOptions = {}) {
    super(message, options);
    this.retryAfter = toMilliseconds(retryAfter, "retryAfter");
    if (this.retryAfter === 0) {
      throw new RangeError("Cannot create RetryError: 'retryAfter' must be longer than 0 ms: current value is 0");
    }
  }
}

/** Thrown by a write to an object that was deleted meanwhile; a reconcile that lets it pass ends quietly. */
export class ObjectGoneError extends Error {
  /** The name of the class. */
  override readonly name: string = "ObjectGoneError";
  /** The uid of the object that is gone; `undefined` if that is not known. */
  readonly uid: string | undefined;

  /** Says what could not be done, and to which object. */
  constructor(message: string, uid?: string) {
    super(message);
    this.uid = uid;
  }
}

/** Thrown by a request of a leader whose lease may have gone to another replica; nothing was sent. */
export class LeadershipLostError extends Error {
  /** The name of the class. */
  override readonly name: string = "LeadershipLostError";
}

/** What an error says, in one text, whatever it is that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for an {@linkcode ApiError}, with that code or reason if one is given. */
export function isApiError(error: unknown, codeOrReason?: number | string): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if (codeOrReason === undefined) return true;
  return typeof codeOrReason === "number" ? error.code === codeOrReason : error.reason === codeOrReason;
}

/** True when the object, or its kind, does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return isApiError(error, 404);
}

/** True when a write met a newer version of the object, or another field manager. */
export function isConflict(error: unknown): error is ApiError {
  return isApiError(error, 409) && error.reason !== "AlreadyExists";
}

/** True when a create met an object of that name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return isApiError(error, "AlreadyExists");
}

/** True when the server found the object itself wrong. */
export function isInvalid(error: unknown): error is ApiError {
  return isApiError(error, 422);
}

/** True when the caller may not do that. */
export function isForbidden(error: unknown): error is ApiError {
  return isApiError(error, 403);
}

/** True when a resource version or continue token is older than what the server keeps. */
export function isExpired(error: unknown): error is ApiError {
  return isApiError(error, 410);
}

/** True when a create was refused because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return isForbidden(error) && (error.details?.causes ?? []).some((cause) => cause.reason === "NamespaceTerminating");
}
