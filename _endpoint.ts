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
import {
  applicable,
  type ApplyOptions,
  type CallOptions,
  type GetOptions,
  type Patch,
  PATCH_TYPES,
  type PatchOptions,
  type Query,
  refOf,
  type RequestOptions,
  type Target,
  type WriteOptions,
  writeQuery,
} from "./_verbs.ts";
import type { Draft, KubernetesObject, Resource } from "./resource.ts";

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
  /** Changes some fields; with `metadata.resourceVersion` or `metadata.uid` in the patch, only of that version or object. */
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
    const contentType = PATCH_TYPES.apply;
    return await this.write("PATCH", path, applicable(this.#kinded(draft)), options, { contentType, query: { force } });
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
