import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { slim } from "../_decode.ts";
import { type Frame, Source } from "../_watch_source.ts";
import { Client } from "../client.ts";
import { ApiError, TransportError } from "../errors.ts";
import { Informer } from "../informer.ts";
import { ConfigMap } from "../kinds.ts";
import type { KubernetesObject } from "../resource.ts";

const encoder = new TextEncoder();
const PLAIN =
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"7"}}';

/** A source whose server answers with these pieces, then ends, fails, or waits for its client to leave. */
function source(
  pieces: readonly (string | Uint8Array)[],
  last: "close" | "fail" | "wait" = "close",
): { api: Source<ConfigMap>; controller: AbortController } {
  const fetch = (request: Request): Promise<Response> => {
    const left = pieces.map((piece) => typeof piece === "string" ? encoder.encode(piece) : piece).filter(({ length }) =>
      length > 0
    );
    let cancelled = (): void => {};
    const body = new ReadableStream({
      type: "bytes",
      autoAllocateChunkSize: 65_536,
      pull(controller) {
        const { byobRequest } = controller;
        const piece = left.shift();
        if (piece) {
          controller.enqueue(piece.slice());
        } else if (last === "close") {
          controller.close();
          byobRequest?.respond(0);
        } else if (last === "fail") controller.error(new TypeError("connection reset"));
        else return new Promise<void>((resolve) => cancelled = resolve);
      },
      cancel: () => cancelled(),
    });
    request.signal.addEventListener("abort", () => cancelled(), { once: true });
    return Promise.resolve(new Response(body, { headers: { "content-type": "application/json" } }));
  };
  const controller = new AbortController();
  const client = new Client({ fetch });
  return { api: new Source(client.api(ConfigMap), { signal: controller.signal }), controller };
}

/** What the frames of a watch say. */
interface Said {
  frames: unknown[];
  missed: boolean;
}

function saying(frame: Frame<ConfigMap>): unknown {
  if (frame.type === "bookmark") return frame;
  const { key, uid, resourceVersion } = frame.object;
  return { type: frame.type, key, uid, resourceVersion, object: frame.object.read() };
}

async function watch(...pieces: (string | Uint8Array)[]): Promise<Said> {
  const { api } = source(pieces);
  await using stream = await api.watch({});
  const frames: unknown[] = [];
  for await (const frame of stream) frames.push(saying(frame));
  return { frames, missed: api.missed };
}

/** What a text that a watch sends says: each line parsed as a whole. */
function expected(text: string): Said {
  const said: Said = { frames: [], missed: false };
  const all = text.split("\n");
  all.forEach((line, index) => {
    if (line.trim() === "") return;
    try {
      const { type, object } = JSON.parse(line);
      if (type === "BOOKMARK") {
        const { resourceVersion, annotations } = object.metadata;
        if (typeof resourceVersion !== "string") throw new TypeError();
        const initialEventsEnd = annotations?.["k8s.io/initial-events-end"] === "true";
        said.frames.push({ type: "bookmark", resourceVersion, initialEventsEnd });
        return;
      }
      if (!["ADDED", "MODIFIED", "DELETED"].includes(type) || typeof object.metadata.name !== "string") {
        throw new TypeError();
      }
      const { uid, resourceVersion, name, namespace } = object.metadata;
      said.frames.push({
        type: type === "DELETED" ? "deleted" : "applied",
        key: namespace ? `${namespace}/${name}` : name,
        uid,
        resourceVersion,
        object: slim({ apiVersion: "v1", kind: "ConfigMap", ...object } as KubernetesObject),
      });
    } catch {
      if (index < all.length - 1) said.missed = true;
    }
  });
  return said;
}

const LINES: Record<string, string> = {
  "as API servers write it": `{"type":"ADDED","object":${PLAIN}}`,
  "that ends with CRLF": `{"type":"MODIFIED","object":${PLAIN}}\r`,
  "with its type after its object": `{"object":${PLAIN},"type":"DELETED"}`,
  "with white space": ` { "type" : "ADDED" , "object" : ${PLAIN} } `,
  "with white space after the object": `{"type":"ADDED","object":${PLAIN} }`,
  "with more than it should have": `{"type":"ADDED","object":${PLAIN},"other":[1]}`,
  "with a second type": `{"type":"ADDED","object":${PLAIN},"type":"DELETED"}`,
  "with a second object": `{"type":"ADDED","object":{"metadata":{"name":"other"}},"object":${PLAIN}}`,
  "with escapes in its type": `{"type":"ADD\\u0045D","object":${PLAIN}}`,
  "with the object's name twice":
    '{"type":"ADDED","object":{"metadata":{"name":"a","name":"b","uid":"u","resourceVersion":"1"}}}',
  "with the metadata twice":
    '{"type":"ADDED","object":{"metadata":{"name":"a","uid":"1"},"metadata":{"name":"b","uid":"u","resourceVersion":"1"}}}',
  "with the kind twice": `{"type":"ADDED","object":${PLAIN.replace("{", '{"kind":"Other",')}}`,
  "without uid or resourceVersion": '{"type":"ADDED","object":{"metadata":{"name":"a"}}}',
  "with numbers of any size":
    '{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"123456789012345678901","generation":123456789012345678901},"data":{"a":1e400,"b":123456789012345678901,"c":-0}}}',
  "with a very long name of a member": `{"type":"ADDED","object":${
    PLAIN.replace("{", `{"${"k".repeat(200_000)}":"é",`)
  }}`,
  "with a byte order mark": `\ufeff{"type":"ADDED","object":${PLAIN}}`,
  "with a byte order mark in a name": `{"type":"ADDED","object":${PLAIN.replace('"web"', '"\ufeffweb"')}}`,
  "with an object and no name": '{"type":"ADDED","object":{"metadata":{}}}',
  "with null for an object": '{"type":"ADDED","object":null}',
  "with text for an object": '{"type":"ADDED","object":"x"}',
  "with too many braces": `{"type":"ADDED","object":${PLAIN}}}`,
  "with too few braces": `{"type":"ADDED","object":${PLAIN}`,
  "with an object that is cut": '{"type":"ADDED","object":{"metadata":{"name":"we',
  "with a comma too many": '{"type":"ADDED","object":{"metadata":{"name":"a",}}}',
  "with another line's rest": `{"type":"ADDED","object":${PLAIN}}{"type":"ADDED","object":${PLAIN}}`,
  "of an unknown type": `{"type":"ADDER","object":${PLAIN}}`,
  "that is a bookmark":
    '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}',
  "that is a bookmark without a version": '{"type":"BOOKMARK","object":{"metadata":{}}}',
  "that is no object": '["ADDED"]',
  "that is a word": "ADDED",
};

for (const [what, line] of Object.entries(LINES)) {
  Deno.test(`Source.watch() reads a line ${what} as JSON.parse does, and the lines around it`, async () => {
    const usual = `{"type":"ADDED","object":${PLAIN}}`;
    for (const text of [`${line}\n`, `${usual}\n${line}\n${usual}\n`, `${usual}\n\n${line}`]) {
      assertEquals(await watch(text), expected(text));
      const bytes = encoder.encode(text);
      const places = bytes.length < 1000 ? [...bytes.keys()] : [1, 70_000, bytes.length - 3];
      for (const at of places) assertEquals(await watch(bytes.slice(0, at), bytes.slice(at)), expected(text));
    }
  });
}

Deno.test("Source.watch() reads invalid UTF-8 as U+FFFD", async () => {
  const [head, tail] = `{"type":"ADDED","object":${PLAIN.replace("{", '{"data":{"a":"#"},')}}\n`.split("#") as [
    string,
    string,
  ];
  for (const invalid of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f]]) {
    const bytes = new Uint8Array([...encoder.encode(head), ...invalid, ...encoder.encode(tail)]);
    assertEquals(await watch(bytes), expected(new TextDecoder().decode(bytes)));
  }
});

Deno.test("Source.watch() reads any lines as JSON.parse does, however they are cut", async () => {
  const line = fc.constantFrom(...Object.values(LINES).filter(({ length }) => length < 1000), "", "\r");
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.array(fc.nat(900)), fc.boolean(), async (lines, at, ends) => {
      const text = lines.join("\n") + (ends ? "\n" : "");
      const bytes = encoder.encode(text);
      const points = [0, ...at.filter((point) => point < bytes.length).sort((a, b) => a - b), bytes.length];
      const pieces = points.slice(1).map((end, index) => bytes.slice(points[index], end)).filter(({ length }) =>
        length > 0
      );
      assertEquals(await watch(...pieces), expected(text));
    }),
    { numRuns: 200 },
  );
});

Deno.test("Source.watch() tells what came whole before its body fails, and nothing of a line that it fails in", async () => {
  const { api } = source([`{"type":"ADDED","object":${PLAIN}}\n{"type":"ADDED","obj`], "fail");
  await using stream = await api.watch({});
  const frames = stream[Symbol.asyncIterator]();
  assertEquals(saying((await frames.next()).value), expected(`{"type":"ADDED","object":${PLAIN}}`).frames[0]);
  await assertRejects(() => Promise.resolve(frames.next()), TransportError);
  assertEquals(api.missed, false);
});

Deno.test("Source.watch() fails with its signal's reason when it aborts in the middle of a line", async () => {
  const { api, controller } = source([`{"type":"ADDED","object":${PLAIN}}\n{"type":"ADDED","obj`], "wait");
  await using stream = await api.watch({});
  const frames = stream[Symbol.asyncIterator]();
  await frames.next();
  const next = Promise.resolve(frames.next()).catch((error) => error);
  const reason = new Error("over");
  controller.abort(reason);
  assertEquals(await next, reason);
  assertEquals(api.missed, false);
});

Deno.test("Source.watch() fails with what an ERROR line says, wherever its type is", async () => {
  const status = '{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired"}';
  for (const line of [`{"type":"ERROR","object":${status}}`, `{"object":${status},"type":"ERROR"}`]) {
    const error = await assertRejects(() => watch(`${line}\n`), ApiError);
    assertEquals(error.code, 410);
  }
});

Deno.test("Source.list() refuses what is not whole, and says nothing of what it read", async () => {
  const head = '{"metadata":{"resourceVersion":"1"},"items":[';
  const object = '{"metadata":{"name":"hunter2","uid":"u","resourceVersion":"1"}}';
  for (
    const text of [
      ...[
        head,
        `${head}${object}`,
        `${head}${object},`,
        `${head}${object}]`,
        `${head}${object},]}`,
        `${head}${object}]}x`,
      ],
      ...[
        `${head}${object}${object}]}`,
        `${head}hunter2]}`,
        `${head}{"metadata":{"name":"hunter2",}}]}`,
        "",
        "[]",
        "null",
      ],
      ...[`\ufeff${head}${object}]}`, `{"items":[${object}]}`, `${head}${object}]}{}`],
    ]
  ) {
    for (const last of ["close", "fail"] as const) {
      const { api } = source([text], last);
      const error = await assertRejects(() => api.list({}), TransportError);
      assert(!Deno.inspect(error).includes("hunter2"), Deno.inspect(error));
    }
  }
});

Deno.test("Source.list() keeps as text each object of a list, not the first alone", async () => {
  const items = Array.from(
    { length: 5 },
    (_, n) => `{"metadata":{"name":"${n}","uid":"${n}","resourceVersion":"1"}, "data":{}}`,
  );
  const { api } = source([`{"metadata":{"resourceVersion":"1"},"items":[${items.join()}]}`]);
  const { objects } = await api.list({});
  assertEquals(objects.map(({ length }) => length), items.map(({ length }) => length));
});

Deno.test("Informer hands out an object that is larger than what stays parsed", async () => {
  // Half as large as it may be; a release of Helm is a Secret of such a size.
  const large = `{"metadata":{"name":"large","namespace":"a","uid":"u","resourceVersion":"1"},"data":{"a":"${
    "x".repeat(600_000)
  }"}}`;
  const controller = new AbortController();
  const fetch = (request: Request): Promise<Response> => {
    const isWatch = new URL(request.url).searchParams.has("watch");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (isWatch) return request.signal.addEventListener("abort", () => controller.error(request.signal.reason));
        controller.enqueue(encoder.encode(`{"metadata":{"resourceVersion":"1"},"items":[${large}]}`));
        controller.close();
      },
    });
    return Promise.resolve(new Response(body));
  };
  const informer = new Informer(new Client({ fetch }), ConfigMap);
  const told: number[] = [];
  using _ = informer.subscribe(({ object }) => told.push(object.data!["a"]!.length));
  const running = informer.run(controller.signal);
  await informer.whenSynced();
  assertEquals([told, informer.get("a/large")?.data?.["a"]?.length, informer.list().length], [[600_000], 600_000, 1]);
  controller.abort();
  await running;
});
