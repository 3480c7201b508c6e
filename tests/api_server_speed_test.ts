/** Holds what keeps the API server in memory fast and small, by counting: nothing here looks at a clock. */
import { assert, assertEquals, assertNotStrictEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Bucket } from "../testing/_bucket.ts";
import { decodeCustom } from "../testing/_decode_custom.ts";
import { trackUpdate } from "../testing/_managed_fields.ts";
import type { Kube } from "../testing/_objects.ts";
import type { ResourceInfo } from "../testing/_resource_info.ts";
import { Recent, Revision } from "../testing/_revision.ts";
import type { Schema } from "../testing/_schema.ts";
import { Store } from "../testing/_store.ts";
import { validate } from "../testing/_validate.ts";
import { ApiServer } from "../testing/mod.ts";
import { FakeTime } from "@std/testing/time";
import { advance } from "./_time.ts";
import { CONFIG_MAPS as MAPS, definition, SCHEMA, WIDGETS } from "./_api.ts";

async function ask(server: ApiServer, method: string, path: string, body?: unknown): Promise<string> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": type } };
  const response = await server.fetch(new Request(`http://kubernetes${path}`, { method, ...init }));
  assert(response.ok, `${method} ${path}: ${response.status}`);
  return await response.text();
}

async function fill(server: ApiServer, count: number, from = 0): Promise<void> {
  for (let index = from; index < from + count; index++) {
    const metadata = { name: `m${index}`, labels: { parity: index % 2 ? "odd" : "even" } };
    await ask(server, "POST", MAPS, { metadata, data: { index: `${index}` } });
  }
}

/** Counts calls of a method for which something holds, while something runs. */
async function counted<T extends object, K extends keyof T>(
  target: T,
  name: K,
  counts: (argument: unknown) => boolean,
  run: () => Promise<unknown>,
): Promise<number> {
  const real = target[name] as (...args: unknown[]) => unknown;
  let count = 0;
  target[name] = ((...args: unknown[]) => {
    if (counts(args[0])) count++;
    return real.apply(target, args);
  }) as T[K];
  try {
    await run();
  } finally {
    target[name] = real as T[K];
  }
  return count;
}

function isStored(value: unknown): boolean {
  return (value as { metadata?: { uid?: string } } | undefined)?.metadata?.uid !== undefined;
}

const isStoredText = (value: unknown): boolean => String(value).includes('"uid":');

/** How often states are read while something runs: as values, and as texts. */
async function reads(run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const real = (["object", "text"] as const).map((name) =>
    [name, Object.getOwnPropertyDescriptor(Revision.prototype, name)!] as const
  );
  for (const [name, { get }] of real) {
    Object.defineProperty(Revision.prototype, name, {
      configurable: true,
      get(this: Revision) {
        count++;
        return get!.call(this);
      },
    });
  }
  try {
    await run();
  } finally {
    for (const [name, descriptor] of real) Object.defineProperty(Revision.prototype, name, descriptor);
  }
  return count;
}

Deno.test("An event is written once, however many watch", async () => {
  await using server = new ApiServer();
  await fill(server, 1);
  const path = `http://kubernetes${MAPS}?watch=1&resourceVersion=${server.resourceVersion}`;
  const readers = await Promise.all(
    Array.from({ length: 20 }, async () => (await server.fetch(new Request(path))).body!.getReader()),
  );
  for (const write of [() => fill(server, 1, 1), () => ask(server, "PATCH", `${MAPS}/m0`, { data: { k: "w" } })]) {
    await write();
    const lines = await Promise.all(readers.map(async (reader) => (await reader.read()).value));
    for (const line of lines) assertStrictEquals(line, lines[0]);
  }
  await Promise.all(readers.map((reader) => reader.cancel()));
});

Deno.test("An object is written as JSON once: its answers, lists and watches share the text", async () => {
  for (const custom of [false, true]) {
    await using server = new ApiServer();
    if (custom) await server.apply(definition(SCHEMA));
    const maps = custom ? WIDGETS : MAPS;
    const body = custom ? { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" } } : {
      metadata: { name: "a" },
    };
    const written = await counted(JSON, "stringify", isStored, async () => {
      await ask(server, "POST", maps, body);
      for (const path of [maps, maps, `${maps}?limit=1`, `${maps}/a`]) await ask(server, "GET", path);
      const watch = await server.fetch(new Request(`http://kubernetes${maps}?watch=1`));
      const reader = watch.body!.getReader();
      await reader.read();
      await ask(server, "PATCH", `${maps}/a`, { metadata: { labels: { a: "b" } } });
      await reader.read();
      await reader.cancel();
    });
    assertEquals(written, 2);
  }
});

Deno.test("Lists, and selections by name and label, read no value anew", async () => {
  await using server = new ApiServer();
  await fill(server, 1500);
  for (const [query, count] of [["", 1500], ["?labelSelector=parity%3Dodd", 750], ["?limit=10", 10]] as const) {
    let text = "";
    const parsed = await counted(
      JSON,
      "parse",
      isStoredText,
      async () => text = await ask(server, "GET", MAPS + query),
    );
    assertEquals([query, parsed, JSON.parse(text).items.length], [query, 0, count]);
  }
  const named = `${MAPS}?fieldSelector=metadata.name%3Dm7`;
  assertEquals(await counted(JSON, "parse", isStoredText, () => ask(server, "GET", named)), 0);
});

Deno.test("A write looks at no more objects where many are stored", async () => {
  await using server = new ApiServer();
  const writes = async (name: string): Promise<number> => {
    return await reads(async () => {
      await ask(server, "POST", MAPS, { metadata: { name } });
      await ask(server, "PATCH", `${MAPS}/${name}`, { data: { k: "v" } });
      await ask(server, "DELETE", `${MAPS}/${name}`);
    });
  };
  await fill(server, 3);
  const few = await writes("x");
  await fill(server, 300, 3);
  assertEquals(await writes("y"), few);
});

Deno.test("The garbage collector looks at no more objects where many are stored", async () => {
  const time = new FakeTime();
  try {
    await using server = new ApiServer({ controllers: ["garbage-collector"] });
    const collected = async (name: string): Promise<number> => {
      const owner = JSON.parse(await ask(server, "POST", MAPS, { metadata: { name } }));
      const { apiVersion, kind, metadata: { uid } } = owner;
      const ownerReferences = [{ apiVersion, kind, name, uid, blockOwnerDeletion: true }];
      await ask(server, "POST", MAPS, { metadata: { name: `${name}-dependent`, ownerReferences } });
      const count = await reads(async () => {
        await ask(server, "DELETE", `${MAPS}/${name}?propagationPolicy=Foreground`);
        await advance(time, 100, 10);
      });
      const left = JSON.parse(await ask(server, "GET", MAPS)).items;
      assert(left.every(({ metadata }: { metadata: { name: string } }) => !metadata.name.startsWith(name)));
      return count;
    };
    await fill(server, 3);
    const few = await collected("x");
    await fill(server, 300, 3);
    assertEquals(await collected("y"), few);
  } finally {
    time.restore();
  }
});

Deno.test("What a patch of a custom resource leaves alone is not looked at again", () => {
  const look = (): never => {
    throw new Error("It was looked at");
  };
  const spec = new Proxy({}, { get: look, has: look, ownKeys: look, getOwnPropertyDescriptor: look });
  const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema: Schema = { type: "object", properties: { spec: free, status: free } };
  const apiVersion = "example.com/v1", time = "2030-01-01T00:00:00Z";
  const owned = { "f:status": { "f:size": {} } };
  const entry = { manager: "m", operation: "Update", apiVersion, time, fieldsType: "FieldsV1", fieldsV1: owned };
  const base = { apiVersion, kind: "Widget", metadata: { name: "a", managedFields: [entry] }, spec };
  const live = { ...base, status: { size: 1 } }, updated = { ...base, status: { size: 2 } };
  const info = { custom: { schema } } as unknown as ResourceInfo;
  const { object, problems } = decodeCustom(info, updated, () => look(), { live });
  assertEquals([object.status, problems], [{ size: 2 }, []]);
  assertEquals(validate(object, schema, { previous: live }), []);
  const change = { live, updated: object, manager: "n", schema, apiVersion, time };
  const { metadata } = trackUpdate({ ...change, subresource: "status" }) as Kube;
  assertEquals(metadata.managedFields?.map(({ manager }) => manager), ["n"]);
  assertThrows(() => decodeCustom(info, updated, () => look()), Error, "It was looked at");
});

Deno.test("A page looks at no more objects than it takes to fill it", () => {
  const pods = new Store().collection("pods");
  for (let index = 100; index < 1100; index++) {
    pods.put("shop", `p${index}`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `p${index}`, namespace: "shop" },
    });
  }
  const seen: string[] = [];
  const selects = ({ name }: Revision): boolean => seen.push(name) % 2 === 1;
  const { items, rest } = pods.page({ namespace: "shop", after: "shop/p1009", limit: 3, selects });
  assertEquals([seen, rest], [["p101", "p1010", "p1011", "p1012", "p1013"], 984]);
  assertEquals(items.map(({ name }) => name), ["p101", "p1011", "p1013"]);
});

Deno.test("A state is a value while it is recent, and is read from its JSON after that", () => {
  const recent = new Recent(2);
  const [a, b, c] = ["a", "b", "c"].map((name) =>
    new Revision({ apiVersion: "v1", kind: "Pod", metadata: { name } }, { version: 1, namespace: "", name }, recent)
  );
  const { object } = b!, text = a!.text;
  assertStrictEquals(b!.object, object);
  assertEquals(a!.object, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } });
  assertNotStrictEquals(b!.object, object);
  assertEquals([b!.object, b!.text, a!.text, c!.name], [object, JSON.stringify(object), text, "c"]);
});

Deno.test("The names of a bucket are those of its objects in order, whatever was put and deleted", () => {
  const recent = new Recent(1);
  const change = fc.record({
    name: fc.integer({ min: 0, max: 60 }).map(String),
    puts: fc.boolean(),
    lists: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
    const bucket = new Bucket(), expected = new Set<string>();
    for (const { name, puts, lists } of changes) {
      if (puts) {
        bucket.put(
          name,
          new Revision({ apiVersion: "v1", kind: "Pod", metadata: { name } }, {
            version: 1,
            namespace: "",
            name,
          }, recent),
        );
        expected.add(name);
      } else {
        bucket.delete(name);
        expected.delete(name);
      }
      if (lists) assertEquals(bucket.names(), [...expected].sort());
    }
    assertEquals(bucket.names(), [...expected].sort());
  }));
});
