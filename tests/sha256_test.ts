import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { sha256 } from "../_sha256.ts";

function expected(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

Deno.test("sha256() gives the digest of the standard at every length around the ends of a block", () => {
  for (let length = 0; length < 200; length++) {
    const text = "a".repeat(length);
    assertEquals(sha256(text).toHex(), expected(text), `${length}`);
  }
});

Deno.test("sha256() gives the digest of any text in UTF-8, each call apart from the one before", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 1000 }), (text) => {
    assertEquals(sha256(text).toHex(), expected(text));
  }));
});
