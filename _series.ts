/**
 * Keeps the series of one metric by their labels.
 *
 * ```ts
 * import { SeriesMap } from "./_series.ts";
 *
 * const series = new SeriesMap("restores_total", ["result"], () => ({ value: 0 }));
 * series.at({ result: "success" }).value++;
 * series.remove({ result: "success" });
 * console.assert(series.sorted().length === 0);
 * ```
 *
 * @module
 */
import { formatLabels } from "./_exposition.ts";

/** Joins values to a key. Half a surrogate pair is in no value, so two label sets never have the same key. */
const SEPARATOR = "\uD800";

interface Series<S> {
  readonly values: readonly string[];
  readonly labels: string;
  readonly state: S;
}

/** The series of a metric; a metric without labels has its only one from the start. */
export class SeriesMap<S> {
  readonly #metric: string;
  readonly #names: readonly string[];
  readonly #start: () => S;
  readonly #series = new Map<string, Series<S>>();
  /** The states of labels that cannot change, by their identity: nearly all are recorded again and again. */
  #known = new WeakMap<object, S>();

  /** `start` makes the state of a new series. */
  constructor(metric: string, names: readonly string[], start: () => S) {
    this.#metric = metric;
    this.#names = names;
    this.#start = start;
    this.reset();
  }

  /**
   * Answers with the state of a series, made if it is not there.
   *
   * @throws {TypeError} If the labels are not those of the metric
   */
  at(labels: Readonly<Record<string, unknown>>): S {
    const known = this.#known.get(labels);
    if (known !== undefined) return known;
    const state = this.#find(labels);
    if (Object.isFrozen(labels)) this.#known.set(labels, state);
    return state;
  }

  #find(labels: Readonly<Record<string, unknown>>): S {
    const values = this.#names.map((name) => this.#value(name, labels[name]));
    // All of the metric's are there; if there are more, some are not its own.
    if (Object.keys(labels).length > values.length) this.#refuseUnknown(labels);
    const key = values.join(SEPARATOR);
    let series = this.#series.get(key);
    if (!series) {
      series = { values, labels: formatLabels(this.#names, values), state: this.#start() };
      this.#series.set(key, series);
    }
    return series.state;
  }

  /**
   * Drops the series that have these labels, whatever their others.
   *
   * @throws {TypeError} If a label is none of the metric's
   */
  remove(labels: Readonly<Record<string, unknown>>): void {
    this.#refuseUnknown(labels);
    this.#known = new WeakMap();
    const wanted = Object.keys(labels).map((name): [number, string] => [
      this.#names.indexOf(name),
      this.#value(name, labels[name]),
    ]);
    if (wanted.length === this.#names.length) {
      const values = this.#names.map((name) => this.#value(name, labels[name]));
      this.#series.delete(values.join(SEPARATOR));
      return;
    }
    for (const [key, { values }] of this.#series) {
      if (wanted.every(([index, value]) => values[index] === value)) this.#series.delete(key);
    }
  }

  /** Drops all series; that of a metric without labels starts anew. */
  reset(): void {
    this.#series.clear();
    this.#known = new WeakMap();
    if (this.#names.length === 0) this.at({});
  }

  /** The labels, as they are written, and states of all series, in an order that does not depend on their history. */
  sorted(): readonly (readonly [labels: string, state: S])[] {
    return [...this.#series.keys()].sort().map((key) => {
      const { labels, state } = this.#series.get(key)!;
      return [labels, state] as const;
    });
  }

  #value(name: string, value: unknown): string {
    if (typeof value === "string") return value.toWellFormed();
    throw new TypeError(
      `Cannot record "${this.#metric}": label '${name}' must be a string: current value is ${Deno.inspect(value)}`,
    );
  }

  #refuseUnknown(labels: Readonly<Record<string, unknown>>): void {
    const unknown = Object.keys(labels).find((name) => !this.#names.includes(name));
    if (unknown === undefined) return;
    const known = this.#names.length === 0 ? "there must be no labels" : `labels must be ${this.#names.join(", ")}`;
    throw new TypeError(`Cannot record "${this.#metric}": ${known}: current value is '${unknown}'`);
  }
}
