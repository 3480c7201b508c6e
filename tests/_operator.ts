/** Runs operators against an in-memory API server, under fake time if wanted. */
import type { FakeTime } from "@std/testing/time";
import type { KubernetesObject, ObjectMeta } from "../resource.ts";
import type { Client } from "../client.ts";
import { Controller } from "../controller.ts";
import { customResource } from "../crd.ts";
import type { RunOptions } from "../lifecycle.ts";
import { Operator } from "../operator.ts";
import type { ApiServer, RecordedRequest } from "../testing/mod.ts";
import { leap } from "./_time.ts";

/** A kind for tests, with a spec and a status of any fields. */
export const Thing = customResource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});

/** An object of that kind. */
export interface Thing extends KubernetesObject {
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

/** A running operator. */
export interface Running extends AsyncDisposable {
  /** Stops it and waits for its end. */
  stop(): Promise<void>;
  /** Settles as the run does. */
  readonly ended: Promise<void>;
}

/** Runs an operator until it is stopped; under fake time its end moves that on. */
export function start(operator: Operator, client: Client, time?: FakeTime, options: RunOptions = {}): Running {
  const stop = new AbortController();
  let over = false;
  const ended = operator.run({
    client,
    signals: false,
    now: () => Date.now(),
    random: () => 0.5,
    signal: stop.signal,
    ...options,
  });
  const settled = ended.catch(() => {}).then(() => over = true);
  const finish = async (): Promise<void> => {
    stop.abort();
    while (time && !over) await leap(time, 1000);
    await settled;
  };
  return { ended, stop: async () => (await finish(), await ended), [Symbol.asyncDispose]: finish };
}

/** An operator of one controller. */
export function operatorOf<T extends KubernetesObject>(controller: Controller<T>): Operator {
  return new Operator("tester").controller(controller);
}

/** A controller of things. */
export function things(): Controller<Thing> {
  return new Controller(Thing as never) as Controller<Thing>;
}

/** A draft of a thing. */
export function thing(name: string, spec: Record<string, unknown> = {}, metadata: Partial<ObjectMeta> = {}) {
  return { apiVersion: "example.com/v1", kind: "Thing", metadata: { name, namespace: "default", ...metadata }, spec };
}

/** The writes among a server's requests, as `METHOD path`. */
export function writes(server: ApiServer): string[] {
  const isWrite = ({ method, path }: RecordedRequest): boolean => method !== "GET" && !path.includes("/events");
  return server.requests.filter(isWrite).map(({ method, path }) => `${method} ${path}`);
}
