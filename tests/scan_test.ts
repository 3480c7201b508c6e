import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { slim } from "../_decode.ts";
import { ObjectScanner } from "../_scan.ts";
import type { KubernetesObject } from "../resource.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const NAMED = ["name", "namespace", "uid", "resourceVersion"] as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** One for all, as a list has one for all its items: what it noted of one text must not be seen in the next. */
const scanner = new ObjectScanner();

/** The text's bytes, with the newline that a scanner asks for behind them, and what must not be looked at behind that. */
function bytesOf(text: string | Uint8Array): { bytes: Uint8Array; end: number } {
  const raw = typeof text === "string" ? encoder.encode(text) : text;
  const bytes = new Uint8Array([...raw, 0x0a, ...encoder.encode('"}]0,:}')]);
  return { bytes, end: raw.length };
}

/** Where the value ends; "refused" if it is not JSON. */
function scan(text: string | Uint8Array): number | "refused" {
  const { bytes, end } = bytesOf(text);
  try {
    return scanner.scan(bytes, 0, end);
  } catch (error) {
    assert(error instanceof SyntaxError, `${error}`);
    return "refused";
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Asserts that the text of an array or object is taken if JSON.parse takes it, and else refused or asked more of. */
function assertAgrees(text: string): void {
  const end = scan(text);
  const whole = typeof end === "number" && end >= 0 && bytesOf(text).bytes.subarray(end, encoder.encode(text).length)
    .every((byte) => [0x20, 0x09, 0x0a, 0x0d].includes(byte));
  assertEquals(whole, isJson(text), `${JSON.stringify(text)} ends at ${end}`);
}

/** What JSON has, in pieces that may be put together wrongly. */
const PIECES = [
  ...'{}[],:"\\ \t\n\r\u0000\u001f\u007f-+.019eEu/bfnrtaF',
  ...["true", "false", "null", "tru", "\\u00", "\\ud83d", "é", "😀", "\u2028", "\ufeff", "\u00a0", "\v"],
  ...["-0", "01", "1.", ".5", "1e", "1e+", "1E-2", "1e400", "123456789012345678901", "--1", "NaN", "Infinity", "'a'"],
];

Deno.test("ObjectScanner takes exactly what JSON.parse takes", () => {
  const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()));
  const space = fc.constantFrom(undefined, 1, "\t", "\r\n");
  fc.assert(
    fc.property(
      container,
      space,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom(...PIECES),
      (value, indent, place, gone, piece) => {
        const text = JSON.stringify(value, null, indent as string | number);
        assertAgrees(text);
        const at = 1 + place % text.length;
        assertAgrees(text.slice(0, at) + piece + text.slice(at + gone));
      },
    ),
    { numRuns: 3000 },
  );
});

Deno.test("ObjectScanner takes what is put together of JSON's pieces exactly when JSON.parse does", () => {
  const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(
      pieces,
      fc.constantFrom("[#]", '{"a":#}', '{"a#":1}', '{#"a":1}', '{"a":1#}', "[1#]"),
      (text, around) => {
        assertAgrees(around.replace("#", () => text));
      },
    ),
    { numRuns: 5000 },
  );
});

Deno.test("ObjectScanner finds no end in what an object begins with, and the end of what follows it", () => {
  const object = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 4 });
  fc.assert(
    fc.property(object, fc.constantFrom("", ",", "}", "]", "{", "x", " \n"), (value, after) => {
      const raw = encoder.encode(JSON.stringify(value));
      for (let cut = 0; cut < raw.length; cut++) {
        assertEquals(scan(raw.subarray(0, cut)), -1, `${JSON.stringify(value)} cut at ${cut}`);
      }
      assertEquals(scan(decoder.decode(raw) + after), raw.length);
    }),
    { numRuns: 300 },
  );
});

Deno.test("ObjectScanner finds no end in a value by itself that may go on", () => {
  for (
    const text of ["0", "-0", "-", "1", "12", "1.", "1.5", "1e", "1e+", "1e5", "tru", '"a', '"a\\', '"\\u00', " ", ""]
  ) {
    assertEquals(scan(text), -1, text);
  }
  for (const text of ["0,", "-0}", "12]", "1.5 ", "1e5,", "true", "null", '"a"', '"\\u00e9"']) {
    assertEquals(scan(text), text.replace(/[,}\] ]$/, "").length, text);
  }
});

Deno.test("ObjectScanner says in no error what it read", () => {
  const { bytes, end } = bytesOf('{"password":"hunter2"hunter2}');
  const error = assertThrows(() => scanner.scan(bytes, 0, end), SyntaxError);
  assert(!error.message.includes("hunter"));
});

Deno.test("ObjectScanner looks over nesting that is deeper than the stack", () => {
  const text = "[".repeat(300_000) + "]".repeat(300_000);
  assertEquals(scan(text), text.length);
});

/** Metadata with whatever may be in them, and the same in every order. */
const METADATA = fc.record({
  name: fc.string({ unit: "binary" }),
  namespace: fc.string({ unit: "grapheme" }),
  uid: fc.uuid(),
  resourceVersion: fc.nat().map(String),
  generation: fc.oneof(fc.nat(), fc.constantFrom(-1, 1.5, 1e21, "1", null, true)),
  managedFields: fc.jsonValue(),
  annotations: fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.constantFrom("a", LAST_APPLIED, "b", "é", "\\"), fc.jsonValue()) },
    fc.constantFrom(null, "x", []),
  ),
  labels: fc.oneof(fc.dictionary(fc.constantFrom("name", "uid", "managedFields", "annotations"), fc.jsonValue())),
  nested: fc.constantFrom([{ name: "no" }], { managedFields: 1, annotations: { [LAST_APPLIED]: 1 } }, {}, []),
}, { requiredKeys: ["name"] });

function shuffled<V extends object>(value: V, order: readonly number[]): V {
  const members = Object.entries(value).map((member, index) => ({
    member,
    order: order[index % order.length]! + index / 99,
  }));
  return Object.fromEntries(members.sort((a, b) => a.order - b.order).map(({ member }) => member)) as V;
}

const OBJECTS = fc.record({
  metadata: METADATA,
  spec: fc.jsonValue(),
  items: fc.constantFrom([{ metadata: { name: "no" } }], { metadata: { uid: "no", managedFields: [] } }),
  apiVersion: fc.constant("v1"),
}, { requiredKeys: ["metadata"] });

Deno.test("ObjectScanner notes where the metadata are, and cuts out what slim() leaves out", () => {
  let noted = 0;
  fc.assert(
    fc.property(
      OBJECTS,
      fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
      fc.constantFrom(undefined, 1, "\t", " \r\n"),
      (given, order, indent) => {
        const object = shuffled({ ...given, metadata: shuffled(given.metadata, order) }, order);
        const text = JSON.stringify(object, null, indent);
        const { bytes, end } = bytesOf(text);
        assertEquals(scanner.scan(bytes, 0, end), end);
        const metadata = object.metadata as Record<string, unknown>;
        const { from, to, cuts } = scanner;
        if (scanner.odd) return;
        noted++;
        const part = (field: keyof typeof from): string => decoder.decode(bytes.subarray(from[field], to[field]));
        for (const field of NAMED) {
          assertEquals(from[field] < 0 ? undefined : part(field), metadata[field], field);
        }
        assertEquals(from.generation < 0 ? undefined : Number(part("generation")), metadata.generation);
        assertEquals(JSON.parse(part("metadata")), JSON.parse(JSON.stringify(metadata)));
        let left = "", at = 0;
        for (let cut = 0; cut < cuts.length; cut += 2) {
          left += decoder.decode(bytes.subarray(at, cuts[cut]));
          at = cuts[cut + 1]!;
        }
        left += decoder.decode(bytes.subarray(at, end));
        assertEquals(JSON.parse(left), slim(JSON.parse(text) as KubernetesObject) as unknown);
        assertEquals(Object.keys(JSON.parse(left).metadata), Object.keys(slim(JSON.parse(text)).metadata));
      },
    ),
    { numRuns: 3000 },
  );
  assert(noted > 500, `only ${noted} were not odd`);
});

Deno.test("ObjectScanner notes of each object what is its own, whatever came before", () => {
  const whole =
    '{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1","generation":2,"managedFields":[]}}';
  for (
    const before of [
      whole,
      '{"metadata":{"na\\u006de":"a"}}',
      '{"metadata":{"managedFields":[{',
      '{"metadata":{"name":"a"',
    ]
  ) {
    scan(before);
    assertEquals(scan(whole), whole.length);
    assertEquals([scanner.odd, scanner.cuts.length], [false, 2], before);
    scan(before);
    assertEquals(scan('{"spec":{}}'), 11);
    assertEquals([scanner.odd, scanner.cuts.length], [false, 0], before);
    assertEquals(Object.values(scanner.from), [-1, -1, -1, -1, -1, -1], before);
  }
});

const ODD: Record<string, string> = {
  "an escape in a name of the object": '{"metad\\u0061ta":{"name":"a"}}',
  "an escape in a name of its metadata": '{"metadata":{"n\\u0061me":"a"}}',
  "an escape in a name of its annotations": '{"metadata":{"annotations":{"\\u006b":"a"}}}',
  "an escape in a name's value": '{"metadata":{"name":"\\u0061"}}',
  "metadata twice": '{"metadata":{"name":"a"},"metadata":{"name":"b"}}',
  "metadata, then none": '{"metadata":{"name":"a"},"metadata":null}',
  "a name twice": '{"metadata":{"name":"a","name":"b"}}',
  "a name, then none": '{"metadata":{"name":"a","name":null}}',
  "a uid twice": '{"metadata":{"uid":"a","uid":"b"}}',
  "a generation twice": '{"metadata":{"generation":1,"generation":2}}',
  "managedFields twice": '{"metadata":{"managedFields":[],"managedFields":[1]}}',
  "what was applied last twice": `{"metadata":{"annotations":{"${LAST_APPLIED}":"1","${LAST_APPLIED}":"2"}}}`,
  "a name that is no string": '{"metadata":{"name":7}}',
  "a resource version that is no string": '{"metadata":{"resourceVersion":7}}',
  "a generation that is no number": '{"metadata":{"generation":"7"}}',
  "a generation below 0": '{"metadata":{"generation":-7}}',
};

for (const [what, text] of Object.entries(ODD)) {
  Deno.test(`ObjectScanner finds an object odd with ${what}`, () => {
    assertEquals([scan(text), scanner.odd], [text.length, true]);
    assertEquals([scan('{"metadata":{"name":"a"}}'), scanner.odd], [25, false]);
  });
}

Deno.test("ObjectScanner finds nothing odd in what is twice, or escaped, elsewhere", () => {
  for (
    const text of [
      '{"spec":{"a":1,"a":2,"n\\u0061me":1},"kind":"a","kind":"b"}',
      '{"metadata":{"labels":{"name":"1","name":"2","\\u0061":"\\n"},"name":"a"}}',
      '{"spec":{"metadata":{"name":"a"}},"status":{"metadata":{"name":"b","name":7}}}',
      '[{"metadata":{"name":"a","name":"b"}}]',
    ]
  ) {
    assertEquals([scan(text), scanner.odd], [text.length, false], text);
  }
});
