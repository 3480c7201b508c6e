/**
 * Counts what there is, as a metrics page in the format of Prometheus.
 *
 * ```ts
 * import { metricsPage } from "./_metrics.ts";
 *
 * console.assert(metricsPage("/nope", () => []) === undefined);
 * ```
 *
 * @module
 */
import type { Reply } from "./_reply.ts";
import { CHECKS } from "./_discovery.ts";

/** How many objects of a resource there are. */
export interface ObjectCount {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
}

/** A metric: its name, what it says, and its values by labels. */
function gauge(name: string, help: string, values: readonly (readonly [Record<string, string>, number])[]): string {
  const lines = values.map(([labels, value]) => {
    const written = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    return `${name}{${written.join(",")}} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}

/** The metrics page of a path; undefined if it is of none. */
export function metricsPage(path: string, counts: () => readonly ObjectCount[]): Reply | undefined {
  switch (path) {
    case "/metrics":
      return page(
        gauge(
          "apiserver_resource_objects",
          "Stored objects by resource.",
          counts().map(({ group, resource, count }) => [{ group, resource }, count]),
        ) + gauge("kubernetes_build_info", "What the server stands in for.", [[{ git_version: "v1.37.2" }, 1]]),
      );
    case "/metrics/slis":
      return page(gauge(
        "kubernetes_healthcheck",
        "The results of health checks.",
        Object.entries(CHECKS).flatMap(([type, names]) => names.map((name) => [{ name, type }, 1] as const)),
      ));
  }
  return undefined;
}

function page(body: string): Reply {
  const type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
  return { status: 200, headers: [["content-type", type]], body };
}
