/**
 * Records Kubernetes Events: what an operator has to say of an object, for `kubectl describe`.
 *
 * ```ts
 * import { Client, EventRecorder, type KubernetesObject } from "@tend/operator";
 *
 * await using client = new Client({ fetch: () => Promise.resolve(Response.json({})) });
 * await using recorder = new EventRecorder(client, { controller: "backup-operator" });
 *
 * function started(backup: KubernetesObject): void {
 *   recorder.record(backup, { type: "Normal", reason: "BackupStarted", note: "Copying 12 volumes" });
 * }
 * console.assert(typeof started === "function");
 * ```
 *
 * ## Guarantees
 *
 * - {@linkcode EventRecorder.record} returns at once and never throws: an event that can't be recorded is dropped,
 *   counted, and logged at debug level. What waits is bounded, and so is what is remembered.
 * - The server's rules are met: notes of at most 1024 bytes, reasons, actions and instances of at most 128, none of them
 *   empty; names that are valid for any object's name; the namespace `default` for cluster-scoped objects.
 * - The same event within 6 minutes becomes a series: created once, its count patched from then on; the first repetition
 *   at once, later ones together, 10 s after the last patch and ever more up to 160 s. The count is always the whole one.
 *
 * ## Caveats
 *
 * - Events that differ only in their notes are kept apart up to 10; further ones are combined in one.
 * - Events are for people: the server drops them after an hour. What a program must know belongs in the status.
 *
 * ## RBAC
 *
 * `create` and `patch` on `events` of `events.k8s.io`, in the namespaces of the objects, and in `default` for
 * cluster-scoped ones.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { buildEvent, cutText, type EventDescription, MAX_WORD } from "./_event_draft.ts";
import { type Series, SeriesBook } from "./_event_series.ts";
import { formatMicroTime } from "./_micro_time.ts";
import { backoff } from "./backoff.ts";
import type { Api, Client } from "./client.ts";
import { after, delay, race } from "./delay.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import { ApiError, isAlreadyExists, isNamespaceTerminating, isNotFound, TransportError } from "./errors.ts";
import { Event } from "./kinds.ts";
import type { Logger } from "./logger.ts";
import { isQualifiedName } from "./names.ts";
import type { KubernetesObject } from "./resource.ts";

export { cutText, type EventDescription } from "./_event_draft.ts";

/** Options of {@linkcode EventRecorder}. */
export interface EventRecorderOptions {
  /** The controller's name, which may be qualified by a domain: `backup-operator`, `example.com/backup-operator`. */
  readonly controller: string;
  /** The process, such as the Pod's name; cut to 128 bytes. @default {the controller's name} */
  readonly instance?: string | undefined;
  /** How long after it was last seen the same event is of one series. @default {6 minutes} */
  readonly seriesWindow?: Duration | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
  /** Source of numbers from 0 up to 1. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Called for each event, or new count of a series, that was dropped. @default {undefined} */
  readonly onDropped?: (() => void) | undefined;
  /** Where to log. @default {the logger of the category "tend", "events"} */
  readonly log?: Logger | undefined;
}

/** How many events wait to be sent before new ones are dropped. */
const MAX_QUEUED = 1000;
/** How many are sent at a time. */
const MAX_SENDING = 4;
/** How often one is tried. */
const MAX_TRIES = 3;
/** Deadline of a request, in ms. */
const TIMEOUT = 10_000;
/** Time between the first two patches of a series, in ms; it doubles with each further one. */
const FIRST_PAUSE = 10_000;
/** What it doubles up to. */
const MAX_PAUSE = 160_000;
/** How long a recorder that is disposed goes on sending, in ms. */
const CLOSING = 5_000;

/** Records events about objects; best effort. */
export class EventRecorder implements AsyncDisposable {
  readonly #api: Api<Event>;
  readonly #controller: string;
  readonly #instance: string;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #onDropped: () => void;
  readonly #log: Logger;
  readonly #book: SeriesBook;
  readonly #queue = new Set<Series>();
  readonly #sending = new Set<Series>();
  /** Series with a new count that is not due yet. */
  readonly #waiting = new Set<Series>();
  readonly #closing = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #timerAt = Infinity;
  /** Resolves when nothing is queued or being sent; absent while that is so. */
  #busy: PromiseWithResolvers<void> | undefined;
  #flushes = 0;
  #closed = false;
  #recorded = 0;

  /**
   * Checks the options; sends nothing.
   *
   * @throws {TypeError} If the controller is not a qualified name, or the window is not a duration
   * @throws {RangeError} If the window is negative or not finite
   */
  constructor(client: Client, options: EventRecorderOptions) {
    const { controller, instance = "", seriesWindow = 360_000, log = getLogger(["tend", "events"]) } = options;
    const { now = () => performance.now(), random = Math.random, onDropped = () => {} } = options;
    if (!isQualifiedName(controller)) {
      throw new TypeError(
        `Cannot create EventRecorder: 'controller' must be a qualified name such as example.com/backup-operator: ` +
          `current value is ${Deno.inspect(controller)}`,
      );
    }
    this.#api = client.api(Event);
    this.#controller = controller;
    // a qualified name may be longer than an instance
    this.#instance = cutText(instance.trim(), MAX_WORD, "") || cutText(controller, MAX_WORD, "");
    this.#now = now;
    this.#random = random;
    this.#onDropped = onDropped;
    this.#log = log;
    const window = toMilliseconds(seriesWindow, "seriesWindow");
    this.#book = new SeriesBook({ window, onForgotten: (series) => this.#settle(series) });
  }

  /** Records an event about an object: returns at once, never throws. */
  record(regarding: KubernetesObject, event: EventDescription): void {
    try {
      if (this.#closed) return this.#drop("the recorder is disposed");
      this.#note(regarding, event);
    } catch (error) {
      this.#drop("it can't be built", error);
    }
  }

  /**
   * Sends what waits, and resolves when that is done or dropped.
   *
   * @throws The signal's reason, as soon as it aborts; what waits is sent all the same
   */
  async flush(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#flushes++;
    try {
      this.#promote(Infinity);
      const done = this.#busy?.promise;
      if (done) await (signal ? race(done, signal) : done);
    } finally {
      this.#flushes--;
    }
  }

  /** Sends what waits, for at most 5 s, and drops the rest. Further events are dropped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const cancel = after(CLOSING, () => this.#closing.abort(new Error("the recorder is disposed")));
    try {
      await this.flush();
    } finally {
      cancel();
    }
  }

  /** Counts an event, or begins a series with it. */
  #note(regarding: KubernetesObject, event: EventDescription): void {
    const now = this.#now();
    const lastTime = this.#time();
    const unique = Date.now().toString(16) + hex(this.#recorded, 4) + hex(this.#random() * 2 ** 32, 8);
    const source = { controller: this.#controller, instance: this.#instance, time: lastTime, unique };
    let draft = buildEvent(regarding, event, source);
    const { type, reason, action, note, related } = draft;
    const { uid, namespace, name } = regarding.metadata;
    const about = [
      regarding.apiVersion,
      regarding.kind,
      namespace,
      name,
      uid,
      related?.kind,
      related?.name,
      related?.uid,
    ];
    const group = JSON.stringify([type, reason, action, ...about]);
    let key = group + note;
    let series = this.#book.find(group, key, now);
    if (series) {
      series.count++;
      series.last = now;
      series.lastTime = lastTime;
    } else {
      if (this.#queue.size >= MAX_QUEUED) return this.#drop("too many wait to be sent");
      const combined = this.#book.combinedKey(group);
      if (combined) {
        key = combined;
        draft = buildEvent(regarding, { ...event, note: `(combined from similar events) ${event.note}` }, source);
      }
      const fresh = { count: 1, told: 0, exists: false, lastTime, last: now, sends: 0, due: now };
      series = { key, group, event: draft, ...fresh };
    }
    this.#book.touch(series);
    this.#schedule(series);
  }

  /** The wall clock's time; events of one ms are told apart by their microseconds. */
  #time(): string {
    return formatMicroTime(Date.now(), this.#recorded++ % 1000);
  }

  /** Sends a series now, or when it is due. */
  #schedule(series: Series): void {
    if (series.count === series.told || this.#queue.has(series) || this.#sending.has(series)) return;
    const now = this.#now();
    const hurry = this.#flushes > 0 || this.#closed;
    if (hurry || (series.due <= now && this.#queue.size < MAX_QUEUED)) {
      this.#waiting.delete(series);
      this.#enqueue(series);
    } else {
      this.#waiting.add(series);
      this.#arm(Math.max(series.due, now + 1000));
    }
  }

  /** Sends what is known of a series that has ended, or had to make room. */
  #settle(series: Series): void {
    if (!this.#waiting.delete(series)) return;
    if (this.#queue.size >= MAX_QUEUED) this.#drop("too many wait to be sent");
    else this.#enqueue(series);
  }

  #enqueue(series: Series): void {
    this.#busy ??= Promise.withResolvers();
    this.#queue.add(series);
    this.#pump();
  }

  #pump(): void {
    for (const series of this.#queue) {
      if (this.#sending.size >= MAX_SENDING) break;
      this.#queue.delete(series);
      this.#sending.add(series);
      void this.#send(series).finally(() => {
        this.#sending.delete(series);
        this.#schedule(series); // it may have been seen again meanwhile
        this.#pump();
        if (this.#queue.size + this.#sending.size > 0) return;
        this.#busy?.resolve();
        this.#busy = undefined;
      });
    }
  }

  /** Makes what is due by then ready to be sent. */
  #promote(until: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Infinity;
    for (const series of [...this.#waiting]) {
      if (series.due <= until) this.#schedule(series);
      else this.#arm(series.due);
    }
  }

  /** Sees to what waits at that time at the latest. */
  #arm(at: number): void {
    if (at >= this.#timerAt || this.#closed) return;
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = after(at - this.#now(), () => this.#promote(this.#now()));
  }

  /** Creates or patches an event, with a few tries; never throws. */
  async #send(series: Series): Promise<void> {
    try {
      for (let tries = 1;; tries++) {
        series.told = series.count;
        try {
          await this.#write(series);
          break;
        } catch (error) {
          if (isNamespaceTerminating(error)) {
            this.#log.debug("Event not recorded: its namespace is being deleted", { error });
            break;
          }
          if (!isTransient(error) || tries >= MAX_TRIES) throw error;
          await delay(backoff(1000, tries) * (1 + this.#random()), this.#closing.signal);
        }
      }
    } catch (error) {
      this.#drop("it was not accepted", error);
    }
    // the first repetition is told at once, later ones together
    const pause = ++series.sends === 1 && series.exists ? 0 : backoff(FIRST_PAUSE, series.sends - 1 || 1, MAX_PAUSE);
    series.due = this.#now() + pause;
  }

  async #write(series: Series): Promise<void> {
    const { event, count, lastTime } = series;
    const { namespace, name } = event.metadata;
    const options = { namespace, signal: this.#closing.signal, timeout: TIMEOUT };
    const repeated = { series: { count, lastObservedTime: lastTime } };
    if (series.exists) {
      try {
        await this.#api.patch(name!, repeated, { ...options, type: "merge" });
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        series.exists = false;
      }
    }
    try {
      await this.#api.create(count > 1 ? { ...event, ...repeated } : event, options);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // its name is unique: an earlier try that got no answer took effect, maybe with a lower count
      series.told = 1;
    }
    series.exists = true;
  }

  #drop(why: string, error?: unknown): void {
    this.#log.debug("Event dropped: {why}", { why, error });
    try {
      this.#onDropped();
    } catch (error) {
      this.#log.debug("'onDropped' threw: {error}", { error });
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiError && (error.code >= 500 || error.code === 429));
}

function hex(value: number, digits: number): string {
  return (Math.floor(value) % 16 ** digits).toString(16).padStart(digits, "0");
}
