/**
 * The operator that a soak runs: children, finalizers, conditions, events and a lease; tells on each line of its input how it is.
 *
 * Ends in order when its input does.
 *
 * @module
 */
import { lines } from "../_stream.ts";
import { Client } from "../client.ts";
import { Controller } from "../controller.ts";
import { customResource } from "../crd.ts";
import { ConfigMap } from "../kinds.ts";
import { Operator } from "../operator.ts";
import type { KubernetesObject } from "../resource.ts";

/** The kind that the soak makes. */
export const Parcel = customResource({
  group: "soak.example.com",
  version: "v1",
  kind: "Parcel",
  spec: { type: "object", properties: { round: { type: "integer" } } },
  status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});

/** An object of that kind. */
export interface Parcel extends KubernetesObject {
  readonly spec: { readonly round: number };
  readonly status?: { readonly seen?: number };
}

/** How the operator is. */
export interface Sample {
  /** Reconciles so far, cleanups included. */
  readonly reconciles: number;
  /** Requests so far. */
  readonly requests: number;
  /** Bytes in use after a garbage collection. */
  readonly heap: number;
  /** Resident bytes. */
  readonly resident: number;
  /** Open sockets. */
  readonly sockets: number;
  /** Timers that are set. */
  readonly timers: number;
}

/** Counts the timers that are set from now on and have neither fired nor been cleared. */
function countTimers(): () => number {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const live = new Set<unknown>();
  globalThis.setTimeout = ((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const id: unknown = set(() => {
      live.delete(id);
      run(...args);
    }, ms);
    live.add(id);
    return id;
  }) as typeof globalThis.setTimeout;
  globalThis.clearTimeout = ((id) => {
    live.delete(id);
    clear(id);
  }) as typeof globalThis.clearTimeout;
  return () => live.size;
}

function countSockets(): number {
  let count = 0;
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      if (Deno.readLinkSync(`/proc/self/fd/${name}`).startsWith("socket:")) count++;
    } catch {
      // The descriptor of the folder itself is gone by now.
    }
  }
  return count;
}

async function main(kubeconfig: string, namespace: string): Promise<void> {
  const timers = countTimers();
  let reconciles = 0, requests = 0;
  const parcels = (new Controller(Parcel as never) as Controller<Parcel>)
    .owns(ConfigMap)
    .onError(500)
    .reconcile(async (parcel, ctx) => {
      reconciles++;
      const { round } = parcel.spec;
      const { name } = parcel.metadata;
      await ctx.applyOwned(parcel, ConfigMap.draft({ metadata: { name }, data: { round: `${round}` } }));
      await ctx.patchStatus(parcel, { seen: round });
      await ctx.setCondition(parcel, { type: "Ready", status: true, reason: "Delivered" });
      ctx.event(parcel, { type: "Normal", reason: "Delivered", note: `Delivered round ${round}` });
    })
    // The control plane has no garbage collector.
    .finalizer("soak.example.com/return", async ({ metadata: { name, namespace } }, ctx) => {
      reconciles++;
      const maps = ctx.client.api(ConfigMap);
      const child = await maps.find({ name, namespace: namespace! });
      if (child) await maps.delete(child);
    });
  const operator = new Operator("soak").leaderElection(namespace, "soak").controller(parcels);
  await using client = new Client({ kubeconfig, userAgent: "soak", onRequest: () => void requests++ });
  const stop = new AbortController();
  const run = operator.run({ client, namespaces: [namespace], signals: false, signal: stop.signal });
  for await (const _ of lines(Deno.stdin.readable)) {
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed: heap, rss: resident } = Deno.memoryUsage();
    console.log(JSON.stringify({ reconciles, requests, heap, resident, sockets: countSockets(), timers: timers() }));
  }
  stop.abort();
  await run;
}

if (import.meta.main) await main(Deno.args[0]!, Deno.args[1]!);
