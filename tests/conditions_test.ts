import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { assertConditions, type Condition, type ConditionUpdate, updateConditions } from "../conditions.ts";
import { customResource, type JsonSchema } from "../crd.ts";
import { ConfigMap } from "../kinds.ts";

const at = (seconds: number): Date => new Date(seconds * 1000);
const ready = (status: boolean, message = ""): ConditionUpdate => ({
  type: "Ready",
  status,
  reason: "Checked",
  message,
});

Deno.test("updateConditions() adds a condition with its transition time in whole seconds", () => {
  assertEquals(updateConditions(undefined, ready(false), { now: at(1.5), observedGeneration: 3 }), [{
    type: "Ready",
    status: "False",
    reason: "Checked",
    message: "",
    lastTransitionTime: "1970-01-01T00:00:01Z",
    observedGeneration: 3,
  }]);
});

Deno.test("updateConditions() keeps the transition time until the status flips (B34)", () => {
  const first = updateConditions([], ready(false), { now: at(1) });
  const reworded = updateConditions(first, ready(false, "still starting"), { now: at(2) });
  assertEquals(reworded[0]?.lastTransitionTime, "1970-01-01T00:00:01Z");
  assertEquals(reworded[0]?.message, "still starting");
  const flipped = updateConditions(reworded, ready(true), { now: at(3) });
  assertEquals(flipped[0]?.lastTransitionTime, "1970-01-01T00:00:03Z");
});

Deno.test("updateConditions() answers with the very same list when nothing changes (B34)", () => {
  const list = updateConditions([], ready(true), { now: at(1), observedGeneration: 2 });
  assertStrictEquals(updateConditions(list, ready(true), { now: at(99), observedGeneration: 2 }), list);
});

Deno.test("updateConditions() leaves other conditions, and their order, alone", () => {
  const other: Condition = { ...updateConditions([], ready(true), { now: at(1) })[0]!, type: "example.com/Synced" };
  const list = updateConditions(updateConditions([other], ready(false)), ready(true));
  assertEquals(list.map((one) => one.type), ["example.com/Synced", "Ready"]);
  assertStrictEquals(list[0], other);
});

Deno.test("updateConditions() refuses what the API conventions forbid", () => {
  const good = { type: "Ready", status: "True", reason: "Checked" } as const;
  const cases: [Partial<ConditionUpdate>, string][] = [
    [{ type: "" }, "'type'"],
    [{ type: "not ready" }, "'type'"],
    [{ status: "Yes" as "True" }, "'status'"],
    [{ reason: "" }, "'reason'"],
    [{ reason: "two words" }, "'reason'"],
    [{ reason: "x".repeat(1025) }, "'reason'"],
  ];
  for (const [change, text] of cases) assertThrows(() => updateConditions([], { ...good, ...change }), TypeError, text);
});

Deno.test("updateConditions() cuts a message at what the schema takes", () => {
  assertEquals(updateConditions([], ready(true, "x".repeat(40_000)))[0]?.message.length, 32_768);
});

Deno.test("assertConditions() refuses a kind whose schema would drop them, and no other", () => {
  const kind = (status?: JsonSchema) =>
    customResource({ group: "example.com", version: "v1", kind: "Thing", spec: { type: "object" }, status });
  const conditions: JsonSchema = { type: "array", items: { type: "object" } };
  assertConditions(ConfigMap, "Ready");
  assertConditions(kind(), "Ready");
  assertConditions(kind({ type: "object", properties: { conditions } }), "Ready");
  assertConditions(kind({ type: "object", "x-kubernetes-preserve-unknown-fields": true }), "Ready");
  assertThrows(
    () => assertConditions(kind({ type: "object", properties: { phase: { type: "string" } } }), "Ready"),
    TypeError,
    `Cannot set condition "Ready": the 'status' schema of Thing must have 'conditions', or the server drops them: an array of`,
  );
});
