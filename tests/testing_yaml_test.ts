import { assertEquals } from "@std/assert";
import { canonicalQuantity } from "../testing/_quantity.ts";
import { withBooleans } from "../testing/_yaml_booleans.ts";

Deno.test("withBooleans() replaces words that are values, and leaves keys, quoted texts and blocks alone", () => {
  const text =
    'a: yes\nyes: b\n- off # so\nc: "on"\nd: [y, "n", no]\ne: {f: On}\ng: |\n  yes\n  h: no\ni: yes sir\nj: off\n';
  const expected =
    'a: true\nyes: b\n- false # so\nc: "on"\nd: [true, "n", false]\ne: {f: true}\ng: |\n  yes\n  h: no\ni: yes sir\nj: false\n';
  assertEquals(withBooleans(text), expected);
  assertEquals(withBooleans("a: b\n"), "a: b\n");
});

Deno.test("canonicalQuantity() keeps what differs by zeros at its front, a plus, or the writing of its exponent", () => {
  const amounts = ["+2", "0001", "+1.", "1E3", "1e0", "00", "1.50", "100e1", "2048Ki", "16Ei", "-0"];
  const expected = ["+2", "0001", "+1.", "1E3", "1e0", "0", "1500m", "1e3", "2Mi", "9223372036854775807", "0"];
  assertEquals(amounts.map(canonicalQuantity), expected);
});
