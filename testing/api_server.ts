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
import { Client } from "../client.ts";
import type { KubernetesObject } from "../resource.ts";
import type { ApiServerClientOptions, ApiServerOptions, Listening, ListenOptions } from "./_api_server_options.ts";
import { applyAll } from "./_apply.ts";
import { ADMIN, Users } from "./_auth.ts";
import type { ServerState, User } from "./_call.ts";
import { runControllers } from "./_controllers.ts";
import { serveDefinitions } from "./_definitions.ts";
import { Faults } from "./_faults.ts";
import { Front, NEVER } from "./_front.ts";
import { kubeconfigOf } from "./_kubeconfig.ts";
import { listen } from "./_listen.ts";
import { performer } from "./_performer.ts";
import { Rbac } from "./_rbac.ts";
import { Registry } from "./_registry.ts";
import type { RecordedRequest } from "./_requests.ts";
import { seed } from "./_seed.ts";
import { Store } from "./_store.ts";
import { uuid } from "./_uuid.ts";

/** An API server in memory. */
export class ApiServer implements AsyncDisposable {
  /** Answers a request in process; a stream ends when the request's signal aborts, or the server closes. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requests that came, oldest first; may be cleared. */
  readonly requests: RecordedRequest[];
  /** What goes wrong on request. */
  readonly faults: Faults;
  readonly #users = new Users();
  readonly #state: ServerState;
  readonly #closed = new AbortController();
  readonly #resources = new DisposableStack();
  readonly #listeners = new Set<Deno.HttpServer>();
  readonly #clients = new Set<Client>();
  readonly #front: Front;

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
    this.#front = new Front(this.#state, this.faults);
    this.requests = this.#front.requests;
    this.fetch = (request) => this.#front.answer(request);
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
      fetch: (request) => this.#front.answer(request, as),
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
    return applyAll(this.#state.registry, (request) => this.#front.answer(request, ADMIN), source);
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
    const answer = (request: Request): Promise<Response> => this.#front.answer(request, undefined, NEVER);
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
}
