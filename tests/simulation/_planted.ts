/**
 * Lists faults that are planted in the framework, to show that its simulation finds them.
 *
 * @module
 */

/** A fault: a piece of a module, which must occur once, and what takes its place. */
export interface PlantedFault {
  /** What is wrong, as a sentence. */
  readonly what: string;
  /** The module. */
  readonly file: string;
  /** The piece as it is. */
  readonly right: string;
  /** The piece with the fault. */
  readonly wrong: string;
  /** The scenario that is simulated. @default {all} */
  readonly scenario?: string | undefined;
}

/** The faults. */
export const PLANTED: readonly PlantedFault[] = [
  {
    what: "A relist does not tell of what has gone meanwhile",
    file: "_store.ts",
    right: "if (!next.has(key)) this.#changed({ key, previous, object: undefined });",
    wrong: "if (!next.has(key) && previous === undefined) this.#changed({ key, previous, object: undefined });",
    scenario: "watches",
  },
  {
    what: "A late event takes the cache back behind what a write answered with",
    file: "_store.ts",
    right: "if (stored && (isSame(stored, object) || this.#isOlder(key, object, stored))) return;",
    wrong: "if (stored && isSame(stored, object)) return;",
  },
  {
    what: "A change that comes during a run is forgotten",
    file: "_schedule.ts",
    right: "if (entry.wanted) this.#ready[entry.priority].append(entry);",
    wrong: "if (entry.wanted) entry.wanted = false;",
  },
  {
    what: "A change that comes during a run starts another run beside it",
    file: "_schedule.ts",
    right: "    this.#wanted[entry.priority]++;\n    if (!entry.running) this.#ready",
    wrong:
      "    this.#wanted[entry.priority]++;\n    if (entry.running) this.#running.delete(entry), entry.running = false;\n    this.#ready",
  },
  {
    what: "The timer of a time limit is forgotten when the run ends in time",
    file: "reconciler.ts",
    right: "    } finally {\n      cancel();\n    }",
    wrong: "    } finally {\n      void cancel;\n    }",
  },
  {
    what: "A time limit is not enforced",
    file: "reconciler.ts",
    right: "if (timeout === undefined) return await run;",
    wrong: "if (timeout !== null) return await run;",
  },
  {
    what: "A replica writes after its lease may have been taken",
    file: "lifecycle.ts",
    right: "{ guard: () => term.check(), signal: term.signal }",
    wrong: "{ signal: undefined }",
    scenario: "frozen",
  },
  {
    what: "The back-off begins anew at each failure",
    file: "reconciler.ts",
    right: "const failures = queue.fail(key);",
    wrong: "const failures = Math.min(1, queue.fail(key));",
  },
  {
    what: "A failed run is not tried again",
    file: "reconciler.ts",
    right: "if (delay !== undefined) queue.add(key, { delay });",
    wrong: "if (delay !== undefined && failures > 99) queue.add(key, { delay });",
  },
  {
    what: "A failed run is tried again too early",
    file: "reconciler.ts",
    right: "if (delay !== undefined) queue.add(key, { delay });",
    wrong: "if (delay !== undefined) queue.add(key, { delay: delay / 2 });",
  },
  {
    what: "The finalizer goes before the cleanup has run",
    file: "reconciler.ts",
    right: "const action = await call(finalizer.cleanup, object, ctx);",
    wrong:
      "await removeFinalizer(api, object, finalizer.name);\n      const action = await call(finalizer.cleanup, object, ctx);",
  },
  {
    what: "An object is reconciled before its finalizer is on it",
    file: "reconciler.ts",
    right: "await addFinalizer(api(), object, finalizer.name);\n      return undefined;",
    wrong: "return await call(reconcile!, object, ctx);",
  },
  {
    what: "What is being deleted goes on being reconciled",
    file: "reconciler.ts",
    right: "if (object.metadata.deletionTimestamp !== undefined) {",
    wrong: "if (object.metadata.deletionTimestamp === null) {",
  },
  {
    what: "A watch that has fallen silent is waited for without end",
    file: "watcher.ts",
    right: "{ total: timeoutSeconds * 1000 + SLACK },",
    wrong: "SLACK < 0 ? { total: timeoutSeconds * 1000 + SLACK } : {},",
  },
  {
    what: "A version that is too old is asked for again and again",
    file: "watcher.ts",
    right: "    if (stale) {\n      this.#relist();",
    wrong: "    if (stale) {",
  },
  {
    what: "A watch is opened anew without a pause, whatever happens",
    file: "watcher.ts",
    right: "return Math.max(pause, retryAfter * (1 + 0.1 * this.#random()));",
    wrong: "return pause * retryAfter;",
  },
  {
    what: "A lease is never seen to expire",
    file: "_lease_view.ts",
    right: "if (record === this.#record) return;",
    wrong: "",
  },
  {
    what: "A lease is taken before it has expired",
    file: "_lease_view.ts",
    right: "return this.#since + this.#duration - now;",
    wrong: "return this.#since + this.#duration / 3 - now;",
  },
  {
    what: "A new leader reconciles what the one before it has cleaned up after",
    file: "runner.ts",
    right: "if (!elected || !warm || !this.#config.finalizer) return new Map();",
    wrong: "if (!elected || warm || !this.#config.finalizer) return new Map();",
    scenario: "handover",
  },
  {
    what: "A term is not extended by its renewals",
    file: "_leader_term.ts",
    right: "this.#deadline = Math.max(this.#deadline, since + this.#options.length);",
    wrong: "this.#deadline = Math.max(this.#deadline, since);",
  },
  {
    what: "The change of a child does not wake its owner",
    file: "triggers.ts",
    right: "one.controller === true && owner.is(one)",
    wrong: "one.controller === false && owner.is(one)",
  },
  {
    what: "A child that somebody has changed is taken for the one that was applied",
    file: "memo.ts",
    right: "if (entry.version !== version) {",
    wrong: "if (entry.version === undefined) {",
  },
  {
    what: "A request without an answer is waited for without end",
    file: "_exchange.ts",
    right: "const cancelTimer = after(timeout, () => {",
    wrong: "const cancelTimer = after(timeout * 1e6, () => {",
    scenario: "writes",
  },
  {
    what: "A request that is not answered in time leaves its timer behind",
    file: "_watch_source.ts",
    right: "    this.#cancelTotal?.();\n    this.#cancelQuiet?.();",
    wrong: "    this.#cancelQuiet?.();",
  },
  {
    what: "New work is begun after the process was asked to end",
    file: "lifecycle.ts",
    right: "either(this.#stop.signal), either(this.#abort.signal)",
    wrong: "either(this.#end.signal), either(this.#abort.signal)",
  },
];
