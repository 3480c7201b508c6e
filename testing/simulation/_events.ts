/**
 * Says what a simulation observes, and what those who judge it are told.
 *
 * ```ts
 * import type { Observer } from "./_events.ts";
 *
 * export const counter: Observer = { began: (run) => console.log(run.key) };
 * ```
 *
 * @module
 */
import type { Informer } from "../../informer.ts";
import type { KubernetesObject, Resource } from "../../resource.ts";
import type { ApiServer } from "../api_server.ts";
import type { Call } from "./_network.ts";
import type { Process } from "./_virtual_time.ts";

/** One run of a reconcile or of a cleanup. */
export interface Run {
  /** Who runs it. */
  readonly process: Process;
  /** The controller's name. */
  readonly controller: string;
  /** What it is of: `namespace/name`, or `name`. */
  readonly key: string;
  /** The object as it was handed out. */
  readonly object: KubernetesObject;
  /** True for a cleanup. */
  readonly cleanup: boolean;
  /** Aborts when the run is to end. */
  readonly signal: AbortSignal;
  /** When it began, in ms. */
  readonly began: number;
  /** When it ended; absent while it runs. */
  ended?: number;
  /** What it threw; absent if it did not. */
  error?: unknown;
  /** True when it answered that it is to run again. */
  requeued?: boolean;
}

/** A replica, from its start to its end. */
export interface Replica {
  /** The process. */
  readonly process: Process;
  /** Its caches. */
  readonly caches: () => readonly Informer[];
  /** When it was asked to end; absent while it was not. */
  stopping?: number;
  /** When its `run()` had ended; absent while it has not. */
  ended?: number;
  /** What `run()` threw; absent if it did not. */
  failure?: unknown;
}

/** A controller, as far as it matters from outside. */
export interface ControllerFacts {
  /** Its name. */
  readonly name: string;
  /** The kind that it reconciles. */
  readonly resource: Resource;
  /** Its finalizer. */
  readonly finalizer: string | undefined;
  /** Ms until the retry after a first failure. */
  readonly firstDelay: number;
  /** True if not every change of every object is to be reconciled. */
  readonly selective: boolean;
}

/** What is known of a simulation from outside. */
export interface Facts {
  /** Ms since the beginning. */
  readonly now: () => number;
  /** The server. */
  readonly server: ApiServer;
  /** The controllers. */
  readonly controllers: readonly ControllerFacts[];
  /** Path of the Lease that is led under; undefined without an election. */
  readonly lease: string | undefined;
  /** How long a lease lasts, in ms. */
  readonly leaseDuration: number;
  /** How long running work may take after the request to end, in ms. */
  readonly grace: number;
  /** The replicas that run now. */
  readonly replicas: () => readonly Replica[];
  /** What is stored, as the API shows it. */
  readonly stored: (resource: Resource) => Promise<KubernetesObject[]>;
  /** The requests and streams of a process that are not over. */
  readonly open: (process: Process) => number;
}

/** Who is told what happens; all of it is optional. */
export interface Observer {
  /** A request was sent. */
  sent?(call: Call): void;
  /** The server has served a request. */
  served?(call: Call): void;
  /** A process reads that an object of its watches has gone. */
  readDeletion?(process: Process, uid: string): void;
  /** A process reads anything of its watches. */
  read?(process: Process): void;
  /** An object was stored, by whomever. */
  stored?(object: KubernetesObject, resource: Resource): void;
  /** An object has gone from the store. */
  gone?(object: KubernetesObject, resource: Resource): void;
  /** A run begins. */
  began?(run: Run): void;
  /** A run has ended. */
  ended?(run: Run): void;
  /** A process has begun or ended a term of leadership, by its own clock. */
  led?(process: Process, leading: boolean): void;
  /** A replica has ended in order. */
  stopped?(replica: Replica): void;
  /** At the end, when nothing has gone wrong for a while; answers with what is still not right. */
  atEnd?(): Promise<string | undefined> | string | undefined;
}

/** Something that always holds: `report` is told when it does not. */
export type Invariant = (facts: Facts, report: (text: string) => void) => Observer;
