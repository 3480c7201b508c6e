/**
 * Keeps what came to a server, for assertions, and says which requests a test did not expect.
 *
 * ```ts
 * import type { RecordedRequest } from "./_requests.ts";
 *
 * export function isWrite({ method }: RecordedRequest): boolean {
 *   return method !== "GET";
 * }
 * ```
 *
 * @module
 */
import { Expectation, type ExpectedRequest, type ExpectOptions } from "./_expectation.ts";
import type { RequestSubject } from "./_match.ts";
import type { StatusError } from "./_status.ts";

/** A request that came to the server. */
export interface RecordedRequest extends RequestSubject {
  /** When it came, in ms since 1970 by the test's clock. */
  readonly time: number;
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query's parameters; the last of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** The media type of the body. */
  readonly contentType: string | undefined;
  /** The body as it came; empty if there was none. */
  readonly body: string;
  /** The code of the answer, whether it reached the client or not; 0 while there is none. */
  readonly code: number;
  /** What went wrong with it on the test's request, in a few words. */
  readonly fault?: string;
}

/** A request as it is being answered. */
export class RequestRecord implements RecordedRequest {
  readonly time: number;
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: string;
  user = "";
  client: string;
  verb: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  code = 0;
  fault?: string;
  readonly #url: URL;

  /** Takes what is known at once. */
  constructor(time: number, method: string, url: URL, headers: Headers, body: string, client: string) {
    this.time = time;
    this.method = method;
    this.path = url.pathname;
    this.contentType = headers.get("content-type") ?? undefined;
    this.body = body;
    this.client = client;
    this.verb = method.toLowerCase();
    this.#url = url;
  }

  /** Says what it is for. */
  concerns({ verb, resource, subresource, namespace, name }: Omit<RequestSubject, "user" | "client">): void {
    this.verb = verb;
    if (resource === undefined) return;
    this.resource = resource;
    this.subresource = subresource ?? "";
    this.namespace = namespace ?? "";
    this.name = name ?? "";
  }

  get query(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#url.searchParams);
  }
}

/** After how many requests it is looked whether too many are kept. */
const PERIOD = 1000;

/** How many characters of bodies are kept. */
const MOST_TEXT = 2 ** 26;

/** The requests of one server. */
export class Requests {
  /** What came, oldest first. */
  readonly list: RecordedRequest[] = [];
  readonly #keep: number;
  readonly #expectations = new Set<Expectation>();
  #added = 0;

  /** Takes how many are kept at least. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Adds one; now and then the oldest are forgotten. */
  add(record: RequestRecord): void {
    if (this.#keep === 0) return;
    this.list.push(record);
    if (++this.#added % PERIOD === 0) this.#trim();
  }

  /** Says what is expected from now on, until disposed. */
  expect(expected: readonly ExpectedRequest[], options: ExpectOptions): Disposable {
    const expectation = new Expectation(expected, options, () => this.#expectations.delete(expectation));
    this.#expectations.add(expectation);
    return expectation;
  }

  /** Looks at one whose user and verb are known; answers with what refuses it, if a test wants that. */
  look(record: RequestRecord): StatusError | undefined {
    let refusal: StatusError | undefined;
    for (const expectation of this.#expectations) refusal = expectation.look(record) ?? refusal;
    return refusal;
  }

  #trim(): void {
    let from = Math.max(0, this.list.length - this.#keep), text = 0;
    for (let index = this.list.length - 1; index >= from; index--) {
      text += this.list[index]!.body.length;
      if (text > MOST_TEXT) from = index + 1;
    }
    if (from > 0) this.list.splice(0, from);
  }
}
