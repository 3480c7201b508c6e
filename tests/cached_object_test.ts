import { assert, assertEquals, assertNotStrictEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CachedObject, Shelf } from "../_cached_object.ts";
import { Decoder, type DecoderOptions, slim } from "../_decode.ts";
import { RunAbort } from "../_run_abort.ts";
import { ObjectScanner } from "../_scan.ts";
import { SeriesMap } from "../_series.ts";
import { ConfigMap } from "../kinds.ts";
import { keyOf, type KubernetesObject, type Resource } from "../resource.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
type Some = KubernetesObject & Record<string, unknown>;
/** Any object: the kind matters for those alone that do not say theirs. */
const KIND = ConfigMap as never as Resource<Some>;

const encoder = new TextEncoder();
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const scanner = new ObjectScanner();

/** Takes a text in as an item of a list is: with other bytes around it, which must stay as they are. */
function take(decoder: Decoder<Some>, text: string | Uint8Array): CachedObject<Some> {
  const raw = typeof text === "string" ? encoder.encode(text) : text;
  const [before, after] = ['{"items":[{"é":1},', ',{"metadata":{}}]}\n'].map((part) => encoder.encode(part)) as [
    Uint8Array,
    Uint8Array,
  ];
  const bytes = new Uint8Array([...before, ...raw, ...after]);
  const end = scanner.scan(bytes, before.length, bytes.length - 1);
  assertEquals(end, before.length + raw.length);
  const taken = decoder.read(bytes, before.length, end, scanner);
  assertEquals([bytes.slice(0, before.length), bytes.slice(end)], [before, after]);
  return taken;
}

/** What is to be kept of an object, by the rule: without what nobody reads, and with its kind. */
function expected(text: string, { metadataOnly, transform = slim }: DecoderOptions<Some>): Some {
  const { apiVersion, kind } = KIND;
  const given = JSON.parse(text);
  const object = metadataOnly
    ? { apiVersion, kind, metadata: given.metadata }
    : given.kind === undefined || given.apiVersion === undefined
    ? { apiVersion, kind, ...given }
    : given;
  return transform(object);
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

const NAME = fc.oneof(fc.constantFrom("web", "", 'a"b', "é", "😀", "\ufeffx", "\\"), fc.string({ unit: "binary" }));
const NAMES = fc.oneof(fc.constantFrom("__proto__", "toJSON", "constructor", "é", '"', "managedFields"), fc.string());
const OBJECTS = fc.record({
  apiVersion: fc.constant("example.com/v1"),
  kind: fc.constant("Thing"),
  metadata: fc.record({
    name: NAME,
    namespace: fc.constantFrom("shop", "", "ß"),
    uid: fc.uuid(),
    resourceVersion: fc.nat().map(String),
    generation: fc.oneof(fc.nat(), fc.constantFrom(-1, 1e21)),
    managedFields: fc.jsonValue(),
    annotations: fc.dictionary(fc.oneof(fc.constant(LAST_APPLIED), NAMES), fc.string({ unit: "binary" })),
    labels: fc.dictionary(NAMES, fc.string()),
  }, { requiredKeys: ["name", "uid", "resourceVersion"] }),
  spec: fc.dictionary(NAMES, fc.jsonValue()),
}, { requiredKeys: ["metadata"] });

/** The object's JSON with its members in another order, and some of its characters as escapes. */
function written(object: object, order: readonly number[], escaped: string, indent: number | undefined): string {
  const shuffle = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).map((member, index) => [order[index % order.length]! + index / 99, member]);
    const sorted = (members as [number, [string, unknown]][]).sort(([a], [b]) => a - b);
    return Object.fromEntries(sorted.map(([, [name, inner]]) => [name, shuffle(inner)]));
  };
  const escape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(shuffle(object), null, indent)
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => escaped === "" ? text : text.replaceAll(escaped, escape));
}

const WAYS: Record<string, DecoderOptions<Some>> = {
  "as text": {},
  "parsed": { keep: "parsed" },
  "as metadata alone": { metadataOnly: true },
  "as parsed metadata": { metadataOnly: true, keep: "parsed" },
  "transformed": { transform: (object) => ({ ...object, spec: "gone" }) },
};

for (const [way, options] of Object.entries(WAYS)) {
  Deno.test(`Decoder keeps of any object, ${way}, what the parsed one has, frozen`, () => {
    const decoder = new Decoder<Some>(KIND, options);
    fc.assert(
      fc.property(
        OBJECTS,
        fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
        fc.constantFrom("", "", "", "n", "é", "a"),
        fc.constantFrom(undefined, 1),
        (object, order, escaped, indent) => {
          const text = written(object, order, escaped, indent);
          const right = expected(text, options);
          for (const kept of [take(decoder, text), decoder.keep(JSON.parse(text)), decoder.copy(JSON.parse(text))]) {
            // assertEquals() takes no heed of a member called __proto__.
            assertEquals(JSON.stringify(kept.read()), JSON.stringify(right));
            assertEquals(JSON.stringify(kept.take()), JSON.stringify(right));
            assert(isFrozen(kept.read()));
            assertStrictEquals(kept.read(), kept.read());
            const { uid, resourceVersion, generation } = right.metadata;
            assertEquals(
              [kept.key, kept.uid, kept.resourceVersion, kept.generation],
              [keyOf(right), uid, resourceVersion, generation] as unknown[],
            );
          }
        },
      ),
      { numRuns: 600 },
    );
  });
}

Deno.test("Decoder leaves out managedFields and what was applied last wherever they are, also of metadata alone", () => {
  const managed = '"managedFields":[{"manager":"a,\\"}]","é":{}}]', applied = `"${LAST_APPLIED}":"{\\"é\\":[1]}"`;
  const id = '"name":"web","uid":"u","resourceVersion":"1"';
  for (
    const [metadata, left] of [
      [`${managed},${id}`, id],
      [`${id},${managed}`, id],
      [`"name":"web",${managed},"uid":"u","resourceVersion":"1"`, id],
      [`${managed},"annotations":{${applied}},${id}`, `"annotations":{},${id}`],
      [`"annotations":{${applied},"a":"b"},${id},${managed}`, `"annotations":{"a":"b"},${id}`],
      [`${id},"annotations":{"a":"b" , ${applied} }, ${managed} `, `${id},"annotations":{"a":"b"}`],
    ] as const
  ) {
    const text = `{"metadata":{${metadata}},"spec":"ß"}`;
    const { apiVersion, kind } = KIND;
    const right = { apiVersion, kind, metadata: JSON.parse(`{${left}}`) };
    const whole = take(new Decoder<Some>(KIND), text);
    assertEquals(whole.read(), { ...right, spec: "ß" });
    assert(
      whole.length > 0 && whole.length <= `{"metadata":{${left}},"spec":"ß"}`.length + 4,
      `${whole.length}: ${metadata}`,
    );
    assertEquals(take(new Decoder<Some>(KIND, { metadataOnly: true }), text).read(), right as Some);
  }
});

Deno.test("Decoder keeps as text all objects of a list that are written as API servers write them", () => {
  const decoder = new Decoder<Some>(KIND);
  const text = (n: number) => `{"metadata":{"name":"${n}","uid":"${n}","resourceVersion":"1"},"big":1e400,"zero":-0}`;
  for (let n = 0; n < 3; n++) {
    const kept = take(decoder, text(n));
    // The very text: an object that had to be parsed would be written anew.
    assertEquals(kept.length, text(n).length);
    assertEquals([kept.read()["big"], kept.read()["zero"]], [Infinity, -0]);
  }
});

Deno.test("Decoder does as before with an object that has no uid or resourceVersion", () => {
  const kept = take(new Decoder<Some>(KIND), '{"metadata":{"name":"web"}}');
  assertEquals([kept.key, kept.uid, kept.resourceVersion], ["web", undefined, undefined] as unknown[]);
});

Deno.test("Decoder takes numbers as JSON.parse does, and puts U+FFFD for invalid bytes", () => {
  const decoder = new Decoder<Some>(KIND);
  const id = '"uid":"u","resourceVersion":"123456789012345678901"';
  const big = take(
    decoder,
    `{"metadata":{"name":"web",${id},"generation":123456789012345678901},"x":123456789012345678901}`,
  );
  assertEquals([big.generation, big.resourceVersion], [123456789012345680000, "123456789012345678901"]);
  assertEquals(big.read()["x"], 123456789012345680000);
  const [head, tail] = ['{"x":"', `","metadata":{"name":"web",${id}}}`].map((part) => encoder.encode(part));
  for (const invalid of [[0xff], [0xff, 0xc3, 0xa9], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
    const kept = take(decoder, new Uint8Array([...head!, ...invalid, ...tail!]));
    assertEquals([kept.key, kept.uid], ["web", "u"]);
    assertEquals(kept.read()["x"], utf8.decode(new Uint8Array(invalid)));
  }
});

Deno.test("Decoder keeps objects that are deeper than the stack", () => {
  const depth = 20_000;
  const depthOf = (value: unknown): number => {
    let count = 0;
    for (let at = value; typeof at === "object"; at = (at as Record<string, unknown>)["0"]) count++;
    return count;
  };
  // Objects with numbers for names are written by recursion, lists are not.
  for (const [open, close] of [["[", "]"], ['{"0":', "}"]] as const) {
    const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const decoder = new Decoder<Some>(KIND);
    const usual = `{"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"x":${deep}}`;
    const odd = usual.replace('"a"', '"\\u0061"');
    const given = JSON.parse(usual);
    for (const kept of [take(decoder, usual), take(decoder, odd), decoder.copy(given)]) {
      assertEquals([kept.key, depthOf(kept.read()["x"])], ["a", depth]);
      assert(Object.isFrozen((kept.read()["x"] as Record<string, unknown>)["0"]));
    }
    assert(!Object.isFrozen(given.x) && !Object.isFrozen(given.metadata));
  }
});

Deno.test("Decoder refuses what is no object with a name", () => {
  const decoder = new Decoder<Some>(KIND);
  for (
    const text of ["null", "7 ", '"a"', "[]", "{}", '{"metadata":null}', '{"metadata":{"name":7}}', '{"metadata":[]}']
  ) {
    const bytes = encoder.encode(`${text},\n`);
    const end = scanner.scan(bytes, 0, bytes.length - 1);
    assertThrows(() => decoder.read(bytes, 0, end, scanner), TypeError, "'metadata.name' must be a string");
  }
});

Deno.test("Decoder.copy() keeps nothing of the object that it was given", () => {
  const given: Some = {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", uid: "u", resourceVersion: "1" },
  } as never;
  for (const options of Object.values(WAYS)) {
    const kept = new Decoder<Some>(KIND, options).copy(given);
    kept.read();
    assert(!Object.isFrozen(given) && !Object.isFrozen(given.metadata));
  }
});

/** A shelf that counts, and objects of a hundred characters each. */
class Room {
  parsed = 0;
  readonly shelf: Shelf<Some>;

  constructor(limit: number) {
    this.shelf = new Shelf<Some>((text) => {
      this.parsed++;
      return JSON.parse(text);
    }, limit);
  }

  object(name: string, length = 100): CachedObject<Some> {
    const text = JSON.stringify({ metadata: { name } }).padEnd(length);
    return new CachedObject(this.shelf, { key: name, uid: name, resourceVersion: "1", text });
  }

  /** Whether the object is still parsed; to ask reads it. */
  holds(object: CachedObject<Some>): boolean {
    const before = this.parsed;
    object.read();
    return this.parsed === before;
  }
}

Deno.test("CachedObject is parsed when it is read, and answers with the same one while that stays", () => {
  const room = new Room(16_000);
  const object = room.object("a");
  assertEquals(room.parsed, 0);
  const first = object.read();
  assertStrictEquals(object.read(), first);
  assertEquals(room.parsed, 1);
  object.forget();
  assertNotStrictEquals(object.read(), first);
  assertEquals(object.read(), first);
});

Deno.test("CachedObject.take() answers with a copy that may be changed, and parses nothing for others", () => {
  const room = new Room(16_000);
  const object = room.object("a");
  object.take().metadata.name = "b";
  assertEquals(object.read().metadata.name, "a");
  assert(!Object.isFrozen(object.take()));
});

Deno.test("CachedObject can be read though it is larger than what may stay parsed", () => {
  // Of 1,600 characters, 100 are for what was read once.
  for (const length of [101, 1601, 5000]) {
    const room = new Room(1600);
    const small = room.object("small", 50), large = room.object("large", length);
    small.read();
    small.read();
    for (let time = 0; time < 4; time++) {
      assertEquals(large.read().metadata.name, "large");
      assert(Object.isFrozen(large.read()));
    }
  }
});

Deno.test("Shelf soon forgets what was read once, which pushes out nothing that was read again", () => {
  const room = new Room(16_000); // 10 objects that were read once, 160 in all
  const often = Array.from({ length: 100 }, (_, n) => room.object(`often-${n}`));
  for (let time = 0; time < 2; time++) for (const object of often) object.read(), object.read();
  const once = Array.from({ length: 40_000 }, (_, n) => room.object(`once-${n}`));
  for (const object of once) object.read();
  room.parsed = 0;
  for (const object of often) object.read();
  assertEquals(room.parsed, 0);
  const last = once.slice(-10), earlier = once.slice(0, -10);
  assert(last.every((object) => room.holds(object)));
  assert(earlier.slice(0, 100).every((object) => !room.holds(object)));
});

Deno.test("Shelf keeps what is parsed anew soon, and what was read again while it waited", () => {
  const room = new Room(16_000);
  const again = room.object("again"), anew = room.object("anew"), once = room.object("once");
  again.read(), again.read();
  anew.read(), once.read();
  for (let n = 0; n < 20; n++) room.object(`${n}`).read();
  anew.read();
  for (let n = 0; n < 20; n++) room.object(`${n}`).read();
  assert(room.holds(again) && room.holds(anew) && !room.holds(once));
});

Deno.test("Shelf keeps what goes on being read, however much else is read again", () => {
  const room = new Room(16_000);
  const hot = room.object("hot"), cold = room.object("cold");
  hot.read(), hot.read(), cold.read(), cold.read();
  for (let n = 0; n < 1000; n++) {
    const other = room.object(`${n}`);
    other.read(), other.read();
    assert(room.holds(hot), `forgotten after ${n}`);
  }
  assert(!room.holds(cold));
});

Deno.test("Shelf holds no more text parsed than its limit, however it is read", () => {
  const limit = 3200;
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 20, max: 4000 }), { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(), { maxLength: 300 }),
      (lengths, reads) => {
        const shelf = new Shelf<Some>((text) => JSON.parse(text), limit);
        const objects = lengths.map((length, n) => {
          const text = JSON.stringify({ metadata: { name: `${n}` } }).padEnd(length);
          const object = new CachedObject(shelf, { key: `${n}`, uid: "", resourceVersion: "", text });
          const forget = object.forget.bind(object);
          object.forget = () => (now.delete(object), forget());
          return object;
        });
        const now = new Set<CachedObject<Some>>();
        for (const at of reads) {
          const object = objects[at % objects.length]!;
          now.add(object);
          assertEquals(object.read().metadata.name, object.key);
          const sum = [...now].reduce((sum, { length }) => sum + length, 0);
          assert(sum <= limit + limit / 16, `${sum} characters are parsed`);
        }
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("SeriesMap records by labels that cannot change what it records by others like them", () => {
  const series = new SeriesMap("runs_total", ["result", "kind"], () => ({ value: 0 }));
  const frozen = Object.freeze({ result: "success", kind: "a" });
  for (const labels of [frozen, frozen, { ...frozen }, Object.freeze({ kind: "a", result: "success" })]) {
    series.at(labels).value++;
  }
  assertEquals(series.sorted().map(([, { value }]) => value), [4]);
  const changing = { result: "success", kind: "a" };
  series.at(changing);
  changing.kind = "b";
  series.at(changing).value++;
  assertEquals(series.sorted().map(([, { value }]) => value), [4, 1]);
});

Deno.test("SeriesMap starts a series anew that was removed or reset, also by labels that cannot change", () => {
  const series = new SeriesMap("runs_total", ["result", "kind"], () => ({ value: 0 }));
  const frozen = Object.freeze({ result: "success", kind: "a" });
  for (const end of [() => series.remove(frozen), () => series.remove({ kind: "a" }), () => series.reset()]) {
    series.at(frozen).value += 5;
    end();
    assertEquals(series.sorted(), []);
    assertEquals(series.at(frozen).value++, 0);
    assertEquals(series.sorted().map(([, { value }]) => value), [1]);
    series.reset();
  }
  const plain = new SeriesMap("runs_total", [], () => ({ value: 0 }));
  const none = Object.freeze({});
  plain.at(none).value++;
  plain.reset();
  plain.at(none).value++;
  assertEquals(plain.sorted().map(([, { value }]) => value), [1]);
});

Deno.test("SeriesMap refuses labels that are not its own each time, also those that cannot change", () => {
  const series = new SeriesMap("runs_total", ["result"], () => ({ value: 0 }));
  const wrong = Object.freeze({ result: "success", other: "x" });
  for (let time = 0; time < 2; time++) assertThrows(() => series.at(wrong), TypeError, "current value is 'other'");
});

Deno.test("RunAbort has one signal, aborted by the first reason, whether it was asked for before or after", () => {
  const first = new Error("first");
  const before = new RunAbort(), after = new RunAbort();
  const signal = before.signal;
  let heard = 0;
  signal.addEventListener("abort", () => heard++);
  for (const abort of [before, after]) {
    assertEquals(abort.aborted, false);
    abort.abort(first);
    abort.abort(new Error("second"));
    assert(abort.aborted && abort.signal.aborted);
    assertStrictEquals(abort.signal.reason, first);
    assertStrictEquals(abort.signal, abort.signal);
  }
  assertStrictEquals(before.signal, signal);
  assertEquals(heard, 1);
  const without = new RunAbort();
  without.abort(undefined);
  assert(without.aborted && without.signal.aborted && without.signal.reason.name === "AbortError");
});
