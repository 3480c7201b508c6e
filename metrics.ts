/**
 * Counts what an operator does, under controller-runtime's metric names, labels and buckets.
 *
 * ```ts
 * import { Metrics } from "@tend/operator";
 *
 * const metrics = new Metrics();
 * metrics.controller("backup", 16).reconciled("success", 0.25);
 * const restores = metrics.registry.counter({ name: "restores_total", help: "Restores." });
 * restores.inc();
 * const text = await metrics.text();
 * console.assert(text.includes('controller_runtime_reconcile_total{controller="backup",result="success"} 1'));
 * console.assert(text.includes("restores_total 1"));
 * ```
 *
 * Dashboards and alerts that were written for controller-runtime read these metrics as they are. Each has its
 * controllers' series from the start, at 0, and none has labels of single objects, so the number of series does not
 * grow with the cluster. Metrics with such labels can be added to {@linkcode Metrics.registry}; remove an object's
 * series when it is gone. Metrics of another library are included as text: `registry.include(() => other.metrics())`.
 *
 * @module
 */
import { addProcessMetrics } from "./_process_metrics.ts";
import type { QueueMetrics, QueuePriority, QueueState } from "./queue.ts";
import { type Gauge, Registry } from "./registry.ts";

/** How a reconcile ended. */
export type ReconcileResult = "success" | "error" | "requeue" | "requeue_after";

/** What a controller counts. */
export interface ControllerMetrics {
  /**
   * A reconcile ended, after that many seconds.
   *
   * @param options `terminal`: the error will not be retried; it counts as an error too
   */
  reconciled(result: ReconcileResult, seconds: number, options?: { readonly terminal?: boolean | undefined }): void;
  /** That many more workers are busy; negative when they no longer are. */
  active(delta: number): void;
}

/** What a leader election reports. */
export interface LeaderMetrics {
  /** Whether this replica leads. */
  set(leading: boolean): void;
}

/** What an event recorder counts. */
export interface EventMetrics {
  /** An event was given up. */
  dropped(): void;
}

const RESULTS: readonly ReconcileResult[] = ["error", "requeue", "requeue_after", "success"];

/** The numbers that controller-runtime gives to a live change and to an object of the initial list. */
const PRIORITIES: Readonly<Record<QueuePriority, string>> = { live: "0", initial: "-100" };

// deno-fmt-ignore
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** From 10 ns to 1000 s, each ten times the last as floating-point numbers have it: their text is a label. */
// deno-fmt-ignore
const QUEUE_BUCKETS = [
  1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10, 100, 1000,
];

const IDLE: QueueState = { depth: () => 0, running: () => [] };

/** One operator's metrics, in a registry of their own. */
export class Metrics {
  /** The registry; further metrics can be added to it. */
  readonly registry: Registry = new Registry();
  /** What an event recorder counts. */
  readonly events: EventMetrics;

  readonly #controllers = new Map<string, ControllerMetrics>();
  readonly #queues = new Map<string, QueueMetrics>();
  readonly #states = new Map<string, QueueState>();

  /** Labels: controller, result (success, error, requeue, requeue_after). */
  readonly #reconciles = this.registry.counter({
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller",
    labelNames: ["controller", "result"],
  });
  /** Labels: controller. */
  readonly #errors = this.registry.counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of reconciliation errors per controller",
    labelNames: ["controller"],
  });
  /** Labels: controller. */
  readonly #terminalErrors = this.registry.counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Total number of terminal reconciliation errors per controller",
    labelNames: ["controller"],
  });
  /** Labels: controller. */
  readonly #durations = this.registry.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labelNames: ["controller"],
    buckets: RECONCILE_BUCKETS,
  });
  /** Labels: controller. */
  readonly #maxConcurrent = this.registry.gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciles per controller",
    labelNames: ["controller"],
  });
  /** Labels: controller. */
  readonly #activeWorkers = this.registry.gauge({
    name: "controller_runtime_active_workers",
    help: "Number of currently used workers per controller",
    labelNames: ["controller"],
  });

  /** Labels: name, controller (the same). */
  readonly #adds = this.registry.counter({
    name: "workqueue_adds_total",
    help: "Total number of adds handled by workqueue",
    labelNames: ["name", "controller"],
  });
  /** Labels: name, controller (the same). */
  readonly #retries = this.registry.counter({
    name: "workqueue_retries_total",
    help: "Total number of retries handled by workqueue",
    labelNames: ["name", "controller"],
  });
  /** Labels: name, controller (the same). */
  readonly #waits = this.registry.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested",
    labelNames: ["name", "controller"],
    buckets: QUEUE_BUCKETS,
  });
  /** Labels: name, controller (the same). */
  readonly #works = this.registry.histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes.",
    labelNames: ["name", "controller"],
    buckets: QUEUE_BUCKETS,
  });

  /** Labels: code (an HTTP status, or `<error>`), method, host. */
  readonly #requests = this.registry.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labelNames: ["code", "method", "host"],
  });
  /** Labels: name (of the lease). */
  readonly #leading = this.registry.gauge({
    name: "leader_election_master_status",
    help: "Whether this replica holds the lease of that name: 1 if it leads, 0 if it stands by",
    labelNames: ["name"],
  });
  /** No labels. */
  readonly #droppedEvents = this.registry.counter({
    name: "tend_events_dropped_total",
    help: "Total number of Kubernetes Events that were given up",
  });

  /** Makes the metrics; reads nothing and starts nothing. */
  constructor() {
    this.events = { dropped: () => this.#droppedEvents.inc() };
    // Labels: name, controller (the same), priority (0 for live, -100 for the initial list and resyncs).
    this.registry.gauge({
      name: "workqueue_depth",
      help: "Current depth of workqueue by workqueue and priority",
      labelNames: ["name", "controller", "priority"],
      collect: (gauge) => this.#readDepths(gauge),
    });
    // Labels: name, controller (the same).
    this.registry.gauge({
      name: "workqueue_unfinished_work_seconds",
      help: "Seconds of work in progress that work_duration has not observed yet, summed over all workers",
      labelNames: ["name", "controller"],
      collect: (gauge) => this.#readRunning(gauge, (seconds) => seconds.reduce((sum, each) => sum + each, 0)),
    });
    // Labels: name, controller (the same).
    this.registry.gauge({
      name: "workqueue_longest_running_processor_seconds",
      help: "Seconds that the longest running worker of the workqueue has been at it",
      labelNames: ["name", "controller"],
      collect: (gauge) => this.#readRunning(gauge, (seconds) => Math.max(0, ...seconds)),
    });
    addProcessMetrics(this.registry);
  }

  /** The content type of {@linkcode Metrics.text}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Answers with all metrics in Prometheus' text format; never rejected. */
  text(): Promise<string> {
    return this.registry.text();
  }

  /** Answers with what a controller counts, its series made at 0. The same name again goes on counting. */
  controller(name: string, maxConcurrent: number): ControllerMetrics {
    const labels = Object.freeze({ controller: name });
    this.#maxConcurrent.set(labels, maxConcurrent);
    const known = this.#controllers.get(name);
    if (known) return known;
    const results = new Map(RESULTS.map((result) => [result, Object.freeze({ ...labels, result })]));
    for (const result of results.values()) this.#reconciles.inc(result, 0);
    for (const counter of [this.#errors, this.#terminalErrors]) counter.inc(labels, 0);
    this.#durations.zero(labels);
    this.#activeWorkers.set(labels, 0);
    const metrics: ControllerMetrics = {
      reconciled: (result, seconds, options = {}) => {
        this.#reconciles.inc(results.get(result)!);
        this.#durations.observe(labels, seconds);
        if (result === "error") this.#errors.inc(labels);
        if (options.terminal) this.#terminalErrors.inc(labels);
      },
      active: (delta) => this.#activeWorkers.inc(labels, delta),
    };
    this.#controllers.set(name, metrics);
    return metrics;
  }

  /** Answers with what a work queue counts, its series made at 0. The same name again goes on counting. */
  queue(name: string): QueueMetrics {
    const known = this.#queues.get(name);
    if (known) return known;
    const labels = Object.freeze({ name, controller: name });
    for (const counter of [this.#adds, this.#retries]) counter.inc(labels, 0);
    for (const histogram of [this.#waits, this.#works]) histogram.zero(labels);
    this.#states.set(name, IDLE);
    const metrics: QueueMetrics = {
      observe: (state) => {
        this.#states.set(name, state);
        return {
          [Symbol.dispose]: () => {
            // A later queue of the same name stays.
            if (this.#states.get(name) === state) this.#states.set(name, IDLE);
          },
        };
      },
      added: () => this.#adds.inc(labels),
      retried: () => this.#retries.inc(labels),
      taken: (seconds) => this.#waits.observe(labels, seconds),
      ended: (seconds) => this.#works.observe(labels, seconds),
    };
    this.#queues.set(name, metrics);
    return metrics;
  }

  /** Counts a request to the API server; fits the client's `onRequest`. */
  request(info: { readonly method: string; readonly host: string; readonly code: number | string }): void {
    const { method, host, code } = info;
    this.#requests.inc({ code: String(code), method, host });
  }

  /** Answers with what an election reports, at 0 until it is set. */
  leader(name: string): LeaderMetrics {
    this.#leading.set({ name }, 0);
    return { set: (leading) => this.#leading.set({ name }, leading ? 1 : 0) };
  }

  #readDepths(gauge: Gauge<"name" | "controller" | "priority">): void {
    for (const [name, state] of this.#states) {
      for (const priority of ["live", "initial"] as const) {
        gauge.set({ name, controller: name, priority: PRIORITIES[priority] }, state.depth(priority));
      }
    }
  }

  #readRunning(gauge: Gauge<"name" | "controller">, combine: (seconds: readonly number[]) => number): void {
    for (const [name, state] of this.#states) gauge.set({ name, controller: name }, combine([...state.running()]));
  }
}
