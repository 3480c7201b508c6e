/**
 * Sends requests to an API server and reads its answers, for tests of what it answers.
 *
 * @module
 */

/** Anything that JSON holds. */
// deno-lint-ignore no-explicit-any
export type Body = any;

/** What answers requests, such as an ApiServer. */
export interface Answering {
  /** Answers one. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** An answer. */
export interface Answered {
  code: number;
  body: Body;
  headers: Headers;
}

const TYPES: Record<string, string> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Sends one request; a PATCH says its type before the path, as in `merge /api/v1/...`. */
export async function send(
  server: Answering,
  line: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const [word = "", path = ""] = line.split(" ");
  const method = word in TYPES ? "PATCH" : word;
  const type = TYPES[word] ?? "application/json";
  const response = await server.fetch(
    new Request(`http://kubernetes${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": type }), "user-agent": "tester/1", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json");
  return { code: response.status, body: json ? JSON.parse(text) : text, headers: response.headers };
}

/** A watch under way. */
export class Watching implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #abort: AbortController;
  #text = "";

  private constructor(reader: ReadableStreamDefaultReader<string>, abort: AbortController) {
    this.#reader = reader;
    this.#abort = abort;
  }

  /** Begins one. */
  static async start(server: Answering, path: string, headers: Record<string, string> = {}): Promise<Watching> {
    const abort = new AbortController();
    const response = await server.fetch(new Request(`http://kubernetes${path}`, { headers, signal: abort.signal }));
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    return new Watching(reader, abort);
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<Body | undefined> {
    while (!this.#text.includes("\n")) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += value;
    }
    const end = this.#text.indexOf("\n");
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return JSON.parse(line);
  }

  /** The next events. */
  async take(count: number): Promise<Body[]> {
    const events: Body[] = [];
    while (events.length < count) events.push(await this.next());
    return events;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#reader.cancel().catch(() => {});
  }
}

/** A namespaced custom resource definition of the group `example.com` with a status. */
export function definition(schema: Body, more: Body = {}): Body {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
        ...more,
      }],
    },
  };
}

/** The path of ConfigMaps in `default`. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** The path of Widgets in `default`. */
export const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
/** The path of definitions. */
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** A schema with a spec that has a size, and a free status. */
export const SCHEMA: Body = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: { size: { type: "integer" }, color: { type: "string", default: "red" } },
    },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};
