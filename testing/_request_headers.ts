/**
 * Holds the headers of a request by name, without all else that `Headers` does.
 *
 * ```ts
 * import { HeaderMap } from "./_request_headers.ts";
 *
 * const headers = new HeaderMap();
 * headers.add("Accept", "a");
 * headers.add("accept", "b");
 * console.assert(headers.get("accept") === "a, b" && headers.get("host") === null);
 * ```
 *
 * @module
 */

/** What is read of headers; names are asked for in lower case. */
export interface RequestHeaders {
  /** The value of a header; null if there is none. */
  get(name: string): string | null;
  /** True if there is a header. */
  has(name: string): boolean;
  /** Calls back with each header. */
  forEach(callback: (value: string, name: string) => void): void;
}

/** Headers by name in lower case. */
export class HeaderMap implements RequestHeaders {
  readonly #values = new Map<string, string>();

  /** Adds a header; values of the same name are one, with a comma between them. */
  add(name: string, value: string): void {
    const key = name.toLowerCase(), before = this.#values.get(key);
    this.#values.set(key, before === undefined ? value : `${before}, ${value}`);
  }

  /** A copy of headers in which one has another value. */
  static with(headers: RequestHeaders, name: string, value: string): HeaderMap {
    const copy = new HeaderMap();
    headers.forEach((each, key) => copy.#values.set(key, each));
    copy.#values.set(name, value);
    return copy;
  }

  /** The value of a header; null if there is none. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  /** True if there is a header. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Calls back with each header. */
  forEach(callback: (value: string, name: string) => void): void {
    this.#values.forEach(callback);
  }
}
