/**
 * Streams the events of a resource: from a version on, with what is there before if that is asked for.
 *
 * Each event is written as a line once for all watches that show it alike.
 *
 * ```ts
 * import { watch } from "./_watch.ts";
 *
 * console.assert(typeof watch === "function");
 * ```
 *
 * @module
 */
import { builtinSchema, emptyObject } from "./_builtin.ts";
import type { Call } from "./_call.ts";
import { DEFINITIONS } from "./_definitions.ts";
import { encodeObject, partial, partialVersion, type Representation } from "./_encode.ts";
import { equal, type Fields, type Kube } from "./_objects.ts";
import { Outlet } from "./_outlet.ts";
import {
  checkListOptions,
  limitOf,
  parseVersion,
  representation,
  type Selection,
  selectionOf,
  timeoutSeconds,
} from "./_read.ts";
import type { ResourceInfo } from "./_registry.ts";
import { expired, versionTooLarge } from "./_status.ts";
import type { State, StoredEvent } from "./_store.ts";
import { checkInclude, tableOf } from "./_table.ts";
import { collectionOf, namespaceOf } from "./_write.ts";

const encoder = new TextEncoder();

/** The longest that a watch lasts when it does not say, in ms: between once and twice this. */
const MIN_TIMEOUT = 1_800_000;

/** How often an idle watch with bookmarks gets one, in ms. */
const BOOKMARK_PERIOD = 60_000;

function line(type: string, object: string): Uint8Array {
  return encoder.encode(`{"type":"${type}","object":${object}}\n`);
}

/** What a watch sends of an event, if anything: with selectors, entering is ADDED and leaving is DELETED. */
interface Shown {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: State;
}

class Stream {
  readonly #call: Call;
  readonly #outlet: Outlet;
  readonly #as: Representation | "table";
  readonly #selection: Selection;
  readonly #keys: Readonly<Record<Shown["type"], string>>;
  #sent = 0;
  #rows = false;

  constructor(call: Call, outlet: Outlet, as: Representation | "table", selection: Selection) {
    this.#call = call;
    this.#outlet = outlet;
    this.#as = as;
    this.#selection = selection;
    const key = `${as} ${call.info.encoding}`;
    this.#keys = { ADDED: `ADDED ${key}`, MODIFIED: `MODIFIED ${key}`, DELETED: `DELETED ${key}` };
  }

  get sent(): number {
    return this.#sent;
  }

  set sent(version: number) {
    this.#sent = version;
  }

  #selects(state: State | undefined): boolean {
    return state !== undefined && this.#selection.selects(state);
  }

  #show(event: StoredEvent): Shown | undefined {
    const namespace = namespaceOf(this.#call);
    if (namespace !== "" && event.namespace !== namespace) return undefined;
    const { type, current, previous } = event;
    if (this.#selection.all) return { type, revision: current };
    const before = type !== "ADDED" && this.#selects(previous);
    const after = type !== "DELETED" && this.#selects(current);
    if (before && after) return { type: "MODIFIED", revision: current };
    if (after) return { type: "ADDED", revision: current };
    if (!before) return undefined;
    return { type: "DELETED", revision: type === "DELETED" ? current : stamped(previous!, event.version) };
  }

  event(event: StoredEvent): void {
    if (event.version <= this.#sent) return;
    this.#sent = event.version;
    const shown = this.#show(event);
    if (!shown) return;
    if (this.#as === "table") return this.#table(shown.type, shown.revision);
    const key = this.#keys[shown.type];
    const lines = event.lines ??= new Map();
    let bytes = lines.get(key);
    if (!bytes) lines.set(key, bytes = line(shown.type, encodeObject(this.#call.info, shown.revision, this.#as)));
    this.#outlet.send(bytes);
  }

  #table(type: string, revision: State): void {
    const table = tableOf(
      this.#call,
      [revision],
      { resourceVersion: String(revision.version) },
      this.#call.server.now(),
      // A bookmark has its metadata even where objects are not asked for: it is all there is.
      { bookmark: type === "BOOKMARK" },
    );
    if (this.#rows) table.columnDefinitions = null;
    this.#rows = true;
    this.#outlet.send(line(type, JSON.stringify(table)), type === "BOOKMARK");
  }

  initial(revision: State): void {
    if (!this.#selects(revision)) return;
    if (this.#as === "table") return this.#table("ADDED", revision);
    this.#outlet.send(line("ADDED", encodeObject(this.#call.info, revision, this.#as)));
  }

  bookmark(version: number, initialEnd: boolean): void {
    const { info } = this.#call;
    const annotations = initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const metadata = { resourceVersion: String(version), ...annotations };
    let object: Fields = { ...emptyOf(info), kind: info.kind, apiVersion: info.apiVersion, metadata };
    if (this.#as === "table") return this.#table("BOOKMARK", { object: object as Kube, version });
    if (this.#as !== "object") object = partial({ metadata }, partialVersion(this.#as));
    this.#outlet.send(line("BOOKMARK", JSON.stringify(object)), true);
  }

  error(status: unknown): void {
    this.#outlet.send(line("ERROR", JSON.stringify(status)));
  }
}

/** A built-in kind's object before anything is set, as bookmarks carry it. */
function emptyOf({ group, version, kind, custom }: ResourceInfo): Fields {
  const schema = custom ? undefined : builtinSchema(group, version, kind);
  if (!schema) return {};
  const empty = emptyObject(schema) as Fields;
  // The replicas of these are no pointers inside a real server.
  return group === "apps" && kind !== "DaemonSet" && empty.spec
    ? { ...empty, spec: { replicas: 0, ...empty.spec } }
    : empty;
}

function stamped({ object, writtenAs }: State, version: number): State {
  const metadata = { ...object.metadata, resourceVersion: String(version) };
  return { object: { ...object, metadata }, version, writtenAs };
}

/** True if what is served changes with a definition: then watches end, to begin anew. */
function isAnother({ type, current, previous }: StoredEvent): boolean {
  return type === "DELETED" || (previous !== undefined && !equal(previous.object.spec, current.object.spec));
}

/** Answers a watch: a stream that ends at its timeout, when the client goes, or when the server closes. */
export function watch(call: Call): ReadableStream<Uint8Array> {
  const { query, server, signal, lag } = call;
  checkListOptions(query, true);
  const seconds = timeoutSeconds(query);
  limitOf(query);
  const selection = selectionOf(call);
  const asked = query.get("resourceVersion") ?? "";
  const from = asked === "" ? 0 : parseVersion(asked, false);
  const as = representation(call, false);
  if (as === "table") checkInclude(query);
  const bookmarks = ["true", "1"].includes(query.get("allowWatchBookmarks") ?? "");
  const fresh = asked === "" || asked === "0";
  // A watch that says neither, from no version, is one of initial events.
  const initial = query.get("sendInitialEvents") ?? (fresh && !query.get("resourceVersionMatch") ? "true" : null);
  const timeout = seconds > 0 ? seconds * 1000 : MIN_TIMEOUT * (1 + server.random());
  const collection = collectionOf(call);
  let finish = (): void => {}, dispose = (): void => {};

  return new ReadableStream<Uint8Array>({
    start(controller) {
      const outlet = call.open?.(controller) ?? new Outlet(controller);
      const stream = new Stream(call, outlet, as, selection);
      const newest = lag ? lag.versionOf(collection) : server.store.version;
      let ended = false;
      const timers: ReturnType<typeof setTimeout>[] = [];
      const listening = new DisposableStack();
      finish = () => {
        if (ended) return;
        ended = true;
        listening.dispose();
        for (const timer of timers) clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        server.closed.removeEventListener("abort", close);
      };
      const close = (): void => {
        if (ended) return;
        finish();
        outlet.close();
      };
      const abort = (): void => {
        if (ended) return;
        finish();
        outlet.fail(signal.reason);
      };
      outlet.onEnded = finish;
      dispose = () => outlet[Symbol.dispose]();
      if (signal.aborted) return abort();
      if (server.closed.aborted) return close();

      const sendsState = initial === "true";
      // No time at all: it ends before it begins.
      if (seconds < 0) return close();
      const oldest = Math.max(collection.compacted, server.store.restarted);
      if (!sendsState && from > 0 && from < oldest) {
        stream.error(expired(`too old resource version: ${from} (${oldest})`).status);
        return close();
      }
      if (initial === "true" && from > newest) {
        stream.error(versionTooLarge(asked, newest).status);
        return close();
      }
      if (sendsState) {
        const namespace = namespaceOf(call) || undefined;
        for (const revision of collection.list({ namespace, at: newest })) stream.initial(revision);
        stream.sent = newest;
        if (initial === "true" && bookmarks) stream.bookmark(newest, true);
      } else {
        stream.sent = from > 0 ? from : newest;
        for (const event of collection.since(stream.sent)) if (event.version <= newest) stream.event(event);
      }
      if (ended) return;
      const listener = (event: StoredEvent): void => stream.event(event);
      listening.use(lag ? lag.listen(collection, listener) : collection.listen(listener));
      if (call.info.custom) {
        const { definition } = call.info.custom;
        const definitions = server.store.collection(DEFINITIONS);
        listening.use(definitions.listen((event) => event.name === definition && isAnother(event) && close()));
      }
      signal.addEventListener("abort", abort, { once: true });
      server.closed.addEventListener("abort", close, { once: true });
      timers.push(setTimeout(close, timeout));
      if (bookmarks) {
        const sendBookmark = (): void => stream.bookmark(Math.max(stream.sent, (lag ?? server.store).version), false);
        if (timeout > 2000) timers.push(setTimeout(sendBookmark, timeout - 2000));
        const repeat = (): void => {
          timers[slot] = setTimeout(() => {
            sendBookmark();
            repeat();
          }, BOOKMARK_PERIOD);
        };
        const slot = timers.length;
        if (timeout > BOOKMARK_PERIOD) repeat();
      }
    },
    cancel() {
      finish();
      dispose();
    },
  });
}
