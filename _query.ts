/**
 * Builds query strings.
 *
 * ```ts
 * import { withQuery } from "./_query.ts";
 *
 * console.assert(withQuery("/api/v1/pods", { labelSelector: "a in (b, c)" }) === "/api/v1/pods?labelSelector=a+in+%28b%2C+c%29");
 * ```
 *
 * @module
 */

/** Parameters of a request; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

/** Puts parameters behind a path, which may have some already. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}
