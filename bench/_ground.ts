/**
 * Prepares what peers work on, starts them on it, and looks at what they have done.
 *
 * @module
 */
import { parseAll } from "@std/yaml";
import { delay } from "../delay.ts";
import { API_VERSION, nameOf, NAMESPACE, widget, type WidgetOptions } from "./_objects.ts";
import type { ReadyPeer } from "./_peers.ts";
import { type Pod, podFiles } from "./_pod.ts";
import { json, Server } from "./_server.ts";
import { Subject } from "./_subject.ts";

/** How many requests of the harness are under way at once. */
const CONCURRENCY = 32;

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
  readonly namespace: string;
  readonly kind: number | "";
}

/** Calls for each number up to a count, so many at once. */
export async function each(
  count: number,
  work: (index: number) => Promise<unknown>,
  concurrency = CONCURRENCY,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** A server with kinds and objects on it, and the peers that run there. */
export class Ground implements AsyncDisposable {
  readonly server: Server;
  readonly pod: Pod;
  readonly #folder: string;
  readonly #options: GroundOptions;
  readonly #subjects = new Set<Subject>();
  #objects: Seeded[] = [];
  #kinds = 0;

  private constructor(server: Server, pod: Pod, folder: string, options: GroundOptions) {
    this.server = server;
    this.pod = pod;
    this.#folder = folder;
    this.#options = options;
  }

  /** Starts a fresh server, with the kind defined and the namespace made. */
  static async start(options: GroundOptions): Promise<Ground> {
    const folder = await Deno.makeTempDir({ prefix: "tend-bench-" });
    let server: Server | undefined;
    try {
      server = await Server.start(options.assets);
      const ground = new Ground(server, await podFiles(folder, server), folder, options);
      await ground.define(1);
      await ground.makeNamespace(NAMESPACE);
      await server.calm();
      return ground;
    } catch (error) {
      await server?.[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
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
    const definitions = parseAll(new TextDecoder().decode(stdout), { schema: "core" }) as {
      metadata: { name: string };
    }[];
    for (const definition of definitions.slice(this.#kinds)) {
      await this.server.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    }
    for (const { metadata } of definitions) {
      await patiently(() => this.server.request("GET", `${this.collection(metadata.name.split(".")[0])}?limit=1`));
    }
    this.#kinds = kinds;
  }

  async makeNamespace(name: string): Promise<void> {
    await this.server.request("POST", "/api/v1/namespaces", json({ metadata: { name } }));
  }

  /** The path of all objects of a kind. */
  collection(plural = "widgets"): string {
    return `/apis/${API_VERSION}/${plural}`;
  }

  /** Takes away all objects and all config maps of theirs. */
  async clear(): Promise<void> {
    await this.server.clear("bench.example.com");
    await this.server.clear(`configmaps/${NAMESPACE}`);
    this.#objects = [];
    await this.settled();
  }

  /** Creates so many objects more. */
  async seed(count: number, options: (index: number) => WidgetOptions = () => ({})): Promise<void> {
    const from = this.#objects.length;
    for (let index = from; index < from + count; index++) {
      const { namespace = NAMESPACE, kind = "" } = options(index);
      this.#objects.push({ namespace, kind });
    }
    await each(count, async (each) => {
      const index = from + each;
      const { namespace, kind } = this.#objects[index]!;
      const collection = `/apis/${API_VERSION}/namespaces/${namespace}/widgets${kind}`;
      await this.server.request("POST", collection, json(widget(index, options(index))));
    });
    await this.settled();
  }

  /** Brings one object to a revision. */
  async update(index: number, revision: number, sent = 0): Promise<void> {
    const { namespace, kind } = this.#objects[index]!;
    const path = `/apis/${API_VERSION}/namespaces/${namespace}/widgets${kind}/${nameOf(index)}`;
    await this.server.request("PATCH", path, json({ spec: { revision, sent } }, "merge-patch+json"));
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

  /** Starts a peer. */
  start(peer: ReadyPeer, assigned: Readonly<Record<`BENCH_${string}`, string | number>>): Subject {
    const env = Object.fromEntries(Object.entries(assigned).map(([name, value]) => [name, `${value}`]));
    const subject: Subject = new Subject({
      name: peer.name,
      command: this.pod.command(this.#command(peer)),
      env: { BENCH_OBJECTS: `${this.size}`, BENCH_REVISION: "1", BENCH_WORKERS: "16", ...this.pod.env, ...env },
      onEnd: () => this.#subjects.delete(subject),
    });
    this.#subjects.add(subject);
    return subject;
  }

  /** Kills what runs and deletes all files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#subjects].map((subject) => subject[Symbol.asyncDispose]()));
    await this.server[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true }).catch(() => {});
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
