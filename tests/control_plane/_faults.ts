/** Runs operators against a control plane through a proxy that fails as networks do, and notes what they write and when. */
import { assertEquals } from "@std/assert";
import type { Client, ClientOptions } from "../../client.ts";
import { Lease } from "../../kinds.ts";
import { Operator } from "../../operator.ts";
import type { ControlPlane, PlaneUser } from "../../testing/control_plane.ts";
import { type Running, start, Thing, thing, things } from "../_operator.ts";
import { TcpProxy } from "../_tcp_proxy.ts";
import { until } from "./_wait.ts";

/** An election that is over in seconds. */
export const QUICK = { leaseDuration: 5000, renewDeadline: 3500, retryPeriod: 500 };

/** A proxy to a control plane's API server. */
export async function proxyTo(plane: ControlPlane): Promise<TcpProxy> {
  return await TcpProxy.to(Number(new URL(plane.url).port));
}

/** A client that goes through a proxy, on connections of its own. */
export async function throughProxy(
  plane: ControlPlane,
  proxy: TcpProxy,
  options: ClientOptions = {},
): Promise<Client> {
  return plane.client(await proxied(plane, proxy), options);
}

/** A user whose kubeconfig leads to a proxy; the server's certificate is good for all ports of loopback. */
export async function proxied(plane: ControlPlane, proxy: TcpProxy, user = plane.admin): Promise<PlaneUser> {
  const kubeconfig = `${user.kubeconfig}-by-${proxy.port}`; // Beside it, so that it goes with the control plane.
  const text = await Deno.readTextFile(user.kubeconfig);
  await Deno.writeTextFile(kubeconfig, text.replace(plane.url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 });
  return { ...user, kubeconfig };
}

/** A write into the status of a thing that the server has taken. */
export interface Written {
  /** The writer's identity. */
  readonly by: string;
  /** When it was sent, on this process' clock in ms. */
  readonly at: number;
}

/** An operator that notes in each thing's status which round of it was seen, and by whom. */
export class Noting implements AsyncDisposable {
  /** What was written, in the order of the answers. */
  readonly written: Written[] = [];
  /** The codes that the operator's requests were answered with. */
  readonly codes: (number | string)[] = [];
  readonly #running: Running;

  /** Starts it; who leads is seen at the lease. */
  constructor(client: Client, namespace: string, identity: string) {
    const controller = things().onError({ milliseconds: 200 }).reconcile(async (object, ctx) => {
      const at = performance.now();
      await ctx.patchStatus(object, { seen: object.spec.round ?? 0, by: identity });
      this.written.push({ by: identity, at });
    });
    const operator = new Operator("noting").leaderElection(namespace, "noting", QUICK).controller(controller);
    const observed = client.with({ onRequest: ({ code }) => void this.codes.push(code) });
    this.#running = start(operator, observed, undefined, {
      now: () => performance.now(),
      random: Math.random,
      identity,
      namespaces: [namespace],
    });
  }

  /** Stops it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }
}

/** Who holds the lease, and how often it has changed hands. */
export async function lease(client: Client, namespace: string): Promise<{ holder: string; changes: number }> {
  const { spec } = await client.api(Lease).get({ name: "noting", namespace });
  return { holder: spec?.holderIdentity ?? "", changes: spec?.leaseTransitions ?? 0 };
}

/** Waits until a replica leads; answers with the ms that took. */
export async function leads(client: Client, namespace: string, identity: string): Promise<number> {
  const started = performance.now();
  await until(`The lead of ${identity}`, async () => (await lease(client, namespace)).holder === identity);
  return performance.now() - started;
}

/** What a test does to the things of a namespace, and what they must come to. */
export class Churn {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #rounds = new Map<string, number>();

  /** Does nothing yet; `client` goes past the proxy. */
  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** How many things there are. */
  get size(): number {
    return this.#rounds.size;
  }

  /** Creates a thing. */
  async create(name: string): Promise<void> {
    await this.#client.api(Thing).create(thing(name, { round: 0 }, { namespace: this.#namespace }));
    this.#rounds.set(name, 0);
  }

  /** Changes a thing. */
  async change(name: string): Promise<void> {
    const round = (this.#rounds.get(name) ?? 0) + 1;
    await this.#client.api(Thing).patch({ name, namespace: this.#namespace }, { spec: { round } });
    this.#rounds.set(name, round);
  }

  /** Deletes a thing. */
  async delete(name: string): Promise<void> {
    await this.#client.api(Thing).delete({ name, namespace: this.#namespace });
    this.#rounds.delete(name);
  }

  /** Changes what there is, deletes the first of it, and creates another in its place and a new one. */
  async round(name: string): Promise<void> {
    const [first, ...rest] = this.#rounds.keys();
    for (const one of rest) await this.change(one);
    if (first !== undefined) {
      await this.delete(first);
      await this.create(first);
    }
    await this.create(name);
  }

  /** Waits until each thing's status is that of its last round; answers with the ms that took. */
  async settled(what: string, patience?: number): Promise<number> {
    const started = performance.now();
    let states: Record<string, unknown> = {};
    const explain = () => Deno.inspect({ states, wanted: Object.fromEntries(this.#rounds) });
    await until(what, async () => {
      const { items } = await this.#client.api(Thing).list({ namespace: this.#namespace });
      states = Object.fromEntries(items.map((one) => [one.metadata.name, (one as Thing).status?.seen]));
      assertEquals(states, Object.fromEntries(this.#rounds));
      return true;
    }, { explain, ...(patience === undefined ? {} : { patience }) });
    return performance.now() - started;
  }
}
