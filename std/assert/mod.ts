/**
 * Stands in for `jsr:@std/assert` in this checkout, over `node:assert/strict`, where JSR cannot be reached.
 *
 * @module
 */
import nodeAssert from "node:assert/strict";

// deno-lint-ignore no-explicit-any -- the signature of the real package
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

/** Thrown by every failed assertion. */
export class AssertionError extends Error {
  override name = "AssertionError";
}

function attempt(check: () => void, msg?: string): void {
  try {
    check();
  } catch (cause) {
    const text = (cause as Error).message;
    throw new AssertionError(msg === undefined ? text : `${msg}: ${text}`, { cause });
  }
}

/** Fails unless the value is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Fails unless the value is false. */
export function assertFalse(expr: unknown, msg = ""): asserts expr is false {
  if (expr) throw new AssertionError(msg);
}

/** Fails unless both are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  attempt(() => nodeAssert.deepStrictEqual(actual, expected), msg);
}

/** Fails if both are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  attempt(() => nodeAssert.notDeepStrictEqual(actual, expected), msg);
}

/** Fails unless both are the same value. */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  attempt(() => nodeAssert.strictEqual(actual, expected), msg);
}

/** Fails if both are the same value. */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  attempt(() => nodeAssert.notStrictEqual(actual, expected), msg);
}

/** Fails if the value is null or undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) throw new AssertionError(msg ?? `Expected a value, got ${actual}`);
}

/** Fails unless the text contains the other. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (!actual.includes(expected)) {
    throw new AssertionError(`${msg ? `${msg}: ` : ""}Expected actual: "${actual}" to contain: "${expected}"`);
  }
}

/** Fails unless the text matches. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) {
    throw new AssertionError(`${msg ? `${msg}: ` : ""}Expected actual: "${actual}" to match: "${expected}"`);
  }
}

/** Fails if the text matches. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) {
    throw new AssertionError(`${msg ? `${msg}: ` : ""}Expected actual: "${actual}" to not match: "${expected}"`);
  }
}

/** Fails unless the value is an instance of the class. */
// deno-lint-ignore no-explicit-any -- the signature of the real package
export function assertInstanceOf<T extends abstract new (...args: any[]) => any>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is InstanceType<T> {
  if (!(actual instanceof expectedType)) {
    throw new AssertionError(`${msg ? `${msg}: ` : ""}Expected object to be an instance of "${expectedType.name}"`);
  }
}

function subset(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) ? expected.map((item, index) => subset(actual[index], item)) : actual;
  }
  if (expected !== null && typeof expected === "object" && actual !== null && typeof actual === "object") {
    const from = actual as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(expected).filter(([key]) => key in from).map(([key, value]) => [key, subset(from[key], value)]),
    );
  }
  return actual;
}

/** Fails unless everything in `expected` is in `actual`. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- the signature of the real package
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  attempt(() => nodeAssert.deepStrictEqual(subset(actual, expected), { ...expected }), msg);
}

/** Fails unless `actual` is greater. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) throw new AssertionError(msg ?? `Expect ${actual} > ${expected}`);
}

/** Fails unless `actual` is greater or equal. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual >= expected)) throw new AssertionError(msg ?? `Expect ${actual} >= ${expected}`);
}

/** Fails unless `actual` is less. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) throw new AssertionError(msg ?? `Expect ${actual} < ${expected}`);
}

/** Fails unless `actual` is less or equal. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual <= expected)) throw new AssertionError(msg ?? `Expect ${actual} <= ${expected}`);
}

/** Fails always. */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${msg ? `: ${msg}` : "."}`);
}

function checkError<E extends Error>(error: unknown, type?: ErrorClass<E>, includes?: string): E {
  if (type && !(error instanceof type)) {
    throw new AssertionError(`Expected error to be instance of "${type.name}", but was ${Deno.inspect(error)}`, {
      cause: error,
    });
  }
  if (includes !== undefined && !(error as Error).message.includes(includes)) {
    throw new AssertionError(`Expected error message to include "${includes}", but got "${(error as Error).message}"`, {
      cause: error,
    });
  }
  return error as E;
}

/** Fails unless the function throws; answers with what it threw. */
export function assertThrows<E extends Error = Error>(fn: () => unknown, type?: ErrorClass<E>, includes?: string): E {
  try {
    fn();
  } catch (error) {
    return checkError(error, type, includes);
  }
  throw new AssertionError("Expected function to throw.");
}

/** Fails unless the promise is rejected; answers with the reason. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  type?: ErrorClass<E>,
  includes?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return checkError(error, type, includes);
  }
  throw new AssertionError("Expected function to reject.");
}
