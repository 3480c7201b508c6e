import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import fc from "fast-check";
import { writeYaml } from "../yaml.ts";

Deno.test("writeYaml() quotes texts as Go's writer does: twice what is something else, once what cannot stand bare", () => {
  for (
    const [text, written] of [
      ["yes", '"yes"'],
      ["1:30", '"1:30"'],
      ["", '""'],
      ["x: y", "'x: y'"],
      ["it's: b", "'it''s: b'"],
      ["--- x", "'--- x'"],
      ["-x", "-x"],
      ["=", "="],
      ["é", "é"],
      ["\u{1F600}", '"\\U0001F600"'],
      ["a: \u0001", '"a: \\x01"'],
      ["a\nb", "|-\n  a\n  b"],
      ["a\n\n", "|+\n  a\n"],
      [" a\nb", "|2-\n   a\n  b"],
      ["<<", '"<<"'],
      [".1_0", '".1_0"'],
      ["_1", "_1"],
      ["\n", '"\\n"'],
      ["a\r\nb", '"a\\r\\nb"'],
      ["a \nb", '"a \\nb"'],
      ["a\u2028b", '"a\\u2028b"'],
    ] as const
  ) assertEquals(writeYaml({ k: text }), `k: ${written}\n`, text);
});

Deno.test("writeYaml() breaks a long text at the first space after 80 columns", () => {
  const words = `${"word ".repeat(18)}end`;
  assertEquals(writeYaml({ k: words }), `k: ${"word ".repeat(15)}word\n  word word end\n`);
  assertEquals(writeYaml({ k: `a: ${words}` }), `k: 'a: ${"word ".repeat(14)}word\n  word word word end'\n`);
});

Deno.test("writeYaml() writes keys as they come, or in their order", () => {
  const value = { b: { d: 1, c: [] }, a: {} };
  assertEquals(writeYaml(value), "b:\n  d: 1\n  c: []\na: {}\n");
  assertEquals(writeYaml(value, { sorted: true }), "a: {}\nb:\n  c: []\n  d: 1\n");
});

/** Texts of what steers YAML, and of what looks like other values. */
const PIECES = [
  ..." \t\n\r#:-?[]{},&*!|>'\"%@`\\~=<.+_01exob ab\u0085\u2028\ufeff\u0001é\u{1f600}",
  ...[
    "yes",
    "null",
    "true",
    "0x1f",
    "-0o7",
    "1_0",
    "12:30",
    "2026-01-02",
    ".inf",
    "<<",
    "---",
    "...",
    "- ",
    ": ",
    " #",
    "word ",
  ],
];

Deno.test("writeYaml() writes what reads back as it was, whatever the texts, keys and depths", () => {
  const text = fc.oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text.filter((key) => key !== "__proto__"), tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.boolean(), (value, sorted) => {
      const plain = JSON.parse(JSON.stringify(value));
      assertEquals(parse(writeYaml(plain, { sorted }), { schema: "core" }), plain);
    }),
    { numRuns: 2000 },
  );
});
