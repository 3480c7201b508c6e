/**
 * Measures what many objects and many watchers cost: memory, lists, and how often an event is written.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { ApiServer } from "../testing/mod.ts";
import type { Figure } from "./_figures.ts";
import { processorTime } from "./_writes.ts";
import { ask, CONFIG_MAPS, configMap, DEFINITION, sending, status, widget, WIDGETS } from "./_world.ts";

const OBJECTS = 50_000, SIZE = 1000, WATCHERS = 1000, CHANGES = 100;

/** Reads a body to its end without keeping it; its length in bytes. */
async function lengthOf(response: Response): Promise<number> {
  let length = 0;
  for await (const chunk of response.body!) length += chunk.length;
  return length;
}

/** Holds many objects, and lists them. */
export async function held(): Promise<Figure[]> {
  await using server = new ApiServer();
  const send = sending(server.fetch);
  await ask(send, 200, "GET", "/api/v1/namespaces/default");
  const before = Deno.memoryUsage().rss;
  let size = 0;
  for (let index = 0; index < OBJECTS; index++) {
    size += (await ask(send, 201, "POST", CONFIG_MAPS, configMap(`c${index}`, SIZE))).length;
  }
  assert(Math.abs(size / OBJECTS - SIZE) < 24, `an object has ${size / OBJECTS} bytes`);
  const megabytes = (Deno.memoryUsage().rss - before) / 1e6;
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const begin = performance.now();
    const length = await lengthOf(await server.fetch(new Request(`http://kubernetes${CONFIG_MAPS}`)));
    times.push(performance.now() - begin);
    assert(length > OBJECTS * (SIZE - 64), `a list has ${length} bytes`);
  }
  return [
    { figure: "growth of memory with 50,000 objects of 1 kB", measured: megabytes, unit: "MB", atMost: 200 },
    { figure: "list of 50,000 objects of 1 kB, the first", measured: times[0]!, unit: "ms", atMost: 1000 },
    { figure: "list of 50,000 objects of 1 kB, the third", measured: times[2]!, unit: "ms", atMost: 1000 },
  ];
}

/** Tells many watchers of changes, each of which is written once. */
export async function watched(): Promise<Figure[]> {
  await using server = new ApiServer();
  const send = sending(server.fetch);
  await server.apply(DEFINITION);
  await ask(send, 201, "POST", WIDGETS, widget("w"));
  const { metadata } = JSON.parse(await ask(send, 200, "GET", WIDGETS));
  const path = `http://kubernetes${WIDGETS}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const readers = await Promise.all(Array.from({ length: WATCHERS }, async () => {
    return (await server.fetch(new Request(path))).body!.getReader();
  }));
  const written = new Set<Uint8Array>();
  const before = processorTime(), begin = performance.now();
  for (let change = 1; change <= CHANGES; change++) {
    await ask(
      send,
      200,
      "PATCH",
      `${WIDGETS}/w/status`,
      { status: status(change) },
      "application/merge-patch+json",
    );
    for (const reader of readers) written.add((await reader.read()).value!);
  }
  const seconds = (performance.now() - begin) / 1000, events = WATCHERS * CHANGES;
  const cpu = (processorTime() - before) / events;
  const last = JSON.parse(new TextDecoder().decode([...written].at(-1)));
  assertEquals([last.type, last.object.status.ready], ["MODIFIED", CHANGES]);
  await Promise.all(readers.map((reader) => reader.cancel()));
  return [
    {
      figure: "times that an event is written for 1,000 watchers",
      measured: written.size / CHANGES,
      unit: "",
      atMost: 1,
    },
    { figure: "events given to 1,000 watchers", measured: events / seconds, unit: "/s", cpu },
  ];
}
