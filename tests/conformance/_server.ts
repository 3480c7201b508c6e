/**
 * Says what the conformance suite needs of a server, and gives it the two that are in memory.
 *
 * ```ts
 * import { InProcess } from "./_server.ts";
 *
 * const server = new InProcess();
 * await server.start();
 * console.assert((await server.request("GET", "/version")).code === 200);
 * await server.stop();
 * ```
 *
 * @module
 */
import { Client } from "../../client.ts";
import { delay } from "../../delay.ts";
import { ApiServer } from "../../testing/mod.ts";
import { type Answered, send } from "../_api.ts";

/** A server that the suite runs over. */
export type Form = "in process" | "over HTTP" | "control plane";

/** What a server can only do for a test that asks for it. */
export type Capability = "compaction" | "shards";

/** A server as the behaviours see it: an admin's requests, and clients of others. */
export interface ConformanceServer {
  /** The name, which the names of its tests begin with. */
  readonly name: Form;
  /** What it can do beyond requests. */
  readonly capabilities: ReadonlySet<Capability>;
  /** Makes it ready. */
  start(): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
  /** A client of a user without groups, or of the admin; it is the caller's to close. */
  client(user?: string): Client;
  /** Answers a request as the admin's, unless it has an `authorization` of its own; the host does not matter. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** One exchange; `merge`, `json`, `strategic` and `apply` are methods, too. What is asked to be retried is retried. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Restarts the server, on the same address and with what it has stored. */
  restart(): Promise<void>;
  /** Forgets the past. Needs the capability `compaction`. */
  compact(): void;
}

/** The users beside the admin, who have no rights but those that a test gives. */
export const USERS: readonly string[] = ["ada", "eve"];

const ADMIN_TOKEN = "admin-token";
const RETRIES = 40;

/** Sends a request; again after `retry-after` when the answer is 429, as a real server's while it fills a cache. */
export async function exchange(
  server: Pick<ConformanceServer, "fetch">,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answered> {
  for (let attempt = 0;; attempt++) {
    const answered = await send(server, `${method} ${path}`, body, headers);
    const after = answered.headers.get("retry-after");
    if (answered.code !== 429 || after === null || attempt === RETRIES) return answered;
    await delay(250);
  }
}

function authorized(request: Request, token: string): Headers {
  const headers = new Headers(request.headers);
  if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
  return headers;
}

/** Sends a request that was written for any host to one, as the holder of a token. */
export async function forward(
  request: Request,
  url: string,
  token: string,
  client?: Deno.HttpClient,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, signal } = request;
  const headers = authorized(request, token);
  headers.set("accept-encoding", "identity"); // A streamed list would come as several gzip files: only the first is read.
  const init = { method, signal, headers };
  const body = request.body === null ? {} : { body: await request.text() };
  return await fetch(`${url}${pathname}${search}`, { ...init, ...body, ...(client ? { client } : {}) });
}

/** An `ApiServer` that is asked through `fetch`. */
export class InProcess implements ConformanceServer {
  readonly name: Form = "in process";
  readonly capabilities: ReadonlySet<Capability> = new Set<Capability>(["compaction", "shards"]);
  #server: ApiServer | undefined;

  protected get server(): ApiServer {
    if (this.#server === undefined) throw new Error("Cannot use the server: it is there in tests only");
    return this.#server;
  }

  start(): Promise<void> {
    const plain = USERS.map((name) => [`${name}-token`, { name, groups: [] }] as const);
    const admin = { name: "admin", groups: ["system:masters"] };
    this.#server = new ApiServer({
      authorization: true,
      sharding: true,
      users: { [ADMIN_TOKEN]: admin, ...Object.fromEntries(plain) },
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  client(user = "admin"): Client {
    return this.server.client({ token: `${user}-token` });
  }

  readonly fetch = (request: Request): Promise<Response> =>
    this.server.fetch(new Request(request, { headers: authorized(request, ADMIN_TOKEN) }));

  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered> {
    return exchange(this, method, path, body, headers);
  }

  restart(): Promise<void> {
    return this.server.restart();
  }

  compact(): void {
    this.server.compact();
  }
}

/** An `ApiServer` that listens, and is asked over HTTP. */
export class OverHttp extends InProcess {
  override readonly name: Form = "over HTTP";
  #url = "";

  override async start(): Promise<void> {
    await super.start();
    this.#url = (await this.server.listen()).url;
  }

  override client(user = "admin"): Client {
    return new Client({ server: this.#url, token: `${user}-token`, namespace: "default" });
  }

  override readonly fetch = (request: Request): Promise<Response> => forward(request, this.#url, ADMIN_TOKEN);
}
