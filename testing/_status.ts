/**
 * Makes the answers that are not objects: `Status` bodies with the reasons, details and causes of a real API server.
 *
 * ```ts
 * import { notFound } from "./_status.ts";
 *
 * console.assert(notFound({ group: "apps", plural: "deployments" }, "web").status.code === 404);
 * ```
 *
 * @module
 */
import type { Status, StatusCause, StatusDetails } from "../errors.ts";

/** A resource by its name in paths. */
export interface GroupResource {
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The plural, or the kind where the server says the kind. */
  readonly plural: string;
}

/** A kind in its group. */
export interface GroupKind {
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The kind. */
  readonly kind: string;
}

/** Thrown by handlers: the answer is this Status. */
export class StatusError extends Error {
  override name = "StatusError";
  /** The body. */
  readonly status: Status & { code: number };
  /** Headers beside the content type. */
  readonly headers: Record<string, string>;

  /** Takes the parts of the body; the rest is filled in. */
  constructor(status: Status & { code: number }, headers: Record<string, string> = {}) {
    super(status.message ?? "");
    this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...status };
    this.headers = headers;
  }
}

/** Thrown by handlers: the answer is plain text. */
export class TextError extends Error {
  override name = "TextError";
  /** The HTTP status code. */
  readonly code: number;

  /** Takes the code and the whole text. */
  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** The answer for what another server is to serve, and none does. */
export function unavailable(): TextError {
  return new TextError(503, "service unavailable\n");
}

/** The answer for a path that no handler knows. */
export function pageNotFound(): TextError {
  return new TextError(404, "404 page not found\n");
}

/** `widgets.example.com`, or `pods`. */
export function qualified(group: string, name: string): string {
  return group === "" ? name : `${name}.${group}`;
}

function details(resource: GroupResource, name: string, rest: StatusDetails = {}): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    ...rest,
  };
}

/** The object is not there. */
export function notFound(resource: GroupResource, name: string): StatusError {
  const message = `${qualified(resource.group, resource.plural)} "${name}" not found`;
  return new StatusError({ code: 404, reason: "NotFound", message, details: details(resource, name) });
}

/** There is no such resource in a group that is served. */
export function noResource(): StatusError {
  const message = "the server could not find the requested resource";
  return new StatusError({ code: 404, reason: "NotFound", message, details: {} });
}

/** The verb is not served. */
export function methodNotAllowed(
  message = "the server does not allow this method on the requested resource",
  body: Partial<Status> = { details: {} },
): StatusError {
  return new StatusError({ code: 405, reason: "MethodNotAllowed", message, ...body });
}

/** An object of that name is there. */
export function alreadyExists(resource: GroupResource, name: string): StatusError {
  const message = `${qualified(resource.group, resource.plural)} "${name}" already exists`;
  return new StatusError({ code: 409, reason: "AlreadyExists", message, details: details(resource, name) });
}

/** No name could be made up that is not taken. */
export function generatedNameTaken(resource: GroupResource, name: string): StatusError {
  const message =
    `${qualified(resource.group, resource.plural)} "${name}" already exists, the server was not able to ` +
    "generate a unique name for the object";
  const status = { code: 409, reason: "AlreadyExists", message };
  return new StatusError({ ...status, details: details(resource, name, { retryAfterSeconds: 1 }) }, {
    "retry-after": "1",
  });
}

/** A write that met another state than it was made for. */
export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource.group, resource.plural)} "${name}": ${why}`;
  return new StatusError({ code: 409, reason: "Conflict", message, details: details(resource, name) });
}

/** A write made for an older version. */
export function modified(resource: GroupResource, name: string): StatusError {
  return conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

/** What the request itself is wrong with. */
export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: "BadRequest", message });
}

/** What the server itself could not do. */
export function internal(message: string): StatusError {
  return new StatusError({ code: 500, message });
}

/** What the server itself could not do, as it tells of it on purpose. */
export function internalError(why: string): StatusError {
  return new StatusError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${why}`,
    details: { causes: [{ message: why }] },
  });
}

/** One thing that is wrong with a field. */
export type Cause = StatusCause & {
  field: string;
  message: string;
  reason: string;
  /** True for what the server declares with the field's type: such causes come after the others. */
  late?: true;
};

const REASONS = {
  invalid: "FieldValueInvalid",
  required: "FieldValueRequired",
  forbidden: "FieldValueForbidden",
  duplicate: "FieldValueDuplicate",
  unsupported: "FieldValueNotSupported",
  long: "FieldValueTooLong",
  many: "FieldValueTooMany",
  type: "FieldValueTypeInvalid",
  missing: "FieldValueNotFound",
} as const;

/** Quotes a value as Go's messages do. */
export function quoted(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll(/\\u00([01]\p{AHex})/gu, "\\x$1");
  return value === undefined ? "null" : JSON.stringify(value);
}

/** Makes causes, in the words of Kubernetes' field errors. */
export const cause = {
  invalid: (field: string, value: unknown, detail: string): Cause => ({
    reason: REASONS.invalid,
    message: `Invalid value: ${quoted(value)}${detail === "" ? "" : `: ${detail}`}`,
    field,
  }),
  required: (field: string, detail = ""): Cause => ({
    reason: REASONS.required,
    message: `Required value${detail === "" ? "" : `: ${detail}`}`,
    field,
  }),
  forbidden: (field: string, detail: string): Cause => ({
    reason: REASONS.forbidden,
    message: `Forbidden${detail === "" ? "" : `: ${detail}`}`,
    field,
  }),
  duplicate: (field: string, value: unknown): Cause => ({
    reason: REASONS.duplicate,
    message: `Duplicate value: ${quoted(value)}`,
    field,
  }),
  unsupported: (field: string, value: unknown, supported: readonly string[]): Cause => ({
    reason: REASONS.unsupported,
    message: `Unsupported value: ${quoted(value)}: supported values: ${supported.map(quoted).join(", ")}`,
    field,
  }),
  notFound: (field: string, value: unknown, detail = ""): Cause => ({
    reason: REASONS.missing,
    message: `Not found: ${quoted(value)}${detail === "" ? "" : `: ${detail}`}`,
    field,
  }),
  tooMany: (field: string, count: number, max: number): Cause => ({
    reason: REASONS.many,
    message: `Too many: ${count}: must have at most ${max} item${max === 1 ? "" : "s"}`,
    field,
  }),
  tooLong: (field: string, max: number): Cause => ({
    reason: REASONS.long,
    message: `Too long: may not be more than ${max} bytes`,
    field,
  }),
};

/** The object is wrong; says each cause. */
export function invalid(kind: GroupKind, name: string, found: readonly Cause[]): StatusError {
  const causes = [...found.filter(({ late }) => !late), ...found.filter(({ late }) => late)];
  const texts = [...new Set(causes.map((each) => `${each.field}: ${each.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const message = `${qualified(kind.group, kind.kind)} "${name}" is invalid${texts.length === 0 ? "" : `: ${text}`}`;
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message,
    details: {
      ...(name === "" ? {} : { name }),
      ...(kind.group === "" ? {} : { group: kind.group }),
      ...(kind.kind === "" ? {} : { kind: kind.kind }),
      causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

/** The caller, or admission, may not do that. */
export function forbidden(resource: GroupResource, name: string, why: string, causes?: StatusCause[]): StatusError {
  const what = qualified(resource.group, resource.plural);
  const message = `${what}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`;
  const rest = causes ? { causes } : {};
  return new StatusError({ code: 403, reason: "Forbidden", message, details: details(resource, name, rest) });
}

/** The body is in no format that is read here. */
export function unsupportedMediaType(message: string): StatusError {
  return new StatusError({ code: 415, reason: "UnsupportedMediaType", message });
}

/** Nothing can be written that the client would read. */
export function notAcceptable(message: string, body: Partial<Status> = {}): StatusError {
  return new StatusError({ code: 406, reason: "NotAcceptable", message, ...body });
}

/** A resource version, or a continue token, is older than what is kept. */
export function expired(message: string, metadata: Status["metadata"] = {}): StatusError {
  return new StatusError({ code: 410, reason: "Expired", message, metadata });
}

/** The body is larger than is read. */
export function tooLarge(limit: number): StatusError {
  const message = `Request entity too large: limit is ${limit}`;
  return new StatusError({ code: 413, reason: "RequestEntityTooLarge", message });
}

/** A resource version that has not come yet. */
export function versionTooLarge(asked: string, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new StatusError(
    { code: 504, reason: "Timeout", message, details: { causes, retryAfterSeconds: 1 } },
    { "retry-after": "1" },
  );
}
