/**
 * Reads from kube-apiserver's own metrics how many requests of which kind it has answered.
 *
 * ```ts
 * import { requestCounts, since } from "./_server_requests.ts";
 *
 * const counts = requestCounts('apiserver_request_total{resource="widgets",subresource="status",verb="PATCH"} 3');
 * console.assert(counts.get("PATCH widgets/status") === 3);
 * console.assert(since(new Map(), counts).get("PATCH widgets/status") === 3);
 * ```
 *
 * @module
 */

/** How many requests there were, by verb and resource, such as `APPLY configmaps`. */
export type RequestCounts = ReadonlyMap<string, number>;

/** The verbs that change something, as the metrics name them. */
const WRITES: readonly string[] = ["POST", "PUT", "PATCH", "APPLY", "DELETE"];

function label(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
}

/** The counts in a page of metrics. */
export function requestCounts(metrics: string): RequestCounts {
  const counts = new Map<string, number>();
  for (const line of metrics.split("\n")) {
    const [, labels, count] = /^apiserver_request_total\{([^}]*)\} (\S+)/.exec(line) ?? [];
    if (labels === undefined) continue;
    const subresource = label(labels, "subresource");
    const what = label(labels, "resource") + (subresource === "" ? "" : `/${subresource}`);
    const key = `${label(labels, "verb")} ${what}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

/** What came between two counts. */
export function since(before: RequestCounts, after: RequestCounts): RequestCounts {
  return new Map(
    [...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const).filter(([, count]) => count > 0),
  );
}

/** How many requests there were for some resources, their subresources included: writes, or reads of single objects. */
export function countOf(counts: RequestCounts, resources: readonly string[], what: "writes" | "reads"): number {
  const verbs = what === "writes" ? WRITES : ["GET"];
  let sum = 0;
  for (const [key, count] of counts) {
    const [verb = "", resource = ""] = key.split(" ");
    if (verbs.includes(verb) && resources.includes(resource.split("/")[0]!)) sum += count;
  }
  return sum;
}
