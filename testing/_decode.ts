/**
 * Turns what a client sent into an object of the kind: right version and kind, known fields, defaults.
 *
 * ```ts
 * import { unknownFields } from "./_decode.ts";
 *
 * console.assert(unknownFields(["spec.x"], "Ignore", [], String) === undefined);
 * ```
 *
 * @module
 */
import { behaviourOf } from "./_behaviour.ts";
import { defaultBuiltin } from "./_builtin_defaults.ts";
import type { Call } from "./_call.ts";
import { type Fields, isObject, type Kube, ordered } from "./_objects.ts";
import { type FieldValidation, fieldValidation } from "./_options.ts";
import { decodeBuiltin } from "./_decode_builtin.ts";
import { decodeCustom } from "./_decode_custom.ts";
import type { ResourceInfo } from "./_registry.ts";
import { badRequest, cause, invalid, type StatusError } from "./_status.ts";

/** Refuses or warns of fields that are not known, or come twice. */
export function unknownFields(
  problems: readonly string[],
  validation: FieldValidation,
  warnings: string[],
  refuse: (message: string) => unknown,
): void {
  if (problems.length === 0 || validation === "Ignore") return;
  if (validation === "Strict") throw refuse(`strict decoding error: ${problems.join(", ")}`);
  for (const each of problems) if (!warnings.includes(each)) warnings.push(each);
}

/** The error for what cannot be decoded. */
function cannotHandle(info: ResourceInfo, why: string): StatusError {
  return badRequest(`${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: ${why}`);
}

/** Checks that a body is of the kind that the path says. */
function checkKind(info: ResourceInfo, value: Fields): void {
  const apiVersion = value.apiVersion || info.apiVersion, kind = value.kind || info.kind;
  if (apiVersion !== info.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${info.apiVersion})`,
    );
  }
  if (kind === info.kind) return;
  if (info.custom) {
    throw invalid({ group: info.group, kind: info.kind }, String(value.metadata?.name ?? ""), [
      cause.invalid("kind", kind, `must be ${info.kind}`),
    ]);
  }
  const core = info.group === "" ? "core" : info.group.split(".")[0];
  throw badRequest(
    `${kind} in version "${info.version}" cannot be handled as a ${info.kind}: converting (v1.${kind}) to ` +
      `(${core}.${info.kind}): unknown conversion`,
  );
}

/** How a decoding refuses: a body and a patch say it differently. */
export interface DecodeOptions {
  /** Fields that came twice, found when the body was read. */
  readonly duplicates?: readonly string[] | undefined;
  /** Makes the error for what cannot be decoded. */
  readonly refuse?: ((why: string) => StatusError) | undefined;
  /** What the API server itself made of live objects is not checked for unknown fields again. */
  readonly trusted?: boolean | undefined;
}

/** Decodes an object of the call's kind; the value may be changed. */
export function decode(call: Call, value: Fields, options: DecodeOptions = {}): Kube {
  const { info } = call;
  const { duplicates = [], refuse = (why: string) => cannotHandle(info, why) } = options;
  checkKind(info, value);
  if (value.metadata !== undefined && value.metadata !== null && !isObject(value.metadata)) {
    const found = Array.isArray(value.metadata) ? "array" : typeof value.metadata;
    throw refuse(
      `json: cannot unmarshal ${found} into Go struct field ${info.kind}.metadata of type v1.ObjectMeta`,
    );
  }
  const given = ordered(value, info.apiVersion, info.kind);
  const { object, problems } = info.custom ? decodeCustom(info, given, refuse) : decodeBuiltin(info, given, refuse);
  unknownFields([...problems, ...duplicates], fieldValidation(call.query), call.warnings, refuse);
  behaviourOf(info).defaults?.(object);
  if (!info.custom) defaultBuiltin(object);
  return object;
}
