import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { diff, equal, type JsonPatchOperation, merge } from "../json.ts";
import { WriteMemo } from "../memo.ts";
import { jsonPatch } from "../testing/_json_patch.ts";

/** Objects without nulls, which a merge patch cannot set. */
const withoutNull = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value), (_, inner) => inner ?? undefined));

Deno.test("equal() goes by content, not by the order of keys; undefined is absent", () => {
  assert(equal({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }));
  assert(equal({ a: undefined }, {}));
  assert(equal({}, { a: undefined }));
  assertFalse(equal({ a: null }, {}));
  assertFalse(equal([1, 2], [2, 1]));
  assertFalse(equal([], {}));
  assertFalse(equal({ toString: 1 }, {}));
  assertFalse(equal({}, { constructor: 1 }));
});

Deno.test("merge() follows RFC 7386 and never reaches a prototype", () => {
  assertEquals(merge({ a: 1, b: { c: 1 } }, { b: { c: null, d: 2 } }), { a: 1, b: { d: 2 } });
  assertEquals(merge({ a: [1] }, { a: [2] }), { a: [2] });
  assertEquals(merge("text", { a: { b: null } }), { a: {} });
  const hostile = JSON.parse(`{"__proto__": {"polluted": true}}`);
  const merged = merge({}, hostile) as Record<string, unknown>;
  assert(Object.hasOwn(merged, "__proto__"));
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
});

Deno.test("diff() makes a patch that leads from one value to the other, and none between equals", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
    assertEquals(jsonPatch({ status: from }, diff({ status: from }, { status: to })), { status: to });
    assertEquals(diff(to, JSON.parse(JSON.stringify(to))), []);
  }));
  assertEquals<JsonPatchOperation[]>(diff({ a: { "x/y~z": 1 } }, { a: { "x/y~z": 2 } }, "/status"), [
    { op: "replace", path: "/status/a/x~1y~0z", value: 2 },
  ]);
});

Deno.test("merge() of a value without nulls into itself changes nothing", () => {
  fc.assert(fc.property(withoutNull, (value) => equal(merge(value, value), value)));
});

Deno.test("WriteMemo tells the last content at its version from any other", () => {
  const memo = new WriteMemo();
  memo.remember("a", { x: 1 }, "7");
  assert(memo.stands("a", { x: 1 }, "7"));
  assertFalse(memo.stands("a", { x: 2 }, "7"), "other content");
  assertFalse(memo.stands("a", { x: 1 }, "8"), "somebody wrote it since");
  assertFalse(memo.stands("b", { x: 1 }, "7"), "another object");
  memo.forget("a");
  assertFalse(memo.stands("a", { x: 1 }, "7"));
  assertEquals(memo.size, 0);
});
