/**
 * Keeps metrics and writes them in Prometheus' text format.
 *
 * ```ts
 * import { Registry } from "@tend/operator";
 *
 * const registry = new Registry();
 * const restores = registry.counter({ name: "restores_total", help: "Restores.", labelNames: ["result"] });
 * restores.inc({ result: "error" }, 0); // there from the start, for alerts on its rate
 * restores.inc({ result: "success" });
 * const text = await registry.text();
 * console.assert(text.includes('restores_total{result="success"} 1\n'));
 * ```
 *
 * A series stays until it is removed. When a metric has labels of single objects, remove an object's series when it is
 * gone, such as in its finalizer: `sizes.remove({ namespace, name })`.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { formatHelp, isLabelName, isMetricName, takeLines } from "./_exposition.ts";
import {
  type Counter,
  counterKind,
  type Gauge,
  gaugeKind,
  type Histogram,
  histogramKind,
  type MetricKind,
} from "./_metric_kinds.ts";
import { SeriesMap } from "./_series.ts";
import type { Logger } from "./logger.ts";

export type { Counter, Gauge, Histogram, Metric, MetricLabels, MetricSample, MetricStep } from "./_metric_kinds.ts";

/** What describes a metric `M`. */
export interface MetricOptions<L extends string, M> {
  /** Its name: letters, digits, `_` and `:`, no digit first; unique in the registry. */
  readonly name: string;
  /** What it says. */
  readonly help: string;
  /** The names of its labels: letters, digits and `_`, no digit first, nor two underscores. @default {[]} */
  readonly labelNames?: readonly L[] | undefined;
  /**
   * Called at each scrape, to set what is only known then. If it fails, the metric is written as it is, and the log says
   * so once. Set values after the last `await`: scrapes may overlap. @default {none}
   */
  readonly collect?: ((metric: M) => void | Promise<void>) | undefined;
}

/** What describes a histogram. */
export interface HistogramOptions<L extends string> extends MetricOptions<L, Histogram<L>> {
  /** The upper bounds, ascending; there is one more without bound. @default {those of Prometheus, 0.005 to 10} */
  readonly buckets?: readonly number[] | undefined;
}

/** How a registry works. */
export interface RegistryOptions {
  /** Where it says what could not be collected. @default {the logger `tend`, `metrics`} */
  readonly log?: Logger | undefined;
}

interface Family {
  readonly header: readonly string[];
  readonly collect: () => void | Promise<void>;
  readonly lines: () => readonly string[];
}

const BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics that are scraped together. It shares nothing with another registry. */
export class Registry {
  /** The content type of {@linkcode Registry.text}. */
  readonly contentType: string = "text/plain; version=0.0.4; charset=utf-8";

  readonly #log: Logger;
  readonly #families = new Map<string, Family>();
  /** The names of all lines: a histogram has several. */
  readonly #taken = new Set<string>();
  readonly #sources: (() => string | Promise<string>)[] = [];
  readonly #failing = new Set<string>();

  /** Makes an empty registry; starts nothing. */
  constructor(options: RegistryOptions = {}) {
    const { log = getLogger(["tend", "metrics"]) } = options;
    this.#log = log;
  }

  /**
   * Adds a counter; by custom its name ends in `_total`.
   *
   * @throws {TypeError} If an option is malformed, or the name taken
   */
  counter<L extends string = never>(options: MetricOptions<L, Counter<L>>): Counter<L> {
    return this.#add(options, counterKind<L>(options.name));
  }

  /**
   * Adds a gauge.
   *
   * @throws {TypeError} If an option is malformed, or the name taken
   */
  gauge<L extends string = never>(options: MetricOptions<L, Gauge<L>>): Gauge<L> {
    return this.#add(options, gaugeKind<L>(options.name));
  }

  /**
   * Adds a histogram.
   *
   * @throws {TypeError} If an option is malformed, or the name taken
   * @throws {RangeError} If the buckets do not ascend
   */
  histogram<L extends string = never>(options: HistogramOptions<L>): Histogram<L> {
    const { name, buckets = BUCKETS } = options;
    return this.#add(options, histogramKind<L>(name, checkBuckets(name, buckets)));
  }

  /**
   * Appends what another registry writes at each scrape, such as one of `prom-client`: text in the same format. Metrics
   * that are here already are left out of it. If it fails, all of it is left out, and the log says so once.
   */
  include(source: () => string | Promise<string>): void {
    this.#sources.push(source);
  }

  /** Answers with all metrics, sorted; what is collected at the scrape is collected at once. It is never rejected. */
  async text(): Promise<string> {
    const collected = [...this.#families].map(([name, { collect }]) => this.#attempt(name, collect));
    const included = this.#sources.map((source, index) =>
      this.#attempt(`source ${index + 1}`, async () => {
        const text = await source();
        if (typeof text !== "string") refuse(TypeError, "include metrics", "a source must answer with text", text);
        return text;
      })
    );
    await Promise.all(collected);
    const lines = [...this.#families].sort(([a], [b]) => a < b ? -1 : 1)
      .flatMap(([, family]) => [...family.header, ...family.lines()]);
    const taken = new Set(this.#taken);
    for (const text of await Promise.all(included)) lines.push(...takeLines(text ?? "", taken));
    return lines.map((line) => `${line}\n`).join("");
  }

  async #attempt<T>(what: string, read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      const value = await read();
      this.#failing.delete(what);
      return value;
    } catch (error) {
      // Said once, not at each scrape.
      if (!this.#failing.has(what)) this.#log.error("Cannot collect metrics of {what}", { what, error });
      this.#failing.add(what);
      return undefined;
    }
  }

  #add<L extends string, M, S>(options: MetricOptions<L, M>, kind: MetricKind<M, S>): M {
    const { name, help, labelNames = [], collect } = options;
    const { type, suffixes, start, make, lines } = kind;
    checkOptions(options, type === "histogram" ? ["le"] : []);
    const lineNames = suffixes.map((suffix) => name + suffix);
    const taken = lineNames.find((each) => this.#taken.has(each));
    if (taken !== undefined) refuse(TypeError, `add metric "${name}"`, "its names must be free in the registry", taken);
    const series = new SeriesMap(name, [...labelNames], start);
    const metric = make(series);
    for (const each of lineNames) this.#taken.add(each);
    this.#families.set(name, {
      header: [`# HELP ${name} ${formatHelp(help)}`, `# TYPE ${name} ${type}`],
      collect: () => collect?.(metric),
      lines: () => series.sorted().flatMap(([labels, state]) => lines(labels, state)),
    });
    return metric;
  }
}

function refuse(Kind: typeof TypeError | typeof RangeError, action: string, rule: string, value: unknown): never {
  throw new Kind(`Cannot ${action}: ${rule}: current value is ${Deno.inspect(value)}`);
}

function checkOptions(options: MetricOptions<string, never>, reserved: readonly string[]): void {
  const { name, help, labelNames = [] } = options;
  const action = `add metric "${name}"`;
  if (!isMetricName(name)) refuse(TypeError, action, "'name' must be letters, digits, _ and :, no digit first", name);
  if (typeof help !== "string") refuse(TypeError, action, "'help' must be a string", help);
  const fit = labelNames.every((label) => isLabelName(label) && !reserved.includes(label));
  if (!fit || new Set(labelNames).size < labelNames.length) {
    const rule = "letters, digits and _, no digit and no __ first, not le in a histogram, and each there once";
    refuse(TypeError, action, `'labelNames' must be ${rule}`, labelNames);
  }
}

/** The bounds of a histogram's buckets, that without bound included. */
function checkBuckets(name: string, buckets: readonly number[]): readonly number[] {
  const bounds = buckets.at(-1) === Infinity ? [...buckets] : [...buckets, Infinity];
  const ascend = bounds.every((bound, index) => index === 0 ? bound > -Infinity : bound > bounds[index - 1]!);
  if (!ascend || bounds.some((bound) => typeof bound !== "number")) {
    refuse(RangeError, `add metric "${name}"`, "'buckets' must be finite numbers that ascend", buckets);
  }
  return bounds;
}
