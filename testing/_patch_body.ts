/**
 * Reads the bodies of patches, and says what is wrong with them in the words of a Kubernetes API server.
 *
 * ```ts
 * import { readPatch } from "./_patch_body.ts";
 *
 * const { value, problems } = readPatch('{"data":{"k":"1","k":"2"}}', "merge");
 * console.assert(problems[0] === 'duplicate field "data.k"' && value !== undefined);
 * ```
 *
 * @module
 */
import { duplicateKeys } from "./_json_text.ts";
import { isObject } from "./_objects.ts";
import { badRequest, type StatusError } from "./_status.ts";

/** The kinds of patches that change what is there. */
export type PatchForm = "json" | "merge" | "strategic";

/** A patch that was read. */
export interface PatchBody {
  /** A list of operations, or an object. */
  readonly value: unknown;
  /** What is wrong with it but can be overlooked, in words. */
  readonly problems: readonly string[];
}

const OBJECT = "map[string]interface {}";
const OPERATION = "handlers.jsonPatchOp";
const MEMBERS = new Set(["op", "path", "from", "value"]);

/** What Go calls a JSON value. */
function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function misfit(value: unknown, where: string): string {
  return `json: cannot unmarshal ${goKind(value)} into Go ${where}`;
}

function undecodable(why: string): StatusError {
  return badRequest(`error decoding patch: ${why}`);
}

/** Checks the operations of a JSON patch; answers with the members that no operation has. */
function checkOperations(value: unknown): string[] {
  if (!Array.isArray(value)) throw undecodable(misfit(value, `value of type []${OPERATION}`));
  const unknown: string[] = [];
  for (const [index, operation] of value.entries()) {
    if (operation === null) continue; // It is one without members, and refused when its turn comes.
    if (!isObject(operation)) throw undecodable(misfit(operation, `value of type ${OPERATION}`));
    for (const name in operation) {
      const member = operation[name];
      if (!MEMBERS.has(name)) unknown.push(`json patch unknown field "[${index}].${name}"`);
      else if (name !== "value" && member !== null && typeof member !== "string") {
        throw undecodable(misfit(member, `struct field jsonPatchOp.${name} of type string`));
      }
    }
  }
  return unknown;
}

/**
 * Reads a patch.
 *
 * @throws {StatusError} If it is no JSON, or no patch of this form (400)
 */
export function readPatch(body: string, form: PatchForm): PatchBody {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw badRequest("invalid JSON patch");
  }
  // To Go's decoder null is an empty list, or an object without members.
  if (value === null && form === "merge") throw badRequest("Invalid JSON Patch");
  const twice = duplicateKeys(body, value);
  if (form === "json") {
    const unknown = checkOperations(value ?? []);
    return {
      value: value ?? [],
      problems: [...twice.map((path) => `json patch duplicate field "${path}"`), ...unknown],
    };
  }
  value ??= {};
  if (!isObject(value)) {
    const why = misfit(value, `value of type ${OBJECT}`);
    throw form === "merge" ? undecodable(why) : badRequest(why);
  }
  return { value, problems: twice.map((path) => `duplicate field ${JSON.stringify(path)}`) };
}
