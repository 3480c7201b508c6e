/**
 * Prepares what peers work on, starts them on it, and looks at what they have done.
 *
 * @module
 */
import { parseAll } from "@std/yaml";
import { delay } from "../delay.ts";
import { each } from "./_each.ts";
import { API_VERSION, NAMESPACE, widget, type WidgetBody, type WidgetOptions } from "./_objects.ts";
import type { ReadyPeer } from "./_peers.ts";
import { type Pod, podFiles } from "./_pod.ts";
import { json, Server } from "./_server.ts";
import { Subject } from "./_subject.ts";

/** What a ground needs. */
export interface GroundOptions {
  /** The folder with the programs of the control plane. */
  readonly assets: string;
  /** The peer that defines the kinds: the framework's own. */
  readonly definer: readonly string[];
  /** Where the profile of the framework's peer is written; undefined for none. */
  readonly profile?: string | undefined;
}

/** An object that is there. */
interface Seeded {
  readonly body: WidgetBody;
  version: string;
}

type Definition = Parameters<Server["apply"]>[1];

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly index: number };
}

function pluralOf(kind: string): string {
  return kind.toLowerCase().replace("widget", "widgets");
}

function pathOf({ kind, metadata: { namespace, name } }: WidgetBody): { collection: string; name: string } {
  return { collection: `/apis/${API_VERSION}/namespaces/${namespace}/${pluralOf(kind)}`, name };
}

/** Where the server stores an object. */
function keyOf({ kind, metadata: { namespace, name } }: WidgetBody): string {
  return `/registry/bench.example.com/${pluralOf(kind)}/${namespace}/${name}`;
}

/** The version in an object's text, which is long. */
function versionOf(object: string): string {
  return /"resourceVersion":"(\d+)"/.exec(object)![1]!;
}

/** A server with kinds and objects on it, and the peers that run there. */
export class Ground implements AsyncDisposable {
  readonly server: Server;
  readonly pod: Pod;
  readonly #options: GroundOptions;
  readonly #subjects = new Set<Subject>();
  #objects: Seeded[] = [];
  #kinds = 0;

  private constructor(server: Server, pod: Pod, options: GroundOptions) {
    this.server = server;
    this.pod = pod;
    this.#options = options;
  }

  /** Starts a fresh server, with the kind defined and the namespace made. */
  static async start(options: GroundOptions): Promise<Ground> {
    const server = await Server.start(options.assets);
    try {
      const ground = new Ground(server, await podFiles(server.folder, server), options);
      await ground.define(1);
      await ground.makeNamespace(NAMESPACE);
      await server.calm();
      return ground;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** How many objects there are. */
  get size(): number {
    return this.#objects.length;
  }

  /** Defines so many kinds, and waits until they are served. */
  async define(kinds: number): Promise<void> {
    const [program = "", ...args] = this.#options.definer;
    const { stdout, stderr, success } = await new Deno.Command(program, {
      args: [...args, "crds"],
      env: { BENCH_KINDS: `${kinds}` },
    }).output();
    if (!success) throw new Error(`Cannot define the kinds: ${new TextDecoder().decode(stderr)}`);
    const definitions = parseAll(new TextDecoder().decode(stdout), { schema: "core" }) as Definition[];
    for (const definition of definitions.slice(this.#kinds)) {
      await this.server.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    }
    for (const { metadata } of definitions) {
      await patiently(() => this.server.request("GET", `${this.collection(metadata.name.split(".")[0])}?limit=1`));
    }
    this.#kinds = Math.max(kinds, this.#kinds);
  }

  /** Makes a namespace, unless it is there. */
  async makeNamespace(name: string): Promise<void> {
    await this.server.apply("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  /** The path of all objects of a kind. */
  collection(plural = "widgets"): string {
    return `/apis/${API_VERSION}/${plural}`;
  }

  /** Takes away all objects and all config maps of theirs. */
  async clear(): Promise<void> {
    await this.server.etcd.clear("/registry/bench.example.com/");
    await this.server.etcd.clear(`/registry/configmaps/${NAMESPACE}/`);
    this.#objects = [];
    await this.settled();
  }

  /**
   * Brings so many objects more into being: the first of each kind by a request, the others as copies of what the server has
   * stored of that one, with names and specs of their own.
   */
  async seed(count: number, options: (index: number) => WidgetOptions = () => ({})): Promise<void> {
    const from = this.#objects.length;
    const stored = new Map<string, { metadata: Record<string, unknown>; spec: unknown }>();
    for (let index = from; index < from + count; index++) {
      const body = widget(index, options(index)), plural = pluralOf(body.kind);
      this.#objects.push({ body, version: "" });
      if (stored.has(plural)) continue;
      await this.server.request("POST", pathOf(body).collection, json(body));
      stored.set(plural, JSON.parse(await this.server.etcd.get(keyOf(body))));
    }
    await each(count, async (more) => {
      const { body } = this.#objects[from + more]!;
      const original = stored.get(pluralOf(body.kind))!;
      const metadata = { ...original.metadata, ...body.metadata, uid: crypto.randomUUID() };
      if (original.metadata.name === body.metadata.name) return;
      await this.server.etcd.put(keyOf(body), JSON.stringify({ ...original, metadata, spec: body.spec }));
    });
    await this.settled();
    for (const plural of stored.keys()) await this.#readVersions(plural);
  }

  /** Brings one object to a revision. */
  async update(index: number, revision: number, sent = 0): Promise<void> {
    const object = this.#objects[index]!;
    const { body, version } = object;
    const { collection, name } = pathOf(body);
    const metadata = { ...body.metadata, resourceVersion: version };
    const spec = { ...body.spec, revision, sent };
    const answer = await this.server.request("PUT", `${collection}/${name}`, json({ ...body, metadata, spec }));
    object.version = versionOf(answer);
  }

  /** Learns the versions of all objects of a kind, which updates must name. */
  async #readVersions(plural: string): Promise<void> {
    const listed = await this.list<Listed>(this.collection(plural));
    for (const { metadata, spec } of listed) this.#objects[spec.index]!.version = metadata.resourceVersion;
    const missing = this.#objects.filter(({ body, version }) => pluralOf(body.kind) === plural && version === "");
    if (missing.length > 0) throw new Error(`The server does not know ${missing.length} objects that were made`);
  }

  /** Waits until the server's caches have everything. */
  async settled(): Promise<void> {
    await this.server.cached(this.collection());
    await this.server.cached("/api/v1/configmaps");
    await delay(300);
  }

  /** The objects as they are on the server. */
  async list<T>(path = this.collection()): Promise<T[]> {
    return JSON.parse(await this.server.request("GET", path)).items;
  }

  /** How many bytes of JSON all objects have together, without their managed fields. */
  async bytes(): Promise<number> {
    let sum = 0;
    for (let kind = 1; kind <= this.#kinds; kind++) {
      for (const object of await this.list<Listed>(this.collection(kind === 1 ? "widgets" : `widgets${kind}`))) {
        sum += JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } }).length;
      }
    }
    return sum;
  }

  /** Starts a peer. */
  start(peer: ReadyPeer, assigned: Readonly<Record<`BENCH_${string}`, string | number>>): Subject {
    const env = Object.fromEntries(Object.entries(assigned).map(([name, value]) => [name, `${value}`]));
    const subject: Subject = new Subject({
      name: peer.name,
      command: this.pod.command(this.#command(peer)),
      env: {
        BENCH_OBJECTS: `${this.size}`,
        BENCH_REVISION: "1",
        BENCH_WORKERS: "16",
        ...peer.inCluster ? this.pod.env : this.pod.kubeconfig,
        ...env,
      },
      onEnd: () => this.#subjects.delete(subject),
    });
    this.#subjects.add(subject);
    return subject;
  }

  /** Kills what runs and deletes all files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#subjects].map((subject) => subject[Symbol.asyncDispose]()));
    await this.server[Symbol.asyncDispose]();
  }

  #command({ name, command }: ReadyPeer): readonly string[] {
    const { profile } = this.#options;
    if (name !== "tend" || profile === undefined) return command;
    const [program = "", run = "", ...rest] = command;
    return [program, run, "--cpu-prof", `--cpu-prof-dir=${profile}`, ...rest];
  }
}

async function patiently(ask: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      await ask();
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await delay(100);
    }
  }
}
