/**
 * Runs an operator: server, caches, election, controllers; then the orderly way back.
 *
 * ```ts
 * import { Operator } from "@tend/operator";
 *
 * export async function runForAMinute(operator: Operator): Promise<void> {
 *   await operator.run({ signal: AbortSignal.timeout(60_000), address: "127.0.0.1:8080" });
 * }
 * ```
 *
 * Order of the stop: readiness fails at once and no further key is started; running reconciles may finish and write for the
 * grace; what then still runs is aborted; the lease is released; the server closes last.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { ChildClaims } from "./_owned_child.ts";
import { Client, type ClientOptions } from "./client.ts";
import type { Controller } from "./controller.ts";
import { aborted, after } from "./delay.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import { LeadershipLostError } from "./errors.ts";
import { EventRecorder } from "./events.ts";
import { type Check, HealthServer, type HealthServerOptions, parseAddress } from "./health.ts";
import type { Informer } from "./informer.ts";
import { Informers } from "./informers.ts";
import { LeaderElector, type LeaderOptions, type Term } from "./leader.ts";
import { SHUTDOWN_GRACE } from "./manifests.ts";
import type { Metrics } from "./metrics.ts";
import type { KubernetesObject } from "./resource.ts";
import { ControllerRunner } from "./runner.ts";

/** How long events that are still to be sent are waited for at the end, in ms. */
const FLUSH_LIMIT = 1000;

/** Options of {@linkcode Operator.leaderElection}. */
export interface ElectionOptions
  extends Pick<LeaderOptions, "identity" | "leaseDuration" | "renewDeadline" | "retryPeriod"> {
  /** Ends {@linkcode Operator.run} with a {@linkcode LeadershipLostError} on loss instead of standing again. @default {false} */
  readonly exitOnLoss?: boolean | undefined;
}

/** Which lease an operator leads under, and how. */
export interface ElectionConfig extends ElectionOptions {
  /** The Lease's namespace. */
  readonly namespace: string;
  /** The Lease's name. */
  readonly name: string;
}

/** What is run. */
export interface OperatorDefinition {
  readonly name: string;
  readonly controllers: readonly Controller<KubernetesObject>[];
  readonly election: ElectionConfig | undefined;
  readonly readiness: Readonly<Record<string, Check>>;
  readonly metrics: Metrics;
  /** Called with the caches, for who looks at them from outside. */
  readonly onCaches?: ((caches: Informers) => void) | undefined;
}

/** Options of {@linkcode Operator.run}. */
export interface RunOptions {
  /** The connection. @default {a new client from `connection`, closed at the end} */
  readonly client?: Client | undefined;
  /** Where to connect to, if no client is given. @default {KUBECONFIG, in-cluster, ~/.kube/config} */
  readonly connection?: ClientOptions | undefined;
  /** Stops the operator when aborted. @default {undefined} */
  readonly signal?: AbortSignal | undefined;
  /** Stops on SIGTERM and SIGINT; a second one ends the process at once with code 1. @default {true} */
  readonly signals?: boolean | undefined;
  /** Address of probes and metrics, such as `:8080`. @default {no server} */
  readonly address?: string | undefined;
  /** Address of the metrics, if they are to have one of their own; `0` turns them off. @default {address} */
  readonly metricsAddress?: string | undefined;
  /** Called with each address that is listened on. @default {undefined} */
  readonly onListen?: ((address: { readonly hostname: string; readonly port: number }) => void) | undefined;
  /** Namespaces for controllers that name none. @default {all} */
  readonly namespaces?: readonly string[] | undefined;
  /** False leads without a lease though one is declared. @default {true} */
  readonly leaderElection?: boolean | undefined;
  /** Identity in the lease. @default {host name and a random part} */
  readonly identity?: string | undefined;
  /** How long running reconciles may take to finish after the stop. @default {30 s} */
  readonly shutdownGrace?: Duration | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
}

/**
 * Runs until stopped.
 *
 * @throws {LeadershipLostError} If the lease is lost and `exitOnLoss` is set
 * @throws {Error} If the credentials cannot be read, or reconciles ignored their abort: they may still be running
 */
export async function runOperator(definition: OperatorDefinition, options: RunOptions = {}): Promise<void> {
  await using run = new Run(definition, options);
  await run.untilStopped();
}

class Run implements AsyncDisposable {
  readonly #definition: OperatorDefinition;
  readonly #options: RunOptions;
  readonly #log = getLogger(["tend", "operator"]);
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #grace: number;
  readonly #client: Client;
  readonly #informers: Informers;
  readonly #runners: readonly ControllerRunner<KubernetesObject>[];
  /** Aborts when no new work may start. */
  readonly #stop = new AbortController();
  /** Aborts when running work must end. */
  readonly #abort = new AbortController();
  /** Aborts when everything is over. */
  readonly #end = new AbortController();
  readonly #cleanups = new AsyncDisposableStack();
  #elector: LeaderElector | undefined;
  #failure: unknown;

  constructor(definition: OperatorDefinition, options: RunOptions) {
    const { now = () => performance.now(), random = Math.random, shutdownGrace = SHUTDOWN_GRACE } = options;
    this.#definition = definition;
    this.#options = options;
    this.#now = now;
    this.#random = random;
    this.#grace = toMilliseconds(shutdownGrace, "shutdownGrace");
    const { name, metrics, controllers } = definition;
    const client = options.client ?? new Client({ now, random, userAgent: name, ...options.connection });
    if (!options.client) this.#cleanups.defer(() => client.close());
    this.#client = client.with({ fieldManager: name, onRequest: (info) => metrics.request(info) });
    this.#informers = new Informers(this.#client, { now, random });
    definition.onCaches?.(this.#informers);
    const environment = {
      operator: name,
      informers: this.#informers,
      claims: new ChildClaims(),
      metrics,
      namespaces: options.namespaces,
      now,
      random,
    };
    this.#runners = controllers.map((controller) => new ControllerRunner(controller, environment));
  }

  async untilStopped(): Promise<void> {
    const { name, controllers, election } = this.#definition;
    // Credentials that cannot be read are a mistake of the set-up: said at once, where a server that is away is waited for.
    await this.#client.server();
    this.#listenForStop();
    this.#serve();
    this.#log.info("Operator {operator} starts with {controllers}", {
      operator: name,
      controllers: controllers.map((controller) => controller.name),
    });
    const caches = this.#informers.run(this.#end.signal).catch((error) => this.#fail(error));
    this.#cleanups.defer(() => caches);
    const unclean = election && this.#options.leaderElection !== false
      ? await this.#lead(election)
      : !await this.#work(false, this.#client, this.#stop.signal, this.#abort.signal);
    if (this.#failure !== undefined) throw this.#failure;
    if (unclean) {
      throw new Error(
        `Cannot stop operator "${name}" cleanly: reconciles ignored their abort after the 'shutdownGrace' of ${this.#grace} ms`,
      );
    }
    this.#log.info("Operator {operator} has stopped", { operator: name });
  }

  /** Leads whenever it holds the lease; true if the last spell of work may not have ended. */
  async #lead({ exitOnLoss = false, ...config }: ElectionConfig): Promise<boolean> {
    const leading = this.#definition.metrics.leader(config.name);
    let unclean = false;
    this.#elector = new LeaderElector(this.#client, {
      ...config,
      identity: this.#options.identity ?? config.identity,
      now: this.#now,
      random: this.#random,
      onChange: (state) => leading.set(state.leading),
    });
    await this.#elector.run(async (term: Term) => {
      // No request of a term outlives it: neither one that is still to be sent, nor one that waits for its answer.
      const client = this.#client.with({ guard: () => term.check(), signal: term.signal });
      const either = (own: AbortSignal): AbortSignal => AbortSignal.any([own, term.signal]);
      const clean = await this.#work(true, client, either(this.#stop.signal), either(this.#abort.signal));
      unclean = !clean;
      if (term.signal.aborted && exitOnLoss && !this.#stop.signal.aborted) {
        this.#fail(new LeadershipLostError(`Cannot go on: the lease "${config.namespace}/${config.name}" was lost`));
      }
      return clean;
    }, this.#stop.signal);
    return unclean;
  }

  /** One spell of work of all controllers; false if some of it may still be running. */
  async #work(elected: boolean, client: Client, stop: AbortSignal, abort: AbortSignal): Promise<boolean> {
    const { name, metrics } = this.#definition;
    const over = new AbortController();
    const recorder = new EventRecorder(client.with({ signal: over.signal }), {
      controller: name,
      now: this.#now,
      random: this.#random,
      onDropped: () => metrics.events.dropped(),
    });
    try {
      const spell = { client, elected, recorder, stop, abort };
      const results = await Promise.all(this.#runners.map((runner) =>
        runner.work(spell).catch((error) => {
          this.#fail(error);
          return false;
        })
      ));
      return results.every((clean) => clean);
    } finally {
      const cancel = after(FLUSH_LIMIT, () => over.abort());
      await recorder[Symbol.asyncDispose]();
      cancel();
    }
  }

  /** Stops everything because of an error, which {@linkcode Run.untilStopped} then throws. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop.abort(error);
  }

  #listenForStop(): void {
    const { signal, signals = true } = this.#options;
    const stop = (reason: unknown): void => {
      if (this.#stop.signal.aborted) return;
      this.#log.info("Operator {operator} stops", { operator: this.#definition.name, grace: this.#grace });
      this.#stop.abort(reason);
    };
    if (signal) {
      const onAbort = (): void => stop(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#cleanups.defer(() => signal.removeEventListener("abort", onAbort));
    }
    if (signals) {
      const onSignal = (): void => {
        if (this.#stop.signal.aborted) Deno.exit(1);
        stop(new DOMException("The process was asked to end.", "AbortError"));
      };
      for (const name of ["SIGTERM", "SIGINT"] as const) {
        Deno.addSignalListener(name, onSignal);
        this.#cleanups.defer(() => Deno.removeSignalListener(name, onSignal));
      }
    }
    let cancel = (): void => {};
    void aborted(this.#stop.signal).then(() => {
      if (this.#end.signal.aborted) return;
      const reason = new DOMException("The operator's 'shutdownGrace' has passed.", "AbortError");
      cancel = after(this.#grace, () => this.#abort.abort(reason));
    });
    this.#cleanups.defer(() => cancel());
  }

  #serve(): void {
    const { address, metricsAddress = address, onListen } = this.#options;
    const { metrics, readiness } = this.#definition;
    const exposition: HealthServerOptions = {
      metrics: async () => ({ body: await metrics.text(), contentType: metrics.contentType }),
    };
    const probes: HealthServerOptions = { readiness: { ...this.#readiness(), ...readiness } };
    const shared = address === metricsAddress;
    this.#listen(address, shared ? { ...probes, ...exposition } : probes, onListen);
    if (!shared) this.#listen(metricsAddress, exposition, onListen);
  }

  #listen(address: string | undefined, options: HealthServerOptions, onListen: RunOptions["onListen"]): void {
    const parsed = address === undefined ? undefined : parseAddress(address);
    if (!parsed) return;
    const server = new HealthServer(options);
    // The first to be cleaned up is the last that was added: a server that is started first closes last.
    this.#cleanups.defer(() => server.close());
    const bound = server.listen(parsed);
    const { hostname, port } = bound;
    const where = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
    this.#log.info("Listening on {where}", { where, hostname, port });
    onListen?.(bound);
  }

  #readiness(): Record<string, Check> {
    const checks: Record<string, Check> = {
      shutdown: () => this.#stop.signal.aborted ? "the operator is stopping" : undefined,
    };
    // A kind may be watched in several ways: each of them counts.
    for (const [id, informers] of Map.groupBy(this.#informers.all(), ({ resource }) => resource.id)) {
      checks[`watch-${id}`] = () => informers.map(watchProblem).find((problem) => problem !== undefined);
    }
    if (this.#definition.election && this.#options.leaderElection !== false) {
      checks["leader-election"] = () => this.#elector?.problem?.message;
    }
    return checks;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#abort.abort();
    this.#end.abort();
    await this.#cleanups.disposeAsync();
  }
}

function watchProblem(informer: Informer<KubernetesObject>): string | undefined {
  return informer.problem?.message ?? (informer.synced ? undefined : "the cache is not synced yet");
}
