/**
 * Writes the status of objects: computed from the newest that is known, sent only when it changes something.
 *
 * ```ts
 * import { toJson } from "./_status_writer.ts";
 *
 * console.assert("at" in toJson({ at: new Date(0), none: undefined }));
 * ```
 *
 * @module
 */
import type { WatchedKinds } from "./_watched_kinds.ts";
import type { Client } from "./client.ts";
import { isNotFound, ObjectGoneError } from "./errors.ts";
import type { JsonPatchOperation } from "./json.ts";
import type { WriteMemo } from "./memo.ts";
import { patchCurrent } from "./patch.ts";
import { compareVersions, keyOf, type KubernetesObject, type Resource } from "./resource.ts";

/** What a status is written with. */
export interface StatusEnvironment {
  readonly client: Client;
  readonly kinds: WatchedKinds;
  readonly memo: WriteMemo;
}

/**
 * Writes what `operations` answers with for the current status; nothing if that is undefined.
 *
 * @throws {ObjectGoneError} If the object is gone
 */
export async function writeStatus<T extends KubernetesObject>(
  environment: StatusEnvironment,
  resource: Resource<T>,
  object: T,
  operations: (status: unknown) => JsonPatchOperation[] | undefined,
): Promise<T> {
  const { client, kinds, memo } = environment;
  const what = `the status of ${object.kind} "${keyOf(object)}"`;
  const id = `${resource.id}/status ${keyOf(object)}`;
  let sent: JsonPatchOperation[] | undefined;
  const write = (current: T): JsonPatchOperation[] | undefined => {
    sent = operations((current as { status?: unknown }).status);
    // A server that drops part of a status would otherwise be sent that part each time.
    if (sent && memo.stands(id, sent, current.metadata.resourceVersion)) sent = undefined;
    return sent;
  };
  const cached = kinds.newest(object) as T | undefined;
  const isNewer = cached && compareVersions(cached.metadata.resourceVersion, object.metadata.resourceVersion) > 0;
  let result: T | undefined;
  try {
    result = await patchCurrent(client.api(resource), isNewer ? cached : object, write, "status");
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(
      `Cannot write ${what}: its kind has no status subresource; ` +
        `enable 'subresources.status' in the CustomResourceDefinition "${resource.id}"`,
      { cause: error },
    );
  }
  if (!result) throw new ObjectGoneError(`Cannot write ${what}: it was deleted meanwhile`, object.metadata.uid);
  const { resourceVersion } = result.metadata;
  // What no cache holds at that version is gone, or changed, already.
  if (sent && kinds.version(resource, object) === resourceVersion) memo.remember(id, sent, resourceVersion);
  return result;
}

/**
 * Makes of a status what it is on the wire: without what is undefined, dates as text.
 *
 * @throws {TypeError} If it is not an object, or has in it what JSON would silently turn into null, which removes a field
 */
export function toJson(status: unknown): Record<string, unknown> {
  const fail = (rule: string, value: unknown): never => {
    throw new TypeError(`Cannot patch a status: ${rule}: current value is ${Deno.inspect(value)}`);
  };
  const check = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const given = this[key];
    if (typeof given === "bigint") return fail(`'${key}' must be JSON, which has no bigint`, given);
    if (value !== null && !(typeof value === "number" && !Number.isFinite(value))) return value;
    return given === null ? null : fail(`'${key}' must be JSON`, given);
  };
  let text: string | undefined;
  try {
    text = JSON.stringify(status, check);
  } catch (error) {
    if (error instanceof RangeError) fail("it must not be nested deeper than the stack goes", status);
    throw error;
  }
  const json = text === undefined ? undefined : JSON.parse(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) return fail("it must be an object", status);
  return json;
}

/** A test for null passes only where there is no status yet. */
export function firstStatus(status: unknown): JsonPatchOperation[] {
  return [{ op: "test", path: "/status", value: null }, { op: "add", path: "/status", value: status }];
}
