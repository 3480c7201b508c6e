/**
 * Serves the Kubernetes API from memory, for tests and demos: in process without sockets, or over HTTP for kubectl.
 *
 * ```ts
 * import { ApiServer } from "@tend/operator/testing";
 *
 * await using server = new ApiServer();
 * await server.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } });
 * const response = await server.fetch(new Request("http://kubernetes/api/v1/namespaces/default/configmaps/a"));
 * console.assert(response.status === 200);
 * ```
 *
 * @module
 */
import { Client, type ClientOptions } from "../client.ts";
import type { KubernetesObject } from "../resource.ts";
import { applyAll } from "./_apply.ts";
import { ADMIN, ANONYMOUS, authenticate, impersonate, Users } from "./_auth.ts";
import type { ServerState, User } from "./_call.ts";
import { type ControllerName, runControllers } from "./_controllers.ts";
import type { Perform } from "./_perform.ts";
import { serveDefinitions } from "./_definitions.ts";
import { connectionReset, faultError, Faults, faultyStream, pause } from "./_faults.ts";
import { kubeconfigOf } from "./_kubeconfig.ts";
import { listen } from "./_listen.ts";
import { isProtobuf, readProtobuf } from "./_protobuf.ts";
import { Rbac } from "./_rbac.ts";
import { Registry } from "./_registry.ts";
import { errorResponse } from "./_respond.ts";
import { route } from "./_router.ts";
import { seed } from "./_seed.ts";
import { attributesOf, serve } from "./_serve.ts";
import { Store } from "./_store.ts";
import { Turns } from "./_turns.ts";

/** How an {@linkcode ApiServer} is set up. */
export interface ApiServerOptions {
  /** Wall time in ms since 1970. @default {() => Date.now()} */
  readonly now?: (() => number) | undefined;
  /** A number from 0 to 1: names, uids and timeouts come from it. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Users by bearer token; one with the group `system:masters` may do everything. @default {{}} */
  readonly users?:
    | Readonly<Record<string, { readonly name: string; readonly groups?: readonly string[]; readonly uid?: string }>>
    | undefined;
  /** True to enforce RBAC from the stored roles; else everybody may do everything. @default {false} */
  readonly authorization?: boolean | undefined;
  /**
   * What the controllers of a real cluster would do and this server does too: delete what has lost its owners
   * (`garbage-collector`) and what is in namespaces that are being deleted (`namespaces`), and run `workloads`:
   * Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs get pods, which become ready or complete without any
   * container.
   *
   * @default {[]}
   */
  readonly controllers?: readonly ControllerName[] | undefined;
  /**
   * After how many ms a controller meets a change; a new Deployment is ready after four times that.
   *
   * @default {0}
   */
  readonly controllerDelay?: number | undefined;
  /** How many events each resource keeps, to watch from and to look back in. @default {10_000} */
  readonly history?: number | undefined;
}

/** A request that came to the server. */
export interface RecordedRequest {
  /** The method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query's parameters; the last of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** The name of the user that it was done as. */
  readonly user: string;
  /** The media type of the body. */
  readonly contentType: string | undefined;
  /** The body as it came; empty if there was none. */
  readonly body: string;
  /** The code of the answer; 0 while there is none. */
  readonly code: number;
}

/** Where an {@linkcode ApiServer} is to listen. */
export interface ListenOptions {
  /** The port; 0 for a free one. @default {0} */
  readonly port?: number | undefined;
  /** The address. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** True for HTTPS. @default {false} */
  readonly tls?: boolean | undefined;
}

/** Where a server listens. */
export interface Listening {
  /** The server's URL. */
  readonly url: string;
  /** The port. */
  readonly port: number;
  /** The certificate of the authority to trust, PEM; absent over HTTP. */
  readonly ca?: string;
  /** The text of a kubeconfig, of a cluster admin. */
  readonly kubeconfig: string;
}

/** How {@linkcode ApiServer.client} asks. */
export interface ApiServerClientOptions extends ClientOptions {
  /** The user that asks; without meaning beside a `token`. @default {a cluster admin} */
  readonly user?: string | undefined;
  /** The groups that the user is in. @default {[]} */
  readonly groups?: readonly string[] | undefined;
}

/** An API server in memory. */
export class ApiServer implements AsyncDisposable {
  /** Answers a request in process; a stream ends when the request's signal aborts, or the server closes. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requests that came, oldest first; may be cleared. */
  readonly requests: RecordedRequest[] = [];
  /** What goes wrong on request. */
  readonly faults: Faults;
  readonly #users = new Users();
  readonly #state: ServerState;
  readonly #closed = new AbortController();
  readonly #resources = new DisposableStack();
  readonly #listeners = new Set<Deno.HttpServer>();
  readonly #clients = new Set<Client>();
  readonly #turns = new Turns();

  /**
   * Starts it at once; nothing is opened.
   *
   * @throws {RangeError} If `history` is not a positive integer
   */
  constructor(options: ApiServerOptions = {}) {
    const { now = () => Date.now(), random = Math.random, users = {}, authorization = false } = options;
    const { history = 10_000, controllers = [], controllerDelay = 0 } = options;
    if (!Number.isInteger(history) || history < 1) {
      throw new RangeError(
        `Cannot create ApiServer: 'history' must be a positive integer: current value is ${history}`,
      );
    }
    for (const [token, user] of Object.entries(users)) this.#users.add(token, { groups: [], ...user });
    const store = new Store(history);
    const rbac = new Rbac(store);
    this.#state = {
      store,
      registry: new Registry(),
      now: () => new Date(now()),
      random,
      uid: () => uuid(random),
      closed: this.#closed.signal,
      authorizes: authorization,
      allows: (user, attributes) => !authorization || rbac.reason(user, attributes) !== undefined,
      authenticate: (token) => this.#users.authenticate(token, store, new Date(now())),
      issueToken: (...parts) => this.#users.issue(this.#state, ...parts),
    };
    this.#resources.use(serveDefinitions(this.#state));
    seed(this.#state);
    this.faults = new Faults(now);
    this.#resources.use(runControllers(this.#state, controllers, performer(this.#state), controllerDelay));
    this.fetch = (request) => this.#answer(request);
  }

  /** The newest resource version. */
  get resourceVersion(): string {
    return String(this.#state.store.version);
  }

  /** Makes a client that asks in process. */
  client(options: ApiServerClientOptions = {}): Client {
    const { user, groups = [], ...rest } = options;
    const asked: User = user === undefined ? ADMIN : { name: user, groups };
    const as = rest.token === undefined ? asked : undefined;
    const client = new Client({
      server: "http://kubernetes.default.svc",
      ...rest,
      fetch: (request) => this.#answer(request, as),
    });
    this.#clients.add(client);
    return client;
  }

  /**
   * Applies objects, or all documents of a YAML text, as kubectl would; namespaced ones without a namespace go to `default`.
   *
   * @throws {Error} If the server refuses one; the message says which and why
   */
  apply(source: string | object | readonly object[]): Promise<KubernetesObject[]> {
    return applyAll(this.#state.registry, (request) => this.#answer(request, ADMIN), source);
  }

  /**
   * Listens for HTTP, or HTTPS with a certificate of its own, on loopback.
   *
   * kubectl and client-go send tokens over HTTPS alone: over HTTP they are who asks without saying so, which is a cluster
   * admin while `authorization` is off. Client certificates are not asked for.
   *
   * @throws {Error} If the port is taken
   */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    const { port = 0, hostname = "127.0.0.1", tls = false } = options;
    const lost = (error: unknown): Response => {
      if (this.#closed.signal.aborted) return new Response(null, { status: 503 });
      throw error; // Breaks the connection.
    };
    const answer = (request: Request): Promise<Response> => this.#answer(request, undefined, NEVER);
    const { listener, url, port: bound, ca } = await listen(answer, { port, hostname, tls }, lost);
    this.#listeners.add(listener);
    const token = uuid(this.#state.random);
    this.#users.add(token, ADMIN);
    const trust = ca === undefined ? {} : { ca };
    return {
      url,
      port: bound,
      ...trust,
      kubeconfig: kubeconfigOf({ server: url, ...trust, token, user: ADMIN.name }),
    };
  }

  /** Forgets the events up to now: what is older is 410 from then on. */
  compact(): void {
    this.#state.store.compact();
  }

  /** Ends all streams and stops listening. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#resources.dispose();
    await Promise.all([...this.#clients].map((client) => client.close()));
    await Promise.all([...this.#listeners].map((listener) => listener.shutdown()));
  }

  /** Closes the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Waits for the resource version that a read asks for; false if it does not come in time. */
  async #reached(url: URL, ends: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), FUTURE_PATIENCE);
    try {
      const version = Number(url.searchParams.get("resourceVersion"));
      await this.#state.store.reached(version, AbortSignal.any([late.signal, ends, this.#closed.signal]));
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #answer(request: Request, as?: User, signal?: AbortSignal): Promise<Response> {
    await this.#turns.next();
    if (signal === undefined) request.signal.throwIfAborted();
    const url = new URL(request.url);
    const { body, headers } = await receive(request);
    const record = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      user: "",
      contentType: request.headers.get("content-type") ?? undefined,
      body,
      code: 0,
    };
    this.requests.push(record);
    let response: Response;
    try {
      const fallback = this.#state.authorizes ? ANONYMOUS : ADMIN;
      const asking = as ?? authenticate(this.#state, request.headers, fallback);
      record.user = asking.name;
      const asked = route(request.method, url);
      const user = impersonate(this.#state, asking, headers, attributesOf(asked));
      record.user = user.name;
      const ends = signal ?? request.signal;
      const fault = this.faults.take({ user: user.name, ...attributesOf(asked) });
      if (fault?.delay !== undefined) await pause(fault.delay, AbortSignal.any([ends, this.#closed.signal]));
      if (fault?.reset === "before") throw connectionReset();
      if (fault?.code !== undefined) throw faultError(fault);
      const streams = asked.kind === "resource" && asked.verb === "watch";
      if (fault?.stall && !streams) await pause(Infinity, AbortSignal.any([ends, this.#closed.signal]));
      const received = { request, url, body, headers, user, signal: ends };
      response = serve(this.#state, asked, received);
      if (response.status === 504 && await this.#reached(url, ends)) response = serve(this.#state, asked, received);
      if (fault?.reset === "after") throw connectionReset();
      if (fault && streams && response.body) response = new Response(faultyStream(response.body, fault), response);
    } catch (error) {
      response = errorResponse(error, request.headers.get("accept"));
    }
    record.code = response.status;
    return response;
  }
}

/** How long a read waits for a resource version that has not come yet, in ms. */
const FUTURE_PATIENCE = 3000;

/** Over HTTP a stream is cancelled when the client goes. */
const NEVER = new AbortController().signal;

/** Reads the body of a request; protocol buffers become the JSON that they stand for. */
async function receive(request: Request): Promise<{ body: string; headers: Headers }> {
  const { headers } = request;
  if (request.body === null) return { body: "", headers };
  if (headers.get("content-type") !== PROTOBUF) return { body: await request.text(), headers };
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (!isProtobuf(bytes)) return { body: "", headers };
  const json = new Headers(headers);
  json.set("content-type", "application/json");
  return { body: JSON.stringify(readProtobuf(bytes)), headers: json };
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Sends requests of controllers: at once, and not recorded. */
function performer(server: ServerState): Perform {
  return (method, path, body, contentType = "application/json", agent = "kube-controller-manager/v1.37.2") => {
    const url = new URL(path, "http://kubernetes");
    const headers = { "content-type": contentType, "user-agent": agent };
    const request = new Request(url, { method, headers });
    const text = body === undefined ? "" : JSON.stringify(body);
    try {
      const response = serve(server, route(method, url), {
        request,
        url,
        body: text,
        headers: request.headers,
        user: ADMIN,
        signal: NEVER,
      });
      return { code: response.status, body: {} };
    } catch (error) {
      return { code: errorResponse(error, null).status, body: {} };
    }
  };
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = "4";
  hex[16] = "89ab"[Math.floor(random() * 4)]!;
  const text = hex.join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}
