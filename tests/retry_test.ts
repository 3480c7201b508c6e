import { assertEquals, assertThrows } from "@std/assert";
import { ApiError, ObjectGoneError, RetryError, TerminalError } from "../errors.ts";
import { planRetry, type RetryPlan } from "../retry.ts";

const api = (code: number, reason: string, details = {}): ApiError =>
  new ApiError({ code, reason, message: reason, details }, "PATCH", "/apis/example.com/v1/things/a");

Deno.test("planRetry() doubles from the first delay for whatever was thrown (B22)", () => {
  for (const error of [new Error("x"), undefined, "text", null, Object.freeze({}), new AggregateError([])]) {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => planRetry(error, 5_000, failures).delay! / 1000);
    assertEquals(delays, [5, 10, 20, 40, 80, 160, 300, 300]);
    assertEquals(planRetry(error, 5_000, 1).kind, "error");
  }
});

Deno.test("planRetry() knows the errors that ask for something else", () => {
  const terminating = { causes: [{ reason: "NamespaceTerminating" }] };
  const cases: [string, unknown, RetryPlan][] = [
    ["terminal", new TerminalError("no"), { delay: undefined, kind: "terminal" }],
    ["gone", new ObjectGoneError("gone"), { delay: undefined, kind: "nothing" }],
    ["own delay, shorter than the back-off (B18)", new RetryError("soon", 100), { delay: 100, kind: "error" }],
    ["own delay, longer than the back-off (B18)", new RetryError("late", { minutes: 15 }), {
      delay: 900_000,
      kind: "error",
    }],
    ["conflict (B24)", api(409, "Conflict"), { delay: 4_000, kind: "retry" }],
    ["already exists (B24)", api(409, "AlreadyExists"), { delay: 4_000, kind: "retry" }],
    ["terminating namespace (B26)", api(403, "Forbidden", terminating), { delay: 20_000, kind: "retry" }],
    ["forbidden", api(403, "Forbidden"), { delay: 20_000, kind: "error" }],
    ["invalid (B42)", api(422, "Invalid"), { delay: 300_000, kind: "error" }],
    ["asked to wait less", api(429, "TooManyRequests", { retryAfterSeconds: 1 }), { delay: 20_000, kind: "error" }],
    ["asked to wait longer", api(429, "TooManyRequests", { retryAfterSeconds: 60 }), { delay: 60_000, kind: "error" }],
  ];
  for (const [name, error, plan] of cases) assertEquals(planRetry(error, 5_000, 3), plan, name);
});

Deno.test("planRetry() takes a first delay below a second for conflicts, too", () => {
  assertEquals(planRetry(api(409, "Conflict"), 200, 1).delay, 200);
});

Deno.test("RetryError refuses a delay that is none", () => {
  for (const wrong of [0, -1, NaN, Infinity]) {
    assertThrows(() => new RetryError("x", wrong), RangeError, "'retryAfter'");
  }
  assertThrows(() => new RetryError("x", "5 s" as never), TypeError, "'retryAfter'");
});
