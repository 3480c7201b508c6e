/**
 * Measures writes: how many of each kind there are in a second, and whether that depends on what is stored.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { type KubernetesObject, resource } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { type Figure, median } from "./_figures.ts";
import { ask, CONFIG_MAPS, configMap, DEFINITION, type Fetch, status, widget, WIDGETS } from "./_world.ts";

const MERGE = "application/merge-patch+json";
const BATCH = 250;
const WIDGET = resource({ group: "bench.dev", version: "v1", kind: "Widget", plural: "widgets" });

/** One write; the index tells it from the others. */
export type Write = (index: number) => Promise<unknown>;

/** The ms that a batch of writes takes. */
async function timed(write: Write, from: number, concurrency = 1): Promise<number> {
  const begin = performance.now();
  for (let index = from; index < from + BATCH; index += concurrency) {
    if (concurrency === 1) await write(index);
    else await Promise.all(Array.from({ length: concurrency }, (_, each) => write(index + each)));
  }
  return performance.now() - begin;
}

/** How many writes there are in a second, by the batch in the middle; some come before to warm up. */
export async function rate(write: Write, count: number, concurrency = 1): Promise<number> {
  const times: number[] = [];
  for (let from = 0; from < count; from += BATCH) times.push(await timed(write, from, concurrency));
  return BATCH * 1000 / median(times.slice(times.length >> 2));
}

/** The writes that are measured, of objects that are numbered from 0 to `count`. */
export function writesTo(fetch: Fetch, count: number): Record<string, Write> {
  const widgets = (index: number): string => `${WIDGETS}/w${index % count}/status`;
  const base = { apiVersion: "bench.dev/v1", kind: "Widget" };
  return {
    "creates of widgets": (index) => ask(fetch, 201, "POST", WIDGETS, widget(`w${index}`)),
    "merge patches of their status": (index) =>
      ask(fetch, 200, "PATCH", widgets(index), { status: status(index + 1) }, MERGE),
    "JSON patches of their status": (index) => {
      const patch = [{ op: "replace", path: "/status/ready", value: count + index + 1 }];
      return ask(fetch, 200, "PATCH", widgets(index), patch, "application/json-patch+json");
    },
    "applies of their status": (index) => {
      const path = `${widgets(index)}?fieldManager=bench&force=true`;
      const applied = { ...base, metadata: { name: `w${index % count}` }, status: status(2 * count + index + 1) };
      return ask(fetch, 200, "PATCH", path, applied, "application/apply-patch+yaml");
    },
    "creates of config maps": (index) => ask(fetch, 201, "POST", CONFIG_MAPS, configMap(`c${index}`, 1000)),
    "merge patches of config maps": (index) =>
      ask(fetch, 200, "PATCH", `${CONFIG_MAPS}/c${index % count}`, { data: { count: `${index}` } }, MERGE),
  };
}

/** Measures all writes, and that each of them took effect. */
export async function measureWrites(
  fetch: Fetch,
  count: number,
  where: string,
  atLeast: number,
  concurrency = 1,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const before = await newest(fetch);
  const writes = Object.entries(writesTo(fetch, count));
  for (const [name, write] of writes) {
    const measured = await rate(write, count, concurrency);
    figures.push({
      figure: `${name}, ${where}`,
      measured,
      unit: "/s",
      ...(name.includes("applies") ? {} : { atLeast }),
    });
  }
  assertEquals(await newest(fetch) - before, writes.length * count);
  const last = JSON.parse(await ask(fetch, 200, "GET", `${WIDGETS}/w${count - 1}`));
  assertEquals([last.status.ready, last.spec.size, last.metadata.managedFields.length], [3 * count, 1, 3]);
  return figures;
}

async function newest(fetch: Fetch): Promise<number> {
  return Number(JSON.parse(await ask(fetch, 200, "GET", `${CONFIG_MAPS}?limit=1`)).metadata.resourceVersion);
}

/** Measures writes in process, as requests and through a client. */
export async function inProcess(): Promise<Figure[]> {
  await using server = new ApiServer();
  await server.apply(DEFINITION);
  const figures = await measureWrites(server.fetch, 10_000, "in process", 10_000);
  await using client = server.client();
  const widgets = client.api(WIDGET);
  const create = (index: number) => widgets.create(widget(`k${index}`) as KubernetesObject);
  figures.push({ figure: "creates of widgets, through a client", measured: await rate(create, 5000), unit: "/s" });
  assertEquals((await widgets.get({ name: "k4999", namespace: "default" })).metadata.generation, 1);
  return figures;
}

/** Compares writes where few objects are stored with the same ones where many are; batches of both take turns. */
export async function atScale(): Promise<Figure[]> {
  const sizes = [1000, 100_000] as const;
  await using few = new ApiServer();
  await using many = new ApiServer();
  const [small, large] = await Promise.all([few, many].map(async (server, index) => {
    await server.apply(DEFINITION);
    const writes = writesTo(server.fetch, sizes[index]!);
    const create = writes["creates of widgets"]!;
    for (let each = 0; each < sizes[index]!; each++) await create(each);
    return writes;
  }));
  const figures: Figure[] = [];
  for (const name of ["creates of widgets", "merge patches of their status"]) {
    const ratios: number[] = [];
    for (let from = 0; from < 15_000; from += BATCH) {
      const base = name.startsWith("creates") ? 100_000 : 0;
      const a = await timed(small![name]!, base + from), b = await timed(large![name]!, base + from);
      ratios.push(b / a);
    }
    const measured = median(ratios);
    figures.push({ figure: `${name}, at 100,000 objects to 1,000`, measured, unit: "x", atMost: 1.3 });
  }
  const { items } = JSON.parse(await ask(many.fetch, 200, "GET", WIDGETS));
  assertEquals(items.length, 115_000);
  return figures;
}
