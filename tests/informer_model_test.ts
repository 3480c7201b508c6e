/** Runs informers against random histories of a server that drops, repeats, expires and lags, and holds them to what it has. */
import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import fc from "fast-check";
import { Client } from "../client.ts";
import { Informer } from "../informer.ts";
import { ConfigMap } from "../kinds.ts";
import { compareVersions, keyOf, type KubernetesObject } from "../resource.ts";
import type { Initial } from "../watcher.ts";
import {
  added,
  type Answer,
  bookmark,
  configMap,
  deleted,
  errorEvent,
  Feed,
  json,
  list,
  modified,
  refuse,
  ScriptedServer,
  status,
} from "./_scripted.ts";
import { leap } from "./_time.ts";

type Command =
  /** A write: creates, changes, deletes or replaces the object; `tell` is when the informer gets the answer. */
  | { type: "create" | "update" | "delete" | "replace"; name: string; tell: "now" | "later" | "never" }
  /** The answers that were to come later come. */
  | { type: "answers" }
  /** The watch lags behind, or no longer does. */
  | { type: "lag" | "catchUp" }
  /** What the stream does. */
  | { type: "end" | "fail" | "expire" | "repeat" | "bookmark" | "garble" }
  /** The server cannot be reached, or can be again. */
  | { type: "down" | "up" }
  /** The history so far is thrown away: whoever is behind gets 410. */
  | { type: "compact" }
  | { type: "pass"; ms: number };

interface Entry {
  readonly version: number;
  readonly kind: (object: unknown) => unknown;
  readonly object: KubernetesObject;
}

/** A server with a history. */
class Model {
  readonly objects: Map<string, KubernetesObject> = new Map();
  readonly server: ScriptedServer = new ScriptedServer();
  #version = 100;
  #compacted = 0;
  #uids = 0;
  #history: Entry[] = [];
  #feeds: { feed: Feed; sent: number }[] = [];
  lagging = false;
  down = false;

  constructor() {
    this.server.always("GET", "/api/v1/configmaps", (...call) => this.#list(...call));
    this.server.always("GET", "/api/v1/configmaps?watch", (...call) => this.#watch(...call));
  }

  /** How far a lagging watch cache has got. */
  get #shown(): number {
    return this.lagging ? this.#lagFrom : this.#version;
  }
  #lagFrom = 0;

  #list(...[request, signal]: Parameters<Answer>): ReturnType<Answer> {
    if (this.down) return refuse()(request, signal);
    const { limit, continue: token } = request.query;
    const all = [...this.objects.values()];
    if (limit === undefined) return json(list(all, this.#version))(request, signal);
    // pages of two; a token holds the version it began at, and expires with any write
    const [version, from] = token === undefined ? [this.#version, 0] : token.split("-").map(Number) as [number, number];
    if (version !== this.#version) return status(410, { reason: "Expired" })(request, signal);
    const next = from + 2 < all.length ? `${version}-${from + 2}` : undefined;
    return json(list(all.slice(from, from + 2), version, next))(request, signal);
  }

  #watch(...[request, signal]: Parameters<Answer>): ReturnType<Answer> {
    if (this.down) return refuse()(request, signal);
    const { resourceVersion, sendInitialEvents } = request.query;
    const feed = new Feed();
    let from = Number(resourceVersion ?? 0);
    if (sendInitialEvents) {
      feed.send(...[...this.objects.values()].map(added), bookmark(this.#version, { initialEventsEnd: true }));
      from = this.#version;
    } else if (from < this.#compacted) {
      return status(410, { reason: "Expired" })(request, signal);
    }
    this.#feeds.push({ feed, sent: from });
    const response = feed.answer(request, signal);
    this.deliver();
    return response;
  }

  /** Sends what has not been sent. */
  deliver(): void {
    for (const stream of this.#open()) {
      for (const { version, kind, object } of this.#history) {
        if (version <= stream.sent || version > this.#shown) continue;
        stream.feed.send(kind(object));
        stream.sent = version;
      }
    }
  }

  #open(): { feed: Feed; sent: number }[] {
    return this.#feeds = this.#feeds.filter(({ feed }) => feed.open);
  }

  #write(kind: Entry["kind"], object: KubernetesObject): void {
    this.#history.push({ version: this.#version, kind, object });
    this.deliver();
  }

  /** Carries a command out; answers with what a write returned. */
  run(command: Command): KubernetesObject | undefined {
    switch (command.type) {
      case "create":
      case "update":
      case "replace":
      case "delete":
        return this.#change(command.type, command.name);
      case "lag":
        if (!this.lagging) this.#lagFrom = this.#version;
        this.lagging = true;
        return;
      case "catchUp":
        this.lagging = false;
        return void this.deliver();
      case "down":
      case "up":
        this.down = command.type === "down";
        if (this.down) { for (const { feed } of this.#open()) feed.fail(); }
        return;
      case "compact":
        this.#compacted = this.#version;
        this.#history = this.#history.filter(({ version }) => version > this.#shown);
        return;
      case "answers":
      case "pass":
        return;
    }
    for (const { feed, sent } of this.#open()) {
      if (command.type === "end") feed.end();
      else if (command.type === "fail") feed.fail();
      else if (command.type === "expire") feed.send(errorEvent(410)).end();
      else if (command.type === "bookmark") feed.send(bookmark(sent));
      else if (command.type === "garble") feed.text('{"type":"ADD\n');
      else {
        const last = this.#history.findLast(({ version }) => version <= sent);
        if (last) feed.send(last.kind(last.object));
      }
    }
    return undefined;
  }

  #change(type: "create" | "update" | "delete" | "replace", name: string): KubernetesObject | undefined {
    const old = this.objects.get(name);
    if ((old === undefined) !== (type === "create")) return undefined;
    if (old && type !== "update") {
      const last = configMap(name, ++this.#version, { uid: old.metadata.uid });
      this.objects.delete(name);
      this.#write(deleted, last);
    }
    if (type === "delete") return undefined;
    const uid = type === "update" ? old!.metadata.uid : `${name}-${++this.#uids}`;
    const object = configMap(name, ++this.#version, { uid });
    this.objects.set(name, object);
    this.#write(type === "update" ? modified : added, object);
    return object;
  }
}

/** Holds the story that an informer tells against what it has. */
class Listener {
  readonly objects: Map<string, KubernetesObject> = new Map();

  constructor(informer: Informer<ConfigMap>) {
    informer.subscribe(({ type, object, previous, initial }) => {
      const key = keyOf(object);
      const known = this.objects.get(key);
      if (type === "added") {
        assert(known === undefined, `added ${key} twice`);
      } else {
        assert(known, `${type} ${key}, which was not there`);
        assertEquals(object.metadata.uid, known.metadata.uid, `${type} ${key} with another uid`);
      }
      if (type === "updated") {
        assert(previous === known, `updated ${key} from what was not the last`);
        assert(
          compareVersions(object.metadata.resourceVersion, known!.metadata.resourceVersion) > 0,
          `${key} went back`,
        );
        assert(!initial || informer.synced === false);
      }
      if (type === "deleted") this.objects.delete(key);
      else this.objects.set(key, object);
    });
  }
}

const sorted = (objects: Iterable<KubernetesObject>) =>
  [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();

async function play(initial: Initial, commands: readonly Command[]): Promise<void> {
  const time = new FakeTime(0);
  const model = new Model();
  const now = () => Date.now();
  const client = new Client({ fetch: model.server.fetch, now, random: () => 0 });
  const informer = new Informer(client, ConfigMap, { initial, now, random: () => 0 });
  informer.addIndex("uid", (object) => [object.metadata.uid]);
  const answers: KubernetesObject[] = [];
  const stop = new AbortController();
  try {
    const story = new Listener(informer);
    const run = informer.run(stop.signal);
    const check = () => {
      assertEquals(sorted(story.objects.values()), sorted(informer.list()), "the events, replayed, are the store");
      const late = new Map<string, KubernetesObject>();
      informer.subscribe(({ object }) => late.set(keyOf(object), object))[Symbol.dispose]();
      assertEquals(sorted(late.values()), sorted(informer.list()), "a replay is the store");
      for (const object of informer.list()) assertEquals(informer.byIndex("uid", object.metadata.uid), [object]);
      assertEquals(informer.list("default").length, informer.size);
    };
    for (const command of commands) {
      const written = model.run(command);
      if (command.type === "answers") { for (const answer of answers.splice(0)) informer.accept(answer); }
      if (written && "tell" in command && command.tell === "later") answers.push(written);
      if (written && "tell" in command && command.tell === "now") {
        informer.accept(written);
        assertEquals(informer.get(keyOf(written)), written, "an own write is there at once");
      }
      if (command.type === "pass") await leap(time, command.ms);
      else await time.runMicrotasks();
      check();
    }
    for (const type of ["up", "catchUp"] as const) model.run({ type });
    await leap(time, 60_000);
    model.run({ type: "end" }); // a line that could not be read is made good when its watch ends
    await leap(time, 60_000);
    check();
    assert(informer.synced);
    assertEquals(sorted(informer.list()), sorted(model.objects.values()), "the store is what the server has");
    stop.abort();
    await time.runMicrotasks();
    await run;
  } finally {
    stop.abort();
    await time.runMicrotasks();
    await client.close();
    time.restore();
  }
}

const name = fc.constantFrom("a", "b", "c", "d", "e");
const of = <T extends Command["type"]>(...types: T[]) => fc.record({ type: fc.constantFrom(...types) });
const command = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "create" as const,
        "create" as const,
        "update" as const,
        "delete" as const,
        "replace" as const,
      ),
      name,
      tell: fc.constantFrom("now" as const, "later" as const, "never" as const),
    }),
  },
  { weight: 3, arbitrary: of("lag", "catchUp") },
  { weight: 5, arbitrary: of("end", "fail", "expire", "repeat", "bookmark", "garble") },
  { weight: 2, arbitrary: of("down", "up", "compact", "answers") },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 15_000 }) }) },
) as fc.Arbitrary<Command>;

for (const initial of ["list", "pages", "stream"] as const) {
  Deno.test(`Informer by ${initial} ends as the server is and tells the story of its store, whatever happens on the way`, async () => {
    const seed = Number(Deno.env.get("TEND_SEED") ?? Date.now() & 0x7fffffff);
    console.log(`informer model by ${initial}: TEND_SEED=${seed}`);
    const commands = fc.array(command, { maxLength: 50, size: "max" });
    await fc.assert(fc.asyncProperty(commands, (commands) => play(initial, commands)), { seed, numRuns: 25 });
  });
}
