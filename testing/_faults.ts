/**
 * Makes a server misbehave on request: for some users, clients, verbs and resources, some number of times or for a time.
 *
 * ```ts
 * import { faultError } from "./_faults.ts";
 *
 * console.assert(faultError({ code: 429, retryAfter: 7 }).status.reason === "TooManyRequests");
 * ```
 *
 * @module
 */
import type { LagBy } from "./_lag.ts";
import type { RequestMatch } from "./_match.ts";
import { StatusError } from "./_status.ts";

/** Which requests are met, and how long. */
export interface TimedMatch extends RequestMatch {
  /** For how many ms this lasts. @default {Infinity} */
  readonly for?: number | undefined;
}

/** Which requests a fault meets; what is absent meets all. */
export interface FaultMatch extends TimedMatch {
  /** How many requests are met before the fault is over. @default {Infinity} */
  readonly times?: number | undefined;
}

/** What happens to a request, or to the stream of a watch; several may happen to one. */
export interface Fault {
  /** Answers with this HTTP status code and does nothing. */
  readonly code?: number | undefined;
  /** The `Status` reason that goes with `code`. @default {the usual one} */
  readonly reason?: string | undefined;
  /** The message that goes with `code`. */
  readonly message?: string | undefined;
  /** Seconds to wait that the client is told with `code`. */
  readonly retryAfter?: number | undefined;
  /** A watch gets the `code` as an ERROR event in its stream and not as the HTTP status code, as the real 410 comes. */
  readonly inStream?: boolean | undefined;
  /** Waits so many ms before anything else. */
  readonly delay?: number | undefined;
  /** Keeps the answer back for so many ms: what was asked for took effect long since. */
  readonly answerDelay?: number | undefined;
  /** Breaks the connection: before the request took effect, or after it. */
  readonly reset?: "before" | "after" | undefined;
  /**
   * Never answers, whether the request has no effect (true) or takes effect first; a watch that is met sends nothing. Only
   * the client's own deadline ends it.
   */
  readonly stall?: boolean | "after" | undefined;
  /** Breaks the connection of a watch after so many ms. */
  readonly breakAfter?: number | undefined;
  /**
   * Ends the stream of a watch in the middle of a line, after so many whole ones; any other answer ends in its middle,
   * whatever the number. To the client the answer looks complete.
   */
  readonly truncate?: number | undefined;
  /** A watch gets no bookmarks, or each twice. */
  readonly bookmarks?: "drop" | "duplicate" | undefined;
}

/** What becomes of requests while a client is cut off. */
export interface PartitionOptions {
  /**
   * What gets lost: `requests` before they reach the server, or `answers` after they took effect. Both are kept back, as TCP
   * does, and arrive when the partition ends if the client still waits. `refused`: requests fail at once.
   *
   * @default {"requests"}
   */
  readonly lost?: "requests" | "answers" | "refused" | undefined;
}

/** What goes wrong with a server, on request. */
export interface Faults {
  /**
   * Adds a fault, until it is over or disposed; the one that was added first is met first, and a request meets one.
   *
   * @throws {TypeError} If the match or the fault has a member that is none
   * @throws {RangeError} If a number is negative or no number
   */
  add(match: FaultMatch, fault: Fault): Disposable;

  /**
   * Sends requests to a replica of the server that is behind, until it is disposed and catches up.
   *
   * As behind a real lagging replica, a read that asks for the newest state gets it, after up to 3 s. One that asks for any
   * version, or a watch, gets the replica's older state; a watch gets later events as the replica learns of them. One that
   * asks for a version that the replica has not reached fails with 504 after 3 s. By default the replica stands still.
   *
   * @throws {RangeError} If a number is negative or no number
   */
  lag(match: TimedMatch, by?: LagBy): Disposable;

  /**
   * Cuts clients off until disposed; their open watches go silent, and get what they missed afterwards.
   *
   * @throws {TypeError} If the match has a member that is none
   */
  partition(match: TimedMatch, options?: PartitionOptions): Disposable;

  /** Breaks the connections of open watches; answers with how many. */
  breakWatches(match?: RequestMatch): number;

  /** By how many ms the server's clock is ahead of the test's. */
  skew: number;

  /** Ends all faults, lags and partitions, and the skew. */
  clear(): void;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** The answer that a fault gives in place of the server's. */
export function faultError({ code = 500, reason = REASONS[code], message, retryAfter }: Fault): StatusError {
  return new StatusError(
    {
      code,
      message: message ?? "a fault that the test asked for",
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
    },
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
  );
}

/** The error of a connection that broke. */
export function connectionReset(): TypeError {
  return new TypeError("error sending request: connection reset by the test's fault");
}

/** The error of a connection that nobody accepts. */
export function connectionRefused(): TypeError {
  return new TypeError("error sending request: connection refused: the API server is down");
}

const NUMBERS = ["code", "retryAfter", "delay", "answerDelay", "breakAfter", "truncate"] as const;

const MEMBERS: Readonly<Record<keyof Fault, (value: unknown) => boolean>> = {
  code: isCount,
  reason: isText,
  message: isText,
  retryAfter: isCount,
  inStream: isFlag,
  delay: isCount,
  answerDelay: isCount,
  reset: (value) => value === "before" || value === "after",
  stall: (value) => isFlag(value) || value === "after",
  breakAfter: isCount,
  truncate: isCount,
  bookmarks: (value) => value === "drop" || value === "duplicate",
};

function isCount(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

/** Refuses a fault that could do nothing, such as one with a member that is misspelt. */
export function checkFault(fault: Fault): void {
  for (const [member, value] of Object.entries(fault)) {
    if (value === undefined) continue;
    const holds = Object.hasOwn(MEMBERS, member) ? MEMBERS[member as keyof Fault] : undefined;
    if (!holds) {
      throw new TypeError(
        `Cannot add a fault: it may have ${Object.keys(MEMBERS).join(", ")}: current member is ${member}`,
      );
    }
    if (holds(value)) continue;
    if ((NUMBERS as readonly string[]).includes(member)) checkCount("add a fault", member, value);
    throw new TypeError(`Cannot add a fault: '${member}' has a value that it cannot have: ${JSON.stringify(value)}`);
  }
  const { code } = fault;
  if (code !== undefined && !(Number.isInteger(code) && code >= 400 && code <= 599)) {
    throw new RangeError(`Cannot add a fault: 'code' must be an integer from 400 to 599: current value is ${code}`);
  }
}

/** Refuses what is not a number from 0 on. */
export function checkCount(what: string, member: string, value: unknown): void {
  if (value === undefined || isCount(value)) return;
  throw new RangeError(`Cannot ${what}: '${member}' must be a number from 0 on: current value is ${String(value)}`);
}

/** Says in a few words what a fault does, for the record. */
export function faultText(fault: Fault): string {
  return Object.entries(fault).filter(([, value]) => value !== undefined && value !== false)
    .map(([member, value]) => value === true ? member : `${member} ${value}`).join(", ");
}
