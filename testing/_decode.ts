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
import { DecodeError, goKindOf } from "./_go_decode.ts";
import { visitKeys } from "./_json_text.ts";
import { decodeCustom, misplacedFields } from "./_decode_custom.ts";
import { isRegistered, type KindName } from "./_registered.ts";
import type { ResourceInfo } from "./_registry.ts";
import { badRequest, cause, internal, invalid, type StatusError } from "./_status.ts";

/** Refuses or warns of fields that are not known, or come twice. */
export function unknownFields(
  problems: readonly string[],
  validation: FieldValidation,
  warnings: string[],
  refuse: (message: string, problems: readonly string[]) => unknown,
): void {
  if (problems.length === 0 || validation === "Ignore") return;
  if (validation === "Strict") throw refuse(`strict decoding error: ${strictText(problems)}`, problems);
  for (const each of problems) if (!warnings.includes(each)) warnings.push(each);
}

/** What a YAML parser has to say comes as one. */
function strictText(problems: readonly string[]): string {
  const lines = problems.filter((each) => /^line \d+: key /.test(each));
  const others = problems.filter((each) => !lines.includes(each));
  return [...lines.length > 0 ? [unmarshalErrors(lines)] : [], ...others].join(", ");
}

/** Writes what is wrong with a YAML text, as Go's parser does. */
export function unmarshalErrors(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n${lines.map((each) => `  ${each}`).join("\n")}`;
}

/** The error for what cannot be decoded. */
function cannotHandle(info: ResourceInfo, why: string): StatusError {
  return badRequest(`${info.kind} in version "${info.version}" cannot be handled as a ${info.kind}: ${why}`);
}

/** Checks that a body is of the kind that the path says. */
function checkKind({ info, server, query, warnings }: Call, value: Fields): void {
  const apiVersion: string = value.apiVersion || (info.custom ? "" : info.apiVersion);
  const kind: string = value.kind || info.kind;
  const misplaced = apiVersion !== info.apiVersion;
  if (!info.custom && (misplaced || kind !== info.kind)) {
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const refuse = (why: string) =>
      badRequest(`${kind} in version "${version}" cannot be handled as a ${info.kind}: ${why}`);
    if (!isRegistered(server.registry, apiVersion, kind)) {
      throw refuse(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`);
    }
    if (kind !== info.kind) {
      const core = info.group === "" ? "core" : info.group.split(".")[0];
      throw refuse(`converting (${version}.${kind}) to (${core}.${info.kind}): unknown conversion`);
    }
  }
  if (misplaced) {
    unknownFields(misplacedFields(info, value), fieldValidation(query), warnings, (why) => {
      const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
      return badRequest(`${kind} in version "${version}" cannot be handled as a ${info.kind}: ${why}`);
    });
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${info.apiVersion})`,
    );
  }
  if (kind !== info.kind) throw wrongKind(info, kind, String(value.metadata?.name ?? ""));
}

/** Puts what is wrong in the order in which the text has it; where it was not read from JSON, unknown fields by name. */
function arrange(found: string[], unknown: readonly string[], text: string): void {
  if (!text.startsWith("{")) {
    return void found.splice(found.length - unknown.length, unknown.length, ...unknown.toSorted());
  }
  const at = new Map<string, number>();
  visitKeys(text, (path, again) => {
    const problem = `${again ? "duplicate" : "unknown"} field ${JSON.stringify(path)}`;
    if (!at.has(problem)) at.set(problem, at.size);
  });
  found.sort((a, b) => (at.get(a) ?? 0) - (at.get(b) ?? 0));
}

/** The error for a custom resource of another kind than its path says. */
export function wrongKind(info: ResourceInfo, kind: string, name: string): StatusError {
  return invalid({ group: info.group, kind }, name, [cause.invalid("kind", kind, `must be ${info.kind}`)]);
}

/** How a decoding refuses: a body and a patch say it differently. */
export interface DecodeOptions {
  /** Fields that came twice, found when the body was read. */
  readonly duplicates?: readonly string[] | undefined;
  /** Makes the error for what cannot be decoded. */
  readonly refuse?: ((why: string) => StatusError) | undefined;
  /** What the API server itself made of live objects is not checked for unknown fields again. */
  readonly trusted?: boolean | undefined;
  /** True if unknown fields of built-in kinds are named in the order of the alphabet, too. */
  readonly sorted?: boolean | undefined;
  /** True if what was applied is to be decoded: nulls that may not be are left for the validation. */
  readonly applied?: boolean | undefined;
  /** True if an object of a built-in kind was made from others, not read from a text. */
  readonly converted?: boolean | undefined;
  /** What is stored, as its schema wants it: what the object shares with that is not looked at again. */
  readonly live?: Kube | undefined;
}

/** Decodes an object of the call's kind; the value may be changed. */
export function decode(call: Call, value: Fields, options: DecodeOptions = {}): Kube {
  const { info } = call;
  const { duplicates = [], refuse = (why: string) => cannotHandle(info, why) } = options;
  checkKind(call, value);
  if (value.metadata !== undefined && value.metadata !== null && !isObject(value.metadata)) {
    const found = Array.isArray(value.metadata) ? "array" : typeof value.metadata;
    if (options.converted && !info.custom) throw refuse(`cannot restore struct from: ${goKindOf(value.metadata)}`);
    const where = info.custom ? "value" : `struct field ${info.kind}.metadata`;
    throw refuse(`json: cannot unmarshal ${found} into Go ${where} of type v1.ObjectMeta`);
  }
  const given = ordered(value, info.apiVersion, info.kind);
  const { object, problems } = info.custom
    ? decodeCustom(info, given, refuse, options)
    : decodeBuiltin(info, given, refuse, options.converted);
  const found = [...duplicates, ...problems];
  if (found.length > 1 && !info.custom) arrange(found, problems, options.sorted ? "" : call.body);
  unknownFields(found, fieldValidation(call.query), call.warnings, refuse);
  try {
    behaviourOf(info).defaults?.(object);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw options.converted ? internal(error.message) : refuse(error.message);
  }
  if (!info.custom) defaultBuiltin(object);
  return object;
}

/** Decodes an object of a kind that is written through a resource of another, such as a Scale. */
export function decodeAs(call: Call, { group, version, kind }: KindName, value: Fields, options?: DecodeOptions): Kube {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const info = { ...call.info, group, version, apiVersion, kind, storage: "", custom: undefined };
  return decode({ ...call, info }, value, options);
}
