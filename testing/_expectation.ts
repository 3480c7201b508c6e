/**
 * Holds the requests of a test against what it expects, and says what came that it did not, and what it missed.
 *
 * ```ts
 * import { Expectation } from "./_expectation.ts";
 *
 * using expectation = new Expectation([{ verb: "list" }], { of: { user: "operator" } }, () => {});
 * ```
 *
 * @module
 */
import { checkMatch, MATCH_MEMBERS, matches, type RequestMatch } from "./_match.ts";
import type { RecordedRequest } from "./_recorded_request.ts";
import { StatusError } from "./_status.ts";

/** Requests that a test expects. */
export interface ExpectedRequest extends RequestMatch {
  /** How many there must be, no more and no fewer. @default {any number, none too} */
  readonly times?: number | undefined;
}

/** How a test expects requests. */
export interface ExpectOptions {
  /** Whose requests are looked at; those of all others are left alone. @default {all} */
  readonly of?: RequestMatch | undefined;
  /** True to answer with 403 what is not expected, so that it has no effect. @default {false} */
  readonly refuse?: boolean | undefined;
}

/** How many requests are shown. */
const SHOWN = 20;
/** How much of a body is shown, in characters. */
const BODY = 120;

/** What one test expects. */
export class Expectation implements Disposable {
  readonly #expected: readonly { readonly match: ExpectedRequest; came: number }[];
  readonly #of: RequestMatch;
  readonly #refuse: boolean;
  readonly #ended: () => void;
  readonly #unexpected: RecordedRequest[] = [];
  #count = 0;
  #over = false;

  /** Takes what is expected, and what is called at the end. */
  constructor(expected: readonly ExpectedRequest[], options: ExpectOptions, ended: () => void) {
    const { of = {}, refuse = false } = options;
    for (const match of expected) {
      checkMatch("expect requests", match, ["times"]);
      if (match.times === undefined || (Number.isInteger(match.times) && match.times >= 0)) continue;
      throw new RangeError(
        `Cannot expect requests: 'times' must be an integer from 0 on: current value is ${String(match.times)}`,
      );
    }
    checkMatch("expect requests", of);
    this.#expected = expected.map((match) => ({ match, came: 0 }));
    this.#of = of;
    this.#refuse = refuse;
    this.#ended = ended;
  }

  /** Looks at a request; answers with what refuses it, if it is to be. */
  look(request: RecordedRequest): StatusError | undefined {
    if (!matches(this.#of, request)) return undefined;
    const expected = this.#expected.find(({ match, came }) =>
      came < (match.times ?? Infinity) && matches(match, request)
    );
    if (expected) {
      expected.came++;
      return undefined;
    }
    if (this.#count++ < SHOWN) this.#unexpected.push(request);
    if (!this.#refuse) return undefined;
    const message = `the test did not expect ${shown(request)}`;
    return new StatusError({ code: 403, reason: "Forbidden", message });
  }

  /**
   * Ends it.
   *
   * @throws {Error} If something came that was not expected, or something that was expected did not come
   */
  [Symbol.dispose](): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
    const missed = this.#expected.filter(({ match, came }) => came < (match.times ?? 0));
    if (this.#count === 0 && missed.length === 0) return;
    throw new Error(this.#report(missed));
  }

  #report(missed: readonly { readonly match: ExpectedRequest; readonly came: number }[]): string {
    const lines: string[] = [];
    if (this.#count > 0) {
      lines.push(`${counted(this.#count)} came that the test did not expect:`);
      lines.push(...this.#unexpected.map((request) => `  ${new Date(request.time).toISOString()} ${shown(request)}`));
      if (this.#count > SHOWN) lines.push(`  and ${this.#count - SHOWN} more`);
    }
    if (missed.length > 0) {
      lines.push("Requests that the test expected did not come:");
      lines.push(...missed.map(({ match, came }) => `  ${described(match)}: came ${came} of ${match.times} times`));
    }
    lines.push(this.#expected.length === 0 ? "Expected was nothing." : "Expected was:");
    lines.push(...this.#expected.map(({ match }) => `  ${described(match)}`));
    return lines.join("\n");
  }
}

function counted(count: number): string {
  return count === 1 ? "1 request" : `${count} requests`;
}

/** A request in one line. */
function shown({ user, client, verb, resource, method, path, query, body, code, fault }: RecordedRequest): string {
  const asked = new URLSearchParams(query).toString();
  const text = body.length > BODY ? `${body.slice(0, BODY)}... (${body.length} characters)` : body;
  const what = resource === undefined ? verb : `${verb} ${resource}`;
  return [
    `${what} of ${user} (${client}): ${method} ${path}${asked === "" ? "" : `?${asked}`}`,
    ...(text === "" ? [] : [text]),
    ...(code === 0 ? [] : [`answered ${code}`]),
    ...(fault === undefined ? [] : [`met ${fault}`]),
  ].join(", ");
}

/** An expectation in one line. */
function described(match: ExpectedRequest): string {
  const said = MATCH_MEMBERS.filter((member) => match[member] !== undefined)
    .map((member) => `${member} ${[match[member]!].flat().map((each) => each === "" ? '""' : each).join(" or ")}`);
  const times = match.times === undefined ? "" : `, ${match.times} times`;
  return `${said.length === 0 ? "anything" : said.join(", ")}${times}`;
}
