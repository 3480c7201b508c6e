/**
 * States what holds for every operator, whatever goes wrong.
 *
 * ```ts
 * import { INVARIANTS } from "./_invariants.ts";
 *
 * console.assert("neverTwiceAtOnce" in INVARIANTS);
 * ```
 *
 * @module
 */
import { backoff } from "../../backoff.ts";
import { ApiError, ObjectGoneError, RetryError, TerminalError } from "../../errors.ts";
import type { KubernetesObject } from "../../resource.ts";
import type { Invariant, Run } from "./_events.ts";
import type { Call } from "./_network.ts";
import type { Process } from "./_virtual_time.ts";

/** True for requests that change what others see: not for questions that are asked with a POST. */
export function changes({ method, path }: Call): boolean {
  return method !== "GET" && !path.startsWith("/apis/authorization.k8s.io/");
}

const of = (run: Run): string => `${run.controller} ${run.key}`;
const uidOf = ({ metadata }: KubernetesObject): string => metadata.uid ?? "";
const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** One object is never reconciled twice at once by one process, but for a run that was aborted and does not heed it. */
const neverTwiceAtOnce: Invariant = (_facts, report) => {
  const running = new Map<string, Run>();
  const idOf = (run: Run): string => `${run.process.name} ${of(run)}`;
  return {
    began(run) {
      const other = running.get(idOf(run));
      if (other && !other.signal.aborted) report(`${of(run)} is reconciled twice at once by ${run.process.name}`);
      running.set(idOf(run), run);
    },
    ended(run) {
      if (running.get(idOf(run)) === run) running.delete(idOf(run));
    },
  };
};

/** A write is sent by who holds the lease, and before anybody else could take it. */
const onlyTheLeaderWrites: Invariant = ({ lease, leaseDuration }, report) => {
  let holder: string | undefined;
  const renewed = new Map<string, number>();
  return {
    served(call) {
      if (!lease || !call.path.split("?")[0]!.startsWith(lease) || !changes(call) || call.code >= 300) return;
      holder = JSON.parse(call.answer).spec?.holderIdentity || undefined;
      if (holder !== undefined) renewed.set(holder, call.served!);
    },
    sent(call) {
      if (!lease || !changes(call) || call.path.includes("/leases")) return;
      const { process: { name }, sent, method, path } = call;
      const until = (renewed.get(name) ?? -Infinity) + leaseDuration;
      if (holder !== name) report(`${name} sends ${method} ${path} while ${holder ?? "nobody"} holds the lease`);
      else if (sent >= until) {
        report(`${name} sends ${method} ${path} ${seconds(sent - until)} after its lease could be taken`);
      }
    },
  };
};

/** An object with a finalizer goes only after a cleanup of it that ran to success. */
const cleanedUpBeforeGone: Invariant = ({ controllers }, report) => {
  const cleaned = new Set<string>();
  const finalizers = new Map<string, string[]>();
  return {
    ended(run) {
      if (run.cleanup && run.error === undefined && !run.requeued) {
        cleaned.add(`${run.controller} ${uidOf(run.object)}`);
      }
    },
    stored(object) {
      const { uid = "", finalizers: now = [] } = object.metadata;
      finalizers.set(uid, [...new Set([...(finalizers.get(uid) ?? []), ...now])]);
    },
    gone(object, resource) {
      const uid = uidOf(object);
      for (const { name, finalizer, resource: own } of controllers) {
        if (own.id !== resource.id || !finalizer || !finalizers.get(uid)?.includes(finalizer)) continue;
        if (!cleaned.has(`${name} ${uid}`)) {
          report(`${name} ${object.metadata.name} (${uid}) has gone without a cleanup`);
        }
      }
      finalizers.delete(uid);
    },
  };
};

/** What lives is never cleaned up, and what is being deleted is never reconciled. */
const lifeAndDeathApart: Invariant = (_facts, report) => ({
  began(run) {
    const deleting = run.object.metadata.deletionTimestamp !== undefined;
    if (run.cleanup && !deleting) report(`${of(run)} is cleaned up while it lives`);
    if (!run.cleanup && deleting) report(`${of(run)} is reconciled while it is being deleted`);
  },
});

/** Nothing is reconciled of which a process has read that it is gone, but at the very instant at which it reads that. */
const theGoneRest: Invariant = ({ now }, report) => {
  const gone = new Map<string, number>();
  const idOf = (process: Process, uid: string): string => `${process.name} ${uid}`;
  return {
    readDeletion(process, uid) {
      gone.set(idOf(process, uid), now());
    },
    began(run) {
      const since = gone.get(idOf(run.process, uidOf(run.object)));
      if (since !== undefined && since < run.began) report(`${of(run)} is reconciled after its deletion was seen`);
    },
  };
};

/** What a process is handed out of an object is never older than what it was handed out before. */
const viewsNeverGoBack: Invariant = (_facts, report) => {
  const seen = new Map<string, number>();
  return {
    began(run) {
      const id = `${run.process.name} ${run.controller} ${uidOf(run.object)}`;
      const version = Number(run.object.metadata.resourceVersion);
      const before = seen.get(id) ?? 0;
      if (version < before) report(`${of(run)} is handed out at version ${version} after version ${before}`);
      seen.set(id, version);
    },
  };
};

/** A run that failed is tried again at the instants of the back-off, unless its process has learned of anything since. */
const backOffIsKept: Invariant = ({ controllers, now }, report) => {
  interface Failures {
    readonly count: number;
    readonly since: number;
    readonly earliest: number;
    readonly object: string;
  }
  const failing = new Map<string, Failures>();
  const learned = new Map<Process, number>();
  const idOf = (run: Run): string => `${run.process.name} ${of(run)}`;
  const forget = (process: Process): void => {
    for (const id of failing.keys()) if (id.startsWith(`${process.name} `)) failing.delete(id);
  };
  return {
    read(process) {
      learned.set(process, now());
    },
    served(call) {
      const { process, path } = call;
      // what was written, or listed, is learned once the answer has come
      if (!call.streams && !path.includes("/events") && !path.includes("/leases")) learned.set(process, now() + TERM);
    },
    led: forget, // a new term begins with everything
    began(run) {
      const failures = failing.get(idOf(run));
      if (!failures || failures.object !== uidOf(run.object) || run.began >= failures.earliest) return;
      if ((learned.get(run.process) ?? -1) >= failures.since) return;
      const early = seconds(failures.earliest - run.began);
      report(`${of(run)} is tried again ${early} before the end of its back-off after ${failures.count} failures`);
    },
    ended(run) {
      const { error, object } = run;
      const ordinary = error instanceof Error && !run.signal.aborted &&
        ![ApiError, RetryError, TerminalError, ObjectGoneError].some((kind) => error instanceof kind);
      if (!ordinary) return void failing.delete(idOf(run));
      const before = failing.get(idOf(run));
      const count = before?.object === uidOf(object) ? before.count + 1 : 1;
      const { firstDelay } = controllers.find(({ name }) => name === run.controller)!;
      failing.set(idOf(run), {
        count,
        since: run.began,
        earliest: now() + backoff(firstDelay, count),
        object: uidOf(object),
      });
    },
  };
};

/** How long after the answer of the server a process still learns from it, in ms. */
const TERM = 6_000;

/** No process sends more than it should, also while nothing answers. */
const rateIsBounded: Invariant = (_facts, report) => {
  const windows = new Map<Process, { began: number; count: number }>();
  return {
    sent({ process, sent, method, path }) {
      let window = windows.get(process);
      if (!window || sent - window.began > WINDOW) windows.set(process, window = { began: sent, count: 0 });
      if (++window.count === MOST_REQUESTS) {
        report(`${process.name} sends ${MOST_REQUESTS} requests within ${seconds(WINDOW)}, the last ${method} ${path}`);
      }
    },
  };
};

const WINDOW = 10_000;
const MOST_REQUESTS = 500;

/** A process that was asked to end starts nothing new, ends in time, gives its lease back last, and leaves nothing behind. */
const stopsInOrder: Invariant = ({ replicas, lease, grace, now, open }, report) => {
  const last = new Map<Process, Call>();
  const led = new Set<Process>();
  const stopping = (process: Process): number | undefined =>
    replicas().find((replica) => replica.process === process)?.stopping;
  return {
    began(run) {
      const since = stopping(run.process);
      if (since !== undefined && since < run.began) {
        report(`${of(run)} begins after ${run.process.name} was asked to end`);
      }
    },
    sent(call) {
      last.set(call.process, call);
      if (changes(call) && !call.path.includes("/leases")) led.add(call.process);
    },
    stopped({ process, stopping, failure }) {
      if (failure !== undefined) report(`${process.name} ends with ${failure}`);
      const took = now() - stopping!;
      if (took > grace + ENDING) report(`${process.name} takes ${seconds(took)} to end`);
      if (process.timers > 0) report(`${process.name} leaves ${process.timers} timers behind`);
      if (open(process) > 0) report(`${process.name} leaves ${open(process)} requests open`);
      const final = last.get(process);
      if (lease && led.has(process) && final && changes(final) && !final.path.includes("/leases")) {
        report(`${process.name} does not give its lease back last, but sends ${final.method} ${final.path}`);
      }
    },
  };
};

/** How long an end may take beyond the grace: what is aborted, events, the lease. */
const ENDING = 20_000;

/** At the end, the last state of every object has been reconciled with success, and nothing hangs on a finalizer. */
const everythingIsReconciled: Invariant = ({ controllers, stored }) => {
  const done = new Map<string, number>();
  return {
    ended(run) {
      if (run.error !== undefined || run.cleanup) return;
      const id = `${run.controller} ${uidOf(run.object)}`;
      done.set(id, Math.max(done.get(id) ?? 0, run.object.metadata.generation ?? 0));
    },
    async atEnd() {
      for (const { name, resource, finalizer, selective } of controllers) {
        if (selective) continue;
        for (const object of await stored(resource)) {
          const { uid, generation = 0, deletionTimestamp, finalizers = [] } = object.metadata;
          const what = `${name} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
          if (deletionTimestamp !== undefined) {
            if (finalizer && finalizers.includes(finalizer)) return `${what} still waits for its cleanup`;
            continue;
          }
          const seen = done.get(`${name} ${uid}`);
          if (seen === undefined) return `${what} was never reconciled`;
          if (seen < generation) return `${what} was not reconciled since generation ${seen}; it is of ${generation}`;
        }
      }
      return undefined;
    },
  };
};

/** At the end, what every process has cached is what is stored. */
const cachesAreTrue: Invariant = ({ replicas, stored }) => ({
  async atEnd() {
    for (const { process, caches } of replicas()) {
      for (const informer of caches()) {
        if (!informer.synced) return `${process.name} has not synced its ${informer.resource.plural}`;
        const cached = new Map(informer.list().map((object) => [uidOf(object), object.metadata.resourceVersion]));
        const there = (await stored(informer.resource)).filter((object) => informer.covers(object));
        const missing = there.find((object) => cached.get(uidOf(object)) !== object.metadata.resourceVersion);
        if (missing) {
          const { name, resourceVersion, uid = "" } = missing.metadata;
          return `${process.name} has ${informer.resource.kind} ${name} cached at ${
            cached.get(uid)
          }; it is at ${resourceVersion}`;
        }
        if (cached.size > there.length) return `${process.name} has ${informer.resource.plural} cached that are gone`;
      }
    }
    return undefined;
  },
});

/** At the end, when nothing changes any more, nothing is written. */
const aQuietWorldIsLeftAlone: Invariant = ({ now }) => {
  let last: Call | undefined;
  return {
    sent(call) {
      if (changes(call) && !call.path.includes("/leases") && !call.path.includes("/events")) last = call;
    },
    atEnd: () =>
      last && now() - last.sent < REST
        ? `${last.process.name} still writes: ${last.method} ${last.path}, ${seconds(now() - last.sent)} ago`
        : undefined,
  };
};

/** How long nothing must have been written at the end, in ms. */
const REST = 20_000;

/** The names of what always holds. */
export type InvariantName =
  | "neverTwiceAtOnce"
  | "onlyTheLeaderWrites"
  | "cleanedUpBeforeGone"
  | "lifeAndDeathApart"
  | "theGoneRest"
  | "viewsNeverGoBack"
  | "backOffIsKept"
  | "rateIsBounded"
  | "stopsInOrder"
  | "everythingIsReconciled"
  | "cachesAreTrue"
  | "aQuietWorldIsLeftAlone";

/** What always holds, by name. */
export const INVARIANTS: Readonly<Record<InvariantName, Invariant>> = {
  neverTwiceAtOnce,
  onlyTheLeaderWrites,
  cleanedUpBeforeGone,
  lifeAndDeathApart,
  theGoneRest,
  viewsNeverGoBack,
  backOffIsKept,
  rateIsBounded,
  stopsInOrder,
  everythingIsReconciled,
  cachesAreTrue,
  aQuietWorldIsLeftAlone,
};
