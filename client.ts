/**
 * Talks to a Kubernetes API server: one pooled, retrying {@linkcode Client}, and an {@linkcode Api} per kind.
 *
 * ```ts
 * import { Client, resource } from "@tend/operator";
 *
 * const ConfigMap = resource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps" });
 * const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } };
 *
 * await using client = new Client({ fetch: () => Promise.resolve(Response.json(object)) });
 * const found = await client.api(ConfigMap).get({ name: "web", namespace: "shop" });
 * console.assert(found.metadata.name === "web");
 * ```
 *
 * @module
 */
import { asStatus, noAnswer } from "./_answer.ts";
import { Endpoint, type Subresource } from "./_endpoint.ts";
import { Exchange } from "./_exchange.ts";
import { lines, parseEvent, UNCOMPRESSED } from "./_stream.ts";
import {
  type ApplyOptions,
  type ClientOptions,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type Derivation,
  type GetOptions,
  type ItemsOptions,
  type List,
  type ListOptions,
  type Patch,
  type PatchOptions,
  type RequestAttempt,
  type RequestOptions,
  type Scale,
  selectQuery,
  type Target,
  type WatchEvent,
  type WatchOptions,
  withQuery,
  type WriteOptions,
} from "./_verbs.ts";
import { toMilliseconds } from "./duration.ts";
import { ApiError, isNotFound, type Status } from "./errors.ts";
import type { Draft, KubernetesObject, Resource } from "./resource.ts";

export type { JsonPatchOperation } from "./json.ts";
export type { Subresource } from "./_endpoint.ts";
export type { Fetch } from "./_transport.ts";
export type {
  ApplyOptions,
  CallOptions,
  ClientOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  Derivation,
  GetOptions,
  ItemsOptions,
  List,
  ListOptions,
  Patch,
  PatchOptions,
  PatchType,
  Query,
  RequestAttempt,
  RequestOptions,
  ResourceVersionMatch,
  Scale,
  SelectOptions,
  Target,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./_verbs.ts";

interface Scope {
  readonly signals: readonly AbortSignal[];
  readonly guards: readonly (() => void)[];
  readonly observers: readonly ((attempt: RequestAttempt) => void)[];
  readonly written: readonly ((resource: Resource, object: KubernetesObject) => void)[];
  readonly timeout: number | undefined;
}

/** Where a derived client's options have what it sends over. */
const EXCHANGE = Symbol("exchange");
type Sharing = ClientOptions & { readonly [EXCHANGE]?: Exchange };

/**
 * A connection to one API server.
 *
 * Guarantees: every request has a deadline, and every stream until its answer begins. Reads, and writes that carry a
 * condition, are repeated when no answer came; other writes only if the server has certainly not looked at them (an HTTP/2
 * connection that it was closing), for they may have taken effect. What the server asks to send later (429 and 503 with
 * Retry-After) is sent later, up to 10 times. Streams are not repeated at all: whoever opens one has a back-off of its own.
 * After a timeout, the next request goes over a new connection. Credentials are read at the first request, again when they
 * may have changed, and never sent to another server than theirs.
 *
 * Caveats: the system's certificates are trusted beside those of a kubeconfig or service account, as Deno does.
 */
export class Client implements AsyncDisposable {
  /** Who the fields that this client writes belong to. */
  readonly fieldManager: string;
  readonly #exchange: Exchange;
  #scope: Scope = { signals: [], guards: [], observers: [], written: [], timeout: undefined };
  #derived = false;

  /** Opens and reads nothing. */
  constructor(options: ClientOptions = {}) {
    this.fieldManager = options.fieldManager || "tend";
    this.#exchange = (options as Sharing)[EXCHANGE] ?? new Exchange(options);
  }

  /** The namespace for whatever names none: the option's, the kubeconfig context's, the service account's, or `default`. */
  async namespace(): Promise<string> {
    return (await this.#exchange.credentials.resolve()).namespace;
  }

  /** The server's URL. */
  async server(): Promise<string> {
    return (await this.#exchange.credentials.resolve()).server;
  }

  /** Answers with the verbs of one kind. */
  api<T extends KubernetesObject>(resource: Resource<T>): Api<T> {
    return new Api(this, resource, (object) => {
      for (const written of this.#scope.written) written(resource, object);
    });
  }

  /**
   * Sends a request and answers with the JSON of its answer; with its text if `accept` names no JSON.
   *
   * @throws {ApiError} If the server answers with an error
   * @throws {TransportError} If no answer came, or not JSON
   */
  async request<R = unknown>(options: RequestOptions): Promise<R> {
    return await this.#exchange.request(...this.#outline(options)) as R;
  }

  /**
   * Opens a stream on the connections for watches; its body has no deadline and fails with a `TransportError`.
   *
   * The caller reads the body to its end, cancels it, or aborts the signal.
   *
   * @throws {ApiError} If the server answers with an error
   * @throws {TransportError} If no answer came
   */
  async stream(options: RequestOptions): Promise<Response> {
    return await this.#exchange.stream(...this.#outline(options));
  }

  /** Derives a client that shares connections and credentials and does more, on top of what this one does. */
  with(derived: Derivation): Client {
    const { signals, guards, observers, written, timeout } = this.#scope;
    const sharing: Sharing = { fieldManager: derived.fieldManager ?? this.fieldManager, [EXCHANGE]: this.#exchange };
    const client = new Client(sharing);
    client.#derived = true;
    client.#scope = {
      signals: derived.signal ? [...signals, derived.signal] : signals,
      guards: derived.guard ? [...guards, derived.guard] : guards,
      observers: derived.onRequest ? [...observers, derived.onRequest] : observers,
      written: derived.onWritten ? [...written, derived.onWritten] : written,
      timeout: derived.timeout === undefined ? timeout : toMilliseconds(derived.timeout, "timeout"),
    };
    return client;
  }

  /**
   * Throws what a request that is sent now would be refused with: a signal that has aborted, a lease that may be another's.
   *
   * @throws The signal's reason, or what a guard throws
   */
  check(): void {
    for (const signal of this.#scope.signals) signal.throwIfAborted();
    for (const guard of this.#scope.guards) guard();
  }

  /** Aborts what is under way and closes the connections, also for clients derived from this one; closing one of those does nothing. */
  async close(): Promise<void> {
    if (!this.#derived) await this.#exchange.close();
  }

  /** Closes the client. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #outline(options: RequestOptions): Parameters<Exchange["request"]> {
    const { method = "GET", path, query, body, contentType, accept, signal, headers } = options;
    if (!path.startsWith("/")) {
      throw new TypeError(`Cannot ${method} ${path}: a path must start with "/": current value is "${path}"`);
    }
    const timeout = options.timeout === undefined ? this.#scope.timeout : toMilliseconds(options.timeout, "timeout");
    const { signals, guards, observers } = this.#scope;
    return [
      { method, path: withQuery(path, query), body, contentType, accept, headers, timeout },
      { signals: signal ? [...signals, signal] : signals, guards, observers },
    ];
  }
}

const SCALE = { apiVersion: "autoscaling/v1", kind: "Scale" };

/** The verbs of one kind. Each needs the RBAC verb of its name, `apply` needs `patch`, `items` and `find` as `list` and `get`. */
export class Api<T extends KubernetesObject = KubernetesObject> {
  /** The kind. */
  readonly resource: Resource<T>;
  /** Sends the requests. */
  readonly client: Client;
  /** The `status` subresource; RBAC names it `<plural>/status`. */
  readonly status: Subresource<T>;
  /** The `scale` subresource; RBAC names it `<plural>/scale`. */
  readonly scale: Subresource<Scale>;
  readonly #object: Endpoint<T>;

  /** Use {@linkcode Client.api}. */
  constructor(client: Client, resource: Resource<T>, written: (object: KubernetesObject) => void = () => {}) {
    this.client = client;
    this.resource = resource;
    this.#object = new Endpoint<T>(client, resource, undefined, resource, written);
    this.status = new Endpoint<T>(client, resource, "status", resource, written);
    this.scale = new Endpoint<Scale>(client, resource, "scale", SCALE, written);
  }

  /**
   * Reads an object.
   *
   * @throws {ApiError} If it does not exist, or must not be read
   */
  get(target: Target, options: GetOptions = {}): Promise<T> {
    return this.#object.get(target, options);
  }

  /**
   * Reads an object; undefined if it does not exist.
   *
   * @throws {ApiError} If it must not be read
   */
  async find(target: Target, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(target, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reads the objects of a namespace, or of all.
   *
   * @throws {ApiError} If they must not be read, or the version that is asked for is no longer there
   */
  list(options: ListOptions = {}): Promise<List<T>> {
    return this.#object.list(options);
  }

  /**
   * Reads the objects of a namespace, or of all, page by page.
   *
   * Caveats: when reading takes so long that the server forgets the state it began with, the rest is of a newer one, so
   * an object that changed meanwhile may come twice, or not at all.
   *
   * @throws {ApiError} As `list` does
   */
  items(options: ItemsOptions = {}): AsyncGenerator<T> {
    return this.#object.items(options);
  }

  /**
   * Creates an object. Not repeated when no answer came, for it may have been created.
   *
   * @throws {ApiError} With reason `AlreadyExists` if there is one of that name
   */
  create(draft: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return this.#object.create(draft, options);
  }

  /**
   * Replaces an object; with `metadata.resourceVersion`, only that version.
   *
   * @throws {ApiError} With code 409 if there is a newer version
   */
  replace(object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return this.#object.replace(object, options);
  }

  /**
   * Changes some fields; with `metadata.resourceVersion` or `metadata.uid` in the patch, only of that version or object.
   *
   * @throws {TypeError} If the patch is not what its type says
   * @throws {ApiError} If the object does not exist, is another by now, or would not be valid
   */
  patch(target: Target, patch: Patch, options: PatchOptions = {}): Promise<T> {
    return this.#object.patch(target, patch, options);
  }

  /**
   * Says what an object should be, and creates it if need be (server-side apply). What only the server sets is left out.
   *
   * Caveats: all that is said belongs to the manager from then on; of an object that was read, that is every field of it,
   * which is warned of. Say only what matters.
   *
   * @throws {ApiError} With code 409 if a field belongs to another manager, and `force` is not set
   */
  apply(draft: Draft<T>, options: ApplyOptions = {}): Promise<T> {
    return this.#object.apply(draft, options);
  }

  /**
   * Deletes an object; answers with it, or with the `Status` of its deletion.
   *
   * @throws {ApiError} If it does not exist, or is not of the `uid` or `resourceVersion` that is asked for
   */
  delete(target: Target, options: DeleteOptions = {}): Promise<T | Status> {
    return this.#object.delete(target, options);
  }

  /**
   * Deletes the selected objects of a namespace. RBAC: `deletecollection`.
   *
   * @throws {TypeError} If the kind is namespaced and no namespace is given
   * @throws {ApiError} If they must not be deleted
   */
  deleteCollection(options: DeleteCollectionOptions = {}): Promise<List<T> | Status> {
    return this.#object.deleteCollection(options);
  }

  /**
   * Watches the objects of a namespace, or of all: one request, until the server ends it or the signal aborts.
   *
   * @throws {ApiError} If the server refuses, or ends it with an error, such as 410 for a resource version that is too old
   * @throws {TransportError} If the connection fails, or what comes is not JSON
   */
  async *watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, timeout } = options;
    const path = withQuery(this.resource.path(namespace), { watch: true, ...selectQuery(options) });
    const { body } = await this.client.stream({ path, headers: UNCOMPRESSED, signal, timeout });
    if (!body) return;
    try {
      for await (const line of lines(body)) {
        const event = parseEvent<T>(line, path);
        if (event.type === "ERROR") throw new ApiError(asStatus(event.object, 500), "GET", path);
        yield event;
      }
    } catch (error) {
      throw error instanceof RangeError ? noAnswer("GET", path, "the stream was left", error) : error;
    }
  }
}
