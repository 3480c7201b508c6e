/**
 * Remembers what was last written to each object and which version came of it, so that the same is not written again.
 *
 * ```ts
 * import { WriteMemo } from "./memo.ts";
 *
 * const memo = new WriteMemo();
 * memo.remember("configmaps shop/web", { data: { a: "1" } }, "42");
 * console.assert(memo.stands("configmaps shop/web", { data: { a: "1" } }, "42"));
 * console.assert(!memo.stands("configmaps shop/web", { data: { a: "1" } }, "43"), "somebody else wrote it");
 * ```
 *
 * @module
 */
import { sha256 } from "./_sha256.ts";

/** What was written, and what came of it, as digests, or as JSON where that is short; the resource version that the server answered with. */
interface Entry {
  readonly digest: string;
  readonly state: string | undefined;
  version: string;
}

/** The last writes by object; one entry per object, of some 100 to 500 bytes. */
export class WriteMemo {
  readonly #entries: Map<string, Entry> = new Map();

  /** Objects remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * True if this very content was the last write, and the object is still at the version that came of it; or, if `state`
   * answers with anything, at a later one of which that part is still the same.
   */
  stands(object: string, content: unknown, version: string, state: () => unknown = () => undefined): boolean {
    const entry = this.#entries.get(object);
    if (entry === undefined) return false;
    if (entry.version !== version) {
      if (entry.state === undefined || entry.state !== digest(state())) return false;
      entry.version = version;
    }
    return entry.digest === digest(content);
  }

  /** Notes a write and what came of it: the version, and the part of the object that it answers for. */
  remember(object: string, content: unknown, version: string, state?: unknown): void {
    this.#entries.set(object, { digest: digest(content)!, state: digest(state), version });
  }

  /** Drops an object that is gone. */
  forget(object: string): void {
    this.#entries.delete(object);
  }
}

/** Text so short, in characters, is kept as it is: that costs less than its digest. */
const SHORT = 256;

/** Of values that differ in the order of their keys alone it is the same. */
function digest(content: unknown): string | undefined {
  if (content === undefined) return undefined;
  const text = JSON.stringify(content, inOrder);
  return text.length <= SHORT ? text : sha256(text).toBase64();
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key, at) => at === 0 || keys[at - 1]! < key)) return value;
  return Object.fromEntries(keys.sort().map((key) => [key, (value as Record<string, unknown>)[key]]));
}
