/**
 * Decides which key runs next: the work queue's rules with no clock, timer or promise of their own.
 *
 * ```ts
 * import { Schedule } from "./_schedule.ts";
 *
 * const schedule = new Schedule();
 * schedule.add("shop/web", 0, { delay: 500 });
 * console.assert(schedule.take(499) === undefined);
 * schedule.promote(500);
 * console.assert(schedule.take(500)?.key === "shop/web");
 * ```
 *
 * Every key that is known has one {@linkcode Entry}; an entry that is neither wanted, delayed, running nor failing is
 * dropped. Ready keys wait in one linked list per priority (so that leaving from the middle is cheap), delayed ones in
 * a binary heap that each entry knows its place in.
 *
 * @module
 */

/** How soon a key gets its turn: a live change goes before the initial list and resyncs. */
export type QueuePriority = "live" | "initial";

/** Live keys taken in a row while initial ones wait; after that one of those has its turn. */
export const LIVE_STREAK = 9;

/** A key that was taken. */
export interface Taken {
  /** The key, now running. */
  readonly key: string;
  /** Ms since it was wanted. */
  readonly waited: number;
}

class Entry {
  readonly key: string;
  priority: QueuePriority = "initial";
  /** Wants a run: in a list or, while it runs, at the end of that run. */
  wanted = false;
  /** When it began to want it. */
  since = 0;
  running = false;
  started = 0;
  /** Removed during its run: how that ends counts for nothing. */
  stale = false;
  failures = 0;
  due = 0;
  /** Sets apart entries that are due at the same time. */
  order = 0;
  /** Place in the heap; -1 when not delayed. */
  at = -1;
  before: Entry | undefined;
  after: Entry | undefined;

  constructor(key: string) {
    this.key = key;
  }
}

class List {
  #first: Entry | undefined;
  #last: Entry | undefined;

  get first(): Entry | undefined {
    return this.#first;
  }

  append(entry: Entry): void {
    entry.before = this.#last;
    if (this.#last) this.#last.after = entry;
    else this.#first = entry;
    this.#last = entry;
  }

  unlink(entry: Entry): void {
    if (entry.before) entry.before.after = entry.after;
    else this.#first = entry.after;
    if (entry.after) entry.after.before = entry.before;
    else this.#last = entry.before;
    entry.before = entry.after = undefined;
  }
}

class Heap {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  /** Puts the entry in its place, whether it is new or became due earlier. */
  raise(entry: Entry): void {
    this.#up(entry, entry.at < 0 ? this.#entries.length : entry.at);
  }

  remove(entry: Entry): void {
    const hole = entry.at;
    entry.at = -1;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    this.#down(last, hole);
    this.#up(last, last.at);
  }

  #up(entry: Entry, at: number): void {
    while (at > 0) {
      const parent = this.#entries[(at - 1) >> 1]!;
      if (!earlier(entry, parent)) break;
      this.#put(parent, at);
      at = (at - 1) >> 1;
    }
    this.#put(entry, at);
  }

  #down(entry: Entry, at: number): void {
    while (true) {
      const left = this.#entries[2 * at + 1];
      const right = this.#entries[2 * at + 2];
      const child = left && right && earlier(right, left) ? right : left;
      if (!child || !earlier(child, entry)) break;
      const next = child === right ? 2 * at + 2 : 2 * at + 1;
      this.#put(child, at);
      at = next;
    }
    this.#put(entry, at);
  }

  #put(entry: Entry, at: number): void {
    this.#entries[at] = entry;
    entry.at = at;
  }
}

function earlier(one: Entry, other: Entry): boolean {
  return one.due < other.due || (one.due === other.due && one.order < other.order);
}

/** The rules of the work queue over keys and given instants, in ms of any monotonic clock. */
export class Schedule {
  readonly #entries = new Map<string, Entry>();
  readonly #ready: Record<QueuePriority, List> = { live: new List(), initial: new List() };
  readonly #wanted: Record<QueuePriority, number> = { live: 0, initial: 0 };
  readonly #delayed = new Heap();
  readonly #running = new Set<Entry>();
  #streak = 0;
  #order = 0;

  /** Keys of that priority that want a run now, those included whose run is still going on. */
  depth(priority: QueuePriority): number {
    return this.#wanted[priority];
  }

  /** Keys being worked on. */
  get running(): number {
    return this.#running.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys of which anything is remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** When the next delayed key falls due. */
  get nextDue(): number | undefined {
    return this.#delayed.first?.due;
  }

  /** When each run that is going on began. */
  *startTimes(): Generator<number> {
    for (const entry of this.#running) yield entry.started;
  }

  /** Notes that the key wants a run, now or after a delay; true if it did not want one at once before. */
  add(
    key: string,
    now: number,
    options: { delay?: number | undefined; priority?: QueuePriority | undefined } = {},
  ): boolean {
    const { delay, priority = "live" } = options;
    const entry = this.#entries.get(key) ?? this.#create(key);
    if (delay === undefined) {
      this.#prioritise(entry, priority);
      return this.#want(entry, now);
    }
    if (entry.stale) return false;
    this.#prioritise(entry, priority);
    if (entry.wanted) return false;
    const due = now + delay;
    if (entry.at >= 0 && entry.due <= due) return false;
    entry.due = due;
    entry.order = this.#order++;
    this.#delayed.raise(entry);
    return false;
  }

  /** Makes those keys ready that are due by now; answers with how many. */
  promote(now: number): number {
    let count = 0;
    for (let first = this.#delayed.first; first && first.due <= now; first = this.#delayed.first) {
      this.#want(first, first.due);
      count++;
    }
    return count;
  }

  /** Starts the run of the key whose turn it is. */
  take(now: number): Taken | undefined {
    const entry = this.#nextInTurn();
    if (!entry) return undefined;
    this.#unwant(entry);
    entry.running = true;
    entry.started = now;
    this.#running.add(entry);
    return { key: entry.key, waited: now - entry.since };
  }

  /** Ends the run of a key; answers with how long it took, or undefined if it was not running. */
  done(key: string, now: number): number | undefined {
    const entry = this.#entries.get(key);
    if (!entry?.running) return undefined;
    this.#running.delete(entry);
    entry.running = entry.stale = false;
    if (entry.wanted) this.#ready[entry.priority].append(entry);
    this.#dropIdle(entry);
    return now - entry.started;
  }

  /** Counts a failure; answers with those in a row. */
  fail(key: string): number {
    const entry = this.#entries.get(key) ?? this.#create(key);
    return entry.stale ? 1 : ++entry.failures;
  }

  /** Forgets the failures. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.failures = 0;
    this.#dropIdle(entry);
  }

  /** Failures in a row. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  /** Forgets all about the key but that it is running. */
  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) this.#remove(entry);
  }

  /** Forgets all keys but that some are running. */
  clear(): void {
    for (const entry of this.#entries.values()) this.#remove(entry);
  }

  #create(key: string): Entry {
    const entry = new Entry(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #remove(entry: Entry): void {
    if (entry.at >= 0) this.#delayed.remove(entry);
    if (entry.wanted) this.#unwant(entry);
    entry.priority = "initial";
    entry.failures = 0;
    entry.stale = entry.running;
    this.#dropIdle(entry);
  }

  #dropIdle(entry: Entry): void {
    if (!entry.wanted && !entry.running && entry.at < 0 && entry.failures === 0) this.#entries.delete(entry.key);
  }

  /** Of two priorities the higher one stands. */
  #prioritise(entry: Entry, priority: QueuePriority): void {
    if (priority !== "live" || entry.priority === "live") return;
    if (entry.wanted) {
      this.#wanted.initial--;
      this.#wanted.live++;
      if (!entry.running) {
        this.#ready.initial.unlink(entry);
        this.#ready.live.append(entry);
      }
    }
    entry.priority = "live";
  }

  #want(entry: Entry, since: number): boolean {
    if (entry.at >= 0) this.#delayed.remove(entry);
    if (entry.wanted) return false;
    entry.wanted = true;
    entry.since = since;
    this.#wanted[entry.priority]++;
    if (!entry.running) this.#ready[entry.priority].append(entry);
    return true;
  }

  #unwant(entry: Entry): void {
    if (!entry.running) this.#ready[entry.priority].unlink(entry);
    this.#wanted[entry.priority]--;
    entry.wanted = false;
    entry.priority = "initial";
  }

  #nextInTurn(): Entry | undefined {
    const live = this.#ready.live.first;
    const initial = this.#ready.initial.first;
    if (live && initial && this.#streak < LIVE_STREAK) {
      this.#streak++;
      return live;
    }
    this.#streak = 0;
    return initial ?? live;
  }
}
