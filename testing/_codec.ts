/**
 * Reads bodies and writes answers: JSON or YAML, by what the client sent and what it accepts.
 *
 * ```ts
 * import { accepted } from "./_codec.ts";
 *
 * console.assert(accepted("application/yaml, application/json").format === "yaml");
 * ```
 *
 * @module
 */
import { parseAll } from "@std/yaml";
import { yamlError } from "./_yaml_error.ts";
import { withBooleans } from "./_yaml_booleans.ts";
import { repeatedKeys } from "./_yaml_keys.ts";
import { duplicateKeys, syntaxError } from "./_json_text.ts";
import { type Fields, isObject } from "./_objects.ts";
import { remembered } from "./_remembered.ts";
import { PROTOBUF } from "./_protobuf_types.ts";
import { badRequest, notAcceptable, tooLarge, unsupportedMediaType } from "./_status.ts";

/** The most bytes that a body may have. */
export const MAX_BODY = 3_145_728;

/** What the client wants the answer to look like. */
export interface Accepted {
  /** JSON, YAML, or protocol buffers: what is answered in JSON becomes those at the very end. */
  readonly format: "json" | "yaml" | "protobuf";
  /** `Table`, `PartialObjectMetadata`, `PartialObjectMetadataList`, or a discovery list; empty for the object itself. */
  readonly as: string;
  /** The version asked for with `as`. */
  readonly version: string;
}

const JSON_TYPES = new Set(["application/json", "*/*"]);
const FORMATS = new Set([...JSON_TYPES, "application/yaml", PROTOBUF]);

/** A media type and its parameters. */
export function mediaType(text: string): { type: string; parameters: Map<string, string> } {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [key = "", value = ""] = part.split("=");
    parameters.set(key.trim(), value.trim());
  }
  return { type, parameters };
}

const TRANSFORMS = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList", "APIGroupDiscoveryList"]);

/** The alternatives of an Accept header: those of the best quality first, and else in their order. */
function preferred(header: string): ReturnType<typeof mediaType>[] {
  const quality = ({ parameters }: ReturnType<typeof mediaType>): number => Number(parameters.get("q") ?? 1);
  return header.split(",").map(mediaType).sort((a, b) => quality(b) - quality(a));
}

/** The first alternative in an Accept header that can be served; undefined if none can. */
export function negotiate(header: string | null, transforms?: ReadonlySet<string>): Accepted | undefined {
  if (header === null || header.trim() === "") return JSON_ITSELF;
  return transforms ? firstServed(header, transforms) : firstObject(header);
}

const JSON_ITSELF: Accepted = { format: "json", as: "", version: "" };

const firstObject = remembered((header) => firstServed(header, TRANSFORMS));

function firstServed(header: string, transforms: ReadonlySet<string>): Accepted | undefined {
  for (const { type, parameters } of preferred(header)) {
    const as = parameters.get("as") ?? "", version = parameters.get("v") ?? "";
    if (as !== "" && (!transforms.has(as) || !served(as, version, parameters.get("g") ?? ""))) continue;
    if (JSON_TYPES.has(type)) return { format: "json", as, version };
    if (type === "application/yaml") return { format: "yaml", as, version };
    if (type === PROTOBUF && as !== "Table") return { format: "protobuf", as, version };
  }
  return undefined;
}

function served(as: string, version: string, group: string): boolean {
  return as === "APIGroupDiscoveryList"
    ? group === "apidiscovery.k8s.io" && version === "v2"
    : group === "meta.k8s.io" && (version === "v1" || (version === "v1beta1" && as !== ""));
}

const REPRESENTATIONS = `application/json, application/yaml, ${PROTOBUF}`;
const STREAMED = `, application/json;stream=watch, ${PROTOBUF};stream=watch`;

/**
 * Like {@linkcode negotiate}, but refuses.
 *
 * @throws {StatusError} If nothing can be served
 */
export function accepted(header: string | null, collection = false): Accepted {
  const found = negotiate(header);
  if (found) return found;
  if (offersKnown(header)) throw onlyAccepted();
  const listed = collection ? REPRESENTATIONS + STREAMED : REPRESENTATIONS;
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${listed}`, { details: {} });
}

/** The error for a watch in a format that does not come bit by bit. */
export function notStreamed(): Error {
  return notAcceptable(`only the following media types are accepted: ${STREAMED.slice(2)}`);
}

/** True if there is a known format in an Accept header, if only in a shape that is not served. */
function offersKnown(header: string | null): boolean {
  return header !== null && header.split(",").some((each) => FORMATS.has(mediaType(each).type));
}

/** Refuses what no custom resource is answered in, such as protocol buffers of the object itself. */
export function checkCustom(header: string | null): void {
  if (header && !takesCustom(header)) throw onlyAccepted();
}

const takesCustom = remembered((header) => {
  const others = header.split(",").filter((each) => {
    const { type, parameters } = mediaType(each);
    return type !== PROTOBUF || parameters.has("as");
  });
  return others.length > 0 && negotiate(others.join(",")) !== undefined;
});

function onlyAccepted(): Error {
  return notAcceptable(`only the following media types are accepted: ${REPRESENTATIONS}`);
}

/** Reads YAML as JSON has it: keys are strings, times too; of many documents the first. */
export function parseYaml(text: string): unknown {
  const [first = null] = parseAll(withBooleans(text), { schema: "core", allowDuplicateKeys: true }) as unknown[];
  return plain(first);
}

/** Times that a YAML parser found are texts again. */
export function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** Refuses a body that is too large. */
export function checkSize(body: string): void {
  if (body.length > MAX_BODY) throw tooLarge(MAX_BODY);
}

/** What a body is written in. */
export function bodyFormat(contentType: string | null): "json" | "yaml" | "protobuf" {
  const format = formatOf(contentType || "application/json");
  if (!format) throw unknownFormat();
  return format;
}

const formatOf = remembered((contentType) => {
  switch (mediaType(contentType).type.toLowerCase()) {
    case "application/json":
      return "json";
    case "application/yaml":
      return "yaml";
    case PROTOBUF:
      return "protobuf";
  }
  return undefined;
});

function unknownFormat(): Error {
  return unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${REPRESENTATIONS}`,
  );
}

/** A body that was read. */
export interface ReadBody {
  readonly value: Fields;
  /** What is wrong with it but can be overlooked, in words. */
  readonly duplicates: readonly string[];
}

/** The Go type that is read first, to find out the kind. */
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** What Go calls a JSON value. */
export function goKind(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
}

/** What the JSON decoder says of a value that is no object, and so has no kind. */
export function notAnObject(value: unknown): string {
  return `json: cannot unmarshal ${goKind(value)} into Go value of type ${TYPE_META}`;
}

/** What the JSON decoder says of a version or kind that is no text. */
export function wrongTypeMeta(value: Fields): string | undefined {
  for (const name of ["apiVersion", "kind"]) {
    const found = value[name] ?? "";
    if (typeof found !== "string") {
      return `json: cannot unmarshal ${goKind(found)} into Go struct field .${name} of type string`;
    }
  }
  return undefined;
}

/** What is said of a body that is said to be in protocol buffers, and is not. */
export const NO_PROTOBUF = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";

/** How a body is read. */
export interface ReadOptions {
  /** True if the body must say its kind, as that of a custom resource. @default {false} */
  readonly named?: boolean | undefined;
}

/** Reads a body that must be an object; `kind` is what the error names. */
export function readBody(
  body: string,
  contentType: string | null,
  kind: string,
  { named = false }: ReadOptions = {},
): ReadBody {
  const format = bodyFormat(contentType);
  if (format === "protobuf" && named) throw unknownFormat();
  checkSize(body);
  const refuse = (why: string): never => {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${hex(body)})`);
  };
  // What is in protocol buffers has become JSON before.
  if (format === "protobuf") return refuse(body === "" ? "empty data" : NO_PROTOBUF);
  let value: unknown;
  try {
    value = format === "json" ? JSON.parse(body) : parseYaml(body);
  } catch (error) {
    const why = format === "json" ? syntaxError(body) : undefined;
    return refuse(
      why === undefined ? yamlError(body, error as Error) : `couldn't get version/kind; json parse error: ${why}`,
    );
  }
  // To Go's decoder null is an object without members.
  const object = isObject(value) || value === null ? value as Fields ?? {} : undefined;
  const wrong = object === undefined ? notAnObject(value) : wrongTypeMeta(object);
  if (object === undefined || wrong !== undefined) {
    return refuse(`couldn't get version/kind; json parse error: ${wrong}`);
  }
  if ((object.apiVersion ?? "").split("/").length > 2) {
    return refuse(`unexpected GroupVersion string: ${object.apiVersion}`);
  }
  if (named && !object.kind) return refuse(`Object 'Kind' is missing in '${body}'`);
  if (format === "yaml") return { value: object, duplicates: repeatedKeys(body) };
  const twice = duplicateKeys(body, object);
  return { value: object, duplicates: twice.map((path) => `duplicate field ${JSON.stringify(path)}`) };
}

function hex(body: string): string {
  if (body === "") return "<empty>";
  if (body.startsWith("{")) return body.length > 30 ? `${body.slice(0, 30)} ...` : body;
  const bytes = [...new TextEncoder().encode(body)];
  const shown = bytes.slice(0, 30).map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > 30 ? `${shown} ...` : shown;
}
