/**
 * Keeps what came to a server, for assertions, and says which requests a test did not expect.
 *
 * ```ts
 * import { Requests } from "./_requests.ts";
 *
 * const requests = new Requests(100);
 * using _ = requests.expect([{ verb: "list" }], {});
 * ```
 *
 * @module
 */
import { Expectation, type ExpectedRequest, type ExpectOptions } from "./_expectation.ts";
import type { RecordedRequest, RequestRecord } from "./_recorded_request.ts";
import type { StatusError } from "./_status.ts";

/** How many requests are kept unless a test says otherwise; each costs as much memory as a small object. */
export const KEPT = 1000;

/** How many characters of bodies are kept. */
const MOST_TEXT = 2 ** 24;

/** The requests of one server. */
export class Requests {
  /** What came, oldest first. */
  readonly list: RecordedRequest[] = [];
  readonly #keep: number;
  /** After how many requests it is looked whether too many are kept. */
  readonly #period: number;
  readonly #expectations = new Set<Expectation>();
  #added = 0;

  /** Takes how many are kept at least. */
  constructor(keep: number = KEPT) {
    this.#keep = keep;
    this.#period = Math.ceil(Math.min(1000, Math.max(100, keep / 10)));
  }

  /** Adds one; now and then the oldest are forgotten. */
  add(record: RequestRecord): void {
    if (this.#keep === 0) return;
    this.list.push(record);
    if (++this.#added % this.#period === 0) this.#trim();
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
