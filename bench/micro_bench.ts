/**
 * Measures parts of the framework in process, for `deno bench`: what one iteration does is in its name, and asserted.
 *
 * ```sh
 * deno bench -A bench/micro_bench.ts
 * ```
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { Client, customResource, Informer, resource } from "@tend/operator";
import { WorkQueue } from "../queue.ts";
import { API_VERSION, nameOf, NAMESPACE, widget } from "./_objects.ts";

const COUNT = 1000;
/** How often each is run, before it counts and then. */
const TIMES = { warmup: 20, n: 100 };
const [group = "", version = ""] = API_VERSION.split("/");
const Widget = resource<ReturnType<typeof stored>>({ group, version, kind: "Widget", plural: "widgets" });
const NEVER = new AbortController().signal;

/** An object as the server sends it, with managed fields. */
function stored(index: number, revision: number) {
  const { metadata, spec, ...rest } = widget(index);
  const fields = { "f:spec": Object.fromEntries(Object.keys(spec).map((field) => [`f:${field}`, {}])) };
  return {
    ...rest,
    metadata: {
      ...metadata,
      uid: `00000000-0000-4000-8000-${`${index}`.padStart(12, "0")}`,
      resourceVersion: `${revision * 100_000 + index}`,
      generation: revision,
      creationTimestamp: "2026-01-01T00:00:00Z",
      managedFields: [{ manager: "bench", operation: "Update", apiVersion: API_VERSION, fieldsV1: fields }],
    },
    spec: { ...spec, revision },
  };
}

const encoder = new TextEncoder();
const objects = (revision: number) => Array.from({ length: COUNT }, (_, index) => stored(index, revision));
const LIST = encoder.encode(JSON.stringify({
  apiVersion: API_VERSION,
  kind: "WidgetList",
  metadata: { resourceVersion: "199999" },
  items: objects(1),
}));
const EVENTS = encoder.encode(
  objects(2).map((object) => `${JSON.stringify({ type: "MODIFIED", object })}\n`).join(""),
);

/** A body of pieces as large as those that come from a socket; it stays open. */
function streamed(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const size = 16_384;
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at += size));
    },
  });
}

/** A client of a server that has the objects, and sends the events when it is told to. */
function scripted(events: Promise<void> = Promise.resolve()): Client {
  const answer = async (watch: boolean): Promise<Response> => {
    if (!watch) return new Response(LIST, { headers: { "content-type": "application/json" } });
    await events;
    return new Response(streamed(EVENTS), { headers: { "content-type": "application/json" } });
  };
  return new Client({
    server: "http://bench",
    fetch: (request) => answer(new URL(request.url).searchParams.has("watch")),
  });
}

Deno.bench("queue: add, hand out and finish 1,000 keys", TIMES, async () => {
  using queue = new WorkQueue();
  for (let index = 0; index < COUNT; index++) queue.add(nameOf(index));
  for (let index = 0; index < COUNT; index++) queue.done(await queue.next(NEVER));
  assertEquals([queue.depth, queue.running], [0, 0]);
});

Deno.bench("queue: add 1,000 keys that wait for their time", TIMES, () => {
  using queue = new WorkQueue();
  for (let index = 0; index < COUNT; index++) queue.add(nameOf(index), { delay: 3_600_000 + index * 7919 % COUNT });
  assertEquals(queue.delayed, COUNT);
});

Deno.bench("watch: decode 1,000 events", TIMES, async () => {
  await using client = scripted();
  let seen = 0;
  for await (const { type, object } of client.api(Widget).watch({ resourceVersion: "199999" })) {
    if (type === "MODIFIED" && object.spec.revision === 2 && ++seen === COUNT) break;
  }
  assertEquals(seen, COUNT);
});

/** Runs a cache until it has everything, and has seen the events if they come. */
async function cache(context: Deno.BenchContext, what: "list" | "events"): Promise<void> {
  const events = Promise.withResolvers<void>();
  await using client = scripted(events.promise);
  const over = new AbortController(), updated = Promise.withResolvers<void>();
  const informer = new Informer(client, Widget);
  let updates = 0;
  using _ = informer.subscribe(({ type }) => {
    if (type === "updated" && ++updates === COUNT) updated.resolve();
  });
  if (what === "list") context.start();
  const running = informer.run(over.signal);
  await informer.whenSynced(NEVER);
  if (what === "list") context.end();
  else {
    context.start();
    events.resolve();
    await updated.promise;
    context.end();
    assertEquals(informer.get(`${NAMESPACE}/${nameOf(7)}`)?.spec.revision, 2);
  }
  assertEquals([informer.size, updates], [COUNT, what === "list" ? 0 : COUNT]);
  over.abort();
  events.resolve();
  await running;
}

// Deno waits for functions that are declared async alone.
Deno.bench("cache: list 1,000 objects", TIMES, async (context) => await cache(context, "list"));
Deno.bench("cache: update 1,000 objects that it has", TIMES, async (context) => await cache(context, "events"));

Deno.bench("kind: make a definition of a schema", TIMES, () => {
  const kind = customResource({
    group,
    version,
    kind: "Widget",
    spec: z.object({
      index: z.int(),
      title: z.string().min(1).max(100),
      mode: z.enum(["fast", "safe"]).default("safe"),
      ports: z.array(z.object({ name: z.string(), port: z.int().min(1).max(65535) })),
      env: z.array(z.object({ name: z.string(), value: z.string().optional() })).optional(),
      selector: z.record(z.string(), z.string()),
    }),
    status: z.object({ observed: z.int().optional(), message: z.string().optional() }),
  });
  assertEquals(kind.crd().metadata.name, "widgets.bench.example.com");
});
