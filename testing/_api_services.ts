/**
 * Keeps APIServices: makes those of what the server serves itself, says which are available, and announces all of them.
 *
 * ```ts
 * import { apiServiceName } from "./_api_services.ts";
 *
 * console.assert(apiServiceName("apps", "v1") === "v1.apps");
 * ```
 *
 * @module
 */
import { BUILTIN_GROUPS } from "./_builtin_resources.ts";
import type { ServerState } from "./_call.ts";
import { DEFINITIONS, setCondition } from "./_definitions.ts";
import { available, LOCAL } from "./_kinds_registration.ts";
import type { Ground } from "./_kind.ts";
import { equal, type Fields, type Kube, timestamp } from "./_objects.ts";
import { writeOwnStatus } from "./_own_status.ts";
import type { Perform } from "./_perform.ts";
import { availability } from "./_services_available.ts";
import type { StoredEvent } from "./_store.ts";

/** Where APIServices are stored. */
const API_SERVICES = "apiservices.apiregistration.k8s.io";

const API_VERSION = "apiregistration.k8s.io/v1";
const PATH = `/apis/${API_VERSION}/apiservices`;
const AGENT = "kube-apiserver/v1.37.2";

/** Says how far the server keeps an APIService by itself. */
const MANAGED = "kube-aggregator.kubernetes.io/automanaged";

/** The priorities of what definitions bring. */
const CUSTOM = { groupPriorityMinimum: 1000, versionPriority: 100 };

/** The name of the APIService of a group and version. */
export function apiServiceName(group: string, version: string): string {
  return `${version}.${group}`;
}

/** The specs of those that are there from the start, by name. */
const FIRST: ReadonlyMap<string, Fields> = new Map(
  BUILTIN_GROUPS.flatMap(({ name: group, versions }) =>
    versions.flatMap(({ version, priority }) => {
      if (!priority) return [];
      const [groupPriorityMinimum, versionPriority] = priority;
      const spec = { ...(group === "" ? {} : { group }), version, groupPriorityMinimum, versionPriority };
      return [[apiServiceName(group, version), spec] as const];
    })
  ),
);

/** The fields that those from the start have, as their manager's; the first one has no group. */
function fieldsOf(names: readonly string[]): Fields {
  const own = Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  return { "f:metadata": { "f:labels": { ".": {}, [`f:${MANAGED}`]: {} } }, "f:spec": own };
}

const LEGACY_FIELDS = fieldsOf(["groupPriorityMinimum", "version", "versionPriority"]);
const FIRST_FIELDS = fieldsOf(["group", "groupPriorityMinimum", "version", "versionPriority"]);

/** Stores those that are there from the start. */
export function seedApiServices(server: Ground): void {
  const time = timestamp(server.now());
  const managed = { manager: "kube-apiserver", operation: "Update", apiVersion: API_VERSION, time } as const;
  const [legacy, others] = [LEGACY_FIELDS, FIRST_FIELDS]
    .map((fieldsV1) => [{ ...managed, fieldsType: "FieldsV1", fieldsV1 }]);
  const labels = { [MANAGED]: "onstart" };
  const status = { conditions: [available(LOCAL, time)] };
  const collection = server.store.collection(API_SERVICES);
  for (const [name, spec] of FIRST) {
    const managedFields = spec.group === undefined ? legacy! : others!;
    const metadata = { name, uid: server.uid(), creationTimestamp: time, labels, managedFields };
    collection.put("", name, { apiVersion: API_VERSION, kind: "APIService", metadata, spec, status });
  }
}

/** Keeps APIServices, and what the registry knows of them, in step with the rest, until disposed. */
export function serveApiServices(server: ServerState, perform: Perform): Disposable {
  const keeper = new Keeper(server, perform);
  return keeper.resources;
}

class Keeper {
  readonly resources = new DisposableStack();
  readonly #server: ServerState;
  readonly #perform: Perform;
  /** The definitions that serve a version, by the name of its APIService. */
  readonly #owners = new Map<string, Set<string>>();
  /** The services that APIServices lead to, by the name of the APIService. */
  readonly #remote = new Map<string, Fields>();
  #watching = false;

  constructor(server: ServerState, perform: Perform) {
    this.#server = server;
    this.#perform = perform;
    this.resources.use(server.store.collection(API_SERVICES).listen((event) => this.#see(event)));
    this.resources.use(server.store.collection(DEFINITIONS).listen((event) => this.#seeDefinition(event)));
  }

  #current(name: string): Kube | undefined {
    return this.#server.store.collection(API_SERVICES).get("", name)?.object;
  }

  #see({ type, name, current }: StoredEvent): void {
    const { registry } = this.#server;
    const spec: Fields | undefined = type === "DELETED" ? undefined : current.object.spec;
    if (spec === undefined) registry.announce(name, undefined);
    else {
      const { group = "", version, groupPriorityMinimum, versionPriority, service } = spec;
      const priority = [groupPriorityMinimum, versionPriority] as const;
      registry.announce(name, { group, version, priority, remote: Boolean(service) });
    }
    if (spec?.service) {
      this.#remote.set(name, spec.service);
      this.#watch();
    } else this.#remote.delete(name);
    this.#check(name);
    this.#sync(name);
  }

  /** Looks at services and their endpoints, once somebody leads to one. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const see = ({ namespace }: StoredEvent): void => {
      for (const [name, service] of this.#remote) if (service.namespace === namespace) this.#check(name);
    };
    for (const id of ["services", "endpointslices.discovery.k8s.io"]) {
      this.resources.use(this.#server.store.collection(id).listen(see));
    }
  }

  /** Says in the status of an APIService whether it is available. */
  #check(name: string): void {
    const object = this.#current(name);
    if (!object) return;
    const { store } = this.#server;
    const said = object.spec.service ? availability(store, object.spec) : LOCAL;
    const before: Fields[] = object.status?.conditions ?? [];
    const old = before.find(({ type }) => type === "Available");
    if (old?.status === said.status && old.reason === said.reason && old.message === said.message) return;
    const conditions = before.map((each) => ({ ...each }));
    setCondition(conditions, available(said, timestamp(this.#server.now())));
    writeOwnStatus(this.#server, API_SERVICES, object, { ...object.status, conditions });
  }

  #seeDefinition({ type, name, current, previous }: StoredEvent): void {
    const before = served(previous?.object), after = type === "DELETED" ? [] : served(current.object);
    for (const each of before) if (!after.includes(each)) this.#owners.get(each)?.delete(name);
    for (const each of after) {
      if (!this.#owners.has(each)) this.#owners.set(each, new Set());
      this.#owners.get(each)!.add(name);
    }
    for (const each of new Set([...before, ...after])) {
      if (before.includes(each) !== after.includes(each)) this.#sync(each);
    }
  }

  /** Makes, mends or deletes the APIService of what definitions serve; others are left to whoever made them. */
  #sync(name: string): void {
    if (FIRST.has(name)) return;
    const dot = name.indexOf(".");
    const wanted = this.#owners.get(name)?.size
      ? { group: name.slice(dot + 1), version: name.slice(0, dot), ...CUSTOM }
      : undefined;
    const current = this.#current(name);
    const type = "application/json";
    if (!current) {
      const metadata = { name, labels: { [MANAGED]: "true" } };
      const body = { apiVersion: API_VERSION, kind: "APIService", metadata, spec: wanted };
      if (wanted) this.#perform("POST", PATH, body, type, AGENT);
    } else if (current.metadata.labels?.[MANAGED] !== "true") return;
    else if (!wanted) {
      const { uid } = current.metadata;
      this.#perform("DELETE", `${PATH}/${name}`, { preconditions: { uid } }, type, AGENT);
    } else if (!equal(current.spec, wanted)) {
      this.#perform("PUT", `${PATH}/${name}`, { ...current, spec: wanted }, type, AGENT);
    }
  }
}

/** The names of the APIServices of the versions that a definition serves. */
function served(definition: Kube | undefined): string[] {
  if (!definition) return [];
  const { group, versions } = definition.spec;
  return versions.filter((each: Fields) => each.served).map(({ name }: Fields) => apiServiceName(group, name));
}
