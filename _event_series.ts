/**
 * Remembers which events were seen lately, within bounds, so that the same one again becomes a series.
 *
 * ```ts
 * import { SeriesBook } from "./_event_series.ts";
 *
 * const book = new SeriesBook({ window: 360_000, onForgotten: () => {} });
 * console.assert(book.find("a", "x", 0) === undefined);
 * ```
 *
 * @module
 */
import type { Event } from "./kinds.ts";
import type { Draft } from "./resource.ts";

/** How many series are remembered. */
export const MAX_SERIES = 4096;
/** How many events may differ only in their notes before further ones are combined, as in client-go's aggregator. */
const MAX_VARIANTS = 10;

/** One event and how often it was seen. */
export interface Series {
  /** What all events of the series have in common, and their note. */
  readonly key: string;
  /** What they have in common without the note. */
  readonly group: string;
  /** The event as it was first seen. */
  readonly event: Draft<Event>;
  /** How often it was seen. */
  count: number;
  /** How often it had been seen when it was last sent, or given up. */
  told: number;
  /** True if the server has the event. */
  exists: boolean;
  /** When it was last seen, by the wall clock. */
  lastTime: string;
  /** When it was last seen, by the monotonic clock. */
  last: number;
  /** How many times it was sent, successfully or not. */
  sends: number;
  /** When it may be sent next, by the monotonic clock. */
  due: number;
}

/** Options of {@linkcode SeriesBook}. */
export interface SeriesBookOptions {
  /** How long after it was last seen a series ends, in ms. */
  window: number;
  /** Called with a series that has ended, or had to make room. */
  onForgotten: (series: Series) => void;
}

/** The series seen lately, the longest unseen first. */
export class SeriesBook {
  readonly #options: SeriesBookOptions;
  readonly #known = new Map<string, Series>();
  readonly #variants = new Map<string, number>();

  /** Starts empty. */
  constructor(options: SeriesBookOptions) {
    this.#options = options;
  }

  /** How many series are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** Answers with the series of that key, or the one that the group's further variants are combined in; forgets old ones. */
  find(group: string, key: string, now: number): Series | undefined {
    for (const series of this.#known.values()) {
      if (now - series.last <= this.#options.window) break;
      this.forget(series);
    }
    return this.#known.get(key) ?? this.#known.get(this.combinedKey(group) ?? key);
  }

  /** The key under which further events of the group are combined; `undefined` while they need not be. */
  combinedKey(group: string): string | undefined {
    return (this.#variants.get(group) ?? 0) >= MAX_VARIANTS ? `combined ${group}` : undefined;
  }

  /** Takes note of a series: a new one, or one that was seen again. */
  touch(series: Series): void {
    if (!this.#known.delete(series.key)) {
      this.#variants.set(series.group, (this.#variants.get(series.group) ?? 0) + 1);
    }
    this.#known.set(series.key, series);
    if (this.#known.size > MAX_SERIES) this.forget(this.#known.values().next().value!);
  }

  /** Drops a series: the same event again begins another. */
  forget(series: Series): void {
    if (this.#known.get(series.key) !== series) return;
    this.#known.delete(series.key);
    const variants = this.#variants.get(series.group)! - 1;
    if (variants > 0) this.#variants.set(series.group, variants);
    else this.#variants.delete(series.group);
    this.#options.onForgotten(series);
  }
}
