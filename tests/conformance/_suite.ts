/**
 * Registers behaviours as tests of one server, each in a namespace of its own.
 *
 * ```ts
 * import { InProcess } from "./_server.ts";
 * import { Suite } from "./_suite.ts";
 *
 * const suite = new Suite(new InProcess());
 * suite.test("A list of nothing is empty", async (at) => {
 *   console.assert((await at.send("GET configmaps")).body.items.length === 0);
 * });
 * ```
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { delay } from "../../delay.ts";
import { type Answered, type Body, Watching } from "../_api.ts";
import type { Capability, ConformanceServer, Form } from "./_server.ts";
import { GROUP, WIDGET } from "./_widget.ts";

/** A behaviour that a server does not show. */
export interface Exception {
  /** The name of the behaviour's test. */
  readonly behaviour: string;
  /** The servers. */
  readonly servers: readonly Form[];
  /** `skipped`: the server cannot be asked. `differs`: it answers otherwise, which its test holds. */
  readonly kind: "skipped" | "differs";
  /** Why. */
  readonly reason: string;
}

/** What is particular about a behaviour. */
export interface BehaviourOptions {
  /** What the server must be able to do; others skip the behaviour, for `reason`. */
  readonly needs?: Capability | undefined;
  /** Why a server without what is needed skips the behaviour. */
  readonly reason?: string | undefined;
  /** How the servers in memory are known to differ; their tests fail once they do not. */
  readonly differs?: string | undefined;
}

const IN_MEMORY: readonly Form[] = ["in process", "over HTTP"];

/** The behaviours of one server. */
export class Suite {
  /** The server. */
  readonly server: ConformanceServer;
  /** The behaviours that not all servers show. */
  readonly exceptions: Exception[] = [];
  /** The names of all behaviours. */
  readonly names: string[] = [];

  constructor(server: ConformanceServer) {
    this.server = server;
    Deno.test.beforeAll(() => server.start());
    Deno.test.afterAll(() => server.stop());
  }

  /** Registers one. */
  test(name: string, run: (at: Place) => Promise<void>, options: BehaviourOptions = {}): void {
    const { server } = this;
    const { needs, reason = "", differs } = options;
    this.names.push(name);
    const full = `${server.name}: ${name}`;
    if (needs !== undefined) {
      this.exceptions.push({ behaviour: name, servers: ["control plane"], kind: "skipped", reason });
    }
    if (differs !== undefined) {
      this.exceptions.push({ behaviour: name, servers: IN_MEMORY, kind: "differs", reason: differs });
    }
    if (needs !== undefined && !server.capabilities.has(needs)) {
      Deno.test({ name: `${full} (skipped: ${reason})`, ignore: true, fn: () => {} });
    } else if (differs !== undefined && IN_MEMORY.includes(server.name)) {
      Deno.test(`${full} (known to differ: ${differs})`, () => stillFails(server, run));
    } else {
      Deno.test(full, async () => run(await Place.open(server)));
    }
  }
}

async function stillFails(server: ConformanceServer, run: (at: Place) => Promise<void>): Promise<void> {
  const at = await Place.open(server);
  try {
    await run(at);
  } catch {
    return;
  }
  throw new Error("The server behaves as the real one now: take 'differs' from the test and the row from the document");
}

const GROUPS: Readonly<Record<string, string>> = {
  configmaps: "/api/v1",
  secrets: "/api/v1",
  pods: "/api/v1",
  services: "/api/v1",
  serviceaccounts: "/api/v1",
  deployments: "/apis/apps/v1",
  jobs: "/apis/batch/v1",
  leases: "/apis/coordination.k8s.io/v1",
  events: "/apis/events.k8s.io/v1",
  roles: "/apis/rbac.authorization.k8s.io/v1",
  rolebindings: "/apis/rbac.authorization.k8s.io/v1",
  widgets: `/apis/${GROUP}/v1`,
};

/** A namespace of a test's own, on a server. */
export class Place {
  private constructor(readonly server: ConformanceServer, readonly namespace: string) {}

  /** Makes one. */
  static async open(server: ConformanceServer): Promise<Place> {
    const { code, body } = await server.request("POST", "/api/v1/namespaces", {
      metadata: { generateName: "test-" },
    });
    assertEquals(code, 201);
    return new Place(server, body.metadata.name);
  }

  /** The path of what is named relative to the namespace, such as `configmaps/a`. */
  path(relative: string): string {
    if (relative.startsWith("/")) return relative;
    const [plural = ""] = relative.split(/[/?]/);
    return `${GROUPS[plural]}/namespaces/${this.namespace}/${relative}`;
  }

  /** Sends a request, as in `merge configmaps/a`. */
  send(line: string, body?: unknown, headers?: Record<string, string>): Promise<Answered> {
    const [method = "", path = ""] = line.split(" ");
    return this.server.request(method, this.path(path), body, headers);
  }

  /** Sends a request that must succeed; the answer's body. */
  async ok(line: string, body?: unknown, headers?: Record<string, string>): Promise<Body> {
    const answered = await this.send(line, body, headers);
    if (answered.code >= 300) throw new Error(`${line}: ${answered.code} ${JSON.stringify(answered.body)}`);
    return answered.body;
  }

  /** Sends a request that must be refused: the code, and the reason if there is one. */
  async refused(line: string, body?: unknown, headers?: Record<string, string>): Promise<[number, string | undefined]> {
    const answered = await this.send(line, body, headers);
    return [answered.code, answered.body?.reason];
  }

  /** Begins a watch. */
  watch(relative: string, headers?: Record<string, string>): Promise<Watching> {
    return Watching.start(this.server, this.path(relative), headers);
  }

  /** Serves the kind Widget; for all tests of a server once. */
  async widgets(): Promise<void> {
    await this.define(WIDGET);
  }

  /** Creates a definition unless it is there, and waits until its versions are served. */
  async define(definition: Body): Promise<void> {
    const { group, versions, names } = definition.spec;
    const { code } = await this.send(`POST ${DEFINITIONS}`, definition);
    if (code !== 201 && code !== 409) throw new Error(`Cannot define ${names.plural}: the server answered ${code}`);
    for (const { name, served } of versions) {
      if (served) await until(async () => (await this.send(`GET /apis/${group}/${name}/${names.plural}`)).code === 200);
    }
  }
}

/** The path of definitions. */
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Waits until something is so. */
export async function until(so: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!await so()) {
    if (performance.now() > end) throw new Error("It did not come to be so within 20 s");
    await delay(50);
  }
}

/** The next events of a watch; fails when they do not come. */
export async function take(watching: Watching, count: number): Promise<Body[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`There were no ${count} events within 20 s`)), 20_000);
  try {
    return await Promise.race([watching.take(count), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Events as `ADDED a`. */
export function shown(events: readonly Body[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

/** The names of a list's items. */
export function names(list: Body): string[] {
  return list.items.map(({ metadata }: Body) => metadata.name);
}

/** A name in a group that no other test uses. */
export function unique(): string {
  return `x${crypto.randomUUID().slice(0, 8)}`;
}

/** Asks as another user. */
export function as(user: string, ...groups: string[]): Record<string, string> {
  return { "impersonate-user": user, ...(groups.length > 0 ? { "impersonate-group": groups.join(",") } : {}) };
}
