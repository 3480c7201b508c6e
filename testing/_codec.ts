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
import { duplicateKeys, syntaxError } from "./_json_text.ts";
import type { Fields } from "./_objects.ts";
import { badRequest, notAcceptable, tooLarge, unsupportedMediaType } from "./_status.ts";

/** The most bytes that a body may have. */
export const MAX_BODY = 3_145_728;

/** What the client wants the answer to look like. */
export interface Accepted {
  /** JSON or YAML. */
  readonly format: "json" | "yaml";
  /** `Table`, `PartialObjectMetadata`, `PartialObjectMetadataList`, or a discovery list; empty for the object itself. */
  readonly as: string;
  /** The version asked for with `as`. */
  readonly version: string;
}

const JSON_TYPES = new Set(["application/json", "application/*", "*/*"]);

/** A media type and its parameters. */
export function mediaType(text: string): { type: string; parameters: Map<string, string> } {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [key = "", value = ""] = part.split("=");
    parameters.set(key.trim(), value.trim());
  }
  return { type: type.toLowerCase(), parameters };
}

const TRANSFORMS = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList", "APIGroupDiscoveryList"]);

/** The first alternative in an Accept header that can be served; undefined if none can. */
export function negotiate(header: string | null, transforms: ReadonlySet<string> = TRANSFORMS): Accepted | undefined {
  if (header === null || header.trim() === "") return { format: "json", as: "", version: "" };
  for (const alternative of header.split(",")) {
    const { type, parameters } = mediaType(alternative);
    const as = parameters.get("as") ?? "", version = parameters.get("v") ?? "";
    if (as !== "" && (!transforms.has(as) || !served(as, version, parameters.get("g") ?? ""))) continue;
    if (JSON_TYPES.has(type)) return { format: "json", as, version };
    if (type === "application/yaml") return { format: "yaml", as, version };
  }
  return undefined;
}

function served(as: string, version: string, group: string): boolean {
  return as === "APIGroupDiscoveryList"
    ? group === "apidiscovery.k8s.io" && version === "v2"
    : group === "meta.k8s.io" && (version === "v1" || (version === "v1beta1" && as !== ""));
}

const REPRESENTATIONS = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAMED = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/**
 * Like {@linkcode negotiate}, but refuses.
 *
 * @throws {StatusError} If nothing can be served
 */
export function accepted(header: string | null, collection = false): Accepted {
  const found = negotiate(header);
  if (found) return found;
  const listed = collection ? REPRESENTATIONS + STREAMED : REPRESENTATIONS;
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${listed}`, { details: {} });
}

/** Reads YAML as JSON has it: keys are strings, times too; of many documents the first. */
export function parseYaml(text: string): unknown {
  const [first = null] = parseAll(text, { schema: "core" }) as unknown[];
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
export function bodyFormat(contentType: string | null): "json" | "yaml" {
  const { type } = mediaType(contentType ?? "application/json");
  if (type === "application/json" || type === "") return "json";
  if (type === "application/yaml") return "yaml";
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${REPRESENTATIONS}`,
  );
}

/** A body that was read. */
export interface ReadBody {
  readonly value: Fields;
  /** What is wrong with it but can be overlooked, in words. */
  readonly duplicates: readonly string[];
}

/** Reads a body that must be an object; `kind` is what the error names. */
export function readBody(body: string, contentType: string | null, kind: string): ReadBody {
  const format = bodyFormat(contentType);
  checkSize(body);
  const refuse = (why: string): never => {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${hex(body)})`);
  };
  let value: unknown;
  try {
    value = format === "json" ? JSON.parse(body) : parseYaml(body);
  } catch (error) {
    const why = format === "json" ? syntaxError(body) : undefined;
    return refuse(
      why === undefined ? yamlError(body, error as Error) : `couldn't get version/kind; json parse error: ${why}`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    return refuse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type struct ` +
        '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    );
  }
  const twice = format === "json" ? duplicateKeys(body, value) : [];
  return { value, duplicates: twice.map((path) => `duplicate field ${JSON.stringify(path)}`) };
}

function hex(body: string): string {
  if (body === "") return "<empty>";
  if (/^\s*\{/.test(body)) return body.length > 1024 ? body.slice(0, 1024) : body;
  const bytes = [...new TextEncoder().encode(body)];
  const shown = bytes.slice(0, 30).map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > 30 ? `${shown} ...` : shown;
}
