/**
 * Runs what a real cluster's controllers do: garbage collection by owner, the end of namespaces, and workloads.
 *
 * Each change is looked at in a timer of its own, so that fake time and a seeded schedule decide when.
 *
 * ```ts
 * import { runControllers } from "./_controllers.ts";
 *
 * console.assert(typeof runControllers === "function");
 * ```
 *
 * @module
 */
import { pathOf, type Perform } from "./_perform.ts";
import type { ServerState } from "./_call.ts";
import { Collector } from "./_collector.ts";
import type { Kube } from "./_objects.ts";
import type { Collection, StoredEvent } from "./_store.ts";
import { Workloads } from "./_workloads.ts";

/** Controllers that a server can run. */
export type ControllerName = "garbage-collector" | "namespaces" | "workloads";

/** The names of all controllers. */
export const CONTROLLERS: readonly ControllerName[] = ["garbage-collector", "namespaces", "workloads"];

/** Runs controllers until disposed; a change is met `delay` ms after it was made. */
export function runControllers(
  server: ServerState,
  names: readonly ControllerName[],
  perform: Perform,
  delay: number,
): Disposable {
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const later = (work: () => void, ms = delay): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
  };
  const collector = names.includes("garbage-collector") ? new Collector(server, perform, later) : undefined;
  const workloads = names.includes("workloads") ? new Workloads(server, perform, later) : undefined;
  const namespaces = names.includes("namespaces");
  const listener = server.store.listen((collection, event) => {
    collector?.see(collection, event);
    workloads?.see(collection, event);
    if (namespaces) seeNamespace(server, perform, later, collection, event);
  });
  return {
    [Symbol.dispose]: () => {
      listener[Symbol.dispose]();
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

function seeNamespace(
  server: ServerState,
  perform: Perform,
  later: (work: () => void) => void,
  collection: Collection,
  event: StoredEvent,
): void {
  const name = collection.id === "namespaces" ? event.name : event.type === "DELETED" ? event.namespace : "";
  if (name === "") return;
  const terminating = (): Kube | undefined => {
    const found = server.store.collection("namespaces").get("", name)?.object;
    return found?.metadata.deletionTimestamp === undefined ? undefined : found;
  };
  if (!terminating()) return;
  later(() => {
    const namespace = terminating();
    if (namespace) finishNamespace(server, perform, namespace);
  });
}

/** Deletes what is in a namespace that is being deleted; lets it go when nothing is left. */
function finishNamespace(server: ServerState, perform: Perform, namespace: Kube): void {
  const name = namespace.metadata.name!;
  let left = 0;
  for (const info of server.registry.resources()) {
    if (!info.namespaced) continue;
    for (const { object } of server.store.collection(info.storage).list({ namespace: name })) {
      if (object.metadata.deletionTimestamp === undefined) perform("DELETE", pathOf(info, object));
    }
    left += server.store.collection(info.storage).list({ namespace: name }).length;
  }
  if (left > 0) return;
  const finalizers = (namespace.spec?.finalizers ?? []).filter((each: string) => each !== "kubernetes");
  const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
  perform("PUT", `/api/v1/namespaces/${name}/finalize`, body);
}
