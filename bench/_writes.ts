/**
 * Measures requests: how many of each kind there are in a second, what they cost, and whether that depends on what is stored.
 *
 * @module
 */
import { cpuUsage } from "node:process";
import { assertEquals } from "@std/assert";
import type { Api } from "../client.ts";
import { type KubernetesObject, resource } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { type Figure, median } from "./_figures.ts";
import { ask, CONFIG_MAPS, configMap, DEFINITION, type Send, sending, status, widget, WIDGETS } from "./_world.ts";

const MERGE = "application/merge-patch+json";
const BATCH = 250;
const WIDGET = resource({ group: "bench.dev", version: "v1", kind: "Widget", plural: "widgets" });

/** One request; the index tells it from the others. */
export type Write = (index: number) => Promise<unknown>;

/** The ms that a batch of writes takes. */
async function timed(write: Write, from: number, concurrency = 1): Promise<number> {
  const begin = performance.now();
  const some = async (first: number): Promise<void> => {
    for (let index = from + first; index < from + BATCH; index += concurrency) await write(index);
  };
  await Promise.all(Array.from({ length: concurrency }, (_, first) => some(first)));
  return performance.now() - begin;
}

/** Time of the processor that this process took, in us. */
export function processorTime(): number {
  const { user, system } = cpuUsage();
  return user + system;
}

/** How many there are in a second, by the batch in the middle, and what one costs; the first quarter warms up. */
export async function rate(
  write: Write,
  count: number,
  concurrency = 1,
): Promise<Required<Pick<Figure, "measured" | "unit" | "cpu">>> {
  const times: number[] = [];
  const warm = Math.floor(count / BATCH / 4) * BATCH;
  let before = 0;
  for (let from = 0; from < count; from += BATCH) {
    if (from === warm) before = processorTime();
    times.push(await timed(write, from, concurrency));
  }
  const cpu = (processorTime() - before) / (count - warm);
  return { measured: BATCH * 1000 / median(times.slice(warm / BATCH)), unit: "/s", cpu };
}

/** The writes that are measured, of objects that are numbered from 0 to `count`. */
export function writesTo(send: Send, count: number): Record<string, Write> {
  const widgets = (index: number): string => `${WIDGETS}/w${index % count}/status`;
  const base = { apiVersion: "bench.dev/v1", kind: "Widget" };
  return {
    "creates of widgets": (index) => ask(send, 201, "POST", WIDGETS, widget(`w${index}`)),
    "merge patches of their status": (index) =>
      ask(send, 200, "PATCH", widgets(index), { status: status(index + 1) }, MERGE),
    "JSON patches of their status": (index) => {
      const patch = [{ op: "replace", path: "/status/ready", value: count + index + 1 }];
      return ask(send, 200, "PATCH", widgets(index), patch, "application/json-patch+json");
    },
    "applies of their status": (index) => {
      const path = `${widgets(index)}?fieldManager=bench&force=true`;
      const applied = { ...base, metadata: { name: `w${index % count}` }, status: status(2 * count + index + 1) };
      return ask(send, 200, "PATCH", path, applied, "application/apply-patch+yaml");
    },
    "creates of config maps": (index) => ask(send, 201, "POST", CONFIG_MAPS, configMap(`c${index}`, 1000)),
    "merge patches of config maps": (index) =>
      ask(send, 200, "PATCH", `${CONFIG_MAPS}/c${index % count}`, { data: { count: `${index}` } }, MERGE),
  };
}

/** Measures all writes, and that each of them took effect. */
export async function measureWrites(
  send: Send,
  count: number,
  where: string,
  atLeast: number,
  concurrency = 1,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const before = await newest(send);
  const writes = Object.entries(writesTo(send, count));
  for (const [name, write] of writes) {
    figures.push({
      figure: `${name}, ${where}`,
      ...await rate(write, count, concurrency),
      ...(name.includes("applies") ? {} : { atLeast }),
    });
  }
  assertEquals(await newest(send) - before, writes.length * count);
  const last = JSON.parse(await ask(send, 200, "GET", `${WIDGETS}/w${count - 1}`));
  assertEquals([last.status.ready, last.spec.size, last.metadata.managedFields.length], [3 * count, 1, 3]);
  return figures;
}

async function newest(send: Send): Promise<number> {
  return Number(JSON.parse(await ask(send, 200, "GET", `${CONFIG_MAPS}?limit=1`)).metadata.resourceVersion);
}

/** Measures requests in process, and the same through a client. */
export async function inProcess(): Promise<Figure[]> {
  await using server = new ApiServer();
  await server.apply(DEFINITION);
  const send = sending(server.fetch);
  const figures = await measureWrites(send, 10_000, "in process", 10_000);
  await using client = server.client();
  const widgets = client.api(WIDGET), count = 5000;
  const target = (index: number) => ({ name: `k${index}`, namespace: "default" });
  const requests: Record<string, Write> = {
    "gets of widgets, in process": (index) => ask(send, 200, "GET", `${WIDGETS}/w${index}`),
    "creates of widgets, through a client": (index) => widgets.create(widget(`k${index}`) as KubernetesObject),
    "merge patches of their status, through a client": (index) =>
      widgets.status.patch(target(index), { status: status(index + 1) }),
    "applies of their status, through a client": (index) =>
      widgets.status.apply({ metadata: target(index), status: status(count + index) } as Applied, { force: true }),
    "gets of widgets, through a client": (index) => widgets.get(target(index)),
  };
  for (const [figure, request] of Object.entries(requests)) figures.push({ figure, ...await rate(request, count) });
  const page = () => ask(send, 200, "GET", `${CONFIG_MAPS}?limit=100`);
  figures.push({ figure: "list pages of 100 config maps, in process", ...await rate(page, 1000) });
  const last = await widgets.get(target(count - 1)) as KubernetesObject & { status: { ready: number } };
  assertEquals([last.metadata.generation, last.status.ready], [1, 2 * count - 1]);
  return figures;
}

/** What an apply is given. */
type Applied = Parameters<Api["apply"]>[0];

/** Compares writes where few objects are stored with the same ones where many are; batches of both take turns. */
export async function atScale(): Promise<Figure[]> {
  const sizes = [1000, 100_000] as const;
  await using few = new ApiServer();
  await using many = new ApiServer();
  const [small, large] = await Promise.all([few, many].map(async (server, index) => {
    await server.apply(DEFINITION);
    const writes = writesTo(sending(server.fetch), sizes[index]!);
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
  const { items } = JSON.parse(await ask(sending(many.fetch), 200, "GET", WIDGETS));
  assertEquals(items.length, 115_000);
  return figures;
}
