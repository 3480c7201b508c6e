/**
 * Makes counters, gauges and histograms out of series.
 *
 * ```ts
 * import { gaugeKind } from "./_metric_kinds.ts";
 * import { SeriesMap } from "./_series.ts";
 *
 * const { start, make } = gaugeKind<"name">("backup_bytes");
 * const series = new SeriesMap("backup_bytes", ["name"], start);
 * make(series).set({ name: "nightly" }, 512);
 * console.assert(series.at({ name: "nightly" }).value === 512);
 * ```
 *
 * @module
 */
import { formatNumber, formatSample } from "./_exposition.ts";
import type { SeriesMap } from "./_series.ts";

/** A value for each label of a metric. */
export type MetricLabels<L extends string> = Readonly<Record<L, string>>;

/** The arguments that record a value: `labels, value`, or `value` alone if the metric has no labels. */
export type MetricSample<L extends string> = [L] extends [never] ? [value: number]
  : [labels: MetricLabels<L>, value: number];

/** The arguments that add to a value, 1 unless given: `labels, value`, or `value` alone if the metric has no labels. */
export type MetricStep<L extends string> = [L] extends [never] ? [value?: number]
  : [labels: MetricLabels<L>, value?: number];

/** What all metrics have. */
export interface Metric<L extends string> {
  /** Drops the series with these labels, whatever their others: without any, all series. */
  remove(labels?: Partial<MetricLabels<L>>): void;
  /** Drops all series; that of a metric without labels starts anew. */
  reset(): void;
}

/** A number that only grows. Without labels it is 0 from the start. */
export interface Counter<L extends string = never> extends Metric<L> {
  /**
   * Adds to a series, which is made if it is not there: `inc(labels, 0)` does just that.
   *
   * @throws {TypeError} If the labels are not those of the metric
   * @throws {RangeError} If the value is negative or not a number
   */
  inc(...step: MetricStep<L>): void;
}

/** A number that goes up and down. Without labels it is 0 from the start. */
export interface Gauge<L extends string = never> extends Metric<L> {
  /** Sets a series to a value; infinities and NaN are values too. @throws {TypeError} If the labels are not its own */
  set(...sample: MetricSample<L>): void;
  /** Adds to a series. @throws {TypeError} If the labels are not those of the metric */
  inc(...step: MetricStep<L>): void;
  /** Takes from a series. @throws {TypeError} If the labels are not those of the metric */
  dec(...step: MetricStep<L>): void;
}

/** How many values fell under which bounds. Without labels it is there, empty, from the start. */
export interface Histogram<L extends string = never> extends Metric<L> {
  /** Counts a value; NaN only where there is no bound. @throws {TypeError} If the labels are not those of the metric */
  observe(...sample: MetricSample<L>): void;
  /** Makes a series without values, if it is not there. @throws {TypeError} If the labels are not those of the metric */
  zero(labels: MetricLabels<L>): void;
}

/** What makes a metric `M` of series with a state `S`. */
export interface MetricKind<M, S> {
  /** As it is written. */
  readonly type: "counter" | "gauge" | "histogram";
  /** What the names of its lines have after its own. */
  readonly suffixes: readonly string[];
  /** The state of a new series. */
  readonly start: () => S;
  /** The metric, which records in those series. */
  readonly make: (series: SeriesMap<S>) => M;
  /** The lines of a series. */
  readonly lines: (labels: string, state: S) => readonly string[];
}

/** The state of a series of one number. */
export interface NumberState {
  value: number;
}

/** The state of a series of a histogram: how many values fell into each bucket alone, and their sum. */
export interface HistogramState {
  readonly counts: number[];
  sum: number;
}

/** Counters of that name. */
export function counterKind<L extends string>(name: string): MetricKind<Counter<L>, NumberState> {
  return {
    ...numberKind("counter", name),
    make: (series) => ({
      inc: (...step) => {
        const [labels, value] = split(name, step, 1);
        if (!(value >= 0)) {
          throw new RangeError(`Cannot record "${name}": a counter must grow by at least 0: current value is ${value}`);
        }
        series.at(labels).value += value;
      },
      ...drops(series),
    }),
  };
}

/** Gauges of that name. */
export function gaugeKind<L extends string>(name: string): MetricKind<Gauge<L>, NumberState> {
  return {
    ...numberKind("gauge", name),
    make: (series) => {
      const add = (sign: 1 | -1, step: readonly unknown[]): void => {
        const [labels, value] = split(name, step, 1);
        series.at(labels).value += sign * value;
      };
      return {
        set: (...sample) => {
          const [labels, value] = split(name, sample);
          series.at(labels).value = value;
        },
        inc: (...step) => add(1, step),
        dec: (...step) => add(-1, step),
        ...drops(series),
      };
    },
  };
}

/** Histograms of that name; the bounds ascend to infinity. */
export function histogramKind<L extends string>(
  name: string,
  bounds: readonly number[],
): MetricKind<Histogram<L>, HistogramState> {
  const texts = bounds.map((bound) => `le="${formatNumber(bound)}"`);
  return {
    type: "histogram",
    suffixes: ["", "_bucket", "_sum", "_count"],
    start: () => ({ counts: bounds.map(() => 0), sum: 0 }),
    make: (series) => ({
      observe: (...sample) => {
        const [labels, value] = split(name, sample);
        const state = series.at(labels);
        const index = bounds.findIndex((bound) => value <= bound);
        state.counts[index < 0 ? bounds.length - 1 : index]! += 1;
        state.sum += value;
      },
      zero: (labels) => void series.at(labels),
      ...drops(series),
    }),
    lines: (labels, { counts, sum }) => {
      const prefix = labels === "" ? "" : `${labels},`;
      let count = 0;
      return [
        ...texts.map((le, index) => formatSample(`${name}_bucket`, prefix + le, count += counts[index]!)),
        formatSample(`${name}_sum`, labels, sum),
        formatSample(`${name}_count`, labels, count),
      ];
    },
  };
}

function numberKind(type: "counter" | "gauge", name: string): Omit<MetricKind<never, NumberState>, "make"> {
  return {
    type,
    suffixes: [""],
    start: () => ({ value: 0 }),
    lines: (labels, { value }) => [formatSample(name, labels, value)],
  };
}

function drops(series: SeriesMap<unknown>): Metric<string> {
  return { remove: (labels = {}) => series.remove(labels), reset: () => series.reset() };
}

/** The labels and the value among the arguments of a call. */
function split(name: string, [first, second]: readonly unknown[], fallback?: number): [MetricLabels<string>, number] {
  const value = typeof first === "number" ? first : second ?? fallback;
  if (typeof value !== "number") {
    throw new TypeError(`Cannot record "${name}": the value must be a number: current value is ${Deno.inspect(value)}`);
  }
  return [typeof first === "number" ? {} : (first ?? {}) as MetricLabels<string>, value];
}
