/**
 * Reads and writes objects, or their subresources, at the paths of one kind.
 *
 * ```ts
 * import { Client } from "./client.ts";
 * import { resource } from "./resource.ts";
 *
 * const Deployment = resource({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments" });
 * const answer = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" }, spec: { replicas: 3 } };
 *
 * await using client = new Client({ fetch: () => Promise.resolve(Response.json(answer)) });
 * const { scale } = client.api(Deployment);
 * await scale.patch({ name: "web", namespace: "shop" }, { spec: { replicas: 3 } });
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import {
  applicable,
  type ApplyOptions,
  type CallOptions,
  deleteBody,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type GetOptions,
  type ItemsOptions,
  type List,
  type ListOptions,
  type Patch,
  PATCH_TYPES,
  type PatchOptions,
  type Query,
  refOf,
  type RequestOptions,
  selectQuery,
  type Target,
  type WriteOptions,
  writeQuery,
} from "./_verbs.ts";
import { isExpired, type Status } from "./errors.ts";
import type { Draft, KubernetesObject, Resource } from "./resource.ts";

const log = getLogger(["tend", "client"]);

/** What sends the requests: a client. */
export interface Requester {
  /** Who the written fields belong to. */
  readonly fieldManager: string;
  /** The namespace for whatever names none. */
  namespace(): Promise<string>;
  /** Sends a request and answers with the JSON of its answer. */
  request<R = unknown>(options: RequestOptions): Promise<R>;
}

/** What objects at these paths say that they are. */
export interface Shape {
  /** Such as `autoscaling/v1`. */
  readonly apiVersion: string;
  /** Such as `Scale`. */
  readonly kind: string;
}

/** The verbs of a subresource; each needs its RBAC verb on `<plural>/<subresource>`, and `apply` needs `patch`. */
export interface Subresource<T extends KubernetesObject = KubernetesObject> {
  /**
   * Reads it.
   *
   * @throws {ApiError} If it does not exist, or must not be read
   */
  get(target: Target, options?: GetOptions): Promise<T>;
  /**
   * Replaces it; with `metadata.resourceVersion`, only that version.
   *
   * @throws {ApiError} With code 409 if there is a newer version
   */
  replace(object: Draft<T>, options?: WriteOptions): Promise<T>;
  /**
   * Changes some fields; with `metadata.resourceVersion` or `metadata.uid` in the patch, only of that version or object.
   *
   * @throws {TypeError} If the patch is not what its type says
   * @throws {ApiError} If the object does not exist, is another by now, or would not be valid
   */
  patch(target: Target, patch: Patch, options?: PatchOptions): Promise<T>;
  /**
   * Says what it should be (server-side apply). What only the server sets is left out.
   *
   * @throws {ApiError} With code 409 if a field belongs to another manager, and `force` is not set
   */
  apply(draft: Draft<T>, options?: ApplyOptions): Promise<T>;
}

/** Builds and sends the requests for the objects of one kind, or for one of their subresources. */
export class Endpoint<T extends KubernetesObject = KubernetesObject> implements Subresource<T> {
  readonly #client: Requester;
  readonly #resource: Resource;
  readonly #name: string | undefined;
  readonly #shape: Shape;
  readonly #written: (object: KubernetesObject) => void;

  /** Without a name, it is for the objects themselves; `written` gets what writes answer with. */
  constructor(
    client: Requester,
    resource: Resource,
    name: string | undefined,
    shape: Shape,
    written: (object: KubernetesObject) => void,
  ) {
    this.#client = client;
    this.#resource = resource;
    this.#name = name;
    this.#shape = shape;
    this.#written = written;
  }

  /** Reads one. */
  async get(target: Target, options: GetOptions = {}): Promise<T> {
    const { signal, timeout, resourceVersion } = options;
    const path = await this.path(target, options);
    return await this.#client.request<T>({ path, query: { resourceVersion }, signal, timeout });
  }

  /** Replaces one. */
  async replace(object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return await this.write("PUT", await this.path(object, options), this.#kinded(object), options);
  }

  /** Changes some fields of one. */
  async patch(target: Target, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const { type = "merge" } = options;
    const contentType = Object.hasOwn(PATCH_TYPES, type) ? PATCH_TYPES[type] : undefined;
    if (contentType === undefined || (type === "json") !== Array.isArray(patch)) {
      throw new TypeError(
        `Cannot patch ${this.#shape.kind}: a patch of type "json" must be an array of operations, one of type "merge" ` +
          `or "strategic" an object: current value is ${
            Array.isArray(patch) ? "an array" : typeof patch
          } of type "${type}"`,
      );
    }
    return await this.write("PATCH", await this.path(target, options), patch, options, { contentType });
  }

  /** Says what one should be. */
  async apply(draft: Draft<T>, options: ApplyOptions = {}): Promise<T> {
    const { force = false } = options;
    const path = await this.path(draft, options);
    if (draft.metadata.managedFields?.length) {
      log.warn("An object is applied as it was read: each of its fields belongs to the manager from now on", {
        ...{
          kind: this.#shape.kind,
          name: draft.metadata.name,
          manager: options.fieldManager || this.#client.fieldManager,
        },
      });
    }
    const contentType = PATCH_TYPES.apply;
    return await this.write("PATCH", path, applicable(this.#kinded(draft)), options, { contentType, query: { force } });
  }

  /** Reads those of a namespace, or of all. */
  async list(options: ListOptions): Promise<List<T>> {
    const { namespace, signal, timeout } = options;
    const path = this.#resource.path(namespace);
    const list = await this.#client.request<List<T>>({ path, query: selectQuery(options), signal, timeout });
    const { apiVersion, kind } = this.#shape;
    // the items of a list mostly come without
    const items = (list.items ?? []).map((item) => item.kind ? item : { ...item, apiVersion, kind });
    return { ...list, metadata: list.metadata ?? {}, items };
  }

  /** Reads those of a namespace, or of all, page by page. */
  async *items(options: ItemsOptions): AsyncGenerator<T> {
    const { pageSize = 500, ...select } = options;
    let token: string | undefined;
    do {
      const page = await this.#page({ ...select, limit: pageSize, continue: token });
      yield* page.items;
      token = page.metadata.continue;
    } while (token);
  }

  /** Reads a page; if its token has expired, that of the newer state which the server offers instead. */
  async #page(options: ListOptions): Promise<List<T>> {
    try {
      return await this.list(options);
    } catch (error) {
      const token = isExpired(error) ? error.status.metadata?.continue : undefined;
      if (!token || token === options.continue) throw error;
      return await this.list({ ...options, continue: token });
    }
  }

  /** Deletes one. */
  async delete(target: Target, options: DeleteOptions): Promise<T | Status> {
    const { signal, timeout } = options;
    const path = await this.path(target, options);
    const body = deleteBody(options);
    const answer = await this.#client.request<T | Status>({ method: "DELETE", path, body, signal, timeout });
    if (!options.dryRun) this.tell(answer as T);
    return answer;
  }

  /** Deletes the selected ones of a namespace. */
  async deleteCollection(options: DeleteCollectionOptions): Promise<List<T> | Status> {
    const { namespace, signal, timeout } = options;
    const { id, namespaced } = this.#resource;
    if (namespaced && namespace === undefined) {
      throw new TypeError(`Cannot delete a collection of ${id}: 'namespace' must be set: current value is undefined`);
    }
    const path = this.#resource.path(namespace);
    const query = selectQuery({ ...options, resourceVersion: undefined });
    return await this.#client.request({ method: "DELETE", path, query, body: deleteBody(options), signal, timeout });
  }

  /** The path of a target. */
  async path(target: Target, options: CallOptions): Promise<string> {
    const { name, namespace } = refOf(target);
    return this.#resource.path(await this.namespaceOf(options.namespace ?? namespace), name, this.#name);
  }

  /** The given namespace, or, if the kind needs one, the client's. */
  async namespaceOf(namespace: string | undefined): Promise<string | undefined> {
    if (!this.#resource.namespaced) return undefined;
    return namespace ?? await this.#client.namespace();
  }

  /** Creates it in the collection. */
  async create(draft: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const path = this.#resource.path(await this.namespaceOf(options.namespace ?? draft.metadata?.namespace));
    return await this.write("POST", path, this.#kinded(draft), options);
  }

  /** Sends a write, and tells of the object that it answers with. */
  async write(
    method: string,
    path: string,
    body: unknown,
    options: WriteOptions,
    extra: { readonly contentType?: string; readonly query?: Query } = {},
  ): Promise<T> {
    const { signal, timeout } = options;
    const query = { ...writeQuery(options, this.#client.fieldManager), ...extra.query };
    const { contentType } = extra;
    const object = await this.#client.request<T>({ method, path, query, body, contentType, signal, timeout });
    if (!options.dryRun) this.tell(object);
    return object;
  }

  /** Tells of an object that a write answered with, unless it is a `Status` or the like. */
  tell(object: KubernetesObject): void {
    if (object?.kind === this.#resource.kind && object.metadata?.resourceVersion) this.#written(object);
  }

  #kinded(draft: Draft<T>): Draft<T> {
    const { apiVersion, kind } = this.#shape;
    if (draft.kind !== undefined && draft.kind !== kind) {
      throw new TypeError(
        `Cannot write ${kind}: 'kind' must be "${kind}": current value is ${Deno.inspect(draft.kind)}`,
      );
    }
    return { ...draft, apiVersion, kind };
  }
}
