/**
 * Applies JSON patches (RFC 6902) and JSON merge patches (RFC 7386) the way a Kubernetes API server does, oddities included.
 *
 * ```ts
 * import { jsonPatch, mergePatch } from "./_json_patch.ts";
 *
 * const object = { data: { k: "v" } };
 * jsonPatch(object, [{ op: "add", path: "/data/l", value: "w" }]); // { data: { k: "v", l: "w" } }
 * mergePatch(object, { data: { k: null } }); // { data: {} }
 * ```
 *
 * Neither changes what it is given; the result shares what did not change.
 *
 * @module
 */
import { cloneJson, equalJson, isObject, type JsonObject, member, putMember } from "./_json.ts";

/** Thrown when a patch cannot be applied: what the server answers. */
export class PatchError extends Error {
  override name = "PatchError";
  /** The HTTP status code. */
  readonly code: number;
  /** The `Status` reason; empty when the server gives none. */
  readonly reason: string;
  /** What failed, for people. */
  readonly detail: string;

  /** Takes the `Status` message, code and reason, and what failed. */
  constructor(message: string, code: number, reason: string, detail: string = message) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.detail = detail;
  }
}

const REFUSED = "the server rejected our request due to an error in our request";

/** The most operations that a server takes in one JSON patch. */
const MAX_OPERATIONS = 10_000;

function refuse(detail: string): never {
  throw new PatchError(REFUSED, 422, "Invalid", detail);
}

function malformed(detail: string): never {
  throw new PatchError(detail, 400, "BadRequest");
}

/** Where an operation works: a container that may be changed, and a key in it. */
interface Place {
  container: JsonObject | unknown[];
  key: string;
}

/** A document under change: containers are copied once, on the way to the first change in them. */
class Document {
  root: unknown;
  readonly #own = new Set<unknown>();

  constructor(root: unknown) {
    this.root = this.own(root);
  }

  /** Returns the container itself if it was made here, else a copy that may be changed. */
  own<T>(value: T): T {
    if (typeof value !== "object" || value === null || this.#own.has(value)) return value;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    return copy as T;
  }

  /** Finds the container of a path; the text before the first slash is dropped, as the real one does. */
  find(path: string): Place | undefined {
    const parts = path.split("/");
    if (parts.length < 2) return undefined;
    let container = this.root as JsonObject | unknown[];
    for (const part of parts.slice(1, -1)) {
      const key = decode(part);
      const next = get(container, key);
      if (!next.ok || typeof next.value !== "object" || next.value === null) return undefined;
      const owned = this.own(next.value);
      if (owned !== next.value) write(container, key, owned);
      container = owned as JsonObject | unknown[];
    }
    return { container, key: decode(parts.at(-1)!) };
  }
}

function decode(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Reads an array index; negative ones count from `size`. */
function indexOf(key: string, size: number): number | undefined {
  if (!/^[+-]?\d+$/.test(key)) return undefined;
  const index = Number(key);
  if (index < 0) return index < -size ? undefined : index + size;
  return index;
}

/** Reads a member; a missing member of an object is there with the value undefined. */
function get(container: JsonObject | unknown[], key: string): { ok: boolean; value?: unknown } {
  if (!Array.isArray(container)) return { ok: true, value: member(container, key) };
  const index = indexOf(key, container.length);
  if (index === undefined || index >= container.length) return { ok: false };
  return { ok: true, value: container[index] };
}

function write(container: JsonObject | unknown[], key: string, value: unknown): void {
  if (Array.isArray(container)) container[indexOf(key, container.length)!] = value;
  else putMember(container, key, value);
}

function insert(place: Place, value: unknown, path: string): void {
  const { container, key } = place;
  if (!Array.isArray(container)) return putMember(container, key, value);
  if (key === "-") return void container.push(value);
  const index = indexOf(key, container.length + 1);
  if (index === undefined || index > container.length) refuse(`add: no such index: ${path}`);
  container.splice(index, 0, value);
}

function remove({ container, key }: Place, path: string): void {
  if (!Array.isArray(container)) {
    if (!Object.hasOwn(container, key)) refuse(`remove: no such member: ${path}`);
    delete container[key];
    return;
  }
  const index = indexOf(key, container.length);
  if (index === undefined || index >= container.length) refuse(`remove: no such index: ${path}`);
  container.splice(index, 1);
}

function pathOf(operation: JsonObject, name: "path" | "from"): string {
  const value = member(operation, name);
  if (typeof value !== "string") refuse(`${String(operation.op)}: '${name}' must be a string`);
  return value;
}

function place(document: Document, path: string, op: string): Place {
  return document.find(path) ?? refuse(`${op}: no such path: ${path}`);
}

function read(at: Place, path: string, op: string): unknown {
  const found = get(at.container, at.key);
  if (!found.ok) refuse(`${op}: no such index: ${path}`);
  return found.value;
}

function test(document: Document, operation: JsonObject): void {
  const path = pathOf(operation, "path");
  const value = path === "" ? document.root : read(place(document, path, "test"), path, "test");
  // A missing member equals null and a missing value.
  if (!equalJson(value ?? null, member(operation, "value") ?? null)) refuse(`test: another value: ${path}`);
}

function replace(document: Document, operation: JsonObject): void {
  const path = pathOf(operation, "path");
  const value = member(operation, "value");
  if (path === "") {
    if (typeof value !== "object" || value === null) refuse("replace: the whole must be an object or a list");
    document.root = document.own(value);
    return;
  }
  const at = place(document, path, "replace");
  read(at, path, "replace");
  write(at.container, at.key, value ?? null);
}

function move(document: Document, operation: JsonObject): void {
  const from = pathOf(operation, "from");
  const source = place(document, from, "move");
  const value = read(source, from, "move");
  remove(source, from);
  const path = pathOf(operation, "path");
  insert(place(document, path, "move"), value, path);
}

function copy(document: Document, operation: JsonObject): void {
  const from = pathOf(operation, "from");
  const value = read(place(document, from, "copy"), from, "copy");
  const path = pathOf(operation, "path");
  insert(place(document, path, "copy"), cloneJson(value ?? null), path);
}

function apply(document: Document, operation: unknown): void {
  if (operation === null) refuse("an operation must be an object");
  if (!isObject(operation)) malformed("invalid JSON patch");
  const path = operation.op === "add" || operation.op === "remove" ? pathOf(operation, "path") : "";
  switch (operation.op) {
    case "add":
      return insert(place(document, path, "add"), member(operation, "value") ?? null, path);
    case "remove":
      return remove(place(document, path, "remove"), path);
    case "replace":
      return replace(document, operation);
    case "move":
      return move(document, operation);
    case "copy":
      return copy(document, operation);
    case "test":
      return test(document, operation);
    default:
      refuse(`unknown operation: ${String(operation.op)}`);
  }
}

/**
 * Applies a JSON patch.
 *
 * As the real server does: replacing a missing member adds it, copying one adds null, a path without a leading slash loses its
 * first segment, and negative indices count from the end.
 *
 * @throws {PatchError} If the patch is no list of operations (400), or cannot be applied (422).
 */
export function jsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) malformed("invalid JSON patch");
  if (operations.length > MAX_OPERATIONS) {
    const text =
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw new PatchError(text, 413, "RequestEntityTooLarge");
  }
  const work = new Document(document);
  for (const operation of operations) apply(work, operation);
  return work.root;
}

/** Takes the nulls out of a patch that meets nothing. */
function withoutNulls(patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const out: JsonObject = {};
  for (const key in patch) {
    if (patch[key] !== null) putMember(out, key, withoutNulls(patch[key]));
  }
  return out;
}

/** Applies a JSON merge patch: null deletes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  if (!isObject(target)) return withoutNulls(patch);
  let out: JsonObject | undefined;
  for (const key in patch) {
    const value = patch[key];
    const before = member(target, key);
    if (value === null) {
      if (Object.hasOwn(target, key)) delete (out ??= { ...target })[key];
      continue;
    }
    const after = mergePatch(before, value);
    if (after !== before || !Object.hasOwn(target, key)) putMember(out ??= { ...target }, key, after);
  }
  return out ?? target;
}
