/**
 * Makes the objects that the peers reconcile.
 *
 * ```ts
 * import { widget } from "./_objects.ts";
 *
 * const size = JSON.stringify(widget(7).spec).length;
 * console.assert(size > 650 && size < 750);
 * ```
 *
 * @module
 */

/** The group and version of the kind. */
export const API_VERSION = "bench.example.com/v1";
/** The namespace that most objects are in. */
export const NAMESPACE = "bench";

/** What may differ between objects. */
export interface WidgetOptions {
  /** The namespace. @default {"bench"} */
  readonly namespace?: string;
  /** The kind's number. @default {""} */
  readonly kind?: number | "";
  /** How many variables of some 100 bytes there are more. @default {0} */
  readonly variables?: number;
}

/** An object as it is sent to the server. */
export interface WidgetBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The name of an object. */
export function nameOf(index: number): string {
  return `widget-${index}`;
}

/** An object in its first revision, with about 700 bytes of spec. */
export function widget(index: number, options: WidgetOptions = {}): WidgetBody {
  const { namespace = NAMESPACE, kind = "", variables = 0 } = options;
  const name = nameOf(index);
  const more = Array.from({ length: variables }, (_, each) => {
    return { name: `VARIABLE_${each}`, value: `${name}-${each}-`.padEnd(70, "abcdefghij") };
  });
  return {
    apiVersion: API_VERSION,
    kind: `Widget${kind}`,
    metadata: { name, namespace },
    spec: {
      index,
      revision: 1,
      sent: 0,
      title: `The widget of number ${index} that the benchmark reconciles`,
      image: `registry.example.com/benchmarks/widgets/server:1.${index % 40}.7`,
      replicas: index % 5 + 1,
      ports: [{ name: "http", port: 8080 }, { name: "metrics", port: 9090 }],
      env: [
        { name: "LOG_LEVEL", value: "info" },
        { name: "DATABASE_URL", value: `postgres://${name}.databases.svc.cluster.local:5432/widgets` },
        { name: "CACHE_URL", value: `redis://${name}.caches.svc.cluster.local:6379/0` },
        { name: "REQUEST_TIMEOUT_SECONDS", value: "30" },
        { name: "TRACES_ENDPOINT", value: "http://collector.observability.svc.cluster.local:4318" },
        ...more,
      ],
      selector: { "app.kubernetes.io/name": "widget", "app.kubernetes.io/instance": name },
    },
  };
}
