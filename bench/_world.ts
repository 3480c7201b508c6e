/**
 * Makes the objects that the benchmark writes: widgets of a kind with a schema of some fifteen fields, and config maps.
 *
 * ```ts
 * import { configMap } from "./_world.ts";
 *
 * console.assert(configMap("a", 1000).data.text.length > 0);
 * ```
 *
 * @module
 */
import { assertEquals } from "@std/assert";

/** Sends a request; answers with the code and the text. */
export type Send = (
  method: string,
  path: string,
  body?: string,
  contentType?: string,
) => Promise<readonly [status: number, text: string]>;

/** Sends by what answers a `Request`. */
export function sending(fetch: (request: Request) => Promise<Response>, url = "http://kubernetes"): Send {
  return async (method, path, body, contentType = "application/json") => {
    const headers = { "content-type": contentType, "user-agent": "bench/1" };
    const response = await fetch(
      new Request(`${url}${path}`, body === undefined ? { method } : { method, headers, body }),
    );
    return [response.status, await response.text()];
  };
}

const text = { type: "string" }, integer = { type: "integer" };
const named = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
const condition = { type: "object", required: ["type"], properties: { type: text, status: text, reason: text } };

/** The definition of the kind Widget. */
export const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.bench.dev" },
  spec: {
    group: "bench.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              required: ["image"],
              properties: {
                image: { ...text, maxLength: 200 },
                size: { ...integer, minimum: 0, default: 1 },
                tier: { ...text, enum: ["gold", "silver"], default: "silver" },
                paused: { type: "boolean", default: false },
                schedule: { ...text, pattern: "^[a-z0-9 *]*$" },
                env: {
                  type: "array",
                  items: { type: "object", required: ["name"], properties: { name: text, value: text } },
                  ...named,
                },
                labels: { type: "object", additionalProperties: text },
                resources: { type: "object", properties: { cpu: text, memory: text } },
              },
            },
            status: {
              type: "object",
              properties: {
                phase: text,
                observedGeneration: integer,
                ready: integer,
                conditions: {
                  type: "array",
                  items: condition,
                  "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["type"],
                },
              },
            },
          },
        },
      },
    }],
  },
};

/** The paths of collections. */
export const WIDGETS = "/apis/bench.dev/v1/namespaces/default/widgets";
/** The paths of collections. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/** A widget. */
export function widget(name: string): object {
  return {
    apiVersion: "bench.dev/v1",
    kind: "Widget",
    metadata: { name, labels: { app: "bench" } },
    spec: {
      image: "registry.example.com/widget:1.2.3",
      paused: false,
      schedule: "0 5 * * *",
      env: [{ name: "LEVEL", value: "debug" }, { name: "PORT", value: "8080" }],
      labels: { team: "blue" },
      resources: { cpu: "500m", memory: "1Gi" },
    },
  };
}

/** The status of a widget that has been looked at so many times. */
export function status(ready: number): object {
  return {
    phase: "Ready",
    observedGeneration: 1,
    ready,
    conditions: [{ type: "Ready", status: "True", reason: "AllUp" }],
  };
}

/** A config map that is served in so many bytes. */
export function configMap(name: string, size: number): { data: { text: string } } & Record<string, unknown> {
  const data = { text: "x".repeat(Math.max(0, size - 450 - name.length)) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app: "bench" } }, data };
}

/** Sends a request that must be answered with a code; the body of the answer. */
export async function ask(
  send: Send,
  code: number,
  method: string,
  path: string,
  body?: unknown,
  contentType?: string,
): Promise<string> {
  const [status, answer] = await send(method, path, body === undefined ? undefined : JSON.stringify(body), contentType);
  if (status !== code) assertEquals([status, answer], [code, ""]);
  return answer;
}
