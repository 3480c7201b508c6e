/**
 * Gives a test of one reconcile a real context: writes land in an API server in memory, and reads come from real caches.
 *
 * ```ts
 * import { Controller } from "@tend/operator";
 * import { ConfigMap, Secret } from "@tend/operator/kinds";
 * import { fakeContext } from "@tend/operator/testing";
 *
 * const controller = new Controller(Secret).owns(ConfigMap).reconcile(async (secret, ctx) => {
 *   await ctx.applyOwned(secret, ConfigMap.draft({ metadata: { name: secret.metadata.name } }));
 * });
 * await using fake = await fakeContext(controller, { metadata: { name: "a" } });
 * await fake.reconcile();
 * console.assert(fake.context.owned(ConfigMap).length === 1);
 * ```
 *
 * @module
 */
import { Action } from "../action.ts";
import type { Context } from "../context.ts";
import { configOf, Controller, copyOf } from "../controller.ts";
import { CustomResource } from "../crd.ts";
import { Operator } from "../operator.ts";
import type { Draft, KubernetesObject, Resource } from "../resource.ts";
import type { RecordedRequest } from "./_recorded_request.ts";
import { ApiServer } from "./api_server.ts";

/** Options of {@linkcode fakeContext}. */
export interface FakeContextOptions {
  /** What else there is, applied before the object: objects, or the text of YAML documents. @default {[]} */
  readonly objects?: string | readonly object[] | undefined;
  /** The server to use; it stays open at the end. @default {a new one, closed at the end} */
  readonly server?: ApiServer | undefined;
  /** The name of the operator: the user, the client's name and the field manager. @default {"operator"} */
  readonly operator?: string | undefined;
}

/** A context with all that it works on. */
export interface FakeContext<T extends KubernetesObject> extends AsyncDisposable {
  /** The context of a run that lasts until this is disposed. */
  readonly context: Context;
  /** The object as the controller's cache has it. */
  readonly object: T;
  /** The server that writes go to. */
  readonly server: ApiServer;
  /** What the context has sent so far, without what filled its caches. */
  readonly requests: readonly RecordedRequest[];
  /**
   * Runs what the controller declares for the object: its reconcile, or its cleanup if the object is being deleted.
   *
   * @throws {TypeError} If it declares none
   * @throws Whatever the reconcile throws
   */
  reconcile(): Promise<Action | undefined>;
}

/**
 * Creates an object and gives the context that a reconcile of it gets, with the caches that its controller declares.
 *
 * Definitions of custom kinds are applied, and the object's status is written as it is given. With a `deletionTimestamp` the
 * object is being deleted, and needs a finalizer. Of a resource alone nothing but the kind itself is in a cache.
 *
 * @throws {Error} If the server refuses the object, or what else there is
 */
export async function fakeContext<T extends KubernetesObject>(
  of: Controller<T> | Resource<T>,
  object: Draft<T>,
  options: FakeContextOptions = {},
): Promise<FakeContext<T>> {
  const { objects = [], operator = "operator" } = options;
  const controller = of instanceof Controller ? of : new Controller(of).reconcile(() => {});
  const config = configOf(controller);
  await using stack = new AsyncDisposableStack();
  const server = options.server ?? stack.use(new ApiServer());
  const kinds = new Set([controller.resource as Resource, ...config.sources.map(({ resource }) => resource)]);
  for (const kind of kinds) if (kind instanceof CustomResource) await server.apply(kind.crd());
  await server.apply(objects);
  const { namespace, name } = await place(server, controller.resource, object);

  const running = Promise.withResolvers<{ object: T; context: Context }>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const hold = async (object: T, context: Context): Promise<void> => {
    const { metadata } = object;
    if (metadata.name !== name || metadata.namespace !== namespace) return;
    running.resolve({ object, context });
    await released;
  };
  const deleted = object.metadata.deletionTimestamp !== undefined;
  const finalizer = !deleted ? undefined : {
    name: object.metadata.finalizers?.[0] ?? "",
    // Whatever happened to the object, its finalizer stays.
    cleanup: async (object: T, context: Context) => (await hold(object, context), Action.requeue({ hours: 1 })),
  };
  const held = copyOf(controller, { reconcile: hold, finalizer, timeout: undefined, predicates: [], concurrency: 1 });
  const stop = new AbortController();
  const client = stack.use(server.client({ user: operator, groups: ["system:masters"], name: operator }));
  const ended = new Operator(operator).controller(held).run({
    client,
    signals: false,
    signal: stop.signal,
    now: () => Date.now(),
  });
  stack.defer(async () => {
    stop.abort();
    release();
    await ended.catch(() => {});
  });
  const { object: cached, context } = await Promise.race([running.promise, ended.then(() => running.promise)]);
  const before = new Set(server.requests);
  const own = stack.move();
  return {
    context,
    object: cached,
    server,
    get requests() {
      return server.requests.filter((request) => request.client === operator && !before.has(request));
    },
    async reconcile() {
      const run = deleted ? config.finalizer?.cleanup : config.reconcile;
      if (!run) {
        throw new TypeError(`Cannot reconcile: the controller declares no ${deleted ? "cleanup" : "reconcile"}`);
      }
      return await run(cached, context) ?? undefined;
    },
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  };
}

/** Brings an object to the server as it is given: with its status, and being deleted if it says so. */
async function place<T extends KubernetesObject>(
  server: ApiServer,
  resource: Resource<T>,
  draft: Draft<T>,
): Promise<KubernetesObject["metadata"]> {
  const { deletionTimestamp, ...metadata } = draft.metadata;
  const { status, ...rest } = draft as Draft<T> & { status?: object };
  const [{ metadata: placed }] = await server.apply(resource.draft({ ...rest, metadata } as Draft<T>)) as [T];
  const api = server.client().api(resource);
  if (status !== undefined) await api.status.patch(placed as T["metadata"] & { name: string }, { status });
  if (deletionTimestamp !== undefined) await api.delete({ metadata: placed });
  return placed;
}
