/**
 * Makes a server misbehave on request: for some users, verbs and resources, some number of times or for a time.
 *
 * ```ts
 * import { Faults } from "./_faults.ts";
 *
 * const faults = new Faults(() => 0);
 * faults.add({ verb: "create", times: 1 }, { code: 503 });
 * console.assert(faults.take({ user: "ada", verb: "create" })?.code === 503);
 * console.assert(faults.take({ user: "ada", verb: "create" }) === undefined);
 * ```
 *
 * @module
 */
import { StatusError } from "./_status.ts";

/** Which requests a fault meets; what is absent meets all. */
export interface FaultMatch {
  /** The name of the user. @default {any} */
  readonly user?: string | undefined;
  /** The verb as RBAC has it, such as `list` or `patch`. @default {any} */
  readonly verb?: string | undefined;
  /** The plural, such as `leases`. @default {any} */
  readonly resource?: string | undefined;
  /** The subresource; empty for the object itself. @default {any} */
  readonly subresource?: string | undefined;
  /** The namespace. @default {any} */
  readonly namespace?: string | undefined;
  /** The object's name. @default {any} */
  readonly name?: string | undefined;
  /** How many requests are met before the fault is over. @default {Infinity} */
  readonly times?: number | undefined;
  /** For how many ms the fault lasts. @default {Infinity} */
  readonly for?: number | undefined;
}

/** What happens to a request. */
export interface Fault {
  /** Answers with this HTTP status code and does nothing. */
  readonly code?: number | undefined;
  /** The `Status` reason that goes with `code`. */
  readonly reason?: string | undefined;
  /** The message that goes with `code`. */
  readonly message?: string | undefined;
  /** Seconds to wait that the client is told with `code`. */
  readonly retryAfter?: number | undefined;
  /** Waits so many ms before anything else. */
  readonly delay?: number | undefined;
  /** Breaks the connection: before the request took effect, or after it. */
  readonly reset?: "before" | "after" | undefined;
  /** Never answers; or, for a watch, sends nothing from now on. Only the client's own deadline ends it. */
  readonly stall?: boolean | undefined;
  /** Breaks a watch after so many ms. */
  readonly breakAfter?: number | undefined;
  /** Sends no bookmarks in a watch. */
  readonly dropBookmarks?: boolean | undefined;
}

/** What a fault is matched against. */
export interface FaultSubject {
  /** The name of the user. */
  readonly user: string;
  /** The verb as RBAC has it. */
  readonly verb: string;
  /** The plural; absent for a path that is no resource. */
  readonly resource?: string;
  /** The subresource, if one is meant. */
  readonly subresource?: string;
  /** The namespace, if the request is for one. */
  readonly namespace?: string;
  /** The name, if the request is for one object. */
  readonly name?: string;
}

interface Active {
  readonly match: FaultMatch;
  readonly fault: Fault;
  readonly until: number;
  left: number;
}

const MEMBERS = ["user", "verb", "resource", "subresource", "namespace", "name"] as const;

/** The faults of one server. */
export class Faults {
  readonly #now: () => number;
  readonly #active: Active[] = [];

  /** Takes the clock, in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a fault, until it is over or disposed; the one added first is met first. */
  add(match: FaultMatch, fault: Fault): Disposable {
    const { times = Infinity, for: lasts = Infinity } = match;
    const active: Active = { match, fault, until: this.#now() + lasts, left: times };
    this.#active.push(active);
    return { [Symbol.dispose]: () => this.#remove(active) };
  }

  #remove(active: Active): void {
    const index = this.#active.indexOf(active);
    if (index >= 0) this.#active.splice(index, 1);
  }

  /** The fault that a request meets, if any; it counts. */
  take(subject: FaultSubject): Fault | undefined {
    for (const active of [...this.#active]) {
      if (active.until <= this.#now()) {
        this.#remove(active);
        continue;
      }
      const meets = MEMBERS.every((member) =>
        active.match[member] === undefined || active.match[member] === (subject[member] ?? "")
      );
      if (!meets) continue;
      if (--active.left <= 0) this.#remove(active);
      return active.fault;
    }
    return undefined;
  }
}

/** The answer that a fault gives in place of the server's. */
export function faultError({ code = 500, reason, message, retryAfter }: Fault): StatusError {
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

/** Waits; rejects when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.reject(signal.reason);
  const timer = ms === Infinity ? undefined : setTimeout(() => {
    signal.removeEventListener("abort", abort);
    resolve();
  }, ms);
  function abort(): void {
    clearTimeout(timer);
    reject(signal.reason);
  }
  signal.addEventListener("abort", abort, { once: true });
  return promise;
}

/** A stream of a watch with a fault in it. */
export function faultyStream(stream: ReadableStream<Uint8Array>, fault: Fault): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (fault.breakAfter === undefined) return;
      timer = setTimeout(() => {
        controller.error(connectionReset());
        reader.cancel().catch(() => {});
      }, fault.breakAfter);
    },
    async pull(controller) {
      while (true) {
        const { done, value } = await reader.read().catch((error) => {
          clearTimeout(timer);
          throw error;
        });
        if (done) {
          clearTimeout(timer);
          return controller.close();
        }
        if (fault.stall) continue;
        if (fault.dropBookmarks && decoder.decode(value).startsWith('{"type":"BOOKMARK"')) continue;
        return controller.enqueue(value);
      }
    },
    cancel(reason) {
      clearTimeout(timer);
      return reader.cancel(reason);
    },
  });
}
