import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { readerOf, readText, watched } from "../_body.ts";
import { MAX_OBJECT } from "../_limits.ts";
import { lines, nextLine, readList } from "../_stream.ts";
import { Window } from "../_window.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const SIZE = 65_536;

/** What a body does after its pieces. */
type Last = "close" | "fail" | "wait";

/** A body; how often it was cancelled. */
type Body = ReadableStream<Uint8Array> & { cancelled?: number };

/** What is common to bodies that are read piece by piece, and those that are read into memory of their reader's. */
interface Source {
  next(): Uint8Array | undefined;
}

function pieces(all: readonly Uint8Array[]): Source {
  const left = [...all];
  return { next: () => left.shift() };
}

const BODIES: Record<string, (pieces: readonly Uint8Array[], last?: Last) => Body> = {
  "an ordinary body": (all, last = "close") => {
    const source = pieces(all);
    const body: Body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = source.next();
        if (piece) controller.enqueue(piece);
        else if (last === "close") controller.close();
        else if (last === "fail") controller.error(new TypeError("reset"));
        else return new Promise(() => {});
      },
      cancel: () => void (body.cancelled = (body.cancelled ?? 0) + 1),
    }, { highWaterMark: 0 });
    return body;
  },
  "a body that is read into the window": (all, last = "close") => {
    const source = pieces(all);
    let rest: Uint8Array | undefined;
    const body: Body = new ReadableStream({
      type: "bytes",
      pull(controller) {
        const request = controller.byobRequest!;
        const piece = rest ?? source.next();
        if (piece) {
          const view = request.view as Uint8Array;
          const length = Math.min(view.byteLength, piece.length);
          new Uint8Array(view.buffer, view.byteOffset, length).set(piece.subarray(0, length));
          rest = length < piece.length ? piece.subarray(length) : undefined;
          request.respond(length);
        } else if (last === "close") {
          controller.close();
          request.respond(0);
        } else if (last === "fail") controller.error(new TypeError("reset"));
        else return new Promise(() => {});
      },
      cancel: () => void (body.cancelled = (body.cancelled ?? 0) + 1),
    });
    return body;
  },
};
const [ORDINARY, DIRECT] = Object.values(BODIES) as [typeof BODIES[string], typeof BODIES[string]];
/** The same as a client passes them on. */
for (const [name, make] of Object.entries(BODIES)) {
  BODIES[`${name}, passed on`] = (all, last) => {
    const body = make(all, last);
    const passed: Body = watched(body, new AbortController().signal, () => {}, (error) => error as Error)!;
    return Object.defineProperty(passed, "cancelled", { get: () => body.cancelled });
  };
}

function cut(bytes: Uint8Array, ...at: number[]): Uint8Array[] {
  const points = [0, ...at.filter((point) => point <= bytes.length).sort((a, b) => a - b), bytes.length];
  return points.slice(1).map((end, index) => bytes.slice(points[index], end)).filter(({ length }) => length > 0);
}

function unused(window: Window): string {
  assertEquals(window.bytes[window.to], 0x0a, "a newline is behind what has arrived");
  return decoder.decode(window.bytes.subarray(window.from, window.to));
}

/** Reads to the end, using up so many of the bytes that are there each time. */
async function drain(window: Window, uses: readonly number[]): Promise<string> {
  let text = "";
  for (let round = 0; await window.more(); round++) {
    const use = Math.min(uses[round % uses.length]!, window.to - window.from);
    text += decoder.decode(window.bytes.subarray(window.from, window.from + use));
    window.from += use;
  }
  return text + unused(window);
}

for (const [name, body] of Object.entries(BODIES)) {
  Deno.test(`Window holds what has arrived of ${name} and is not used up, however it comes`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 50 }) }, fc.integer({ min: 1, max: 200_000 })),
        ),
        fc.array(fc.oneof(fc.nat(50), fc.nat(100_000)), { minLength: 1 }),
        async (lengths, uses) => {
          const all = lengths.map((length, n) => new Uint8Array(length).fill(0x21 + n % 90));
          const expected = lengths.map((length, n) => String.fromCharCode(0x21 + n % 90).repeat(length)).join("");
          const window = new Window(body(all));
          const text = await drain(window, uses);
          assert(text === expected, `${text.length} of ${expected.length} bytes`);
          assert(window.ended && !await window.more());
        },
      ),
      { numRuns: 100 },
    );
  });

  Deno.test(`nextLine() finds the lines of ${name}, cut at every byte`, async () => {
    const texts = ['{"a":"é€😀"}', "\ufeffb", "c\r", " d"];
    for (const [end, rest] of [["\n", ""], ["", ""], ["\n\n \r\n\t", ""]]) {
      const bytes = encoder.encode(`\n\r\n${texts.join("\n")}${end}${rest}`);
      for (let at = 0; at <= bytes.length; at++) {
        const read: string[] = [];
        for await (const line of lines(body(cut(bytes, at)))) read.push(line);
        assertEquals(read, texts, `cut at ${at}`);
      }
    }
  });

  Deno.test(`readList() takes items of all sizes out of ${name}, and the rest of the list with them`, async () => {
    const sizes = [1, 70_000, 5, 400_000, 2_000_000, 3, 65_500, 36, 65_536, 7];
    const items = sizes.map((size, n) => ({ n, text: "é".repeat(size / 2) }));
    const list = { kind: "L", apiVersion: "v1", items, metadata: { resourceVersion: "7" } };
    const bytes = encoder.encode(JSON.stringify(list));
    for (const size of [1000, 65_536, 1_000_000]) {
      const at = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => n * size);
      const window = new Window(body(cut(bytes, ...at)));
      const taken: unknown[] = [];
      const head = await readList(window, (bytes, start, end) => {
        taken.push(JSON.parse(decoder.decode(bytes.subarray(start, end))));
        bytes.fill(0, start, end); // what it may do
      });
      assertEquals(taken, items);
      assertEquals(head.metadata, { resourceVersion: "7" });
    }
  });

  Deno.test(`Window fails as ${name} fails, after what came before, and each time`, async () => {
    const window = new Window(body([encoder.encode("a\nb")], "fail"));
    assertEquals(await nextLine(window), 1);
    window.from = 2;
    await assertRejects(() => nextLine(window), TypeError, "reset");
    await assertRejects(() => nextLine(window), TypeError, "reset");
    await window.cancel();
    await assertRejects(() => readList(new Window(body([encoder.encode('{"items":[1')], "fail")), () => {}), TypeError);
  });

  Deno.test(`Window lets go of ${name} once, also in the middle of a read, which then ends`, async () => {
    const source = body([encoder.encode("a\nb")], "wait");
    const window = new Window(source);
    assertEquals(await nextLine(window), 1);
    window.from = 2;
    const next = nextLine(window).catch((error) => `${error}`);
    await window.cancel();
    await window.cancel();
    assertEquals([await next, await nextLine(window), source.cancelled], [-1, -1, 1]);
  });

  Deno.test(`Window refuses to hold more of ${name} than its limit, and lets go of it`, async () => {
    const source = body(Array.from({ length: 40 }, () => new Uint8Array(100).fill(0x61)), "wait");
    const window = new Window(source, 1000);
    await assertRejects(() => nextLine(window), RangeError, "one object must have at most 1000 bytes: it has more");
    assertEquals(source.cancelled, 1);
  });

  Deno.test(`readList() takes an item of ${name} that is smaller than the limit, whatever follows`, async () => {
    const limit = 100_000;
    for (const size of [40_000, 51_000, 60_000, 99_000]) {
      const bytes = encoder.encode(`{"items":["${"x".repeat(size)}","${"y".repeat(size)}"],"metadata":{}}`);
      let taken = 0;
      const at = Array.from({ length: 2 * size / 500 }, (_, n) => n * 500);
      await readList(new Window(body(cut(bytes, ...at)), limit), (_, start, end) => {
        assertEquals(end - start, size + 2);
        taken++;
      });
      assertEquals(taken, 2);
    }
    const bytes = encoder.encode(`{"items":["${"x".repeat(200_000)}"]}`);
    const source = body(cut(bytes, ...Array.from({ length: 400 }, (_, n) => n * 500)));
    await assertRejects(() => readList(new Window(source, limit), () => {}), RangeError);
  });
}

Deno.test("Window has room for large items, and gives it back when small ones follow", async () => {
  for (const make of Object.values(BODIES)) {
    const small = encoder.encode("a\n");
    const window = new Window(make([small, encoder.encode("x".repeat(1_000_000)), encoder.encode("\n"), small, small]));
    let largest = 0;
    for (let end = await nextLine(window); end >= 0; end = await nextLine(window)) {
      largest = Math.max(largest, window.bytes.length);
      window.from = Math.min(end + 1, window.to);
    }
    assert(largest >= 1_000_000 && largest <= 4 * MAX_OBJECT);
    assertEquals(window.bytes.length, SIZE);
  }
});

Deno.test("Window tells of each piece that arrives, and not of the end", async () => {
  for (const make of [ORDINARY, DIRECT]) {
    let heard = 0;
    const window = new Window(make([encoder.encode("a"), encoder.encode("b")]), 100, () => heard++);
    while (await window.more());
    assertEquals([heard, unused(window)], [2, "ab"]);
  }
});

Deno.test("readerOf() reads a body that is passed on without a second copy, and past the one who passes it", async () => {
  const body = DIRECT([encoder.encode("abc")]);
  const passed = watched(body, new AbortController().signal, () => {}, (error) => error as Error)!;
  const given = new Uint8Array(100);
  const { value } = await readerOf(passed).read(given);
  assertEquals([given.length, decoder.decode(value), value?.buffer.byteLength], [0, "abc", 100]);
});

for (const [name, make] of [["an ordinary body", ORDINARY], ["a body that is read into memory", DIRECT]] as const) {
  Deno.test(`watched() ends ${name} when its signal aborts in the middle of a read, through either reader`, async () => {
    for (const through of ["stream", "window"] as const) {
      const controller = new AbortController();
      const source = make([encoder.encode("a\nb")], "wait");
      let finished = 0;
      const passed = watched(source, controller.signal, () => finished++, (error) => error as Error)!;
      const reason = new Error("over");
      if (through === "stream") {
        const reader = passed.getReader();
        assertEquals(decoder.decode((await reader.read()).value), "a\nb");
        const next = reader.read();
        controller.abort(reason);
        assertEquals(await next.catch((error) => error), reason);
      } else {
        const window = new Window(passed);
        await nextLine(window);
        window.from = 2;
        const next = nextLine(window);
        controller.abort(reason);
        assertEquals(await next.catch((error) => error), reason);
        assertEquals(await nextLine(window).catch((error) => error), reason);
        await window.cancel();
      }
      assertEquals([source.cancelled, finished], [1, 1]);
    }
  });

  Deno.test(`watched() gives the text of ${name} to whoever reads it as a stream`, async () => {
    const text = "é".repeat(100_000);
    const source = make(cut(encoder.encode(text), 1, 5, 70_000));
    let finished = 0;
    const { signal } = new AbortController();
    const passed = watched(source, signal, () => finished++, (error) => error as Error);
    assertEquals(await readText(passed, signal), text);
    assertEquals(finished, 1);
  });

  Deno.test(`watched() fails as it is told when ${name} fails`, async () => {
    const source = make([encoder.encode("a")], "fail");
    const passed = watched(source, new AbortController().signal, () => {}, () => new Error("told"))!;
    const window = new Window(passed);
    await assertRejects(() => nextLine(window), Error, "told");
  });
}
