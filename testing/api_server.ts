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
import {
  type ApiServerClientOptions,
  type ApiServerOptions,
  checkAddress,
  checkOptions,
  checkRestart,
  type Listening,
  type ListenOptions,
  type RestartOptions,
} from "./_api_server_options.ts";
import { serveApiServices } from "./_api_services.ts";
import { applyAll } from "./_apply.ts";
import { ADMIN, Users } from "./_auth.ts";
import type { ServerState } from "./_call.ts";
import type { User } from "./_user.ts";
import { runControllers } from "./_controllers.ts";
import { serveDefinitions } from "./_definitions.ts";
import type { ExpectedRequest, ExpectOptions } from "./_expectation.ts";
import { FaultBoard } from "./_fault_board.ts";
import type { Faults } from "./_faults.ts";
import { Front } from "./_front.ts";
import { kubeconfigOf } from "./_kubeconfig.ts";
import { listen, type Listener } from "./_listen.ts";
import { performer } from "./_performer.ts";
import { Rbac } from "./_rbac.ts";
import { Registry } from "./_registry.ts";
import { pause } from "./_pause.ts";
import type { RecordedRequest } from "./_recorded_request.ts";
import { Requests } from "./_requests.ts";
import { seed } from "./_seed.ts";
import { Store } from "./_store.ts";
import { uuid } from "./_uuid.ts";

/** An API server in memory. */
export class ApiServer implements AsyncDisposable {
  /** Answers a request in process; a stream ends when the request's signal aborts, or the server closes. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requests that came, oldest first; may be cleared. Of very many only the newest are kept. */
  readonly requests: RecordedRequest[];
  /** What goes wrong on request. */
  readonly faults: Faults;
  readonly #users = new Users();
  readonly #state: ServerState;
  readonly #closed = new AbortController();
  readonly #resources = new DisposableStack();
  readonly #listeners = new Set<Listener>();
  /** Kubeconfigs that were written, by path. */
  readonly #kubeconfigs = new Map<string, string>();
  readonly #clients = new Set<Client>();
  readonly #front: Front;
  readonly #board: FaultBoard;
  readonly #requests: Requests;
  readonly #now: () => number;

  /**
   * Starts it at once; nothing is opened.
   *
   * @throws {RangeError} If a number in the options is out of its range
   * @throws {TypeError} If another option is not what it must be
   */
  constructor(options: ApiServerOptions = {}) {
    const { now = () => Date.now(), random = Math.random, users = {}, authorization = false } = options;
    const { history = 10_000, controllers = [], controllerDelay = 0, keepRequests } = options;
    const { sharding = false } = options;
    const { uid = () => uuid(random) } = options;
    checkOptions(options);
    this.#now = now;
    for (const [token, user] of Object.entries(users)) this.#users.add(token, { groups: [], ...user });
    const store = new Store(history);
    const board = this.faults = this.#board = new FaultBoard(store, now);
    const time = (): Date => new Date(now() + board.skew);
    const rbac = new Rbac(store);
    this.#state = {
      store,
      registry: new Registry(),
      sharding,
      now: time,
      random,
      uid,
      closed: this.#closed.signal,
      impersonators: new Set(),
      authorizes: authorization,
      allows: (user, attributes) => !authorization || rbac.reason(user, attributes) !== undefined,
      authenticate: (token) => this.#users.authenticate(token, store, time()).user,
      reviewToken: (token, audiences) => this.#users.authenticate(token, store, time(), audiences),
      issueToken: (...parts) => this.#users.issue(this.#state, ...parts),
    };
    const perform = performer(this.#state);
    this.#resources.use(serveDefinitions(this.#state));
    this.#resources.use(serveApiServices(this.#state, perform));
    seed(this.#state);
    // Watches begin after that, as a watch cache does.
    store.restart();
    this.#resources.use(runControllers(this.#state, controllers, perform, controllerDelay));
    this.#requests = new Requests(keepRequests);
    this.requests = this.#requests.list;
    this.#front = new Front(this.#state, board, this.#requests, now);
    this.fetch = (request) => this.#front.answer(request);
  }

  /** The newest resource version. */
  get resourceVersion(): string {
    return String(this.#state.store.version);
  }

  /** Makes a client that asks in process, with the clock and the random source of the server. */
  client(options: ApiServerClientOptions = {}): Client {
    const { user, groups = [], name, ...rest } = options;
    const asked: User = user === undefined ? ADMIN : { name: user, groups };
    const origin = { user: rest.token === undefined ? asked : undefined, client: name };
    const client = new Client({
      server: "http://kubernetes.default.svc",
      now: this.#now,
      random: this.#state.random,
      ...rest,
      fetch: (request) => this.#front.answer(request, origin),
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
    return applyAll(this.#state.registry, (request) => this.#front.answer(request, { user: ADMIN }), source);
  }

  /**
   * Listens for HTTP, or HTTPS with a certificate of its own, on loopback.
   *
   * kubectl and client-go send tokens over HTTPS alone: over HTTP they are who asks without saying so, which is a cluster
   * admin while `authorization` is off.
   *
   * @throws {RangeError} If the port is none
   * @throws {TypeError} If another option is not what it must be
   * @throws {Error} If the port is taken
   */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    checkAddress(options);
    const { port = 0, hostname = "127.0.0.1", clientCertificates = false, tls = clientCertificates } = options;
    const { kubeconfigFile } = options;
    const listener = await listen(
      (request, connection, certificate) => this.#front.reply(request, { connection, certificate }),
      { port, hostname, tls, clientCertificates, now: this.#state.now },
    );
    const { url, port: bound, ca } = listener;
    this.#listeners.add(listener);
    const trust = ca === undefined ? {} : { ca };
    const configOf = (name: string, groups: readonly string[] = []): string =>
      kubeconfigOf({
        server: url,
        ...trust,
        user: name,
        ...listener.certify?.(name, groups) ?? this.#token(name, groups),
      });
    const kubeconfig = configOf(ADMIN.name, ["system:masters"]);
    if (kubeconfigFile !== undefined) {
      await Deno.writeTextFile(kubeconfigFile, kubeconfig, { mode: 0o600 });
      this.#kubeconfigs.set(kubeconfigFile, kubeconfig);
    }
    return { url, port: bound, ...trust, kubeconfig, kubeconfigOf: configOf };
  }

  #token(name: string, groups: readonly string[]): { token: string } {
    const token = uuid(this.#state.random);
    this.#users.add(token, { name, groups });
    return { token };
  }

  /** Forgets the events up to now: what is older is 410 from then on. */
  compact(): void {
    this.#state.store.compact();
  }

  /**
   * Restarts the server: all connections break, new ones are refused while it is down, and what is stored stays. Versions
   * from before it are too old to watch from, as the new process has not seen them. Resolves when it is up again.
   *
   * @throws {RangeError} If `for` is negative or no number
   */
  async restart(options: RestartOptions = {}): Promise<void> {
    checkRestart(options);
    const { for: ms = 0 } = options;
    this.#front.down = true;
    for (const listener of this.#listeners) listener.down();
    this.#board.breakAll();
    try {
      if (ms > 0) await pause(ms, this.#closed.signal);
    } catch {
      return; // Closed meanwhile.
    }
    this.#state.store.restart();
    this.#front.down = false;
    await Promise.all([...this.#listeners].map((listener) => listener.up()));
  }

  /**
   * Says which requests a test expects from now on. When the answer is disposed, it throws if others came or some did not.
   *
   * ```ts
   * import { ApiServer } from "@tend/operator/testing";
   *
   * await using server = new ApiServer();
   * {
   *   using _ = server.expect([{ verb: ["list", "watch"] }, { verb: "create", resource: "jobs", times: 0 }]);
   *   // Run what is tested.
   * }
   * ```
   *
   * @throws {TypeError} If what is expected has a member that is none
   */
  expect(expected: readonly ExpectedRequest[], options: ExpectOptions = {}): Disposable {
    return this.#requests.expect(expected, options);
  }

  /** Ends all streams and stops listening. */
  async close(): Promise<void> {
    this.#board.clear();
    this.#closed.abort();
    this.#resources.dispose();
    await Promise.all([...this.#clients].map((client) => client.close()));
    await Promise.all([...this.#listeners].map((listener) => listener.close()));
    for (const [path, text] of this.#kubeconfigs) await removeWritten(path, text);
    this.#kubeconfigs.clear();
  }

  /** Closes the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Removes a file if it still is what was written. */
async function removeWritten(path: string, text: string): Promise<void> {
  const there = await Deno.readTextFile(path).catch(() => undefined);
  if (there === text) await Deno.remove(path);
}
