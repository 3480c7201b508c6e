/**
 * Reads and checks what a deletion says: from its body if there is one, else from the query.
 *
 * ```ts
 * import { deleteOptionsOfQuery } from "./_delete_options.ts";
 *
 * const options = deleteOptionsOfQuery(new URLSearchParams("gracePeriodSeconds=5"));
 * console.assert(options.gracePeriodSeconds === 5);
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import type { Call } from "./_call.ts";
import { bodyFormat, checkSize, NO_PROTOBUF, notAnObject, parseYaml } from "./_codec.ts";
import { DecodeError, decodeGo } from "./_go_decode.ts";
import { syntaxError } from "./_json_text.ts";
import { type Fields, isObject } from "./_objects.ts";
import { parseFlag, parseInteger, unsupportedDryRun } from "./_options.ts";
import { UNVERSIONED } from "./_registered.ts";
import { badRequest, type Cause, cause, invalid } from "./_status.ts";

const POLICIES = ["Foreground", "Background", "Orphan"];
const UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential";

/** What an object must be for it to be deleted. */
export interface Preconditions {
  readonly uid?: string | null | undefined;
  readonly resourceVersion?: string | null | undefined;
}

/** What a deletion says. */
export interface DeleteOptions {
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: Preconditions | undefined;
  readonly dryRun: boolean;
  /** True if only what cannot be read may go. */
  readonly unsafe: boolean;
}

/** The options of a call; with a body the query says nothing. */
export function readDeleteOptions(call: Call): DeleteOptions {
  const { body, query } = call;
  checkSize(body);
  const collection = call.asked.verb === "deletecollection";
  if (body === "") return deleteOptionsOfQuery(query, collection);
  const format = bodyFormat(call.headers.get("content-type"));
  const refuse = (why: string): never => {
    throw badRequest(`couldn't get version/kind; json parse error: ${why}`);
  };
  if (format === "protobuf") throw badRequest(NO_PROTOBUF);
  let value: unknown;
  try {
    value = format === "json" ? JSON.parse(body) : parseYaml(body);
  } catch (error) {
    const why = format === "json" ? syntaxError(body) : undefined;
    return refuse(why ?? (error as Error).message);
  }
  if (value !== null && !isObject(value)) return refuse(notAnObject(value));
  return deleteOptionsOf(value ?? {}, collection);
}

/** The options that an object holds. */
export function deleteOptionsOf(value: Fields, collection = false): DeleteOptions {
  const { apiVersion = "meta.k8s.io/v1", kind = "DeleteOptions" } = value;
  if (kind !== "DeleteOptions") {
    throw badRequest(
      UNVERSIONED.includes(kind)
        ? `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`
        : `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  try {
    const schema = builtinSchema("policy", "v1", "Eviction")!.properties!.deleteOptions!;
    decodeGo(value, schema);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
  return checked(value, collection);
}

/** The options that a query holds. */
export function deleteOptionsOfQuery(query: URLSearchParams, collection = false): DeleteOptions {
  const uid = query.get("uid") || undefined, resourceVersion = query.get("resourceVersion") || undefined;
  return checked({
    propagationPolicy: query.get("propagationPolicy"),
    orphanDependents: parseFlag(query.get("orphanDependents")),
    gracePeriodSeconds: query.has("gracePeriodSeconds") ? parseInteger(query.get("gracePeriodSeconds")!) : undefined,
    dryRun: query.getAll("dryRun"),
    preconditions: uid || resourceVersion ? { uid, resourceVersion } : undefined,
    [UNSAFE]: parseFlag(query.get(UNSAFE)),
  }, collection);
}

function checked(given: Fields, collection: boolean): DeleteOptions {
  const dryRun: string[] = given.dryRun ?? [];
  const policy = given.propagationPolicy ?? undefined, orphan = given.orphanDependents ?? undefined;
  const grace = given.gracePeriodSeconds ?? undefined, preconditions = given.preconditions ?? undefined;
  const unsafe = given[UNSAFE] === true;
  const causes: Cause[] = [];
  if (policy !== undefined && orphan !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    causes.push(cause.invalid("propagationPolicy", policy, why));
  }
  if (policy !== undefined && !POLICIES.includes(policy)) {
    causes.push(cause.unsupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  }
  causes.push(...unsupportedDryRun(dryRun));
  if (unsafe) {
    const refused = collection
      ? ["is not allowed with DELETECOLLECTION, try again after removing the option"]
      : Object.entries({
        propagationPolicy: policy,
        orphanDependents: orphan,
        gracePeriodSeconds: grace,
        preconditions,
      })
        .filter(([, value]) => value !== undefined)
        .map(([name]) => `cannot be set together with .${name}`);
    causes.push(...refused.map((why) => cause.invalid(UNSAFE, true, why)));
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", causes);
  return {
    propagationPolicy: policy,
    orphanDependents: orphan,
    gracePeriodSeconds: grace,
    preconditions,
    dryRun: dryRun.length > 0,
    unsafe,
  };
}
