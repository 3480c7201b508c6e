/**
 * Notices objects that are reconciled over and over because of what their own reconciles write, and slows them down.
 *
 * ```ts
 * import type { KubernetesObject } from "@tend/operator";
 * import { LoopDetector } from "./loops.ts";
 *
 * const loops = new LoopDetector({ limit: 2 });
 * const written = (version: string, at: number): KubernetesObject & { status: unknown } => ({
 *   apiVersion: "example.com/v1",
 *   kind: "Site",
 *   metadata: { name: "web", uid: "1", resourceVersion: version, creationTimestamp: "2026-01-01T00:00:00Z" },
 *   status: { at },
 * });
 * for (const run of [1, 2]) loops.wrote("web", run, "sites.example.com web", written(`${run}`, run), 0);
 * const loop = loops.wrote("web", 3, "sites.example.com web", written("3", 3), 0);
 * console.assert(loop?.fields[0] === "/status/at");
 * ```
 *
 * Counted are the reconciles of one key, within a minute, that each changed one and the same object: a reconcile may well
 * write a hundred children once, or one status a hundred times while it works, but not one object in each of many runs. From
 * then on the key's runs are two seconds apart, until a minute has passed in which it did not go round.
 *
 * @module
 */
import { diff } from "./json.ts";
import type { KubernetesObject } from "./resource.ts";

/** Options of {@linkcode LoopDetector}. */
export interface LoopOptions {
  /** How many reconciles of a key may change the same object within the window. @default {30} */
  readonly limit?: number | undefined;
  /** Ms that are looked at together. @default {60_000} */
  readonly window?: number | undefined;
  /** How many keys are remembered; beyond that the one whose window began first is forgotten. @default {1000} */
  readonly capacity?: number | undefined;
}

/** What goes round. */
export interface Loop {
  /** What was written each time. */
  readonly target: string;
  /** How many reconciles within the window have written it. */
  readonly runs: number;
  /**
   * JSON pointers of what the last two writes made different, at most five; empty when they made the same of it, so that
   * somebody else must have changed it in between.
   */
  readonly fields: readonly string[];
}

/** How many written objects of a key are counted. */
const MAX_TARGETS = 100;
/** How many fields are named. */
const MAX_FIELDS = 5;
/** Ms between two runs of a key that goes round. */
const SLOW = 2000;

interface Target {
  runs: number;
  run: number;
  version: string;
  /** What was written last, once that may be asked for. */
  last: KubernetesObject | undefined;
}

interface KeyRecord {
  readonly since: number;
  readonly targets: Map<string, Target>;
  told: boolean;
  slow: boolean;
  last: number;
}

/** Counts, for each key, the reconciles that changed an object; each is told once per window. */
export class LoopDetector {
  readonly #limit: number;
  readonly #window: number;
  readonly #capacity: number;
  readonly #records: Map<string, KeyRecord> = new Map();

  /** Starts with nothing seen. */
  constructor(options: LoopOptions = {}) {
    const { limit = 30, window = 60_000, capacity = 1000 } = options;
    this.#limit = limit;
    this.#window = window;
    this.#capacity = capacity;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#records.size;
  }

  /**
   * Notes that a run of a key wrote an object, and what that is now; `now` in ms of any monotonic clock.
   *
   * @returns The loop, if this is how one is noticed; undefined for a write that changed nothing
   */
  wrote(key: string, run: number, target: string, object: KubernetesObject, now: number): Loop | undefined {
    const record = this.#record(key, now);
    record.last = now;
    const { resourceVersion } = object.metadata;
    const seen = record.targets.get(target);
    if (!seen) {
      const last = this.#limit <= 1 ? object : undefined;
      if (record.targets.size < MAX_TARGETS) {
        record.targets.set(target, { runs: 1, run, version: resourceVersion, last });
      }
      return undefined;
    }
    if (seen.version === resourceVersion) return undefined;
    const { last } = seen;
    if (seen.run !== run) seen.runs++;
    seen.run = run;
    seen.version = resourceVersion;
    if (seen.runs >= this.#limit) seen.last = object;
    if (seen.runs <= this.#limit || record.told) return undefined;
    record.told = record.slow = true;
    return { target, runs: seen.runs, fields: last ? changedFields(last, object) : [] };
  }

  /** How many ms the next run of a key is to wait: none, unless it goes round. */
  pause(key: string, now: () => number): number {
    const record = this.#records.get(key);
    return record?.slow ? Math.max(0, record.last + SLOW - now()) : 0;
  }

  /** Forgets a key, as when its object is gone. */
  forget(key: string): void {
    this.#records.delete(key);
  }

  #record(key: string, now: number): KeyRecord {
    const known = this.#records.get(key);
    if (known && now - known.since < this.#window) return known;
    const slow = known?.told ?? false;
    const record: KeyRecord = { since: now, targets: new Map(), told: false, slow, last: now };
    this.#records.delete(key);
    this.#records.set(key, record);
    if (this.#records.size > this.#capacity) this.#records.delete(this.#records.keys().next().value!);
    return record;
  }
}

function changedFields(before: KubernetesObject, after: KubernetesObject): string[] {
  const strip = ({ metadata, ...rest }: KubernetesObject): unknown => {
    const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...others } = metadata;
    return { ...rest, metadata: others };
  };
  return diff(strip(before), strip(after)).slice(0, MAX_FIELDS).map(({ path }) => path);
}
