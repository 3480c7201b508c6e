import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { lines, type ListHead, readList } from "../_stream.ts";
import { Window } from "../_window.ts";

const encoder = new TextEncoder();

/** A body made of these chunks; tells whether it was cancelled. */
function body(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> & { cancelled?: boolean } {
  const left = chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk);
  const stream: ReadableStream<Uint8Array> & { cancelled?: boolean } = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
    cancel() {
      stream.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return stream;
}

function cut(bytes: Uint8Array, ...at: number[]): Uint8Array[] {
  const points = [0, ...at.filter((point) => point <= bytes.length).sort((a, b) => a - b), bytes.length];
  return points.slice(1).map((end, index) => bytes.slice(points[index], end));
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const one of source) seen.push(one);
  return seen;
}

Deno.test("lines() yields the same for a cut at every byte of multi-byte text (B14)", async () => {
  const expected = ['{"a":"é ß"}', '{"b":"€ 中文"}', '{"c":"😀𝒳"}'];
  const bytes = encoder.encode(expected.join("\n") + "\n");
  for (let at = 0; at <= bytes.length; at++) {
    assertEquals(await all(lines(body(...cut(bytes, at)))), expected, `cut at ${at}`);
  }
  assertEquals(await all(lines(body(...cut(bytes, ...bytes.keys())))), expected, "cut everywhere");
});

Deno.test("lines() puts a replacement character for an invalid byte and goes on (B14)", async () => {
  const first = encoder.encode('{"a":"x'), last = encoder.encode('y"}\n{"b":1}\n');
  for (const invalid of [[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98]]) {
    const bytes = new Uint8Array([...first, ...invalid, ...last]);
    assertEquals(await all(lines(body(bytes))), ['{"a":"x\ufffdy"}', '{"b":1}']);
  }
  // cut off by the newline itself
  assertEquals(await all(lines(body(new Uint8Array([0x61, 0xe2, 0x82, 0x0a, 0x62, 0x0a])))), ["a\ufffd", "b"]);
});

Deno.test("lines() leaves out empty lines and yields a last line without its newline", async () => {
  assertEquals(await all(lines(body("\n\na\n\r\n", "\nb"))), ["a", "b"]);
  assertEquals(await all(lines(body())), []);
});

Deno.test("lines() cancels the body when its consumer leaves", async () => {
  const source = body("a\nb\n", "c\n");
  for await (const line of lines(source)) {
    assertEquals(line, "a");
    break;
  }
  assert(source.cancelled);
  assert(!source.locked);
});

Deno.test("lines() fails as the body fails", async () => {
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode("a\nb"));
    },
    pull(controller) {
      controller.error(new TypeError("reset"));
    },
  });
  const seen: string[] = [];
  await assertRejects(
    async () => {
      for await (const line of lines(source)) seen.push(line);
    },
    TypeError,
    "reset",
  );
});

Deno.test("lines() gives any text back, however it is cut", async () => {
  const text = fc.string({ unit: "binary", minLength: 1 }).map((one) => one.replaceAll(/\s/g, "_"));
  await fc.assert(fc.asyncProperty(
    fc.array(text, { maxLength: 8 }),
    fc.array(fc.nat(200)),
    async (expected, at) => {
      const bytes = encoder.encode(expected.map((line) => line + "\n").join(""));
      assertEquals(await all(lines(body(...cut(bytes, ...at)))), expected.map((line) => line.toWellFormed()));
    },
  ));
});

interface Read {
  items: unknown[];
  head: ListHead;
}

function expectedOf(list: Record<string, unknown> & { items?: unknown }): Read {
  const { items, apiVersion = "", kind = "", metadata = {} } = list;
  return { items: Array.isArray(items) ? items : [], head: { apiVersion, kind, metadata } as ListHead };
}

async function read(body: ReadableStream<Uint8Array>, took?: (item: unknown) => void): Promise<Read> {
  const items: unknown[] = [];
  const head = await readList(new Window(body), (bytes, start, end) => {
    const item = JSON.parse(new TextDecoder().decode(bytes.subarray(start, end)));
    items.push(item);
    took?.(item);
  });
  return { items, head };
}

const LISTS: Record<string, string> = {
  "metadata before the items":
    '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":[2,{}]}]}',
  "metadata after the items": '{"items":[{"a":1},{"b":2}],"metadata":{"continue":"x"},"kind":"L","apiVersion":"v1"}\n',
  "no items": '{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}',
  "items that are null": '{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}',
  "items left out": '{"kind":"L","apiVersion":"v1","metadata":{}}',
  "white space everywhere":
    ' {\n "items" : [\n { "a" : 1 } ,\n { }\n ] ,\n "metadata" : { "resourceVersion" : "7" }\n } \n',
  "braces, quotes and escapes in strings":
    '{"items":[{"a":"}]{[,\\"items\\":[\\\\"},{"b":"\\\\\\""}],"metadata":{"continue":"],}\\""}}',
  "keys called items elsewhere":
    '{"metadata":{"items":[{"x":1}],"continue":"\\"items\\":["},"other":[{"items":[1]}],"items":[{"items":[{"a":1}]}]}',
  "a string that looks like the key": '{"kind":",\\"items\\":[","other":["items"],"items":[{"a":"€😀"}]}',
};

for (const [name, text] of Object.entries(LISTS)) {
  Deno.test(`readList() reads a list with ${name}, cut at every byte`, async () => {
    const expected = expectedOf(JSON.parse(text));
    const bytes = encoder.encode(text);
    for (let at = 0; at <= bytes.length; at++) {
      assertEquals(await read(body(...cut(bytes, at))), expected, `cut at ${at}`);
    }
    assertEquals(await read(body(...cut(bytes, ...bytes.keys()))), expected, "cut everywhere");
  });
}

Deno.test("readList() gives any list back, however it is cut", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.array(fc.nat(2000)),
    fc.constantFrom(undefined, 2),
    async (items, metadata, at, indent) => {
      const list = JSON.parse(JSON.stringify({ kind: "L", items, metadata, apiVersion: "v1" }));
      const bytes = encoder.encode(JSON.stringify(list, null, indent));
      assertEquals(await read(body(...cut(bytes, ...at))), expectedOf(list));
    },
  ));
});

Deno.test("readList() gives an item as soon as it is there", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const taken: ((item: unknown) => void)[] = [];
  const first = new Promise((resolve) => taken.push(resolve)), second = new Promise((resolve) => taken.push(resolve));
  const reading = read(readable, (item) => taken.shift()!(item));
  await writer.write(encoder.encode('{"kind":"L","items":[{"a":1},'));
  assertEquals(await first, { a: 1 });
  await writer.write(encoder.encode('{"a":2}],"metadata":{"resourceVersion":"9"}}'));
  assertEquals(await second, { a: 2 });
  await writer.close();
  assertEquals((await reading).head, { apiVersion: "", kind: "L", metadata: { resourceVersion: "9" } });
});

for (
  const [name, text] of Object.entries({
    "ends in an item": '{"items":[{"a":1},{"b":',
    "ends after the items": '{"items":[{"a":1}]',
    "is empty": "",
    "is not JSON": "<html></html>",
    "is followed by more": '{"items":[]}{"items":[]}',
  })
) {
  Deno.test(`readList() fails on a list that ${name}`, async () => {
    await assertRejects(() => read(body(text)), SyntaxError);
  });
}
